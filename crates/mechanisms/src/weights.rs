//! Private multiplicative weights (\[HR10\]; \[DR14\] Alg 5 and 6): any number of counting queries
//! over a finite universe, answered from a public hypothesis about the data that is corrected only where it is wrong.
//!
//! Whether the hypothesis is wrong is asked of sparse vector; a correction uses one noisy count. Both are charged once,
//! at launch, for the largest number of corrections. The hypothesis is a function of what was released, so it is kept in
//! floating point: whatever it rounds, it costs no privacy.
//!
//! **The step.** A correction takes the hypothesis to the nearest distribution that has the measured count: the step is as long as
//! the hypothesis was wrong. Let `p`, `g` and `s` be the shares of the subset in the data, in the hypothesis and as measured. The relative entropy of the
//! data to the hypothesis, at first `ln|universe|` at the most, falls by `kl(p‖g) − kl(p‖s) ≥ 2(p − g)² − (p − s)²/(s(1 − s))` (derived here), where
//! the fixed step of \[DR14\] gives `(p − g)²/4` at the best. What was measured before is then looked at again, and corrected
//! where the hypothesis has moved away from it by more than the noise: that uses no more of the data.
//!
//! **When to take something else.** A histogram of the universe with Laplace noise answers a question about `m` elements within `√(8m)/ε` records
//! (standard deviation), any number of questions, for the same price. The threshold here is about `2c·ln(2k/β)/ε` with `c` corrections and `k` questions.
//! So the histogram is better for `m` below some `(c·ln(2k/β))²/2`: always in a universe of 1024 elements, where it is off by 91 records at the worst and this by
//! 1,000 and more. Multiplicative weights are for universes of millions of elements, of which data are few and structured. The shorter the step, the less
//! it disturbs what was right: of nearly uniform data, and with a dozen corrections, a fixed step used them up later (140 questions instead of 70), and
//! neither came to the end. Questions that have nothing to do with each other (random subsets) need a correction each.

use std::sync::Arc;

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{ChangeOneDistance, Epsilon, PrivacyMap, PureDp};
use odometer::{Measurement, Space};
use queryable::{AskError, Machine, Queryable, Scope};

use crate::{
    error::BuildError,
    integers::noisy,
    noise::described,
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

queryable::canonical_copies!(Estimate);

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
        let answer_noise = counts_noise(&half, corrections)?;
        Self::new((universe, size), comparisons, answer_noise, threshold)
    }

    /// With a loss of exactly ε for a changed record, for so many questions: noise and threshold such that with probability 95 % no
    /// hypothesis is corrected that is right, and none is kept that is off by twice the threshold.
    ///
    /// More corrections make more noise, and so a higher threshold; too few are used up before the last question.
    ///
    /// ```
    /// use odometry::mechanisms::weights::MultiplicativeWeights;
    /// let pmw = MultiplicativeWeights::for_questions(1, (1024, 50_000), 48, 500)?;
    /// assert_eq!(pmw.loss().to_string(), "1");
    /// assert!((1000..1200).contains(&pmw.threshold()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_epsilon`](Self::for_epsilon), and [`BuildError::NotPositive`] for the questions.
    pub fn for_questions(
        epsilon: impl Parameter,
        (universe, size): (usize, usize),
        corrections: u32,
        questions: u32,
    ) -> Result<Self, BuildError> {
        let half = parameter::loss("ε", epsilon)?.div(&Exact::from(2u32), Round::Down);
        // A question is two comparisons: too large, and too small.
        let plan = (2 * u64::from(questions), 0.05);
        let comparisons =
            SparseVector::for_comparisons(&half, Sensitivity::UNIT, corrections, plan)?;
        let threshold = comparisons.margin(plan.0, plan.1).ceil() as i64;
        let answer_noise = counts_noise(&half, corrections)?;
        Self::new((universe, size), comparisons, answer_noise, threshold)
    }

    /// By about how many records an answer has to be off for a correction.
    pub const fn threshold(&self) -> i64 {
        self.threshold
    }

    /// How many corrections suffice for an error of `threshold` records out of `size`, if no noise is larger than half
    /// of it: `⌈4·ln|universe|/α²⌉` with `α = threshold/size` (\[DR14\] Thm 4.10). Advice, in floating point.
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
            let mut counts = vec![0; parameters.space.universe];
            for element in data.iter() {
                counts[*element] += 1;
            }
            scope.spawn(Running {
                counts,
                gate: Gate::new(&parameters.comparisons),
                hypothesis: Hypothesis::uniform(&parameters),
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

/// Noise on so many counts, for this ε together.
fn counts_noise(epsilon: &Exact, corrections: u32) -> Result<DiscreteLaplace, BuildError> {
    DiscreteLaplace::new(RBig::from(corrections) / positive("ε", epsilon)?)
}

/// A distribution over the universe, and what was measured: public.
struct Hypothesis {
    weights: Vec<f64>,
    size: f64,
    measured: Vec<(Subset, f64)>,
    /// By how many records a measured count may be off without a correction.
    tolerance: f64,
}

/// How often everything that was measured is looked at after a correction.
const PASSES: usize = 4;

impl Hypothesis {
    fn uniform(parameters: &MultiplicativeWeights) -> Self {
        let Samples { universe, size } = parameters.space;
        Self {
            weights: vec![1.0 / universe as f64; universe],
            size: size as f64,
            measured: Vec::new(),
            tolerance: 1.0 / parameters.answer_noise.rate().to_f64().value(),
        }
    }

    fn share(&self, subset: &Subset) -> f64 {
        let pairs = self.weights.iter().zip(&subset.0);
        let inside = pairs.filter(|(_, inside)| **inside);
        inside.map(|(weight, _)| weight).sum()
    }

    /// How many records would be in the subset.
    fn count(&self, subset: &Subset) -> i64 {
        (self.share(subset) * self.size).round() as i64
    }

    /// Takes in a measured count.
    fn correct(&mut self, subset: Subset, count: i64) {
        // Half a record inside and outside, so that no weight becomes zero.
        let share = (count as f64).clamp(0.5, self.size - 0.5) / self.size;
        self.project(&subset, share);
        self.measured.push((subset, share));
        let measured = std::mem::take(&mut self.measured);
        for _ in 0..PASSES {
            for (subset, share) in &measured {
                if (self.share(subset) - share).abs() * self.size > self.tolerance {
                    self.project(subset, *share);
                }
            }
        }
        self.measured = measured;
    }

    /// To the nearest distribution, in relative entropy, in which the subset has this share.
    fn project(&mut self, subset: &Subset, share: f64) {
        let now = self.share(subset);
        if now <= 0.0 || now >= 1.0 {
            return;
        }
        let factors = [(1.0 - share) / (1.0 - now), share / now];
        for (weight, inside) in self.weights.iter_mut().zip(&subset.0) {
            *weight *= factors[usize::from(*inside)];
        }
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

struct Running {
    /// How many records have each element.
    counts: Vec<i64>,
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
        let inside = self
            .counts
            .iter()
            .zip(&subset.0)
            .filter(|(_, inside)| **inside);
        let truth: i128 = inside.map(|(count, _)| i128::from(*count)).sum();
        let guess = self.hypothesis.count(&subset);
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
        let count = noisy(truth, &parameters.answer_noise, scope)?;
        self.hypothesis.correct(subset, count);
        if self.gate.is_closed() {
            scope.halt();
        }
        Ok(Estimate {
            count,
            measured: true,
        })
    }
}
