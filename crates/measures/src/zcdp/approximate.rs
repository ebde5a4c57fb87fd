//! Approximate zero-concentrated differential privacy.

use super::Rho;
use crate::loss::pair::{delta_adds, delta_loss};
use crate::{Additive, Measure};
use exact::Exact;

delta_loss! {
    /// An approximate zCDP loss `(ρ, δ)`, compared coordinate-wise.
    RhoDelta, rho, "RhoDelta::new"
}
delta_adds! { RhoDelta, rho }

impl From<Rho> for RhoDelta {
    fn from(rho: Rho) -> Self {
        RhoDelta::saturating(rho.value().clone(), Exact::ZERO)
    }
}

/// δ-approximate ρ-zCDP: ρ-zCDP after leaving out events of probability δ (\[BS16\] Def 8.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxZcdp;

impl Measure for ApproxZcdp {
    type Loss = RhoDelta;

    fn zero(&self) -> RhoDelta {
        RhoDelta::ZERO
    }

    fn infinity(&self) -> RhoDelta {
        RhoDelta::INFINITY
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("approximate-zcdp"))
    }

    fn added(&self, one: &RhoDelta, other: &RhoDelta) -> Option<RhoDelta> {
        Some(self.plus(one, other, 1))
    }
}
