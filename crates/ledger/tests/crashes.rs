//! Crashes at every moment: whatever ran is in the ledger, whatever is in the ledger is a whole chain of what was staged, in
//! order. The same harness finds planted mistakes.

use crate::common::{Disk, Fault, begun, bodies, crashes, head};
use ledger::{
    Log,
    frame::{Kind, Unchained},
};

/// When a mechanism runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// As it should be.
    ChargeThenRun,
    /// After the record is staged, before it is durable.
    RunBeforeTicket,
    /// Others' order: first the answer, then the books.
    RunThenCharge,
}

const LAUNCHES: u64 = 24;

fn body(seq: u64) -> Vec<u8> {
    // Some records are longer than a page.
    let long = if seq % 5 == 4 { 6000 } else { 180 };
    seq.to_le_bytes().into_iter().cycle().take(long).collect()
}

/// Launches in batches of one to three, with keys and a checkpoint here and there.
fn work(order: Order, fault: Fault) -> Disk {
    let disk = Disk::default();
    let store = begun(&disk);
    disk.set_fault(fault);
    let log = Log::after(head(&store), Box::new(store));
    let mut seq = 1;
    while seq <= LAUNCHES {
        let batch = seq..(seq + 1 + seq % 3).min(LAUNCHES + 1);
        if order == Order::RunThenCharge {
            batch.clone().for_each(|seq| disk.ran(seq));
        }
        let tickets: Vec<_> = batch.clone().map(|seq| stage(&log, seq)).collect();
        if order == Order::RunBeforeTicket {
            batch.clone().for_each(|seq| disk.ran(seq));
        }
        for ticket in &tickets {
            log.wait(ticket).unwrap();
        }
        if order == Order::ChargeThenRun {
            batch.clone().for_each(|seq| disk.ran(seq));
        }
        seq = batch.end;
    }
    log.close().unwrap();
    disk
}

fn stage(log: &Log, seq: u64) -> ledger::Ticket {
    let kind = match seq % 7 {
        6 => Kind::Checkpoint,
        _ => Kind::Note,
    };
    let key = format!("request {seq}");
    let key = if seq.is_multiple_of(2) {
        key.as_bytes()
    } else {
        &[]
    };
    let ticket = log.stage(Unchained::new(kind, key, &body(seq)).unwrap());
    let ticket = ticket.unwrap();
    assert_eq!(ticket.receipt().seq, seq);
    ticket
}

/// How many crashes were looked at, and what went wrong in how many.
struct Found {
    crashes: u64,
    ran_uncharged: u64,
    unreadable: u64,
}

fn search(disk: &Disk, times: u64) -> Found {
    let (mut ran_uncharged, mut unreadable) = (0, 0);
    let crashes = crashes(disk, times, |image, ran| match bodies(image) {
        Err(_) if ran.is_empty() => {} // perhaps before there was a ledger
        Err(_) => unreadable += 1,
        Ok(bodies) => {
            for (seq, found) in bodies.iter().enumerate().skip(1) {
                assert_eq!(*found, body(seq as u64), "a record that nobody staged");
            }
            let there = bodies.len() as u64;
            let lost = ran.iter().filter(|(_, seq)| *seq >= there).count();
            ran_uncharged += u64::from(lost > 0);
        }
    });
    Found {
        crashes,
        ran_uncharged,
        unreadable,
    }
}

#[test]
fn nothing_runs_that_a_crash_forgets() {
    let disk = work(Order::ChargeThenRun, Fault::None);
    assert_eq!(disk.platter().ran.len() as u64, LAUNCHES);
    let found = search(&disk, 6);
    println!(
        "{} crashes, {} lost, {} unreadable",
        found.crashes, found.ran_uncharged, found.unreadable
    );
    assert!(found.crashes > 1000, "{}", found.crashes);
    assert_eq!((found.ran_uncharged, found.unreadable), (0, 0));
}

#[test]
fn running_before_the_ticket_is_found() {
    let found = search(&work(Order::RunBeforeTicket, Fault::None), 1);
    assert!(found.ran_uncharged > 0);
}

#[test]
fn charging_after_the_run_is_found() {
    let found = search(&work(Order::RunThenCharge, Fault::None), 1);
    assert!(found.ran_uncharged > 0);
}

#[test]
fn a_skipped_sync_is_found() {
    let found = search(&work(Order::ChargeThenRun, Fault::Lies), 1);
    assert!(found.ran_uncharged + found.unreadable > 0);
}
