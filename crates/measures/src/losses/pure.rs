//! Pure differential privacy.

use super::scalar::scalar_loss;
use crate::{Measure, Scale};
use exact::{Exact, Round};

scalar_loss! {
    /// A pure privacy loss ε: the laws of the views differ by a factor of at most `e^ε`.
    ///
    /// ```
    /// use measures::{Epsilon, Loss};
    /// let tenth: Epsilon = "0.1".parse()?;
    /// assert!(tenth.at_most(&"0.10".parse()?));
    /// assert!(!Epsilon::INFINITY.at_most(&tenth));
    /// # Ok::<(), measures::LossError>(())
    /// ```
    Epsilon
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
}
