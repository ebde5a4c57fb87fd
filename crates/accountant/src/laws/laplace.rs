//! Laplace noise of scale `b` on a value of sensitivity Δ, `ε = Δ/b`.
//!
//! `M(z) = ((1+z)e^{zε} + z·e^{−(1+z)ε})/(1+2z)`. With `v = e^{−(1+2λ)ε}` and `R = ½/(1+2z)`, so that
//! `(1+z)/(1+2z) = ½+R` and `z/(1+2z) = ½−R`: `M(λ) = e^{λε}·E`, `E = ((1+λ)+λv)/(1+2λ)`, and
//! `Φ = (½(e^{itε} + v·e^{−itε}) + R(e^{itε} − v·e^{−itε}))/E`.

use super::{Cumulants, Phi, Tilted};
use crate::numbers::{Complex, Double, Number, cis, exp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Laplace {
    /// Above zero; rounded up, which dominates: noise of a larger scale is noise of a smaller one and more noise.
    pub(crate) epsilon: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TiltedLaplace<N> {
    epsilon: f64,
    tilt: f64,
    v: N,
    inverse: N,
}

/// In units. The numerator is off by at most 60: both halves have 16 from the turn, 12 from `v`, and R and the products
/// add a few; `1/E ≤ 2`, and is off by 16 relative to itself.
const ERROR: f64 = 160.0;
/// In units: `v` is off by 8 and `E ≥ ½`, the sums, products and the quotient add 6.
const MASS_ERROR: f64 = 24.0;

impl Laplace {
    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        // Derivatives of ln(A + B) with A = (1+z)e^{zε}, B = z·e^{−(1+z)ε}, less those of ln(1+2z).
        let (e, z) = (self.epsilon, tilt);
        let v = (-(1.0 + 2.0 * z) * e).exp();
        let (a, a1, a2) = (1.0 + z, 1.0 + (1.0 + z) * e, (2.0 + (1.0 + z) * e) * e);
        let (b, b1, b2) = (z * v, v * (1.0 - z * e), v * e * (z * e - 2.0));
        let (f, f1, f2) = (a + b, a1 + b1, a2 + b2);
        let w = 2.0 / (1.0 + 2.0 * z);
        Cumulants {
            log: z * e + (f / (1.0 + 2.0 * z)).ln(),
            mean: f1 / f - w,
            variance: (f2 / f - (f1 / f).powi(2) + w * w).max(0.0),
        }
    }

    pub(crate) fn tilted<N: Number>(&self, tilt: f64) -> Tilted<N> {
        let (v, ratio) = self.weights(tilt);
        Tilted {
            log: Double::of(tilt) * Double::of(self.epsilon),
            ratio,
            mass_error: MASS_ERROR * N::UNIT,
            phi: Phi::Laplace(TiltedLaplace {
                epsilon: self.epsilon,
                tilt,
                v,
                inverse: N::of(1.0) / ratio,
            }),
            error: ERROR * N::UNIT,
            widest: self.epsilon,
        }
    }

    /// `v` and `E`.
    fn weights<N: Number>(&self, tilt: f64) -> (N, N) {
        let (one, tilt) = (N::of(1.0), N::of(tilt));
        let twice = one + tilt * N::of(2.0);
        let v = exp(-twice * N::of(self.epsilon));
        (v, (one + tilt + tilt * v) / twice)
    }

    /// `(|(1+z)/(1+2z)| + v/2)/E` at `t = from`: the modulus falls in t, since
    /// `((1+λ)² + t²)/((1+2λ)² + 4t²)` does, and `|z/(1+2z)| ≤ ½`. Rounded up.
    pub(crate) fn decay(&self, tilt: f64, from: f64) -> f64 {
        let (v, ratio) = self.weights::<f64>(tilt);
        let square = |x: f64| x * x;
        let modulus =
            (square(1.0 + tilt) + square(from)) / (square(1.0 + 2.0 * tilt) + square(2.0 * from));
        ((modulus.sqrt() + 0.5 * v) / ratio * (1.0 + 1e-13)).min(1.0)
    }
}

impl<N: Number> TiltedLaplace<N> {
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        let (one, half) = (N::of(1.0), N::of(0.5));
        let turn = cis(t, N::of(self.epsilon));
        let (plus, minus) = (one + self.v, one - self.v);
        let sum = Complex::new(turn.re * plus, turn.im * minus);
        let difference = Complex::new(turn.re * minus, turn.im * plus);
        let (a, b) = (one + N::of(self.tilt) * N::of(2.0), N::of(2.0 * t));
        let scale = half / (a * a + b * b);
        let r = Complex::new(a * scale, -b * scale);
        (sum.times(half) + r * difference).times(self.inverse)
    }
}
