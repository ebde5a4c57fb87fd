//! Launches that are counted in seats, in many schedules: under the model, seats are opened after the second launch in a row.

mod common;

use common::*;
use measures::Loss as _;

/// Two sessions and the top launch in a row, while somebody asks: exactly what fits is admitted, and no answer falls.
#[test]
fn what_is_counted_elsewhere_is_known_to_whoever_asks() {
    many_schedules(|| {
        let top = filter("9");
        let unit = query("1");
        let seats = [(); 2].map(|()| top.nested("inner").open().unwrap());
        let launching = seats.clone().map(|session| {
            let unit = unit.clone();
            spawn(move || (0..5).map(|_| admitted(&session, &unit)).sum::<u64>())
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
        assert_eq!(own + by[0] + by[1], 9);
        assert_eq!(spent(&top), epsilon("9"));
        assert_eq!(top.launches().unwrap()[0].1, 9);
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
