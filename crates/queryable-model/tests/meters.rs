//! Machines of one launch that are asked at the same time: together they answer exactly as many messages as they may.

use crate::common::{adding, every_schedule, many_schedules, root};
use queryable_model::{AskError, Scope, machine};
use shuttle::thread;

fn race(limit: u64, asks: u64, machines: usize) {
    let spawned = root()
        .run_answering_at_most(limit, [], |scope| {
            (0..machines)
                .map(|_| scope.spawn_answering_at_most(asks, adding()))
                .collect::<Result<Vec<_>, _>>()
        })
        .unwrap();
    let asking = spawned.into_iter().map(|machine| {
        thread::spawn(move || {
            let answers = (0..asks).map(|_| machine.ask(1));
            // The launch's messages end first; who noticed too late has lost one of its own.
            let refused = [limit, asks].map(|limit| AskError::TooManyMessages { limit });
            answers
                .filter(|answer| match answer {
                    Ok(_) => true,
                    Err(error) => !refused.contains(error) && panic!("{error}"),
                })
                .count() as u64
        })
    });
    let asking: Vec<_> = asking.collect();
    let answered: u64 = asking
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    assert_eq!(answered, limit.min(asks * machines as u64));
}

#[test]
fn two_machines_and_one_message() {
    every_schedule(|| race(1, 1, 2));
}

#[test]
fn two_machines_and_a_few_messages() {
    many_schedules(|| race(3, 2, 2));
}

/// Machines that ask children of their own on the way: these asks are free, and the others are counted as exactly.
#[test]
fn two_machines_that_ask_inside_and_one_message() {
    many_schedules(|| {
        let spawned = root()
            .run_answering_at_most(1, [], |scope| {
                let asking = |scope: &mut Scope<'_>| {
                    let inner = scope.spawn(adding())?;
                    scope.spawn(machine(move |x: u64, scope: &mut Scope<'_>| {
                        let own = scope.spawn(adding())?;
                        own.ask(x)?;
                        // Not below this machine.
                        assert_eq!(inner.ask(x), Err(AskError::NotSpawnedHere));
                        own.ask(x)
                    }))
                };
                Ok([asking(scope)?, asking(scope)?])
            })
            .unwrap();
        let asking = spawned.map(|machine| thread::spawn(move || machine.ask(1)));
        let answers = asking.map(|thread| thread.join().unwrap());
        let refused = Err(AskError::TooManyMessages { limit: 1 });
        assert!(answers == [Ok(2), refused.clone()] || answers == [refused, Ok(2)]);
    });
}
