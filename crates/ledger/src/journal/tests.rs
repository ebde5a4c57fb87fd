//! The ledger as a journal: what was written is there after it is opened again, keys are charged once, checkpoints say what the
//! records say, and everything that is wrong has an error of its own.

#[path = "../../tests/common/mod.rs"]
mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use common::{
    Disk, begun,
    memory::Memory,
    records::{account, launch, write},
};
use odometer::journal::{
    Draft, Halt, Journal, JournalError, OpenedPlace, Opening, Past, Place, Receipt, Record, Waited,
};

use super::Writer;
use crate::{
    Cause, Each, Ledger, LedgerError, OpenStoreError, Store as _, StoreError,
    chain::Walk,
    frame::{Frame, Kind, MAX_BODY, Unchained},
};

/// A ledger, and its journal without books.
struct Both(Ledger);

impl std::ops::Deref for Both {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        &self.0
    }
}

impl Both {
    /// Opens a place, and waits until it is written down.
    fn opened(&self, opening: &Opening) -> Result<(Place, Past), JournalError> {
        let OpenedPlace { place, past, draft } = self.open(opening)?;
        draft.map_or(Ok(()), |draft| draft.wait().map(drop))?;
        Ok((place, past))
    }
}

impl Journal for Both {
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        Writer(self.inner()).open(opening)
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        Writer(self.inner()).find(opening)
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        Writer(self.inner()).draft(record)
    }

    fn flush(&self) -> Result<(), JournalError> {
        Writer(self.inner()).flush()
    }
}

fn at(path: &Path) -> Both {
    Both(Ledger::open(path).unwrap())
}

fn fresh(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/journal");
    fs::create_dir_all(&directory).unwrap();
    for end in ["", ".anchor"] {
        let _ = fs::remove_file(directory.join(format!("{name}{end}")));
    }
    directory.join(name)
}

/// A ledger on a disk in memory.
fn on(disk: &Disk) -> Both {
    Both(Ledger::on(Box::new(begun(disk)), None).unwrap())
}

fn counts(ledger: &Ledger, place: Place) -> Vec<u64> {
    let past = ledger.state().past(place).unwrap();
    past.runs.iter().map(|run| run.count).collect()
}

#[test]
fn reopening_is_replay() {
    let path = fresh("reopening");
    let (root, team);
    {
        let ledger = at(&path);
        root = ledger.opened(&account(None, "all", "1")).unwrap().0;
        team = ledger
            .opened(&account(Some(root), "team", "0.5"))
            .unwrap()
            .0;
        for _ in 0..3 {
            write(&ledger, launch(None, "query", &[team, root])).unwrap();
        }
        write(&ledger, launch(None, "other", &[root])).unwrap();
        let halt = Halt {
            account: team,
            reason: None,
        };
        write(&ledger, halt.into()).unwrap();
        assert_eq!(ledger.head().seq, 7);
    }
    let ledger = at(&path);
    assert_eq!(ledger.head().seq, 7);
    let (place, past) = ledger.opened(&account(None, "all", "1")).unwrap();
    assert_eq!((place, past.runs.len(), past.halted), (root, 2, false));
    assert_eq!(counts(&ledger, root), [3, 1]);
    let (place, past) = ledger.opened(&account(Some(root), "team", "0.5")).unwrap();
    assert_eq!((place, past.runs.len(), past.halted), (team, 1, true));
    assert_eq!(ledger.head().seq, 7, "opening what is there writes nothing");
    assert_eq!(ledger.verify().unwrap(), ledger.head());
    let other = ledger.opened(&account(None, "all", "2")).unwrap_err();
    assert!(other.to_string().contains("the budget 1"), "{other}");
}

/// A draft whose limit has passed comes back, and may be waited for again.
#[test]
fn a_draft_is_waited_for_with_a_limit() {
    let ledger = on(&Disk::default());
    let (root, _) = ledger.opened(&account(None, "all", "1")).unwrap();
    let mut draft = ledger.draft(launch(None, "query", &[root])).unwrap();
    draft.stage().unwrap();
    let Waited::Unknown(draft) = draft.wait_for(Duration::ZERO) else {
        panic!("it only looks");
    };
    assert_eq!(ledger.head().seq, 1, "nobody has written it yet");
    let Waited::Known(written) = draft.wait_for(Duration::from_secs(600)) else {
        panic!("it has time enough");
    };
    assert_eq!(written.unwrap().receipt, ledger.head());
    assert_eq!(counts(&ledger, root), [1]);
    let never = ledger.draft(launch(None, "query", &[root])).unwrap();
    let Waited::Known(never) = never.wait_for(Duration::ZERO) else {
        panic!("it was not staged");
    };
    assert!(matches!(never, Err(JournalError::Damaged(_))));
}

#[test]
fn a_key_is_charged_once() {
    let disk = Disk::default();
    for again in 0..3 {
        let ledger = on(&disk);
        let (root, _) = ledger.opened(&account(None, "all", "1")).unwrap();
        let (team, _) = ledger.opened(&account(Some(root), "team", "1")).unwrap();
        let written = write(&ledger, launch(Some("monday"), "query", &[root]));
        match (again, written) {
            (0, written) => assert_eq!(written.unwrap().receipt.seq, 3),
            (_, Err(JournalError::AlreadyCharged { receipt, .. })) => assert_eq!(receipt.seq, 3),
            (_, other) => panic!("{other:?}"),
        }
        let other = write(&ledger, launch(Some("monday"), "another", &[root])).unwrap_err();
        let expected = "the key `monday` belongs to another launch, record 3: take another key";
        assert_eq!(other.to_string(), expected);
        // The same key in another account is another key.
        let elsewhere = write(&ledger, launch(Some("monday"), "query", &[team, root]));
        assert_eq!(elsewhere.is_ok(), again == 0);
        assert_eq!(ledger.head().seq, 4);
        ledger.verify().unwrap();
    }
}

/// Many threads retry the same launches: each is written once.
#[test]
fn a_key_is_charged_once_by_many_threads() {
    let ledger = on(&Disk::default());
    let (root, _) = ledger.opened(&account(None, "all", "1")).unwrap();
    let charged: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let keys = 0..60;
                    let wrote = keys.filter(|key| {
                        let key = format!("request {key}");
                        match write(&ledger, launch(Some(&key), "query", &[root])) {
                            Ok(_) => true,
                            Err(JournalError::AlreadyCharged { .. }) => false,
                            Err(other) => panic!("{other}"),
                        }
                    });
                    wrote.count() as u64
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(charged, 60);
    assert_eq!(ledger.verify().unwrap().seq, 61);
}

#[test]
fn a_place_is_opened_once_by_many_threads() {
    let ledger = on(&Disk::default());
    let places: Vec<Place> = thread::scope(|scope| {
        let open = || ledger.opened(&account(None, "all", "1")).unwrap().0;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(places.iter().all(|place| *place == places[0]));
    assert_eq!(ledger.head().seq, 1);
}

#[test]
fn a_refusal_leaves_no_trace() {
    let ledger = on(&Disk::default());
    let (root, _) = ledger.opened(&account(None, "all", "1")).unwrap();
    let draft = ledger.draft(launch(Some("monday"), "query", &[root]));
    drop(draft.unwrap());
    write(&ledger, launch(Some("monday"), "another", &[root])).unwrap();
    assert_eq!(ledger.head().seq, 2);
    let unknown = write(&ledger, launch(None, "query", &[Place(9)])).unwrap_err();
    assert!(matches!(unknown, JournalError::Damaged(_)), "{unknown}");
    let long = "x".repeat(MAX_BODY);
    let long = write(&ledger, launch(None, &long, &[root])).unwrap_err();
    assert!(long.to_string().contains("shorten the names"), "{long}");
    assert_eq!(ledger.verify().unwrap().seq, 2, "and it goes on");
    write(&ledger, launch(None, "query", &[root])).unwrap();
}

#[test]
fn a_checkpoint_is_what_the_records_amount_to() {
    let disk = Disk::default();
    let mut root = Place(0);
    for round in 1..=3_u64 {
        let ledger = on(&disk);
        root = ledger.opened(&account(None, "all", "1")).unwrap().0;
        let all: Vec<u64> = (1..round).map(|_| 4).collect();
        assert_eq!(
            counts(&ledger, root).iter().sum::<u64>(),
            all.iter().sum::<u64>()
        );
        for _ in 0..4 {
            write(&ledger, launch(None, "query", &[root])).unwrap();
        }
        let receipt = ledger.checkpoint().unwrap();
        assert_eq!(ledger.head(), receipt);
        ledger.verify().unwrap();
    }
    let store = begun(&disk);
    assert_eq!(store.checkpoint().unwrap(), Some(1 + 5 * 3));
    drop(store);
    let ledger = on(&disk);
    assert_eq!(counts(&ledger, root), [12]);
    // A retry finds a key from before the checkpoint.
    write(&ledger, launch(Some("monday"), "query", &[root])).unwrap();
    ledger.checkpoint().unwrap();
    drop(ledger);
    let again = write(&on(&disk), launch(Some("monday"), "query", &[root]));
    assert!(matches!(again, Err(JournalError::AlreadyCharged { .. })));
}

#[test]
fn an_older_copy_is_refused() {
    let path = fresh("rolled-back");
    let anchor = path.with_file_name("rolled-back.anchor");
    let old = path.with_file_name("rolled-back.old");
    let open = || Ledger::open_anchored(&path, &anchor).map(Both);
    let ledger = open().unwrap();
    let (root, _) = ledger.opened(&account(None, "all", "1")).unwrap();
    ledger.close().unwrap();
    drop(ledger);
    fs::copy(&path, &old).unwrap();
    let ledger = open().unwrap();
    write(&ledger, launch(None, "query", &[root])).unwrap();
    ledger.close().unwrap();
    let closed = write(&ledger, launch(None, "query", &[root])).unwrap_err();
    assert!(closed.to_string().contains("open it again"), "{closed}");
    drop(ledger);
    drop(open().unwrap());
    fs::copy(&old, &path).unwrap();
    let refused = open().err().unwrap().to_string();
    assert!(
        refused.starts_with("the ledger was rolled back"),
        "{refused}"
    );
    fs::remove_file(&path).unwrap();
    let refused = open().err().unwrap().to_string();
    assert!(
        refused.starts_with("the ledger was rolled back"),
        "gone is rolled back, too: {refused}"
    );
    fs::write(&anchor, "nonsense").unwrap();
    let refused = open().err().unwrap().to_string();
    assert!(
        refused.contains("a receipt is a number, a colon"),
        "{refused}"
    );
}

#[test]
fn what_is_no_ledger_is_said() {
    let path = fresh("no-ledger");
    for content in [&b""[..], b"hello", &[0; 100_000]] {
        fs::write(&path, content).unwrap();
        let error = Ledger::open(&path).err().unwrap();
        let expected = matches!(error, LedgerError::Open(OpenStoreError::NotALedger { .. }));
        assert!(expected, "{error}");
        assert_eq!(fs::read(&path).unwrap(), content, "it is left alone");
    }
    let nowhere = path.join("below").join("a file");
    let error = Ledger::open(nowhere).err().unwrap();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
    // A redb file that is no ledger.
    fs::remove_file(&path).unwrap();
    drop(redb::Database::create(&path).unwrap());
    let error = Ledger::open(&path).err().unwrap();
    assert!(error.to_string().contains("it has no records"), "{error}");
}

/// Every flipped byte of the file is noticed, or it is in a place that means nothing. Cut off anywhere, too.
#[test]
fn a_flipped_or_truncated_file_is_noticed_or_means_the_same() {
    let disk = Disk::default();
    let ledger = on(&disk);
    let (root, _) = ledger.opened(&account(None, "all", "1")).unwrap();
    for number in 0..20 {
        write(
            &ledger,
            launch(Some(&format!("key {number}")), "query", &[root]),
        )
        .unwrap();
    }
    let head = ledger.verify().unwrap();
    drop(ledger);
    let whole = disk.copy();
    let reopen = |disk: &Disk| -> Result<Both, String> {
        let store = crate::Embedded::on(disk.clone()).map_err(|error| error.to_string())?;
        let ledger = Ledger::on(Box::new(store), None).map_err(|error| error.to_string())?;
        Ok(Both(ledger))
    };
    let open = |image: Vec<u8>| -> Result<(), String> {
        let disk = Disk::with(image);
        let ledger = reopen(&disk)?;
        assert!(ledger.head() == head, "an altered ledger was opened");
        ledger.verify().map_err(|error| error.to_string())?;
        let written =
            write(&ledger, launch(None, "query", &[root])).map_err(|error| error.to_string())?;
        drop(ledger);
        let ledger = reopen(&disk)?;
        assert!(
            ledger.head() == written.receipt,
            "what was written to an altered ledger is lost"
        );
        Ok(())
    };
    open(whole.clone()).unwrap();
    std::panic::set_hook(Box::new(|_| {})); // redb panics on some damaged pages, and that is caught
    // Every byte of what is written; of what fills pages, some.
    let used = |at: &usize| match whole[*at] {
        0 | 255 => at.is_multiple_of(1024),
        _ => true,
    };
    let (mut noticed, mut same) = (0, 0);
    for at in (0..whole.len()).filter(used) {
        let mut image = whole.clone();
        image[at] ^= 0x10;
        match open(image) {
            Ok(()) => same += 1,
            Err(_) => noticed += 1,
        }
    }
    for part in 1..16 {
        let cut = whole[..whole.len() * part / 16].to_vec();
        assert!(open(cut).is_err(), "cut at {part}/16");
    }
    let _ = std::panic::take_hook();
    println!("{noticed} noticed, {same} mean the same");
    assert!(noticed > 1000, "{noticed}");
}

/// A store that others write to as well, where the next turn fails with this.
struct Shared<S> {
    store: S,
    next: std::sync::Arc<std::sync::Mutex<Option<StoreError>>>,
    /// A record of another process, for the next turn.
    foreign: Option<Vec<u8>>,
}

impl<S: crate::Store> crate::Store for Shared<S> {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        self.store.append(batch)
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.store.read(from, each)
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.store.last()
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        self.store.find(key)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        self.store.checkpoint()
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        self.store.indexed()
    }

    fn shared(&self) -> Option<&dyn crate::SharedStore> {
        Some(self)
    }
}

impl<S: crate::Store> crate::SharedStore for Shared<S> {
    fn take_turn(&self, after: &Receipt, each: &mut Each<'_>) -> Result<Receipt, StoreError> {
        if let Some(foreign) = &self.foreign {
            let _ = each(after.seq + 1, foreign);
        }
        self.next.lock().unwrap().take().map_or(Ok(*after), Err)
    }

    fn give_back(&self) {}

    fn frozen(&self) -> Result<Box<dyn crate::Store + '_>, StoreError> {
        Err(StoreError::Unreachable(Cause::System("no view".into())))
    }

    fn hazards(&self) -> &[crate::Hazard] {
        &[]
    }
}

/// Whoever does not get the turn tries again, unless the store is damaged: then nothing more is charged on the grounds of what was
/// read.
#[test]
fn a_turn_that_fails_passes_and_damage_does_not() {
    let (store, _) = Memory::begun(|_, _| Ok(()));
    let next = std::sync::Arc::default();
    let shared = Shared {
        store,
        next: std::sync::Arc::clone(&next),
        foreign: None,
    };
    let ledger = Ledger::on(Box::new(shared), None).unwrap();
    let writer = Writer(ledger.inner());
    let enter = |fails: Option<StoreError>| {
        *next.lock().unwrap() = fails;
        let seat = writer.enter(&mut |_| Ok(()))?;
        seat.unwrap().leave();
        Ok(())
    };
    let gone = || Cause::System("gone".into());
    assert_eq!(enter(None), Ok(()));
    let unreachable = enter(Some(StoreError::Unreachable(gone())));
    assert!(matches!(unreachable, Err(JournalError::Unreachable { .. })));
    assert_eq!(enter(None), Ok(()));
    let damaged = enter(Some(StoreError::Unreadable(gone())));
    assert!(matches!(damaged, Err(JournalError::Damaged(_))));
    assert!(matches!(enter(None), Err(JournalError::Closed { .. })));
}

/// A newer program writes to the same ledger: this one stops, with an error that names the reason and the remedy.
#[test]
fn a_newer_record_of_another_process_stops_this_one() {
    let (store, head) = Memory::begun(|_, _| Ok(()));
    let note = Unchained::new(Kind::Other(0x40), &[], b"newer").unwrap();
    let mut foreign = Walk::after(&head).seal(note).bytes().to_vec();
    foreign[0] = 5;
    let shared = Shared {
        store,
        next: std::sync::Arc::default(),
        foreign: Some(foreign),
    };
    let ledger = Ledger::on(Box::new(shared), None).unwrap();
    let refused = ledger.refresh().unwrap_err();
    assert!(
        matches!(refused, LedgerError::Journal(JournalError::Newer { .. })),
        "{refused}"
    );
    let words = "record 1 cannot be read: it has version 5 of the format, and this program reads up to 4: use a newer program. \
                 Nothing was charged, and nothing ran";
    assert_eq!(refused.to_string(), words);
    let closed = ledger.refresh().unwrap_err();
    assert!(
        matches!(closed, LedgerError::Journal(JournalError::Closed { .. })),
        "{closed}"
    );
}
