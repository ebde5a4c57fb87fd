//! Why a file cannot be used as a store.

use std::{io, path::Path};

use redb::{DatabaseError, StorageError};
use thiserror::Error;

use crate::store::{Cause, StoreError};

/// Why a file cannot be used as a store.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenStoreError {
    /// Somebody else has it open.
    #[error(
        "the ledger {path} is in use by another process (or opened twice in this one); an embedded ledger belongs to one \
         process: close the other, or use a server"
    )]
    InUse {
        /// Where it is.
        path: String,
    },
    /// It is something else, or was cut off.
    #[error(
        "{path} is no ledger, or not a whole one ({reason}); give another path, or put back a copy of the ledger. If it is \
         deleted, everything that was charged in it is forgotten"
    )]
    NotALedger {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system does not let us.
    #[error("the ledger {path} cannot be opened: {reason}")]
    System {
        /// Where it is.
        path: String,
        /// What it says.
        reason: String,
    },
    /// There is no room.
    #[error("the ledger {path} cannot be opened: the disk is full; make room")]
    DiskFull {
        /// Where it is.
        path: String,
    },
}

/// A problem with a file, before its name is put into words.
pub(crate) enum Problem {
    Io(io::Error),
    InUse,
    Wrong(String),
}

impl Problem {
    pub(crate) fn at(self, path: &Path) -> OpenStoreError {
        let path = path.display().to_string();
        match self {
            Self::InUse => OpenStoreError::InUse { path },
            Self::Wrong(reason) => OpenStoreError::NotALedger { path, reason },
            Self::Io(error) => match Cause::from(&error) {
                Cause::DiskFull => OpenStoreError::DiskFull { path },
                _ => OpenStoreError::System {
                    path,
                    reason: error.to_string(),
                },
            },
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::DatabaseAlreadyOpen => Self::InUse,
            DatabaseError::Storage(StorageError::Io(error)) => match error.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                    Self::Wrong(error.to_string())
                }
                _ => Self::Io(error),
            },
            other => Self::Wrong(other.to_string()),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotWritten(Cause::DiskFull) | StoreError::InDoubt(Cause::DiskFull) => {
                Self::Io(io::ErrorKind::StorageFull.into())
            }
            other => Self::Wrong(other.to_string()),
        }
    }
}
