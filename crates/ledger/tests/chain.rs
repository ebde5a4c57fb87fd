//! The chain: golden files read back, every flipped bit and every missing record is located, an older copy is noticed.

use std::path::PathBuf;

use crate::common::{Disk, begun, memory::Memory};
use ledger::{
    Log, Store, StoreError,
    anchor::{self, AnchorError},
    chain::{self, Damage, Walk, WalkError},
    export::{self, ExportError},
    frame::{Flaw, Frame, Kind, Unchained, VERSION},
};
use odometer::journal::Receipt;

fn golden(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name]
        .iter()
        .collect()
}

type Fine = fn(usize, usize) -> Result<(), StoreError>;

/// The same five records every time.
fn filled() -> (Memory<Fine>, Vec<Receipt>) {
    let (store, begin) = Memory::<Fine>::begun(|_, _| Ok(()));
    let mut walk = Walk::after(&begin);
    let mut receipts = vec![begin];
    for (kind, key, body) in [
        (Kind::Note, "", "an account was opened"),
        (Kind::Note, "the organisation/request 1", "a charge of 0.1"),
        (Kind::Checkpoint, "", "0.1 was spent"),
        (Kind::Note, "", ""),
    ] {
        let frame = walk.seal(Unchained::new(kind, key.as_bytes(), body.as_bytes()).unwrap());
        receipts.push(frame.receipt());
        store.append(&[frame]).unwrap();
    }
    (store, receipts)
}

fn exported(store: &dyn Store) -> Vec<u8> {
    let mut file = Vec::new();
    export::write(store, &mut file).unwrap();
    file
}

/// The receipts in a golden file, and its head as it was shown.
fn kept(version: u16) -> (Vec<u8>, Vec<Receipt>, String) {
    let file = std::fs::read(golden(&format!("v{version}.ledger"))).unwrap();
    let mut read = Vec::new();
    let head = export::read(file.as_slice(), |frame| read.push(frame.receipt())).unwrap();
    assert_eq!(head, read.last().copied());
    let shown = std::fs::read_to_string(golden(&format!("v{version}.head"))).unwrap();
    (file, read, shown.trim_end().into())
}

/// To write the golden file of a new version: `GOLDEN=write cargo test -p odometry-ledger --test main chain::`. Those of old
/// versions stay.
#[test]
fn golden_files_read_back() {
    let (store, receipts) = filled();
    let file = exported(&store);
    if std::env::var_os("GOLDEN").is_some() {
        let name = |kind| golden(&format!("v{VERSION}.{kind}"));
        std::fs::write(name("ledger"), &file).unwrap();
        let head = receipts.last().unwrap().to_string();
        std::fs::write(name("head"), head + "\n").unwrap();
    }
    for version in [1, 3, VERSION] {
        let (kept, read, shown) = kept(version);
        assert_eq!(read.len(), 5);
        assert_eq!(read.last().unwrap().to_string(), shown, "version {version}");
        if version == VERSION {
            assert_eq!((kept, read), (file.clone(), receipts.clone()));
        }
    }
}

/// An old ledger goes on: its records stay as they are, and new ones come behind them.
#[test]
fn records_of_both_versions_are_one_chain() {
    let mut frames = Vec::new();
    let (old, _, _) = kept(1);
    export::read(old.as_slice(), |frame| frames.push(frame.bytes().to_vec())).unwrap();
    let mut before = NO_HASH;
    for (seq, bytes) in (0..).zip(&frames) {
        assert_eq!(bytes[..2], [1, 0], "it is of the first version");
        before = Frame::read(bytes.as_slice(), seq, &before)
            .unwrap()
            .receipt()
            .hash;
    }
    let last = Frame::read(frames[4].clone(), 4, &hash_before(&frames[3])).unwrap();
    let mut walk = Walk::after(&last.receipt());
    let next = walk.seal(Unchained::new(Kind::Note, b"", b"new").unwrap());
    assert_eq!(next.bytes()[..2], VERSION.to_le_bytes());
    assert!(Frame::read(next.bytes(), 5, &before).is_ok());
    // Newer ones are refused, and so is no version at all.
    for version in [0, 2, VERSION + 1, u16::MAX] {
        let mut other = next.bytes().to_vec();
        other[..2].copy_from_slice(&version.to_le_bytes());
        assert_eq!(
            Frame::read(other, 5, &before).unwrap_err(),
            Flaw::Version { found: version }
        );
    }
}

/// The hash at the end of a record.
fn hash_before(bytes: &[u8]) -> [u8; 32] {
    bytes[bytes.len() - 32..].try_into().unwrap()
}

const NO_HASH: [u8; 32] = [0; 32];

/// The number of the record that a byte of an exported file belongs to, or none for its title.
pub fn record_at(file: &[u8], byte: usize) -> Option<u64> {
    let (mut at, mut seq) = (16, 0);
    if byte < at {
        return None;
    }
    loop {
        let length = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        at += 4 + length as usize;
        if byte < at {
            return Some(seq);
        }
        seq += 1;
    }
}

#[test]
fn every_flipped_bit_of_a_file_is_located() {
    let file = exported(&filled().0);
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let found = match export::read(flipped.as_slice(), |_| {}).unwrap_err() {
            ExportError::Title => None,
            ExportError::Walk(WalkError::Damage(damage)) => Some(damage.seq),
            other => panic!("{other}"),
        };
        assert_eq!(found, record_at(&file, bit / 8), "bit {bit}");
    }
}

#[test]
fn a_file_that_is_cut_off_is_shorter_or_damaged() {
    let (store, receipts) = filled();
    let file = exported(&store);
    for length in 0..file.len() {
        match export::read(&file[..length], |_| {}) {
            // Cut between two records: only an anchor can tell.
            Ok(head) => assert!(head != receipts.last().copied()),
            Err(ExportError::Title) => assert!(length < 16),
            Err(ExportError::Walk(WalkError::Damage(damage))) => {
                assert_eq!(Some(damage.seq), record_at(&file, length));
            }
            Err(other) => panic!("{other}"),
        }
    }
}

fn damage(store: &dyn Store) -> Damage {
    match chain::verify(store) {
        Err(WalkError::Damage(damage)) => damage,
        other => panic!("{other:?}"),
    }
}

#[test]
fn missing_and_exchanged_records_are_located() {
    let count = filled().1.len();
    for gone in 0..count - 1 {
        let (store, _) = filled();
        store.records().remove(gone);
        let (seq, flaw) = (gone as u64, Flaw::Missing);
        assert_eq!(damage(&store), Damage { seq, flaw });
        // Moving the others down does not help.
        for (seq, record) in (0..).zip(store.records().iter_mut()) {
            record.0 = seq;
        }
        assert_eq!(damage(&store).seq, gone as u64);
    }
    let (store, _) = filled();
    let other = Unchained::new(Kind::Note, &[], b"a charge of 0").unwrap();
    let forged = Walk::after(&filled().1[1]).seal(other);
    store.records()[2].1 = forged.bytes().to_vec();
    let (seq, flaw) = (3, Flaw::Altered);
    assert_eq!(
        damage(&store),
        Damage { seq, flaw },
        "it fits what was before, but not what comes after"
    );
}

#[test]
fn another_version_is_named() {
    let (store, _) = filled();
    store.records()[1].1[0] = 9;
    let said = damage(&store).to_string();
    assert_eq!(
        said,
        "record 1 cannot be read: it has version 9 of the format, and this program reads up to 4: use a newer program"
    );
}

#[test]
fn an_index_that_lies_is_noticed() {
    let disk = Disk::default();
    let store = begun(&disk);
    let head = crate::common::head(&store);
    let mut walk = Walk::after(&head);
    let keyed = walk.seal(Unchained::new(Kind::Note, b"key", b"first").unwrap());
    store.append(&[keyed]).unwrap();
    // The same key again: refused, and nothing of the batch is there.
    let other = walk.seal(Unchained::new(Kind::Note, &[], b"other").unwrap());
    let again = walk.seal(Unchained::new(Kind::Note, b"key", b"second").unwrap());
    let refused = store.append(&[other, again]).unwrap_err();
    assert!(matches!(refused, StoreError::NotWritten(_)), "{refused}");
    assert_eq!(crate::common::head(&store).seq, 1);
    assert_eq!(store.find(b"key"), Ok(Some(1)));
    assert_eq!(store.find(b"kez"), Ok(None));
}

#[test]
fn an_older_copy_is_refused() {
    let (store, receipts) = filled();
    for receipt in &receipts {
        assert_eq!(anchor::check(&store, receipt), Ok(()));
    }
    let anchor = *receipts.last().unwrap();
    store.records().truncate(3);
    assert!(
        chain::verify(&store).is_ok(),
        "the chain alone does not tell"
    );
    let rolled_back = AnchorError::RolledBack { head: 2, anchor };
    assert_eq!(anchor::check(&store, &anchor), Err(rolled_back));

    // It goes on from the old copy: another record is where the anchor was made.
    let log = Log::after(receipts[2], Box::new(store));
    for body in [b"another", b"history"] {
        log.stage(Unchained::new(Kind::Note, &[], body).unwrap())
            .unwrap();
    }
    log.close().unwrap();
    let found = log.head();
    assert_eq!(
        anchor::check(log.store(), &anchor),
        Err(AnchorError::Diverged { anchor, found })
    );
}

#[test]
fn frames_that_are_no_frames() {
    let none = Walk::from_the_start();
    for bytes in [&[][..], &[1], &[1, 0], &[1, 0, 1], &[1; 44], &[0xff; 200]] {
        assert!(none.clone().step(0, bytes).is_err());
    }
    let (_, receipts) = filled();
    let again = Walk::after(&receipts[0]).seal(Unchained::new(Kind::Begin, &[], &[]).unwrap());
    let mut walk = Walk::after(&receipts[0]);
    assert_eq!(
        walk.step(1, again.bytes()).unwrap_err().flaw,
        Flaw::Altered,
        "it begins once"
    );
    let _: &Frame = &again;
}
