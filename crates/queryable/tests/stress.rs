//! Many threads, many children: nothing lost, nothing twice, nobody stuck. (Interleavings are explored one by one in
//! `crates/queryable-model`.)

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::{adder, adding, root};
use queryable::coins::Uniform;
use queryable::{AskError, Machine, Queryable, Root, Scope, machine, translate};

const THREADS: u64 = 8;
const ASKS: u64 = 2_000;

#[test]
fn a_shared_machine_counts_every_ask() {
    let root = root();
    let q = adder(&root);
    let front = root
        .postprocess(&q, translate(|x: u64| x, |x: u64| x))
        .unwrap();
    let seen: Vec<BTreeSet<u64>> = thread::scope(|s| {
        let run = |q: &Queryable<u64, u64>| (0..ASKS).map(|_| q.ask(1).unwrap()).collect();
        let threads: Vec<_> = (0..THREADS)
            .map(|i| {
                s.spawn({
                    let q = if i % 2 == 0 { q.clone() } else { front.clone() };
                    move || run(&q)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    // Every count was given to somebody, once.
    let all: BTreeSet<u64> = seen.into_iter().flatten().collect();
    assert_eq!(all, (1..=THREADS * ASKS).collect());
}

/// Spawns a child per ask, and counts them.
fn nursery() -> impl Machine<Query = (), Answer = (u64, Queryable<u64, u64>)> {
    let mut born = 0;
    machine(move |(), scope: &mut Scope<'_>| {
        born += 1;
        Ok((born, scope.spawn(adding())?))
    })
}

#[test]
fn many_children_from_many_threads() {
    let root = root();
    let parent = root.spawn(nursery()).unwrap();
    let answered = AtomicU64::new(0);
    let numbers: BTreeSet<u64> = thread::scope(|s| {
        let run = || {
            let mut numbers = Vec::new();
            for _ in 0..300 {
                let (number, child) = parent.ask(()).unwrap();
                numbers.push(number);
                thread::scope(|inner| {
                    // The child outlives its thread, and is asked from two.
                    inner.spawn(|| child.ask(1).unwrap());
                    child.ask(1).unwrap();
                });
                assert_eq!(child.ask(1), Ok(3));
                assert_eq!(adder(&root).ask(1), Ok(1));
                answered.fetch_add(4, Ordering::Relaxed);
            }
            numbers
        };
        let threads: Vec<_> = (0..4).map(|_| s.spawn(run)).collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert_eq!(numbers, (1..=1200).collect());
    assert_eq!(answered.into_inner(), 4 * 1200);
}

#[test]
fn turns_move_under_load_and_the_newest_wins() {
    let root = root();
    let answered = AtomicU64::new(0);
    let last: Vec<Queryable<u64, u64>> = thread::scope(|s| {
        let run = || {
            let mut last = None;
            for _ in 0..500 {
                let child = root.spawn_in_turn(adding()).unwrap();
                match child.ask(1) {
                    Ok(1) => answered.fetch_add(1, Ordering::Relaxed),
                    other => {
                        assert_eq!(other, Err(AskError::OutOfTurn));
                        0
                    }
                };
                last = Some(child);
            }
            last
        };
        let threads: Vec<_> = (0..4).map(|_| s.spawn(run)).collect();
        threads
            .into_iter()
            .filter_map(|t| t.join().unwrap())
            .collect()
    });
    // Of the last ones of all threads exactly the newest answers.
    assert_eq!(last.iter().filter(|q| q.ask(1).is_ok()).count(), 1);
    assert!(answered.into_inner() > 0);
}

#[test]
fn one_panic_among_many_threads() {
    let q = root()
        .spawn({
            let mut left = 1_000;
            machine(move |(), _: &mut Scope<'_>| {
                left -= 1;
                assert!(left >= 0, "worn out");
                Ok(left)
            })
        })
        .unwrap();
    let (answers, panics) = thread::scope(|s| {
        let run = || {
            let answers: Vec<_> = (0..500).map(|_| q.ask(())).collect();
            let panics = answers
                .iter()
                .filter(|a| **a == Err(AskError::Panicked))
                .count();
            (answers.iter().filter(|a| a.is_ok()).count(), panics)
        };
        let threads: Vec<_> = (0..4).map(|_| s.spawn(run)).collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    });
    assert_eq!((answers, panics), (1_000, 1_000));
}

#[test]
fn a_seeded_machine_draws_the_same_numbers_whoever_asks() {
    let draws =
        || machine(|(), scope: &mut Scope<'_>| scope.draw(&Uniform::below(1 << 40).unwrap()));
    let alone = Root::seeded([2; 32]).spawn(draws()).unwrap();
    let expected: BTreeSet<u64> = (0..4_000).map(|_| alone.ask(()).unwrap()).collect();
    let shared = Root::seeded([2; 32]).spawn(draws()).unwrap();
    let drawn: BTreeSet<u64> = thread::scope(|s| {
        let run = || {
            (0..1_000)
                .map(|_| shared.ask(()).unwrap())
                .collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..4).map(|_| s.spawn(run)).collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert_eq!(drawn, expected);
}
