//! Zero-concentrated differential privacy, and its approximate form.

mod approximate;
mod conversions;

pub use approximate::{ApproxZcdp, RhoDelta};
pub use conversions::{
    ApproxZcdpToApprox, ZcdpToApprox, ZcdpToApproxZcdp, ZcdpToCurve, ZcdpToRenyi, zcdp_delta,
    zcdp_epsilon, zcdp_to_renyi,
};

use crate::loss::scalar::scalar_loss;
use crate::{Additive, Form, GroupPrivacy, Measure, ScaleSquared};
use exact::{Exact, Round};

scalar_loss! {
    /// A zCDP loss ρ: the Rényi divergence of every order `α > 1` between the views is at most `ρ·α`.
    Rho, quadratic = ScaleSquared::scaled_squared
}

/// Group privacy is `n²·ρ` (\[BS16\] Prop 1.9), and Gaussian noise of variance σ² costs `d_in²/(2σ²)` (Prop 1.6).
impl ScaleSquared for Rho {
    fn scaled_squared(&self, by: &Exact) -> Self {
        Rho::new(self.value().mul(&by.pow(2, Round::Up), Round::Up))
    }
}

/// ρ-zero-concentrated differential privacy (\[BS16\]).
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

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("zcdp"))
    }

    fn grouped(&self, one: &Rho, n: u32) -> Option<Rho> {
        Some(self.group(one, n))
    }

    fn added(&self, one: &Rho, other: &Rho) -> Option<Rho> {
        Some(self.plus(one, other, 1))
    }
}

/// `n²·ρ` (\[BS16\] Prop 1.9). Exact.
impl GroupPrivacy for Zcdp {
    fn group(&self, one: &Rho, n: u32) -> Rho {
        Rho::new(one.value().times(u64::from(n) * u64::from(n)))
    }

    fn group_form(&self, one: Rho) -> Form<u32, Rho> {
        Form::Quadratic(one)
    }
}
