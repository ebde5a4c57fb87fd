//! Text that is no loss, wherever one is wanted: a typed error that says what to write, nothing charged, nothing read.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{BASIC, records};
use measures::{
    ApproxDp, Basic, LossError, PrivacyMap, PureDp, RuleError, SymmetricDistance, Zcdp,
    fixed::Optimal,
};
use odometer::{Compositor, LaunchError, Measurement, Odometer, OpenError, Transformation};

/// For a loss that is one number.
const NO_NUMBER: [&str; 9] = [
    "", "-1", "NaN", "-inf", "one", "0,5", "1/3", "0.5 ", "(1, 0)",
];

/// For a pair.
const NO_PAIR: [&str; 6] = ["", "-1", "(1)", "(1, 2)", "1, 0", "(NaN, 0)"];

/// The error is about the text, repeats it, and says what would have been understood.
fn says_what_to_write(error: &LossError, bad: &str) {
    let said = error.to_string();
    match error {
        LossError::Text { text, .. } => {
            assert!(bad.contains(text.as_str()), "{bad:?}: {said}");
            assert!(said.contains("such as"), "{bad:?}: {said}");
        }
        LossError::Delta { .. } => assert!(said.contains("must lie in [0, 1]"), "{said}"),
        other => panic!("{bad:?}: {other:?}"),
    }
}

fn of_opening(error: OpenError) -> LossError {
    match error {
        OpenError::Rule(RuleError::Loss(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Blank around a number is understood, as everywhere.
fn is_bad(text: &&str) -> bool {
    text.parse::<measures::Epsilon>().is_err()
}

#[test]
fn budgets_and_losses_that_are_none() {
    static READ: AtomicUsize = AtomicUsize::new(0);
    let map = PrivacyMap::per_record(PureDp, "0.25").unwrap();
    let looks = Measurement::new("looks", records(), map, |_, _| {
        READ.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let same = Transformation::new(
        records(),
        records(),
        |d_in: &u32| Ok(*d_in),
        |data: &Vec<i64>| {
            READ.fetch_add(1, Ordering::SeqCst);
            Ok(data.clone())
        },
    );
    let odometer = Odometer::new(records(), BASIC);
    let session = odometer
        .filter(1, "1")
        .unwrap()
        .invoke(vec![1, 2, 3])
        .unwrap();
    let bad: Vec<&str> = NO_NUMBER.into_iter().filter(is_bad).collect();
    assert!(bad.len() >= 8);
    for bad in bad {
        let refused = |error| says_what_to_write(&of_opening(error), bad);
        refused(odometer.filter(1, bad).err().unwrap());
        refused((&same >> &odometer).unwrap().filter(1, bad).err().unwrap());
        refused(session.nested("team").capped(1, bad).open().err().unwrap());
        refused(
            session
                .any()
                .nested("team")
                .capped(1, bad)
                .open()
                .err()
                .unwrap(),
        );
        match session.launch_within(&looks, 1, bad) {
            Err(LaunchError::Open(error)) => refused(error),
            other => panic!("{bad:?}: {other:?}"),
        }
        says_what_to_write(&PrivacyMap::per_record(PureDp, bad).unwrap_err(), bad);
        says_what_to_write(&PrivacyMap::per_replacement(PureDp, bad).unwrap_err(), bad);
        let flat = PrivacyMap::<SymmetricDistance, _>::constant_up_to(PureDp, 1, bad);
        says_what_to_write(&flat.unwrap_err(), bad);
        let square = PrivacyMap::<SymmetricDistance, _>::quadratic(Zcdp, bad);
        says_what_to_write(&square.unwrap_err(), bad);
        assert_eq!(session.spent().unwrap().unwrap().to_string(), "0");
        assert!(session.launches().unwrap().is_empty());
    }
    assert_eq!(READ.load(Ordering::SeqCst), 0);
    session.launch(&looks).unwrap();
    assert_eq!(READ.load(Ordering::SeqCst), 1);
}

#[test]
fn pairs_that_are_none() {
    let odometer = Odometer::new(records(), Basic::new(ApproxDp));
    let session = odometer
        .filter(1, "(1, 0.1)")
        .unwrap()
        .invoke(vec![1])
        .unwrap();
    for bad in NO_PAIR {
        let refused = |error| says_what_to_write(&of_opening(error), bad);
        refused(odometer.filter(1, bad).err().unwrap());
        refused(session.nested("team").capped(1, bad).open().err().unwrap());
        let slots = Compositor::new(
            records(),
            Optimal::new("1e-6").unwrap(),
            1,
            ["(0.1, 0)", bad],
        );
        refused(slots.measurement().err().unwrap());
        assert_eq!(session.spent().unwrap().unwrap().to_string(), "(0, 0)");
    }
}

#[test]
fn what_does_not_fit_is_asked_for_nothing() {
    // As a type, another measure does not compile; behind `any`, it is told so.
    let session = Odometer::new(records(), BASIC).filter(1, "1").unwrap();
    let session = session.invoke(vec![1]).unwrap();
    let gaussian = crate::common::costs(measures::GaussianDp, "0.1");
    let error = session.any().launch(&gaussian).unwrap_err();
    assert!(matches!(error, LaunchError::Measure { .. }), "{error}");
    assert!(error.to_string().contains("GaussianDp"), "{error}");
    let mut plan = session.any().plan().unwrap();
    assert!(plan.launch(&gaussian).is_err());
    assert_eq!(plan.spent().unwrap().unwrap().to_string(), "0");
    assert_eq!(session.spent().unwrap().unwrap().to_string(), "0");
}
