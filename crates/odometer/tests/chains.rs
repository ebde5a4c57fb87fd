//! Long chains of combinators on small stacks: what is too deep is a typed error and holds nothing, whatever is not works.

use std::thread;

use crate::common::*;
use measures::convert::PureToApprox;
use measures::{ApproxDp, Basic, MAX_LINKS, MapError, PrivacyMap, PureDp, times};
use odometer::{LaunchError, MAX_NESTING, Measurement, Odometer, OpenError, Transformation};
use queryable::AskError;

const MANY: usize = 200_000;
const TOO_DEEP: LaunchError = LaunchError::TooDeep { limit: MAX_LINKS };

type Change = Transformation<Numbers, Numbers>;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let small = thread::Builder::new().stack_size(256 << 10);
    small.spawn(test).unwrap().join().unwrap();
}

fn count() -> On<PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, "0.001").unwrap();
    Measurement::new("count", records(), map, |data, _| Ok(data.len()))
}

fn grow() -> Change {
    let function = |data: &Vec<i64>| Ok(data.iter().copied().chain([0]).collect());
    Transformation::new(records(), records(), times(1), function)
}

/// The longest chain that still works, and one that is far too long.
fn chains<X: Clone>(first: &X, link: impl Fn(&X) -> X) -> (X, X) {
    let mut chain = first.clone();
    for _ in 0..MAX_LINKS {
        chain = link(&chain);
    }
    let longest = chain.clone();
    for _ in usize::from(MAX_LINKS)..MANY {
        chain = link(&chain);
    }
    (longest, chain)
}

/// Every use is an error, and nothing is charged.
fn check_too_deep<A: std::fmt::Debug + PartialEq + 'static>(measurement: &On<PureDp, A>) {
    let (capped, live) = (filtered("1"), open());
    for session in [&capped, &live, &capped.nested("inner").open().unwrap()] {
        assert_eq!(session.launch(measurement), Err(TOO_DEEP));
        assert_eq!(session.loss_after(measurement, &1), Err(TOO_DEEP));
        let within = session.launch_within(measurement, &1, "1");
        assert_eq!(within, Err(TOO_DEEP));
        assert!(session.launches().unwrap().is_empty());
    }
    assert_eq!(measurement.invoke(vec![1]), Err(TOO_DEEP));
}

#[test]
fn postprocessing() {
    on_a_small_stack(|| {
        let (longest, endless) = chains(&count(), |chain| chain.postprocess(|n| n + 1));
        assert_eq!(filtered("1").launch(&longest), Ok(3 + 256));
        check_too_deep(&endless);
        drop((longest, endless));
    });
}

#[test]
fn group_privacy() {
    on_a_small_stack(|| {
        let (longest, endless) = chains(&count(), Measurement::by_group_privacy);
        assert_eq!(filtered("1").launch(&longest), Ok(3));
        assert_eq!(longest.map().loss(&2), Ok(loss("0.002")));
        check_too_deep(&endless);
    });
}

#[test]
fn transformations() {
    on_a_small_stack(|| {
        let (longest, endless) = chains(&grow(), |chain| chain.then(&grow()).unwrap());
        assert_eq!(longest.stability(&3), Ok(3));
        let after = filtered("1").nest_after(&longest).unwrap();
        assert_eq!(after.launch(&count()), Ok(3 + 257));
        assert_eq!(endless.stability(&3), Err(MapError::TooDeep { limit: 256 }));
        let error = AskError::TooDeep { limit: 256 };
        assert_eq!(endless.apply(&vec![]), Err(error));
        let too_deep = OpenError::TooDeep { limit: 256 };
        assert_eq!(open().nest_after(&endless).unwrap_err(), too_deep);
        check_too_deep(&(&endless >> &count()).unwrap());
        check_too_deep(&(&longest >> &count()).unwrap());

        let pipeline = (&endless >> &Odometer::new(records(), BASIC)).unwrap();
        assert_eq!(pipeline.open(vec![]).err(), Some(too_deep));
        let session = filtered("1");
        let filter = pipeline.filter(1, "1").unwrap();
        assert_eq!(session.launch(&filter).unwrap_err(), TOO_DEEP);
        assert!(session.launches().unwrap().is_empty());
    });
}

#[test]
fn a_chain_behind_itself_again_and_again_is_no_exponential_work() {
    on_a_small_stack(|| {
        let mut doubled = grow();
        for _ in 0..64 {
            doubled = doubled.then(&doubled).unwrap();
        }
        assert_eq!(
            doubled.apply(&vec![]),
            Err(AskError::TooDeep { limit: 256 })
        );
    });
}

#[test]
fn transformations_before_a_measurement() {
    on_a_small_stack(|| {
        let (longest, endless) = chains(&count(), |chain| (&grow() >> chain).unwrap());
        assert_eq!(filtered("1").launch(&longest), Ok(3 + 256));
        check_too_deep(&endless);
    });
}

#[test]
fn conversions() {
    // No measure converts to itself here: stability maps between conversions make the chain long.
    on_a_small_stack(|| {
        let same = || PrivacyMap::per_record(PureDp, "0.001").unwrap();
        let (longest, endless) = chains(&same(), |map| map.after(times(1)));
        let session = open_with(Basic::new(ApproxDp));
        let last = Measurement::new("last", records(), longest, |_, _| Ok(()));
        assert_eq!(session.launch(&last.convert(PureToApprox)), Err(TOO_DEEP));
        let endless = Measurement::new("endless", records(), endless, |_, _| Ok(()));
        assert_eq!(
            endless.map().loss(&1),
            Err(MapError::TooDeep { limit: 256 })
        );
        check_too_deep(&endless);
    });
}

#[test]
fn bills_that_are_translated_too_often_are_refused_before_anybody_is_charged() {
    // The levels of sessions alone fit; with a long chain below they do not, and that is known before the charge.
    thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(|| {
            let top = open();
            let mut session = top.clone();
            for _ in 1..MAX_NESTING {
                session = session.nest_after(&grow()).unwrap();
            }
            assert_eq!(session.launch(&count()), Ok(3 + 255));
            let mut chain = count();
            for _ in 0..2 {
                chain = chain.by_group_privacy();
            }
            assert_eq!(session.launch(&chain), Err(TOO_DEEP));
            assert_eq!(top.launches().unwrap().len(), 1);
            assert_eq!(spent(&top, 1), loss("0.001"), "and questions are answered");
        })
        .unwrap()
        .join()
        .unwrap();
}
