//! The continual monotone histogram: a statistic of columns, while rows arrive (\[HSV25\] §7, Alg 4).
//!
//! It is built from a counter, monitors and Laplace comparisons, as a [composite](continual::composite): the type checker
//! sees to it that rows flow into parts only. A row is in one interval, so that one monitor, one comparison and one step of
//! the counter see it: three slots of [`ApproximateParallel`], however many intervals there are. It is charged once.

mod counting;
mod parts;
mod running;
mod statistic;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use continual::{
    ApproximateParallel, StreamMessage,
    composite::CompositeMechanism,
    streams::{Continual, Streams, Updates},
};
use dashu_ratio::RBig;
use exact::{Exact, Round, search::Least};
use measures::{MapError, Measure};
use queryable::Machine;

pub use self::{counting::CountingNoise, statistic::Statistic};
use self::{
    parts::{Losses, Noises},
    running::Running,
};
use crate::{
    calibrate::SCALE_BITS,
    counter::Counter,
    error::BuildError,
    parameter::{self, Parameter, positive},
    samplers::{DiscreteGaussian, DiscreteLaplace},
    sparse::{Sensitivity, SparseVector},
};

/// How much the threshold grows, and how much is allowed for the noise of a comparison. Privacy does not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margins {
    /// The distance between thresholds (γ in \[HSV25\]).
    pub step: i64,
    /// How far below its threshold a comparison still counts as above (ξ).
    pub check: i64,
}

/// What a histogram takes: rows, and the question for what was last published.
pub type RowMessage = StreamMessage<Vec<bool>, ()>;

/// A statistic of column totals while rows of bits arrive.
///
/// ```
/// use odometry::continual::{StreamMessage::Update, streams::{Streams, Updates}};
/// use odometry::measures::{Basic, PureDp};
/// use odometry::mechanisms::histogram::{Histogram, Statistic};
/// use odometry::odometer::Odometer;
/// let largest = Histogram::for_epsilon("3", 2, 1000, Statistic::Largest)?;
/// assert_eq!(largest.loss().to_string(), "3");
///
/// let session = Odometer::new(Streams::with(Updates), Basic::new(PureDp)).open(())?;
/// let running = session.launch(&largest.continual())?;
/// for _ in 0..1000 {
///     let published: i64 = running.ask(Update(vec![true, false]))?;
///     # let _ = published;
/// }
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "3"); // at event level: one row
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Histogram<N = DiscreteLaplace> {
    dimensions: usize,
    horizon: u64,
    statistic: Statistic,
    noises: Arc<Noises<N>>,
    losses: Arc<Losses>,
    margins: Margins,
}

impl Histogram {
    /// For at most `horizon` rows with so many columns, with a loss of at most ε between streams that differ in one row: a
    /// third for the counter, a third for the monitors and a third for the comparisons.
    ///
    /// # Errors
    /// [`BuildError`] if ε, the columns or the horizon is zero.
    pub fn for_epsilon(
        epsilon: impl Parameter,
        dimensions: usize,
        horizon: u64,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        let third = third_of(epsilon, dimensions)?;
        let levels = u64::from(horizon.checked_ilog2().unwrap_or(0)) + 1;
        let blocks = RBig::from(levels) * RBig::from(dimensions as u64);
        let noise = DiscreteLaplace::new(blocks / positive("ε", &third)?)?;
        let (monitor, comparison) = watching(&third)?;
        let counter = Counter::new(horizon, noise)?;
        Self::with_noise(counter, monitor, comparison, dimensions, statistic)
    }

    /// With these parts: the counter's horizon is the histogram's. The monitor should have one positive answer: after the
    /// first, its interval ends.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without columns.
    pub fn with_noise(
        counter: Counter<DiscreteLaplace>,
        monitor: SparseVector,
        comparison: DiscreteLaplace,
        dimensions: usize,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        let noises = Noises {
            counter,
            monitor,
            comparison,
        };
        Self::of(noises, &Exact::ZERO, dimensions, statistic)
    }
}

impl Histogram<DiscreteGaussian> {
    /// The same with a loss of at most (ε, δ): the counter has Gaussian noise, and all of δ. With many columns it is the
    /// better one: its error grows with their root.
    ///
    /// ```
    /// use odometry::mechanisms::histogram::{Histogram, Statistic};
    /// let pure = Histogram::for_epsilon("1", 100, 100_000, Statistic::Largest)?;
    /// let gaussian = Histogram::for_approx("1", "1e-6", 100, 100_000, Statistic::Largest)?;
    /// assert!(gaussian.loss().epsilon() <= &"1".parse()?);
    /// assert!(gaussian.accuracy(0.05) < 0.5 * pure.accuracy(0.05));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if ε, δ, the columns or the horizon is zero, or δ is one and more.
    pub fn for_approx(
        epsilon: impl Parameter,
        delta: impl Parameter,
        dimensions: usize,
        horizon: u64,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        let (third, delta) = (third_of(epsilon, dimensions)?, parameter::loss("δ", delta)?);
        let (monitor, comparison) = watching(&third)?;
        let counter = |variance: &Exact| Counter::new(horizon, DiscreteGaussian::new(variance)?);
        counter(&Exact::ONE)?; // whatever is wrong with the horizon
        let fits = |variance: &Exact| {
            let counter = counter(variance).ok();
            let row = counter.and_then(|one| CountingNoise::row(&one, dimensions, &delta).ok());
            row.is_some_and(|row| *row.epsilon() <= third)
        };
        let Least::Found(variance) = Exact::least(SCALE_BITS, 0, fits) else {
            let demand = "above 0 and below 1, so that some noise is enough";
            return Err(BuildError::out_of_range("δ", demand, delta));
        };
        Self::with_gaussian_noise(
            counter(&variance)?,
            &delta,
            monitor,
            comparison,
            dimensions,
            statistic,
        )
    }

    /// With these parts, as [`with_noise`](Histogram::with_noise); the counter's loss is taken at this δ.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without columns; [`BuildError::OutOfRange`] for a δ of one and more.
    pub fn with_gaussian_noise(
        counter: Counter<DiscreteGaussian>,
        delta: &Exact,
        monitor: SparseVector,
        comparison: DiscreteLaplace,
        dimensions: usize,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        if *delta >= Exact::ONE {
            return Err(BuildError::out_of_range("δ", "below 1", delta));
        }
        let noises = Noises {
            counter,
            monitor,
            comparison,
        };
        Self::of(noises, delta, dimensions, statistic)
    }
}

/// A third of ε, rounded down, so that three of them are no more than ε.
fn third_of(epsilon: impl Parameter, dimensions: usize) -> Result<Exact, BuildError> {
    if dimensions == 0 {
        return Err(NO_COLUMNS);
    }
    Ok(parameter::loss("ε", epsilon)?.split(3))
}

const NO_COLUMNS: BuildError = BuildError::Empty {
    what: "the columns",
};

/// A monitor and a comparison of this loss each.
fn watching(each: &Exact) -> Result<(SparseVector, DiscreteLaplace), BuildError> {
    let rate = positive("ε", each)?;
    let monitor = SparseVector::for_epsilon(each, Sensitivity::UNIT, 1)?;
    Ok((monitor, DiscreteLaplace::new(RBig::ONE / rate)?))
}

impl<N: CountingNoise> Histogram<N> {
    fn of(
        noises: Noises<N>,
        delta: &Exact,
        dimensions: usize,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        if dimensions == 0 {
            return Err(NO_COLUMNS);
        }
        let losses = noises.losses(dimensions, delta).map_err(|_: MapError| {
            BuildError::out_of_range("the columns", "few enough for a finite loss", dimensions)
        })?;
        let histogram = Self {
            dimensions,
            horizon: noises.counter.horizon(),
            statistic,
            noises: Arc::new(noises),
            losses: Arc::new(losses),
            margins: Margins { step: 1, check: 0 },
        };
        let margins = histogram.margins_for(0.05);
        Ok(histogram.with_margins(margins))
    }

    /// With other margins. The default is [`margins_for`](Self::margins_for) a failure probability of 0.05.
    #[must_use]
    pub fn with_margins(self, margins: Margins) -> Self {
        Self { margins, ..self }
    }

    /// The loss between streams that differ in one row. Rounded up.
    pub fn loss(&self) -> <N::Whole as Measure>::Loss {
        N::whole(self.losses.whole())
    }

    /// With probability at least `1 − β`, in all steps: the two noises of a monitor's comparison are together within the
    /// first number, the noise of a Laplace comparison within the second, and every total of the counter within the third.
    ///
    /// Laplace noise of scale `s` is beyond `x` with probability at most `2e^(−x/s)`, one-sided or not; the sum of a counter's
    /// blocks is as far out as its [noise](CountingNoise) says. Each of the four kinds of noise gets β/4, shared among the
    /// horizon's steps (and the columns).
    fn noise_within(&self, beta: f64) -> [f64; 3] {
        let steps = self.horizon as f64;
        let scale = |noise: &DiscreteLaplace| 1.0 / noise.loss_per_unit().to_f64(Round::Down);
        let tail = |noise: &DiscreteLaplace| scale(noise) * (8.0 * steps / beta).ln();
        let [threshold, query] = self.noises.monitor.scales();
        let log = (8.0 * steps * self.dimensions as f64 / beta).ln();
        let blocks = self.noises.counter.most_blocks() as f64;
        [
            (threshold + query) * (8.0 * steps / beta).ln(),
            tail(&self.noises.comparison),
            self.noises.counter.noise().spread(blocks, log),
        ]
    }

    /// Margins for a failure probability (derived here; the paper takes them from elsewhere): thresholds are as far apart
    /// as a monitor can be wrong, and a comparison counts as above if its noise may be to blame.
    pub fn margins_for(&self, beta: f64) -> Margins {
        let [monitor, comparison, _] = self.noise_within(beta);
        Margins {
            step: (monitor.ceil() as i64).max(1),
            check: comparison.ceil() as i64,
        }
    }

    /// How far what is published can be from the truth: at most so far at all steps with probability at least `1 − β`, if
    /// the margins are those for β (derived here).
    ///
    /// Let `a`, `ξ`, `κ` bound the noises. What is published is at most `κ` above. After an interval that ended with a
    /// comparison above, the truth was more than `threshold − 2ξ − κ`; while the next monitor says no, it is below
    /// `threshold + γ + a + κ`; and what is published was `κ` off. After one that ended with a comparison below, or before
    /// the first, it is less. Together `γ + a + 2ξ + 3κ`, which is of order `d·ln^1.5(T)·ln(dT/β)/ε`, or with
    /// Gaussian noise `√d·ln(T)·√(ln(dT/β)·ln(1/δ))/ε` and `ln(T/β)/ε`.
    pub fn accuracy(&self, beta: f64) -> f64 {
        let [monitor, comparison, counter] = self.noise_within(beta);
        let step = self.margins_for(beta).step as f64;
        step + monitor + 2.0 * comparison.ceil() + 3.0 * counter
    }

    /// The continual mechanism. After the horizon's last row it takes no more.
    pub fn machine(&self) -> impl Machine<Query = RowMessage, Answer = i64> + use<N> {
        let catalogue = self
            .noises
            .catalogue(&self.losses, self.dimensions, self.statistic);
        CompositeMechanism::new(self.running(), catalogue, self.slots())
    }

    fn running(&self) -> Running {
        Running::new(self.dimensions, self.horizon, self.statistic, self.margins)
    }

    fn slots(&self) -> ApproximateParallel {
        self.losses.allowance()
    }

    /// The same as a measurement, for accounts. Distances count the rows that differ; with Gaussian noise, at most one may.
    pub fn continual(&self) -> Continual<Updates, N::Whole, RowMessage, i64> {
        let (histogram, map) = (self.clone(), N::whole_map(self.losses.whole()));
        Streams::with(Updates)
            .measurement("continual histogram", map, move || histogram.machine())
            .with_parameter("columns", self.dimensions)
            .with_parameter("horizon", self.horizon)
    }
}
