//! Input spaces: which data a measurement takes, and how far apart two data sets are.

use std::{fmt, marker::PhantomData};

use measures::{ChangeOneDistance, Metric, SymmetricDistance, UnitSteps};
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

/// A domain in which, with the metric `MI`, any two members at distance `n` are linked by `n` steps of distance 1 that
/// are members as well: the hypothesis of [group privacy](measures::GroupPrivacy). [`UnitSteps`] says it of the metric on
/// all data sets, and not every domain inherits it: data sets of exactly 10 records have no two at
/// [`SymmetricDistance`] 1. Whoever implements it vouches for it.
///
/// ```
/// use measures::SymmetricDistance;
/// use odometer::{Connected, Domain};
/// #[derive(Clone, Debug, PartialEq)]
/// struct AtMost(usize);
/// impl Domain for AtMost {
///     type Carrier = Vec<i64>;
///     fn contains(&self, data: &Vec<i64>) -> bool {
///         data.len() <= self.0
///     }
/// }
/// // Remove first, add then: never longer than the longer of the two.
/// impl Connected<SymmetricDistance> for AtMost {}
/// ```
#[diagnostic::on_unimplemented(
    message = "nobody vouches that `{Self}` with the metric `{MI}` is connected by steps of distance 1",
    note = "group privacy needs that: implement `Connected<{MI}>` for the domain if it is so"
)]
pub trait Connected<MI: UnitSteps>: Domain {}

/// All lists: records come and go one by one.
impl<T: Send + Sync + 'static> Connected<SymmetricDistance> for AnyOf<Vec<T>> {}
/// All lists: records are replaced one by one (lists of different lengths are at no distance).
impl<T: Send + Sync + 'static> Connected<ChangeOneDistance> for AnyOf<Vec<T>> {}

/// A domain with a metric on it.
#[derive(Clone, Copy, PartialEq)]
pub struct Space<D, MI> {
    /// Which data.
    pub domain: D,
    /// How far apart.
    pub metric: MI,
}

/// As errors show it.
impl<D: fmt::Debug, MI: fmt::Debug> fmt::Debug for Space<D, MI> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with {:?}", self.domain, self.metric)
    }
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
