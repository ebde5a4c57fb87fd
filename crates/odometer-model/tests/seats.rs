//! Launches that are counted in seats, in many schedules: under the model, seats are opened after a few launches.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::common::*;
use measures::Loss as _;

/// Two sessions and the top launch in a row, while somebody asks: exactly what fits is admitted, and no answer falls.
#[test]
fn what_is_counted_elsewhere_is_known_to_whoever_asks() {
    many_schedules(|| {
        let top = filter("14");
        let unit = query("1");
        let seats = [(); 2].map(|()| top.nested("inner").open().unwrap());
        let launching = seats.clone().map(|session| {
            let unit = unit.clone();
            spawn(move || (0..6).map(|_| admitted(&session, &unit)).sum::<u64>())
        });
        let asking = {
            let top = top.clone();
            spawn(move || {
                let (first, second) = (spent(&top), spent(&top));
                assert!(first.at_most(&second), "a loss fell");
            })
        };
        let own: u64 = (0..4).map(|_| admitted(&top, &unit)).sum();
        let by = launching.map(|thread| thread.join().unwrap());
        asking.join().unwrap();
        assert_eq!(own + by[0] + by[1], 14);
        assert_eq!(spent(&top), epsilon("14"));
        assert_eq!(top.launches().unwrap()[0].1, 14);
        for (session, by) in seats.iter().zip(by) {
            assert_eq!(*spent(session).value(), exact::Exact::from(by));
        }
    });
}

/// Another bill comes between those that are counted: each is listed in its run, and the sum is exact.
#[test]
fn another_bill_recalls_what_was_granted() {
    many_schedules(|| {
        let top = odometer();
        let session = top.nested("inner").open().unwrap();
        let (one, other) = (query("1"), query("2"));
        let launching = {
            let one = one.clone();
            spawn(move || (0..6).for_each(|_| assert_eq!(admitted(&session, &one), 1)))
        };
        for query in [&one, &other, &other, &other, &one] {
            assert_eq!(admitted(&top, query), 1);
        }
        launching.join().unwrap();
        assert_eq!(spent(&top), epsilon("14"));
        let ledger = top.ledger(&1).unwrap();
        let of = |cost: &str| {
            let charges = ledger.iter().filter(|charge| charge.loss == epsilon(cost));
            charges.map(|charge| charge.count).sum::<u64>()
        };
        assert_eq!((of("1"), of("2")), (8, 3));
    });
}

/// Two threads share one seat, and ask after each launch: every launch that has ended is known.
#[test]
fn a_launch_that_has_ended_is_known() {
    many_schedules(|| {
        let top = odometer();
        let unit = query("1");
        let ended = Arc::new(AtomicU64::new(0));
        let threads = [(); 2].map(|()| {
            let (top, unit, ended) = (top.clone(), unit.clone(), Arc::clone(&ended));
            spawn(move || {
                for _ in 0..2 {
                    for _ in 0..3 {
                        ended.fetch_add(admitted(&top, &unit), Ordering::SeqCst);
                    }
                    let known = exact::Exact::from(ended.load(Ordering::SeqCst));
                    assert!(*spent(&top).value() >= known, "a launch was forgotten");
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Two threads launch different bills through the top's own seat: no launch counts for the other's bill.
#[test]
fn bills_are_not_confused() {
    many_schedules(|| {
        let top = odometer();
        let threads = ["1", "2"].map(|cost| {
            let top = top.clone();
            spawn(move || {
                let query = query(cost);
                (0..4).for_each(|_| assert_eq!(admitted(&top, &query), 1));
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(spent(&top), epsilon("12"));
    });
}

/// A launch that depends on what was launched before is not only counted: one of two finds the limit reached.
#[test]
fn a_limit_holds_while_a_seat_is_open() {
    many_schedules(|| {
        let top = odometer();
        let unit = query("1");
        for _ in 0..3 {
            assert_eq!(admitted(&top, &unit), 1);
        }
        let threads = [(); 2].map(|()| {
            let (top, unit) = (top.clone(), unit.clone());
            spawn(move || u64::from(top.launch_within(&unit, &1, &epsilon("4")).is_ok()))
        });
        let within: u64 = threads.map(|thread| thread.join().unwrap()).iter().sum();
        assert!(within <= 1, "the limit was passed");
        assert_eq!(*spent(&top).value(), exact::Exact::from(3 + within));
    });
}
