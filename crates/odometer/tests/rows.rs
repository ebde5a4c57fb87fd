//! Many launches of one measurement: each is charged its cost. Bookmarks of another list.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use exact::Exact;
use measures::{Epsilon, PrivacyMap, PureDp};
use odometer::{Measurement, Odometer};

use crate::common::{BASIC, records};

/// A map that nobody should write: it says 1 for the first so many times that it is asked, and then 5. The number is all that it said.
fn rising(cheap: u64) -> (crate::common::On<PureDp, ()>, Arc<AtomicU64>) {
    let (asked, said) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let total = Arc::clone(&said);
    let map = PrivacyMap::new(PureDp, move |_: &u32| {
        let price = match asked.fetch_add(1, Ordering::SeqCst) < cheap {
            true => 1,
            false => 5,
        };
        total.fetch_add(price, Ordering::SeqCst);
        Ok(Epsilon::new(Exact::from(price)))
    });
    let query = Measurement::new("rising", records(), map, |_, _| Ok(()));
    (query, said)
}

/// The price at the first few distances is remembered, and not asked for again: there is one price. At the others the map is asked for
/// each launch, and each is charged what it says then.
#[test]
fn a_price_that_is_not_remembered_is_charged_as_it_is_asked() {
    let (query, said) = rising(40);
    let filter = |d_in: u32, budget: &str| {
        let filter = Odometer::new(records(), BASIC).filter(d_in, budget);
        filter.unwrap().invoke(vec![1]).unwrap()
    };
    for d_in in 1..=4 {
        let session = filter(d_in, "20");
        for _ in 0..20 {
            session.launch(&query).unwrap();
        }
        assert!(session.launch(&query).is_err());
    }
    assert_eq!(said.load(Ordering::SeqCst), 4, "asked once for each");
    let session = filter(5, "100");
    let mut launched = 0;
    loop {
        let before = said.load(Ordering::SeqCst);
        if session.launch(&query).is_err() {
            // Neither more nor less was charged than what the map said for those that ran.
            assert!(before - 4 <= 100 && before - 4 + 5 > 100, "{before}");
            break;
        }
        launched += 1;
    }
    assert_eq!(launched, 36 + (100 - 36) / 5);
}

/// A mark of another list is of no use, and does no harm.
#[test]
fn a_mark_of_another_list_finds_nothing_or_the_rest() {
    let (long, short) = (crate::common::open(), crate::common::open());
    let query = crate::common::pure("0.1");
    for (session, launches) in [(&long, 5), (&short, 2)] {
        for _ in 0..launches {
            session.launch(&query).unwrap();
        }
    }
    let (_, mark) = long
        .launches_after(odometer::Bookmark::default(), 100)
        .unwrap();
    let (rest, _) = short.launches_after(mark, 100).unwrap();
    assert!(rest.is_empty());
    short.launch(&crate::common::pure("0.2")).unwrap();
    let (rest, _) = short.launches_after(mark, 100).unwrap();
    assert_eq!(rest.iter().map(|(_, count)| count).sum::<u64>(), 1);
}
