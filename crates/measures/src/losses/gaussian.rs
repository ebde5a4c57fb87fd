//! Gaussian differential privacy.

use super::scalar::scalar_loss;
use crate::Measure;

scalar_loss! {
    /// A Gaussian loss μ: telling the views apart is at least as hard as telling `N(0, 1)` from `N(μ, 1)`.
    Mu
}

/// μ-Gaussian differential privacy (Dong–Roth–Su 2019).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GaussianDp;

impl Measure for GaussianDp {
    type Loss = Mu;

    fn zero(&self) -> Mu {
        Mu::ZERO
    }

    fn infinity(&self) -> Mu {
        Mu::INFINITY
    }
}
