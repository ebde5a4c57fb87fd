//! Group commit: every ticket is answered, in whatever way the store behaves.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
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

/// A thread with a time limit gives up while another one writes, and may wait again.
#[test]
fn a_wait_with_a_limit_ends() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let begun = Arc::new(AtomicUsize::new(0));
    let seen = begun.clone();
    let log = Memory::log(move |batch, _| {
        seen.fetch_add(1, Ordering::SeqCst);
        if batch == 1 {
            wait.lock().unwrap().recv().unwrap();
        }
        Ok(())
    });
    let first = log.stage(record(0)).unwrap();
    assert_eq!(log.wait_for(&first, Duration::ZERO), None, "it only looks");
    thread::scope(|scope| {
        let leader = scope.spawn(|| log.wait(&first));
        while begun.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let tickets: Vec<_> = (1..=10)
            .map(|number| log.stage(record(number)).unwrap())
            .collect();
        for ticket in &tickets {
            let before = Instant::now();
            let limit = Duration::from_millis(5);
            assert_eq!(log.wait_for(ticket, limit), None);
            assert!(before.elapsed() >= limit);
        }
        let (log, newest) = (&log, tickets[9].clone());
        let patient = scope.spawn(move || log.wait_for(&newest, Duration::from_secs(600)));
        go.send(()).unwrap();
        leader.join().unwrap().unwrap();
        assert_eq!(patient.join().unwrap(), Some(Ok(tickets[9].receipt())));
        // It leads by itself where no other thread does.
        let last = log.stage(record(11)).unwrap();
        let alone = log.wait_for(&last, Duration::from_secs(600));
        assert_eq!(alone, Some(Ok(last.receipt())));
    });
}

/// Threads that give up all the while, and threads that wait: none of them sleeps for ever, and nothing is lost.
#[test]
fn threads_that_give_up_leave_nobody_behind() {
    let log = Memory::log(|_, _| {
        thread::sleep(Duration::from_micros(100));
        Ok(())
    });
    let gave_up = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (log, gave_up) = (&log, &gave_up);
            scope.spawn(move || {
                for launch in 0..200 {
                    let ticket = log.stage(record(thread * 1000 + launch)).unwrap();
                    if thread % 2 == 0 {
                        log.wait(&ticket).unwrap();
                        continue;
                    }
                    let limit = Duration::from_micros(launch % 150);
                    match log.wait_for(&ticket, limit) {
                        Some(outcome) => drop(outcome.unwrap()),
                        None => drop(gave_up.fetch_add(1, Ordering::Relaxed)),
                    }
                }
            });
        }
    });
    assert!(gave_up.load(Ordering::Relaxed) > 0);
    log.flush().unwrap();
    assert_eq!(log.head().seq, 1600);
}
