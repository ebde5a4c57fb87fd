//! Zero-concentrated differential privacy.

use super::scalar::scalar_loss;
use crate::Measure;

scalar_loss! {
    /// A zCDP loss ρ: the Rényi divergence of every order `α > 1` between the views is at most `ρ·α`.
    Rho
}

/// ρ-zero-concentrated differential privacy (Bun–Steinke 2016).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Zcdp;

impl Measure for Zcdp {
    type Loss = Rho;

    fn zero(&self) -> Rho {
        Rho::ZERO
    }

    fn infinity(&self) -> Rho {
        Rho::INFINITY
    }
}
