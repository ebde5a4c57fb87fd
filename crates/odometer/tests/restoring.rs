//! A snapshot keeps what an account must not lose: its metric, its cap, its halting form.

use std::sync::Arc;

use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{
    LaunchError, Measurement, Odometer, OpenError, Records, RestoreError, SnapshotError, Space,
};
use queryable::Root;

const BASIC: Basic<PureDp> = Basic::new(PureDp);

fn pure() -> Odometer<Records<u8>, Basic<PureDp>> {
    Odometer::new(Records::new(), BASIC)
}

fn half() -> Measurement<Records<u8>, PureDp, ()> {
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    Measurement::new("half", Records::new(), map, |_, _| Ok(()))
}

#[test]
fn another_metric_is_refused() {
    let filter = pure().filter(1, "1").unwrap();
    let session = filter.invoke(vec![]).unwrap();
    session.launch(&half()).unwrap();
    let snapshot = session.snapshot(&1).unwrap();
    let root = Root::from_os().unwrap();
    let replaced = Odometer::new(Records::<u8>::replaced(), BASIC);
    let restored = replaced.restore_filter(&root, Arc::default(), &snapshot);
    assert!(matches!(restored, Err(RestoreError::Metric { .. })));
}

#[test]
fn a_cap_is_not_lost_at_another_distance() {
    let filter = pure().filter(1, "1").unwrap();
    let session = filter.invoke(vec![]).unwrap();
    assert!(matches!(
        session.snapshot(&2),
        Err(SnapshotError::CappedElsewhere { .. })
    ));
}

#[test]
fn the_halting_form_is_kept() {
    let halting = pure().halting();
    let session = halting.filter(1, "1").unwrap();
    let snapshot = session.invoke(vec![]).unwrap().snapshot(&1).unwrap();
    let root = Root::from_os().unwrap();
    let restored = pure();
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

impl Space for Few {
    type Data = Vec<u8>;
    type Distance = u32;
    type Metric = SymmetricDistance;

    fn metric(&self) -> &SymmetricDistance {
        &SymmetricDistance
    }

    fn contains(&self, data: &Vec<u8>) -> bool {
        data.len() <= 10
    }
}

struct Nothing;

impl odometer::message::Launchable<Few, Basic<PureDp>> for Nothing {
    type Name = ();
    type Query = ();
    type Answer = ();

    fn find(&self, (): &()) -> Option<odometer::message::Entry<Few, Basic<PureDp>, (), ()>> {
        None
    }
}

#[test]
fn a_filter_in_message_form_checks_the_space_too() {
    let odometer = Odometer::new(Few, BASIC);
    let machine =
        |n| odometer.filter_machine(1, "1".parse().unwrap(), Arc::new(vec![0; n]), Nothing);
    assert!(machine(10).is_ok());
    assert!(matches!(machine(11), Err(OpenError::NotInSpace { .. })));
}
