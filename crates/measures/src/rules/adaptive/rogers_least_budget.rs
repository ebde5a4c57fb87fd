//! The filter of \[RRUV16\] Thm 5.1 with its accumulator.

use super::rogers::{RogersTally, deviation, ln_2, log_delta, rough_deviation};
use super::search::half;
use super::tally::approx_rule;
use crate::{Adaptive, EpsilonDelta, RuleError, Total, TotalLoss};
use exact::{Exact, Parameter, Round};

/// The filter of \[RRUV16\]: launches fit a budget `(ε_g, δ_g)` while `Σδ ≤ δ_g/2` and
/// `K = Σ ε(e^ε−1)/2 + √(2(Σε²+β)(1 + ½ ln(Σε²/β + 1)) ln(2/δ_g)) ≤ ε_g`, where `β = ε_g²/(28.04 ln(1/δ_g))`
/// (\[RRUV16\] Thm 5.1, whose text as we have it shows `ln(2/δ_g)` outside of the root). As an accumulator, its total
/// is the least ε_g that would have fitted, with δ_g: `K ≤ ε_g` stays true as ε_g grows, so \[HST+23\] Lemma 2.19
/// applies.
///
/// Valid as a filter and an accumulator (truncated view) for adaptively chosen `(ε_j, δ_j)`, δ_g < 1/e fixed in advance,
/// concurrently under finite communication; not time-uniform. Historical: a
/// [`WhitehouseFilter`](super::WhitehouseFilter) with δ′ = δ_g/2 admits more. Sums are exact; entries, K and the total are
/// rounded up.
///
/// ```
/// use odometry::measures::adaptive::RogersLeastBudget;
/// use odometry::measures::{FilterRule, Tallied, Tally};
/// let rule = RogersLeastBudget::new("1e-6")?;
/// let gate = rule.open(&"(1, 1e-6)".parse()?)?;
/// assert!(rule.fits(&gate, &rule.start().after(&"(0.01, 0)".parse()?, 120)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RogersLeastBudget {
    delta: Exact,
    children: Exact,
    /// `ln(2/δ_g)`.
    log: Exact,
    /// `28.04·ln(1/δ_g)`, from below and from above.
    constant: (Exact, Exact),
}

impl RogersLeastBudget {
    /// The filter with this δ_g, above 0 and below 1/e. Budgets have at least this δ.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        let delta = RuleError::read("δ_g", delta)?;
        let log = log_delta(&delta)?;
        let lower = delta.neg_ln(Round::Down).unwrap_or(Exact::ZERO);
        let factor = Exact::ratio(2804, 100).unwrap_or(Exact::INFINITY);
        let constant = (lower.mul(&factor, Round::Down), log.mul(&factor, Round::Up));
        Ok(RogersLeastBudget {
            children: half(&delta, Round::Down),
            log: log + ln_2(),
            constant,
            delta,
        })
    }

    /// K for the budget ε_g, rounded up.
    fn k(&self, tally: &RogersTally, epsilon: &Exact) -> Exact {
        if tally.squares().is_zero() {
            return Exact::ZERO; // no launch had an ε: nothing to bound
        }
        let low = epsilon
            .mul(epsilon, Round::Down)
            .div(&self.constant.1, Round::Down);
        let high = epsilon
            .mul(epsilon, Round::Up)
            .div(&self.constant.0, Round::Up);
        tally.drift() + deviation(tally.squares(), (&low, &high), &self.log)
    }

    /// An ε_g with `K(ε_g) ≤ ε_g` close to the least one: found roughly, then raised until it is certain.
    fn least_epsilon(&self, tally: &RogersTally) -> Exact {
        if tally.squares().is_zero() {
            return Exact::ZERO;
        }
        let mut epsilon = Exact::try_from(self.rough_epsilon(tally)).unwrap_or(Exact::INFINITY);
        let mut excess = Exact::try_from(2f64.powi(-48)).unwrap_or(Exact::ONE);
        while self.k(tally, &epsilon) > epsilon {
            epsilon = &epsilon + &epsilon.mul(&excess, Round::Up);
            excess = excess.times(2);
        }
        epsilon
    }

    fn rough_epsilon(&self, tally: &RogersTally) -> f64 {
        let [drift, squares, log, constant] =
            [tally.drift(), tally.squares(), &self.log, &self.constant.0]
                .map(|x| x.to_f64(Round::Up));
        let fits = |x: f64| drift + rough_deviation(squares, x * x / constant, log) <= x;
        // Without β the deviation would be smaller, so this does not fit.
        let mut low = drift + (2.0 * squares * log).sqrt();
        let mut high = 2.0 * low;
        while high.is_finite() && !fits(high) {
            (low, high) = (high, 2.0 * high);
        }
        while high.is_finite() && high - low > high * 1e-15 {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            (low, high) = if fits(middle) {
                (low, middle)
            } else {
                (middle, high)
            };
        }
        high
    }
}

approx_rule!(RogersLeastBudget, RogersTally, |rule| {
    let name = crate::Name::new("rogers-least-budget").with("delta", rule.delta.text());
    name.with("children", rule.children.text())
});

impl Adaptive for RogersLeastBudget {
    fn loss(&self, tally: &RogersTally) -> Total<TotalLoss<Self>> {
        tally.total(&self.children, || {
            EpsilonDelta::saturating(self.least_epsilon(tally), self.delta.clone())
        })
    }

    fn within(&self, tally: &RogersTally, budget: &EpsilonDelta) -> bool {
        !tally.launched()
            || budget.is_infinite()
            || *tally.delta() <= self.children
                && self.delta <= *budget.delta()
                && self.k(tally, budget.epsilon()) <= *budget.epsilon()
    }

    fn remaining_within(&self, tally: &RogersTally, budget: &EpsilonDelta) -> Option<EpsilonDelta> {
        tally.remaining(&self.children, budget, |after| self.within(after, budget))
    }
}
