//! Group privacy: the loss at distance `n` from the loss at distance 1, for measures that have such a rule. Rényi
//! privacy at one order has none (the order would have to change), nor has approximate zCDP here.

use crate::{ApproxDp, Epsilon, EpsilonDelta, GaussianDp, Measure, Mu, PureDp, Rho, Zcdp};
use exact::Round;

/// A measure in which the loss between inputs `n` steps apart follows from the loss of one step.
pub trait GroupPrivacy: Measure {
    /// The loss at distance `n`, rounded up, given the loss at distance 1.
    fn group(&self, one: &Self::Loss, n: u32) -> Self::Loss;
}

/// `n·ε`: the triangle inequality of the max-divergence. Exact.
impl GroupPrivacy for PureDp {
    fn group(&self, one: &Epsilon, n: u32) -> Epsilon {
        Epsilon::new(one.value().times(n.into()))
    }
}

/// `(n·ε, δ·(1 + e^ε + … + e^((n−1)ε)))` (Vadhan 2017, Lemma 2.2, with the sum not simplified). ε is exact, δ is rounded
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

/// `n²·ρ` (Bun–Steinke 2016, Prop 1.9). Exact.
impl GroupPrivacy for Zcdp {
    fn group(&self, one: &Rho, n: u32) -> Rho {
        Rho::new(one.value().times(u64::from(n) * u64::from(n)))
    }
}

/// `n·μ` (Dong–Roth–Su 2019, Thm 2.14 for Gaussian trade-off functions). Exact.
impl GroupPrivacy for GaussianDp {
    fn group(&self, one: &Mu, n: u32) -> Mu {
        Mu::new(one.value().times(n.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact::Exact;

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

    #[test]
    fn the_other_groups_are_exact() {
        assert_eq!(
            PureDp.group(&"0.1".parse().unwrap(), 10),
            "1".parse().unwrap()
        );
        assert_eq!(
            Zcdp.group(&"0.1".parse().unwrap(), 10),
            "10".parse().unwrap()
        );
        assert_eq!(
            GaussianDp.group(&"0.1".parse().unwrap(), 10),
            "1".parse().unwrap()
        );
    }
}
