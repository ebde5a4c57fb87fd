//! Disks that fail: an error or a full disk at every call. Nothing runs that is not in the ledger, everybody is told, and the
//! ledger can be opened again.

use std::io::ErrorKind;

use crate::common::{Disk, Fault, begun, bodies, crashes_since, head};
use ledger::{
    CommitError, Log,
    frame::{Kind, Unchained},
};

const LAUNCHES: u64 = 6;

/// Launches until the first error. The answer is that error.
fn work(disk: &Disk, log: &Log) -> Option<CommitError> {
    for number in 1..=LAUNCHES {
        let key = number.to_le_bytes();
        let draft = Unchained::new(Kind::Note, &key, &[7; 300]).unwrap();
        let outcome = log.stage(draft).and_then(|ticket| log.wait(&ticket));
        match outcome {
            Ok(receipt) => disk.ran(receipt.seq),
            Err(error) => {
                let after = Unchained::new(Kind::Note, &[], &[]).unwrap();
                let stopped = log.stage(after).unwrap_err();
                assert!(matches!(stopped, CommitError::Stopped { .. }), "{stopped}");
                return Some(error);
            }
        }
    }
    None
}

#[test]
fn an_error_at_every_call() {
    let (mut errors, mut in_doubt, mut images) = (0, 0, 0);
    for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
        for fault in [Fault::Once, Fault::From] {
            for call in 0.. {
                let disk = Disk::default();
                let store = begun(&disk);
                let log = Log::after(head(&store), Box::new(store));
                disk.set_fault(fault(call, kind));
                let error = work(&disk, &log);
                drop(log);
                let moments = disk.platter().ops.len();
                images += crashes_since(&disk, moments.saturating_sub(1), 3, |image, ran| {
                    let there = bodies(image).unwrap().len() as u64;
                    assert!(ran.iter().all(|(_, seq)| *seq < there));
                });
                let Some(error) = error else { break };
                errors += 1;
                in_doubt += u64::from(matches!(error, CommitError::InDoubt { .. }));
                let full = error.to_string().contains("the disk is full; make room");
                assert_eq!(full, kind == ErrorKind::StorageFull, "{error}");
            }
        }
    }
    println!("{errors} errors, {in_doubt} of them in doubt, {images} reopened");
    assert!(errors > 100 && in_doubt > 50, "{errors}, {in_doubt}");
}
