//! The defects that were found in other libraries by running them (`peers.md`), as tests that this one has none of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::*;
use measures::{ApproxDp, ApproxZcdp, Basic, Epsilon, PrivacyMap, PureDp};
use odometer::{LaunchError, Measurement, Odometer};
use queryable::AskError;

/// OpenDP 1: the filter is quadratic, runs the query before it checks, and after one refusal even `privacy_loss` fails.
#[test]
fn a_filter_takes_100_000_launches_checks_first_and_survives_a_refusal() {
    let session = filtered("1000");
    let runs = Arc::new(AtomicUsize::new(0));
    let query = counted("0.01", &runs);
    // A quadratic filter would take hours for this.
    (0..100_000).for_each(|_| session.launch(&query).unwrap());
    refusal(session.launch(&query).unwrap_err());
    assert_eq!(runs.load(Ordering::SeqCst), 100_000);
    assert_eq!(spent(&session, 1), loss("1000"));
    session.launch(&pure("0")).unwrap();
}

/// OpenDP 2: interactive children of a sequential odometer never answer.
#[test]
fn interactive_children_of_approximate_zcdp_answer() {
    let session = open_with(Basic::new(ApproxZcdp));
    let map = PrivacyMap::new(ApproxZcdp, |_| Ok(loss("(0.1, 1e-9)")));
    let query = Measurement::new("interactive", records(), map, |_, scope| {
        scope.spawn(queryable::machine(
            |x: u64, _: &mut queryable::Scope<'_>| Ok(x + 1),
        ))
    });
    for i in 0..3 {
        assert_eq!(session.launch(&query).unwrap().ask(i), Ok(i + 1));
    }
}

/// OpenDP 3: a launch that overshoots in ε only gives "unknown ordering", then and for ever.
#[test]
fn too_much_epsilon_alone_is_a_plain_refusal() {
    let session = filtered_with(Basic::new(ApproxDp), "(1, 1e-6)");
    let said = refusal(session.launch(&flat(ApproxDp, "(2, 1e-9)")).unwrap_err());
    assert_eq!(
        said.to_string(),
        "refused by the session: `flat` asks for (2, 1e-9), but only (1, 0.000001) is left of (1, 0.000001) ((0, 0) spent; ApproxDp at distance 1)"
    );
    session.launch(&flat(ApproxDp, "(1, 1e-9)")).unwrap();
    assert_eq!(
        session.privacy_loss(&1).unwrap().bound(),
        &loss("(1, 1e-9)")
    );
}

/// OpenDP 4: an unused inner filter costs its parent everything, and makes `privacy_loss` fail at any larger distance.
#[test]
fn an_unused_inner_budget_is_free_if_live_and_never_breaks_the_question() {
    let session = open();
    session.nested("inner").capped(1, "3").open().unwrap();
    assert_eq!(spent(&session, 1), loss("0"));
    assert_eq!(spent(&session, 5), loss("0"));
    session
        .launch(&Odometer::new(records(), BASIC).filter(1, "3").unwrap())
        .unwrap();
    assert_eq!(
        (spent(&session, 1), spent(&session, 2)),
        (loss("3"), Epsilon::INFINITY)
    );
    assert_eq!(spent(&session, 1), loss("3"));
}

/// OpenDP 5, pdslib: a negative loss refunds; NaN disables a filter for good; infinity makes `privacy_loss` fail.
#[test]
fn there_is_no_negative_loss_and_no_nan() {
    for text in ["-0.1", "-1e-300", "NaN", "nan", "-inf", "-0x1", "0.1.2"] {
        assert!(text.parse::<Epsilon>().is_err(), "{text}");
    }
    for float in [f64::NAN, -0.1, -f64::MIN_POSITIVE, f64::NEG_INFINITY] {
        assert!(exact::Exact::try_from(float).is_err(), "{float}");
    }
    let session = filtered("1");
    let map = PrivacyMap::new(PureDp, |d: &u32| {
        let nothing: exact::Exact = exact::Exact::try_from(f64::NAN)
            .map_err(|error| measures::MapError::failed(d, error.to_string()))?;
        Ok(Epsilon::new(nothing))
    });
    let query: On<PureDp, ()> = Measurement::new("nan", records(), map, |_, _| Ok(()));
    assert!(matches!(
        session.launch(&query),
        Err(LaunchError::Map { .. })
    ));
    session.launch(&pure("1")).unwrap();
    refusal(session.launch(&pure("0.1")).unwrap_err());
}

/// OpenDP 6: what errs or panics is not charged, and breaks an unrelated odometer on the same thread.
#[test]
fn a_panic_is_charged_and_breaks_nobody_else() {
    let (session, unrelated) = (filtered("1"), filtered("1"));
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let panics: On<PureDp, ()> =
        Measurement::new("panics", records(), map, |_, _| panic!("careless"));
    assert_eq!(
        session.launch(&panics),
        Err(LaunchError::Failed(AskError::Panicked))
    );
    assert_eq!(spent(&session, 1), loss("0.5"));
    unrelated.launch(&pure("0.5")).unwrap();
    let nested = unrelated.nested("inner").open().unwrap();
    assert_eq!(
        nested.launch(&interactive(&pure("0.5"))).unwrap().ask(2),
        Ok(2)
    );
    session.launch(&pure("0.5")).unwrap();
}

/// OpenDP 7: the process-wide panic hook is swapped by every operation.
#[test]
fn nobody_touches_the_panic_hook() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let before = Arc::new(std::panic::take_hook());
    let others = Arc::clone(&before);
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<&str>() == Some(&"of the hook test") {
            SEEN.fetch_add(1, Ordering::SeqCst);
        } else {
            others(info);
        }
    }));
    let session = filtered("1");
    let map = PrivacyMap::per_record(PureDp, "0.001").unwrap();
    let panics: On<PureDp, ()> =
        Measurement::new("panics", records(), map, |_, _| panic!("of the hook test"));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..20).for_each(|_| drop(session.launch(&panics))));
        }
    });
    std::panic::set_hook(Box::new(move |info| before(info)));
    assert_eq!(SEEN.load(Ordering::SeqCst), 40);
}

/// OpenDP 8: ten thousand times 0.1 gives 1000.0000000002046. Diffprivlib: ten times 0.1 is 0.9999999999999999.
#[test]
fn ten_thousand_tenths_are_a_thousand() {
    let session = filtered("1000");
    let tenth = pure("0.1");
    (0..10_000).for_each(|_| session.launch(&tenth).unwrap());
    assert_eq!(session.privacy_loss(&1).unwrap().to_string(), "1000");
    assert_eq!(session.remaining(&1).unwrap(), Some(loss("0")));
}

/// The question after many launches does not read them all again.
#[test]
fn asking_again_is_cheap_with_many_different_measurements() {
    let session = open();
    for _ in 0..20_000 {
        session.launch(&pure("0.001")).unwrap();
    }
    assert_eq!(spent(&session, 1), loss("20"));
    // Only that it ends: 40 million map calls in a debug build would not soon.
    for i in 1..=2000u32 {
        session.launch(&pure("0.001")).unwrap();
        assert_eq!(
            *spent(&session, 1).value(),
            exact::Exact::from(20u32) + loss::<exact::Exact>("0.001").times(i.into())
        );
    }
}
