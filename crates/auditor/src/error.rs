//! Why an audit could not be made.

use dashu_ratio::RBig;
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
    /// There are more combinations of the parts' histories than allowed.
    #[error("the parts have more than {limit} histories together: ask them less")]
    TooManyHistories {
        /// How many were allowed.
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
    /// The queries offered after a history were not the same ones each time.
    #[error(
        "the queries offered after a history must be a function of the history (round {round})"
    )]
    OffersChanged {
        /// How long the history was.
        round: usize,
    },
    /// A distribution's probabilities do not add up.
    #[error("the probabilities of draw {draw} sum to {sum} with what is missing, not to 1")]
    NotNormalized {
        /// Which draw of the run, from zero.
        draw: usize,
        /// The sum.
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
