//! Gaussian noise: `K(z) = μ²(z + z²)/2` with `μ = Δ/σ`. In a list all Gaussians are one with the sum of the squares, and
//! the contour treats it by itself; this form is for mixtures.

use super::{Cumulants, Phi, Tilted};
use crate::numbers::{Complex, Double, Number, cis, exp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gaussian {
    /// μ², above zero; rounded up, which dominates.
    pub(crate) square: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TiltedGaussian<N> {
    square: f64,
    drift: N,
}

/// `e^{−x}` for `x = square·t²/2`, with an absolute error of at most 8 units: `x` is off by 3 units relative to itself.
pub(crate) fn fall<N: Number>(square: f64, t: f64) -> N {
    let t = N::of(t);
    exp(-(N::of(0.5 * square) * (t * t)))
}

impl Gaussian {
    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        Cumulants {
            log: self.square * (tilt + tilt * tilt) / 2.0,
            mean: self.square * (0.5 + tilt),
            variance: self.square,
        }
    }

    /// The turn is off by 4 units relative to the angle `t·μ²(1+2λ)/2`.
    pub(crate) fn tilted<N: Number>(&self, tilt: f64, reach: f64) -> Tilted<N> {
        let drift = N::of(0.5 * self.square) * (N::of(1.0) + N::of(tilt) * N::of(2.0));
        let lambda = Double::of(tilt);
        let log = Double::of(0.5 * self.square) * (lambda * lambda + lambda);
        Tilted {
            log,
            ratio: N::of(1.0),
            mass_error: log.near().abs() * 4.0 * Double::UNIT,
            phi: Phi::Gaussian(TiltedGaussian {
                square: self.square,
                drift,
            }),
            error: (24.0 + 4.0 * reach * drift.near()) * N::UNIT,
            widest: drift.near() * (1.0 + 1e-9),
        }
    }

    pub(crate) fn decay(&self, from: f64) -> f64 {
        fall::<f64>(self.square, from) + 1e-14
    }
}

impl<N: Number> TiltedGaussian<N> {
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        cis(t, self.drift).times(fall(self.square, t))
    }
}
