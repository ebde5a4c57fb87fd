//! Profiles of noise on the integers. The loss falls in steps as the answer grows, so the best events are prefixes:
//! `δ(γ) = max_k P(X < k) − γ·P(X < k − Δ)`.

use std::sync::OnceLock;

use exact::interval::Interval;

use super::curve::{BITS, enclosed, positive, spread};
use crate::directed::interval;
use crate::laws::{DiscreteGaussian, DiscreteLaplace};
use crate::numbers::Number;

/// Standard deviations up to here are summed.
const WIDEST: f64 = 1000.0;
/// Losses that lie nearer are not told apart.
const NEAREST: f64 = 1e-9;

/// Noise on the integers at distance Δ, whose loss at `x` is `step·(Δ − 2x)/2`, at least between 0 and Δ.
pub(super) struct Steps {
    step: f64,
    distance: u64,
    noise: Noise,
}

enum Noise {
    /// The rate.
    Laplace(Interval),
    Gaussian(Box<Table>),
}

impl Steps {
    pub(super) fn of_laplace(law: &DiscreteLaplace) -> Option<Steps> {
        (law.rate > NEAREST && law.distance <= 1 << 20).then(|| Steps {
            step: 2.0 * law.rate,
            distance: law.distance,
            noise: Noise::Laplace(interval(law.rate, BITS)),
        })
    }

    pub(super) fn of_gaussian(law: &DiscreteGaussian) -> Option<Steps> {
        let square = law.square.near();
        let step = 2.0 * law.distance as f64 / (2.0 * square);
        let far = law.distance as f64 > 40.0 * square.sqrt();
        (square <= WIDEST * WIDEST && step > NEAREST && !far).then(|| Steps {
            step,
            distance: law.distance,
            noise: Noise::Gaussian(Box::new(Table::new(enclosed(&law.square), square))),
        })
    }

    /// Some of the losses, as odds.
    pub(super) fn corners(&self) -> Vec<f64> {
        let d = self.distance as f64;
        let odds = |x: f64| (0.5 * self.step * (d - 2.0 * x)).exp();
        match &self.noise {
            Noise::Laplace(_) => {
                let most = self.distance.min(320);
                let at = |i: u64| odds((d * i as f64 / most as f64).round());
                // A little above the largest loss nothing is left.
                let top = (0.5 * self.step * d * (1.0 + 1e-14) + 1e-14).exp();
                (1..=most).map(at).chain([top]).collect()
            }
            Noise::Gaussian(table) => {
                let middle = 0.5 * d;
                spread(|x| odds((middle + x * table.deviation).round())).collect()
            }
        }
    }

    /// δ at odds γ, enclosed.
    ///
    /// `P(x) − γ·P(x − Δ)` is positive where the loss at x is above `ln γ`, and that falls in x: the best prefix ends where it is
    /// passed, which floating point finds up to one place, because losses are [`NEAREST`] apart at least.
    pub(super) fn delta(&self, gamma: &Interval) -> Option<Interval> {
        let (low, high) = (gamma.lo.approximate().ln(), gamma.hi.approximate().ln());
        if !(low.abs() < 600.0 && high - low < NEAREST * 1e-3) {
            return None;
        }
        let d = self.distance as f64;
        let passed = (0.5 * (d - 2.0 * low / self.step)).round();
        // Below 0 and above Δ the loss of Laplace noise is constant.
        let last = match &self.noise {
            Noise::Laplace(_) => d + 1.0,
            Noise::Gaussian(_) => f64::INFINITY,
        };
        let mut best = positive(&Interval::int(1u8, BITS) - gamma);
        for k in [-1.0, 0.0, 1.0, 2.0].map(|by| (passed + by).min(last)) {
            let (p, q) = (self.below(k)?, self.below(k - d)?);
            let here = positive(&p - &(gamma * &q));
            best = Interval::new(best.lo.max(here.lo), best.hi.max(here.hi), BITS);
        }
        Some(best)
    }

    /// `P(X < k)`.
    fn below(&self, k: f64) -> Option<Interval> {
        match &self.noise {
            Noise::Laplace(rate) => {
                // With q = e^−a: `q^{1−k}/(1+q)` for k ≤ 1, otherwise `1 − q^k/(1+q)`.
                let one = Interval::int(1u8, BITS);
                let base = &one + &(-rate).exp()?;
                let power = if k <= 1.0 { 1.0 - k } else { k };
                let tail = (-&(rate * &interval(power, BITS))).exp()?.div(&base)?;
                Some(if k <= 1.0 { tail } else { &one - &tail })
            }
            Noise::Gaussian(table) => table.below(k),
        }
    }
}

/// Sums of `e^{−x²/2σ²}` from the left, up to 15 standard deviations.
struct Table {
    square: Interval,
    deviation: f64,
    reach: i64,
    sums: OnceLock<Option<Sums>>,
}

struct Sums {
    /// Up to but without `k − reach`.
    below: Vec<Interval>,
    total: Interval,
}

impl Table {
    fn new(square: Interval, near: f64) -> Table {
        let deviation = near.sqrt();
        Table {
            square,
            deviation,
            reach: (15.0 * deviation + 2.0).ceil() as i64,
            sums: OnceLock::new(),
        }
    }

    /// The weights next to each other have the ratio `e^{−(2x+1)/2σ²}`, whose own ratios are constant.
    fn sums(&self) -> Option<Sums> {
        let one = Interval::int(1u8, BITS);
        let inverse = one.div(&self.square.shifted(1))?;
        let bits = BITS + 64;
        let constant = (-&inverse.shifted(1)).exp()?.with_bits(bits);
        let (mut weight, mut ratio) = (one.with_bits(bits), (-&inverse).exp()?.with_bits(bits));
        let mut half = vec![weight.clone()];
        for _ in 0..self.reach {
            weight = &weight * &ratio;
            ratio = &ratio * &constant;
            half.push(weight.clone());
        }
        // Beyond R the sum is at most `∫_R^∞ e^{−x²/2σ²} dx ≤ e^{−R²/2σ²}·σ²/R`.
        let reach = Interval::int(self.reach, BITS);
        let tail = &half.last()?.with_bits(BITS) * &self.square.div(&reach)?;
        let tail = Interval::int(0u8, BITS).hull(tail);
        let mut sum = tail.clone();
        let mut below = Vec::with_capacity(2 * half.len());
        for x in -self.reach..=self.reach {
            below.push(sum.clone());
            sum = &sum + &half[x.unsigned_abs() as usize].with_bits(BITS);
        }
        below.push(sum.clone());
        let total = &sum + &tail;
        Some(Sums { below, total })
    }

    fn below(&self, k: f64) -> Option<Interval> {
        let sums = self.sums.get_or_init(|| self.sums()).as_ref()?;
        let place = k + self.reach as f64;
        let share = if place < 0.0 {
            // Less than what lies beyond the reach.
            let first = &sums.below[0];
            Interval::int(0u8, BITS).hull(first.clone())
        } else {
            let last = sums.below.len() - 1;
            let at = (place as usize).min(last);
            let known = &sums.below[at];
            if place as usize > last {
                known.clone().hull(sums.total.clone())
            } else {
                known.clone()
            }
        };
        share.div(&sums.total)
    }
}
