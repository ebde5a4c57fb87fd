//! Group commit under every kind of schedule: nobody sleeps for ever, nobody runs before its record is durable, whatever the
//! store does. (Somebody who sleeps for ever is a deadlock, which the checker reports.)

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ledger_model::{
    Cause, CommitError, Each, Log, Store, StoreError,
    chain::Walk,
    frame::{Frame, Kind, Unchained},
};
use shuttle::{
    Config, Runner,
    scheduler::{DfsScheduler, PctScheduler, RandomScheduler},
    thread,
};

/// The numbers of durable records, and what becomes of which batch.
struct Durable {
    records: Arc<Mutex<Vec<u64>>>,
    batches: AtomicUsize,
    fails: Fails,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fails {
    Never,
    /// The second batch may be there or not.
    InDoubt,
    /// The second batch panics.
    Panics,
}

impl Store for Durable {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        // Here others run.
        thread::yield_now();
        if self.batches.fetch_add(1, Ordering::Relaxed) == 1 {
            match self.fails {
                Fails::Never => {}
                Fails::InDoubt => return Err(StoreError::InDoubt(Cause::DiskFull)),
                Fails::Panics => panic!("on purpose"),
            }
        }
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.extend(batch.iter().map(Frame::seq));
        Ok(())
    }

    fn read(&self, _: u64, _: &mut Each<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        Ok(None)
    }

    fn find(&self, _: &[u8]) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        Ok((0, 0))
    }
}

fn draft() -> Unchained {
    Unchained::new(Kind::Note, &[], &[]).unwrap()
}

/// So many threads launch so often; a launch waits for its ticket, unless that is left out by mistake.
fn launches(threads: usize, each: usize, fails: Fails, waits: bool) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let store = Durable {
        records: records.clone(),
        batches: AtomicUsize::new(0),
        fails,
    };
    let begin = Unchained::new(Kind::Begin, &[], &[]).unwrap();
    let head = Walk::from_the_start().seal(begin).receipt();
    let log = Arc::new(Log::after(head, Box::new(store)));
    let launching = |_| {
        let (log, records) = (log.clone(), records.clone());
        thread::spawn(move || {
            for _ in 0..each {
                let Ok(ticket) = log.stage(draft()) else {
                    return false;
                };
                if waits && log.wait(&ticket).is_err() {
                    return false;
                }
                // It runs.
                let there = records
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                assert!(
                    there.contains(&ticket.receipt().seq),
                    "it ran before it was durable"
                );
            }
            true
        })
    };
    let launched: Vec<_> = (0..threads).map(launching).collect();
    let fine: Vec<bool> = launched
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let records = records
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    assert!(
        records.iter().copied().eq(1..=records.len() as u64),
        "in order"
    );
    match fails {
        Fails::Never => {
            assert!(fine.iter().all(|fine| *fine));
            assert_eq!(records.len(), threads * each);
        }
        Fails::InDoubt | Fails::Panics => {
            // One batch may have had them all.
            let stopped = matches!(log.stage(draft()), Err(CommitError::Stopped { .. }));
            assert_eq!(stopped, !fine.iter().all(|fine| *fine));
        }
    }
}

/// Threads that wait, and threads whose limit passes at any moment. With the planted mistake, those that give up choose no other
/// leader.
fn limits(mistake: bool) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let store = Durable {
        records: records.clone(),
        batches: AtomicUsize::new(0),
        fails: Fails::Never,
    };
    let begin = Unchained::new(Kind::Begin, &[], &[]).unwrap();
    let head = Walk::from_the_start().seal(begin).receipt();
    let log = Log::after(head, Box::new(store));
    let log = Arc::new(match mistake {
        true => log.forgetting_hand_over(),
        false => log,
    });
    let waiting = |limited: bool| {
        let (log, records) = (log.clone(), records.clone());
        thread::spawn(move || {
            let ticket = log.stage(draft()).unwrap();
            let outcome = match limited {
                true => log.wait_for(&ticket, Duration::ZERO),
                false => Some(log.wait(&ticket)),
            };
            if let Some(outcome) = outcome {
                // It runs.
                let receipt = outcome.unwrap();
                let records = records.lock().unwrap();
                assert!(records.contains(&receipt.seq), "it ran too early");
            }
        })
    };
    let threads = [false, true, true, false].map(waiting);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    log.flush().unwrap();
    assert!(
        records.lock().unwrap().iter().copied().eq(1..=4),
        "in order"
    );
}

fn many_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    let random = RandomScheduler::new_from_seed(0x1ed9_e125, 1_000);
    Runner::new(random, Config::default()).run(test);
    let adversarial = PctScheduler::new_from_seed(0x1ed9_e125, 3, 1_000);
    Runner::new(adversarial, Config::default()).run(test);
}

/// The first of all, depth first: there are too many for all.
#[test]
fn the_first_schedules_of_two_launches() {
    let scheduler = DfsScheduler::new(Some(5_000), false);
    let test = || launches(2, 1, Fails::Never, true);
    let schedules = Runner::new(scheduler, Config::default()).run(test);
    assert_eq!(schedules, 5_000);
}

#[test]
fn many_schedules_of_many_launches() {
    many_schedules(|| launches(4, 3, Fails::Never, true));
}

#[test]
fn a_store_in_doubt_tells_everybody() {
    many_schedules(|| launches(4, 2, Fails::InDoubt, true));
}

#[test]
fn a_store_that_panics_tells_everybody() {
    many_schedules(|| launches(4, 2, Fails::Panics, true));
}

#[test]
fn threads_that_give_up_leave_others_to_lead() {
    many_schedules(|| limits(false));
}

/// The checker reports a deadlock: every thread sleeps, and none leads.
#[test]
#[should_panic(expected = "deadlock")]
fn giving_up_without_another_leader_is_found() {
    many_schedules(|| limits(true));
}

#[test]
#[should_panic(expected = "it ran before it was durable")]
fn running_before_the_ticket_is_found() {
    many_schedules(|| launches(2, 1, Fails::Never, false));
}
