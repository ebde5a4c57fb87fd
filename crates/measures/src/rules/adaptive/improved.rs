//! Basic composition with the δs composed as probabilities of independent failures.

use super::search::largest_admitted;
use super::tally::{approx_rule, larger, tally, what_remains};
use crate::{Adaptive, EpsilonDelta, Loss, Tally, Total, TotalLoss};
use exact::{Exact, Round};

/// Improved basic composition: `(Σε, 1 − Π(1−δ_j))` (derived here; for children that are all `(0, δ_j)` it is
/// \[HSV25\] Lemma 5.9).
///
/// A view is a post-processing of randomized responses (\[HST+23\] Thm 1.24). The first of them leaks with probability
/// `δ_1`; otherwise it is `ε_1`-private, and what follows is at most `(ε − ε_1, δ′)` by induction. So the whole is at most
/// `δ_1 + (1 − δ_1)·δ′` at ε, whichever way the rest was chosen.
///
/// Valid as an accumulator (truncated view) and a filter for adaptively chosen `(ε_j, δ_j)`, concurrently under finite
/// communication; not time-uniform. Σε is exact. `−ln(1−δ_j)` is rounded up when it enters, added exactly, and the
/// total δ is rounded up; it is never above the exact Σδ.
///
/// ```
/// use odometry::measures::adaptive::ImprovedBasic;
/// use odometry::measures::{Adaptive, Loss, Tallied, Tally};
/// let rule = ImprovedBasic;
/// let two = rule.start().after(&"(1, 0.5)".parse()?, 2);
/// let total = rule.loss(&two);
/// assert!(total.at_most(&"(2, 0.750000000000001)".parse()?));
/// assert!(!total.at_most(&"(2, 0.749999999999999)".parse()?));
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImprovedBasic;

approx_rule!(ImprovedBasic, ImprovedSum, |_rule| crate::Name::new(
    "improved-basic"
));

impl Adaptive for ImprovedBasic {
    fn loss(&self, tally: &ImprovedSum) -> Total<TotalLoss<Self>> {
        // Both bound the same number from above, so the smaller one does.
        let failure = tally.log_survival.one_minus_exp_neg(Round::Up);
        let delta = if failure < tally.delta {
            failure
        } else {
            tally.delta.clone()
        };
        Total::new(EpsilonDelta::saturating(tally.epsilon.clone(), delta))
    }

    fn within(&self, tally: &ImprovedSum, budget: &EpsilonDelta) -> bool {
        let basic = EpsilonDelta::saturating(tally.epsilon.clone(), tally.delta.clone());
        basic.at_most(budget) || self.loss(tally).at_most(budget)
    }

    fn remaining_within(&self, tally: &ImprovedSum, budget: &EpsilonDelta) -> Option<EpsilonDelta> {
        if budget.is_infinite() {
            return Some(EpsilonDelta::INFINITY);
        }
        let epsilon = what_remains(budget.epsilon(), &tally.epsilon)?;
        let loss = |delta: &Exact| EpsilonDelta::saturating(epsilon.clone(), delta.clone());
        let admits = |delta: &Exact| self.within(&tally.after(&loss(delta), 1), budget);
        let delta = largest_admitted(budget.delta(), admits)?;
        // What the exact sum leaves may be above the largest float.
        let basic = what_remains(budget.delta(), &tally.delta).unwrap_or(Exact::ZERO);
        Some(loss(&larger(&delta, &basic)))
    }
}

tally! {
    /// Exact sums of ε, of δ, and of `−ln(1−δ)` rounded up; each entry rounded up to the grid.
    ImprovedSum, |loss: EpsilonDelta| {
        epsilon: loss.epsilon(),
        delta: loss.delta(),
        log_survival: loss.delta().neg_ln_1m(Round::Up).unwrap_or(Exact::INFINITY),
    }
}
