//! Records of a ledger from another program: a reader accepts or refuses them, and a copy of the accepted ones is equal.

use std::{
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

use ledger::{
    Each, Ledger, LedgerReader, Store, StoreError, WrittenDown, chain,
    frame::{Frame, Kind, Unchained},
};
use odometer::journal::{Fields, Record};
use sha2::{Digest as _, Sha256};

use crate::check_error;

/// A record without its hash, or the optional fields of one. The number in it is put right, and it comes after three records of its
/// version: a beginning, an account and a charge.
pub fn records(input: &[u8]) {
    match Fields::decode(input) {
        Ok(fields) => assert_eq!(fields.encode().as_deref(), Ok(input)),
        Err(error) => check_error(&error),
    }
    if input.len() < 11 {
        return;
    }
    let mut content = input.to_vec();
    content[3..11].copy_from_slice(&3_u64.to_le_bytes());
    let before = match content[0] {
        1 | 3 => older(content[0]),
        _ => newer(),
    };
    let contents: Vec<Vec<u8>> = before.into_iter().chain([content]).collect();
    let store = Stored::chained(&contents);
    match Ledger::on(Box::new(store), None) {
        Ok(ledger) => copied(&ledger),
        Err(error) => {
            check_error(&error);
            let text = error.to_string();
            assert!(!text.contains("panicked"), "{text}");
        }
    }
}

/// A ledger that was opened is whole, and its records are written again as they were read.
fn copied(ledger: &Ledger) {
    if let Err(error) = ledger.verify() {
        panic!("it was opened, and is not whole: {error}");
    }
    let mut file = Vec::new();
    if let Err(error) = ledger.export(&mut file) {
        panic!("it is not exported: {error}");
    }
    let mut contents = Vec::new();
    let read = ledger::export::read(file.as_slice(), |frame| contents.push(content(frame)));
    assert!(read.is_ok(), "{read:?}");
    let records = entries(Stored::chained(&contents));
    let copy = Ledger::on(Box::new(Stored::chained(&newer()[..1])), None);
    let Ok(copy) = copy else {
        panic!("an empty ledger is not opened");
    };
    for record in &records {
        // Hashes differ in the copy, and so do the records that are referred to.
        if record.event.refers_to().is_none()
            && let Err(error) = copy.write_record(record.clone())
        {
            panic!("{record:?} was read, and is not written: {error}");
        }
    }
    let mut file = Vec::new();
    let exported = copy.export(&mut file);
    assert!(exported.is_ok(), "{exported:?}");
    let mut contents = Vec::new();
    let read = ledger::export::read(file.as_slice(), |frame| contents.push(content(frame)));
    assert!(read.is_ok(), "{read:?}");
    let kept = records.iter();
    let kept: Vec<&Record> = kept
        .filter(|record| record.event.refers_to().is_none())
        .collect();
    let again = entries(Stored::chained(&contents));
    assert!(again.iter().eq(kept));
}

fn content(frame: &Frame<&[u8]>) -> Vec<u8> {
    let bytes = frame.bytes();
    bytes[..bytes.len() - 32].to_vec()
}

fn entries(store: Stored) -> Vec<Record> {
    let mut records = Vec::new();
    let read = LedgerReader::on(Box::new(store)).entries(0, |entry| {
        if let WrittenDown::Event(record) = entry.written {
            records.push(record);
        }
        ControlFlow::Continue(())
    });
    assert!(read.is_ok(), "{read:?}");
    records
}

const OPENING: &str = r#"{"parent":null,"segment":{"Name":"q"},"terms":{"Account":{"relation":"Root","rule":"basic{pure}","measure":"pure","metric":"symmetric","distances":["1"],"budget":"1","halting":false,"quota":1048576,"sequential":false}}}"#;
const CHARGE: &str = r#"{"description":{"name":"query","parameters":[]},"key":null,"postings":[{"account":0,"price":{"Direct":{"form":{"Linear":"0.1"},"losses":["0.1"]}}}],"opens":null}"#;

fn newer() -> Vec<Vec<u8>> {
    let records = [
        (Kind::Begin, "the same"),
        (Kind::Open, OPENING),
        (Kind::Charge, CHARGE),
    ];
    let mut walk = chain::Walk::from_the_start();
    let content = |(kind, body): (Kind, &str)| match Unchained::new(kind, &[], body.as_bytes()) {
        Ok(draft) => {
            let frame = walk.seal(draft);
            frame.bytes()[..frame.bytes().len() - 32].to_vec()
        }
        Err(error) => panic!("{error}"),
    };
    records.map(content).into()
}

fn older(version: u8) -> Vec<Vec<u8>> {
    let bodies = [
        (0, "the same".to_owned()),
        (1, format!(r#"{{"Open":{OPENING}}}"#)),
        (1, format!(r#"{{"Charge":{CHARGE}}}"#)),
    ];
    let record = |(seq, (kind, body)): (u8, &(u8, String))| {
        let header = [version, 0, *kind, seq, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        [&header, body.as_bytes()].concat()
    };
    (0..).zip(&bodies).map(record).collect()
}

/// Records in memory.
struct Stored(Mutex<Vec<(u64, Vec<u8>)>>);

impl Stored {
    /// Records with these contents, with their hashes.
    fn chained(contents: &[Vec<u8>]) -> Self {
        let mut before = [0; 32];
        let record = |(seq, content): (u64, &Vec<u8>)| {
            let hash = Sha256::new().chain_update(before).chain_update(content);
            before = hash.finalize().into();
            (seq, [content.as_slice(), &before].concat())
        };
        Self(Mutex::new((0..).zip(contents).map(record).collect()))
    }

    fn records(&self) -> Vec<(u64, Vec<u8>)> {
        let records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.clone()
    }

    fn frames(&self) -> Vec<Frame> {
        let mut walk = chain::Walk::from_the_start();
        let records = self.records().into_iter();
        records
            .map_while(|(seq, bytes)| walk.step(seq, bytes).ok())
            .collect()
    }
}

impl Store for Stored {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = batch
            .iter()
            .map(|frame| (frame.seq(), frame.bytes().to_vec()));
        records.extend(new);
        Ok(())
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        for (seq, bytes) in self.records() {
            if seq >= from && each(seq, &bytes) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        Ok(self.records().pop())
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        let frames = self.frames();
        let found = frames.iter().find(|frame| frame.key() == Some(key));
        Ok(found.map(Frame::seq))
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        let frames = self.frames();
        let last = frames
            .iter()
            .rfind(|frame| frame.kind() == Kind::Checkpoint);
        Ok(last.map(Frame::seq))
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        let frames = self.frames();
        let keys = frames.iter().filter(|frame| frame.key().is_some()).count();
        let checkpoints = frames
            .iter()
            .filter(|frame| frame.kind() == Kind::Checkpoint);
        Ok((keys as u64, checkpoints.count() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise every input would end at the door.
    #[test]
    fn seeds_of_every_version_are_opened() {
        let seeds: [&[u8]; 3] = [
            include_bytes!("../../../fuzz/seeds/records/fields"),
            include_bytes!("../../../fuzz/seeds/records/note"),
            include_bytes!("../../../fuzz/seeds/records/older"),
        ];
        for seed in seeds {
            let mut contents = match seed[0] {
                3 => older(3),
                _ => newer(),
            };
            contents.push(seed.to_vec());
            Ledger::on(Box::new(Stored::chained(&contents)), None).unwrap();
        }
    }
}
