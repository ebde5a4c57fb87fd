//! Rényi differential privacy at one order.

pub(crate) mod best_order;
pub(crate) mod conversions;
mod curve;
mod optimal;

pub use conversions::{
    CurveToApprox, RenyiToApprox, curve_delta, curve_epsilon, renyi_delta, renyi_epsilon,
};
pub use curve::{Orders, RenyiCurve, RenyiCurveDp};
pub use optimal::{RenyiToApproxOptimal, renyi_delta_optimal, renyi_epsilon_optimal};

use crate::loss::scalar::{down, number};
use crate::{Additive, Loss, LossError, Measure, ScaleSquared};
use exact::{Exact, ExactError, Parameter, Round, excerpt};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A Rényi loss: the divergence of order α between the views is at most ε. It carries its order, so that losses of
/// different orders are never added or compared.
///
/// ```
/// use odometry::measures::{Loss, RenyiEpsilon};
/// let at_two: RenyiEpsilon = "0.5 at order 2".parse()?;
/// let at_four: RenyiEpsilon = "0.5 at order 4".parse()?;
/// assert!(!at_two.at_most(&at_four) && !at_four.at_most(&at_two));
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct RenyiEpsilon {
    order: Exact,
    epsilon: Exact,
}

impl RenyiEpsilon {
    /// The loss ε at the order α > 1.
    pub fn new(order: Exact, epsilon: Exact) -> Result<Self, LossError> {
        check_order(&order)?;
        Ok(RenyiEpsilon { order, epsilon })
    }

    /// The order α.
    pub const fn order(&self) -> &Exact {
        &self.order
    }

    /// The divergence ε.
    pub const fn epsilon(&self) -> &Exact {
        &self.epsilon
    }

    /// Adds `n` times `epsilon` at the same order, exactly.
    pub(crate) fn add(&mut self, epsilon: &Exact, n: u64) {
        crate::adaptive::add_times(&mut self.epsilon, epsilon, n);
    }

    /// The loss `epsilon` at the same order.
    pub(crate) fn with_epsilon(&self, epsilon: Exact) -> Self {
        RenyiEpsilon {
            order: self.order.clone(),
            epsilon,
        }
    }
}

/// An order as somebody wrote it.
pub(crate) fn read_order(order: impl Parameter) -> Result<Exact, LossError> {
    order.exact(Round::Up).map_err(|error| LossError::Text {
        text: match error {
            ExactError::NotANumber { input } | ExactError::Negative { input } => input,
            other => excerpt(&other),
        },
        expected: "an order of Rényi privacy, a number above 1 such as 2 or 2.5".into(),
    })
}

/// An order is finite and above 1.
pub(crate) fn check_order(order: &Exact) -> Result<(), LossError> {
    if order.is_finite() && *order > Exact::ONE {
        return Ok(());
    }
    Err(LossError::Order {
        order: order.to_string(),
    })
}

impl Loss for RenyiEpsilon {
    #[inline]
    fn at_most(&self, other: &Self) -> bool {
        self.order == other.order && self.epsilon <= other.epsilon
    }

    fn shown_down(&self) -> String {
        format!("{} at order {}", down(&self.epsilon), self.order)
    }

    fn on_grid(mut self) -> Self {
        self.epsilon = crate::adaptive::on_grid(self.epsilon);
        self
    }

    fn written(&self) -> Option<String> {
        Some(format!(
            "{} at order {}",
            self.epsilon.text(),
            self.order.text()
        ))
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn quadratic(&self, by: &Exact) -> Option<Self> {
        Some(self.scaled_squared(by))
    }
}

/// Gaussian noise of variance σ² costs `α·d_in²/(2σ²)` (\[Mir17\] Cor 3). There is no such group rule.
impl ScaleSquared for RenyiEpsilon {
    fn scaled_squared(&self, by: &Exact) -> Self {
        self.with_epsilon(self.epsilon.mul(&by.pow(2, Round::Up), Round::Up))
    }
}

impl fmt::Display for RenyiEpsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at order {}", self.epsilon, self.order)
    }
}

impl FromStr for RenyiEpsilon {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Self, LossError> {
        match text.split_once("at order") {
            Some((epsilon, order)) => RenyiEpsilon::new(number(order)?, number(epsilon)?),
            None => Err(LossError::Text {
                text: excerpt(text),
                expected: "a loss such as 0.5 at order 2".into(),
            }),
        }
    }
}

/// The serialized form; reading it checks the order.
#[derive(Serialize, Deserialize)]
struct Fields {
    order: Exact,
    epsilon: Exact,
}

impl TryFrom<Fields> for RenyiEpsilon {
    type Error = LossError;

    fn try_from(fields: Fields) -> Result<Self, LossError> {
        RenyiEpsilon::new(fields.order, fields.epsilon)
    }
}

impl From<RenyiEpsilon> for Fields {
    fn from(loss: RenyiEpsilon) -> Self {
        Fields {
            order: loss.order,
            epsilon: loss.epsilon,
        }
    }
}

/// Rényi differential privacy at one fixed order α > 1 (\[Mir17\]).
///
/// ```
/// use odometry::measures::{Measure, RenyiDp};
/// let at_two = RenyiDp::new(2)?;
/// assert!(at_two.check(&"0.5 at order 2".parse()?).is_ok());
/// assert!(at_two.check(&"0.5 at order 3".parse()?).is_err());
/// assert!(RenyiDp::new(1).is_err());
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenyiDp {
    order: Exact,
}

impl RenyiDp {
    /// The measure at the order α > 1.
    ///
    /// # Errors
    /// [`LossError::Order`], and [`LossError::Text`] for what is no number.
    pub fn new(order: impl Parameter) -> Result<Self, LossError> {
        let order = read_order(order)?;
        check_order(&order)?;
        Ok(RenyiDp { order })
    }

    /// The order α.
    pub const fn order(&self) -> &Exact {
        &self.order
    }

    /// The loss ε at this measure's order.
    pub fn loss(&self, epsilon: Exact) -> RenyiEpsilon {
        RenyiEpsilon {
            order: self.order.clone(),
            epsilon,
        }
    }
}

impl Measure for RenyiDp {
    type Loss = RenyiEpsilon;

    fn zero(&self) -> RenyiEpsilon {
        self.loss(Exact::ZERO)
    }

    fn infinity(&self) -> RenyiEpsilon {
        self.loss(Exact::INFINITY)
    }

    fn check(&self, loss: &RenyiEpsilon) -> Result<(), LossError> {
        if loss.order == self.order {
            return Ok(());
        }
        Err(LossError::Foreign {
            loss: excerpt(loss),
            measure: excerpt(&format!("{self:?}")),
        })
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("renyi").with("order", self.order.text()))
    }

    fn added(&self, one: &RenyiEpsilon, other: &RenyiEpsilon) -> Option<RenyiEpsilon> {
        Some(self.plus(one, other, 1))
    }
}
