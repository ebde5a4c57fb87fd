//! Races in the account tree, under every kind of schedule.

use std::sync::Arc;

use crate::common::*;
use measures::{ApproxZcdp, Basic, Loss, PrivacyMap};
use odometer_model::{LaunchError, Measurement, Odometer};
use queryable::{AskError, Queryable, Scope, machine};

#[test]
fn exactly_what_fits_is_admitted_and_every_account_agrees() {
    many_schedules(|| {
        let organisation = filter("3");
        let (one, other) = (
            organisation
                .nested("inner")
                .capped(1, epsilon("2"))
                .open()
                .unwrap(),
            organisation.nested("inner").open().unwrap(),
        );
        let unit = query("1");
        let threads = [one.clone(), other.clone()].map(|session| {
            let unit = unit.clone();
            spawn(move || (0..2).map(|_| admitted(&session, &unit)).sum::<u64>())
        });
        let admitted = threads.map(|thread| thread.join().unwrap());
        assert_eq!(admitted[0] + admitted[1], 3);
        for (session, admitted) in [(&one, admitted[0]), (&other, admitted[1])] {
            assert_eq!(*spent(session).value(), exact::Exact::from(admitted));
            let listed: u64 = session.launches().unwrap().iter().map(|(_, n)| n).sum();
            assert_eq!(listed, admitted);
        }
        assert_eq!(spent(&organisation), epsilon("3"));
        assert_eq!(organisation.remaining(&1).unwrap(), Some(epsilon("0")));
    });
}

#[test]
fn three_levels_charge_all_or_none() {
    many_schedules(|| {
        let top = filter("1");
        let middle = top.nested("inner").capped(1, epsilon("1")).open().unwrap();
        let (deep, shallow) = (
            middle
                .nested("inner")
                .capped(1, epsilon("1"))
                .open()
                .unwrap(),
            top.nested("inner").open().unwrap(),
        );
        let threads = [deep.clone(), shallow.clone(), middle.clone()]
            .map(|session| spawn(move || admitted(&session, &query("1"))));
        let [by_deep, by_shallow, by_middle] = threads.map(|thread| thread.join().unwrap());
        assert_eq!(by_deep + by_shallow + by_middle, 1);
        assert_eq!(*spent(&deep).value(), exact::Exact::from(by_deep));
        assert_eq!(
            *spent(&middle).value(),
            exact::Exact::from(by_deep + by_middle)
        );
        assert_eq!(spent(&top), epsilon("1"));
    });
}

#[test]
fn conditions_and_rests_are_single_operations() {
    many_schedules(|| {
        let session = odometer();
        let threads = [(); 2].map(|()| {
            let session = session.clone();
            spawn(move || {
                let launched = session.launch_within(&query("1"), &1, &epsilon("1"));
                u64::from(launched.is_ok())
            })
        });
        let launched: u64 = threads.map(|thread| thread.join().unwrap()).iter().sum();
        assert_eq!(launched, 1);
        assert_eq!(spent(&session), epsilon("1"));
    });
    many_schedules(|| {
        let session = filter("1");
        let rest = {
            let session = session.clone();
            spawn(move || {
                session
                    .spend_rest(&1, |rest| query(&rest.to_string()))
                    .unwrap()
            })
        };
        admitted(&session, &query("0.25"));
        rest.join().unwrap();
        assert_eq!(spent(&session), epsilon("1"));
    });
}

#[test]
fn questions_never_fall_and_end_exact() {
    many_schedules(|| {
        let session = odometer();
        let child = session.nested("inner").open().unwrap();
        let launching = spawn(move || {
            let (one, other) = (query("1"), query("1"));
            for query in [&one, &other, &one] {
                assert_eq!(admitted(&child, query), 1);
            }
        });
        let asking = {
            let session = session.clone();
            spawn(move || {
                let (first, second) = (spent(&session), spent(&session));
                assert!(first.at_most(&second), "a loss fell");
            })
        };
        spent(&session);
        launching.join().unwrap();
        asking.join().unwrap();
        assert_eq!(spent(&session), epsilon("3"));
    });
}

#[test]
fn only_one_leaf_has_the_turn_of_a_sequential_account() {
    many_schedules(|| {
        let rule = Basic::new(ApproxZcdp);
        let session = Odometer::new(records(), rule)
            .open_in(&root(), Arc::new(vec![]))
            .unwrap();
        let cost = || PrivacyMap::new(ApproxZcdp, |_| Ok("(0.1, 0)".parse().unwrap()));
        let query = Measurement::new("query", records(), cost(), |_, scope| {
            scope.spawn(machine(|x: u64, _: &mut Scope<'_>| Ok(x)))
        });
        let threads = [session.nested("inner").open().unwrap(), session.clone()].map(|session| {
            let query = query.clone();
            spawn(move || session.launch(&query))
        });
        let machines: Vec<Queryable<u64, u64>> = threads
            .into_iter()
            .filter_map(|thread| match thread.join().unwrap() {
                Ok(machine) => Some(machine),
                Err(LaunchError::Failed(AskError::OutOfTurn)) => None,
                Err(other) => panic!("{other}"),
            })
            .collect();
        let answering = machines
            .iter()
            .filter(|machine| machine.ask(1).is_ok())
            .count();
        assert_eq!(answering, 1);
        assert_eq!(
            session.privacy_loss(&1).unwrap().bound(),
            &"(0.2, 0)".parse().unwrap()
        );
    });
}

#[test]
fn one_key_is_one_part_for_everybody() {
    many_schedules(|| {
        let session = filter("1");
        let partition = Arc::new(session.partition(|record: &i64| *record).unwrap());
        let threads = [(); 2].map(|()| {
            let partition = Arc::clone(&partition);
            spawn(move || {
                let part = partition.part(1).unwrap();
                admitted(&part, &query("0.75"))
            })
        });
        let launched: u64 = threads.map(|thread| thread.join().unwrap()).iter().sum();
        assert_eq!(launched, 1, "two launches in one part are charged both");
        assert_eq!(admitted(&partition.part(2).unwrap(), &query("1")), 1);
    });
}

#[test]
fn everything_at_once_ends() {
    // Locks are taken from the leaf to the root, and never two for a question: no schedule gets stuck.
    many_schedules(|| {
        let top = filter("10");
        let (left, right) = (
            top.nested("inner").capped(1, epsilon("5")).open().unwrap(),
            top.nested("inner").open().unwrap(),
        );
        let threads = [
            {
                let left = left.clone();
                spawn(move || drop(left.launch(&query("1"))))
            },
            {
                let (top, right) = (top.clone(), right.clone());
                spawn(move || {
                    right.launch(&query("1")).unwrap();
                    top.ledger(&1).unwrap();
                })
            },
            {
                let (top, left) = (top.clone(), left.clone());
                spawn(move || {
                    left.remaining(&1).unwrap();
                    top.launch(&query("1")).unwrap();
                    left.nested("inner")
                        .open()
                        .unwrap()
                        .launch(&query("1"))
                        .unwrap();
                })
            },
        ];
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(spent(&top), epsilon("4"));
    });
}
