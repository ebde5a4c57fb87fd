//! What can go wrong, and with which exit code.

use std::io;
use std::process::ExitCode;

use accountant::AccountantError;
use ledger::anchor::AnchorError;
use ledger::export::ExportError;
use ledger::{ConnectError, LedgerError, OpenStoreError, StoreError};
use odometer::journal::JournalError;
use thiserror::Error;

/// Why a command did not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Something that was written cannot be understood.
    #[error("{place}: {reason}")]
    Input {
        /// Where it stands.
        place: String,
        /// What is wrong, and what to write.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Its path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The accountant cannot answer.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// Somebody else has the ledger open.
    #[error(
        "the ledger {path} is in use by {holder}: an embedded ledger belongs to one process, and nothing was read. Wait \
         until it has ended, end it, or look at a copy that was made after it ended"
    )]
    InUse {
        /// Its path.
        path: String,
        /// By whom.
        holder: String,
    },
    /// The ledger cannot be read, or cannot be trusted.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The output cannot be written.
    #[error("cannot write the answer: {0}")]
    Io(#[from] io::Error),
}

impl CommandError {
    /// Wrong usage is 2; a ledger that is damaged, rolled back, or no whole ledger at all, 4; all else 1.
    pub fn code(&self) -> ExitCode {
        match self {
            CommandError::Input { .. } => ExitCode::from(2),
            CommandError::Ledger(error) if distrusted(error) => ExitCode::from(CORRUPT),
            _ => ExitCode::FAILURE,
        }
    }

    pub(crate) fn input(place: impl Into<String>, reason: impl ToString) -> CommandError {
        CommandError::Input {
            place: place.into(),
            reason: reason.to_string(),
        }
    }
}

/// Is it the ledger that is wrong, and not the world around it?
fn distrusted(error: &LedgerError) -> bool {
    match error {
        LedgerError::Damage(_) | LedgerError::Newer(_) | LedgerError::Invalid { .. } => true,
        LedgerError::Journal(error) => {
            matches!(error, JournalError::Damaged(_) | JournalError::Newer { .. })
        }
        LedgerError::Open(error) => matches!(error, OpenStoreError::NotALedger { .. }),
        // Pages that cannot be read are damaged, or the disk is: neither is to be trusted. A server that is gone says nothing.
        LedgerError::Anchor(AnchorError::Store(error)) | LedgerError::Store(error) => {
            matches!(error, StoreError::Unreadable(_))
        }
        LedgerError::Anchor(_) => true,
        LedgerError::Connect(error) => matches!(error, ConnectError::Version { .. }),
        _ => false,
    }
}

impl From<ConnectError> for CommandError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Address
            | ConnectError::PasswordInAddress
            | ConnectError::Unencrypted { .. }
            | ConnectError::EncryptionMode
            | ConnectError::NoAuthority
            | ConnectError::EncryptedSocket
            | ConnectError::SocketAndHostAddress { .. } => CommandError::input("--store", error),
            other => LedgerError::from(other).into(),
        }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        LedgerError::from(error).into()
    }
}

impl From<ExportError> for CommandError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Walk(error) => LedgerError::from(error).into(),
            ExportError::Io(error) => error.into(),
            other => CommandError::Io(io::Error::other(other.to_string())),
        }
    }
}

/// A ledger that was altered, or rolled back, or cannot be read to its end.
pub(crate) const CORRUPT: u8 = 4;

/// What does not fit a budget: [done](ExitCode::SUCCESS) is not the word for it.
pub(crate) const REFUSED: u8 = 3;
