//! What can go wrong, and with which exit code.

use std::io;
use std::process::ExitCode;

use accountant::AccountantError;
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
    /// The output cannot be written.
    #[error("cannot write the answer: {0}")]
    Io(#[from] io::Error),
}

impl CommandError {
    /// Wrong usage is 2, all else 1.
    pub fn code(&self) -> ExitCode {
        match self {
            CommandError::Input { .. } => ExitCode::from(2),
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

/// What does not fit a budget: [done](ExitCode::SUCCESS) is not the word for it.
pub(crate) const REFUSED: u8 = 3;
