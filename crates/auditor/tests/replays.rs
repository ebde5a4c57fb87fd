//! Replays that differ: randomness that does not come from the coins, and answers that depend on what is asked later.

use crate::common::always;
use auditor::{AuditError, Input, audit, player};
use queryable::{Root, machine};

#[test]
fn hidden_randomness_is_found() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let cheat = |_: Input, root: &Root| {
        let run = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        root.spawn(machine(move |(), scope| {
            scope.draw(&queryable::coins::Bit::fair())?;
            Ok(run % 3)
        }))
    };
    let found = audit(cheat).on_one_thread().asking(2, always(vec![()]));
    assert!(matches!(found, Err(AuditError::HiddenRandomness { .. })));
}

#[test]
fn hidden_randomness_in_the_last_round_is_found() {
    // An outside counter that changes the only answer, with any period, with and without coins.
    for (period, coins) in [(2, 0), (2, 1), (3, 1), (4, 2), (2, 10)] {
        let count = std::sync::atomic::AtomicUsize::new(0);
        let cheat = |_: Input, root: &Root| {
            let run = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            root.spawn(machine(move |(), scope| {
                for _ in 0..coins {
                    scope.draw(&queryable::coins::Bit::fair())?;
                }
                Ok(run % period)
            }))
        };
        let found = audit(cheat).on_one_thread().asking(1, always(vec![()]));
        let found = found.err();
        assert_eq!(
            found,
            Some(AuditError::HiddenRandomness { round: 0 }),
            "{period} {coins}"
        );
    }
}

#[test]
fn looking_into_the_future_is_found() {
    // Not a machine: the first answer depends on what the second query will be.
    use std::sync::{Arc, Mutex};
    let last = Arc::new(Mutex::new(0u8));
    let build = move |_: Input, _: &Root| {
        let last = last.clone();
        Ok(player(move |query: u8| {
            let before = std::mem::replace(&mut *last.lock().unwrap(), query);
            Ok(before)
        }))
    };
    let found = audit(build).on_one_thread().asking(2, always(vec![0, 1]));
    assert!(found.is_err(), "{found:?}");
}
