//! A store that is only read: the file stays as it is, also where it has to be repaired after a crash.

use std::{collections::BTreeMap, fs::File, io, ops::Bound, path::Path};

use redb::{BackendError, StorageBackend, backends::FileBackend};

use crate::{
    embedded::Embedded,
    frame::Frame,
    problem::OpenStoreError,
    store::{Cause, Each, Store, StoreError},
    sync::{Mutex, lock},
};

/// The store in a file, to be read. Others may read it meanwhile, and nobody can write: a writer that has it open gets
/// [`OpenStoreError::InUse`] told to us, and one that comes later is told the same of us.
pub struct Untouched(Embedded);

impl Untouched {
    /// Opens a ledger's file to read it. What a crash left half done is put right in memory, and nowhere else.
    ///
    /// # Errors
    /// [`OpenStoreError`]; no such file is [`OpenStoreError::System`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenStoreError> {
        let path = path.as_ref();
        Embedded::standing_for(path, || Overlay::new(File::open(path)?)).map(Self)
    }
}

impl Store for Untouched {
    fn append(&self, _: &[Frame]) -> Result<(), StoreError> {
        let why = "the ledger was opened to be read";
        Err(StoreError::NotWritten(Cause::System(why.into())))
    }

    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.0.read(from, each)
    }

    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.0.last()
    }

    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        self.0.find(key)
    }

    fn checkpoint(&self) -> Result<Option<u64>, StoreError> {
        self.0.checkpoint()
    }

    fn indexed(&self) -> Result<(u64, u64), StoreError> {
        self.0.indexed()
    }
}

/// Bytes are kept in blocks of so many.
const BLOCK: u64 = 4096;

/// A file under a layer of what was written since: the file itself is never written to.
#[derive(Debug)]
pub(crate) struct Overlay {
    file: FileBackend,
    layer: Mutex<Layer>,
}

#[derive(Debug)]
struct Layer {
    length: u64,
    /// What the file has beyond this has been cut off.
    kept: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self {
            file: FileBackend::new(file).map_err(io::Error::other)?,
            layer: Mutex::new(Layer {
                length,
                kept: length,
                blocks: BTreeMap::new(),
            }),
        })
    }

    /// Bytes of the file; what it has not is zero.
    fn under(&self, kept: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = kept.saturating_sub(offset).min(out.len() as u64) as usize;
        let (there, beyond) = out.split_at_mut(there);
        beyond.fill(0);
        match there {
            [] => Ok(()),
            there => self.file.read(offset, there),
        }
    }
}

/// The blocks that a range touches: the number of each, where it lies in the range, and where the range lies in it.
fn blocks(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let end = offset + length as u64;
    (offset / BLOCK..end.div_ceil(BLOCK)).map(move |number| {
        let from = (number * BLOCK).max(offset);
        let to = ((number + 1) * BLOCK).min(end);
        let inside = (from - number * BLOCK) as usize;
        (
            number,
            (from - offset) as usize,
            inside,
            (to - from) as usize,
        )
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.layer).length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let layer = lock(&self.layer);
        let end = offset.checked_add(out.len() as u64);
        if end.is_none_or(|end| end > layer.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.under(layer.kept, offset, out)?;
        for (number, at, inside, length) in blocks(offset, out.len()) {
            if let Some(block) = layer.blocks.get(&number) {
                out[at..at + length].copy_from_slice(&block[inside..inside + length]);
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut layer = lock(&self.layer);
        layer.length = length;
        layer.kept = layer.kept.min(length);
        layer.blocks.split_off(&length.div_ceil(BLOCK));
        let cut = (length % BLOCK) as usize;
        if let Some(last) = layer.blocks.get_mut(&(length / BLOCK)) {
            last[cut..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut layer = lock(&self.layer);
        for (number, at, inside, length) in blocks(offset, data.len()) {
            let mut block = match layer.blocks.remove(&number) {
                Some(block) => block,
                None => {
                    let mut block = vec![0; BLOCK as usize];
                    self.under(layer.kept, number * BLOCK, &mut block)?;
                    block
                }
            };
            block[inside..inside + length].copy_from_slice(&data[at..at + length]);
            layer.blocks.insert(number, block);
        }
        layer.length = layer.length.max(offset + data.len() as u64);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    // Whoever only reads needs no lock of their own: a shared one keeps writers out.

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is done to a storage.
    #[derive(Clone, Debug)]
    enum Deed {
        Write(u64, Vec<u8>),
        Length(u64),
    }

    fn deed() -> impl Strategy<Value = Deed> {
        let bytes = proptest::collection::vec(any::<u8>(), 1..6000);
        prop_oneof![
            (0..20_000u64, bytes).prop_map(|(at, bytes)| Deed::Write(at, bytes)),
            (0..20_000u64).prop_map(Deed::Length),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// It reads as a file would that was written to, and the file is as it was.
        #[test]
        fn it_reads_like_a_file_and_leaves_the_file_alone(
            before in proptest::collection::vec(any::<u8>(), 0..15_000),
            deeds in proptest::collection::vec(deed(), 1..12),
        ) {
            let path = std::env::temp_dir().join(format!("odometry-overlay-{}", std::process::id()));
            std::fs::write(&path, &before).unwrap();
            let overlay = Overlay::new(File::open(&path).unwrap()).unwrap();
            let mut model = before.clone();
            for deed in deeds {
                match deed {
                    Deed::Write(at, bytes) => {
                        overlay.write(at, &bytes).unwrap();
                        let end = at as usize + bytes.len();
                        model.resize(model.len().max(end), 0);
                        model[at as usize..end].copy_from_slice(&bytes);
                    }
                    Deed::Length(length) => {
                        overlay.set_len(length).unwrap();
                        model.resize(length as usize, 0);
                    }
                }
                let mut read = vec![1; model.len()];
                overlay.read(0, &mut read).unwrap();
                prop_assert!(read == model);
                prop_assert_eq!(overlay.len().unwrap(), model.len() as u64);
                prop_assert!(overlay.read(1, &mut read).is_err() || read.is_empty());
            }
            prop_assert_eq!(std::fs::read(&path).unwrap(), before);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
