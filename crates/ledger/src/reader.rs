//! A ledger that is only looked at: by whoever answers for the budget, not by whoever spends it.

use std::{ops::ControlFlow, path::Path};

use odometer::journal::{Place, Receipt, Record, State};

use crate::{
    anchor,
    chain::Walk,
    codec,
    error::LedgerError,
    export::{self, ExportError},
    frame::{Frame, Kind},
    replay,
    store::Store,
    untouched::Untouched,
};

/// A ledger to look at. Nothing is written, not even what a crash left half done is put right on the disk.
///
/// ```
/// use odometry::ledger::{Ledger, LedgerReader};
/// # let path = std::env::temp_dir().join(format!("odometry-reader-{}.redb", std::process::id()));
/// # let _ = std::fs::remove_file(&path);
/// drop(Ledger::open(&path)?);
/// let ledger = LedgerReader::open(&path)?;
/// let (state, head) = ledger.state()?;
/// assert_eq!((state.len(), head.seq), (0, 0)); // begun, and nothing more
/// assert_eq!(ledger.verify()?, head);
/// # drop(ledger);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LedgerReader {
    store: Box<dyn Store>,
}

/// One record of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Its number and hash.
    pub receipt: Receipt,
    /// What it says.
    pub written: WrittenDown,
}

/// What a record of a ledger says.
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time is handed out, and nearly all are events: a box would be an allocation for each"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrittenDown {
    /// The ledger begins.
    Begin,
    /// Something happened to accounts.
    Event(Record),
    /// The state of all accounts, which is what the records before it amount to.
    Checkpoint,
}

impl LedgerReader {
    /// Looks at the ledger in this file.
    ///
    /// # Errors
    /// [`LedgerError::Open`]: there is none, it is in use, it is something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Ok(Self::on(Box::new(Untouched::open(path)?)))
    }

    /// Looks at the ledger in another store.
    pub fn on(store: Box<dyn Store>) -> Self {
        Self { store }
    }

    /// Where its records are.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// What everything amounts to, and the last record: from the last checkpoint on, which is believed.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn state(&self) -> Result<(State, Receipt), LedgerError> {
        let replayed = match self.store.checkpoint()? {
            Some(seq) => replay::from_checkpoint(&*self.store, seq)?,
            None => replay::everything(&*self.store)?,
        };
        Ok((replayed.state, replayed.head))
    }

    /// Reads everything: every hash, both indices, and whether every checkpoint is what the records before it amount to. The
    /// answer is the last record.
    ///
    /// # Errors
    /// [`LedgerError`], with the first record that is wrong.
    pub fn verify(&self) -> Result<Receipt, LedgerError> {
        Ok(self.verified()?.1)
    }

    /// As [`verify`](Self::verify), and what everything amounts to up to that record.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verified(&self) -> Result<(State, Receipt), LedgerError> {
        let replayed = replay::verified(&*self.store)?;
        Ok((replayed.state, replayed.head))
    }

    /// Is everything there up to this anchor?
    ///
    /// # Errors
    /// [`LedgerError::Anchor`].
    pub fn check(&self, anchor: &Receipt) -> Result<(), LedgerError> {
        Ok(anchor::check(&*self.store, anchor)?)
    }

    /// Hands out the records from this number on, in order, until told to stop. Their chain is checked from there.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn entries(
        &self,
        from: u64,
        mut each: impl FnMut(LedgerEntry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let last = self.store.last()?;
        if last.is_some_and(|(seq, _)| seq < from) {
            return Ok(());
        }
        let mut walk = match from {
            0 => Walk::from_the_start(),
            from => replay::before(&*self.store, from)?,
        };
        let mut wrong = None;
        walk.through(&*self.store, |frame| match entry(frame) {
            Ok(entry) => each(entry),
            Err(reason) => {
                let seq = frame.seq();
                wrong = Some(LedgerError::Invalid { seq, reason });
                ControlFlow::Break(())
            }
        })?;
        wrong.map_or(Ok(()), Err)
    }

    /// The number of the launch with this request key in this account.
    ///
    /// # Errors
    /// [`LedgerError::Store`].
    pub fn find(&self, account: Place, key: &str) -> Result<Option<u64>, LedgerError> {
        Ok(self.store.find(&codec::indexed(account, key))?)
    }

    /// Writes all records to a plain file, and checks their chain on the way.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn export(&self, to: impl std::io::Write) -> Result<Option<Receipt>, ExportError> {
        export::write(&*self.store, to)
    }
}

fn entry(frame: &Frame<&[u8]>) -> Result<LedgerEntry, String> {
    Ok(LedgerEntry {
        receipt: frame.receipt(),
        written: match frame.kind() {
            Kind::Begin => WrittenDown::Begin,
            Kind::Checkpoint => WrittenDown::Checkpoint,
            _ => WrittenDown::Event(codec::record(frame)?),
        },
    })
}
