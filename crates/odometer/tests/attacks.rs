//! Attacks on the account tree, by conversion, capture, nesting and turns, and the echo: each is refused.

use std::sync::{Arc, Mutex};

use crate::common::*;
use measures::adaptive::GaussianComposition;
use measures::convert::{GaussianToApprox, ZcdpToApproxZcdp};
use measures::{ApproxDp, ApproxZcdp, Basic, GaussianDp, PrivacyMap, PureDp, Zcdp, times};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Watch};
use queryable::{AskError, Queryable, Scope, machine};

#[test]
fn a_gaussian_session_under_an_approximate_parent_pays_leaf_by_leaf() {
    // The total of four μ = 0.25 is μ = 0.5, and (about 1.93, 1e-5) if it were converted: charging that, or what it grew
    // by, has a true δ(1) of at least 7.4e-5 when stopped adaptively. What is charged is each leaf, converted.
    let conversion = GaussianToApprox::new("1e-5").unwrap();
    let parent = open_with(Basic::new(ApproxDp));
    let child = parent
        .nest_in(GaussianComposition, conversion.clone())
        .unwrap();
    let query = costs(GaussianDp, "0.25");
    let leaf = query.map().convert(conversion).loss(&1).unwrap();
    for n in 1..=4u64 {
        child.launch(&query).unwrap();
        let total = parent.privacy_loss(&1).unwrap();
        assert_eq!(*total.bound().epsilon(), leaf.epsilon().times(n));
        assert_eq!(
            *total.bound().delta(),
            leaf.delta().times(n),
            "δ is paid by every leaf"
        );
    }
    assert_eq!(child.privacy_loss(&1).unwrap().bound(), &loss("0.5"));
    assert_eq!(
        parent.launches().unwrap(),
        [(query.description().clone(), 4)],
        "and stays one run"
    );
}

#[test]
fn an_echo_between_siblings_is_refused() {
    // Each machine alone has loss 0: the first tells what it was told, the second answers a constant. Together, if the
    // second could ask the first from its step, they would leak.
    let session = open();
    let free = || PrivacyMap::per_record(PureDp, "0").unwrap();
    let echo = Measurement::new("echo", records(), free(), |_, scope| {
        let mut told = 0;
        scope.spawn(machine(move |x: i64, _: &mut Scope<'_>| {
            Ok(std::mem::replace(&mut told, x))
        }))
    });
    let echo: Queryable<i64, i64> = session.launch(&echo).unwrap();
    let sibling = echo.clone();
    let leak = Measurement::new("leak", records(), free(), move |data, scope| {
        let (data, sibling) = (Arc::clone(data), sibling.clone());
        scope.spawn(machine(move |(), _: &mut Scope<'_>| sibling.ask(data[0])))
    });
    let leak = session.launch(&leak).unwrap();
    assert_eq!(leak.ask(()), Err(AskError::NotSpawnedHere));
    let sibling = echo.clone();
    let at_once = Measurement::new("leak", records(), free(), move |data, _| {
        sibling.ask(data[0])
    });
    assert_eq!(
        session.launch(&at_once),
        Err(LaunchError::Failed(AskError::NotSpawnedHere))
    );
    assert_eq!(echo.ask(7), Ok(0), "nothing was told");
}

#[test]
fn a_function_cannot_launch_into_a_session_it_captured() {
    let session = filtered("1");
    let said: Arc<Mutex<Vec<LaunchError>>> = Arc::default();
    let free = PrivacyMap::per_record(PureDp, "0").unwrap();
    let (captured, errors) = (session.clone(), Arc::clone(&said));
    let smuggle = Measurement::new("smuggle", records(), free, move |_, _| {
        let mut errors = errors.lock().unwrap();
        errors.extend(captured.launch(&pure("0.1")).err());
        errors.extend(captured.nested("inner").open().err().map(LaunchError::from));
        let capped = captured.nested("inner").capped(1, "0.1");
        errors.extend(capped.open().err().map(LaunchError::from));
        errors.extend(captured.privacy_loss(&1).err());
        errors.extend(captured.loss_after(&pure("0.1"), &1).err());
        errors.extend(captured.remaining(&1).err());
        errors.extend(captured.spent().err());
        errors.extend(captured.launches().err());
        errors.extend(captured.ledger(&1).err());
        let partition = captured.partition(|record: &i64| *record);
        errors.extend(partition.err().map(LaunchError::from));
        let elsewhere = Odometer::new(records(), BASIC).open(vec![]);
        errors.extend(elsewhere.err().map(LaunchError::from));
        Ok(())
    });
    session.launch(&smuggle).unwrap();
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 11);
    for error in &*said {
        let (LaunchError::Unusable(why) | LaunchError::Open(OpenError::Unusable(why))) = error
        else {
            panic!("{error}")
        };
        assert_eq!(*why, AskError::NotSpawnedHere);
    }
    assert_eq!(spent(&session, 1), loss("0"));
    assert_eq!(session.launches().unwrap().len(), 1);
}

#[test]
fn a_transformation_or_a_key_cannot_launch_either() {
    let watch = Watch::new();
    let odometer = Odometer::new(records(), BASIC).watched(&watch);
    let session = odometer.filter(1, "1").unwrap().invoke(vec![1, 2, 3]);
    let session = session.unwrap();
    let captured = session.clone();
    let spy =
        odometer::Transformation::new(records(), records(), times(1), move |data: &Vec<i64>| {
            captured
                .launch(&pure("0.1"))
                .map_err(|error| AskError::failed(error.to_string()))?;
            Ok(data.clone())
        });
    let failed = session
        .nest_after(&spy)
        .unwrap()
        .launch(&pure("0.5"))
        .unwrap_err();
    assert!(failed.was_charged());
    let refused = LaunchError::Unusable(AskError::NotSpawnedHere).to_string();
    assert_eq!(watch.failures()[0].error, AskError::failed(refused));
    assert_eq!(spent(&session, 1), loss("0.5"));

    let session = filtered("1");
    let captured = session.clone();
    let partition =
        session.partition(move |record: &i64| captured.launch(&pure("0.1")).is_ok() || *record > 9);
    let part = partition.unwrap().part(true).unwrap();
    let seen = Measurement::new("count", records(), pure("0.1").map().clone(), |data, _| {
        Ok(data.len())
    });
    assert_eq!(
        part.launch(&seen),
        Ok(0),
        "every launch from the key function failed"
    );
    assert_eq!(spent(&session, 1), loss("0.1"));
}

#[test]
fn a_session_opened_inside_a_function_is_covered_by_that_measurement() {
    let outer = filtered("1");
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let inside = Measurement::new("inside", records(), map, |data, scope| {
        let odometer = Odometer::new(records(), BASIC);
        let session = odometer.open_in(&scope.root()?, Arc::clone(data));
        let session = session.map_err(|error| AskError::failed(error.to_string()))?;
        session
            .launch(&pure("0.25"))
            .map_err(|error| AskError::failed(error.to_string()))?;
        Ok(spent(&session, 1))
    });
    assert_eq!(outer.launch(&inside), Ok(loss("0.25")));
    assert_eq!(spent(&outer, 1), loss("0.5"), "its map, and nothing more");
}

#[test]
fn a_concurrent_live_session_under_a_sequential_account_takes_turns() {
    // zCDP children may interleave; approximate zCDP accounts may not have them do so.
    let sequential = open_with(Basic::new(ApproxZcdp));
    let concurrent = || {
        sequential
            .nest_in(Basic::new(Zcdp), ZcdpToApproxZcdp)
            .unwrap()
    };
    let (one, other) = (concurrent(), concurrent());
    let query = interactive(&zcdp("0.1"));
    let first = one.launch(&query).unwrap();
    assert_eq!(first.ask(1), Ok(1));
    let second = one.launch(&query).unwrap();
    assert_eq!(
        first.ask(1),
        Err(AskError::OutOfTurn),
        "within the concurrent session"
    );
    let third = other.launch(&query).unwrap();
    assert_eq!(
        second.ask(1),
        Err(AskError::OutOfTurn),
        "and across its siblings"
    );
    assert_eq!(third.ask(1), Ok(1));
    let alone = open_with(Basic::new(Zcdp));
    let (first, second) = (alone.launch(&query).unwrap(), alone.launch(&query).unwrap());
    assert_eq!(
        (first.ask(1), second.ask(1), first.ask(1)),
        (Ok(1), Ok(1), Ok(2))
    );
}

#[test]
fn nothing_that_is_shown_contains_data() {
    let session = Odometer::new(records(), BASIC)
        .open(vec![4_815_162_342])
        .unwrap();
    let shown = format!(
        "{session:?} {:?} {:?} {:?} {:?}",
        session.launch(&failing("0.1")),
        session.partition(|record: &i64| *record).unwrap(),
        pure("1"),
        session.launch(&pure("0.1")),
    );
    assert!(!shown.contains("4815162342"), "{shown}");
    assert!(shown.contains("Session(the session"), "{shown}");
}
