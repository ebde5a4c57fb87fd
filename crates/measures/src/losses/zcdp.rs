//! Zero-concentrated differential privacy.

use super::scalar::scalar_loss;
use crate::{Measure, ScaleSquared};
use exact::{Exact, Round};

scalar_loss! {
    /// A zCDP loss ρ: the Rényi divergence of every order `α > 1` between the views is at most `ρ·α`.
    Rho
}

/// Group privacy is `n²·ρ` (Bun–Steinke 2016, Prop 1.9), and Gaussian noise of variance σ² costs `d_in²/(2σ²)` (Prop 1.6).
impl ScaleSquared for Rho {
    fn scaled_squared(&self, by: &Exact) -> Self {
        Rho::new(self.value().mul(&by.pow(2, Round::Up), Round::Up))
    }
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
