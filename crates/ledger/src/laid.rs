//! A storage whose room is laid out in advance: a file that grows is one with holes, and a sync that has to fill one writes what the
//! file system keeps of it as well, which takes longer than the bytes.
//!
//! Measured by switching it off in one binary (`bench ledger`, both in turns, 20 rounds each time): `launch_all` is 0.31 to 0.32 of raw
//! batches without it, and 0.37 to 0.42 with it. Single launches and 64 threads take the same time.

use std::{collections::BTreeSet, io, ops::Bound};

use redb::{BackendError, StorageBackend};

use crate::sync::{Mutex, lock};

/// So much is laid out at once.
const CHUNK: u64 = 1 << 18;

/// In pieces of this size.
const PIECE: usize = 4096;

/// A storage that writes zeros where zeros are, before something is written beside them for the first time. What can be read of it
/// is never changed by that, whatever crashes when.
#[derive(Debug)]
pub(crate) struct Laid<B> {
    storage: B,
    /// The chunks that have been laid out, or had been before. Locked while anything is written: zeros that were read must
    /// still be there when they are written.
    chunks: Mutex<BTreeSet<u64>>,
}

impl<B: StorageBackend> Laid<B> {
    pub(crate) fn new(storage: B) -> Self {
        Self {
            storage,
            chunks: Mutex::default(),
        }
    }

    fn lay(&self, chunk: u64) -> io::Result<()> {
        let begin = chunk * CHUNK;
        let length = CHUNK.min(self.storage.len()?.saturating_sub(begin));
        let mut bytes = vec![0; length as usize];
        self.storage.read(begin, &mut bytes)?;
        let zeros = [0; PIECE];
        let pieces: Vec<bool> = bytes
            .chunks(PIECE)
            .map(|piece| *piece == zeros[..piece.len()])
            .collect();
        let mut offset = 0;
        for run in pieces.chunk_by(bool::eq) {
            let end = bytes.len().min(offset + run.len() * PIECE);
            if run[0] {
                self.storage
                    .write(begin + offset as u64, &bytes[offset..end])?;
            }
            offset = end;
        }
        Ok(())
    }
}

impl<B: StorageBackend> StorageBackend for Laid<B> {
    fn len(&self) -> io::Result<u64> {
        self.storage.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.storage.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut chunks = lock(&self.chunks);
        let before = self.storage.len()?;
        self.storage.set_len(length)?;
        // The chunk at the end may have been cut, or is longer now.
        chunks.split_off(&(before.min(length) / CHUNK));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.storage.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut chunks = lock(&self.chunks);
        let end = offset.saturating_add(data.len() as u64);
        for chunk in offset / CHUNK..end.div_ceil(CHUNK) {
            if chunks.insert(chunk) {
                // It only makes syncs faster: on a full disk there may still be room for what is to be written.
                let _ = self.lay(chunk);
            }
        }
        self.storage.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.storage.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.storage.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.storage.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.storage.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.storage.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.storage.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.storage.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use redb::backends::InMemoryBackend;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

        /// It reads as it would without being laid out, however it grows and shrinks.
        #[test]
        fn nothing_that_is_read_is_changed(
            deeds in proptest::collection::vec((0..3 * CHUNK, 1..6000usize, 0..4u8), 1..24),
        ) {
            let (plain, laid) = (InMemoryBackend::new(), Laid::new(InMemoryBackend::new()));
            for (number, (at, length, deed)) in deeds.into_iter().enumerate() {
                for storage in [&plain as &dyn StorageBackend, &laid] {
                    match deed {
                        0 => storage.set_len(at).unwrap(),
                        _ => {
                            let end = at + length as u64;
                            storage.set_len(storage.len().unwrap().max(end)).unwrap();
                            storage.write(at, &vec![number as u8 % 3; length]).unwrap();
                        }
                    }
                }
                let mut read = [&plain as &dyn StorageBackend, &laid].map(|storage| {
                    let mut read = vec![9; storage.len().unwrap() as usize];
                    storage.read(0, &mut read).unwrap();
                    read
                });
                let [plain, laid] = &mut read;
                prop_assert!(plain == laid);
            }
        }
    }
}
