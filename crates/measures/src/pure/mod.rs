//! Pure differential privacy.

mod conversions;

pub use conversions::{
    PureToApprox, PureToCurve, PureToGaussian, PureToRenyi, PureToTradeoff, PureToZcdp,
    pure_to_gaussian, pure_to_renyi, pure_to_zcdp, pure_to_zcdp_quadratic,
};

use crate::loss::scalar::scalar_loss;
use crate::{Additive, Form, GroupPrivacy, Measure, Scale};
use exact::{Exact, Round};

scalar_loss! {
    /// A pure privacy loss ε: the laws of the views differ by a factor of at most `e^ε`.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Loss};
    /// let tenth: Epsilon = "0.1".parse()?;
    /// assert!(tenth.at_most(&"0.10".parse()?));
    /// assert!(!Epsilon::INFINITY.at_most(&tenth));
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    Epsilon, linear = Scale::scaled
}

/// Group privacy is `n·ε`, and additive noise that is pure (Laplace, geometric) costs in proportion to the distance.
impl Scale for Epsilon {
    fn scaled(&self, by: &Exact) -> Self {
        Epsilon::new(self.value().mul(by, Round::Up))
    }
}

/// ε-differential privacy: the max-divergence between views is at most ε, both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PureDp;

impl Measure for PureDp {
    type Loss = Epsilon;

    fn zero(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn infinity(&self) -> Epsilon {
        Epsilon::INFINITY
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("pure"))
    }

    fn grouped(&self, one: &Epsilon, n: u32) -> Option<Epsilon> {
        Some(self.group(one, n))
    }

    fn added(&self, one: &Epsilon, other: &Epsilon) -> Option<Epsilon> {
        Some(self.plus(one, other, 1))
    }
}

/// `n·ε`: the triangle inequality of the max-divergence. Exact.
impl GroupPrivacy for PureDp {
    fn group(&self, one: &Epsilon, n: u32) -> Epsilon {
        Epsilon::new(one.value().times(n.into()))
    }

    fn group_form(&self, one: Epsilon) -> Form<u32, Epsilon> {
        Form::Linear(one)
    }
}
