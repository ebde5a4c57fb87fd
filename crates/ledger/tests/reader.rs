//! A ledger that is only looked at: it says what sessions say, and the file stays as it is.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use ledger::{
    Ledger, LedgerEntry, LedgerError, LedgerReader, OpenStoreError, Store, Untouched, WrittenDown,
};
use measures::convert::PureToApprox;
use measures::{Adaptive, ApproxDp, Basic, FilterRule, PrivacyMap, PureDp};
use odometer::journal::{Event, Place, Segment, State};
use odometer::{Measurement, Odometer, Records};

fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reader");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path
}

fn query(loss: &str) -> Measurement<Records<i64>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new("query", Records::new(), map, |data, _| Ok(data.len()))
}

fn place(state: &State, names: &[&str]) -> Place {
    let find = |above: Option<Place>, name: &&str| state.at(above, &Segment::name(*name)).map(Some);
    names.iter().try_fold(None, find).unwrap().unwrap()
}

/// A root in (ε, δ), a link in pure, a partition below it, a nested session: what a rule is told is what the sessions say.
#[test]
fn tallies_are_what_sessions_remember() {
    let path = fresh("tallies");
    let ledger = Ledger::open(&path).unwrap();
    let organisation = Odometer::new(Records::<i64>::new(), Basic::new(ApproxDp)).named("all");
    let data = vec![1, 2, 3, 4];
    let all = organisation.filter_on(ledger.books(), 1, "(3, 1e-6)", data);
    let all = all.unwrap();
    let pure = all.link("pure").nest_in(Basic::new(PureDp), PureToApprox);
    let pure = pure.unwrap();
    let team = pure.nested("team").capped(1, "1").open().unwrap();
    let parity = pure.link("parity").partition(1, |x: &i64| x % 2).unwrap();
    parity.part(0).unwrap().launch(&query("0.5")).unwrap();
    parity.part(1).unwrap().launch(&query("0.25")).unwrap();
    for _ in 0..3 {
        team.launch(&query("0.1")).unwrap();
    }
    let (above, below, nested) = (all.spent(), pure.privacy_loss(1), team.spent());
    drop((all, pure, team, parity, ledger));

    let (state, _) = LedgerReader::open(&path).unwrap().state().unwrap();
    let (basic, approximate) = (Basic::new(PureDp), Basic::new(ApproxDp));
    let tally = state
        .tally(place(&state, &["all"]), 0, &approximate)
        .unwrap();
    let gate = approximate.open(&"(3, 1e-6)".parse().unwrap()).unwrap();
    assert_eq!(Some(approximate.spent(&gate, &tally)), above.unwrap());
    let tally = state
        .tally(place(&state, &["all", "pure"]), 0, &basic)
        .unwrap();
    assert_eq!(basic.loss(&tally), below.unwrap());
    // The dearer of two parts, and three launches: the parts were not added up.
    assert_eq!(basic.loss(&tally).to_string(), "0.8");
    let team = place(&state, &["all", "pure", "team"]);
    let tally = state.tally(team, 0, &basic).unwrap();
    assert_eq!(Some(basic.loss(&tally)), nested.unwrap());
    // Another measure's rule is told so, and so is whoever asks for a distance that is not there.
    assert!(state.tally(place(&state, &["all"]), 0, &basic).is_err());
    assert!(state.tally(team, 7, &basic).is_err());
    assert!(state.tally(Place(99), 0, &basic).is_err());
}

#[test]
fn the_file_is_as_it_was_also_after_a_crash() {
    let path = fresh("crashed");
    let ledger = Ledger::open(&path).unwrap();
    let all = Odometer::new(Records::<i64>::new(), Basic::new(PureDp)).named("all");
    let session = all.filter_on(ledger.books(), 1, "1", vec![1]).unwrap();
    session.request("monday").launch(&query("0.25")).unwrap();
    // What a killed process leaves behind: a file that nobody closed, and that redb would repair.
    let copy = fresh("crashed.copy");
    fs::copy(&path, &copy).unwrap();
    drop((session, ledger));
    let before = fs::read(&copy).unwrap();
    let modified = fs::metadata(&copy).unwrap().modified().unwrap();

    let reader = LedgerReader::open(&copy).unwrap();
    let (state, head) = reader.state().unwrap();
    assert_eq!(reader.verify().unwrap(), head);
    reader.check(&head).unwrap();
    assert_eq!(reader.find(Place(0), "monday").unwrap(), Some(2));
    assert_eq!(reader.find(Place(0), "tuesday").unwrap(), None);
    let mut entries = Vec::new();
    for from in [0, 2, 3, u64::MAX] {
        let read = reader.entries(from, |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        });
        read.unwrap();
    }
    let event = |entry: &LedgerEntry| match &entry.written {
        WrittenDown::Event(record) => Some(record.event.clone()),
        _ => None,
    };
    let kinds: Vec<Option<Event>> = entries.iter().map(event).collect();
    assert!(
        matches!(
            kinds.as_slice(),
            [
                None,
                Some(Event::Open(_)),
                Some(Event::Charge(_)),
                Some(Event::Charge(_)),
            ]
        ),
        "{kinds:?}"
    );
    assert_eq!(entries[2], entries[3]);
    assert_eq!(state.len(), 1);
    drop(reader);
    let store = Untouched::open(&copy).unwrap();
    assert!(store.append(&[]).is_err(), "nothing is written");
    drop(store);
    assert_eq!(fs::read(&copy).unwrap(), before);
    assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), modified);
}

#[test]
fn whoever_writes_is_not_disturbed_and_readers_share() {
    let path = fresh("shared");
    let ledger = Ledger::open(&path).unwrap();
    let in_use =
        |error: &LedgerError| matches!(error, LedgerError::Open(OpenStoreError::InUse { .. }));
    assert!(LedgerReader::open(&path).is_err_and(|error| in_use(&error)));
    drop(ledger);
    let one = LedgerReader::open(&path).unwrap();
    let other = LedgerReader::open(&path).unwrap();
    assert_eq!(one.state().unwrap().1, other.state().unwrap().1);
    assert!(Ledger::open(&path).is_err_and(|error| in_use(&error)));
    drop((one, other));
    Ledger::open(&path).unwrap();
}

#[test]
fn what_is_not_there_is_not_begun() {
    let path = fresh("nowhere");
    let missing = LedgerReader::open(&path).err().unwrap();
    assert!(matches!(
        missing,
        LedgerError::Open(OpenStoreError::System { .. })
    ));
    assert!(!path.exists());
    fs::write(&path, []).unwrap();
    let empty = LedgerReader::open(&path).err().unwrap();
    assert!(matches!(
        empty,
        LedgerError::Open(OpenStoreError::NotALedger { .. })
    ));
}
