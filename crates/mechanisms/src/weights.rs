//! Private multiplicative weights (\[HR10\]; \[DR14\] Alg 14 and 15): any number of counting queries
//! over a finite universe, answered from a public hypothesis about the data that is corrected only where it is wrong.
//!
//! Whether the hypothesis is wrong is asked of sparse vector; a correction uses one noisy count. Both are charged once,
//! at launch, for the largest number of corrections. The hypothesis is a function of what was released, so it is kept in
//! floating point: whatever it rounds, it costs no privacy.

use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{ChangeOneDistance, Epsilon, PrivacyMap, PureDp};
use odometer::{Measurement, Space};
use queryable::{AskError, Machine, Queryable, Scope};

use crate::{
    error::BuildError,
    noise::{described, saturate},
    parameter::{self, Parameter, positive},
    samplers::DiscreteLaplace,
    sparse::{Gate, Sensitivity, SparseVector},
};

/// All data sets of a fixed, public size over the universe `0..universe`. Their distance is the number of records to
/// replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    universe: usize,
    size: usize,
}

impl Space for Samples {
    type Data = Vec<usize>;
    type Distance = u32;
    type Metric = ChangeOneDistance;

    fn metric(&self) -> &ChangeOneDistance {
        &ChangeOneDistance
    }

    fn contains(&self, data: &Vec<usize>) -> bool {
        data.len() == self.size && data.iter().all(|&element| element < self.universe)
    }
}

/// A counting query: a subset of the universe. Its sensitivity is 1, whatever it contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subset(Vec<bool>);

impl Subset {
    /// The elements below `universe` for which `contains` is true.
    pub fn new(universe: usize, contains: impl Fn(usize) -> bool) -> Self {
        Self((0..universe).map(contains).collect())
    }
}

/// The answer to a counting query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Estimate {
    /// How many records are in the subset, about.
    pub count: i64,
    /// Whether the hypothesis was found wrong, the count measured, and the hypothesis corrected.
    pub measured: bool,
}

/// The parameters of private multiplicative weights.
///
/// ```
/// use odometry::mechanisms::weights::{MultiplicativeWeights, Subset};
/// let pmw = MultiplicativeWeights::for_epsilon(1, 8, 10_000, 12, 500)?.measurement();
/// assert_eq!(pmw.map().loss(&1)?.to_string(), "1");
/// let answers = pmw.invoke((0..10_000).map(|i| i % 3).collect())?; // three of eight elements occur
/// let low = answers.ask(Subset::new(8, |i| i < 3))?;
/// assert!((9_000..=11_000).contains(&low.count));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultiplicativeWeights {
    space: Samples,
    comparisons: Arc<SparseVector>,
    answer_noise: DiscreteLaplace,
    corrections: u32,
    threshold: i64,
    learning_rate: f64,
}

impl MultiplicativeWeights {
    /// Over data sets of `size` records from `0..universe`: corrects its hypothesis where an answer is off by about
    /// `threshold` records or more, as often as the comparisons have positive answers, and then halts.
    ///
    /// # Errors
    /// [`BuildError::Empty`] for an empty universe; [`BuildError::NotPositive`] for the size or the threshold.
    pub fn new(
        (universe, size): (usize, usize),
        comparisons: SparseVector,
        answer_noise: DiscreteLaplace,
        threshold: i64,
    ) -> Result<Self, BuildError> {
        if universe == 0 {
            let what = "the universe";
            return Err(BuildError::Empty { what });
        }
        if size == 0 {
            return Err(BuildError::not_positive("the size of the data", size));
        }
        if threshold <= 0 {
            return Err(BuildError::not_positive("the threshold", threshold));
        }
        Ok(Self {
            space: Samples { universe, size },
            corrections: comparisons.positives(),
            comparisons: Arc::new(comparisons),
            answer_noise,
            threshold,
            // η = α/2, where α is the error as a fraction ([DR14] Alg 14).
            learning_rate: (threshold as f64 / size as f64 / 2.0).min(1.0),
        })
    }

    /// With a loss of exactly ε for a changed record: half for the comparisons, half for the measured counts.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`BuildError::NotPositive`] for ε.
    pub fn for_epsilon(
        epsilon: impl Parameter,
        universe: usize,
        size: usize,
        corrections: u32,
        threshold: i64,
    ) -> Result<Self, BuildError> {
        let half = parameter::loss("ε", epsilon)?.div(&Exact::from(2u32), Round::Down);
        let comparisons = SparseVector::for_epsilon(&half, Sensitivity::UNIT, corrections)?;
        let scale = RBig::from(corrections) / positive("ε", &half)?;
        Self::new(
            (universe, size),
            comparisons,
            DiscreteLaplace::new(scale)?,
            threshold,
        )
    }

    /// How many corrections suffice for an error of `threshold` records out of `size`, if no noise is larger than half
    /// of it: `⌈4·ln|universe|/α²⌉` with `α = threshold/size` (\[DR14\] Thm 4.11). Advice, in floating point.
    pub fn corrections_for(universe: usize, size: usize, threshold: i64) -> u32 {
        let alpha = threshold as f64 / size as f64;
        (4.0 * (universe as f64).ln() / (alpha * alpha)).ceil() as u32
    }

    /// The loss for a changed record: sparse vector's at free sensitivity 1, and `corrections` noisy counts (\[LSL17\]
    /// Thm 4 with numeric answers). Rounded up.
    pub fn loss(&self) -> Epsilon {
        let counts = self.answer_noise.rate() * RBig::from(self.corrections);
        let counts = Exact::from_rational(&counts, Round::Up).unwrap_or(Exact::INFINITY);
        Epsilon::new(self.comparisons.loss(Sensitivity::UNIT).value() + &counts)
    }

    /// The measurement. Its queryable takes subsets of the universe; one of the wrong length is an invalid query.
    pub fn measurement(&self) -> Measurement<Samples, PureDp, Queryable<Subset, Estimate>> {
        let map = PrivacyMap::per_replacement(PureDp, self.loss());
        let space = self.space.clone();
        let parameters = Arc::new(self.clone());
        let start = move |data: &Arc<Vec<usize>>, scope: &mut Scope<'_>| {
            scope.spawn(Running {
                data: Arc::clone(data),
                gate: Gate::new(&parameters.comparisons),
                hypothesis: Hypothesis::uniform(parameters.space.universe),
                parameters: Arc::clone(&parameters),
            })
        };
        let measurement = Measurement::new("private multiplicative weights", space, map, start)
            .with_parameter("universe", self.space.universe)
            .with_parameter("size", self.space.size)
            .with_parameter("corrections", self.corrections)
            .with_parameter("threshold", self.threshold);
        let measurement = self.comparisons.describe(measurement);
        described(measurement, &self.answer_noise)
    }
}

/// A distribution over the universe: public.
struct Hypothesis(Vec<f64>);

impl Hypothesis {
    fn uniform(universe: usize) -> Self {
        Self(vec![1.0 / universe as f64; universe])
    }

    /// How many of `size` records would be in the subset.
    fn count(&self, subset: &Subset, size: usize) -> i64 {
        let inside = self.0.iter().zip(&subset.0).filter(|(_, inside)| **inside);
        let share: f64 = inside.map(|(weight, _)| weight).sum();
        (share * size as f64).round() as i64
    }

    /// Moves weight out of the subset, or into it.
    fn correct(&mut self, subset: &Subset, too_large: bool, learning_rate: f64) {
        for (weight, inside) in self.0.iter_mut().zip(&subset.0) {
            if *inside == too_large {
                *weight *= (-learning_rate).exp();
            }
        }
        let sum: f64 = self.0.iter().sum();
        self.0.iter_mut().for_each(|weight| *weight /= sum);
    }
}

struct Running {
    data: Arc<Vec<usize>>,
    parameters: Arc<MultiplicativeWeights>,
    gate: Gate,
    hypothesis: Hypothesis,
}

impl Machine for Running {
    type Query = Subset;
    type Answer = Estimate;

    fn step(&mut self, subset: Subset, scope: &mut Scope<'_>) -> Result<Estimate, AskError> {
        let parameters = &self.parameters;
        if subset.0.len() != parameters.space.universe {
            return Err(AskError::invalid("the subset is of another universe"));
        }
        let inside = self.data.iter().filter(|&&element| subset.0[element]);
        let truth = inside.count() as i128;
        let guess = self.hypothesis.count(&subset, parameters.space.size);
        let threshold = i128::from(parameters.threshold);
        let off = truth - i128::from(guess);
        let wrong = self.gate.is_above(off, threshold, scope)?
            || self.gate.is_above(-off, threshold, scope)?;
        if !wrong {
            return Ok(Estimate {
                count: guess,
                measured: false,
            });
        }
        let count = saturate(IBig::from(truth) + scope.draw(&parameters.answer_noise)?);
        self.hypothesis
            .correct(&subset, count < guess, parameters.learning_rate);
        if self.gate.is_closed() {
            scope.halt();
        }
        Ok(Estimate {
            count,
            measured: true,
        })
    }
}
