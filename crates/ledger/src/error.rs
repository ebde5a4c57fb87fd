//! Why a ledger was not opened, or did not do what it was told.

use odometer::journal::JournalError;
use thiserror::Error;

use crate::{
    anchor::AnchorError,
    chain::{Damage, WalkError},
    problem::OpenStoreError,
    store::StoreError,
    ticket::CommitError,
};

/// Why a ledger was not opened, or did not do what it was told. Nothing was changed, and nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The file is none, or is in use.
    #[error(transparent)]
    Open(#[from] OpenStoreError),
    /// The server cannot be used.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Connect(#[from] crate::server::ConnectError),
    /// A record is not as it was written.
    #[error("{0}. Put back the newest copy of the ledger; nothing can be charged on this one")]
    Damage(Damage),
    /// A newer program has written a record that this one must not ignore. Nothing is damaged.
    #[error("{0}")]
    Newer(Damage),
    /// A record does not fit those before it.
    #[error(
        "record {seq} does not fit those before it: {reason}. Was it written by a newer program? Then use that one"
    )]
    Invalid {
        /// The record.
        seq: u64,
        /// What does not fit.
        reason: String,
    },
    /// The ledger is older than its anchor, or another one.
    #[error(transparent)]
    Anchor(#[from] AnchorError),
    /// The anchor cannot be read or written.
    #[error("the anchor {path}: {reason}")]
    AnchorFile {
        /// Its file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It was not written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// It cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl From<Damage> for LedgerError {
    fn from(damage: Damage) -> Self {
        match damage.flaw.is_newer() {
            true => Self::Newer(damage),
            false => Self::Damage(damage),
        }
    }
}

impl From<WalkError> for LedgerError {
    fn from(error: WalkError) -> Self {
        match error {
            WalkError::Damage(damage) => damage.into(),
            WalkError::Store(error) => error.into(),
        }
    }
}

impl From<CommitError> for JournalError {
    fn from(error: CommitError) -> Self {
        let closed = |reason: String| Self::Closed { reason };
        match error {
            CommitError::InDoubt { seq, .. } => Self::InDoubt { seq },
            CommitError::NotWritten { cause, .. } => Self::NotWritten {
                reason: cause.to_string(),
            },
            CommitError::Stopped { cause } => closed(cause.to_string()),
            CommitError::Closed => closed("it was closed".into()),
        }
    }
}
