//! A transformation that fails on some data tells something about them for free. It happens once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use crate::common::*;
use measures::{Epsilon, FixedRule, PrivacyMap, PureDp, Rule, RuleError, times};
use odometer::{Compositor, LaunchError, Measurement, Odometer, Transformation, Watch};
use queryable::AskError;

pub(crate) type Change = Transformation<Numbers, Numbers>;

/// A fixed rule for children that cost nothing.
#[derive(Clone, Debug)]
pub(crate) struct Free;

impl Rule for Free {
    type Child = PureDp;
    type Total = PureDp;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }
}

impl FixedRule for Free {
    fn compose(&self, _: &[Epsilon]) -> Result<Epsilon, RuleError> {
        Ok(loss("0"))
    }
}

/// Fails iff the value is in the data.
pub(crate) fn fails_on(value: i64) -> Change {
    let function = move |data: &Vec<i64>| match data.contains(&value) {
        true => Err(AskError::failed(format!("{value} is there"))),
        false => Ok(data.clone()),
    };
    Transformation::new(records(), records(), times(1), function)
}

#[test]
fn a_hundred_transformations_under_no_budget_at_all_recover_one_record_and_not_all() {
    let secret = vec![3, 31, 41, 59, 97];
    let filter = Odometer::new(records(), BASIC).filter(1, "0");
    let session = filter.unwrap().invoke(secret.clone()).unwrap();
    let found: Vec<i64> = (0..100)
        .filter(|value| {
            let attack = (&fails_on(*value) >> &pure("0")).unwrap();
            matches!(session.launch(&attack), Err(error) if error.was_charged())
        })
        .collect();
    assert_eq!(found, [3], "and then the session has halted");
}

pub(crate) const STOPPED: LaunchError = LaunchError::Stopped { charged: true };
pub(crate) const REFUSED: LaunchError = LaunchError::Stopped { charged: false };

fn panics_on(value: i64) -> Change {
    let function = move |data: &Vec<i64>| {
        assert!(!data.contains(&value), "{value} is there");
        Ok(data.clone())
    };
    Transformation::new(records(), records(), times(1), function)
}

pub(crate) fn free(name: &'static str) -> On<PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, "0").unwrap();
    Measurement::new(name, records(), map, |data, _| Ok(data.len()))
}

/// Everything that can be opened on the data of a session before something fails on them.
fn family(top: &PureSession) -> Vec<PureSession> {
    let filter = Odometer::new(records(), BASIC).filter(1, "0");
    let opened_inside = {
        let map = PrivacyMap::per_record(PureDp, "0").unwrap();
        Measurement::new("inside", records(), map, |data, scope| {
            let opened = Odometer::new(records(), BASIC).open_in(&scope.root()?, Arc::clone(data));
            opened.map_err(|error| AskError::failed(error.to_string()))
        })
    };
    let same = Transformation::new(records(), records(), times(1), |data: &Vec<i64>| {
        Ok(data.clone())
    });
    let pipeline = (&same >> &Odometer::new(records(), BASIC)).unwrap();
    vec![
        top.clone(),
        top.nested("inner").open().unwrap(),
        top.nested("inner").capped(1, "0").open().unwrap(),
        top.nest_after(&same).unwrap(),
        top.partition(|_| 0).unwrap().part(0).unwrap(),
        top.launch(&filter.unwrap()).unwrap(),
        top.launch(&opened_inside).unwrap(),
        top.launch(&pipeline.filter(1, "0").unwrap()).unwrap(),
    ]
}

pub(crate) fn watched() -> (Watch, PureSession) {
    let watch = Watch::new();
    let odometer = Odometer::new(records(), BASIC).named("top").watched(&watch);
    let filter = odometer.filter(1, "0").unwrap();
    (watch, filter.invoke(vec![3, 31, 41]).unwrap())
}

#[test]
fn a_failure_anywhere_stops_everything_on_the_data_and_nothing_else() {
    for at in 0..family(&watched().1).len() {
        for (fails, error) in [
            (fails_on(31), AskError::failed("31 is there")),
            (panics_on(31), AskError::Panicked),
        ] {
            let (watch, top) = watched();
            let sessions = family(&top);
            let slots = Compositor::new(records(), Free, 1, vec!["0"; 3]);
            let composition = top.launch(&slots.measurement().unwrap()).unwrap();
            let partition = top.partition(|record: &i64| *record).unwrap();
            let others = open();
            let fails = fails.named("culprit");
            assert_eq!(sessions[at].launch(&free("before")), Ok(3));
            let failing = sessions[at].launch(&(&fails >> &free("attack")).unwrap());
            assert_eq!(failing, Err(STOPPED), "the text says nothing");
            let launched = top.launches().unwrap();
            for session in &sessions {
                assert_eq!(session.launch(&free("later")), Err(REFUSED));
                let below = session.nested("inner").open().unwrap();
                assert_eq!(below.launch(&free("later")), Err(REFUSED));
                assert!(session.privacy_loss(&1).is_ok(), "questions are answered");
            }
            assert_eq!(composition.launch(&free("later")), Err(REFUSED));
            assert_eq!(composition.left().len(), 3, "no slot was taken");
            assert_eq!(
                partition.part(3).unwrap().launch(&free("later")),
                Err(REFUSED)
            );
            assert_eq!(
                top.launches().unwrap(),
                launched,
                "nothing more was charged"
            );
            assert_eq!(others.launch(&free("elsewhere")), Ok(3));
            let failures = watch.failures();
            assert_eq!(failures.len(), 1);
            assert_eq!(failures[0].session, "top");
            assert_eq!(failures[0].by, "culprit");
            assert_eq!(failures[0].error, error);
        }
    }
}

#[test]
fn derived_data_chains_and_pipelines_stop_like_a_launch() {
    type Attack = fn(&PureSession, &Change) -> Result<usize, LaunchError>;
    let attacks: [(&str, Attack); 5] = [
        ("culprit", |top, fails| {
            top.nest_after(fails)?.launch(&free("attack"))
        }),
        ("culprit", |top, fails| {
            let after = top.nest_after(fails)?.nested("inner").open()?;
            after.partition(|_| 0)?.part(0)?.launch(&free("attack"))
        }),
        ("all: culprit", |top, fails| {
            let chain = panics_on(-1).then(fails).unwrap().named("all");
            top.launch(&(&chain >> &free("attack")).unwrap())
        }),
        ("culprit", |top, fails| {
            let pipeline = (fails >> &Odometer::new(records(), BASIC)).unwrap();
            let filter = pipeline.filter(1, "0")?;
            top.launch(&filter)?.launch(&free("attack"))
        }),
        ("culprit", |top, fails| {
            let slots = Compositor::new(records(), Free, 1, vec!["0"; 2]);
            let slots = slots.measurement()?;
            top.launch(&slots)?
                .launch(&(fails >> &free("attack")).unwrap())
        }),
    ];
    for (by, attack) in attacks {
        let (watch, top) = watched();
        let charged = top.launches().unwrap().len();
        let fails = fails_on(31).named("culprit");
        assert_eq!(attack(&top, &fails), Err(STOPPED));
        assert_eq!(attack(&top, &fails), Err(REFUSED));
        assert_eq!(top.launch(&free("later")), Err(REFUSED));
        assert!(top.launches().unwrap().len() > charged, "it was charged");
        assert_eq!(watch.failures()[0].by, by);
    }
}

#[test]
fn a_key_function_that_panics_stops_everything_once() {
    let (watch, top) = watched();
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let partition = top
        .partition(move |record: &i64| {
            counted.fetch_add(1, Ordering::SeqCst);
            assert_ne!(*record, 31);
            *record
        })
        .unwrap();
    let (one, other) = (partition.part(3).unwrap(), partition.part(4).unwrap());
    assert_eq!(one.launch(&free("attack")), Err(STOPPED));
    assert_eq!(one.launch(&free("later")), Err(REFUSED));
    assert_eq!(other.launch(&free("later")), Err(REFUSED));
    assert_eq!(seen.load(Ordering::SeqCst), 2, "it was not called again");
    let failures = watch.failures();
    assert_eq!(failures[0].error, AskError::Panicked);
    assert!(failures[0].by.contains("halting.rs"), "{failures:?}");
}

#[test]
fn a_function_that_keeps_the_failure_to_itself_is_not_answered() {
    let (watch, top) = watched();
    let inner = (&fails_on(31).named("culprit") >> &free("inner")).unwrap();
    let tells = Measurement::new(
        "tells",
        records(),
        inner.map().clone(),
        move |data, scope| Ok(inner.run(data, scope).is_err()),
    );
    assert_eq!(top.launch(&tells), Err(STOPPED));
    assert_eq!(watch.failures()[0].by, "culprit");
}

#[test]
fn a_failure_of_a_measurement_stops_nothing() {
    let (watch, top) = watched();
    let map = PrivacyMap::per_record(PureDp, "0").unwrap();
    let panics = Measurement::new("panics", records(), map, |_, _| -> Result<(), _> {
        panic!("its author vouches for it")
    });
    let same = Transformation::new(records(), records(), times(1), |data: &Vec<i64>| {
        Ok(data.clone())
    });
    let error = AskError::failed("no luck");
    assert_eq!(
        top.launch(&(&same >> &failing("0")).unwrap()),
        Err(LaunchError::Failed(error))
    );
    let panicked = Err(LaunchError::Failed(AskError::Panicked));
    assert_eq!(top.launch(&(&same >> &panics).unwrap()), panicked);
    assert_eq!(top.launch(&free("later")), Ok(3));
    assert!(watch.failures().is_empty());
}

#[test]
fn an_analysts_watch_is_told_nothing_of_data_that_others_opened() {
    let (watch, top) = watched();
    let curious = Watch::new();
    let odometer = Odometer::new(records(), BASIC).watched(&curious);
    let inner = top.launch(&odometer.filter(1, "0").unwrap()).unwrap();
    let slots = Compositor::new(records(), Free, 1, vec!["0"; 2]).watched(&curious);
    let slots = inner.launch(&slots.measurement().unwrap()).unwrap();
    let attack = (&fails_on(31) >> &free("attack")).unwrap();
    assert_eq!(slots.launch(&attack), Err(STOPPED));
    assert!(curious.failures().is_empty());
    assert!(
        watch.failures()[0].by.contains("halting.rs"),
        "by its place"
    );
}

#[test]
fn of_launches_under_way_at_most_their_end_is_learnt() {
    // Two transformations that both fail, at the same time: neither launch tells which, and the operator is told of one.
    let (watch, top) = watched();
    let together = Arc::new(Barrier::new(2));
    std::thread::scope(|threads| {
        for value in [31, 41] {
            let (top, together) = (&top, Arc::clone(&together));
            let fails = Transformation::new(records(), records(), times(1), move |_: &Vec<i64>| {
                together.wait();
                Err(AskError::failed(format!("{value} is there")))
            });
            let attack = (&fails >> &free("attack")).unwrap();
            threads.spawn(move || assert_eq!(top.launch(&attack), Err(STOPPED)));
        }
    });
    assert_eq!(watch.failures().len(), 1);
}

#[test]
fn outside_of_any_session_a_failure_is_the_callers_own() {
    let error = AskError::failed("3 is there");
    assert_eq!(fails_on(3).apply(&vec![3]), Err(error.clone()));
    let attack = (&fails_on(3) >> &free("attack")).unwrap();
    assert_eq!(attack.invoke(vec![3]), Err(LaunchError::Failed(error)));
    assert_eq!(panics_on(3).apply(&vec![3]), Err(AskError::Panicked));
}
