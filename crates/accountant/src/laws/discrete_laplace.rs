//! Discrete Laplace (two-sided geometric) noise, `P(x) ∝ e^{−a|x|}`, on an integer of sensitivity Δ.
//!
//! The loss is `a(Δ−2x)` for `0 ≤ x ≤ Δ`, with all of `x ≤ 0` at the upper and all of `x ≥ Δ` at the lower end. With
//! `q = e^−a` and `r = e^{−(1+2z)a}`: `M(z) = e^{zaΔ}·(1 + (1−q)(r − r^Δ)/(1−r) + r^Δ)/(1+q)`.

use super::{Cumulants, Phi, Tilted};
use crate::numbers::{Complex, Double, Number, cis, exp, exp_m1};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DiscreteLaplace {
    /// a, above zero; rounded up, which dominates: noise of a larger scale is a mixture of none and more noise.
    pub(crate) rate: f64,
    /// Δ, at least 1 and below 2^53.
    pub(crate) distance: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TiltedDiscreteLaplace<N> {
    rate: f64,
    /// aΔ.
    whole: N,
    /// `|r|`, `1 − |r|`, `|r|^Δ` and `1 − q`.
    r: N,
    less_r: N,
    r_power: N,
    less_q: N,
    /// `1/(the bracket at λ)`.
    inverse: N,
}

impl DiscreteLaplace {
    pub(crate) fn top(&self) -> f64 {
        self.rate * self.distance as f64 * (1.0 + f64::EPSILON)
    }

    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        // Numerical derivatives do: nothing is bounded by them.
        let (a, n) = (self.rate, self.distance as f64);
        let step = (1e-3 / self.top()).min(0.4 * tilt);
        let bracket = |z: f64| {
            let exponent = -(1.0 + 2.0 * z) * a;
            let (r, r_power) = (exponent.exp(), (exponent * n).exp());
            let middle = (-a).exp_m1() * (r - r_power) / exponent.exp_m1();
            ((1.0 + middle + r_power) / (1.0 + (-a).exp())).ln()
        };
        let (below, here, above) = (bracket(tilt - step), bracket(tilt), bracket(tilt + step));
        let variance = (above - 2.0 * here + below) / (step * step);
        let largest = self.top() * self.top();
        Cumulants {
            log: tilt * a * n + here,
            mean: a * n + (above - below) / (2.0 * step),
            variance: variance.clamp(largest * 1e-9, largest),
        }
    }

    /// Errors, in units. The turns have 8, and aΔ is off by one unit relative to itself. While `a·reach < 0.7`, the sine of
    /// `ta` has a relative error of 6, so that `1 − r` has 24, and `(1−q)/|1−r| ≤ 1`; the rest adds up to less than 60, and
    /// the bracket at λ is at least 1. Beyond, the sine is off by 8 absolutely, so `1 − r` by 40, and the quotient by
    /// at most `2·40/(1−q)`. The exponents of `r` and `r^Δ` are negative: what they are off by, relative to themselves,
    /// moves the exponentials by 2 units at most.
    pub(crate) fn tilted<N: Number>(&self, tilt: f64, reach: f64) -> Tilted<N> {
        let (one, rate) = (N::of(1.0), N::of(self.rate));
        let exponent = -(one + N::of(tilt) * N::of(2.0)) * rate;
        let count = N::of(self.distance as f64);
        let (r, r_power) = (exp(exponent), exp(exponent * count));
        let (less_r, less_q) = (-exp_m1(exponent), -exp_m1(-rate));
        let bracket = one + less_q * (r - r_power) / less_r + r_power;
        let whole = Double::of(self.rate) * Double::of(self.distance as f64);
        let log = Double::of(tilt) * whole;
        let angle = reach * whole.near();
        let quotient = match self.rate * reach < 0.7 {
            true => 0.0,
            false => 100.0 / less_q.near(),
        };
        Tilted {
            log,
            ratio: bracket / (one + exp(-rate)),
            mass_error: 96.0 * N::UNIT + 8.0 * log.near().abs() * Double::UNIT,
            phi: Phi::DiscreteLaplace(TiltedDiscreteLaplace {
                rate: self.rate,
                whole: N::of_two(whole.high, whole.low),
                r,
                less_r,
                r_power,
                less_q,
                inverse: one / bracket,
            }),
            error: (256.0 + 4.0 * angle + quotient) * N::UNIT,
            widest: whole.near() * (1.0 + 1e-9),
        }
    }
}

impl<N: Number> TiltedDiscreteLaplace<N> {
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        let (one, two) = (N::of(1.0), N::of(2.0));
        let small = cis(t, N::of(self.rate));
        let whole = cis(t, self.whole);
        // r = |r|·e^{−2ita}; 1 − r without cancellation.
        let turned = (small * small).conj();
        let r = turned.times(self.r);
        let less_r = Complex::new(
            self.less_r + two * self.r * (small.im * small.im),
            two * self.r * (small.re * small.im),
        );
        let r_power = (whole * whole).conj().times(self.r_power);
        let size = less_r.re * less_r.re + less_r.im * less_r.im;
        let difference = Complex::new(r.re - r_power.re, r.im - r_power.im);
        let quotient = (difference * less_r.conj()).times(self.less_q / size);
        let bracket = Complex::new(one, N::of(0.0)) + quotient + r_power;
        (whole * bracket).times(self.inverse)
    }
}
