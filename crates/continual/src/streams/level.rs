//! Which streams are at which distance: a verification function for every distance. Streams are lists: messages are compared
//! position by position, and another order is another stream.

use std::{fmt, marker::PhantomData};

use exact::Exact;
use measures::{L1Distance, Metric, Name};

use crate::{
    pair::{Pair, StreamMessage},
    verification::{EventLevel, Mixed, SwapSymmetric, VerificationFunction},
};

/// A distance between streams of such messages: for every distance, a verification function. What is valid at a distance
/// is valid at every larger one; whoever implements it vouches for that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says no distance between streams of `{M}`",
    note = "implement `Increment` for the message to have sums of changes (`L1Distance`), or count the messages that differ (`Events`)"
)]
pub trait StreamMetric<M>: Metric {
    /// The function.
    type Function: VerificationFunction<Message = M>;

    /// Which pairs of streams are at this distance.
    fn at(&self, distance: &Self::Distance) -> Self::Function;
}

/// The number of messages in which two streams differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Events;

impl Metric for Events {
    type Distance = u32;

    fn name(&self) -> Option<Name> {
        Some(Name::new("events"))
    }
}

impl<M: PartialEq + 'static> StreamMetric<M> for Events {
    type Function = EventLevel<M>;

    fn at(&self, distance: &u32) -> EventLevel<M> {
        EventLevel::new().at_most(usize::try_from(*distance).unwrap_or(usize::MAX))
    }
}

/// The number of updates in which two streams of updates and questions differ. Questions are the same at the same places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Updates;

impl Metric for Updates {
    type Distance = u32;

    fn name(&self) -> Option<Name> {
        Some(Name::new("updates"))
    }
}

impl<U, Q> StreamMetric<StreamMessage<U, Q>> for Updates
where
    U: Clone + PartialEq + 'static,
    Q: PartialEq + 'static,
{
    type Function = Mixed<EventLevel<U>, Q>;

    fn at(&self, distance: &u32) -> Self::Function {
        Mixed::new(Events.at(distance))
    }
}

/// A message that adds something: by how much two of them differ.
pub trait Increment: PartialEq + 'static {
    /// The sum of the absolute differences, the same both ways round; `None` if they differ in something that must be
    /// the same.
    fn change(&self, other: &Self) -> Option<Exact>;
}

impl Increment for i64 {
    fn change(&self, other: &Self) -> Option<Exact> {
        Some(Exact::from(self.abs_diff(*other)))
    }
}

/// Rows of different lengths are never neighbours.
impl Increment for Vec<i64> {
    fn change(&self, other: &Self) -> Option<Exact> {
        let both = self.iter().zip(other);
        (self.len() == other.len()).then(|| {
            both.fold(Exact::ZERO, |sum, (x, y)| {
                &sum + &Exact::from(x.abs_diff(*y))
            })
        })
    }
}

/// The changes of all messages sum to so much at the most.
///
/// ```
/// use odometry::continual::{Pair, VerificationFunction, streams::{StreamMetric, SumLevel}};
/// let function: SumLevel<i64> = odometry::measures::L1Distance.at(&2u32.into());
/// assert!(function.is_valid(&[Pair::new(3, 4), Pair::new(0, -1)]));
/// assert!(!function.is_valid(&[Pair::new(3, 4), Pair::new(0, 2)]));
/// ```
pub struct SumLevel<M> {
    most: Exact,
    messages: PhantomData<fn(M)>,
}

impl<M: Increment> VerificationFunction for SumLevel<M> {
    type Message = M;

    fn is_valid(&self, pairs: &[Pair<M>]) -> bool {
        let change = |pair: &Pair<M>| pair.zero.change(&pair.one);
        let sum = pairs
            .iter()
            .try_fold(Exact::ZERO, |sum, pair| Some(&sum + &change(pair)?));
        sum.is_some_and(|sum| sum <= self.most)
    }
}

impl<M: Increment> SwapSymmetric for SumLevel<M> {}

impl<M> fmt::Debug for SumLevel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SumLevel({})", self.most)
    }
}

impl<M: Increment> StreamMetric<M> for L1Distance {
    type Function = SumLevel<M>;

    fn at(&self, distance: &Exact) -> SumLevel<M> {
        SumLevel {
            most: distance.clone(),
            messages: PhantomData,
        }
    }
}
