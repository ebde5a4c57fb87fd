//! Gaussian differential privacy, and its approximate form.

mod approximate;
mod conversions;

pub use approximate::{
    ApproxGaussianDp, ApproxGaussianToApprox, ApproxToApproxGaussian, GaussianToApproxGaussian,
    MuDelta, TradeoffToApproxGaussian,
};
pub use conversions::{
    GaussianToApprox, GaussianToCurve, GaussianToProfile, GaussianToRenyi, GaussianToTradeoff,
    GaussianToZcdp, gaussian_delta, gaussian_epsilon, gaussian_to_zcdp,
};

use crate::loss::scalar::scalar_loss;
use crate::{Form, GroupPrivacy, Measure, Scale};
use exact::{Exact, Round};

scalar_loss! {
    /// A Gaussian loss μ: telling the views apart is at least as hard as telling `N(0, 1)` from `N(μ, 1)`.
    Mu, linear = Scale::scaled
}

/// Group privacy is `n·μ`, and Gaussian noise costs in proportion to the distance.
impl Scale for Mu {
    fn scaled(&self, by: &Exact) -> Self {
        Mu::new(self.value().mul(by, Round::Up))
    }
}

/// μ-Gaussian differential privacy (\[DRS19\]).
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

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("gaussian"))
    }

    fn grouped(&self, one: &Mu, n: u32) -> Option<Mu> {
        Some(self.group(one, n))
    }
}

/// `n·μ` (\[DRS19\] Thm 2.14 for Gaussian trade-off functions). Exact.
impl GroupPrivacy for GaussianDp {
    fn group(&self, one: &Mu, n: u32) -> Mu {
        Mu::new(one.value().times(n.into()))
    }

    fn group_form(&self, one: Mu) -> Form<u32, Mu> {
        Form::Linear(one)
    }
}
