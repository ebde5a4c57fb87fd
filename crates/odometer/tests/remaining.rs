//! What is said to remain can be launched, and what cannot be launched is not said to remain.

use exact::Exact;
use measures::{Basic, Epsilon, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{AnyOf, LaunchError, Measurement, Odometer, Space};

type Noop = Measurement<AnyOf<Vec<u8>>, SymmetricDistance, PureDp, ()>;

const DATA: Space<AnyOf<Vec<u8>>, SymmetricDistance> = Space::new(AnyOf::new(), SymmetricDistance);

fn noop(epsilon: Epsilon) -> Noop {
    let map = PrivacyMap::linear(SymmetricDistance, PureDp, epsilon);
    Measurement::new("noop", DATA, map, |_, _| Ok(()))
}

fn pure() -> Odometer<AnyOf<Vec<u8>>, SymmetricDistance, Basic<PureDp>> {
    Odometer::new(DATA, Basic::new(PureDp))
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

#[test]
fn a_refusal_shows_what_remains_rounded_down() {
    let session = pure()
        .filter(1, epsilon("1"))
        .unwrap()
        .invoke(vec![])
        .unwrap();
    // The float 0.1 is a little more than one tenth, so a little less than 0.9 remains.
    let float = Epsilon::new(Exact::try_from(0.1).unwrap());
    session.launch(&noop(float)).unwrap();
    let Err(LaunchError::Refused(refusal)) = session.launch(&noop(epsilon("0.9"))) else {
        panic!("0.9 does not fit");
    };
    let shown = refusal.remaining.unwrap();
    assert!(shown.starts_with("0.899999"), "{shown}");
    session.launch(&noop(epsilon(&shown))).unwrap();
}

#[test]
fn nothing_remains_of_a_halted_filter() {
    let filter = pure().halting().filter(1, epsilon("1")).unwrap();
    let session = filter.invoke(vec![]).unwrap();
    assert!(session.launch(&noop(epsilon("2"))).is_err());
    assert_eq!(session.remaining(&1).unwrap(), None);
    assert!(session.launch(&noop(epsilon("0.1"))).is_err());
}

#[test]
fn a_halted_account_above_leaves_nothing_below() {
    let outer = pure().halting().filter(1, epsilon("1")).unwrap();
    let outer = outer.invoke(vec![]).unwrap();
    let inner = outer.nest_capped(1, epsilon("0.5")).unwrap();
    assert_eq!(inner.remaining(&1).unwrap(), Some(epsilon("0.5")));
    assert!(outer.launch(&noop(epsilon("2"))).is_err());
    assert_eq!(inner.remaining(&1).unwrap(), None);
}

#[test]
fn spending_the_rest_halts_a_filter_only_if_it_asks_for_too_much() {
    let filter = pure().halting().filter(1, epsilon("1")).unwrap();
    let session = filter.invoke(vec![]).unwrap();
    let mut tries = 0;
    // Somebody else is faster while the first measurement is being made.
    let spent = session.spend_rest(&1, |rest| {
        tries += 1;
        if tries == 1 {
            session.launch(&noop(epsilon("0.75"))).unwrap();
        }
        noop(rest.clone())
    });
    assert_eq!((spent, tries), (Ok(()), 2));
    assert_eq!(session.remaining(&1).unwrap(), Some(epsilon("0")));

    let refused = session.spend_rest(&1, |_| noop(epsilon("0.1")));
    assert!(matches!(refused, Err(LaunchError::Refused(_))));
    assert_eq!(session.remaining(&1).unwrap(), None);
}
