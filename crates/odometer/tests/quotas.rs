//! Whatever an analyst can make an account remember has a bound, and lists are read without stopping anybody.

use crate::common::*;
use measures::{Zcdp, adaptive::TimeUniformBasic, convert::PureToZcdp};
use odometer::journal::{Books, Memory};
use odometer::{
    Bookmark, DEFAULT_QUOTA, LaunchError, Odometer, TimeUniformOdometer, Transformation,
};

fn full(error: LaunchError) -> (String, u32) {
    assert!(!error.was_charged());
    assert!(error.to_string().contains("larger quota"), "{error}");
    match error {
        LaunchError::LedgerFull { account, quota } => (account, quota),
        other => panic!("{other:?}"),
    }
}

#[test]
fn free_launches_end_at_the_quota() {
    let odometer = Odometer::new(records(), BASIC).named("the root").quota(3);
    let (open, filter) = (odometer.open(vec![]), odometer.filter(1, "1"));
    for session in [open.unwrap(), filter.unwrap().invoke(vec![]).unwrap()] {
        let first = pure("0");
        session.launch(&first).unwrap();
        for _ in 0..2 {
            session.launch(&pure("0")).unwrap();
        }
        for cost in ["0", "0.1"] {
            let error = session.launch(&pure(cost)).unwrap_err();
            assert_eq!(full(error), ("the root".into(), 3));
        }
        // What is listed goes on, and so does what it costs.
        session.launch(&first).unwrap();
        assert_eq!(session.launches().unwrap().len(), 4);
        assert_eq!(spent(&session, 1), loss("0"));
    }
}

#[test]
fn taking_turns_ends_as_well() {
    let session = Odometer::new(records(), BASIC)
        .quota(2)
        .open(vec![])
        .unwrap();
    let both = [pure("0"), pure("0")];
    let launched = (0..1000).take_while(|i| session.launch(&both[i % 2]).is_ok());
    assert_eq!(launched.count(), 32);
    session.launch(&both[1]).unwrap();
    full(session.launch(&both[0]).unwrap_err());
}

#[test]
fn the_quota_of_an_ancestor_refuses_and_charges_nobody() {
    let top = Odometer::new(records(), BASIC)
        .named("top")
        .quota(2)
        .open(vec![])
        .unwrap();
    let inherits = top.nested("inner").open().unwrap();
    let larger = top.nested("larger").quota(1000).open().unwrap();
    let smaller = larger.nested("smaller").quota(1).open().unwrap();
    smaller.launch(&pure("0.1")).unwrap();
    assert_eq!(
        full(smaller.launch(&pure("0.1")).unwrap_err()),
        ("smaller".into(), 1)
    );
    larger.launch(&pure("0.1")).unwrap();
    for session in [&larger, &inherits] {
        assert_eq!(
            full(session.launch(&pure("0.1")).unwrap_err()),
            ("top".into(), 2)
        );
    }
    assert_eq!(spent(&top, 1), loss("0.2"));
    assert_eq!(spent(&larger, 1), loss("0.2"));
    assert_eq!(spent(&inherits, 1), loss("0"));
    assert_eq!(inherits.launches().unwrap(), []);
}

#[test]
fn parts_translations_and_conversions_count() {
    // A translated bill is a bill: whatever is below a link is listed above it.
    let top = || {
        Odometer::new(records(), BASIC)
            .quota(3)
            .open(vec![1, 2])
            .unwrap()
    };
    let session = top();
    let partition = session.partition(|record: &i64| *record).unwrap();
    let query = pure("0");
    let launched = (0..10).take_while(|part| {
        // No more keys than the quota, either.
        let part = partition.part(*part);
        part.is_ok_and(|part| part.launch(&query).is_ok())
    });
    assert_eq!(launched.count(), 3);

    let session = top();
    let same = Transformation::new(
        records(),
        records(),
        |d| Ok(*d),
        |data: &Vec<i64>| Ok(data.clone()),
    );
    let after = session.nest_after(&same).unwrap();
    assert_eq!(
        (0..10)
            .take_while(|_| after.launch(&pure("0")).is_ok())
            .count(),
        3
    );

    let zcdp = Odometer::new(records(), measures::Basic::new(Zcdp))
        .quota(3)
        .open(vec![])
        .unwrap();
    let pure_session = zcdp.nest_in(BASIC, PureToZcdp).unwrap();
    assert_eq!(
        (0..10)
            .take_while(|_| pure_session.launch(&pure("0")).is_ok())
            .count(),
        3
    );

    let time_uniform = TimeUniformOdometer::new(records(), TimeUniformBasic).quota(3);
    let session = time_uniform.open(vec![]).unwrap();
    assert_eq!(
        (0..10)
            .take_while(|_| session.launch(&pure("0")).is_ok())
            .count(),
        3
    );
    let (page, read) = session.launches_after(Bookmark::default(), 2).unwrap();
    assert_eq!(
        (page.len(), session.launches_after(read, 9).unwrap().0.len()),
        (2, 1)
    );
}

#[test]
fn one_measurement_may_be_launched_for_ever() {
    const { assert!(DEFAULT_QUOTA >= 1_000_000) };
    let session = Odometer::new(records(), BASIC)
        .quota(1)
        .open(vec![])
        .unwrap();
    let query = pure("0");
    (0..100_000).for_each(|_| session.launch(&query).unwrap());
    assert_eq!(session.launches().unwrap()[0].1, 100_000);
}

#[test]
fn a_quota_survives_a_snapshot() {
    let odometer = Odometer::new(records(), BASIC).quota(2);
    let journal = Memory::for_snapshots();
    let session = odometer.open_on(&Books::new(journal.clone()), 1, vec![]);
    let session = session.unwrap();
    let both = [pure("0.1"), pure("0.2")];
    (0..10).for_each(|i| session.launch(&both[i % 2]).unwrap());
    let journal = Memory::restored_by_operator(&journal.snapshot().unwrap());
    let restored = odometer.open_on(&Books::new(journal), 1, vec![]).unwrap();
    assert_eq!(spent(&restored, 1), loss("1.5"));
    full(restored.launch(&pure("0.3")).unwrap_err());
}

#[test]
fn pages_are_the_list() {
    let session = open();
    let queries = [pure("0"), pure("0"), pure("0")];
    for i in 0..2_000usize {
        session.launch(&queries[i % 7 % 3]).unwrap();
    }
    let all = session.launches().unwrap();
    assert_eq!(all.iter().map(|(_, n)| n).sum::<u64>(), 2_000);
    for most in [1, 2, 255, 256, 257, 10_000] {
        let (mut pages, mut read) = (Vec::new(), Bookmark::default());
        loop {
            let (page, next) = session.launches_after(read, most).unwrap();
            assert!(page.len() <= most);
            if page.is_empty() {
                break;
            }
            pages.extend(page);
            read = next;
        }
        assert_eq!(pages, all, "{most} at a time");
        assert_eq!(session.launches_after(read, most).unwrap(), (vec![], read));
    }
    assert!(
        session
            .launches_after(Bookmark::default(), 0)
            .unwrap()
            .0
            .is_empty()
    );

    // The last run becomes longer: the next page begins with the rest.
    let (_, read) = session.launches_after(Bookmark::default(), 10_000).unwrap();
    (0..3).for_each(|_| session.launch(&queries[1_999 % 7 % 3]).unwrap());
    session.launch(&queries[(1_999 % 7 + 1) % 3]).unwrap();
    let (rest, _) = session.launches_after(read, 10).unwrap();
    assert_eq!(rest.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [3, 1]);
}
