//! Approximate differential privacy.

mod conversions;

pub use conversions::{ApproxToProfile, ApproxToTradeoff};

use crate::loss::pair::{delta_adds, delta_loss};
use crate::{Additive, Epsilon, GroupPrivacy, Measure};
use exact::{Exact, Round};

delta_loss! {
    /// An approximate privacy loss `(ε, δ)`, compared coordinate-wise.
    ///
    /// ```
    /// use odometry::measures::{EpsilonDelta, Loss};
    /// let a: EpsilonDelta = "(1, 0.1)".parse()?;
    /// let b: EpsilonDelta = "(2, 0)".parse()?;
    /// assert!(!a.at_most(&b) && !b.at_most(&a));
    /// assert_eq!("(0.5, 1)".parse(), Ok(EpsilonDelta::INFINITY));
    /// assert!("(0.5, 1.5)".parse::<EpsilonDelta>().is_err());
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    EpsilonDelta, epsilon, "EpsilonDelta::new"
}
delta_adds! { EpsilonDelta, epsilon }

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

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("approximate"))
    }

    fn grouped(&self, one: &EpsilonDelta, n: u32) -> Option<EpsilonDelta> {
        Some(self.group(one, n))
    }

    fn added(&self, one: &EpsilonDelta, other: &EpsilonDelta) -> Option<EpsilonDelta> {
        Some(self.plus(one, other, 1))
    }
}

/// `(n·ε, δ·(1 + e^ε + … + e^((n−1)ε)))` (\[Vad17\] Lemma 2.2, with the sum not simplified). ε is exact, δ is rounded
/// up.
impl GroupPrivacy for ApproxDp {
    fn group(&self, one: &EpsilonDelta, n: u32) -> EpsilonDelta {
        let epsilon = one.epsilon().times(n.into());
        if one.epsilon().is_zero() || one.delta().is_zero() {
            return EpsilonDelta::saturating(epsilon, one.delta().times(n.into()));
        }
        let steps = epsilon
            .exp_m1(Round::Up)
            .div(&one.epsilon().exp_m1(Round::Down), Round::Up);
        EpsilonDelta::saturating(epsilon, steps.mul(one.delta(), Round::Up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approximate_group_pays_a_geometric_sum() {
        let one: EpsilonDelta = "(0.5, 1e-6)".parse().unwrap();
        let three = ApproxDp.group(&one, 3);
        assert_eq!(*three.epsilon(), "1.5".parse::<Exact>().unwrap());
        let expected = 1e-6 * (1.0 + 0.5f64.exp() + 1f64.exp());
        let got = three.delta().to_f64(Round::Up);
        assert!(
            got >= expected * (1.0 - 1e-12) && got <= expected * (1.0 + 1e-12),
            "{got} {expected}"
        );
        assert_eq!(
            ApproxDp.group(&"(0, 0.25)".parse().unwrap(), 3),
            "(0, 0.75)".parse().unwrap()
        );
        assert_eq!(
            ApproxDp.group(&"(0, 0.25)".parse().unwrap(), 4),
            EpsilonDelta::INFINITY
        );
        assert_eq!(ApproxDp.group(&one, 1_000), EpsilonDelta::INFINITY);
    }
}
