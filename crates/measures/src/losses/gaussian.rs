//! Gaussian differential privacy.

use super::scalar::scalar_loss;
use crate::{Measure, Scale};
use exact::{Exact, Round};

scalar_loss! {
    /// A Gaussian loss μ: telling the views apart is at least as hard as telling `N(0, 1)` from `N(μ, 1)`.
    Mu
}

/// Group privacy is `n·μ`, and Gaussian noise costs in proportion to the distance.
impl Scale for Mu {
    fn scaled(&self, by: &Exact) -> Self {
        Mu::new(self.value().mul(by, Round::Up))
    }
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
