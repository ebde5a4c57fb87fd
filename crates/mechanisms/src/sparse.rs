//! Sparse vector and above-threshold: any number of comparisons with thresholds, and only the answers "above" cost.
//!
//! This is Algorithm 7 of \[LSL17\], without numeric answers: one noise on the threshold for the whole
//! run, fresh noise on every query, at most `c` answers "above". Several published variants are wrong; the tests refute
//! them. It is charged once, when launched, and never per query.
//!
//! **One-sided noise.** All noise is geometric, so never below zero, which halves the variance of Laplace noise at the same loss.
//! *Proof* (ours, after \[LSL17\] Thm 4 and 5). Let a unit of distance change queries by at most Δ. Fix all answers, and pair
//! the threshold noise `z` of one input with `z + Δ` of the other. That costs `q(z)/q(z + Δ) ≤ e^(Δ/t₁)` in the law of the threshold noise:
//! one direction only, which noise above zero has. Answers "below" get more likely. An answer "above" needs query noise of at
//! least some `m`, and then of at least `m + 2Δ`, which has `e^(−2Δ/t₂)` of the probability or more: a statement about tails, not
//! about points. If all queries rise, `m + Δ` is enough; if all fall, `z` is paired with itself, and `m + Δ` is enough.
//!
//! **Who vouches.** The author of the measurement vouches that each query an analyst can *name* has the declared
//! sensitivity: an analyst sends a value of a query type (a range, an index), not a function, and so cannot lie.
//! [`Vouched`](crate::records::Vouched) lets in functions, for analysts who are trusted like authors.

use std::sync::Arc;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Epsilon, Number, PureDp};
use odometer::{Collection as _, Connected, Measurement, OfRecords, Space};
use queryable::{AskError, Machine, Queryable, Scope};

pub use crate::sensitivity::{Counts, Directions, Free, KnownOn, Sensitivity, Together};
use crate::{
    error::BuildError,
    parameter::{Parameter, positive},
    records::Predicate,
    samplers::Geometric,
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
/// use odometry::measures::SymmetricDistance;
/// use odometry::mechanisms::sparse::{Above, Sensitivity, SparseVector};
/// use odometry::odometer::Records;
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
    threshold_noise: Geometric,
    query_noise: Geometric,
    /// What query noise is larger than threshold noise, about: compared with the difference. Public.
    centre: i64,
}

impl SparseVector {
    /// Halts after `positives` answers "above", at least one. A query that equals its threshold is as often above as below,
    /// about.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn new(
        positives: u32,
        threshold_noise: Geometric,
        query_noise: Geometric,
    ) -> Result<Self, BuildError> {
        if positives == 0 {
            return Err(BuildError::not_positive("the number of positives", 0));
        }
        let centre = median([&threshold_noise, &query_noise].map(scale));
        Ok(Self {
            positives,
            threshold_noise,
            query_noise,
            centre,
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
        let share = RBig::from(two_thirds_power(K::SHIFTS * u64::from(positives)));
        Self::split(epsilon, sensitivity, positives, share)
    }

    /// With a loss of exactly ε per unit of distance, for so many comparisons: the split of ε and the centre that make
    /// [`margin`](Self::margin) least, if one answer is "above" and the others are not.
    ///
    /// With failure probability β, noise stays below `a = t₂·ln(k/β)` in queries and `b = t₁·ln(1/β)` in the threshold (derived here),
    /// so the centre is `(a − b)/2`, and the least `(a + b)/2` is at ε₂ : ε₁ = `√(SHIFTS·c·ln(k/β)) : √ln(1/β)`.
    ///
    /// ```
    /// use odometry::mechanisms::sparse::{Sensitivity, SparseVector};
    /// let together = Sensitivity::together(1)?;
    /// let svt = SparseVector::for_comparisons(1, together, 1, (1000, 0.05))?;
    /// assert_eq!(svt.loss(together).to_string(), "1");
    /// assert!(svt.margin(1000, 0.05) < 12.6); // `for_epsilon` knows no k: 18.9
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::NotPositive`]; [`BuildError::OutOfRange`] for a β that is not between 0 and 1.
    pub fn for_comparisons<K: Directions>(
        epsilon: impl Parameter,
        sensitivity: Sensitivity<K>,
        positives: u32,
        (comparisons, beta): (u64, f64),
    ) -> Result<Self, BuildError> {
        let epsilon = positive("ε", epsilon)?;
        if positives == 0 || comparisons == 0 {
            let what = "the number of positives, and of comparisons,";
            return Err(BuildError::not_positive(what, 0));
        }
        if !(beta > 0.0 && beta < 1.0) {
            return Err(BuildError::out_of_range("β", "between 0 and 1", beta));
        }
        // Every split and every centre is private: floating point may choose them.
        let (a, b) = ((comparisons as f64 / beta).ln(), (1.0 / beta).ln());
        let shifts = (K::SHIFTS * u64::from(positives)) as f64;
        let share = ((shifts * a / b).sqrt() * 64.0).clamp(1.0, 1e15) as u64;
        let share = RBig::from_parts(share.into(), 64u8.into());
        let split = Self::split(epsilon, sensitivity, positives, share)?;
        let [threshold, query] = split.scales();
        let centre = ((query * a - threshold * b) / 2.0).round() as i64;
        Ok(Self { centre, ..split })
    }

    /// A share of ε for queries, where the threshold has one.
    fn split<K: Directions>(
        epsilon: RBig,
        sensitivity: Sensitivity<K>,
        positives: u32,
        share: RBig,
    ) -> Result<Self, BuildError> {
        let shifts = RBig::from(K::SHIFTS * u64::from(positives));
        let by = RBig::from(sensitivity.per_unit());
        let threshold_epsilon = &epsilon / (RBig::ONE + &share);
        let query_epsilon = &threshold_epsilon * share;
        Self::new(
            positives,
            Geometric::new(&by / threshold_epsilon)?,
            Geometric::new(by * shifts / query_epsilon)?,
        )
    }

    /// How far from their thresholds queries have to be, so that with probability at least `1 − β` so many comparisons that
    /// should be below are, and then one that should be above is. For advice, in floating point.
    pub fn margin(&self, comparisons: u64, beta: f64) -> f64 {
        let [p, q] = self.scales().map(|scale| (-1.0 / scale).exp());
        let centre = self.centre as f64;
        // E q^Z and E p^X for geometric noises; the rest is the tail of the other one.
        let wrongly_above = |x: f64| comparisons as f64 * q.powf(x + centre) * (1.0 - p);
        let wrongly_below = |x: f64| p.powf(x - centre + 1.0) * (1.0 - q);
        let fails = |x: f64| (wrongly_above(x) + wrongly_below(x)) / (1.0 - p * q) > beta;
        let (mut low, mut high) = (0.0, 1.0);
        while fails(high) && high < 1e300 {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if fails(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
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

    /// How many answers "above" there are before it halts.
    pub fn positives(&self) -> u32 {
        self.positives
    }

    /// The scales of the noise on the threshold, and of the noise on each query. The two noises of a comparison are together
    /// off by more than `s·ln(1/β₁) + t·ln(1/β₂)` with probability at most `β₁ + β₂`, whatever the centre of [`new`](Self::new).
    pub(crate) fn scales(&self) -> [f64; 2] {
        [&self.threshold_noise, &self.query_noise].map(scale)
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
    /// The author vouches that every query that a `Q` can name has this sensitivity, for records in any order if the space is one of
    /// multisets, and that `evaluate` does not panic because of the data. Loss per started unit of distance: [`loss`](Self::loss). Queries that move together are for
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
        let noise = |noise: &Geometric| {
            let (name, value) = noise.parameter();
            format!("geometric, {name} {value}")
        };
        measurement
            .with_parameter("positives", self.positives)
            .with_parameter("threshold noise", noise(&self.threshold_noise))
            .with_parameter("query noise", noise(&self.query_noise))
            .with_parameter("centre", self.centre)
    }

    /// Sparse vector over counts of records. A predicate looks at one record at a time, so every count has sensitivity 1
    /// whatever the analyst names; counts move together when records are added or removed.
    pub fn of_counts<S, P>(&self, space: S) -> Measurement<S, PureDp, Queryable<Above<P>, bool>>
    where
        S: OfRecords + Connected,
        P: Predicate<S::Record>,
    {
        let count = |records: &S::Data, predicate: &P| {
            let mut count = 0;
            records.each(&mut |record| count += i64::from(predicate.holds(record)));
            count
        };
        self.measurement(space, Sensitivity::of_counts::<S::Metric>(), count)
    }
}

fn scale(noise: &Geometric) -> f64 {
    1.0 / noise.rate().to_f64().value()
}

/// The median of query noise minus threshold noise, about: that of exponential noises.
fn median([threshold, query]: [f64; 2]) -> i64 {
    let above = |scale: f64| scale * (2.0 * scale / (threshold + query)).ln();
    let median = match query >= threshold {
        true => above(query),
        false => -above(threshold),
    };
    // Not a number becomes zero.
    median.round() as i64
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
    threshold_noise: Option<UBig>,
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
        let centre = IBig::from(self.parameters.centre);
        let above = IBig::from(value) + noise >= IBig::from(threshold) + threshold_noise + centre;
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
