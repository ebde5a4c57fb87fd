//! Randomized response: the loss is ε with probability `e^ε/(1+e^ε)`, else −ε. It dominates every ε-private mechanism.
//!
//! `M(z) = (e^{(1+z)ε} + e^{−zε})/(1+e^ε)`. With `v = e^{−(1+2λ)ε}` and `τ = (1−v)/(1+v)`:
//! `M(λ) = e^{λε}·(1+v)/(1+e^−ε)` and `Φ(t) = cos tε + iτ sin tε`.

use super::{Cumulants, Phi, Tilted};
use crate::numbers::{Complex, Double, Number, cis, exp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Response {
    /// Above zero; rounded up, which dominates.
    pub(crate) epsilon: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TiltedResponse<N> {
    pub(crate) epsilon: f64,
    pub(crate) lean: N,
}

/// In units: 8 from each of cos and sin, 16 from τ, 2 from the products.
pub(crate) const RESPONSE_ERROR: f64 = 32.0;
/// In units: 6 from each exponential of at most one, 2 from the sums, 1 from the quotient.
pub(crate) const RESPONSE_MASS_ERROR: f64 = 16.0;

impl Response {
    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        let v = (-(1.0 + 2.0 * tilt) * self.epsilon).exp();
        let lean = (1.0 - v) / (1.0 + v);
        let ratio = (v - (-self.epsilon).exp()) / (1.0 + (-self.epsilon).exp());
        Cumulants {
            log: tilt * self.epsilon + ratio.ln_1p(),
            mean: self.epsilon * lean,
            variance: self.epsilon * self.epsilon * 4.0 * v / ((1.0 + v) * (1.0 + v)),
        }
    }

    /// τ and `(1+v)/(1+e^−ε)`. The exponent of `v` is off by 2 units relative to itself: `x·e^−x ≤ 1/e`.
    #[inline(always)]
    pub(crate) fn lean_and_ratio<N: Number>(&self, tilt: f64) -> (N, N) {
        let (one, epsilon) = (N::of(1.0), N::of(self.epsilon));
        let v = exp(-(N::of(tilt) * N::of(2.0) + one) * epsilon);
        let ratio = (one + v) / (one + exp(-epsilon));
        ((one - v) / (one + v), ratio)
    }

    pub(crate) fn tilted<N: Number>(&self, tilt: f64) -> Tilted<N> {
        let (lean, ratio) = self.lean_and_ratio(tilt);
        Tilted {
            log: Double::of(tilt) * Double::of(self.epsilon),
            ratio,
            mass_error: RESPONSE_MASS_ERROR * N::UNIT,
            phi: Phi::Response(TiltedResponse {
                epsilon: self.epsilon,
                lean,
            }),
            error: RESPONSE_ERROR * N::UNIT,
            widest: self.epsilon,
        }
    }
}

impl<N: Number> TiltedResponse<N> {
    #[inline(always)]
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        let turn = cis(t, N::of(self.epsilon));
        Complex::new(turn.re, turn.im * self.lean)
    }
}
