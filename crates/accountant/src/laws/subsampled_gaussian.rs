//! Gaussian noise of scale σ on a Poisson sample with rate q, sensitivity 1 (one record is added or removed).
//!
//! With `w(x) = 1−q+q·e^{(2x−1)/2σ²}` and the density φ of N(0, σ²): where the record is in the first data set,
//! `M(z) = ∫ φ w^{1+z}` (the loss is `ln w`); where it is in the second, `M(z) = ∫ φ w^{−z}` (the loss is `−ln w`). Both are
//! summed by the trapezoid rule in x; `docs/accountant.md` bounds what that leaves out. Let `θ = y/σ²`, `|θ| < π`:
//! `|φ(x+iy)| = φ(x)e^{y²/2σ²}`, `w(x)cos(θ/2) ≤ |w(x+iy)| ≤ w(x)`, and the argument of `w(x+iy)` lies between 0 and θ.

use super::atoms::{self, Weighted};
use super::{Cumulants, Tilted};
use crate::numbers::{Number, cis, exp, exp_m1, ln, ln_1p};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SubsampledGaussian {
    /// Between 0 and 1; rounded up, which dominates: a smaller rate is a larger one, ignored now and then.
    pub(crate) rate: f64,
    /// σ, above zero; rounded down, which dominates.
    pub(crate) sigma: f64,
    /// Whether the record is in the first of the two data sets.
    pub(crate) removed: bool,
}

/// The rule's points: all multiples of the step from `first` to `last`.
#[derive(Clone, Copy, Debug)]
struct Points {
    step: f64,
    first: i64,
    last: i64,
}

/// More points than this are not summed.
const MOST_POINTS: i64 = 1 << 16;

impl Points {
    fn new(step: f64, low: f64, high: f64) -> Option<Points> {
        // A step of 20 bits: its multiples are exact.
        let step = f64::from_bits(step.to_bits() & !((1u64 << 33) - 1));
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let few =
            step > 1e-200 && last - first < MOST_POINTS as f64 && first.abs().max(last.abs()) < 1e9;
        few.then_some(Points {
            step,
            first: first as i64,
            last: last as i64,
        })
    }

    fn xs(self) -> impl Iterator<Item = f64> + Clone {
        (self.first..=self.last).map(move |j| j as f64 * self.step)
    }
}

impl SubsampledGaussian {
    /// `1/(2σ²)`.
    fn half<N: Number>(&self) -> N {
        N::of(0.5) / (N::of(self.sigma) * N::of(self.sigma))
    }

    /// `1 + λ` or `−λ`: `M(λ) = ∫ φ w^power`.
    fn power<N: Number>(&self, tilt: f64) -> N {
        match self.removed {
            true => N::of(1.0) + N::of(tilt),
            false => -N::of(tilt),
        }
    }

    /// `−ln(1−q)` bounds the loss where the record is added.
    pub(crate) fn top(&self) -> Option<f64> {
        let log = match self.rate <= 0.5 {
            true => -ln_1p(-self.rate) * (1.0 + 1e-12),
            false => -ln(1.0 - self.rate) + 1e-12,
        };
        (!self.removed && self.rate < 1.0).then_some(log)
    }

    /// `ln w` and its absolute error.
    fn log_odds<N: Number>(&self, x: f64) -> (N, f64) {
        let (q, one) = (N::of(self.rate), N::of(1.0));
        let e = (N::of(2.0 * x) - one) * self.half();
        let near = e.near();
        if near > 300.0 {
            let log = e + ln(q + (one - q) * exp(-e));
            return (log, (32.0 + 8.0 * near) * N::UNIT);
        }
        let y = q * exp_m1(e);
        if y.near() >= -0.5 {
            let log = ln_1p(y);
            let size = log.near().abs();
            // 24 + 8|e| relative to y, of which the logarithm takes at most twice itself; and its own error.
            return (
                log,
                size * (96.0 + 16.0 * near.abs() + 8.0 * size) * N::UNIT,
            );
        }
        let log = ln((one - q) + q * exp(e));
        (
            log,
            (32.0 + 8.0 * near.abs() + 4.0 * log.near().abs()) * N::UNIT,
        )
    }

    fn weights<N: Number>(&self, tilt: f64, points: Points) -> Vec<Weighted<N>> {
        let half = self.half::<N>();
        let power = self.power::<N>(tilt);
        // s/(σ√2π).
        let base = N::of(points.step) * N::inverse_root_two_pi() / N::of(self.sigma);
        let weight = |x: f64| {
            let (log, log_error) = self.log_odds::<N>(x);
            let square = N::of(x) * N::of(x) * half;
            let lift = power * log;
            Weighted {
                base,
                exponent: lift - square,
                loss: if self.removed { log } else { -log },
                error: (8.0 + 8.0 * square.near() + 4.0 * lift.near().abs()) * N::UNIT
                    + power.near().abs() * log_error,
                loss_error: log_error,
            }
        };
        points.xs().map(weight).collect()
    }

    /// `κ = q·e^{…}/w` at x, the derivative of `σ² ln w`: between 0 and 1, rising. To a relative 1e-12, or below `e^−600`.
    fn slope(&self, x: f64) -> f64 {
        let e = (2.0 * x - 1.0) * self.half::<f64>();
        match e < -600.0 {
            true => 0.0,
            false => self.rate / (self.rate + (1.0 - self.rate) * exp((-e).max(-700.0))),
        }
    }

    /// Where the tilted density is, with room of `deviations` σ on both sides.
    fn range(&self, tilt: f64, deviations: f64) -> (f64, f64) {
        let room = deviations * self.sigma;
        match self.removed {
            true => (-room, 1.0 + tilt + room),
            false => (-tilt * self.slope(0.0) - room, room),
        }
    }

    /// What lies beyond the ends, relative to the sum: `ln f` falls at least by `rate` per σ² there.
    ///
    /// With `f = φ w^power`, `σ²(ln f)' = −x + power·κ`. Beyond `B`: at most `−(B − power)` for positive powers, `−B` for
    /// negative ones. Below `A`: at least `|A|`, or `|A| − λκ(A)`. So the sum beyond, times the step, is at most the
    /// integral, `f(end)·σ²/rate`. The largest weight is 1 relative to the sum at most.
    fn beyond(&self, tilt: f64, points: Points, weights: &[Weighted<f64>]) -> f64 {
        let (a, b) = (
            points.first as f64 * points.step,
            points.last as f64 * points.step,
        );
        let (left, right) = match self.removed {
            true => (-a, b - 1.0 - tilt),
            false => (-a - tilt * self.slope(a) * (1.0 + 1e-9), b),
        };
        let (Some(first), Some(last)) = (weights.first(), weights.last()) else {
            return f64::INFINITY;
        };
        if !(left > 0.0 && right > 0.0) {
            return f64::INFINITY;
        }
        let top = weights
            .iter()
            .map(|w| w.exponent)
            .fold(f64::NEG_INFINITY, f64::max);
        let scale = self.sigma * self.sigma / points.step * (1.0 + 1e-9);
        scale * (exp(first.exponent - top) / left + exp(last.exponent - top) / right)
    }

    /// At least the logarithm of `cos(α/2)^{−λ}`, where negative powers of `w` are taken: `−ln c ≤ (1−c)/c`.
    fn lost(&self, tilt: f64, angle: f64) -> f64 {
        let sin = cis(1.0, angle / 4.0).im;
        let cos = 1.0 - 2.0 * sin * sin;
        match self.removed {
            true => 0.0,
            false => tilt * (1.0 - cos) / cos * (1.0 + 1e-12),
        }
    }

    /// The largest step for an error of `e^−digits` at nodes up to `reach`, with the strip that gives it.
    fn step(&self, tilt: f64, reach: f64, digits: f64) -> (f64, f64) {
        let square = self.sigma * self.sigma;
        let candidates = [0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0];
        let own = (2.0 * digits).sqrt() / self.sigma;
        let of = |angle: f64| {
            let exponent =
                digits + angle * angle * square / 2.0 + reach * angle + self.lost(tilt, angle);
            (
                2.0 * std::f64::consts::PI * angle * square / exponent,
                angle,
            )
        };
        let all = candidates
            .into_iter()
            .chain([own])
            .filter(|angle| *angle <= 3.0);
        all.map(of).fold(
            (0.0, 0.1),
            |best, one| if one.0 > best.0 { one } else { best },
        )
    }

    /// `2e^{a²/2σ² + reach·a/σ²}·cos(a/2σ²)^{−λ}/(e^{2πa/s} − 1)` for `a = angle·σ²`, rounded up: what the trapezoid rule is off
    /// by, relative to `M(λ)`.
    fn strip_error(&self, tilt: f64, reach: f64, angle: f64, step: f64) -> f64 {
        let square = self.sigma * self.sigma;
        let gained = std::f64::consts::TAU * (1.0 - 1e-9) * angle * square / step;
        let exponent =
            angle * angle * square / 2.0 + reach * angle + self.lost(tilt, angle) - gained;
        // 1/(e^Y − 1) ≤ 1.6·e^−Y for Y ≥ 1.
        match exponent < -1.0 {
            true => 3.2 * exp(exponent) + 1e-290,
            false => f64::INFINITY,
        }
    }

    pub(crate) fn tilted<N: Number>(&self, tilt: f64, reach: f64) -> Option<Tilted<N>> {
        let digits = 4.0 - N::UNIT.ln();
        let (step, angle) = self.step(tilt, reach, digits);
        let (low, high) = self.range(tilt, (2.0 * digits).sqrt() + 0.5);
        let points = Points::new(step, low, high)?;
        let missing = self.strip_error(tilt, reach, angle, points.step)
            + self.beyond(tilt, points, &self.weights(tilt, points));
        atoms::tilted(self.weights(tilt, points), missing * 1.01, reach)
    }

    /// How many points [`tilted`](SubsampledGaussian::tilted) takes in plain numbers, roughly.
    pub(crate) fn points(&self, tilt: f64, reach: f64) -> f64 {
        let (low, high) = self.range(tilt, 9.5);
        (high - low) / self.step(tilt, reach, 41.0).0
    }

    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        let (low, high) = self.range(tilt, 8.0);
        let step = (self.sigma * 0.2).max((high - low) / 20_000.0);
        let half = self.half::<f64>();
        let power = self.power::<f64>(tilt);
        let atom = move |j: i64| {
            let x = low + j as f64 * step;
            let e = (2.0 * x - 1.0) * half;
            let log = match e > 300.0 {
                true => e + self.rate.ln(),
                false => (self.rate * e.exp_m1()).ln_1p(),
            };
            (
                power * log - x * x * half,
                if self.removed { log } else { -log },
            )
        };
        let last = ((high - low) / step) as i64;
        let mut found = Cumulants::of_atoms((0..=last).map(atom));
        found.log += (step / self.sigma).ln() - 0.918_938_533_204_672_8;
        found
    }

    /// For all `t ≥ from`, by moving the line of integration to `x ± iy`, where `w` has an argument that helps:
    /// `|Φ(t)| ≤ s·Σ|f(x_j ± iy)|/M + (1 + e^{2y²/σ²}·[cos(y/σ²)^−λ])/(e^{2πy/s} − 1)`, which falls in t.
    pub(crate) fn decay(&self, tilt: f64, from: f64) -> f64 {
        let square = self.sigma * self.sigma;
        let near = self.mean_slope(tilt) * from / square;
        // The best line for small nodes, where the law is almost Gaussian, and some for large ones.
        let candidates = [0.7 * near, near, 0.1, 0.2, 0.35, 0.6, 1.0, 1.4];
        let bounds = candidates
            .into_iter()
            .filter(|angle| *angle <= 1.4)
            .filter_map(|angle| self.decay_at(tilt, from, angle));
        bounds.fold(1.0, f64::min)
    }

    /// The tilted mean of κ, roughly: where to look for the best line.
    fn mean_slope(&self, tilt: f64) -> f64 {
        let (low, high) = self.range(tilt, 6.0);
        let step = (high - low) / 64.0;
        let (half, power) = (self.half::<f64>(), self.power::<f64>(tilt));
        let log = |x: f64| {
            let e = (2.0 * x - 1.0) * half;
            let odds = if e > 300.0 {
                e + self.rate.ln()
            } else {
                (self.rate * e.exp_m1()).ln_1p()
            };
            power * odds - x * x * half
        };
        let xs = (0..=64).map(|j| low + f64::from(j) * step);
        let top = xs.clone().map(log).fold(f64::NEG_INFINITY, f64::max);
        let sums = xs.fold((0.0, 0.0), |(mass, mean), x| {
            let weight = (log(x) - top).exp();
            (mass + weight, mean + weight * self.slope(x))
        });
        // Moving the line by y costs y²/2σ² and gains t·κ·y/σ² in the exponent.
        sums.1 / sums.0
    }

    fn decay_at(&self, tilt: f64, from: f64, angle: f64) -> Option<f64> {
        let square = self.sigma * self.sigma;
        let y = angle * square;
        let step =
            (2.0 * std::f64::consts::PI * y / (20.0 + 2.0 * angle * y)).min(self.sigma * 0.5);
        let (low, high) = self.range(tilt, 7.5);
        let points = Points::new(step, low, high)?;
        if points.last - points.first > 1 << 13 {
            return None;
        }
        let (sin, sin_half) = (cis(1.0, angle).im, cis(1.0, 0.5 * angle).im);
        let lift = 0.5 * angle * y;
        // With w = A + B, A = 1−q, and X = 4AB sin²(θ/2)/w²: |w(x+iy)|² = w²(1−X), and the sine of its argument is
        // B sin θ/|w(x+iy)|, at most the argument itself. B/w = κ.
        let factor = |x: f64| {
            let slope = self.slope(x);
            let shared = 4.0 * slope * (1.0 - slope) * sin_half * sin_half;
            let modulus = match self.removed {
                true => -0.5 * (1.0 + tilt) * shared,
                false => 0.5 * tilt * shared / (1.0 - shared),
            };
            let argument = slope * sin / (1.0 - shared).sqrt();
            exp((lift + modulus - from * argument).min(600.0))
        };
        let weights = self.weights::<f64>(tilt, points);
        let beyond = self.beyond(tilt, points, &weights);
        let shares = atoms::shares(&weights)?;
        let terms = points.xs().zip(&shares).map(|(x, share)| share * factor(x));
        let sum: f64 = terms.sum();
        // The lines at 0 and 2y bound what the rule at y is off by: twice the angle at twice the step.
        let off = self.strip_error(tilt, 0.0, 2.0 * angle, 2.0 * points.step);
        let ends = beyond * exp((lift + self.lost(tilt, angle)).min(600.0));
        let bound = (sum + ends) * (1.0 + 1e-9) * (1.0 + 2.0 * off) + off;
        (bound < 1.0).then_some(bound * (1.0 + 1e-9))
    }
}
