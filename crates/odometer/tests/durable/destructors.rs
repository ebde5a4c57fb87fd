//! Tallies that are dropped while an account is put back: their destructors are somebody's code.

use std::cell::{Cell, RefCell};

use super::*;
use crate::common::observed::{Event, Observed, Observer};

thread_local! {
    /// How many tallies are dropped before one of them panics, on this thread.
    static PANICS_AFTER: Cell<Option<usize>> = const { Cell::new(None) };
    /// What a tally does when it is dropped on this thread: it counts what it was let do.
    static TRIES: RefCell<Option<Box<dyn Fn() -> usize>>> = const { RefCell::new(None) };
    static WAS_LET: Cell<usize> = const { Cell::new(0) };
    static DROPPED: Cell<usize> = const { Cell::new(0) };
}

#[derive(Clone, Debug)]
struct Wild;

impl Observer for Wild {
    fn told(&self, event: Event) {
        if event != Event::Drop || std::thread::panicking() {
            return;
        }
        DROPPED.set(DROPPED.get() + 1);
        let tries = TRIES.take();
        WAS_LET.set(WAS_LET.get() + tries.as_ref().map_or(0, |tries| tries()));
        TRIES.set(tries);
        match PANICS_AFTER.get() {
            Some(0) => {
                PANICS_AFTER.set(None);
                // Without the hook, which would print many traces.
                std::panic::resume_unwind(Box::new("careless"));
            }
            Some(more) => PANICS_AFTER.set(Some(more - 1)),
            None => {}
        }
    }
}

type Wildly = Session<Records<i64>, Observed<Wild>>;

fn wild() -> Odometer<Records<i64>, Observed<Wild>> {
    Odometer::new(records(), Observed(Wild)).named("wild")
}

fn reopened(books: &Books) -> Result<Wildly, OpenError> {
    wild().filter_on(books, 1, "1", vec![1, 2, 3])
}

/// Different launches in a row, also in parts.
fn launched() -> Memory {
    let journal = Memory::new();
    let session = reopened(&Books::new(journal.clone())).unwrap();
    for epsilon in ["0.05", "0.1", "0.05", "0.15"] {
        session.launch(&query(epsilon)).unwrap();
    }
    let parity = session.link("parity").partition(1, |x| x % 2).unwrap();
    for key in [0, 1, 0] {
        parity.part(key).unwrap().launch(&query("0.1")).unwrap();
    }
    journal
}

#[track_caller]
fn is_put_back(session: &Wildly) {
    let spent = session.spent().unwrap().unwrap();
    assert_eq!(spent.bound(), &"0.55".parse().unwrap());
    let counts: u64 = session.launches().unwrap().iter().map(|run| run.1).sum();
    assert_eq!(counts, 7);
}

/// Whichever destructor panics: the account is put back, or is not opened, and is then opened as it was.
#[test]
fn a_tally_that_panics_while_an_account_is_put_back() {
    let journal = launched();
    let (mut refused, mut after) = (0, 0);
    loop {
        let books = Books::new(restarted(&journal));
        PANICS_AFTER.set(Some(after));
        let opened = reopened(&books);
        let panicked = PANICS_AFTER.take().is_none();
        match &opened {
            Ok(session) => is_put_back(session),
            Err(error) => {
                let of = "the rule of wild panicked";
                assert_eq!((error.to_string().as_str(), panicked), (of, true));
                refused += 1;
            }
        }
        drop(opened);
        is_put_back(&reopened(&books).unwrap());
        if !panicked {
            break;
        }
        after += 1;
    }
    assert!(after >= 7, "{refused} of {after}"); // one for each launch
}

/// Whatever a destructor tries, it is refused, and waits for nothing.
#[test]
fn a_tally_that_uses_sessions_while_an_account_is_put_back() {
    let books = Books::new(restarted(&launched()));
    let other = organisation().filter_on(&books, 1, "1", vec![]).unwrap();
    let (session, ledger) = (other.clone(), books.clone());
    let tries = move || {
        let tried = [
            session.launch(&query("0.1")).is_ok(),
            session.launch_all(&[query("0.1")])[0].is_ok(),
            session.privacy_loss(1).is_ok(),
            session.nested("below").open().is_ok(),
            reopened(&ledger).is_ok(),
            organisation().open_on(&ledger, 1, vec![]).is_ok(),
        ];
        tried.into_iter().filter(|was_let| *was_let).count()
    };
    TRIES.set(Some(Box::new(tries)));
    DROPPED.set(0);
    let opened = reopened(&books).unwrap();
    TRIES.set(None);
    assert!(DROPPED.get() >= 7);
    assert_eq!(WAS_LET.get(), 0);
    is_put_back(&opened);
    assert_eq!(left(&other), "1");
}
