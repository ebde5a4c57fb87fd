//! A store in memory, and stores that misbehave.

use std::{
    ops::ControlFlow,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ledger::{
    Each, Log, Store, StoreError,
    chain::Walk,
    frame::{Frame, Kind, Unchained},
};
use odometer::journal::Receipt;

/// Records in memory. Before each batch is kept, somebody is asked: it gets the number of the batch and its size.
pub struct Memory<F> {
    records: Mutex<Vec<(u64, Vec<u8>)>>,
    batches: Mutex<usize>,
    before: F,
}

impl<F: Fn(usize, usize) -> Result<(), StoreError> + Send + Sync> Memory<F> {
    /// With the first record, whose body is always the same.
    pub fn begun(before: F) -> (Self, Receipt) {
        let begin = Unchained::new(Kind::Begin, &[], b"always the same").unwrap();
        let begin = Walk::from_the_start().seal(begin);
        let store = Self {
            records: Mutex::new(vec![(0, begin.bytes().to_vec())]),
            batches: Mutex::new(0),
            before,
        };
        (store, begin.receipt())
    }

    pub fn log(before: F) -> Log
    where
        F: 'static,
    {
        let (store, head) = Self::begun(before);
        Log::after(head, Box::new(store))
    }

    pub fn records(&self) -> MutexGuard<'_, Vec<(u64, Vec<u8>)>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frames(&self) -> Vec<Frame> {
        let (mut walk, records) = (Walk::from_the_start(), self.records());
        let frames = records
            .iter()
            .map_while(|(seq, bytes)| walk.step(*seq, bytes.clone()).ok());
        frames.collect()
    }
}

impl<F: Fn(usize, usize) -> Result<(), StoreError> + Send + Sync> Store for Memory<F> {
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError> {
        let number = {
            let mut batches = self.batches.lock().unwrap();
            *batches += 1;
            *batches
        };
        (self.before)(number, batch.len())?;
        let mut records = self.records();
        records.extend(
            batch
                .iter()
                .map(|frame| (frame.seq(), frame.bytes().to_vec())),
        );
        Ok(())
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        let records = self.records().clone();
        for (seq, bytes) in records.iter().filter(|(seq, _)| *seq >= from) {
            if each(*seq, bytes) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        Ok(self.records().last().cloned())
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
