//! How much queries and scores change with the data, on which spaces a promise about it means what it says, and what it
//! says of integers at distances that are not whole.

use std::{any::TypeId, marker::PhantomData};

use exact::{Exact, Round};
use measures::{CountsRecords, Epsilon, Metric, Number, PrivacyMap, PureDp, Scale};
use odometer::{Connected, Space};

use crate::error::BuildError;

/// How much queries (or scores) change per unit of distance, at the most, and what is known about their directions.
///
/// Queries are integers, so part of a unit of distance may change them by as much as a whole one: `round(x)` changes by 1
/// between 0.4 and 0.6. The promise is about every *started* unit, and so is the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sensitivity<K = Free> {
    by: u64,
    kind: PhantomData<K>,
}

/// Queries change in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Free;

/// Between inputs one unit apart all queries change in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Together;

/// Queries count records: together if records are added or removed, and not if they are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counts<MI>(PhantomData<MI>);

/// What is known about the directions in which queries change: [`Free`], [`Together`] or [`Counts`].
pub trait Directions: sealed::Sealed {
    /// How many units of query noise an answer "above" costs, and how many units of a score the choice by it.
    #[doc(hidden)]
    const SHIFTS: u64;
}

/// A promise about directions that means something on the space `S`.
///
/// [`Together`] speaks of inputs one unit apart. It reaches inputs that are further apart only where steps of one unit
/// lead from one to the other: the even integers have no two that are one apart, so there the promise is empty, and the
/// questions `x` and `−x` would keep it. Hence it is for [`Connected`] spaces:
///
/// ```compile_fail,E0277
/// use odometry::measures::AbsoluteDistance;
/// use odometry::mechanisms::sparse::{Sensitivity, SparseVector};
/// use odometry::odometer::Any;
/// let together = Sensitivity::together(1).unwrap();
/// let svt = SparseVector::for_epsilon(1, together, 1).unwrap();
/// svt.measurement(Any::<i64, _>::with(AbsoluteDistance), together, |x: &i64, sign: &i64| x * sign);
/// ```
#[diagnostic::on_unimplemented(
    message = "queries that move together between inputs one unit apart say nothing about the space `{S}`",
    note = "implement `odometer::Connected` for the space if steps of one unit lead everywhere in it, or use `Sensitivity::free`"
)]
pub trait KnownOn<S>: Directions {}

mod sealed {
    pub trait Sealed: Send + Sync + 'static {}
    impl Sealed for super::Free {}
    impl Sealed for super::Together {}
    impl<MI: measures::CountsRecords> Sealed for super::Counts<MI> {}
}

impl Directions for Free {
    const SHIFTS: u64 = 2;
}

/// Half of the query noise suffices (\[LSL17\] §4.3).
impl Directions for Together {
    const SHIFTS: u64 = 1;
}

impl<MI: CountsRecords> Directions for Counts<MI> {
    const SHIFTS: u64 = if MI::REPLACES {
        Free::SHIFTS
    } else {
        Together::SHIFTS
    };
}

impl<S: Space> KnownOn<S> for Free {}
impl<S: Connected> KnownOn<S> for Together {}
impl<S: Connected<Metric = MI>, MI: CountsRecords> KnownOn<S> for Counts<MI> {}

impl<K> Sensitivity<K> {
    fn new(by: u64) -> Result<Self, BuildError> {
        match by {
            0 => Err(BuildError::not_positive("the sensitivity", 0)),
            _ => Ok(Self {
                by,
                kind: PhantomData,
            }),
        }
    }

    /// How much a query changes over a started unit of distance.
    pub fn per_unit(&self) -> u64 {
        self.by
    }
}

impl Sensitivity<Free> {
    /// One, in either direction.
    pub const UNIT: Self = Self {
        by: 1,
        kind: PhantomData,
    };

    /// Each query changes by at most this much over every started unit of distance, in either direction.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn free(by: u64) -> Result<Self, BuildError> {
        Self::new(by)
    }

    /// That of counting queries: 1, and together if records are added or removed and not replaced.
    pub fn of_counts<MI: CountsRecords>() -> Sensitivity<Counts<MI>> {
        Sensitivity {
            by: 1,
            kind: PhantomData,
        }
    }
}

impl Sensitivity<Together> {
    /// One, all in the same direction.
    pub const UNIT_TOGETHER: Self = Self {
        by: 1,
        kind: PhantomData,
    };

    /// Each query changes by at most this much, and between any two inputs one unit apart all queries change in the
    /// same direction (or not at all): half of the noise suffices (\[LSL17\] §4.3).
    ///
    /// Only for spaces in which steps of one unit lead everywhere: see [`KnownOn`].
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn together(by: u64) -> Result<Self, BuildError> {
        Self::new(by)
    }
}

/// How much an integer changes between inputs at this distance, if it changes by at most `sensitivity` per unit and what
/// it was rounded from does: every started unit counts, and every started step of the integer. Rounded up.
pub(crate) fn most_change(sensitivity: &Exact, d_in: &impl Number) -> Exact {
    sensitivity.mul(&d_in.number().ceil(), Round::Up).ceil()
}

/// The map of a loss per started unit of distance, for mechanisms of integers. Rounded up.
pub(crate) fn per_started_unit<MI: Metric<Distance: Number>>(
    per_unit: Epsilon,
) -> PrivacyMap<MI, PureDp> {
    // Whole distances are made of whole units: then it is data.
    if TypeId::of::<MI::Distance>() == TypeId::of::<u32>() {
        return PrivacyMap::linear(PureDp, per_unit);
    }
    PrivacyMap::new(PureDp, move |d_in: &MI::Distance| {
        Ok(per_unit.scaled(&most_change(&Exact::ONE, d_in)))
    })
}
