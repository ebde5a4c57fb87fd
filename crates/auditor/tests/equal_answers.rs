//! Answers that are equal and distinguishable: an audit may not take them for one answer.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::common::{always, probability};
use auditor::{AuditError, Coverage, Input, Part, audit, audit_measurement, player};
use measures::{PrivacyMap, PureDp};
use odometer::{Measurement, Records};
use queryable::{AskError, Attested, Canonical, Root, Scope, coins::Bit, machine};

/// A piece of a static string: all of its pieces of one letter are equal.
const TEXT: &str = "aa";

/// Shows its input by something other than the value of its answer.
fn shows<A: Canonical>(make: impl Fn(Input) -> A + Sync) -> Option<AuditError> {
    let build = |input: Input, _: &Root| {
        let make = &make;
        Ok(player(move |()| Ok(make(input))))
    };
    assert_eq!(make(Input::Zero), make(Input::One));
    audit(build).asking(1, always(vec![()])).err()
}

fn roomy(room: usize) -> String {
    let mut text = String::with_capacity(room);
    text.push('x');
    text
}

#[test]
fn equal_answers_that_differ_between_the_inputs_are_found() {
    let found = Some(AuditError::UnequalInMemory { round: 0 });
    assert_eq!(shows(|input| roomy(input.pick(10, 20))), found);
    assert_eq!(
        shows(|input| Vec::<u8>::with_capacity(input.index())),
        found
    );
    assert_eq!(shows(|input| vec![(1u8, roomy(input.pick(10, 20)))]), found);
    assert_eq!(shows(|input| Some([roomy(input.pick(10, 20))])), found);
    assert_eq!(shows(|input| &TEXT[input.pick(0..1, 1..2)]), found);
    // The same for all inputs, or rebuilt.
    assert_eq!(shows(|_| roomy(10)), None);
    assert_eq!(shows(|_| &TEXT[..1]), None);
    assert_eq!(shows(|input| roomy(input.pick(10, 20)).rebuild()), None);
    assert_eq!(shows(|input| TEXT[input.pick(0..1, 1..2)].to_owned()), None);
}

#[test]
fn equal_answers_that_differ_by_a_coin_are_found() {
    let build = |_: Input, root: &Root| {
        root.spawn(machine(|(), scope: &mut Scope<'_>| {
            let room = if scope.draw(&Bit::fair())? { 10 } else { 20 };
            Ok(roomy(room))
        }))
    };
    for depth in [1, 2] {
        let found = audit(build).asking(depth, always(vec![()])).err();
        let round = depth - 1;
        assert_eq!(found, Some(AuditError::UnequalInMemory { round }));
    }
}

#[test]
fn measurements_with_answers_that_differ_are_not_certified() {
    let map = PrivacyMap::per_record(PureDp, "0").unwrap();
    let tells = Measurement::new("tells", Records::<u8>::new(), map, |data, _| {
        Ok(Vec::<u8>::with_capacity(data.len()))
    });
    let found = audit_measurement(&tells, vec![], vec![7]).answer().err();
    assert_eq!(found, Some(AuditError::UnequalInMemory { round: 0 }));
}

#[test]
fn parts_that_signal_by_equal_answers_are_not_merged() {
    // The second part's answers have more room once the first was asked.
    let build = |_: Input, _: &Root| {
        let mut room = 10;
        Ok(player(move |part: u8| {
            room += usize::from(part == 0);
            Ok(roomy(if part == 0 { 10 } else { room }))
        }))
    };
    let parts = [0, 1].map(|part| Part::new(1, move |_| vec![part]));
    let found = audit(build).concurrently(&parts).err();
    assert_eq!(found, Some(AuditError::UnequalInMemory { round: 0 }));
}

#[test]
fn equal_errors_are_one_error() {
    let lie = Bit::new(probability(1, 4));
    let build = |input: Input, root: &Root| {
        let lie = lie.clone();
        root.spawn(machine(move |(), scope: &mut Scope<'_>| {
            match scope.draw(&lie)? ^ (input == Input::One) {
                true => Err::<(), _>(AskError::failed("no")),
                false => Err(AskError::failed(String::from("no"))),
            }
        }))
    };
    let report = audit(build).asking(1, always(vec![()])).unwrap();
    assert_eq!(report.total_variation().to_string(), "0 = 0.000000");
}

#[test]
fn capacities_that_change_from_run_to_run_are_found() {
    let built = AtomicUsize::new(10);
    let build = |_: Input, _: &Root| {
        let room = built.fetch_add(1, Relaxed);
        Ok(player(move |()| Ok(roomy(room))))
    };
    let found = audit(build).on_one_thread().asking(1, always(vec![()]));
    let found = found.err();
    assert_eq!(found, Some(AuditError::UnequalInMemory { round: 0 }));
}

#[test]
fn a_verdict_says_whether_equality_was_trusted() {
    const STATED: &str = "equal answers were assumed indistinguishable";
    let paths = |input: Input, _: &Root| {
        let path = PathBuf::from(input.pick("a/b", "a//b"));
        Ok(player(move |()| Ok(Attested(path.clone()))))
    };
    let texts = |_: Input, _: &Root| Ok(player(move |()| Ok(Some(roomy(10)))));
    let vouched = audit(paths).asking(1, always(vec![()])).unwrap();
    let trusted = audit(texts)
        .trusting_equality()
        .asking(1, always(vec![()]))
        .unwrap();
    let checked = audit(texts).asking(1, always(vec![()])).unwrap();
    let stated = |coverage: &Coverage, assumed: bool| {
        assert_eq!(coverage.equality_assumed, assumed);
        assert_eq!(coverage.to_string().contains(STATED), assumed);
    };
    stated(vouched.coverage(), true);
    stated(trusted.coverage(), true);
    stated(checked.coverage(), false);
    let parts = [0, 1].map(|_| Part::new(1, |_| vec![()]));
    let merged = audit(paths).concurrently(&parts).unwrap();
    stated(merged.coverage(), true);
}
