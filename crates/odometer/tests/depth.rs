//! Deep and wide trees on small stacks: a typed error at the bound, and no overflow below it.

use std::thread;

use crate::common::*;
use measures::convert::PureToApprox;
use measures::{ApproxDp, ApproxZcdp, Basic, PrivacyMap, times};
use odometer::{LaunchError, MAX_NESTING, Measurement, Odometer, OpenError, Transformation};
use queryable::AskError;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn live_nesting_ends_at_the_bound_with_a_typed_error() {
    on_a_small_stack(|| {
        let top = filtered("1");
        let mut session = top.clone();
        for depth in 1..MAX_NESTING {
            session = match depth % 2 {
                0 => session.nested("inner").open().unwrap(),
                _ => session.nested("inner").capped(1, "0.9").open().unwrap(),
            };
        }
        let error = session.nested("inner").open().unwrap_err();
        assert_eq!(error, OpenError::TooDeep { limit: 256 });
        assert_eq!(
            session.nested("inner").capped(1, "1").open().unwrap_err(),
            error
        );
        assert!(
            session
                .partition(|record: &i64| *record)
                .unwrap()
                .part(1)
                .is_err()
        );
        session.launch(&pure("0.5")).unwrap();
        assert_eq!(spent(&top, 1), loss("0.5"));
        let said = refusal(session.launch(&pure("0.45")).unwrap_err());
        assert_eq!(said.budget, "0.9");
        assert_eq!(session.remaining(&1).unwrap(), Some(loss("0.4")));
        drop(top);
    });
}

#[test]
fn stability_maps_and_partitions_as_deep_as_can_be() {
    on_a_small_stack(|| {
        let same = Transformation::new(records(), records(), times(1), |data: &Vec<i64>| {
            Ok(data.clone())
        });
        let top = filtered("1");
        let mut session = top.clone();
        for depth in 1..MAX_NESTING {
            session = match depth % 3 {
                0 => session.nest_after(&same).unwrap(),
                1 => session
                    .partition(|record: &i64| *record)
                    .unwrap()
                    .part(1)
                    .unwrap(),
                _ => session.nested("inner").capped(1, "0.9").open().unwrap(),
            };
        }
        assert!(matches!(
            session.nest_after(&same),
            Err(OpenError::TooDeep { .. })
        ));
        session.launch(&pure("0.5")).unwrap();
        assert_eq!(spent(&top, 1), loss("0.5"));
        assert_eq!(spent(&top, 3), loss("1.5"));
        refusal(session.launch(&pure("0.45")).unwrap_err());
    });
}

#[test]
fn conversions_as_deep_as_can_be() {
    // A measure cannot be converted to itself here, so conversions alternate with nothing: one, and then live nesting.
    on_a_small_stack(|| {
        let top = filtered_with(Basic::new(ApproxDp), "(1, 0)");
        let mut session = top.nest_in(BASIC, PureToApprox).unwrap();
        for _ in 2..MAX_NESTING {
            session = session.nested("inner").open().unwrap();
        }
        assert!(session.nested("inner").open().is_err());
        session.launch(&pure("0.5")).unwrap();
        assert_eq!(top.privacy_loss(&1).unwrap().bound(), &loss("(0.5, 0)"));
    });
}

#[test]
fn filters_in_filters_end_at_a_typed_error() {
    on_a_small_stack(|| {
        let filter = Odometer::new(records(), BASIC).filter(1, "1").unwrap();
        let mut sessions = vec![filter.invoke(vec![]).unwrap()];
        let error = loop {
            match sessions.last().unwrap().launch(&filter) {
                Ok(session) => sessions.push(session),
                Err(error) => break error,
            }
        };
        assert_eq!(error, LaunchError::Failed(AskError::TooDeep { limit: 256 }));
        assert!(sessions.len() > 200);
        // The outermost first, and then the innermost alone.
        sessions.drain(..sessions.len() - 1);
    });
}

#[test]
fn a_long_chain_of_turns_is_torn_down() {
    // Every launch of a filter 255 live levels down stands under 256 turns more than the session it was launched in.
    on_a_small_stack(|| {
        let rule = Basic::new(ApproxZcdp);
        let filter = Odometer::new(records(), rule).filter(1, "(1, 0)").unwrap();
        let mut session = Odometer::new(records(), rule).open(vec![]).unwrap();
        for _ in 0..60 {
            for _ in 1..MAX_NESTING {
                session = session.nested("deeper").open().unwrap();
            }
            session = session.launch(&filter).unwrap();
        }
        session.launch(&flat(ApproxZcdp, "(1, 0)")).unwrap();
        // So that a shorter chain than the longest is enough to tell a loop from a recursion.
        let small = thread::Builder::new().stack_size(256 << 10);
        small.spawn(move || drop(session)).unwrap().join().unwrap();
    });
}

#[test]
fn wide_trees_are_torn_down() {
    on_a_small_stack(|| {
        let top = filtered("1");
        let free = pure("0");
        let sessions: Vec<_> = (0..20_000)
            .map(|_| top.nested("inner").open().unwrap())
            .collect();
        sessions
            .iter()
            .for_each(|session| session.launch(&free).unwrap());
        assert_eq!(
            top.launches().unwrap(),
            [(free.description().clone(), 20_000)]
        );
        drop(top);
        drop(sessions);
    });
}

#[test]
fn data_derived_from_derived_data_are_made_once_and_dropped_in_any_order() {
    on_a_small_stack(|| {
        let grow = Transformation::new(records(), records(), times(1), |data: &Vec<i64>| {
            Ok(data.iter().copied().chain([0]).collect())
        });
        let mut session = open();
        for _ in 1..MAX_NESTING {
            session = session.nest_after(&grow).unwrap();
        }
        let map = PrivacyMap::per_record(measures::PureDp, "0").unwrap();
        let count = Measurement::new("count", records(), map, |data, _| Ok(data.len()));
        assert_eq!(session.launch(&count), Ok(3 + 255));
        assert_eq!(session.launch(&count), Ok(3 + 255));
    });
}
