//! How far apart two inputs are. A metric is only a name with a type of distances: the data live elsewhere.
//!
//! # The order of records
//!
//! [`SymmetricDistance`] and [`ChangeOneDistance`] are distances between *multisets* of records, as in OpenDP: two lists with the
//! same records in another order are at distance 0. Equal records are indistinguishable ones. So a privacy map or a stability map
//! at these metrics is a claim about every order of the records. The author of a measurement whose law depends on the order
//! vouches for it with both lists in any order; at distance 0, the law must be the same for all orders.
//!
//! [`InsertDeleteDistance`] and [`HammingDistance`] are distances between *lists*: the order counts. They are never smaller than
//! the multiset distance that they belong to, because every insertion, deletion or replacement in a list is one in its multiset. So
//! every claim for multisets is true of lists, and not conversely.

use crate::map::read_converted;
use crate::{Form, MapError, Name};
use exact::Exact;
use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::hash::Hash;

/// A distance between inputs, partially ordered: `a.at_most(b)` means that inputs at distance `a` are at distance `b`.
pub trait Distance: Clone + Eq + Hash + Debug + Display + Send + Sync + 'static {
    /// Whether inputs at this distance are at distance `other` as well.
    fn at_most(&self, other: &Self) -> bool;

    /// The distance as it is written down for good: exact, and the same text for ever. [`read`](Self::read) reads it.
    /// Without it (the default), sessions on a ledger refuse the metric.
    fn written(&self) -> Option<String> {
        None
    }

    /// The distance that was [written](Self::written) like this.
    fn read(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    /// The distance as a number, if it is a [`Number`]: for maps that were written down.
    fn as_number(&self) -> Option<Exact> {
        None
    }

    /// The distance `factor` times over, if it is a [`Number`], and not too large: for maps that were written down.
    fn multiple(&self, factor: u32) -> Option<Self> {
        let _ = factor;
        None
    }

    /// A map over these distances that was written down and converted. Overridden where it is compiled in this crate: it is long, and
    /// every program that reads maps would have it again.
    #[doc(hidden)]
    fn read_converted(by: &Name, from: &Form<String, String>) -> Option<Box<dyn Any>> {
        read_converted::<Self>(by, from)
    }
}

/// A distance that is a number, for [linear](crate::PrivacyMap::linear) and
/// [quadratic](crate::PrivacyMap::quadratic) maps, and for [multiples](crate::times).
pub trait Number: Distance {
    /// The distance as a number.
    fn number(&self) -> Exact;

    /// The distance `factor` times over, exactly; `None` if it is too large for its type.
    fn checked_times(&self, factor: u32) -> Option<Self>;
}

/// A way to tell how far apart two inputs are.
pub trait Metric: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// What distances look like.
    type Distance: Distance;

    /// What it is written down as, with its parameters: the same for ever. Without it (the default), sessions on a ledger
    /// refuse the metric.
    fn name(&self) -> Option<Name> {
        None
    }
}

/// A metric that counts changed records. Whoever implements it vouches that, among all data sets, any two at distance `n`
/// are linked by a path of `n` steps of distance 1, as [group privacy](crate::GroupPrivacy) needs, and that each step
/// changes one record: it adds or removes one, or replaces one if [`REPLACES`](Self::REPLACES). In which order the records are
/// afterwards is up to the metric.
///
/// This is about all data sets. A space that leaves some of them out may cut the paths: data sets of exactly 10 records
/// have no two at [`SymmetricDistance`] 1. Whoever uses group privacy vouches that the steps stay in the space.
pub trait CountsRecords: Metric<Distance = u32> {
    /// Does a step replace a record by another, rather than add or remove one?
    const REPLACES: bool;
}

impl Distance for u32 {
    fn at_most(&self, other: &Self) -> bool {
        self <= other
    }

    fn written(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn as_number(&self) -> Option<Exact> {
        Some(self.number())
    }

    fn multiple(&self, factor: u32) -> Option<Self> {
        self.checked_times(factor)
    }

    fn read_converted(by: &Name, from: &Form<String, String>) -> Option<Box<dyn Any>> {
        read_converted::<Self>(by, from)
    }
}

impl Number for u32 {
    fn number(&self) -> Exact {
        Exact::from(*self)
    }

    fn checked_times(&self, factor: u32) -> Option<Self> {
        self.checked_mul(factor)
    }
}

impl Distance for Exact {
    fn at_most(&self, other: &Self) -> bool {
        self <= other
    }

    fn written(&self) -> Option<String> {
        Some(self.text())
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn as_number(&self) -> Option<Exact> {
        Some(self.clone())
    }

    fn multiple(&self, factor: u32) -> Option<Self> {
        self.checked_times(factor)
    }

    fn read_converted(by: &Name, from: &Form<String, String>) -> Option<Box<dyn Any>> {
        read_converted::<Self>(by, from)
    }
}

impl Number for Exact {
    fn number(&self) -> Exact {
        self.clone()
    }

    /// Never too large: beyond the largest exponent is infinity, the distance of any two inputs.
    fn checked_times(&self, factor: u32) -> Option<Self> {
        Some(self.times(factor.into()))
    }
}

/// Defines metrics without parameters.
macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $distance:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name;

        impl Metric for $name {
            type Distance = $distance;

            fn name(&self) -> Option<Name> {
                Some(Name::new($text))
            }
        }
    )*};
}

metrics! {
    /// The number of records to add and remove to turn one multiset of records into the other. Another order of the records is
    /// distance 0.
    SymmetricDistance = "symmetric": u32;
    /// The number of records to replace to turn one multiset of records into another of the same size. Another order of the
    /// records is distance 0.
    ChangeOneDistance = "change-one": u32;
    /// The number of records to insert and delete, anywhere, to turn one list of records into the other. At least their
    /// [`SymmetricDistance`].
    InsertDeleteDistance = "insert-delete": u32;
    /// The number of positions at which two lists of records of the same length differ. At least their [`ChangeOneDistance`].
    HammingDistance = "hamming": u32;
    /// The absolute difference of two numbers.
    AbsoluteDistance = "absolute": Exact;
    /// The sum of the absolute differences of two vectors' coordinates.
    L1Distance = "l1": Exact;
    /// The root of the sum of the squared differences of two vectors' coordinates.
    L2Distance = "l2": Exact;
    /// A plain relation: two inputs are neighbours, and nothing more is said.
    Neighbours = "neighbours": Neighbouring;
}

impl CountsRecords for SymmetricDistance {
    const REPLACES: bool = false;
}

impl CountsRecords for ChangeOneDistance {
    const REPLACES: bool = true;
}

/// A shortest way inserts and deletes one record at a time.
impl CountsRecords for InsertDeleteDistance {
    const REPLACES: bool = false;
}

/// Positions that differ are replaced one by one. Lists of different lengths are at no distance.
impl CountsRecords for HammingDistance {
    const REPLACES: bool = true;
}

/// The only distance of [`Neighbours`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Neighbouring;

impl Distance for Neighbouring {
    fn at_most(&self, _: &Self) -> bool {
        true
    }

    fn written(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn read(text: &str) -> Option<Self> {
        (text == "neighbouring").then_some(Self)
    }

    fn read_converted(by: &Name, from: &Form<String, String>) -> Option<Box<dyn Any>> {
        read_converted::<Self>(by, from)
    }
}

impl Display for Neighbouring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("neighbouring")
    }
}

/// The stability map of a transformation that turns data at distance `d` into data at distance at most `factor·d`: one that
/// duplicates every record, for one. It cannot wrap around: a distance that is too large for its type is an error.
///
/// ```
/// use odometry::measures::{MapError, times};
/// let twice = times::<u32>(2);
/// assert_eq!(twice(&3)?, 6);
/// assert!(matches!(twice(&(1 << 31)), Err(MapError::Overflow { factor: 2, .. }))); // `2 * d` would be 0
/// # Ok::<(), MapError>(())
/// ```
pub fn times<D: Number>(factor: u32) -> impl Fn(&D) -> Result<D, MapError> + Send + Sync + 'static {
    move |d_in| {
        d_in.checked_times(factor)
            .ok_or_else(|| MapError::Overflow {
                distance: d_in.to_string(),
                factor,
            })
    }
}
