//! What the rules of \[RRUV16\] share: their sums, and the self-normalized bound of its Thm 4.3.

use super::search::{half, largest_admitted, short};
use super::slack::log_inverse;
use super::tally::{square, tally, what_remains};
use crate::{EpsilonDelta, RuleError, Tally, Total};
use exact::{Exact, Round};

tally! {
    /// The exact sums of `ε(e^ε−1)/2` (each rounded up to 53 bits, so that the sum stays short), of ε² (each rounded up
    /// to 128 bits if it is longer) and of δ, each rounded up to the grid.
    RogersTally, |loss: EpsilonDelta| {
        drift: drift(loss.epsilon()),
        squares: square(loss.epsilon()),
        delta: loss.delta(),
    }
}

impl RogersTally {
    pub(super) fn launched(&self) -> bool {
        self.launched
    }

    pub(super) fn drift(&self) -> &Exact {
        &self.drift
    }

    pub(super) fn squares(&self) -> &Exact {
        &self.squares
    }

    pub(super) fn delta(&self) -> &Exact {
        &self.delta
    }

    /// Nothing before the first launch; infinite where the children have used up more than their δ.
    pub(super) fn total(
        &self,
        children: &Exact,
        total: impl FnOnce() -> EpsilonDelta,
    ) -> Total<EpsilonDelta> {
        Total::new(match self.launched {
            false => EpsilonDelta::ZERO,
            true if self.delta > *children => EpsilonDelta::INFINITY,
            true => total(),
        })
    }

    /// The largest loss after which the sums are `within` the budget, with all of the δ that the children have left.
    pub(super) fn remaining(
        &self,
        children: &Exact,
        budget: &EpsilonDelta,
        within: impl Fn(&Self) -> bool,
    ) -> Option<EpsilonDelta> {
        if budget.is_infinite() {
            return Some(EpsilonDelta::INFINITY);
        }
        let delta = what_remains(children, &self.delta)?;
        let loss = |epsilon: &Exact| EpsilonDelta::saturating(epsilon.clone(), delta.clone());
        let epsilon = largest_admitted(budget.epsilon(), |epsilon| {
            within(&self.after(&loss(epsilon), 1))
        })?;
        Some(loss(&epsilon))
    }
}

/// `ε(e^ε−1)/2`, rounded up to 53 bits (\[RRUV16\] Lemma 4.4).
fn drift(epsilon: &Exact) -> Exact {
    short(&half(
        &epsilon.mul(&epsilon.exp_m1(Round::Up), Round::Up),
        Round::Up,
    ))
}

/// `√(2(V+β)(1 + ½ ln(V/β + 1))·L)`, rounded up, for every β in the interval `[low, high]`.
pub(super) fn deviation(squares: &Exact, (low, high): (&Exact, &Exact), log: &Exact) -> Exact {
    let ratio = squares.div(low, Round::Up);
    let factor = Exact::ONE + half(&ratio.ln_1p(Round::Up), Round::Up);
    let product = (squares + high).times(2).mul(&factor, Round::Up);
    product.mul(log, Round::Up).sqrt(Round::Up)
}

/// The same, roughly: to choose where to evaluate it.
pub(super) fn rough_deviation(squares: f64, beta: f64, log: f64) -> f64 {
    (2.0 * (squares + beta) * (1.0 + 0.5 * (squares / beta).ln_1p()) * log).sqrt()
}

/// `ln(1/δ_g)` rounded up, for δ_g in (0, 1/e).
pub(super) fn log_delta(delta: &Exact) -> Result<Exact, RuleError> {
    let log = log_inverse("δ_g", delta)?;
    match delta.neg_ln(Round::Down) {
        Some(lower) if lower > Exact::ONE => Ok(log),
        _ => Err(RuleError::parameter("δ_g", delta, "above 0 and below 1/e")),
    }
}

/// `ln 2` rounded up.
pub(super) fn ln_2() -> Exact {
    Exact::ONE.ln_1p(Round::Up)
}
