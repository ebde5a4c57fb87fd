//! Propose-test-release: exact audits, and promises that are not kept.

use crate::common::*;
use exact::Exact;
use measures::{ApproxDp, GroupPrivacy as _};
use mechanisms::propose::{
    Proposal, propose_test_release, propose_test_release_for_approx, release_if_stable,
};
use odometer::{Measurement, Records};
use queryable::{Canonical, Root};

type Size = usize;

/// The number of records, and 50 more from three on: between two and three it jumps.
#[expect(
    clippy::ptr_arg,
    reason = "it is handed over as a function of the data set"
)]
fn value(data: &Vec<u8>) -> i64 {
    data.len() as i64 + if data.len() >= 3 { 50 } else { 0 }
}

/// Two and three are where it jumps.
#[expect(
    clippy::ptr_arg,
    reason = "it is handed over as a function of the data set"
)]
fn distance(data: &Vec<u8>) -> u64 {
    data.len().abs_diff(2).min(data.len().abs_diff(3)) as u64
}

fn proposal(
    distance: impl Fn(&Vec<u8>) -> u64 + Send + Sync + 'static,
) -> Measurement<Records<u8>, ApproxDp, Option<i64>> {
    let proposal = Proposal {
        bound: 1,
        value,
        distance,
    };
    let noise = geometric(1, 2, 30);
    propose_test_release(Records::new(), proposal, ("0.5", "0.01"), noise).unwrap()
}

/// δ of two sizes at the claimed ε, and at a tenth of it.
fn deltas<A: Canonical>(
    measurement: &Measurement<Records<u8>, ApproxDp, A>,
    sizes: [Size; 2],
) -> [(f64, f64); 2] {
    let claimed = measurement.map().loss(&1).unwrap();
    let [zero, one] = sizes.map(|size| vec![0; size]);
    let report = audit_answer(measurement, zero, one);
    let tenth = claimed.epsilon().split(10);
    [claimed.epsilon(), &tenth].map(|epsilon| delta(&report, epsilon))
}

#[test]
fn proposals_are_as_private_as_claimed() {
    let released = proposal(distance);
    let claimed = released.map().loss(&1).unwrap();
    assert_eq!(*claimed.delta(), exact("0.01"));
    for size in 0..20 {
        let [(_, most), _] = deltas(&released, [size, size + 1]);
        assert!(most <= 0.01 + 1e-8, "{size}: {most}");
    }
    // Where it jumps, the whole δ is there; elsewhere the noise and the coin.
    let [(least, _), _] = deltas(&released, [2, 3]);
    assert!(least > 0.0099, "{least}");
    let [_, (least, _)] = deltas(&released, [8, 9]);
    assert!(least > 0.01, "{least}");
    // Group privacy.
    let two = released.map().loss(&2).unwrap();
    assert_eq!(two, ApproxDp.group(&claimed, 2));
}

#[test]
fn broken_promises_are_refuted() {
    // Never zero where it jumps.
    let [(least, _), _] = deltas(&proposal(|data| distance(data) + 8), [2, 3]);
    assert!(least > 0.1, "{least}");
    // Zero on one side of the jump only.
    let [(least, _), _] = deltas(&proposal(|data| data.len().abs_diff(2) as u64 * 9), [2, 3]);
    assert!(least > 0.1, "{least}");
}

#[test]
fn stable_values_are_as_private_as_claimed() {
    let big = |data: &Vec<u8>| data.len() >= 3;
    let stable = release_if_stable(Records::new(), "0.5", "0.01", big, distance).unwrap();
    assert_eq!(stable.map().loss(&1).unwrap().to_string(), "(0.5, 0.01)");
    for size in 0..20 {
        let [(_, most), _] = deltas(&stable, [size, size + 1]);
        assert!(most <= 0.01 + 1e-14, "{size}: {most}");
    }
    // Tight: the coin is the best there is.
    let [(least, _), _] = deltas(&stable, [2, 3]);
    assert!(least > 0.0099, "{least}");
    let constant = |_: &Vec<u8>| 0u64;
    let wrong = release_if_stable(Records::new(), "0.5", "0.01", big, move |data| {
        constant(data) + 9
    });
    let [(least, _), _] = deltas(&wrong.unwrap(), [2, 3]);
    assert!(least > 0.1, "{least}");
}

#[test]
fn what_is_spent_is_what_was_asked() {
    let proposal = |bound| Proposal {
        bound,
        value,
        distance,
    };
    let released =
        propose_test_release_for_approx(Records::new(), proposal(4), "1", "1e-6").unwrap();
    let loss = released.map().loss(&1).unwrap();
    assert_eq!(
        (loss.epsilon(), loss.delta()),
        (&Exact::ONE, &exact("1e-6"))
    );
    // Far from the jump it passes for certain, and the noise of scale 8 is off by 400 with probability e^-50.
    let found = released.invoke_in(&Root::seeded([3; 32]), &vec![0; 5000].into());
    assert!((4650..5450).contains(&found.unwrap().unwrap()));
    assert!(propose_test_release_for_approx(Records::new(), proposal(0), "1", "1e-6").is_err());
    assert!(propose_test_release_for_approx(Records::new(), proposal(1), "1", "1").is_err());
    assert!(propose_test_release_for_approx(Records::new(), proposal(1), "0", "0.1").is_err());
    assert!(propose_test_release_for_approx(Records::new(), proposal(1), "1e-9", "1e-6").is_err());
    let zero = propose_test_release(
        Records::new(),
        proposal(0),
        ("1", "0.1"),
        geometric(1, 2, 3),
    );
    assert!(zero.is_err());
}

#[test]
fn equal_values_are_released_alike() {
    // Stable everywhere: the same empty text, with as much room as there are records.
    let roomy = |data: &Vec<u8>| String::with_capacity(data.len());
    let released = release_if_stable(Records::new(), "1", "1e-6", roomy, |_| 1000).unwrap();
    let room = |size| released.invoke(vec![0; size]).unwrap().unwrap().capacity();
    assert_eq!((room(100), room(101)), (0, 0));
}
