//! Sparse vector and above-threshold: any number of comparisons with thresholds, and only the answers "above" cost.
//!
//! This is Algorithm 7 of Lyu, Su and Li (PVLDB 2017), without numeric answers: one noise on the threshold for the whole
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
use measures::{Epsilon, Metric, Number, PrivacyMap, PureDp};
use odometer::{AnyOf, Domain, Measurement, Space};
use queryable::{AskError, Machine, Queryable, Scope};

use crate::{
    error::BuildError,
    records::{Predicate, RecordMetric, RecordSpace},
    samplers::DiscreteLaplace,
    selection::positive,
};

/// A comparison: is this query of the data at least the threshold?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Above<Q> {
    /// What to compute.
    pub query: Q,
    /// What to compare with.
    pub threshold: i64,
}

/// How much queries change per unit of distance, at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sensitivity {
    by: u64,
    together: bool,
}

impl Sensitivity {
    /// One, in either direction.
    pub const UNIT: Self = Self {
        by: 1,
        together: false,
    };

    /// Each query changes by at most this much, in either direction.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn free(by: u64) -> Result<Self, BuildError> {
        Self::new(by, false)
    }

    /// Each query changes by at most this much, and between any two inputs one unit apart all queries change in the same
    /// direction (or not at all): half of the noise suffices (Lyu, Su, Li 2017 §4.3).
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn together(by: u64) -> Result<Self, BuildError> {
        Self::new(by, true)
    }

    fn new(by: u64, together: bool) -> Result<Self, BuildError> {
        match by {
            0 => Err(BuildError::not_positive("the sensitivity", 0)),
            _ => Ok(Self { by, together }),
        }
    }

    /// That of counting queries: 1, and together if records are added or removed and not replaced.
    pub fn of_counts<MI: RecordMetric>() -> Self {
        Self {
            by: 1,
            together: !MI::REPLACES,
        }
    }

    /// How many units of query noise an answer "above" costs.
    fn shifts(&self) -> u64 {
        if self.together { 1 } else { 2 }
    }
}

/// The parameters of sparse vector: how many answers "above" before it halts, and its noise.
///
/// ```
/// use measures::SymmetricDistance;
/// use mechanisms::sparse::{Above, Sensitivity, SparseVector};
/// use odometer::Space;
/// let ages = Space::any::<Vec<i64>>(SymmetricDistance);
/// let sensitivity = Sensitivity::of_counts::<SymmetricDistance>();
/// let svt = SparseVector::for_epsilon(&"1".parse()?, sensitivity, 2)?.of_counts(ages);
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
    /// queries that move together: that makes the comparisons most accurate (Lyu, Su, Li 2017 §4.2). The power is
    /// rounded down to an integer, so that the split is exact.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn for_epsilon(
        epsilon: &Exact,
        sensitivity: Sensitivity,
        positives: u32,
    ) -> Result<Self, BuildError> {
        let epsilon = positive("ε", epsilon)?;
        if positives == 0 {
            return Err(BuildError::not_positive("the number of positives", 0));
        }
        let shifts = sensitivity.shifts() * u64::from(positives);
        let share = RBig::from(two_thirds_power(shifts));
        let by = RBig::from(sensitivity.by);
        let threshold_epsilon = &epsilon / (RBig::ONE + &share);
        let query_epsilon = &threshold_epsilon * share;
        Self::new(
            positives,
            DiscreteLaplace::new(&by / threshold_epsilon)?,
            DiscreteLaplace::new(by * RBig::from(shifts) / query_epsilon)?,
        )
    }

    /// Above-threshold: sparse vector that halts with its first answer "above" (Dwork, Roth 2014 Alg 1, with the better
    /// split of ε).
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn above_threshold(epsilon: &Exact, sensitivity: Sensitivity) -> Result<Self, BuildError> {
        Self::for_epsilon(epsilon, sensitivity, 1)
    }

    /// The noise on the threshold, and the noise on each query.
    pub fn into_noise(self) -> (DiscreteLaplace, DiscreteLaplace) {
        (self.threshold_noise, self.query_noise)
    }

    /// The loss per unit of distance: `Δ·(1/t_threshold + 2c/t_query)`, or with `c` in place of `2c` for queries that
    /// move together (Lyu, Su, Li 2017 Thm 4 and 5; the proof shifts noise by whole numbers, so it holds for discrete
    /// noise, integer queries and integer thresholds). Rounded up.
    pub fn loss(&self, sensitivity: Sensitivity) -> Epsilon {
        let shifts = sensitivity.shifts() * u64::from(self.positives);
        let rate = self.threshold_noise.rate() + self.query_noise.rate() * RBig::from(shifts);
        let loss = Exact::from_rational(&(rate * RBig::from(sensitivity.by)), Round::Up);
        Epsilon::new(loss.unwrap_or(Exact::INFINITY))
    }

    /// Sparse vector over queries of the author's choice. `evaluate` computes the query that a value of `Q` names.
    ///
    /// The author vouches that every query that a `Q` can name has this sensitivity, and that `evaluate` does not panic
    /// because of the data. Loss per unit of distance: [`loss`](Self::loss).
    pub fn measurement<D, MI, Q>(
        &self,
        space: Space<D, MI>,
        sensitivity: Sensitivity,
        evaluate: impl Fn(&D::Carrier, &Q) -> i64 + Send + Sync + 'static,
    ) -> Measurement<D, MI, PureDp, Queryable<Above<Q>, bool>>
    where
        D: Domain,
        MI: Metric<Distance: Number>,
        Q: 'static,
    {
        let map = PrivacyMap::linear(space.metric.clone(), PureDp, self.loss(sensitivity));
        let evaluate: Arc<Evaluate<D::Carrier, Q>> = Arc::new(evaluate);
        let parameters = Arc::new(self.clone());
        Measurement::new("sparse vector", space, map, move |data, scope| {
            scope.spawn(Running {
                data: Arc::clone(data),
                evaluate: Arc::clone(&evaluate),
                gate: Gate::new(&parameters),
            })
        })
        .with_parameter("positives", self.positives)
    }

    /// Sparse vector over counts of records. A predicate looks at one record at a time, so every count has sensitivity 1
    /// whatever the analyst names; counts move together when records are added or removed.
    pub fn of_counts<T, MI, P>(
        &self,
        space: RecordSpace<T, MI>,
    ) -> Measurement<AnyOf<Vec<T>>, MI, PureDp, Queryable<Above<P>, bool>>
    where
        T: Send + Sync + 'static,
        MI: RecordMetric,
        P: Predicate<T>,
    {
        let count = |records: &Vec<T>, predicate: &P| {
            records.iter().filter(|r| predicate.holds(r)).count() as i64
        };
        self.measurement(space, Sensitivity::of_counts::<MI>(), count)
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
