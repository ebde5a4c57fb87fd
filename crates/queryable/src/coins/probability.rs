//! Probabilities: true rationals between zero and one. One third stays one third.

use std::{cmp::Ordering, fmt, num::NonZero, sync::Arc};

use dashu_int::{UBig, ops::Gcd};
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
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Probability(Fraction);

/// In lowest terms, and in words whenever they hold it: so equal ones look alike. Every replay of every draw copies and
/// compares some.
#[derive(Clone, Eq, Hash)]
#[allow(clippy::derived_hash_with_manual_eq, reason = "equality is as derived")]
enum Fraction {
    Words(u64, NonZero<u64>),
    Long(Arc<RBig>),
}

/// As derived, but small enough to be inlined where draws are replayed.
impl PartialEq for Fraction {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        #[cold]
        fn same(one: &Arc<RBig>, other: &Arc<RBig>) -> bool {
            one == other
        }
        match (self, other) {
            (Self::Words(n, d), Self::Words(m, e)) => n == m && d == e,
            (Self::Long(one), Self::Long(other)) => same(one, other),
            _ => false,
        }
    }
}

/// A number that is not between zero and one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[error("{0} is not a probability: it must be between 0 and 1")]
pub struct NotAProbability(String);

impl Probability {
    /// Zero.
    pub const ZERO: Self = Self(Fraction::Words(0, NonZero::<u64>::MIN));
    /// One.
    pub const ONE: Self = Self(Fraction::Words(1, NonZero::<u64>::MIN));

    /// `numerator / denominator`.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, NotAProbability> {
        if denominator == 0 {
            return Err(NotAProbability(format!("{numerator}/0")));
        }
        Self::try_from(RBig::from_parts(numerator.into(), UBig::from(denominator)))
    }

    /// `1 / n`, and one for `n = 0`.
    #[inline]
    pub(super) fn one_in(n: u64) -> Self {
        Self(Fraction::Words(
            1,
            NonZero::new(n).unwrap_or(NonZero::<u64>::MIN),
        ))
    }

    /// The rational itself.
    pub fn to_rational(&self) -> RBig {
        match &self.0 {
            Fraction::Words(numerator, denominator) => {
                RBig::from_parts((*numerator).into(), UBig::from(denominator.get()))
            }
            Fraction::Long(value) => RBig::clone(value),
        }
    }

    /// Numerator and denominator in lowest terms, if both are below 2^64.
    ///
    /// ```
    /// use odometry::queryable::coins::Probability;
    /// let half = Probability::new(2, 4)?;
    /// assert_eq!(half.words(), Some((1, 2)));
    /// let tiny = Probability::new(1, u64::MAX)?.and(&half);
    /// assert_eq!(tiny.words(), None);
    /// # Ok::<(), odometry::queryable::coins::NotAProbability>(())
    /// ```
    #[inline]
    pub fn words(&self) -> Option<(u64, u64)> {
        match &self.0 {
            Fraction::Words(numerator, denominator) => Some((*numerator, denominator.get())),
            Fraction::Long(_) => None,
        }
    }

    /// Is it zero?
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Fraction::Words(0, _))
    }

    /// One minus this.
    pub fn complement(&self) -> Self {
        match &self.0 {
            // What divides both divides their sum.
            Fraction::Words(numerator, denominator) => {
                Self(Fraction::Words(denominator.get() - numerator, *denominator))
            }
            Fraction::Long(value) => Self::from_valid(RBig::ONE - &**value),
        }
    }

    /// The probability of two independent events together.
    pub fn and(&self, other: &Self) -> Self {
        match self.words().zip(other.words()).and_then(product) {
            Some(product) => Self(product),
            None => Self::from_valid(self.to_rational() * other.to_rational()),
        }
    }

    /// Of a number between zero and one.
    fn from_valid(value: RBig) -> Self {
        let words = u64::try_from(value.numerator())
            .ok()
            .zip(u64::try_from(value.denominator()).ok());
        let fraction = words.and_then(|(numerator, denominator)| {
            Some(Fraction::Words(numerator, NonZero::new(denominator)?))
        });
        Self(fraction.unwrap_or_else(|| Fraction::Long(Arc::new(value))))
    }
}

/// The product, if words hold it.
fn product(((n, d), (m, e)): ((u64, u64), (u64, u64))) -> Option<Fraction> {
    // Both are in lowest terms: then so is what is left.
    let (left, right) = (n.gcd(e), m.gcd(d));
    let denominator = (d / right).checked_mul(e / left)?;
    Some(Fraction::Words(
        (n / left).checked_mul(m / right)?,
        NonZero::new(denominator)?,
    ))
}

impl Ord for Probability {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.words(), other.words()) {
            (Some((n, d)), Some((m, e))) => {
                let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
                wide(n, e).cmp(&wide(m, d))
            }
            _ => self.to_rational().cmp(&other.to_rational()),
        }
    }
}

impl PartialOrd for Probability {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TryFrom<RBig> for Probability {
    type Error = NotAProbability;

    fn try_from(value: RBig) -> Result<Self, NotAProbability> {
        if value < RBig::ZERO || value > RBig::ONE {
            // The number may be as long as somebody likes; what is shown of it is not.
            return Err(NotAProbability(format!("{:.40}", value.to_string())));
        }
        Ok(Self::from_valid(value))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_rational().fmt(f)
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
