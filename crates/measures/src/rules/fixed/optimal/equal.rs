//! The loss of `k` equal randomized responses: binomial weights by their ratios, in a window
//! around the mode that holds all but a certified remainder. This is the numeric core of optimal composition with equal
//! parameters.
//!
//! Every stored weight is rounded down, step by step, so it lies below the true one by a relative
//! error that grows linearly with the window; the sums inherit that. No logarithm of a factorial
//! and no overflow: weights are relative to the mode, and the sum of all of them normalises.

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};

use super::least_epsilon::LossTail;
use exact::interval::{Float, Interval};

/// Suffix sums of the binomial weights `w_i`, `i` counting the responses that tell the truth.
pub(super) struct EqualLoss {
    epsilon: RBig,
    k: u64,
    bits: usize,
    /// The index of the first kept weight.
    first: u64,
    /// `Σ_{l ≥ i} w_l`, rounded down.
    sums: Vec<Float>,
    /// `Σ_{l ≥ i} w_l e^(−2(l−i)ε)`, rounded down.
    discounted: Vec<Float>,
    /// All weights above the window sum to at most this.
    above: Float,
    /// All weights below the window sum to at most this.
    below: Float,
    /// True sums are at most the stored ones times this.
    inflation: Float,
}

impl EqualLoss {
    /// For `k ≥ 1` responses of finite `ε > 0`; masses below `smallest` need not be resolved. `None` if the window
    /// would be too long.
    pub(super) fn new(epsilon: &Exact, k: u64, smallest: &Float, bits: usize) -> Option<EqualLoss> {
        let epsilon = epsilon.to_rational()?;
        let rate = Interval::rational(&epsilon, bits + 64);
        let odds = rate.exp()?.with_bits(bits);
        let reverse = (-&rate).exp()?.with_bits(bits);
        let discount = (-&rate.shifted(1)).exp()?.with_bits(bits);
        let mode = mode(rate.lo.approximate(), k);
        let up = Side::walk(
            k - mode,
            mode,
            &odds,
            smallest.magnitude().min(0) - bits as i64,
        )?;
        let down = Side::walk(mode, k - mode, &reverse, -(bits as i64))?;
        let steps = (up.weights.len() + down.weights.len()) as u64;
        let first = mode - down.weights.len() as u64;
        let mut weights = down.weights;
        weights.reverse();
        weights.push(Float::one());
        weights.extend(up.weights);
        let (sums, discounted) = suffix_sums(weights, &discount.lo, bits);
        Some(EqualLoss {
            epsilon,
            k,
            bits,
            first,
            sums,
            discounted,
            above: up.rest,
            below: down.rest,
            inflation: inflation(steps, &[odds, reverse, discount], bits)?,
        })
    }

    /// The first index whose loss `(2i−k)ε` is above `x`.
    fn first_above(&self, x: &Float) -> u64 {
        let turns = (x.to_rational() / &self.epsilon + RBig::from(self.k)) / RBig::from(2u8);
        let index = turns.floor() + IBig::ONE;
        u64::try_from(index).unwrap_or(if x.is_negative() { 0 } else { self.k + 1 })
    }

    fn inflated(&self, sum: &Float) -> Float {
        sum.mul(&self.inflation, self.bits, Round::Up)
    }

    /// `Σ_{l ≥ i} w_l` and `Σ_{l ≥ i} w_l e^(−2(l−i)ε)` for `i` at or above the window's start.
    fn sums_from(&self, index: u64) -> (Interval, Interval) {
        let at = (index - self.first) as usize;
        let enclose = |sums: &[Float]| {
            let sum = sums.get(at).cloned().unwrap_or(Float::ZERO);
            let hi = self.inflated(&sum).add(&self.above, self.bits, Round::Up);
            Interval::new(sum, hi, self.bits)
        };
        (enclose(&self.sums), enclose(&self.discounted))
    }
}

impl LossTail for EqualLoss {
    fn tail(&self, x: &Float) -> Option<(Interval, Interval)> {
        let index = self.first_above(x);
        let from = index.max(self.first);
        let (mut p, discounted) = self.sums_from(from);
        // e^(−(2i−k)ε) turns the discounted sum into a sum of Q's weights.
        let loss = RBig::from(2u8) * RBig::from(from) - RBig::from(self.k);
        let loss = Interval::rational(&(loss * &self.epsilon), self.bits + 64);
        let mut q = &discounted * &(-&loss).exp()?.with_bits(self.bits);
        if index < self.first {
            // Where the loss is above x, Q's weights are below e^(−x) times P's.
            let scale = (-&Interval::point(x.clone(), self.bits)).exp()?.hi;
            let q_below = self.below.mul(&scale, self.bits, Round::Up);
            p.hi = p.hi.add(&self.below, self.bits, Round::Up);
            q.hi = q.hi.add(&q_below, self.bits, Round::Up);
        }
        let total = self.sums_from(self.first).0;
        let total = &total + &Interval::new(Float::ZERO, self.below.clone(), self.bits);
        Some((p.div(&total)?, q.div(&total)?))
    }

    fn largest(&self) -> Float {
        let sum = &self.epsilon * RBig::from(self.k);
        Float::from_rational(&sum, self.bits, Round::Up)
    }
}

/// An index near the largest weight; any index would do.
fn mode(epsilon: f64, k: u64) -> u64 {
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    ((k as f64 * truth) as u64).min(k)
}

/// The weights on one side of the mode, relative to it.
struct Side {
    weights: Vec<Float>,
    /// An upper bound on the sum of all weights beyond.
    rest: Float,
}

/// Steps between two looks at whether the rest is negligible.
const LOOK_EVERY: u64 = 32;
/// Longer walks are given up: they would take seconds and hundreds of megabytes.
const FARTHEST: u64 = 1 << 21;

impl Side {
    /// Walks away from an index with `ahead` others in front and `behind` at its back: the ratio
    /// of step `n` is `odds·(ahead−n)/(behind+n+1)`, falling, so a geometric series bounds the rest.
    /// Stops when the rest is below `2^stop`; `None` if that is too far away.
    fn walk(ahead: u64, behind: u64, odds: &Interval, stop: i64) -> Option<Side> {
        let bits = odds.bits;
        let mut weights = Vec::new();
        let mut weight = Float::one();
        for n in 0..ahead {
            if n % LOOK_EVERY == 0
                && let Some(rest) = rest(&weight, ahead - n, behind + n + 1, &odds.hi, bits)
                && rest.magnitude() < stop
            {
                return Some(Side { weights, rest });
            }
            if n == FARTHEST {
                return None;
            }
            weight = weight.mul(&odds.lo, bits, Round::Down).times_ratio(
                ahead - n,
                behind + n + 1,
                bits,
            );
            weights.push(weight.clone());
        }
        Some(Side {
            weights,
            rest: Float::ZERO,
        })
    }
}

/// `2 w q/(1−q)` with `q` the next ratio; `None` while `q` may reach one. The factor two covers
/// the rounding of `w`.
fn rest(weight: &Float, ahead: u64, behind: u64, odds: &Float, bits: usize) -> Option<Float> {
    let ratio = odds.mul(&Float::from_int(ahead), bits, Round::Up).div(
        &Float::from_int(behind),
        bits,
        Round::Up,
    )?;
    let gap = Float::one().add(&ratio.neg(), bits, Round::Down);
    if !gap.is_positive() {
        return None;
    }
    weight
        .shifted(1)
        .mul(&ratio, bits, Round::Up)
        .div(&gap, bits, Round::Up)
}

fn suffix_sums(weights: Vec<Float>, discount: &Float, bits: usize) -> (Vec<Float>, Vec<Float>) {
    let mut sums = weights.clone();
    let mut discounted = weights;
    for i in (0..sums.len().saturating_sub(1)).rev() {
        sums[i] = sums[i].add(&sums[i + 1], bits, Round::Down);
        let later = discounted[i + 1].mul(discount, bits, Round::Down);
        discounted[i] = discounted[i].add(&later, bits, Round::Down);
    }
    (sums, discounted)
}

/// Each weight took at most three relative errors per step from the mode (the constant and two
/// roundings), each place of a sum at most three more, each of at most `unit`; and
/// `1/(1−unit)^m ≤ 1 + 2m·unit` while `m·unit ≤ 1/2`.
fn inflation(steps: u64, constants: &[Interval], bits: usize) -> Option<Float> {
    let mut unit = Float::power_of_two(1 - bits as i64);
    for constant in constants {
        let width = constant.hi.add(&constant.lo.neg(), bits, Round::Up);
        unit = unit.max(width.div(&constant.lo, bits, Round::Up)?);
    }
    let excess = unit
        .mul(&Float::from_int(steps + 2), bits, Round::Up)
        .shifted(4);
    (excess.magnitude() < -1).then(|| Float::one().add(&excess, bits, Round::Up))
}
