//! Why something is refused.

use measures::RuleError;
use thiserror::Error;

/// Why a mechanism may not be created, or may not get a differing pair.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AllowanceError {
    /// No slot that is left has room for this loss.
    #[error("no slot has room for {asked}: left are {left}")]
    NoSlot {
        /// The loss.
        asked: String,
        /// What is left.
        left: String,
    },
    /// The failure probabilities of all that was created would pass the bound that was fixed in advance.
    #[error(
        "the δ of everything created would be {would}, above the {most} that was fixed in advance (a function that is \
         not swap-symmetric counts twice)"
    )]
    Leak {
        /// What it would be, rounded up.
        would: String,
        /// The bound.
        most: String,
    },
    /// It would pass the filter's budget.
    #[error("a loss of {asked} does not fit: {left}")]
    Filter {
        /// The loss.
        asked: String,
        /// What is left.
        left: String,
    },
    /// There is no theorem for streams in this measure.
    #[error(
        "its verification function is not first-pair consistent: in this measure only such mechanisms, and static data, \
         compose in parallel"
    )]
    NotFirstPairConsistent,
}

/// Why there is no price.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PriceError {
    /// The rule does not take these losses.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The rule's theorem is about children that are asked one after the other.
    #[error("the rule's children may not be asked concurrently: use one that says they may")]
    Sequential,
}
