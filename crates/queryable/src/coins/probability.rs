//! Probabilities: true rationals between zero and one. One third stays one third.

use std::fmt;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use thiserror::Error;

/// A rational between zero and one, exactly.
///
/// Not a privacy loss: losses are rounded where they enter, probabilities never are.
///
/// ```
/// use odometry::queryable::coins::Probability;
/// let third = Probability::new(1, 3)?;
/// assert_eq!(third.complement(), Probability::new(4, 6)?);
/// assert!(Probability::new(3, 2).is_err());
/// # Ok::<(), odometry::queryable::coins::NotAProbability>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probability(RBig);

/// A number that is not between zero and one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[error("{0} is not a probability: it must be between 0 and 1")]
pub struct NotAProbability(String);

impl Probability {
    /// Zero.
    pub const ZERO: Self = Self(RBig::ZERO);
    /// One.
    pub const ONE: Self = Self(RBig::ONE);

    /// `numerator / denominator`.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, NotAProbability> {
        if denominator == 0 {
            return Err(NotAProbability(format!("{numerator}/0")));
        }
        Self::try_from(RBig::from_parts(
            IBig::from(numerator),
            UBig::from(denominator),
        ))
    }

    /// `1 / n`, and one for `n = 0`.
    pub(super) fn one_in(n: u64) -> Self {
        Self(RBig::from_parts(IBig::ONE, UBig::from(n.max(1))))
    }

    /// The rational itself.
    pub fn as_rational(&self) -> &RBig {
        &self.0
    }

    /// The rational itself.
    pub fn into_rational(self) -> RBig {
        self.0
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// One minus this.
    pub fn complement(&self) -> Self {
        Self(RBig::ONE - &self.0)
    }

    /// The probability of two independent events together.
    pub fn and(&self, other: &Self) -> Self {
        Self(&self.0 * &other.0)
    }
}

impl TryFrom<RBig> for Probability {
    type Error = NotAProbability;

    fn try_from(value: RBig) -> Result<Self, NotAProbability> {
        if value < RBig::ZERO || value > RBig::ONE {
            // The number may be as long as somebody likes; what is shown of it is not.
            return Err(NotAProbability(format!("{:.40}", value.to_string())));
        }
        Ok(Self(value))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
