//! Approximate differential privacy.

use super::pair::delta_loss;
use super::pure::Epsilon;
use crate::Measure;
use exact::Exact;

delta_loss! {
    /// An approximate privacy loss `(ε, δ)`, compared coordinate-wise.
    ///
    /// ```
    /// use measures::{EpsilonDelta, Loss};
    /// let a: EpsilonDelta = "(1, 0.1)".parse()?;
    /// let b: EpsilonDelta = "(2, 0)".parse()?;
    /// assert!(!a.at_most(&b) && !b.at_most(&a));
    /// assert_eq!("(0.5, 1)".parse(), Ok(EpsilonDelta::INFINITY));
    /// assert!("(0.5, 1.5)".parse::<EpsilonDelta>().is_err());
    /// # Ok::<(), measures::LossError>(())
    /// ```
    EpsilonDelta, epsilon, "EpsilonDelta::new"
}

impl From<Epsilon> for EpsilonDelta {
    fn from(pure: Epsilon) -> Self {
        EpsilonDelta::saturating(pure.value().clone(), Exact::ZERO)
    }
}

/// (ε, δ)-differential privacy: `P(S) ≤ e^ε·Q(S) + δ` for all events of the view, both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxDp;

impl Measure for ApproxDp {
    type Loss = EpsilonDelta;

    fn zero(&self) -> EpsilonDelta {
        EpsilonDelta::ZERO
    }

    fn infinity(&self) -> EpsilonDelta {
        EpsilonDelta::INFINITY
    }
}
