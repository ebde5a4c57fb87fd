//! Input spaces: which data a measurement takes, and how far apart two data sets are.

use std::{fmt, marker::PhantomData};

use measures::Metric;
use queryable::guarded;

use crate::error::LaunchError;

/// A set of data sets. Two domains are compared when things are put together: a measurement is launched only on the
/// domain it was made for.
pub trait Domain: Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// What the data look like.
    type Carrier: Send + Sync + 'static;

    /// Is this data set in the domain? Checked once, by whoever opens a session: the answer is not private.
    fn contains(&self, data: &Self::Carrier) -> bool {
        let _ = data;
        true
    }
}

/// Every value of a type.
///
/// ```
/// use odometer::{AnyOf, Domain};
/// assert!(AnyOf::<Vec<i64>>::new().contains(&vec![1, 2]));
/// ```
pub struct AnyOf<T>(PhantomData<fn() -> T>);

impl<T> AnyOf<T> {
    /// Every value of `T`.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for AnyOf<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for AnyOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for AnyOf<T> {}

impl<T> PartialEq for AnyOf<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> fmt::Debug for AnyOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "any {}", std::any::type_name::<T>())
    }
}

impl<T: Send + Sync + 'static> Domain for AnyOf<T> {
    type Carrier = T;
}

/// A domain with a metric on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space<D, MI> {
    /// Which data.
    pub domain: D,
    /// How far apart.
    pub metric: MI,
}

impl<D: Domain, MI: Metric> Space<D, MI> {
    /// This domain with this metric.
    pub const fn new(domain: D, metric: MI) -> Self {
        Self { domain, metric }
    }

    pub(crate) fn check_contains(&self, data: &D::Carrier) -> Result<(), LaunchError> {
        // Foreign code that sees data: it may use no session.
        if guarded(|| self.domain.contains(data)).map_err(LaunchError::Unusable)? {
            return Ok(());
        }
        Err(LaunchError::NotInDomain {
            domain: format!("{:?}", self.domain),
        })
    }
}

impl<MI: Metric> Space<AnyOf<()>, MI> {
    /// Every value of `T`, with this metric.
    ///
    /// ```
    /// use measures::SymmetricDistance;
    /// use odometer::{AnyOf, Space};
    /// let records = Space::any::<Vec<i64>>(SymmetricDistance);
    /// assert_eq!(records, Space::new(AnyOf::new(), SymmetricDistance));
    /// ```
    pub const fn any<T: Send + Sync + 'static>(metric: MI) -> Space<AnyOf<T>, MI> {
        Space::new(AnyOf::new(), metric)
    }
}
