//! Spaces: where data live. A space says which data a measurement takes, and how far apart two data sets are.

use std::{any::type_name, fmt, marker::PhantomData};

use measures::{
    ChangeOneDistance, CountsRecords, Distance, HammingDistance, InsertDeleteDistance, MapError,
    Measure, Metric, PrivacyMap, SymmetricDistance,
};
use queryable::guarded;

use crate::{
    collection::Collection,
    error::OpenError,
    transformation::{Mismatch, Transformation},
};

/// A set of data sets with a metric on it. Two spaces are compared when things are put together: a measurement is launched
/// only on data of the space it was made for.
///
/// ```
/// use odometry::measures::SymmetricDistance;
/// use odometry::odometer::Space;
/// #[derive(Clone, Debug, PartialEq)]
/// struct AtMost(usize);
/// impl Space for AtMost {
///     type Data = Vec<i64>;
///     type Distance = u32;
///     type Metric = SymmetricDistance;
///     fn metric(&self) -> &SymmetricDistance {
///         &SymmetricDistance
///     }
///     fn contains(&self, data: &Vec<i64>) -> bool {
///         data.len() <= self.0
///     }
/// }
/// assert!(AtMost(2).contains(&vec![3, 1]) && !AtMost(2).contains(&vec![3, 1, 4]));
/// ```
pub trait Space: Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// What the data look like.
    type Data: Send + Sync + 'static;
    /// What distances look like.
    type Distance: Distance;
    /// How distances are told.
    type Metric: Metric<Distance = Self::Distance>;

    /// How far apart two data sets are.
    fn metric(&self) -> &Self::Metric;

    /// Is this data set in the space? Checked once, by whoever opens a session: the answer is not private.
    fn contains(&self, data: &Self::Data) -> bool {
        let _ = data;
        true
    }

    /// The privacy map that a function computes, at this space's distances.
    ///
    /// ```
    /// use odometry::exact::Round;
    /// use odometry::measures::{L2Distance, Rho, Zcdp};
    /// use odometry::odometer::{Any, Space};
    /// let vectors = Any::<Vec<i64>, _>::with(L2Distance);
    /// let map = vectors.map(Zcdp, |d_in| Ok(Rho::new(d_in.pow(2, Round::Up))));
    /// assert_eq!(map.loss(&3u32.into())?, "9".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn map<M: Measure>(
        &self,
        measure: M,
        function: impl Fn(&Self::Distance) -> Result<M::Loss, MapError> + Send + Sync + 'static,
    ) -> PrivacyMap<Self::Metric, M> {
        PrivacyMap::new(measure, function)
    }
}

/// Every value of a type, with a metric.
///
/// ```
/// use odometry::measures::AbsoluteDistance;
/// use odometry::odometer::{Any, Space};
/// let number = Any::<f64, _>::with(AbsoluteDistance);
/// assert!(number.contains(&0.5));
/// ```
pub struct Any<T, MI>(MI, PhantomData<fn() -> T>);

/// Every list of records.
///
/// With [`new`](Records::new) and [`replaced`](Records::replaced) a data set is a *multiset* of records, held in any order: the same
/// records in another order are at distance 0. The author of a measurement whose law depends on the order vouches for all orders.
/// With [`ordered`](Records::ordered) and [`ordered_replaced`](Records::ordered_replaced) a data set is a list.
///
/// ```
/// use odometry::odometer::{Records, Space};
/// let people = Records::<(&str, u32)>::new(); // neighbours have one record more or less
/// let known = Records::<(&str, u32)>::replaced(); // neighbours have one record replaced
/// assert!(people.contains(&vec![("Ada", 36)]) && known.contains(&vec![]));
/// ```
///
/// ```
/// use odometry::auditor::audit_measurement;
/// use odometry::prelude::*;
/// // Looks at the first record, and lies one time in four: ln 3 for a record that is inserted or deleted anywhere.
/// let lie = Bit::new(Probability::new(1, 4)?);
/// let map = PrivacyMap::linear(PureDp, "1.0987")?;
/// let first = Measurement::new("first", Records::<u8>::ordered(), map, move |data, scope| {
///     let large = data.first().is_some_and(|first| *first > 5);
///     Ok(large ^ scope.draw(&lie)?)
/// });
/// assert!(audit_measurement(&first, vec![0], vec![10, 0]).answer()?.holds());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Records<T, MI = SymmetricDistance> = Any<Vec<T>, MI>;

impl<T, MI> Any<T, MI> {
    /// Every value of `T`, with this metric.
    pub const fn with(metric: MI) -> Self {
        Self(metric, PhantomData)
    }
}

impl<T> Records<T> {
    /// Every multiset of records, held in any order. Its distance is the number of records to add and remove.
    pub const fn new() -> Self {
        Self::with(SymmetricDistance)
    }

    /// Every multiset of records, held in any order. Its distance is the number of records to replace: how many there are is no
    /// secret.
    pub const fn replaced() -> Records<T, ChangeOneDistance> {
        Any::with(ChangeOneDistance)
    }

    /// Every list of records, where the order counts. Its distance is the number of records to insert and delete.
    pub const fn ordered() -> Records<T, InsertDeleteDistance> {
        Any::with(InsertDeleteDistance)
    }

    /// Every list of records, where the order counts. Its distance is the number of positions that differ: how many records there
    /// are is no secret.
    pub const fn ordered_replaced() -> Records<T, HammingDistance> {
        Any::with(HammingDistance)
    }
}

impl<C: Clone + Send + Sync + 'static> Any<C, InsertDeleteDistance> {
    /// From lists to the multisets of their records: a measurement for multisets becomes one for lists. The reverse is not offered,
    /// because a measurement for lists may show the order.
    ///
    /// *Stability:* 1. Every record inserted into or deleted from the list is added to or removed from the multiset. The data are
    /// cloned when the first launch needs them.
    ///
    /// ```
    /// use odometry::mechanisms::{additive::count_spending, spend::epsilon};
    /// use odometry::odometer::Records;
    /// let adults = count_spending(Records::<u8>::new(), epsilon("0.5"), |age| *age >= 18)?;
    /// let of_lists = (&Records::ordered().forget_order() >> &adults)?;
    /// assert_eq!(of_lists.map().loss(&1)?.to_string(), "0.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn forget_order(self) -> Transformation<Self, Any<C, SymmetricDistance>> {
        Transformation::multiplying(self, Any::default(), 1, |data: &C| Ok(data.clone()))
    }
}

impl<C: Clone + Send + Sync + 'static> Any<C, HammingDistance> {
    /// From lists of a public length to the multisets of their records. *Stability:* 1. Every record replaced in the list is replaced
    /// in the multiset.
    #[track_caller]
    pub fn forget_order(self) -> Transformation<Self, Any<C, ChangeOneDistance>> {
        Transformation::multiplying(self, Any::default(), 1, |data: &C| Ok(data.clone()))
    }
}

impl<T, MI: Default> Default for Any<T, MI> {
    fn default() -> Self {
        Self::with(MI::default())
    }
}

impl<T, MI: Clone> Clone for Any<T, MI> {
    fn clone(&self) -> Self {
        Self::with(self.0.clone())
    }
}

impl<T, MI: Copy> Copy for Any<T, MI> {}

impl<T, MI: PartialEq> PartialEq for Any<T, MI> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// As errors show it.
impl<T, MI: fmt::Debug> fmt::Debug for Any<T, MI> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "any {} with {:?}", type_name::<T>(), self.0)
    }
}

impl<T: Send + Sync + 'static, MI: Metric> Space for Any<T, MI> {
    type Data = T;
    type Distance = MI::Distance;
    type Metric = MI;

    fn metric(&self) -> &MI {
        &self.0
    }
}

/// A space in which any two members at distance `n` are linked by `n` steps of distance 1 that are members as well: the
/// hypothesis of [group privacy](measures::GroupPrivacy). [`CountsRecords`] says it of the metric on all data sets, and not
/// every space inherits it: data sets of exactly 10 records have no two at [`SymmetricDistance`] 1. Whoever implements it
/// vouches for it.
///
/// ```
/// # use odometry::measures::SymmetricDistance;
/// # use odometry::odometer::Space;
/// use odometry::odometer::Connected;
/// # #[derive(Clone, Debug, PartialEq)]
/// struct AtMost(usize);
/// # impl Space for AtMost {
/// #     type Data = Vec<i64>;
/// #     type Distance = u32;
/// #     type Metric = SymmetricDistance;
/// #     fn metric(&self) -> &SymmetricDistance { &SymmetricDistance }
/// #     fn contains(&self, data: &Vec<i64>) -> bool { data.len() <= self.0 }
/// # }
/// // Remove first, add then: never longer than the longer of the two.
/// impl Connected for AtMost {}
/// ```
#[diagnostic::on_unimplemented(
    message = "nobody vouches that the space `{Self}` is connected by steps of distance 1",
    note = "group privacy needs that: implement `Connected` for the space if it is so"
)]
pub trait Connected: Space<Distance = u32, Metric: CountsRecords> {}

/// All lists: records come and go one by one.
impl<T: Send + Sync + 'static> Connected for Records<T> {}
/// All lists: records are replaced one by one (lists of different lengths are at no distance).
impl<T: Send + Sync + 'static> Connected for Records<T, ChangeOneDistance> {}
/// All lists: records are inserted and deleted one by one.
impl<T: Send + Sync + 'static> Connected for Records<T, InsertDeleteDistance> {}
/// All lists: positions are replaced one by one (lists of different lengths are at no distance).
impl<T: Send + Sync + 'static> Connected for Records<T, HammingDistance> {}

/// A space whose data sets are [collections](Collection) of records, at a distance that counts the records that change.
/// Every type of collection makes one: `Any::<Table, _>::with(SymmetricDistance)`.
#[diagnostic::on_unimplemented(
    message = "the data of the space `{Self}` are not known to be records at a distance that counts them",
    note = "counts, sums and partitions need that: implement `Collection` for the type of the data; a space of your own \
            needs `OfRecords` as well"
)]
pub trait OfRecords:
    Space<Data: Collection<Record = <Self as OfRecords>::Record>, Distance = u32, Metric: CountsRecords>
{
    /// What a record looks like.
    type Record: Send + Sync + 'static;
}

impl<C: Collection, MI: CountsRecords> OfRecords for Any<C, MI> {
    type Record = C::Record;
}

pub(crate) fn check_contains<S: Space>(space: &S, data: &S::Data) -> Result<(), OpenError> {
    // Foreign code that sees data: it may use no session.
    if guarded(|| space.contains(data)).map_err(OpenError::Unusable)? {
        return Ok(());
    }
    Err(OpenError::NotInSpace {
        space: format!("{space:?}"),
    })
}

/// Are these the same? The metrics are compared by themselves: what is charged depends on them, and a space may leave
/// them out of its own comparison.
#[inline]
pub(crate) fn check_same<S: Space>(first: &S, second: &S) -> Result<(), Mismatch> {
    if first == second && first.metric() == second.metric() {
        return Ok(());
    }
    Err(mismatch(first, second))
}

#[cold]
fn mismatch<S: Space>(first: &S, second: &S) -> Mismatch {
    Mismatch {
        first: shown(first),
        second: shown(second),
    }
}

/// A space with its metric, which its own form may leave out.
fn shown<S: Space>(space: &S) -> String {
    let (shown, metric) = (format!("{space:?}"), format!("{:?}", space.metric()));
    match shown.contains(&metric) {
        true => shown,
        false => format!("{shown} with {metric}"),
    }
}
