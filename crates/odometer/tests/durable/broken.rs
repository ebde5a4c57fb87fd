//! Journals that fail, panic or are slow: what is in doubt counts as charged and does not run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use odometer::journal::{Draft, Journal, OpenedPlace, Opening, Past, Place, Record, Written};

use super::*;

#[test]
fn in_doubt_counts_as_charged_and_does_not_run() {
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query("0.1")).unwrap();
    journal.fail_after(0);
    let ran = Arc::new(AtomicUsize::new(0));
    let counts = {
        let ran = Arc::clone(&ran);
        let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
        Measurement::new("counts", records(), map, move |_, _| {
            Ok(ran.fetch_add(1, Ordering::Relaxed))
        })
    };
    let doubt = session.launch(&counts).unwrap_err();
    assert!(doubt.is_in_doubt() && doubt.was_charged(), "{doubt}");
    assert_eq!(left(&session), "0.8"); // memory counts at least what is written down
    let closed = session.launch(&counts).unwrap_err();
    assert!(!closed.was_charged());
    assert!(matches!(journal_error(closed), JournalError::Closed { .. }));
    assert_eq!(left(&session), "0.8");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!(left(&open(&restarted(&journal))), "0.9"); // the log decides
}

/// A journal that goes wrong in some way.
struct Broken {
    memory: Memory,
    how: fn(&'static str) -> Option<JournalError>,
}

struct BrokenDraft {
    draft: Box<dyn Draft>,
    how: fn(&'static str) -> Option<JournalError>,
    _dropped: Dropped,
}

struct Dropped(fn(&'static str) -> Option<JournalError>);

impl Drop for Dropped {
    fn drop(&mut self) {
        (self.0)("drop");
    }
}

impl Journal for Broken {
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError> {
        self.memory.open(opening)
    }

    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError> {
        self.memory.find(opening)
    }

    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError> {
        if let Some(error) = (self.how)("draft") {
            return Err(error);
        }
        let draft = self.memory.draft(record)?;
        Ok(Box::new(BrokenDraft {
            draft,
            how: self.how,
            _dropped: Dropped(self.how),
        }))
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

impl Draft for BrokenDraft {
    fn stage(&mut self) -> Result<(), JournalError> {
        match (self.how)("stage") {
            Some(error) => Err(error),
            None => self.draft.stage(),
        }
    }

    fn wait(self: Box<Self>) -> Result<Written, JournalError> {
        match (self.how)("wait") {
            Some(error) => Err(error),
            None => self.draft.wait(),
        }
    }
}

fn full() -> Option<JournalError> {
    Some(JournalError::Full {
        reason: "the disk".into(),
    })
}

#[test]
fn nothing_runs_and_nothing_is_charged_when_it_cannot_be_staged() {
    let at: [fn(&'static str) -> Option<JournalError>; 2] = [
        |step| (step == "draft").then(full).flatten(),
        |step| (step == "stage").then(full).flatten(),
    ];
    for how in at {
        let memory = Memory::new();
        let books = Books::new(Broken {
            memory: memory.clone(),
            how,
        });
        let session = organisation().filter_on(&books, 1, "1", vec![]).unwrap();
        let error = session.launch(&query("0.4")).unwrap_err();
        assert!(!error.was_charged());
        assert!(matches!(journal_error(error), JournalError::Full { .. }));
        assert_eq!(left(&session), "1");
        assert_eq!(memory.records().len(), 1);
    }
}

#[test]
fn a_journal_that_panics_is_closed() {
    let at: [fn(&'static str) -> Option<JournalError>; 3] = [
        |step| (step == "draft").then(|| panic!("at drafting")),
        |step| (step == "stage").then(|| panic!("at staging")),
        |step| (step == "wait").then(|| panic!("at waiting")),
    ];
    for (number, how) in at.into_iter().enumerate() {
        let memory = Memory::new();
        let books = Books::new(Broken { memory, how });
        let session = organisation().filter_on(&books, 1, "1", vec![]).unwrap();
        let error = session.launch(&query("0.4")).unwrap_err();
        // A draft that panics when it is staged may be in the queue nevertheless.
        let in_doubt = number > 0;
        assert_eq!(error.is_in_doubt(), in_doubt, "{error}");
        assert_eq!(error.was_charged(), in_doubt);
        assert_eq!(left(&session), if in_doubt { "0.6" } else { "1" });
        let closed = journal_error(session.launch(&query("0.4")).unwrap_err());
        assert!(matches!(closed, JournalError::Closed { .. }), "{closed}");
    }
}

#[test]
fn an_account_does_not_halt_if_its_halt_cannot_be_staged() {
    let memory = Memory::new();
    let books = Books::new(Broken {
        memory: memory.clone(),
        how: |step| (step == "stage").then(full).flatten(),
    });
    let odometer = organisation().halting();
    let session = odometer.filter_on(&books, 1, "1", vec![]).unwrap();
    let error = session.launch(&query("2")).unwrap_err();
    assert!(matches!(journal_error(error), JournalError::Full { .. }));
    // The ledger has no record of a halt, so a restart would not know of it either.
    assert_eq!(session.would_admit(&query("0.4")), Ok(()));
    assert_eq!(memory.records().len(), 1);
}

#[test]
fn drafts_are_dropped_when_no_account_is_locked() {
    static SESSION: OnceLock<Pure> = OnceLock::new();
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    static LOCKED: AtomicUsize = AtomicUsize::new(0);
    fn asks_another_thread() {
        let (answer, answered) = std::sync::mpsc::channel();
        std::thread::spawn(move || answer.send(left(SESSION.get().unwrap())));
        DROPPED.fetch_add(1, Ordering::SeqCst);
        let answered = answered.recv_timeout(std::time::Duration::from_secs(5));
        LOCKED.fetch_add(usize::from(answered.is_err()), Ordering::SeqCst);
    }
    let books = Books::new(Broken {
        memory: Memory::new(),
        how: |step| match step {
            "stage" => full(),
            "drop" => {
                asks_another_thread();
                None
            }
            _ => None,
        },
    });
    let odometer = organisation().halting();
    let session = odometer.filter_on(&books, 1, "1", vec![]).unwrap();
    let session = SESSION.get_or_init(|| session);
    for cost in ["0.4", "2"] {
        let error = session.launch(&query(cost)).unwrap_err();
        assert!(matches!(journal_error(error), JournalError::Full { .. }));
    }
    // A charge and a halt for each launch.
    assert_eq!(DROPPED.load(Ordering::SeqCst), 4);
    assert_eq!(LOCKED.load(Ordering::SeqCst), 0);
}

/// Without the gate, the next launch moves the turn while this one waits, and it is charged and never runs.
#[test]
fn sequential_launches_wait_for_one_another() {
    let slow: fn(&'static str) -> Option<JournalError> = |step| {
        if step == "wait" {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        None
    };
    let books = Books::new(Broken {
        memory: Memory::new(),
        how: slow,
    });
    let odometer = Odometer::new(records(), Mine(Some("mine"))).named("all");
    let session = odometer.open_on(&books, 1, vec![1]).unwrap();
    let team = session.nested("team").open().unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let session = if number % 2 == 0 { &session } else { &team };
            scope.spawn(move || {
                for _ in 0..40 {
                    assert_eq!(session.launch(&query("0.1")), Ok(1));
                }
            });
        }
    });
    assert_eq!(session.privacy_loss(1).unwrap().to_string(), "16");
    let answers = team.launch_all(&[query("0.1")]);
    assert!(matches!(&answers[0], Err(LaunchError::Journal(_))));
}
