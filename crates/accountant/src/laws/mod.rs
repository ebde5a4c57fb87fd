//! Privacy losses as laws: what a law must know for the contour. For a pair (P, Q) without mass at infinity, `L = ln dP/dQ`
//! under P and `M(z) = E e^{zL}`. At a tilt λ a law gives `M(λ)`, and `Φ(t) = M(λ+it)/M(λ)` with a bound on its error.

mod atoms;
mod discrete_gaussian;
mod discrete_laplace;
mod finite;
mod gaussian;
mod laplace;
mod mixture;
mod response;
mod subsampled_gaussian;
#[cfg(test)]
mod tests;

pub(crate) use discrete_gaussian::DiscreteGaussian;
pub(crate) use discrete_laplace::DiscreteLaplace;
pub(crate) use finite::{Finite, MOST_ATOMS};
pub(crate) use gaussian::Gaussian;
pub(crate) use laplace::Laplace;
pub(crate) use mixture::Mixture;
pub(crate) use response::{RESPONSE_ERROR, RESPONSE_MASS_ERROR, Response, TiltedResponse};
pub(crate) use subsampled_gaussian::SubsampledGaussian;

use std::sync::Arc;

use crate::numbers::{Complex, Double, Number};

/// `K(λ) = ln M(λ)` and its first two derivatives, in plain floating point: to choose λ and the step, never to bound.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cumulants {
    pub(crate) log: f64,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl Cumulants {
    pub(crate) fn add(&mut self, other: Cumulants, count: f64) {
        self.log += count * other.log;
        self.mean += count * other.mean;
        self.variance += count * other.variance;
    }

    /// Of weights `e^{log}` at these losses.
    fn of_atoms(atoms: impl Iterator<Item = (f64, f64)> + Clone) -> Cumulants {
        let shift = atoms
            .clone()
            .fold(f64::NEG_INFINITY, |m, (log, _)| m.max(log));
        let (mut mass, mut mean) = (0.0, 0.0);
        for (log, loss) in atoms.clone() {
            let weight = (log - shift).exp();
            mass += weight;
            mean += weight * loss;
        }
        mean /= mass;
        let spread = atoms.map(|(log, loss)| (log - shift).exp() * (loss - mean).powi(2));
        Cumulants {
            log: shift + mass.ln(),
            mean,
            variance: spread.sum::<f64>() / mass,
        }
    }
}

/// A law at a tilt λ: `M(λ) = e^log · ratio`.
#[derive(Clone, Debug)]
pub(crate) struct Tilted<N> {
    pub(crate) log: Double,
    /// Above zero, and neither large nor small.
    pub(crate) ratio: N,
    /// The relative error of the two together.
    pub(crate) mass_error: f64,
    pub(crate) phi: Phi<N>,
    /// The absolute error of Φ, at every node up to the reach.
    pub(crate) error: f64,
    /// The largest `|x|` for which `e^{itx}` is evaluated.
    pub(crate) widest: f64,
}

/// Φ, ready to be evaluated.
#[derive(Clone, Debug)]
pub(crate) enum Phi<N> {
    Response(TiltedResponse<N>),
    Laplace(laplace::TiltedLaplace<N>),
    DiscreteLaplace(discrete_laplace::TiltedDiscreteLaplace<N>),
    Gaussian(gaussian::TiltedGaussian<N>),
    DiscreteGaussian(discrete_gaussian::TiltedDiscreteGaussian<N>),
    Atoms(atoms::TiltedAtoms<N>),
    Mixture(mixture::TiltedMixture<N>),
}

impl<N: Number> Phi<N> {
    /// `Φ(t)` for a node `t` of at most 26 bits, up to the reach.
    pub(crate) fn at(&self, t: f64) -> Complex<N> {
        match self {
            Phi::Response(law) => law.at(t),
            Phi::Laplace(law) => law.at(t),
            Phi::DiscreteLaplace(law) => law.at(t),
            Phi::Gaussian(law) => law.at(t),
            Phi::DiscreteGaussian(law) => law.at(t),
            Phi::Atoms(law) => law.at(t),
            Phi::Mixture(law) => law.at(t),
        }
    }
}

/// A privacy loss that is finite with probability 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Law {
    Response(Response),
    Laplace(Laplace),
    DiscreteLaplace(DiscreteLaplace),
    Gaussian(Gaussian),
    DiscreteGaussian(DiscreteGaussian),
    Finite(Arc<Finite>),
    SubsampledGaussian(SubsampledGaussian),
    Mixture(Arc<Mixture>),
}

impl Law {
    /// The largest loss, rounded up; `None` if there is none.
    pub(crate) fn top(&self) -> Option<f64> {
        match self {
            Law::Response(law) => Some(law.epsilon),
            Law::Laplace(law) => Some(law.epsilon),
            Law::DiscreteLaplace(law) => Some(law.top()),
            Law::Gaussian(_) | Law::DiscreteGaussian(_) => None,
            Law::Finite(law) => Some(law.top()),
            Law::SubsampledGaussian(law) => law.top(),
            Law::Mixture(law) => law.top(),
        }
    }

    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        match self {
            Law::Response(law) => law.cumulants(tilt),
            Law::Laplace(law) => law.cumulants(tilt),
            Law::DiscreteLaplace(law) => law.cumulants(tilt),
            Law::Gaussian(law) => law.cumulants(tilt),
            Law::DiscreteGaussian(law) => law.cumulants(tilt),
            Law::Finite(law) => law.cumulants(tilt),
            Law::SubsampledGaussian(law) => law.cumulants(tilt),
            Law::Mixture(law) => law.cumulants(tilt),
        }
    }

    /// The law at this tilt, for nodes up to `reach`; `None` if it cannot be evaluated there.
    pub(crate) fn tilted<N: Number>(&self, tilt: f64, reach: f64) -> Option<Tilted<N>> {
        match self {
            Law::Response(law) => Some(law.tilted(tilt)),
            Law::Laplace(law) => Some(law.tilted(tilt)),
            Law::DiscreteLaplace(law) => Some(law.tilted(tilt, reach)),
            Law::Gaussian(law) => Some(law.tilted(tilt, reach)),
            Law::DiscreteGaussian(law) => law.tilted(tilt, reach),
            Law::Finite(law) => law.tilted(tilt),
            Law::SubsampledGaussian(law) => law.tilted(tilt, reach),
            Law::Mixture(law) => law.tilted(tilt, reach),
        }
    }

    /// What an evaluation of Φ costs, in turns, roughly.
    pub(crate) fn cost(&self, tilt: f64, reach: f64) -> f64 {
        match self {
            Law::Response(_) | Law::Laplace(_) | Law::Gaussian(_) => 1.0,
            Law::DiscreteLaplace(_) => 3.0,
            Law::DiscreteGaussian(_) => 50.0,
            Law::Finite(law) => law.atoms.len() as f64,
            Law::SubsampledGaussian(law) => law.points(tilt, reach),
            Law::Mixture(law) => law.parts.iter().map(|(_, law)| law.cost(tilt, reach)).sum(),
        }
    }

    /// A bound of `|Φ(t)|` for all `t ≥ from` at once; 1 if none is known.
    pub(crate) fn decay(&self, tilt: f64, from: f64) -> f64 {
        match self {
            Law::Laplace(law) => law.decay(tilt, from),
            Law::Gaussian(law) => law.decay(from),
            Law::SubsampledGaussian(law) => law.decay(tilt, from),
            _ => 1.0,
        }
    }
}
