//! One of several mechanisms, chosen by coins that do not depend on the data and are shown: `M = Σ w_j M_j`.

use super::{Cumulants, Law, Phi, Tilted};
use crate::numbers::{Complex, Double, Number, exp};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mixture {
    /// Weights, each up to a relative `2^-100`, that add up to one.
    pub(crate) parts: Vec<(Double, Law)>,
}

#[derive(Clone, Debug)]
pub(crate) struct TiltedMixture<N> {
    parts: Vec<(N, Phi<N>)>,
}

impl Mixture {
    pub(crate) fn top(&self) -> Option<f64> {
        let tops = self.parts.iter().map(|(_, law)| law.top());
        tops.reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        let of = |(weight, law): &(Double, Law)| (weight.near().ln(), law.cumulants(tilt));
        let parts: Vec<(f64, Cumulants)> = self.parts.iter().map(of).collect();
        let atoms = parts.iter().map(|(log, part)| (log + part.log, part.mean));
        let mut total = Cumulants::of_atoms(atoms);
        // The variance within the parts.
        for (log, part) in &parts {
            total.variance += (log + part.log - total.log).exp() * part.variance;
        }
        total
    }

    /// Like a sum over atoms, with the parts' Φ in place of turns.
    pub(crate) fn tilted<N: Number>(&self, tilt: f64, reach: f64) -> Option<Tilted<N>> {
        let of = |(_, law): &(Double, Law)| law.tilted::<N>(tilt, reach);
        let parts: Vec<Tilted<N>> = self.parts.iter().map(of).collect::<Option<_>>()?;
        let weight = |w: &Double| N::of_two(w.high, w.low);
        let logs = self
            .parts
            .iter()
            .zip(&parts)
            .map(|((w, _), part)| part.log.near() + (w.near() * part.ratio.near()).ln());
        let shift = Double::of(logs.fold(f64::NEG_INFINITY, f64::max));
        let masses: Vec<N> = self
            .parts
            .iter()
            .zip(&parts)
            .map(|((w, _), part)| {
                let exponent = part.log - shift;
                weight(w) * part.ratio * exp(N::of_two(exponent.high, exponent.low))
            })
            .collect();
        let total = masses.iter().fold(N::of(0.0), |sum, mass| sum + *mass);
        let (mut off, mut inner, mut widest) = (0.0, 0.0, 0f64);
        let mut shares = Vec::new();
        for (part, mass) in parts.into_iter().zip(masses) {
            let share = mass / total;
            let size = part.log.near().abs().max(shift.near().abs());
            off += share.near() * (part.mass_error + (12.0 + 3.0 * size) * N::UNIT);
            inner += share.near() * part.error;
            widest = widest.max(part.widest);
            shares.push((share, part.phi));
        }
        let sums = (shares.len() as f64 + 4.0) * N::UNIT + 1e-290;
        let error = 2.0 * off + inner + 2.0 * sums + 8.0 * N::UNIT;
        (total.near() > 0.0 && error.is_finite()).then_some(Tilted {
            log: shift,
            ratio: total,
            mass_error: (off + sums) * 1.01,
            phi: Phi::Mixture(TiltedMixture { parts: shares }),
            error: error * 1.01,
            widest,
        })
    }
}

impl<N: Number> TiltedMixture<N> {
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        let term = |(share, phi): &(N, Phi<N>)| phi.at(t).times(*share);
        self.parts
            .iter()
            .map(term)
            .fold(Complex::zero(), |sum, term| sum + term)
    }
}
