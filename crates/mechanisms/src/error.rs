//! What is refused when a mechanism is built. Nothing is refused later because of the data.

use thiserror::Error;

/// A mechanism or a distribution that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A parameter that has to be above zero, and finite, is not.
    #[error("{what} must be finite and above zero, not {value}")]
    NotPositive {
        /// Which parameter.
        what: &'static str,
        /// What was given.
        value: String,
    },
    /// A parameter is outside of its range.
    #[error("{what} must be {expected}, not {value}")]
    OutOfRange {
        /// Which parameter.
        what: &'static str,
        /// What is allowed.
        expected: &'static str,
        /// What was given.
        value: String,
    },
    /// There is nothing to choose from, or to count.
    #[error("{what} must not be empty")]
    Empty {
        /// What is empty.
        what: &'static str,
    },
}

impl BuildError {
    pub(crate) fn not_positive(what: &'static str, value: impl ToString) -> Self {
        Self::NotPositive {
            what,
            value: value.to_string(),
        }
    }

    pub(crate) fn out_of_range(
        what: &'static str,
        expected: &'static str,
        value: impl ToString,
    ) -> Self {
        Self::OutOfRange {
            what,
            expected,
            value: value.to_string(),
        }
    }
}
