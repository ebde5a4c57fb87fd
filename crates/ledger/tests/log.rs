//! Group commit: every ticket is answered, in whatever way the store behaves.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::common::{Disk, begun, bodies, head, memory::Memory};
use ledger::{
    Cause, CommitError, Log, StoreError,
    frame::{FrameError, Kind, MAX_BODY, MAX_KEY, Unchained},
};

fn record(number: u64) -> Unchained {
    let body = number.to_le_bytes();
    Unchained::new(Kind::Note, &[], &body).unwrap()
}

fn fine(_: usize, _: usize) -> Result<(), StoreError> {
    Ok(())
}

#[test]
fn every_record_is_durable_once_and_in_the_order_of_staging() {
    let disk = Disk::default();
    let store = begun(&disk);
    let log = Log::after(head(&store), Box::new(store));
    let receipts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for thread in 0..8 {
            let (log, receipts) = (&log, &receipts);
            scope.spawn(move || {
                for launch in 0..25 {
                    let number = thread * 1000 + launch;
                    let ticket = log.stage(record(number)).unwrap();
                    let receipt = log.wait(&ticket).unwrap();
                    assert_eq!(receipt, ticket.receipt());
                    assert_eq!(log.wait(&ticket), Ok(receipt), "as often as one likes");
                    receipts.lock().unwrap().push((receipt, number));
                }
            });
        }
    });
    let mut receipts = receipts.into_inner().unwrap();
    receipts.sort_by_key(|(receipt, _)| receipt.seq);
    let bodies = bodies(disk.copy()).unwrap();
    assert_eq!(bodies.len(), 201);
    for (expected, (receipt, number)) in (1..).zip(&receipts) {
        assert_eq!(receipt.seq, expected);
        assert_eq!(bodies[expected as usize], number.to_le_bytes());
        assert_eq!(ledger::anchor::check(log.store(), receipt), Ok(()));
    }
    assert_eq!(log.head(), receipts.last().unwrap().0);
}

/// While one batch is written, others queue up, and the next batch has them all.
#[test]
fn what_queues_up_is_written_at_once() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = sizes.clone();
    let log = Memory::log(move |batch, size| {
        seen.lock().unwrap().push(size);
        if batch == 1 {
            wait.lock().unwrap().recv().unwrap();
        }
        Ok(())
    });
    let staged = Barrier::new(11);
    let first = log.stage(record(0)).unwrap();
    thread::scope(|scope| {
        let leader = scope.spawn(|| log.wait(&first));
        while sizes.lock().unwrap().is_empty() {
            thread::yield_now();
        }
        for number in 1..=10 {
            let (log, staged) = (&log, &staged);
            scope.spawn(move || {
                let ticket = log.stage(record(number)).unwrap();
                staged.wait();
                log.wait(&ticket).unwrap();
            });
        }
        staged.wait();
        go.send(()).unwrap();
        leader.join().unwrap().unwrap();
    });
    assert_eq!(*sizes.lock().unwrap(), [1, 10]);
}

/// What everybody is told when the third batch goes wrong in this way.
fn when_the_store(fails: fn() -> Result<(), StoreError>) -> Vec<CommitError> {
    let log = Memory::log(move |batch, _| if batch == 3 { fails() } else { Ok(()) });
    let (good, bad) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for thread in 0..6 {
            let (log, good, bad) = (&log, &good, &bad);
            scope.spawn(move || {
                for launch in 0..1000 {
                    let ticket = log.stage(record(thread * 1000 + launch));
                    let outcome = ticket.and_then(|ticket| log.wait(&ticket));
                    match outcome {
                        Ok(_) => good.fetch_add(1, Ordering::Relaxed),
                        Err(error) => return bad.lock().unwrap().push(error),
                    };
                }
            });
        }
    });
    let head = ledger::chain::verify(log.store()).unwrap().unwrap();
    assert_eq!(head, log.head());
    assert_eq!(
        head.seq,
        good.into_inner() as u64,
        "exactly what succeeded is there"
    );
    let stopped = log.stage(record(0)).unwrap_err();
    assert!(matches!(stopped, CommitError::Stopped { .. }), "{stopped}");
    assert!(log.flush().is_err() && log.close().is_err());
    let bad = bad.into_inner().unwrap();
    assert_eq!(bad.len(), 6, "everybody was told");
    bad
}

#[test]
fn a_panicking_store_wakes_everybody() {
    let told = when_the_store(|| panic!("on purpose"));
    let in_doubt = told
        .iter()
        .filter(|error| matches!(error, CommitError::InDoubt { .. }));
    assert!(in_doubt.count() >= 1);
    let text = told.iter().map(ToString::to_string).collect::<String>();
    assert!(
        text.contains("the store panicked; open the ledger again"),
        "{text}"
    );
}

#[test]
fn in_doubt_is_said() {
    let told = when_the_store(|| Err(StoreError::InDoubt(Cause::System("no answer".into()))));
    assert!(
        told.iter()
            .any(|error| matches!(error, CommitError::InDoubt { .. }))
    );
}

#[test]
fn a_full_disk_is_said() {
    let told = when_the_store(|| Err(StoreError::NotWritten(Cause::DiskFull)));
    for error in told {
        let said = error.to_string();
        assert!(!matches!(error, CommitError::InDoubt { .. }), "{said}");
        assert!(said.contains("the disk is full; make room; open"), "{said}");
    }
}

#[test]
fn closing_writes_what_is_staged_and_takes_no_more() {
    let log = Memory::log(fine);
    let tickets: Vec<_> = (0..3)
        .map(|number| log.stage(record(number)).unwrap())
        .collect();
    assert_eq!(log.head().seq, 0, "nobody has waited");
    log.close().unwrap();
    assert_eq!(log.head().seq, 3);
    assert!(tickets.iter().all(|ticket| log.wait(ticket).is_ok()));
    assert_eq!(log.stage(record(0)).unwrap_err(), CommitError::Closed);
    log.close().unwrap();
    let log = Memory::log(fine);
    log.flush().unwrap();
    log.stage(record(0)).unwrap();
    log.flush().unwrap();
    assert_eq!(log.head().seq, 1);
}

#[test]
fn what_is_too_long_is_refused_before_it_is_staged() {
    let long = vec![0; MAX_BODY + 1];
    let refused = Unchained::new(Kind::Note, &[], &long).unwrap_err();
    let body = long.len();
    assert_eq!(refused, FrameError::TooLong { key: 0, body });
    assert!(Unchained::new(Kind::Note, &[0; MAX_KEY + 1], &[]).is_err());
    assert!(Unchained::new(Kind::Note, &[0; MAX_KEY], &long[1..]).is_ok());
    assert!(Unchained::new(Kind::Checkpoint, &[], &long).is_ok());
}
