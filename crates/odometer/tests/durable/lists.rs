//! The list of an account after a restart: launches of records leave room for live ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use measures::Loss as _;

use super::*;

fn open_list(journal: &Memory) -> Pure {
    let books = Books::new(journal.clone());
    let odometer = organisation().quota(100);
    odometer.filter_on(&books, 1, "100", vec![1]).unwrap()
}

#[test]
fn a_merged_list_takes_launches_after_a_restart() {
    let journal = Memory::new();
    let session = open_list(&journal);
    for number in 0..200 {
        let query = query("0.1").named(number.to_string());
        session.launch(&query).unwrap();
    }
    assert_eq!(session.launches().unwrap().len(), 101);
    drop(session);
    let journal = restarted(&journal);
    let session = open_list(&journal);
    assert_eq!(session.launches().unwrap().len(), 101);
    assert_eq!(left(&session), "80");
    assert_eq!(session.privacy_loss(2).unwrap().to_string(), "40");
    for number in 0..200 {
        let query = query("0.1").named(format!("later {number}"));
        session.launch(&query).unwrap();
    }
    assert_eq!(left(&session), "60");
    assert_eq!(session.privacy_loss(2).unwrap().to_string(), "80");
    let again = open_list(&restarted(&journal));
    assert_eq!(again.launches().unwrap().len(), 101);
    assert_eq!(left(&again), "60");
}

/// With as many different maps as each process can launch, the list stays bounded, each launch is
/// charged its own loss, and live launches always have room.
#[test]
fn past_launches_never_fill_the_list() {
    let mut journal = Memory::new();
    for process in 0..4 {
        let session = open_list(&journal);
        for number in 0..150 {
            let per_record = format!("0.000{:03}", 1 + process * 150 + number);
            session.launch(&query(&per_record)).unwrap();
        }
        drop(session);
        journal = restarted(&journal);
    }
    let session = open_list(&journal);
    assert_eq!(session.launches().unwrap().len(), 100 + 64 + 1);
    let counts = session.launches().unwrap().into_iter().map(|(_, n)| n);
    assert_eq!(counts.sum::<u64>(), 600);
    // 600 · 601 / 2 millionths.
    assert_eq!(left(&session), "99.8197");
    // The last entry stands for any launch: its cost is not known.
    let infinite = Epsilon::INFINITY;
    assert!(infinite.at_most(session.privacy_loss(1).unwrap().bound()));
    session.launch(&query("0.5")).unwrap();
    assert_eq!(left(&session), "99.3197");
}

/// A map that changes its mind: the record states what was charged.
#[test]
fn a_record_states_the_charge_of_an_inconsistent_map() {
    let asked = Arc::new(AtomicUsize::new(0));
    let map = PrivacyMap::new(PureDp, move |d_in: &u32| {
        let again = *d_in == 1 && asked.fetch_add(1, Ordering::Relaxed) > 0;
        Ok((if again { "0.1" } else { "0.4" }).parse().unwrap())
    });
    let query: Query = Measurement::new("query", records(), map, |_, _| Ok(0));
    // A cost remembers four distances.
    for d_in in 2..6 {
        let filter = organisation().filter(d_in, "1").unwrap();
        filter.invoke(vec![1]).unwrap().launch(&query).unwrap();
    }
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query).unwrap();
    assert_eq!(left(&session), "0.6");
    assert_eq!(left(&open(&restarted(&journal))), "0.6");
}
