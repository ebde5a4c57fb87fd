//! The odometers of \[RRUV16\] (Thm 6.5 and Lemma 6.4), in the sense of the truncated view.

use super::rogers::{RogersTally, deviation, ln_2, log_delta, rough_deviation};
use super::search::half;
use super::tally::approx_rule;
use crate::{Adaptive, EpsilonDelta, RuleError, Total, TotalLoss};
use exact::{Exact, Parameter, Round};
use std::sync::Arc;

/// The most values of β that a grid may have.
const MOST_BETAS: u32 = 256;

/// The odometer of \[RRUV16\]: the total is
/// `Σ ε(e^ε−1)/2 + min over β of √(2(Σε²+β)(1 + ½ ln(1 + Σε²/β)) ln(2m/δ_g))` with δ_g while `Σδ ≤ δ_g/2`, and infinite
/// beyond. The m values of β are fixed in advance:
///
/// - [`new`](RogersOdometer::new): `β = 2^i/n²` for `0 ≤ i < m = ⌈log₂ n²⌉` (\[RRUV16\] Thm 6.5 in the form of its
///   proof, the union bound with the best β: the printed two-case form is not monotone);
/// - [`with_granularity`](RogersOdometer::with_granularity): any γ < 1 in place of 1/n²;
/// - [`with_beta`](RogersOdometer::with_beta): one β (\[RRUV16\] Lemma 6.4).
///
/// Valid as an accumulator (truncated view) and a filter for adaptively chosen `(ε_j, δ_j)` with δ_g < 1/e, concurrently
/// under finite communication; for the time-uniform guarantee of the paper, which holds for pure children only, see
/// [`TimeUniformRogers`](super::TimeUniformRogers). Sums are exact; entries and the total are rounded up. The best β is
/// chosen in floating point: a poor choice would only make the bound larger.
///
/// ```
/// use odometry::measures::adaptive::RogersOdometer;
/// use odometry::measures::{Adaptive, Tallied, Tally};
/// let rule = RogersOdometer::new("0.01", 1024)?;
/// let zero = rule.start().after(&"(0, 0.005)".parse()?, 1);
/// assert!(rule.within(&zero, &"(0.003978, 0.01)".parse()?));
/// assert!(!rule.within(&zero, &"(0.003977, 0.01)".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RogersOdometer {
    delta: Exact,
    children: Exact,
    betas: Arc<[Exact]>,
    /// `ln(2m/δ_g)`.
    log: Exact,
}

impl RogersOdometer {
    /// The odometer for about `n ≥ 2` people, with δ_g above 0 and below 1/e.
    pub fn new(delta: impl Parameter, n: u64) -> Result<Self, RuleError> {
        let square = u128::from(n) * u128::from(n);
        match Exact::ratio(1, square) {
            Ok(granularity) if n >= 2 => Self::with_granularity(delta, granularity),
            _ => Err(RuleError::parameter("n", &n, "at least 2")),
        }
    }

    /// The odometer with the values `γ, 2γ, 4γ, …` below 1 for β.
    pub fn with_granularity(
        delta: impl Parameter,
        granularity: impl Parameter,
    ) -> Result<Self, RuleError> {
        let granularity = RuleError::read("the granularity", granularity)?;
        let doubled = std::iter::successors(Some(granularity.clone()), |beta| Some(beta.times(2)));
        let most = MOST_BETAS as usize + 1;
        let betas: Vec<Exact> = doubled
            .take_while(|beta| *beta < Exact::ONE)
            .take(most)
            .collect();
        if granularity.is_zero() || betas.is_empty() || betas.len() == most {
            let expected = "below 1 and at least 2^-256";
            return Err(RuleError::parameter(
                "the granularity",
                &granularity,
                expected,
            ));
        }
        Self::with_betas(delta, betas)
    }

    /// The odometer with one β above 0, chosen in advance: best where Σε² will be close to β.
    pub fn with_beta(delta: impl Parameter, beta: impl Parameter) -> Result<Self, RuleError> {
        let beta = RuleError::read("β", beta)?;
        if beta.is_zero() || beta.is_infinite() {
            return Err(RuleError::parameter("β", &beta, "above 0 and finite"));
        }
        Self::with_betas(delta, vec![beta])
    }

    fn with_betas(delta: impl Parameter, betas: Vec<Exact>) -> Result<Self, RuleError> {
        let delta = RuleError::read("δ_g", delta)?;
        let many = Exact::from(betas.len() as u64)
            .ln(Round::Up)
            .unwrap_or(Exact::INFINITY);
        let log = log_delta(&delta)? + ln_2() + many;
        Ok(RogersOdometer {
            children: half(&delta, Round::Down),
            delta,
            betas: betas.into(),
            log,
        })
    }

    /// The bound on the ε, rounded up.
    fn epsilon(&self, tally: &RogersTally) -> Exact {
        let squares = tally.squares().to_f64(Round::Up);
        let rough = |beta: &Exact| rough_deviation(squares, beta.to_f64(Round::Up), 1.0);
        let best = self
            .betas
            .iter()
            .min_by(|a, b| rough(a).total_cmp(&rough(b)));
        match best {
            Some(beta) => tally.drift() + deviation(tally.squares(), (beta, beta), &self.log),
            None => Exact::INFINITY,
        }
    }
}

approx_rule!(RogersOdometer, RogersTally, |rule| {
    let betas: Vec<String> = rule.betas.iter().map(Exact::text).collect();
    let name = crate::Name::new("rogers-odometer").with("delta", rule.delta.text());
    name.with("children", rule.children.text())
        .with("betas", betas.join(" "))
});

impl Adaptive for RogersOdometer {
    fn loss(&self, tally: &RogersTally) -> Total<TotalLoss<Self>> {
        tally.total(&self.children, || {
            EpsilonDelta::saturating(self.epsilon(tally), self.delta.clone())
        })
    }

    fn remaining_within(&self, tally: &RogersTally, budget: &EpsilonDelta) -> Option<EpsilonDelta> {
        tally.remaining(&self.children, budget, |after| self.within(after, budget))
    }
}
