//! What is refused when a mechanism is built. Nothing is refused later because of the data.

use exact::{ExactError, excerpt};
use measures::LossError;
use odometer::Mismatch;
use std::fmt::Display;
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
    /// A parameter is no number, or not one that can be held.
    #[error("{what}: {source}")]
    NotANumber {
        /// Which parameter.
        what: &'static str,
        /// What is wrong with it, and what to write.
        source: ExactError,
    },
    /// A budget is no loss.
    #[error(transparent)]
    Loss(#[from] LossError),
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
    /// A parameter has more digits than samplers take ([`PARAMETER_BITS`](crate::samplers::PARAMETER_BITS)).
    #[error(
        "{what} must be a fraction of at most {most} bits above and below the line, not {bits}: round it"
    )]
    TooLong {
        /// Which parameter.
        what: &'static str,
        /// The most bits.
        most: usize,
        /// How many it has.
        bits: usize,
    },
    /// There is nothing to choose from, or to count.
    #[error("{what} must not be empty")]
    Empty {
        /// What is empty.
        what: &'static str,
    },
    /// No scale that can be had keeps the loss within the budget.
    #[error("no scale up to 2^1024 keeps the loss at distance {d_in} within {budget}: {reason}")]
    NoScale {
        /// The distance.
        d_in: String,
        /// The budget.
        budget: String,
        /// What was found at the largest scale that was tried.
        reason: String,
    },
    /// Every scale keeps the loss within the budget, so none is the least.
    #[error(
        "every scale down to 2^-1024 keeps the loss at distance {d_in} within {budget}: is the distance above zero, the budget finite, and does the scale decide the loss?"
    )]
    AnyScale {
        /// The distance.
        d_in: String,
        /// The budget.
        budget: String,
    },
    /// A measurement with post-processing, which would see the answers of all runs, where only one answer is paid for.
    #[error(
        "{what} takes no measurement with post-processing, which would see the answer of every run: post-process the result of {what} instead"
    )]
    Postprocessed {
        /// The function that refuses it.
        what: &'static str,
    },
    /// A part of a mechanism could not be built, for a reason of its author's.
    #[error("{reason}")]
    Failed {
        /// Why, cut when it is long.
        reason: String,
    },
}

impl BuildError {
    /// A reason of one's own, for functions that build mechanisms from other parts, such as those that
    /// [`calibrate`](crate::calibrate::calibrate) takes.
    pub fn failed(reason: impl Display) -> Self {
        Self::Failed {
            reason: excerpt(&reason),
        }
    }

    pub(crate) fn not_positive(what: &'static str, value: impl Display) -> Self {
        Self::NotPositive {
            what,
            value: excerpt(&value),
        }
    }

    pub(crate) fn out_of_range(
        what: &'static str,
        expected: &'static str,
        value: impl Display,
    ) -> Self {
        Self::OutOfRange {
            what,
            expected,
            value: excerpt(&value),
        }
    }
}

/// A measurement does not fit the transformation before it.
impl From<Mismatch> for BuildError {
    fn from(mismatch: Mismatch) -> Self {
        Self::failed(mismatch)
    }
}
