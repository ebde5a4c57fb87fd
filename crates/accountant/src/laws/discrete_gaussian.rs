//! Discrete Gaussian noise, `P(x) ∝ e^{−x²/2σ²}` on the integers, on an integer of sensitivity Δ.
//!
//! The loss is `Δ(Δ−2x)/2σ²`. With `θ(s) = Σ_x e^{−(x+s)²/2σ²}`: `M(z) = e^{(z²+z)Δ²/2σ²}·θ(zΔ)/θ(0)`. For small σ this is
//! summed as it stands. Otherwise Poisson's formula gives `θ(s) = σ√2π·Σ_k e^{−2π²σ²k² + 2πiks}`, and
//! `Φ(t) = Σ_k e^{−(tΔ+2πσ²k)²/2σ²} e^{i(t(1+2λ)Δ²/2σ² + 2πkλΔ)}`, apart from a normalisation within `1 ± 3e^{−2π²σ²}`.

use super::atoms::{self, Weighted};
use super::gaussian::Gaussian;
use super::{Cumulants, Phi, Tilted};
use crate::numbers::{Complex, Double, Number, cis, exp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DiscreteGaussian {
    /// σ², above zero, up to a relative `2^-100`.
    pub(crate) square: Double,
    /// Δ, at least 1 and at most 2^26.
    pub(crate) distance: u64,
}

/// From here on the dual sum is used.
const DUAL: f64 = 4.0;

impl DiscreteGaussian {
    fn distance<N: Number>(&self) -> N {
        N::of(self.distance as f64)
    }

    fn square<N: Number>(&self) -> N {
        N::of_two(self.square.high, self.square.low)
    }

    /// Δ²/σ².
    fn mu_squared<N: Number>(&self) -> N {
        self.distance::<N>() * self.distance() / self.square()
    }

    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        let square = self.square.near();
        if square >= DUAL {
            let square = self.mu_squared::<f64>();
            return Gaussian { square }.cumulants(tilt);
        }
        let (centre, d) = (-tilt * self.distance as f64, self.distance as f64);
        let atom = move |x: f64| {
            (
                -(x * x) / (2.0 * square) + tilt * d * (d - 2.0 * x) / (2.0 * square),
                x,
            )
        };
        let around = |centre: f64| (-24..=24).map(move |i| centre.round() + f64::from(i));
        let mut found = Cumulants::of_atoms(
            around(centre)
                .map(atom)
                .map(|(log, x)| (log, d * (d - 2.0 * x) / (2.0 * square))),
        );
        found.log -= around(0.0)
            .map(|x| (-x * x / (2.0 * square)).exp())
            .sum::<f64>()
            .ln();
        found
    }

    pub(crate) fn tilted<N: Number>(&self, tilt: f64, reach: f64) -> Option<Tilted<N>> {
        match self.square.near() >= DUAL {
            true => self.dual(tilt, reach),
            false => self.direct(tilt, reach),
        }
    }

    /// Terms farther than `R` from the centre add up to at most `2e^{−R²/2σ²}/(1 − e^{−R/σ²})`, and the largest term is at
    /// least `e^{−1/8σ²}`; with `σ² < 4` and `R ≥ 24` the rest is below `e^{−68}` of the sum.
    fn direct<N: Number>(&self, tilt: f64, reach: f64) -> Option<Tilted<N>> {
        const FARTHEST: i32 = 26;
        const MISSING: f64 = 1e-29;
        let half = N::of(0.5) / self.square::<N>();
        let (shift, d) = (N::of(tilt) * self.distance(), self.distance::<N>());
        let centre = (-tilt * self.distance as f64).round();
        if centre.abs() > 1e9 {
            return None;
        }
        let terms = |centre: f64, shift: N| {
            (-FARTHEST..=FARTHEST)
                .map(move |i| {
                    let x = N::of(centre + f64::from(i));
                    let sizes = x.near().abs() + shift.near().abs();
                    let square = (x + shift) * (x + shift) * half;
                    let loss = d * (d - x - x) * half;
                    Weighted {
                        base: N::of(1.0),
                        exponent: -square,
                        loss,
                        // x + λΔ is off by 2 units of its parts.
                        error: 8.0
                            * (square.near() + (square * half).near().sqrt() * sizes)
                            * N::UNIT,
                        loss_error: 4.0 * loss.near().abs() * N::UNIT,
                    }
                })
                .collect::<Vec<_>>()
        };
        let mut found = atoms::tilted(terms(centre, shift), MISSING, reach)?;
        let whole = atoms::tilted(terms(0.0, N::of(0.0)), MISSING, 0.0)?;
        // M(λ) = e^{(λ²+λ)Δ²/2σ²}·θ(λΔ)/θ(0).
        let lambda = Double::of(tilt);
        let own = (lambda * lambda + lambda) * self.mu_squared::<Double>() * Double::of(0.5);
        found.log = found.log - whole.log + own;
        found.ratio = found.ratio / whole.ratio;
        found.mass_error += whole.mass_error + 4.0 * N::UNIT + 8.0 * own.near() * Double::UNIT;
        Some(found)
    }

    /// Errors: the turns have 8 units each and `t·drift` is off by 6 units relative to itself; `y = tΔ + 2πσ²k` is off by 4
    /// units of `tΔ`, which moves `e^{−y²/2σ²}` by at most `4·reach·Δ/σ` units; of the terms left out the largest is
    /// `e^{−9π²σ²/2}`, below `e^{−177}`. The turn by `2πkλΔ` is off by 16 units of `|k|λΔ`, and `|k| ≤ reach·Δ/2πσ² + 2`.
    fn dual<N: Number>(&self, tilt: f64, reach: f64) -> Option<Tilted<N>> {
        let turns = tilt * self.distance as f64;
        if turns.abs() > 1e9 || reach * self.distance as f64 > 1e12 {
            return None;
        }
        let lambda = Double::of(tilt);
        let own = (lambda * lambda + lambda) * self.mu_squared::<Double>() * Double::of(0.5);
        let drift = (N::of(1.0) + N::of(tilt) * N::of(2.0)) * self.mu_squared() * N::of(0.5);
        let spread = reach * self.mu_squared::<f64>().sqrt();
        let wraps = reach * self.distance as f64 / (6.0 * self.square.near()) + 2.0;
        Some(Tilted {
            log: own,
            ratio: N::of(1.0),
            mass_error: 8.0 * own.near() * Double::UNIT + 4.0 * N::UNIT,
            phi: Phi::DiscreteGaussian(TiltedDiscreteGaussian {
                square: self.square(),
                distance: self.distance(),
                turns: N::of(tilt) * self.distance(),
                drift,
            }),
            error: (96.0 + 6.0 * reach * drift.near() + 8.0 * spread + 16.0 * wraps * turns)
                * N::UNIT,
            widest: drift.near() * (1.0 + 1e-9),
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TiltedDiscreteGaussian<N> {
    square: N,
    distance: N,
    /// λΔ.
    turns: N,
    drift: N,
}

impl<N: Number> TiltedDiscreteGaussian<N> {
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        let period = N::two_pi() * self.square;
        let shifted = N::of(t) * self.distance;
        let nearest = (shifted / period).near().round();
        let mut sum = Complex::zero();
        for i in [-1.0, 0.0, 1.0] {
            let k = -(nearest + i);
            let y = shifted + N::of(k) * period;
            let size = exp(-(y * y) / (self.square + self.square));
            // Whole turns do nothing.
            let turns = N::of(k) * self.turns;
            let rest = turns - N::of(turns.near().round());
            sum = sum + cis(1.0, rest * N::two_pi()).times(size);
        }
        sum * cis(t, self.drift)
    }
}
