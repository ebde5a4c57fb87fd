//! A snapshot keeps what an account must not lose: its metric, its cap, its halting form.

use std::sync::Arc;

use measures::{Basic, ChangeOneDistance, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{AnyOf, Domain, LaunchError, Measurement, Odometer, RestoreError, Space};
use queryable::Root;

type Bytes = AnyOf<Vec<u8>>;

fn pure<MI: measures::Metric>(metric: MI) -> Odometer<Bytes, MI, Basic<PureDp>> {
    Odometer::new(Space::new(AnyOf::new(), metric), Basic::new(PureDp))
}

fn half() -> Measurement<Bytes, SymmetricDistance, PureDp, ()> {
    let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.5".parse().unwrap());
    Measurement::new("half", Space::any(SymmetricDistance), map, |_, _| Ok(()))
}

#[test]
fn another_metric_is_refused() {
    let filter = pure(SymmetricDistance)
        .filter(1, "1".parse().unwrap())
        .unwrap();
    let session = filter.invoke(vec![]).unwrap();
    session.launch(&half()).unwrap();
    let snapshot = session.snapshot(&1).unwrap();
    let root = Root::from_os().unwrap();
    let restored = pure(ChangeOneDistance).restore_filter(&root, Arc::default(), &snapshot);
    assert!(matches!(restored, Err(RestoreError::Metric { .. })));
}

#[test]
fn a_cap_is_not_lost_at_another_distance() {
    let filter = pure(SymmetricDistance)
        .filter(1, "1".parse().unwrap())
        .unwrap();
    let session = filter.invoke(vec![]).unwrap();
    assert!(matches!(
        session.snapshot(&2),
        Err(LaunchError::Unsupported(_))
    ));
}

#[test]
fn the_halting_form_is_kept() {
    let halting = pure(SymmetricDistance).halting();
    let session = halting.filter(1, "1".parse().unwrap()).unwrap();
    let snapshot = session.invoke(vec![]).unwrap().snapshot(&1).unwrap();
    let root = Root::from_os().unwrap();
    let restored = pure(SymmetricDistance);
    let restored = restored
        .restore_filter(&root, Arc::default(), &snapshot)
        .unwrap();
    for _ in 0..2 {
        restored.launch(&half()).unwrap();
    }
    assert!(matches!(
        restored.launch(&half()),
        Err(LaunchError::Refused(_))
    ));
    assert!(matches!(
        restored.launch(&half()),
        Err(LaunchError::Halted { .. })
    ));
}

/// At most ten records.
#[derive(Clone, Debug, PartialEq)]
struct Few;

impl Domain for Few {
    type Carrier = Vec<u8>;

    fn contains(&self, data: &Vec<u8>) -> bool {
        data.len() <= 10
    }
}

struct Nothing;

impl odometer::message::Catalogue<Few, SymmetricDistance, Basic<PureDp>> for Nothing {
    type Name = ();
    type Query = ();
    type Answer = ();

    fn find(
        &self,
        (): &(),
    ) -> Option<odometer::message::Entry<Few, SymmetricDistance, Basic<PureDp>, (), ()>> {
        None
    }
}

#[test]
fn a_filter_in_message_form_checks_the_domain_too() {
    let odometer = Odometer::new(Space::new(Few, SymmetricDistance), Basic::new(PureDp));
    let machine =
        |n| odometer.filter_machine(1, "1".parse().unwrap(), Arc::new(vec![0; n]), Nothing);
    assert!(machine(10).is_ok());
    assert!(matches!(machine(11), Err(LaunchError::NotInDomain { .. })));
}
