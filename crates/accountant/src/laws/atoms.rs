//! Sums `Σ g_j e^{itℓ_j}` over finitely many losses with tilted weights: what finite laws, lattices and quadratures share.

use super::{Phi, Tilted};
use crate::numbers::{Complex, Double, Number, cis, exp};

#[derive(Clone, Debug)]
pub(crate) struct TiltedAtoms<N> {
    /// Losses and weights; the weights add up to one.
    atoms: Vec<(N, N)>,
}

/// An unnormalised weight `base·e^exponent` at a loss.
pub(super) struct Weighted<N> {
    pub(super) base: N,
    pub(super) exponent: N,
    pub(super) loss: N,
    /// The absolute error of the exponent and the relative one of the base together.
    pub(super) error: f64,
    /// The absolute error of the loss.
    pub(super) loss_error: f64,
}

/// The law with these weights; `M(λ)` is their sum. What was left out is at most `missing` relative to the sum, at any
/// node. `None` if the sum is zero or not a number.
///
/// A weight that is off by a relative `e_j` moves Φ by at most `2 Σ g_j e_j` (once in the numerator, once in the
/// normalisation); a loss that is off by `d_j` moves it by `reach·Σ g_j d_j`; a turn adds 8 units, the sum one for every term.
pub(super) fn tilted<N: Number>(
    weights: Vec<Weighted<N>>,
    missing: f64,
    reach: f64,
) -> Option<Tilted<N>> {
    let log_of = |w: &Weighted<N>| w.exponent.near() + w.base.near().ln();
    let shift = weights.iter().map(log_of).fold(f64::NEG_INFINITY, f64::max);
    if !shift.is_finite() {
        return None;
    }
    let masses: Vec<N> = weights
        .iter()
        .map(|w| w.base * exp(w.exponent - N::of(shift)))
        .collect();
    let total = masses.iter().fold(N::of(0.0), |sum, mass| sum + *mass);
    let (mut off, mut moved, mut widest) = (0.0, 0.0, 0f64);
    let mut atoms = Vec::with_capacity(weights.len());
    for (w, mass) in weights.iter().zip(masses) {
        let share = mass / total;
        // Subtracting the shift costs a unit of the larger of the two, `exp` 4 and the size of what is left.
        let size = w.exponent.near().abs().max(shift.abs());
        off += share.near() * (w.error + (8.0 + 3.0 * size) * N::UNIT);
        moved += share.near() * w.loss_error;
        widest = widest.max(w.loss.near().abs());
        if mass.near() > 0.0 {
            atoms.push((w.loss, share));
        }
    }
    let sums = (weights.len() as f64 + 4.0) * N::UNIT + 1e-290;
    let error = 2.0 * (off + missing) + reach * moved + 2.0 * sums + 16.0 * N::UNIT;
    (total.near() > 0.0 && error.is_finite()).then(|| Tilted {
        log: Double::of(shift),
        ratio: total,
        mass_error: (off + missing + sums) * 1.01,
        phi: Phi::Atoms(TiltedAtoms { atoms }),
        error: error * 1.01,
        widest: widest * (1.0 + 1e-9),
    })
}

/// The weights, normalised, each up to a relative `1e-10`; `None` if they cannot be had so exactly.
pub(super) fn shares(weights: &[Weighted<f64>]) -> Option<Vec<f64>> {
    let shift = weights
        .iter()
        .map(|w| w.exponent)
        .fold(f64::NEG_INFINITY, f64::max);
    let masses: Vec<f64> = weights.iter().map(|w| exp(w.exponent - shift)).collect();
    let total: f64 = masses.iter().sum();
    let exact = |w: &Weighted<f64>| {
        let size = w.exponent.abs().max(shift.abs());
        w.exponent - shift < -100.0 || w.error + (16.0 + 3.0 * size) * f64::UNIT < 1e-11
    };
    let fine = total.is_finite() && weights.iter().all(exact);
    fine.then(|| masses.iter().map(|mass| mass / total).collect())
}

impl<N: Number> TiltedAtoms<N> {
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        let term = |(loss, share): &(N, N)| cis(t, *loss).times(*share);
        self.atoms
            .iter()
            .map(term)
            .fold(Complex::zero(), |sum, term| sum + term)
    }
}
