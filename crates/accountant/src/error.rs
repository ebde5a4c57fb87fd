//! What can be wrong with a question to the accountant.

use exact::{Exact, ExactError, Parameter, Round, excerpt};
use measures::LossError;
use thiserror::Error;

/// A parameter that makes no sense, or a question that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AccountantError {
    /// A parameter outside of its range.
    #[error("{name} = {value} is out of range: {expected}")]
    Parameter {
        /// What it is.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// Its range.
        expected: &'static str,
    },
    /// Text that is no number.
    #[error("{name}: {source}")]
    NotANumber {
        /// What it is.
        name: &'static str,
        /// What is wrong with it, and what to write.
        source: ExactError,
    },
    /// A budget that is no loss.
    #[error(transparent)]
    Loss(#[from] LossError),
    /// Nothing is known of how a measurement's loss is distributed.
    #[error(
        "how the loss of {mechanism} is distributed is not known at distance {distance}: convert it to (ε, δ), or add a `Mechanism`"
    )]
    Unknown {
        /// What it is called.
        mechanism: String,
        /// The distance.
        distance: String,
    },
    /// A measurement's own map failed.
    #[error("{mechanism}: {source}")]
    Map {
        /// What it is called.
        mechanism: String,
        /// What the map said.
        source: measures::MapError,
    },
    /// Measurements for different metrics.
    #[error(
        "{mechanism} is for data one step apart in {metric}, and the measurements before it in {known}: no ε is valid for both; use one \
         accountant for each metric, or add `Mechanism::of(&measurement, &distance)?` at a distance that covers a step of {known}"
    )]
    Metrics {
        /// The measurement that was not added.
        mechanism: String,
        /// Its metric.
        metric: String,
        /// The metric of the measurements before it.
        known: String,
    },
    /// More mechanisms than can be counted.
    #[error("more than 2^63 mechanisms cannot be counted; add fewer")]
    TooMany,
    /// No parameter of the mechanism meets the budget.
    #[error(
        "no {name} up to {limit} meets the budget {budget}; raise ε or δ, or ask for fewer mechanisms"
    )]
    OutOfReach {
        /// What was searched for.
        name: &'static str,
        /// Where the search ended.
        limit: String,
        /// The budget.
        budget: String,
    },
}

impl AccountantError {
    /// The parameter of this name, rounded if it is a rational that is no decimal.
    pub(crate) fn read(
        name: &'static str,
        value: impl Parameter,
        round: Round,
    ) -> Result<Exact, Self> {
        let read = value.exact(round);
        read.map_err(|source| AccountantError::NotANumber { name, source })
    }

    pub(crate) fn parameter(
        name: &'static str,
        value: &impl ToString,
        expected: &'static str,
    ) -> Self {
        AccountantError::Parameter {
            name,
            value: excerpt(&value.to_string()),
            expected,
        }
    }
}
