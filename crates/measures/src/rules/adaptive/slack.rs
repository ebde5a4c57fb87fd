//! Filters and odometers that buy a smaller ε with a slack δ′. All of them bound the total ε by a function of δ′ and of
//! one sum over the children's ε, and solve that function for the sum instead of evaluating it per launch. What the sum
//! and the function are is the [`Concentration`]: [`Whitehouse`](super::Whitehouse) or
//! [`Concentrated`](super::Concentrated).

use super::tally::{approx_rule, tally, what_remains};
use crate::{Adaptive, EpsilonDelta, FilterRule, RuleError, Total, TotalLoss};
use exact::{Exact, Parameter, Round};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A bound on the total ε from `log ≥ ln(1/δ′)` and a sum with one entry per child. The inequalities of
/// [`epsilon`](Concentration::epsilon) and [`threshold`](Concentration::threshold) must both imply that of the theorem.
/// Sealed: its theorems are proved for the two implementations in this crate.
pub trait Concentration:
    sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static
{
    /// What it is written down as.
    const NAME: &'static str;

    /// A child's entry in the sum, rounded up.
    fn entry(epsilon: &Exact) -> Exact;

    /// The bound on the total ε, rounded up.
    fn epsilon(log: &Exact, sum: &Exact) -> Exact;

    /// The largest sum for which the bound is at most ε, rounded down.
    fn threshold(log: &Exact, epsilon: &Exact) -> Exact;

    /// The largest ε on the grid whose entry is at most `rest`, rounded down.
    fn largest(rest: &Exact) -> Exact;
}

pub(super) mod sealed {
    /// Only for this crate's concentrations.
    pub trait Sealed {}
}

/// `ln(1/δ)` rounded up, for δ in (0, 1).
pub(super) fn log_inverse(name: &str, delta: &Exact) -> Result<Exact, RuleError> {
    match delta.neg_ln(Round::Up) {
        Some(log) if log.is_finite() && *delta < Exact::ONE => Ok(log),
        _ => Err(RuleError::parameter(
            name,
            delta,
            "a probability above 0 and below 1",
        )),
    }
}

/// A filter with a slack δ′: launches fit a budget `(ε, δ)` while the concentration's bound at δ′ is at most ε and
/// `δ′ + Σδ ≤ δ`. See [`WhitehouseFilter`](super::WhitehouseFilter) and [`ConcentratedFilter`](super::ConcentratedFilter).
#[derive(Clone, Debug, PartialEq)]
pub struct SlackFilter<C> {
    slack: Exact,
    log: Exact,
    concentration: PhantomData<C>,
}

impl<C: Concentration> SlackFilter<C> {
    /// The filter with this δ′, above 0 and below 1.
    pub fn new(slack: impl Parameter) -> Result<Self, RuleError> {
        let slack = RuleError::read("δ′", slack)?;
        let log = log_inverse("δ′", &slack)?;
        Ok(SlackFilter {
            slack,
            log,
            concentration: PhantomData,
        })
    }
}

/// What a [`SlackFilter`] solved from its budget.
#[derive(Clone, Debug, PartialEq)]
pub struct SlackGate {
    epsilon: Exact,
    sum: Exact,
    delta: Exact,
}

approx_rule!(SlackFilter<C: Concentration>, SlackTally<C>, |rule| {
    crate::Name::new(C::NAME).with("slack", rule.slack.text())
});

impl<C: Concentration> FilterRule for SlackFilter<C> {
    type Gate = SlackGate;

    fn open(&self, budget: &EpsilonDelta) -> Result<SlackGate, RuleError> {
        if budget.is_infinite() {
            return Err(RuleError::budget(
                budget,
                "it allows everything; use an odometer",
            ));
        }
        let Some(delta) = budget.delta().checked_sub(&self.slack) else {
            let reason = format!("its δ is below the rule's own δ′ = {}", self.slack);
            return Err(RuleError::budget(budget, &reason));
        };
        let sum = C::threshold(&self.log, budget.epsilon());
        Ok(SlackGate {
            epsilon: budget.epsilon().clone(),
            sum,
            delta,
        })
    }

    #[inline]
    fn fits(&self, gate: &SlackGate, tally: &SlackTally<C>) -> bool {
        tally.sum <= gate.sum && tally.delta <= gate.delta
    }

    fn remaining(&self, gate: &SlackGate, tally: &SlackTally<C>) -> Option<EpsilonDelta> {
        let epsilon = C::largest(&what_remains(&gate.sum, &tally.sum)?);
        let delta = what_remains(&gate.delta, &tally.delta)?;
        Some(EpsilonDelta::saturating(epsilon, delta))
    }

    fn spent(&self, gate: &SlackGate, tally: &SlackTally<C>) -> Total<TotalLoss<Self>> {
        if !tally.launched {
            return Total::new(EpsilonDelta::ZERO);
        }
        let epsilon = C::epsilon(&self.log, &tally.sum);
        // What fits is within the budget, whatever rounding adds to it.
        let epsilon = match self.fits(gate, tally) && epsilon > gate.epsilon {
            true => gate.epsilon.clone(),
            false => epsilon,
        };
        Total::new(EpsilonDelta::saturating(
            epsilon,
            &self.slack + &tally.delta,
        ))
    }
}

/// An odometer with a slack δ′: the total is the concentration's bound at δ′, with δ, while `δ′ + Σδ ≤ δ`, and infinite
/// beyond. See [`WhitehouseOdometer`](super::WhitehouseOdometer) and
/// [`ConcentratedOdometer`](super::ConcentratedOdometer).
#[derive(Clone, Debug, PartialEq)]
pub struct SlackOdometer<C> {
    log: Exact,
    delta: Exact,
    children: Exact,
    concentration: PhantomData<C>,
}

impl<C: Concentration> SlackOdometer<C> {
    /// The odometer with this δ′ and this δ, where 0 < δ′ ≤ δ < 1; the children may have `δ − δ′` together.
    pub fn new(slack: impl Parameter, delta: impl Parameter) -> Result<Self, RuleError> {
        let (slack, delta) = (RuleError::read("δ′", slack)?, RuleError::read("δ", delta)?);
        let log = log_inverse("δ′", &slack)?;
        log_inverse("δ", &delta)?;
        let Some(children) = delta.checked_sub(&slack) else {
            return Err(RuleError::parameter("δ′", &slack, "at most δ"));
        };
        Ok(SlackOdometer {
            log,
            delta,
            children,
            concentration: PhantomData,
        })
    }
}

approx_rule!(SlackOdometer<C: Concentration>, SlackTally<C>, |rule| {
    let name = crate::Name::new(C::NAME).with("delta", rule.delta.text());
    name.with("children", rule.children.text())
});

impl<C: Concentration> Adaptive for SlackOdometer<C> {
    fn loss(&self, tally: &SlackTally<C>) -> Total<TotalLoss<Self>> {
        Total::new(match tally.launched {
            false => EpsilonDelta::ZERO,
            true if tally.delta > self.children => EpsilonDelta::INFINITY,
            true => {
                let epsilon = C::epsilon(&self.log, &tally.sum);
                EpsilonDelta::saturating(epsilon, self.delta.clone())
            }
        })
    }

    fn within(&self, tally: &SlackTally<C>, budget: &EpsilonDelta) -> bool {
        // Two sufficient conditions for one inequality; the second is the one that `remaining_within` solves.
        self.loss(tally).at_most(budget)
            || tally.delta <= self.children
                && self.delta <= *budget.delta()
                && tally.sum <= C::threshold(&self.log, budget.epsilon())
    }

    fn remaining_within(
        &self,
        tally: &SlackTally<C>,
        budget: &EpsilonDelta,
    ) -> Option<EpsilonDelta> {
        if budget.is_infinite() {
            return Some(EpsilonDelta::INFINITY);
        }
        if self.delta > *budget.delta() {
            return None;
        }
        let delta = what_remains(&self.children, &tally.delta)?;
        let rest = what_remains(&C::threshold(&self.log, budget.epsilon()), &tally.sum)?;
        Some(EpsilonDelta::saturating(C::largest(&rest), delta))
    }
}

tally! {
    /// The exact sums of the children's entries and of their δs, each rounded up to the grid.
    SlackTally<C: Concentration>, |loss: EpsilonDelta| {
        sum: C::entry(loss.epsilon()),
        delta: loss.delta(),
    }
}
