//! The checker can fail: a filter whose check and charge are two steps, built from the same parts, is caught; and so are
//! mistakes that are planted in the source.

use crate::common::*;
use measures::{Basic, PureDp};
use odometer_model::Odometer;
use odometer_model::journal::{Books, Memory};
use odometer_model::planted::{PlantedMistake, plant};

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

/// Two threads launch what fits once, on two levels.
fn fits_once() {
    let top = filter("1");
    let team = top.nested("team").open().unwrap();
    let threads = [top.clone(), team].map(|session| spawn(move || admitted(&session, &query("1"))));
    let admitted: u64 = threads.map(|thread| thread.join().unwrap()).iter().sum();
    assert!(admitted <= 1, "the budget was passed");
    assert_eq!(*spent(&top).value(), exact::Exact::from(admitted));
}

#[test]
#[should_panic(expected = "the budget was passed")]
fn an_unlocked_check_is_found() {
    many_schedules(|| {
        plant(PlantedMistake::UnlocksAfterCheck);
        fits_once();
    });
}

/// One thread launches, and another one spends the rest, below one account.
fn launches_and_spends() {
    let top = filter("2");
    let team = top.nested("team").capped(1, epsilon("2")).open().unwrap();
    let spending = {
        let team = team.clone();
        spawn(move || {
            team.spend_rest(&1, |rest| query(&rest.to_string()))
                .unwrap();
        })
    };
    admitted(&team, &query("0.5"));
    spending.join().unwrap();
    assert_eq!(spent(&top), epsilon("2"));
}

#[test]
fn one_order_of_locks_is_fine() {
    many_schedules(launches_and_spends);
}

#[test]
#[should_panic(expected = "deadlock")]
fn two_orders_of_locks_are_found() {
    many_schedules(|| {
        plant(PlantedMistake::LocksFromTheRoot);
        launches_and_spends();
    });
}

#[test]
#[should_panic(expected = "a draft was not staged")]
fn a_commit_without_a_stage_is_found() {
    many_schedules(|| {
        plant(PlantedMistake::CommitsWithoutStage);
        let books = Books::with_repeated_coins_for_tests(Memory::new(), &root());
        let odometer = Odometer::new(records(), Basic::new(PureDp)).named("all");
        let session = odometer
            .filter_on(&books, 1, epsilon("2"), vec![1])
            .unwrap();
        session.launch(&query("1")).unwrap();
    });
}

#[test]
#[should_panic(expected = "panicked")]
fn memory_that_is_not_reserved_is_found() {
    many_schedules(|| {
        plant(PlantedMistake::ReservesNothing);
        fits_once();
    });
}
