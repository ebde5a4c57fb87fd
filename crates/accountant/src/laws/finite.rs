//! Any pair of finite laws, as the atoms of its loss.

use super::atoms::{self, Weighted};
use super::{Cumulants, Tilted};
use crate::numbers::{Double, Number};

/// More atoms than this are refused.
pub(crate) const MOST_ATOMS: usize = 1 << 14;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finite {
    /// Losses, each rounded up (which dominates), with their probabilities under P, given that the loss is finite: up to
    /// a relative `2^-100`, above `1e-290`, adding up to one.
    pub(crate) atoms: Vec<(f64, Double)>,
}

impl Finite {
    pub(crate) fn top(&self) -> f64 {
        self.atoms
            .iter()
            .map(|(loss, _)| *loss)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    pub(crate) fn cumulants(&self, tilt: f64) -> Cumulants {
        let atom = |(loss, p): &(f64, Double)| (p.near().ln() + tilt * loss, *loss);
        Cumulants::of_atoms(self.atoms.iter().map(atom))
    }

    pub(crate) fn tilted<N: Number>(&self, tilt: f64) -> Option<Tilted<N>> {
        let atom = |(loss, p): &(f64, Double)| {
            let exponent = N::of(tilt) * N::of(*loss);
            Weighted {
                base: N::of_two(p.high, p.low),
                error: (2.0 + exponent.near().abs()) * N::UNIT,
                exponent,
                loss: N::of(*loss),
                loss_error: 0.0,
            }
        };
        atoms::tilted(self.atoms.iter().map(atom).collect(), 0.0, 0.0)
    }
}
