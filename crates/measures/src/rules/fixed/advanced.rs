//! Advanced composition of equal losses fixed in advance.

use exact::{Exact, Parameter, Round};

use crate::{EpsilonDelta, FixedRule, RuleError};

/// Advanced composition (\[DRV10\], as \[RRUV16\] Thm 2.10): `k` children of loss `(ε, δ)` have
/// `(ε(e^ε−1)k + ε√(2k ln(1/δ̂)), kδ + δ̂)`. Different losses count as the largest ε and the largest δ among them.
///
/// Hypotheses: all losses are fixed before the first launch. Children may be interactive and interleave, with finite
/// communication (\[HST+23\] Thm 1.8 and 3.4). Rounding: up. Historical: [`Optimal`](super::Optimal) is never worse for
/// the same total δ, and as a filter the Whitehouse rule is better and valid.
///
/// ```
/// use odometry::measures::fixed::Advanced;
/// use odometry::measures::FixedRule;
/// let total = Advanced::new("1e-6")?.compose(&vec!["(0.1, 0)".parse()?; 100])?;
/// assert!(*total.epsilon() > "6.3".parse()? && *total.epsilon() < "6.4".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// fn odometer(_rule: impl odometry::measures::Adaptive) {}
/// odometer(odometry::measures::fixed::Advanced::new("1e-6").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advanced {
    slack: Exact,
}

impl Advanced {
    /// The rule with this δ̂, above 0 and below 1.
    pub fn new(slack: impl Parameter) -> Result<Self, RuleError> {
        let slack = RuleError::read("δ̂", slack)?;
        if slack.is_zero() || slack >= Exact::ONE {
            return Err(RuleError::parameter("δ̂", &slack, "above 0 and below 1"));
        }
        Ok(Advanced { slack })
    }

    /// The loss of `k` children that all have the same loss.
    pub fn compose_n(&self, loss: &EpsilonDelta, k: u64) -> EpsilonDelta {
        if k == 0 {
            return EpsilonDelta::ZERO;
        }
        let epsilon = loss.epsilon();
        let drift = epsilon.mul(&epsilon.exp_m1(Round::Up), Round::Up).times(k);
        let ln = self.slack.neg_ln(Round::Up).unwrap_or(Exact::INFINITY);
        let spread = ln.times(k).times(2).sqrt(Round::Up).mul(epsilon, Round::Up);
        EpsilonDelta::saturating(drift + spread, loss.delta().times(k) + &self.slack)
    }
}

rule! { Advanced, ApproxDp => ApproxDp, ConcurrentFinite, |rule| {
    crate::Name::new("advanced").with("slack", rule.slack.text())
} }

impl FixedRule for Advanced {
    fn compose(&self, losses: &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError> {
        let epsilon = losses.iter().map(EpsilonDelta::epsilon).max().cloned();
        let delta = losses.iter().map(EpsilonDelta::delta).max().cloned();
        let largest =
            EpsilonDelta::saturating(epsilon.unwrap_or_default(), delta.unwrap_or_default());
        Ok(self.compose_n(&largest, losses.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> Advanced {
        Advanced::new("1e-5").unwrap()
    }

    #[test]
    fn the_formula_from_above() {
        let (epsilon, k) = (0.3f64, 7.0f64);
        let expected =
            epsilon * (epsilon.exp() - 1.0) * k + epsilon * (2.0 * k * 1e5f64.ln()).sqrt();
        let total = rule().compose_n(&"(0.3, 1e-6)".parse().unwrap(), 7);
        let found = total.epsilon().to_f64(Round::Up);
        assert!(found >= expected * (1.0 - 1e-14) && found <= expected * (1.0 + 1e-13));
        assert_eq!(*total.delta(), "0.000017".parse().unwrap());
    }

    #[test]
    fn different_losses_count_as_the_largest() {
        let mixed = ["(0.1, 1e-6)".parse().unwrap(), "(0.3, 0)".parse().unwrap()];
        let largest = rule().compose_n(&"(0.3, 1e-6)".parse().unwrap(), 2);
        assert_eq!(rule().compose(&mixed), Ok(largest));
    }

    #[test]
    fn edges() {
        assert_eq!(rule().compose(&[]), Ok(EpsilonDelta::ZERO));
        assert_eq!(
            rule().compose(&[EpsilonDelta::INFINITY]),
            Ok(EpsilonDelta::INFINITY)
        );
        assert!(Advanced::new(Exact::ZERO).is_err());
        assert!(Advanced::new(Exact::ONE).is_err());
        let zero = rule().compose(&[EpsilonDelta::ZERO]).unwrap();
        assert_eq!(
            (zero.epsilon(), zero.delta()),
            (&Exact::ZERO, &"1e-5".parse().unwrap())
        );
    }
}
