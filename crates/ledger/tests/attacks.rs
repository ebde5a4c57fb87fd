//! Whoever opens paths, chooses keys and tries again: nothing they do gives a budget back or makes a ledger unreadable.

use std::sync::{Arc, Barrier};
use std::thread;

use crate::common::{Disk, begun};
use ledger::{Embedded, Ledger, LedgerError};
use measures::{Basic, PrivacyMap, PureDp};
use odometer::journal::{DurableKey, JournalError, Key};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Session, Transformation};
use odometry::queryable::Attested;

type Pure = Session<Records<i64>, Basic<PureDp>>;

fn records() -> Records<i64> {
    Records::new()
}

fn query() -> Measurement<Records<i64>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn on(disk: &Disk) -> Result<Ledger, LedgerError> {
    Ledger::on(Box::new(Embedded::on(disk.clone()).unwrap()), None)
}

fn open(ledger: &Ledger) -> Pure {
    let odometer = Odometer::new(records(), Basic::new(PureDp)).named("all");
    odometer
        .filter_on(ledger.books(), 1, "10", vec![3, 1, 4])
        .unwrap()
}

/// A transformation whose stability map is this.
fn stable(map: fn(u32) -> u32) -> Transformation<Records<i64>, Records<i64>> {
    let stability = move |d_in: &u32| Ok(map(*d_in));
    Transformation::new(records(), records(), stability, |data: &Vec<i64>| {
        Ok(data.clone())
    })
}

#[test]
fn another_transformation_under_an_open_name_is_not_charged_as_the_first() {
    let disk = Disk::default();
    let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    let all = open(&ledger);
    let mild = stable(|d_in| d_in);
    let first = all.link("rows").nest_after(&mild).unwrap();
    first.launch(&query()).unwrap();
    let same = all.link("rows").nest_after(&mild).unwrap();
    same.launch(&query()).unwrap();
    // As far at distance 1, and further beyond.
    let wild = stable(|d_in| d_in * d_in);
    let refused = all.link("rows").nest_after(&wild);
    assert!(
        matches!(&refused, Err(OpenError::Journal(error)) if matches!(**error, JournalError::OtherTerms { .. })),
        "{:?}",
        refused.map(|other| {
            other.launch(&query()).unwrap();
            all.privacy_loss(2).unwrap().to_string()
        })
    );
    drop((first, same));
    let other = all.link("rows").nest_after(&wild).unwrap();
    other.launch(&query()).unwrap();
    // Two at twice, and one at four times: each at its own.
    assert_eq!(all.privacy_loss(2).unwrap().to_string(), "0.8");
}

/// A key of one's own, such as a value that an analyst has sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Deep(usize);

impl DurableKey for Deep {
    fn key(&self) -> Key {
        (0..self.0).fold(Key::Bool(true), |inner, _| Key::List(vec![inner]))
    }
}

#[test]
fn whatever_is_written_can_be_read_again() {
    for depth in [0, 1, 32, 33, 60, 130, 1000] {
        let disk = Disk::default();
        let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
        let all = open(&ledger);
        let parts = all
            .link("parts")
            .partition(1, |_: &i64| Attested(Deep(0)))
            .unwrap();
        let part = parts.part(Attested(Deep(depth)));
        if let Ok(part) = &part {
            part.launch(&query()).unwrap();
        } else {
            assert!(depth > 32, "{depth}");
        }
        ledger.checkpoint().unwrap();
        drop((part, parts, all, ledger));
        on(&disk)
            .unwrap_or_else(|error| panic!("{depth}: {error}"))
            .verify()
            .unwrap();
    }
    let disk = Disk::default();
    let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    let all = open(&ledger);
    let parts = all
        .link("parts")
        .partition(1, |x: &i64| i128::from(*x))
        .unwrap();
    for key in [i128::MIN, i128::MAX, 0, i128::from(u64::MAX) + 1] {
        parts.part(key).unwrap().launch(&query()).unwrap();
    }
    let odd = all
        .nested("\0\u{1b}[31m\u{2028}/~@[\"\\\u{feff}")
        .capped(1, "1")
        .open()
        .unwrap();
    odd.request("").launch(&query()).unwrap();
    assert!(odd.request("").launch(&query()).is_err());
    let state = ledger.state();
    let paths: std::collections::HashSet<String> = (0..state.len())
        .map(|place| {
            state
                .path(odometer::journal::Place(place as u32))
                .to_string()
        })
        .collect();
    assert_eq!(paths.len(), state.len());
    ledger.checkpoint().unwrap();
    drop((odd, parts, all, ledger));
    let ledger = on(&disk).unwrap();
    ledger.verify().unwrap();
    let all = open(&ledger);
    assert_eq!(all.spent().unwrap().unwrap().to_string(), "0.2");
}

#[test]
fn a_part_that_two_threads_open_at_once_is_one_part() {
    let disk = Disk::default();
    let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    let all = open(&ledger);
    let parts = all.link("parts").partition(1, |x: &i64| *x).unwrap();
    let (parts, query) = (&parts, &query());
    for key in 0..50 {
        let start = Arc::new(Barrier::new(4));
        thread::scope(|scope| {
            for _ in 0..4 {
                let start = start.clone();
                scope.spawn(move || {
                    start.wait();
                    parts.part(key).unwrap().launch(query).unwrap();
                });
            }
        });
    }
    assert_eq!(all.spent().unwrap().unwrap().to_string(), "0.4");
}

#[test]
fn a_filter_that_is_launched_again_by_its_key_has_happened() {
    let disk = Disk::default();
    let mut ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    let filter = Odometer::new(records(), Basic::new(PureDp)).named("red");
    let filter = filter.filter(1, "1").unwrap();
    let first = open(&ledger).request("monday").launch(&filter).unwrap();
    let receipt = first.receipt;
    drop(first);
    for _ in 0..2 {
        let again = open(&ledger).request("monday").launch(&filter);
        assert!(
            matches!(again, Err(LaunchError::AlreadyCharged { receipt: told, .. }) if told == receipt)
        );
        let tuesday = open(&ledger).request("tuesday").launch(&filter).err();
        assert!(
            matches!(tuesday, Some(LaunchError::Journal(error)) if matches!(*error, JournalError::Exists { .. }))
        );
        drop(ledger);
        ledger = on(&disk).unwrap();
    }
}
