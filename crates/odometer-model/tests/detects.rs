//! The checker can fail: a filter whose check and charge are two steps, built from the same parts, is caught.

use crate::common::*;

/// Admits what the advice says would fit. Between the advice and the launch, others launch.
fn two_steps(atomic: bool) {
    let session = odometer();
    let threads = [(); 2].map(|()| {
        let session = session.clone();
        spawn(move || {
            let (unit, limit) = (query("1"), epsilon("1"));
            if atomic {
                drop(session.launch_within(&unit, &1, &limit));
            } else if session.loss_after(&unit, &1).unwrap().at_most(&limit) {
                session.launch(&unit).unwrap();
            }
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let total = session.privacy_loss(&1).unwrap();
    assert!(total.at_most(&epsilon("1")), "the budget was passed");
}

#[test]
fn one_step_is_fine() {
    many_schedules(|| two_steps(true));
}

#[test]
#[should_panic(expected = "the budget was passed")]
fn two_steps_are_found() {
    many_schedules(|| two_steps(false));
}

/// Children that charge their parent after themselves, each in a step of its own: all or none is lost.
fn charge_one_by_one(session: &PureSession, parent: &PureSession) -> u64 {
    let unit = query("1");
    admitted(session, &unit) & admitted(parent, &unit)
}

#[test]
#[should_panic(expected = "charged where it was refused")]
fn accounts_charged_one_by_one_are_found() {
    many_schedules(|| {
        let parent = filter("1");
        let children = [filter("1"), filter("1")];
        let threads = children.clone().map(|child| {
            let parent = parent.clone();
            spawn(move || charge_one_by_one(&child, &parent))
        });
        let admitted = threads.map(|thread| thread.join().unwrap());
        for (child, admitted) in children.iter().zip(admitted) {
            let charged = *spent(child).value() == exact::Exact::from(1u32);
            assert_eq!(charged, admitted == 1, "charged where it was refused");
        }
    });
}
