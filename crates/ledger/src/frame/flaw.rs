//! The ways in which a record can be wrong.

use odometer::journal::FieldError;
use thiserror::Error;

use super::VERSION;

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is not there, although later ones are.
    #[error("it is missing")]
    Missing,
    /// It was cut off.
    #[error("it is cut off")]
    Short,
    /// It has another number.
    #[error("record {found} is in its place")]
    Misplaced {
        /// The number that it has.
        found: u64,
    },
    /// It, or something before it, is not what was written.
    #[error("it is not what was written: its hash does not fit")]
    Altered,
    /// It was written by another version.
    #[error(
        "it has version {found} of the format, and this program reads up to {VERSION}: use a newer program"
    )]
    Version {
        /// Its version.
        found: u16,
    },
    /// A newer record is before it: a program that reads those does not write this version.
    #[error(
        "it has version {found} of the format, although a record of version {after} is before it"
    )]
    Older {
        /// Its version.
        found: u16,
        /// The version of the record before.
        after: u16,
    },
    /// It is of an unknown kind.
    #[error(
        "it is of the kind {found:#04x}, which this program does not know and must not ignore: use a newer program"
    )]
    Kind {
        /// Its kind.
        found: u8,
    },
    /// Its fields cannot be read.
    #[error("{0}")]
    Fields(#[from] FieldError),
    /// The index of keys or of checkpoints says something else than the records.
    #[error("the store's index does not agree with it")]
    Index,
}

impl Flaw {
    /// Is it no damage, but the work of a newer program?
    pub fn is_newer(self) -> bool {
        matches!(
            self,
            Self::Version { .. } | Self::Kind { .. } | Self::Fields(FieldError::Newer { .. })
        )
    }
}
