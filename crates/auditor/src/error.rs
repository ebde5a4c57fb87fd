//! Why an audit could not be made.

use dashu_ratio::RBig;
use measures::{MapError, RuleError};
use odometer::LaunchError;
use queryable::AskError;
use thiserror::Error;

/// Why an audit could not be made, or could not answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// There are more runs than allowed.
    #[error(
        "there are more than {limit} runs: offer fewer queries, a smaller depth, or raise the limit"
    )]
    TooManyRuns {
        /// How many were allowed.
        limit: u64,
    },
    /// The histories need more memory than allowed.
    #[error(
        "the histories need more than about {limit} bytes: offer fewer queries, a smaller depth, fewer turns, or raise the \
         limit"
    )]
    TooMuchMemory {
        /// How many bytes were allowed.
        limit: u64,
    },
    /// A run draws more often than allowed.
    #[error(
        "a run draws more than {limit} times: if it draws until it likes the outcome, bound the number of tries; \
         otherwise ask less, or raise the limit"
    )]
    TooManyDraws {
        /// How many draws were allowed.
        limit: usize,
    },
    /// A replay drew differently, or a draw cannot be scripted.
    #[error("{0}")]
    Script(String),
    /// A replay with the same coins and the same queries gave another answer.
    #[error(
        "a replay with the same coins answered query {round} differently: the system has randomness of its own, or depends \
         on something else that changes"
    )]
    HiddenRandomness {
        /// Which query of the history, from zero.
        round: usize,
    },
    /// The queries offered after a history were not the same ones in the same order each time.
    #[error(
        "the queries offered after a history of {round} rounds were others, or in another order, when asked for again: they \
         must be a function of the history, and equal to themselves (a hash set has no order of its own: sort it)"
    )]
    OffersChanged {
        /// How long the history was.
        round: usize,
    },
    /// Two answers that are not equal compare as equal, so that they cannot be told apart.
    #[error(
        "two answers to query {round} are not equal, but their order does not tell them apart: compare all of what \
         the analyst sees in `Ord`"
    )]
    CoarseOrder {
        /// Which query of the history, from zero.
        round: usize,
    },
    /// Two answers are equal and distinguishable.
    #[error(
        "two answers to query {round} are equal and distinguishable: they have different capacities, or are different static \
         strings; answer `Canonical::rebuild` of them"
    )]
    UnequalInMemory {
        /// Which query of the history, from zero.
        round: usize,
    },
    /// The destructor of the system panicked.
    #[error(
        "the destructor of the system panicked: whoever drops it would notice, and no view tells"
    )]
    DestructorPanicked,
    /// A distribution's probabilities do not add up.
    #[error("the probabilities of draw {draw} sum to {sum} with what is missing, not to 1")]
    NotNormalized {
        /// Which draw of the run, from zero.
        draw: usize,
        /// The sum.
        sum: RBig,
    },
    /// Some runs are missing, or there twice, by a mistake of the auditor itself.
    #[error(
        "all runs on input {input} have probability {sum} together, not 1: a mistake of the auditor, please report it"
    )]
    Lost {
        /// Which input: 0 or 1.
        input: usize,
        /// The probability of what is there.
        sum: RBig,
    },
    /// The probability of a history depends on what is asked after it.
    #[error(
        "the probability of a history of {round} rounds depends on what is asked next: the system looks into the future"
    )]
    Unstable {
        /// How long the history was.
        round: usize,
    },
    /// Children that were said to be independent are not.
    #[error(
        "part {part} answers differently depending on what the others were asked or answered: it has no state and coins \
         of its own, so its interleavings cannot be merged; audit it unmerged"
    )]
    NotIndependent {
        /// Which part, from zero.
        part: usize,
    },
    /// What was asked needs every outcome, and a draw was truncated.
    #[error(
        "{what} is not known, because a distribution has outcomes that were not enumerated (mass {missing})"
    )]
    Truncated {
        /// What was asked.
        what: &'static str,
        /// The missing mass.
        missing: RBig,
    },
    /// What was asked needs every history apart, and interleavings were merged.
    #[error("interleavings were merged, so there is no one history to ask about; audit unmerged")]
    Merged,
    /// The map of a measurement does not say what is claimed.
    #[error("what the measurement claims is not known: {0}")]
    Map(MapError),
    /// A conversion does not convert the loss.
    #[error("the loss cannot be converted: {0}")]
    Conversion(RuleError),
    /// A measurement cannot be run on one of the inputs.
    #[error("the measurement cannot be run on input {input}: {source}")]
    NotRun {
        /// Which input: 0 or 1.
        input: usize,
        /// Why.
        source: Box<LaunchError>,
    },
    /// A measurement that answers nothing but one error on both inputs: there is nothing to audit.
    #[error("every run on both inputs fails in the same way, which shows nothing: {0}")]
    OnlyErrors(AskError),
    /// A parameter out of range.
    #[error("{name} = {value} is out of range: {expected}")]
    Parameter {
        /// Which one.
        name: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        expected: &'static str,
    },
}
