//! The hybrid bound for losses fixed in advance.

use exact::{Exact, Round};

use crate::{EpsilonDelta, FixedRule, RuleError};

/// The hybrid bound (\[VW21\] Thm 1.8 and 4.1): `ε_g = Σε`, `δ_g = min over orders of Σ_i e^(Σ_{j<i} ε_j) δ_i`. The
/// best order is by falling `δ/(e^ε−1)`, with `ε = 0` first: swapping two neighbours changes only their two terms.
///
/// Hypotheses: all losses are fixed before the first launch; children may be interactive and interleave freely.
/// Rounding: ε exact, δ up (every order is valid, so a misplaced tie costs no soundness). Its numbers
/// are never better than those of the adaptive rule [`Basic`](crate::Basic), whose theorem for approximate privacy
/// however asks for finite communication where children interleave, and this one does not.
///
/// ```
/// use odometry::measures::fixed::Hybrid;
/// use odometry::measures::FixedRule;
/// let total = Hybrid.compose(&["(1, 0)".parse()?, "(1, 1e-6)".parse()?])?;
/// assert_eq!(total, "(2, 1e-6)".parse()?); // the child with δ goes first
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// fn odometer(_rule: impl odometry::measures::Adaptive) {}
/// odometer(odometry::measures::fixed::Hybrid);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hybrid;

/// The losses in the order that makes the bound least.
fn best_order(losses: &[EpsilonDelta]) -> Vec<&EpsilonDelta> {
    // The keys are rounded, which can only swap near ties.
    let key = |loss: &EpsilonDelta| {
        if loss.epsilon().is_zero() {
            return Exact::INFINITY;
        }
        let growth = loss.epsilon().exp_m1(Round::Down);
        loss.delta().div(&growth, Round::Down)
    };
    let mut keyed: Vec<_> = losses.iter().map(|loss| (key(loss), loss)).collect();
    keyed.sort_by(|(a, _), (b, _)| b.cmp(a));
    keyed.into_iter().map(|(_, loss)| loss).collect()
}

/// The bound in this order of the losses.
fn in_order<'a>(losses: impl IntoIterator<Item = &'a EpsilonDelta>) -> EpsilonDelta {
    let mut epsilon = Exact::ZERO;
    let mut delta = Exact::ZERO;
    for loss in losses {
        if !loss.delta().is_zero() {
            delta += epsilon.exp(Round::Up).mul(loss.delta(), Round::Up);
        }
        epsilon += loss.epsilon();
    }
    EpsilonDelta::saturating(epsilon, delta)
}

rule! { Hybrid, ApproxDp => ApproxDp, Concurrent, |_rule| crate::Name::new("hybrid") }

impl FixedRule for Hybrid {
    fn compose(&self, losses: &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError> {
        Ok(in_order(best_order(losses)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permutations(items: &[EpsilonDelta]) -> Vec<Vec<EpsilonDelta>> {
        if items.is_empty() {
            return vec![vec![]];
        }
        let mut all = Vec::new();
        for i in 0..items.len() {
            let mut rest = items.to_vec();
            let first = rest.remove(i);
            for mut tail in permutations(&rest) {
                tail.insert(0, first.clone());
                all.push(tail);
            }
        }
        all
    }

    fn loss() -> impl Strategy<Value = EpsilonDelta> {
        (0u32..30, 0u32..50).prop_map(|(epsilon, delta)| {
            let epsilon = Exact::ratio(epsilon.into(), 10).unwrap();
            let delta = Exact::ratio(delta.into(), 1_000_000).unwrap();
            EpsilonDelta::new(epsilon, delta).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_permutation_is_better(losses in proptest::collection::vec(loss(), 0..=5)) {
            let found = Hybrid.compose(&losses).unwrap();
            for order in permutations(&losses) {
                let other = in_order(&order);
                if other.is_infinite() {
                    continue;
                }
                prop_assert_eq!(other.epsilon(), found.epsilon());
                // Both are rounded up, by a relative 1e-15 per term.
                let slack = other.delta().mul(&"1e-13".parse().unwrap(), Round::Up);
                prop_assert!(*found.delta() <= other.delta().clone() + slack);
            }
        }
    }

    #[test]
    fn equal_losses_give_the_geometric_sum() {
        let total = Hybrid
            .compose(&vec!["(0.5, 1e-6)".parse().unwrap(); 3])
            .unwrap();
        let expected = 1e-6 * (1.0 + 0.5f64.exp() + 1f64.exp());
        let found = total.delta().to_f64(Round::Up);
        assert!(found >= expected * (1.0 - 1e-14) && found <= expected * (1.0 + 1e-13));
    }

    #[test]
    fn edges() {
        assert_eq!(Hybrid.compose(&[]), Ok(EpsilonDelta::ZERO));
        assert_eq!(
            Hybrid.compose(&[EpsilonDelta::INFINITY]),
            Ok(EpsilonDelta::INFINITY)
        );
        let huge = Hybrid
            .compose(&vec!["(1000, 1e-6)".parse().unwrap(); 3])
            .unwrap();
        assert_eq!(huge, EpsilonDelta::INFINITY);
    }
}
