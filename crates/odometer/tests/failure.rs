//! Mechanisms that fail stay charged; maps, rules and functions that panic break nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::observed::{Event, Observed, Observer};
use crate::common::*;
use measures::{Basic, MapError, PrivacyMap, PureDp, SymmetricDistance};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Transformation};
use queryable::{AskError, Attested};

fn panicking(per_unit: &str) -> On<PureDp, ()> {
    let map = PrivacyMap::per_record(PureDp, per_unit).unwrap();
    Measurement::new("panicking", records(), map, |_, _| {
        panic!("the mechanism's author was careless")
    })
}

#[test]
fn what_fails_stays_charged_and_the_session_goes_on() {
    let session = filtered("1");
    let failed = session.launch(&failing("0.25")).unwrap_err();
    assert_eq!(failed, LaunchError::Failed(AskError::failed("no luck")));
    assert!(failed.was_charged());
    let panicked = session.launch(&panicking("0.25")).unwrap_err();
    assert_eq!(panicked, LaunchError::Failed(AskError::Panicked));
    assert_eq!(spent(&session, 1), loss("0.5"));
    session.launch(&pure("0.5")).unwrap();
    assert_eq!(session.remaining(&1).unwrap(), Some(loss("0")));
}

#[test]
fn what_is_refused_has_not_run() {
    let runs = Arc::new(AtomicUsize::new(0));
    let session = filtered("1");
    let child = session.nested("inner").capped(1, "2").open().unwrap();
    for session in [&session, &child] {
        refusal(session.launch(&counted("1.5", &runs)).unwrap_err());
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[test]
fn a_map_that_errs_or_panics_is_refused_by_a_filter_and_named_by_an_odometer() {
    let map = |at: u32, panics: bool| {
        PrivacyMap::new(PureDp, move |d: &u32| match *d == at {
            true if panics => panic!("the map's author was careless"),
            true => Err(MapError::failed(d, "not calibrated")),
            false => Ok(loss("0.1")),
        })
    };
    let odd = Measurement::new("odd", records(), map(2, false), |_, _| Ok(()));
    let wild = Measurement::new("wild", records(), map(3, true), |_, _| Ok(()));
    let session = open();
    session.launch(&odd).unwrap();
    session.launch(&wild).unwrap();
    assert_eq!(spent(&session, 1), loss("0.2"));
    let unknown = session.privacy_loss(&2).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "the cost of `odd` is not known: the privacy map failed at distance 2: not calibrated"
    );
    assert_eq!(
        session.privacy_loss(&3).unwrap_err().to_string(),
        "the privacy map of `wild` panicked"
    );
    assert_eq!(spent(&session, 4), loss("0.2"), "at that distance only");
    assert!(session.loss_after(&odd, &2).is_err());

    let filter = Odometer::new(records(), BASIC);
    let at_two = filter.filter(2, "1").unwrap().invoke(vec![]).unwrap();
    assert!(matches!(at_two.launch(&odd), Err(LaunchError::Map { .. })));
    let at_three = filter.filter(3, "1").unwrap().invoke(vec![]).unwrap();
    assert!(matches!(
        at_three.launch(&wild),
        Err(LaunchError::MapPanicked { .. })
    ));
    // An ancestor's distance counts, too.
    let child = at_two.nested("inner").capped(1, "1").open().unwrap();
    assert!(matches!(child.launch(&odd), Err(LaunchError::Map { .. })));
    for session in [&at_two, &at_three, &child] {
        assert_eq!(session.launches().unwrap(), []);
    }
}

#[test]
fn a_map_that_uses_its_own_session_is_caught() {
    let session = filtered("1");
    let (inner, asked) = (session.clone(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    let map = PrivacyMap::new(PureDp, move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        inner.launch(&pure("0.1")).unwrap_err();
        inner.nested("inner").open().unwrap_err();
        inner.partition(|record: &i64| *record).unwrap_err();
        inner.remaining(&1).unwrap_err();
        Ok(inner.privacy_loss(&1).map_or(loss("0.5"), |_| loss("0")))
    });
    let nosy = Measurement::new("nosy", records(), map, |_, _| Ok(()));
    session.launch(&nosy).unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(spent(&session, 1), loss("0.5"));
}

#[test]
fn a_stability_map_or_a_key_that_panics_is_an_error() {
    let wild = Transformation::new(
        records(),
        records(),
        |_| panic!("careless"),
        |data: &Vec<i64>| Ok(data.clone()),
    );
    let session = filtered("1");
    let after = session.nest_after(&wild).unwrap();
    assert!(matches!(
        after.launch(&pure("0.1")),
        Err(LaunchError::MapPanicked { .. })
    ));
    assert_eq!(spent(&session, 1), loss("0"));

    let partition = session
        .partition(|record: &i64| if *record > 1 { panic!("careless") } else { 0 })
        .unwrap();
    let part = partition.part(0).unwrap();
    let failed = part.launch(&pure("0.1")).unwrap_err();
    assert_eq!(
        failed,
        LaunchError::Stopped { charged: true },
        "the key was asked after the charge"
    );
    assert_eq!(spent(&session, 1), loss("0.1"));
    let session = filtered("1");

    /// A key whose hash panics when told to.
    #[derive(Clone, Debug)]
    struct Key(i64, Arc<AtomicBool>);
    impl std::hash::Hash for Key {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            assert!(!self.1.load(Ordering::SeqCst), "careless");
            self.0.hash(state);
        }
    }
    impl PartialEq for Key {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Key {}
    impl Ord for Key {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.0.cmp(&other.0)
        }
    }
    impl PartialOrd for Key {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    let key = |number, wild: &Arc<AtomicBool>| Attested(Key(number, Arc::clone(wild)));
    let wild = Arc::new(AtomicBool::new(false));
    let partition = session.partition({
        let wild = Arc::clone(&wild);
        move |record: &i64| key(*record, &wild)
    });
    let partition = partition.unwrap();
    partition.part(key(1, &wild)).unwrap();
    wild.store(true, Ordering::SeqCst);
    assert_eq!(
        partition.part(key(1, &wild)).unwrap_err(),
        OpenError::Unusable(AskError::Panicked)
    );
    wild.store(false, Ordering::SeqCst);
    // A part might have been lost: none is given out twice under two numbers.
    assert_eq!(
        partition.part(key(1, &wild)).unwrap_err(),
        OpenError::Unusable(AskError::Panicked)
    );
}

/// What panics, under the locks and outside.
#[derive(Clone, Debug, Default)]
struct Careless(Arc<Mutex<Option<Event>>>);

impl Careless {
    fn panics_at(&self, event: Option<Event>) {
        *self.0.lock().unwrap() = event;
    }
}

impl Observer for Careless {
    fn told(&self, event: Event) {
        let panics = *self.0.lock().unwrap() == Some(event);
        assert!(!panics, "careless");
    }
}

#[test]
fn a_rule_that_panics_charges_nobody_and_locks_nothing() {
    let switch = Careless::default();
    let session = Odometer::new(records(), Observed(switch.clone()))
        .named("careless")
        .filter(1, "1")
        .unwrap();
    let session = session.invoke(vec![]).unwrap();
    let child = session.nested("inner").capped(1, "0.9").open().unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let query = counted("0.25", &runs);
    child.launch(&query).unwrap();
    for event in [Event::Fits, Event::Absorb] {
        switch.panics_at(Some(event));
        let error = child.launch(&query).unwrap_err();
        assert_eq!(error.to_string(), "the rule of inner panicked");
    }
    switch.panics_at(Some(Event::Loss));
    assert!(matches!(
        session.privacy_loss(&1),
        Err(LaunchError::RulePanicked { .. })
    ));
    assert!(matches!(
        child.launch(&counted("0.8", &runs)),
        Err(LaunchError::RulePanicked { .. })
    ));
    assert!(matches!(
        session.spent(),
        Err(LaunchError::RulePanicked { .. })
    ));
    switch.panics_at(None);
    assert_eq!(session.privacy_loss(&1).unwrap().bound(), &loss("0.25"));
    assert_eq!(child.privacy_loss(&1).unwrap().bound(), &loss("0.25"));
    assert_eq!(runs.load(Ordering::SeqCst), 1);

    // A reading that was being taken when the tally panicked is taken again, in full.
    (0..2).for_each(|_| child.launch(&query).unwrap());
    switch.panics_at(Some(Event::Absorb));
    assert!(session.privacy_loss(&1).is_err());
    switch.panics_at(None);
    assert_eq!(session.privacy_loss(&1).unwrap().bound(), &loss("0.75"));
    child.launch(&counted("0.15", &runs)).unwrap();
}

#[test]
fn a_stability_map_that_contradicts_itself_is_refused() {
    // One unit the first time, three later: the second launch must not be counted at one unit only.
    let asked = AtomicUsize::new(0);
    let fickle = Transformation::new(
        records(),
        records(),
        move |d| {
            Ok(if asked.fetch_add(1, Ordering::SeqCst) == 0 {
                *d
            } else {
                3 * d
            })
        },
        |data: &Vec<i64>| Ok(data.clone()),
    );
    let session = filtered("10");
    let after = session.nest_after(&fickle).unwrap();
    let part = after
        .partition(|record: &i64| *record)
        .unwrap()
        .part(1)
        .unwrap();
    part.launch(&pure("0.1")).unwrap();
    assert!(matches!(
        part.launch(&pure("0.1")),
        Err(LaunchError::Contradiction)
    ));
    assert_eq!(session.spent().unwrap().unwrap().bound(), &loss("0.1"));
}

#[test]
fn a_space_is_checked_once_and_cannot_break_in() {
    #[derive(Clone, Debug, PartialEq)]
    struct Short;
    impl odometer::Space for Short {
        type Data = Vec<i64>;
        type Distance = u32;
        type Metric = SymmetricDistance;
        fn metric(&self) -> &SymmetricDistance {
            &SymmetricDistance
        }
        fn contains(&self, data: &Vec<i64>) -> bool {
            assert!(data.len() < 10, "careless");
            data.len() < 3
        }
    }
    let odometer = Odometer::new(Short, Basic::new(PureDp));
    odometer.open(vec![1]).unwrap();
    let error = odometer.open(vec![1, 2, 3, 4]).unwrap_err();
    assert_eq!(error.to_string(), "the data are not in the space Short");
    assert_eq!(
        odometer.open(vec![0; 20]).unwrap_err(),
        OpenError::Unusable(AskError::Panicked)
    );
    let filter = odometer.filter(1, "1").unwrap();
    assert!(matches!(
        filter.invoke(vec![1, 2, 3]),
        Err(LaunchError::Open(OpenError::NotInSpace { .. }))
    ));
}
