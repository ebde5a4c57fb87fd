//! The errors of this crate. They are part of what an analyst sees, so they are plain values: comparable, ordered,
//! with the offending input as text, cut after 40 characters ([`exact::excerpt`]).

use exact::{Exact, ExactError, Parameter, Round, excerpt};
use thiserror::Error;

/// A value that is not a loss, or not a loss of the measure at hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum LossError {
    /// A probability outside of `[0, 1]`.
    #[error("δ must lie in [0, 1], got {delta}")]
    Delta {
        /// The value that was given.
        delta: String,
    },
    /// A Rényi order that is not a finite number above 1.
    #[error("a Rényi order must be finite and above 1, got {order}")]
    Order {
        /// The value that was given.
        order: String,
    },
    /// A set of Rényi orders that is empty, or not strictly increasing.
    #[error(
        "the orders of a Rényi curve must be strictly increasing and at least one, got {orders}"
    )]
    Orders {
        /// The orders that were given.
        orders: String,
    },
    /// A loss that another measure, or this measure with other parameters, would have given.
    #[error("the loss {loss} does not belong to the measure {measure}")]
    Foreign {
        /// The loss, as displayed.
        loss: String,
        /// The measure, as debugged.
        measure: String,
    },
    /// A curve that is not a trade-off function.
    #[error("the corner {corner} does not belong to a trade-off function: {reason}")]
    Tradeoff {
        /// The corner that was given.
        corner: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Text that cannot be read as a loss.
    #[error("cannot read {text:?} as a loss: expected {expected}")]
    Text {
        /// The text.
        text: String,
        /// What would have been understood.
        expected: String,
    },
    /// Text that is not the name of a measure.
    #[error("there is no measure {text:?}: expected one of {expected}")]
    Measure {
        /// The text.
        text: String,
        /// What would have been understood.
        expected: String,
    },
}

/// A privacy map has no loss to give.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The map's own function failed.
    #[error("the privacy map failed at distance {distance}: {reason}")]
    Failed {
        /// The distance that was asked.
        distance: String,
        /// What the map's author had to say.
        reason: String,
    },
    /// The map gave something that is not a loss of its measure.
    #[error("the privacy map gave a senseless loss at distance {distance}: {source}")]
    Senseless {
        /// The distance that was asked.
        distance: String,
        /// Why it is not a loss.
        source: LossError,
    },
    /// A multiple of the distance is too large for its type.
    #[error("{factor} times the distance {distance} is too large to be a distance")]
    Overflow {
        /// The distance that was asked.
        distance: String,
        /// What it was to be multiplied by.
        factor: u32,
    },
    /// The map was made from others by more combinators than may be nested.
    #[error("the map is nested too deeply: the limit is {limit} combinators")]
    TooDeep {
        /// The largest number.
        limit: u16,
    },
}

impl MapError {
    /// A failure with a reason, for the authors of maps.
    ///
    /// ```
    /// use odometry::measures::MapError;
    /// assert!(MapError::failed(&3, "not calibrated").to_string().contains("distance 3"));
    /// ```
    pub fn failed(distance: &impl ToString, reason: impl Into<String>) -> Self {
        MapError::Failed {
            distance: excerpt(&distance.to_string()),
            reason: reason.into(),
        }
    }
}

/// A rule or a conversion cannot be set up, or cannot be applied to these losses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A parameter outside of the range in which the theorem holds.
    #[error("{name} = {value} is out of range: {expected}")]
    Parameter {
        /// The parameter's name in the theorem.
        name: String,
        /// The value that was given.
        value: String,
        /// The range in which the theorem holds.
        expected: String,
    },
    /// A budget that no launch could ever fit, or that is no budget at all.
    #[error("the budget {budget} cannot be used: {reason}")]
    Budget {
        /// The budget that was given.
        budget: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A loss that does not belong to the rule's measure.
    #[error(transparent)]
    Loss(#[from] LossError),
}

impl RuleError {
    /// A parameter out of range, for the authors of rules and conversions.
    pub fn parameter(name: &str, value: &impl ToString, expected: &str) -> Self {
        RuleError::Parameter {
            name: name.into(),
            value: excerpt(&value.to_string()),
            expected: expected.into(),
        }
    }

    /// The number that somebody wrote for a parameter, for the authors of rules and conversions. What is no decimal is
    /// rounded down.
    ///
    /// # Errors
    /// [`RuleError::Parameter`] that says what to write.
    pub fn read(name: &str, value: impl Parameter) -> Result<Exact, Self> {
        let unread = |error: ExactError| {
            let (value, expected) = match error {
                ExactError::NotANumber { input } => {
                    let expected = "it is not a number; write decimals such as 0.1, 1e-6 or inf";
                    (format!("{input:?}"), expected)
                }
                ExactError::Negative { input } => (input, "it is negative"),
                other => (
                    other.to_string(),
                    "write a shorter decimal, such as 0.1 or 1e-6",
                ),
            };
            Self::parameter(name, &value, expected)
        };
        value.exact(Round::Down).map_err(unread)
    }

    /// A budget that cannot be used, for the authors of rules.
    pub fn budget(budget: &impl ToString, reason: &str) -> Self {
        RuleError::Budget {
            budget: excerpt(&budget.to_string()),
            reason: reason.into(),
        }
    }
}
