//! What a store of records must do.

use std::{io, ops::ControlFlow};

use odometer::journal::Receipt;
use thiserror::Error;

use crate::frame::Frame;

/// A store of records, in order, which belongs to one process. Calls block; one thread at a time calls [`append`](Store::append),
/// and any thread the rest. A store that several processes share is a [`SharedStore`], too.
///
/// The one promise on which everything stands: when [`append`](Store::append) returns `Ok`, the records survive a crash of
/// the process, of the system, and a loss of power.
pub trait Store: Send + Sync {
    /// Writes all of these, or none, and returns when they are durable.
    ///
    /// # Errors
    /// [`StoreError::NotWritten`] only if it is certain that none of them is there, now and after a crash.
    fn append(&self, batch: &[Frame]) -> Result<(), StoreError>;

    /// Hands out the number and the bytes of each record from this number on, in order, until told to stop.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`], [`StoreError::Unreachable`].
    fn read(&self, from: u64, each: &mut Each<'_>) -> Result<(), StoreError>;

    /// The last record: its number and its bytes.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`], [`StoreError::Unreachable`].
    fn last(&self) -> Result<Option<(u64, Vec<u8>)>, StoreError>;

    /// The number of the record with this key.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`], [`StoreError::Unreachable`].
    fn find(&self, key: &[u8]) -> Result<Option<u64>, StoreError>;

    /// The number of the last checkpoint.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`], [`StoreError::Unreachable`].
    fn checkpoint(&self) -> Result<Option<u64>, StoreError>;

    /// How many keys and how many checkpoints are in the indices.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`], [`StoreError::Unreachable`].
    fn indexed(&self) -> Result<(u64, u64), StoreError>;

    /// The part of the store that several processes need, if they share it.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }
}

/// A store that several processes write to: turns, and the changes that others have made. [`append`](Store::append) is called in
/// a turn and ends it. A process that has lost its turn is fenced: `append` writes nothing.
pub trait SharedStore: Store {
    /// Takes the turn: no other process writes until [`append`](Store::append) or [`give_back`](SharedStore::give_back) returns.
    /// Hands out the records that were written after this one, and returns the last of all.
    ///
    /// # Errors
    /// [`StoreError`]: then the turn was not taken.
    fn take_turn(&self, after: &Receipt, each: &mut Each<'_>) -> Result<Receipt, StoreError>;

    /// Ends a turn in which nothing is written.
    fn give_back(&self);

    /// The store as it is now: without the records that are written meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`], [`StoreError::Unreachable`].
    fn frozen(&self) -> Result<Box<dyn Store + '_>, StoreError>;

    /// The ways in which a failover or the network could lose durable records.
    fn hazards(&self) -> &[Hazard];
}

/// Takes a record's number and its bytes.
pub type Each<'a> = dyn FnMut(u64, &[u8]) -> ControlFlow<()> + 'a;

/// Why a store did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Nothing was written, for certain.
    #[error("nothing was written: {0}")]
    NotWritten(Cause),
    /// It may have been written or not.
    #[error("it is not known whether it was written: {0}")]
    InDoubt(Cause),
    /// It cannot be read: it is damaged, or the disk is.
    #[error("the store cannot be read: {0}")]
    Unreadable(Cause),
    /// It does not answer, which says nothing of what is in it: the server or the way to it has failed.
    #[error(
        "the store does not answer, or may not be used as it is: {0}. Try again once that is mended"
    )]
    Unreachable(Cause),
}

/// What was the matter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Cause {
    /// There is no room.
    #[error("the disk is full; make room")]
    DiskFull,
    /// The operating system or the server says this.
    #[error("{0}")]
    System(String),
    /// It was opened in the process from which this one was forked.
    #[error("it was opened before a fork, in the parent process, which alone may use it")]
    Forked,
    /// The store's own code panicked.
    #[error("the store panicked")]
    Panicked,
}

impl From<&io::Error> for Cause {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::System(error.to_string()),
        }
    }
}

/// Where a failover, or the network, could lose what was charged. The ledger works all the same; see to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Hazard {
    /// A standby follows, or an archive is kept, and nobody waits for it.
    #[error(
        "the server has a standby or an archive that it does not wait for: a failover to it loses the newest charges. Set \
         `synchronous_standby_names`, and keep an anchor"
    )]
    Failover,
    /// A machine in between can answer in the server's place: the address has `sslmode=disable`.
    #[error(
        "the server is on another machine, and the connection is not encrypted. A machine in between could answer that a charge was \
         written when it was not: use `sslmode=verify-full` with `sslrootcert=FILE`, or a tunnel"
    )]
    Network,
}
