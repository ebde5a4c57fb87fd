//! Sparse vector and above-threshold: any number of comparisons with thresholds, and only the answers "above" cost.
//!
//! This is Algorithm 7 of \[LSL17\], without numeric answers: one noise on the threshold for the whole
//! run, fresh noise on every query, at most `c` answers "above". Several published variants are wrong; the tests refute
//! them. It is charged once, when launched, and never per query.
//!
//! **Who vouches.** The author of the measurement vouches that each query an analyst can *name* has the declared
//! sensitivity: an analyst sends a value of a query type (a range, an index), not a function, and so cannot lie.
//! [`Vouched`](crate::records::Vouched) lets in functions, for analysts who are trusted like authors.

use std::sync::Arc;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Epsilon, Number, PureDp};
use odometer::{Connected, Measurement, OfRecords, Space};
use queryable::{AskError, Machine, Queryable, Scope};

pub use crate::sensitivity::{Counts, Directions, Free, KnownOn, Sensitivity, Together};
use crate::{
    error::BuildError,
    parameter::{Parameter, positive},
    records::Predicate,
    samplers::DiscreteLaplace,
    sensitivity::per_started_unit,
};

/// A comparison: is this query of the data at least the threshold?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Above<Q> {
    /// What to compute.
    pub query: Q,
    /// What to compare with.
    pub threshold: i64,
}

/// The parameters of sparse vector: how many answers "above" before it halts, and its noise.
///
/// ```
/// use measures::SymmetricDistance;
/// use mechanisms::sparse::{Above, Sensitivity, SparseVector};
/// use odometer::Records;
/// let ages = Records::<i64>::new();
/// let sensitivity = Sensitivity::of_counts::<SymmetricDistance>();
/// let svt = SparseVector::for_epsilon(1, sensitivity, 2)?.of_counts(ages);
/// assert_eq!(svt.map().loss(&1)?.to_string(), "1");
///
/// let svt = svt.invoke(vec![30; 5000])?;
/// assert!(!svt.ask(Above { query: 60..=70, threshold: 1000 })?);
/// assert!(svt.ask(Above { query: 20..=40, threshold: 1000 })?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparseVector {
    positives: u32,
    threshold_noise: DiscreteLaplace,
    query_noise: DiscreteLaplace,
}

impl SparseVector {
    /// Halts after `positives` answers "above", at least one.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn new(
        positives: u32,
        threshold_noise: DiscreteLaplace,
        query_noise: DiscreteLaplace,
    ) -> Result<Self, BuildError> {
        if positives == 0 {
            return Err(BuildError::not_positive("the number of positives", 0));
        }
        Ok(Self {
            positives,
            threshold_noise,
            query_noise,
        })
    }

    /// With a loss of exactly ε per unit of distance, split between threshold and queries as 1 : (2c)^⅔, or 1 : c^⅔ for
    /// queries that move together: that makes the comparisons most accurate (\[LSL17\] §4.2). The power is
    /// rounded down to an integer, so that the split is exact.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn for_epsilon<K: Directions>(
        epsilon: impl Parameter,
        sensitivity: Sensitivity<K>,
        positives: u32,
    ) -> Result<Self, BuildError> {
        let epsilon = positive("ε", epsilon)?;
        if positives == 0 {
            return Err(BuildError::not_positive("the number of positives", 0));
        }
        let shifts = K::SHIFTS * u64::from(positives);
        let share = RBig::from(two_thirds_power(shifts));
        let by = RBig::from(sensitivity.per_unit());
        let threshold_epsilon = &epsilon / (RBig::ONE + &share);
        let query_epsilon = &threshold_epsilon * share;
        Self::new(
            positives,
            DiscreteLaplace::new(&by / threshold_epsilon)?,
            DiscreteLaplace::new(by * RBig::from(shifts) / query_epsilon)?,
        )
    }

    /// Above-threshold: sparse vector that halts with its first answer "above" (\[DR14\] Alg 1, with the better
    /// split of ε).
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn above_threshold<K: Directions>(
        epsilon: impl Parameter,
        sensitivity: Sensitivity<K>,
    ) -> Result<Self, BuildError> {
        Self::for_epsilon(epsilon, sensitivity, 1)
    }

    /// The noise on the threshold, and the noise on each query.
    pub fn into_noise(self) -> (DiscreteLaplace, DiscreteLaplace) {
        (self.threshold_noise, self.query_noise)
    }

    /// The loss per started unit of distance: `Δ·(1/t_threshold + 2c/t_query)`, or with `c` in place of `2c` for
    /// queries that move together (\[LSL17\] Thm 4 and 5; the proof shifts noise by whole numbers, so it holds for
    /// discrete noise, integer queries and integer thresholds). Rounded up.
    pub fn loss<K: Directions>(&self, sensitivity: Sensitivity<K>) -> Epsilon {
        let shifts = K::SHIFTS * u64::from(self.positives);
        let rate = self.threshold_noise.rate() + self.query_noise.rate() * RBig::from(shifts);
        let loss = Exact::from_rational(&(rate * RBig::from(sensitivity.per_unit())), Round::Up);
        Epsilon::new(loss.unwrap_or(Exact::INFINITY))
    }

    /// Sparse vector over queries of the author's choice. `evaluate` computes the query that a value of `Q` names.
    ///
    /// The author vouches that every query that a `Q` can name has this sensitivity, and that `evaluate` does not panic
    /// because of the data. Loss per started unit of distance: [`loss`](Self::loss). Queries that move together are for
    /// connected spaces: see [`KnownOn`].
    pub fn measurement<S, Q, K>(
        &self,
        space: S,
        sensitivity: Sensitivity<K>,
        evaluate: impl Fn(&S::Data, &Q) -> i64 + Send + Sync + 'static,
    ) -> Measurement<S, PureDp, Queryable<Above<Q>, bool>>
    where
        S: Space<Distance: Number>,
        Q: 'static,
        K: KnownOn<S>,
    {
        let per_unit = sensitivity.per_unit();
        let map = per_started_unit(self.loss(sensitivity));
        let evaluate: Arc<Evaluate<S::Data, Q>> = Arc::new(evaluate);
        let parameters = Arc::new(self.clone());
        let measurement = Measurement::new("sparse vector", space, map, move |data, scope| {
            scope.spawn(Running {
                data: Arc::clone(data),
                evaluate: Arc::clone(&evaluate),
                gate: Gate::new(&parameters),
            })
        });
        self.describe(measurement.with_parameter("sensitivity", per_unit))
    }

    /// The measurement with these parameters in its description.
    pub(crate) fn describe<S: Space, A: 'static>(
        &self,
        measurement: Measurement<S, PureDp, A>,
    ) -> Measurement<S, PureDp, A> {
        let noise = |noise: &DiscreteLaplace| {
            let (name, value) = noise.parameter();
            format!("discrete Laplace, {name} {value}")
        };
        measurement
            .with_parameter("positives", self.positives)
            .with_parameter("threshold noise", noise(&self.threshold_noise))
            .with_parameter("query noise", noise(&self.query_noise))
    }

    /// Sparse vector over counts of records. A predicate looks at one record at a time, so every count has sensitivity 1
    /// whatever the analyst names; counts move together when records are added or removed.
    pub fn of_counts<S, P>(&self, space: S) -> Measurement<S, PureDp, Queryable<Above<P>, bool>>
    where
        S: OfRecords + Connected,
        P: Predicate<S::Record>,
    {
        let count = |records: &Vec<S::Record>, predicate: &P| {
            records.iter().filter(|r| predicate.holds(r)).count() as i64
        };
        self.measurement(space, Sensitivity::of_counts::<S::Metric>(), count)
    }
}

type Evaluate<X, Q> = dyn Fn(&X, &Q) -> i64 + Send + Sync;

/// `n^⅔`, rounded down, at least one.
fn two_thirds_power(n: u64) -> UBig {
    let square = UBig::from(n) * UBig::from(n);
    dashu_base::CubicRoot::cbrt(&square).max(UBig::ONE)
}

/// The comparisons themselves, for every mechanism that is built on them.
pub(crate) struct Gate {
    parameters: Arc<SparseVector>,
    /// Drawn with the first comparison.
    threshold_noise: Option<IBig>,
    positives_left: u32,
}

impl Gate {
    pub(crate) fn new(parameters: &Arc<SparseVector>) -> Self {
        Self {
            parameters: Arc::clone(parameters),
            threshold_noise: None,
            positives_left: parameters.positives,
        }
    }

    /// Is the value, with noise, at least the threshold, with its noise? The last positive answer closes the gate.
    pub(crate) fn is_above(
        &mut self,
        value: i128,
        threshold: i128,
        scope: &mut Scope<'_>,
    ) -> Result<bool, AskError> {
        if self.is_closed() {
            return Err(AskError::Halted);
        }
        let threshold_noise = match &self.threshold_noise {
            Some(noise) => noise,
            None => {
                let noise = scope.draw(&self.parameters.threshold_noise)?;
                self.threshold_noise.insert(noise)
            }
        };
        let noise = scope.draw(&self.parameters.query_noise)?;
        let above = IBig::from(value) + noise >= IBig::from(threshold) + threshold_noise;
        if above {
            self.positives_left -= 1;
        }
        Ok(above)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.positives_left == 0
    }
}

struct Running<X, Q> {
    data: Arc<X>,
    evaluate: Arc<Evaluate<X, Q>>,
    gate: Gate,
}

impl<X: Send + Sync, Q> Machine for Running<X, Q> {
    type Query = Above<Q>;
    type Answer = bool;

    fn step(&mut self, asked: Above<Q>, scope: &mut Scope<'_>) -> Result<bool, AskError> {
        let value = i128::from((self.evaluate)(&self.data, &asked.query));
        let above = self
            .gate
            .is_above(value, i128::from(asked.threshold), scope)?;
        if self.gate.is_closed() {
            scope.halt();
        }
        Ok(above)
    }
}
