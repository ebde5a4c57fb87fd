//! Bounds that need no node: Chernoff's, and the exact formula near the pure limit of randomized responses.

use dashu_ratio::RBig;
use exact::interval::{Float, Interval};

use super::list::List;
use super::nodes::Contour;
use super::scaled::Scaled;
use crate::directed::{interval, rational};
use crate::numbers::{Number, exp};

const BITS: usize = 160;

/// The ε at which Chernoff's bound at the contour's tilt is `target`, rounded up:
/// `(1 − e^{−x})₊ ≤ c·e^{λx}` with `c = λ^λ/(1+λ)^{1+λ}`, so `δ(ε) ≤ c·e^{K(λ) − λε}`.
pub(crate) fn chernoff_epsilon(contour: &Contour, list: &List, target: &Float) -> Option<RBig> {
    let lambda = interval(contour.plan.tilt, BITS);
    let more = &lambda + &Interval::int(1u8, BITS);
    let constant = &(&lambda * &lambda.ln()?) - &(&more * &more.ln()?);
    let gaussian = &interval(list.gaussian, BITS).shifted(-1) * &(&lambda * &more);
    let log = &(&contour.log() + &contour.mass().ln()?) + &gaussian;
    let target = Interval::point(target.clone(), BITS).ln()?;
    let epsilon = (&(&log + &constant) - &target).div(&lambda)?;
    Some(epsilon.hi.to_rational())
}

/// More responses than this are not worth a look at their largest loss: its probability is below `2^-4096`.
const MOST_RESPONSES: u64 = 4096;

/// All responses tell the truth: the sum of the ε and at least the probability. `None` unless the list has nothing else.
fn truth(list: &List) -> Option<(RBig, Interval)> {
    let count = list
        .responses
        .iter()
        .map(|(_, count)| *count)
        .fold(0, u64::saturating_add);
    if list.gaussian > 0.0 || !list.laws.is_empty() || count > MOST_RESPONSES || count == 0 {
        return None;
    }
    let mut probability = Scaled::of(1.0);
    let mut sum = RBig::ZERO;
    for (epsilon, count) in &list.responses {
        let ratio = 1.0 / (1.0 + exp(-epsilon));
        probability = probability.times(Scaled::of(ratio).power(*count));
        sum += rational(*epsilon) * RBig::from(*count);
    }
    // Each factor has 8 units, each product 2.
    let up = interval(1.0 + 16.0 * count as f64 * f64::UNIT, BITS);
    let probability = (&interval(probability.mantissa, BITS) * &up).shifted(probability.exponent);
    Some((sum, probability))
}

/// The second largest loss: all but the smallest response tell the truth.
fn second(list: &List, sum: &RBig) -> Option<RBig> {
    let (smallest, _) = list.responses.last()?;
    Some(sum - rational(*smallest) * RBig::from(2u8))
}

/// `δ = p(1 − e^{ε−Σε})` for `ε` from the second largest loss on, with the probability `p` of the largest.
pub(crate) fn top_delta(list: &List, epsilon: &RBig) -> Option<Float> {
    let (sum, probability) = truth(list)?;
    if *epsilon >= sum {
        return Some(Float::ZERO);
    }
    if *epsilon < second(list, &sum)? {
        return None;
    }
    let gap = Interval::rational(&(epsilon - &sum), BITS).exp()?;
    Some((&probability * &(&Interval::int(1u8, BITS) - &gap)).hi)
}

/// The ε at which that formula gives `target`, rounded up, where it holds.
pub(crate) fn top_epsilon(list: &List, target: &Float) -> Option<RBig> {
    let (sum, probability) = truth(list)?;
    let one = Interval::int(1u8, BITS);
    let share = Interval::point(target.clone(), BITS).div(&probability)?;
    let log = (&one - &share).ln()?;
    let epsilon = &sum + log.hi.to_rational();
    let valid = epsilon >= second(list, &sum)?;
    // ε rounded up: δ there is at most the target.
    valid.then(|| epsilon.min(sum))
}

/// A small margin that grows.
pub(crate) fn margin(x: f64, tilt: f64) -> f64 {
    (4.0 * f64::EPSILON * x.abs())
        .max(1e-12 / tilt)
        .max(f64::MIN_POSITIVE)
}
