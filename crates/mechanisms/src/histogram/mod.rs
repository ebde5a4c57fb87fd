//! The continual monotone histogram: a statistic of columns, while rows arrive (\[HSV25\] §7, Alg 4).
//!
//! It is built from a counter, monitors and Laplace comparisons, as a [composite](continual::composite): the type checker
//! sees to it that rows flow into parts only. A row is in one interval, so that one monitor, one comparison and one step of
//! the counter see it: three slots of [`ApproximateParallel`], however many intervals there are. It is charged once.
//!
//! Nothing in that needs a horizon but the counter, and there are counters without one: an [endless](Histogram::endless) histogram has the same
//! three slots and the same thirds of ε, for ever. Only its margins grow, with the logarithm of time.

mod accuracy;
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

use self::counting::Counting;
pub use self::{accuracy::Margins, counting::CountingNoise, statistic::Statistic};
use self::{
    parts::{Losses, Noises},
    running::Running,
};
use crate::{
    calibrate::SCALE_BITS,
    counter::{Counter, EndlessCounter},
    error::BuildError,
    parameter::{self, Parameter, positive},
    samplers::{DiscreteGaussian, DiscreteLaplace},
    sparse::{Sensitivity, SparseVector},
    spend,
};

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
pub struct Histogram<N: CountingNoise = DiscreteLaplace> {
    dimensions: usize,
    statistic: Statistic,
    noises: Arc<Noises<N>>,
    losses: Arc<Losses>,
    /// One for all times, or one for each period.
    margins: Arc<[Margins]>,
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
        let noises = Noises::of(Counting::Until(counter), monitor, comparison);
        Self::of(noises, &Exact::ZERO, dimensions, statistic)
    }

    /// For streams of any length, up to 2^62 rows, with a loss of at most ε between streams that differ in one row: thirds as
    /// [`for_epsilon`](Self::for_epsilon), with an [`EndlessCounter`] for each column. Nothing is split over time: a row is in one interval, and in one
    /// epoch of each counter.
    ///
    /// ```
    /// use odometry::continual::StreamMessage::Update;
    /// use odometry::mechanisms::histogram::{Histogram, Statistic};
    /// let largest = Histogram::endless("3", 2, Statistic::Largest)?;
    /// assert!(largest.loss().value() <= &"3".parse()?);
    /// let running = largest.continual().invoke(())?;
    /// for _ in 0..1000 {
    ///     let published: i64 = running.ask(Update(vec![true, false]))?;
    ///     # let _ = published;
    /// }
    /// assert!(largest.accuracy_until(1_000, 0.05) < largest.accuracy_until(1_000_000, 0.05));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if ε or the columns are zero.
    pub fn endless(
        epsilon: impl Parameter,
        dimensions: usize,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        let third = third_of(epsilon, dimensions)?;
        let (monitor, comparison) = watching(&third)?;
        let counter = EndlessCounter::spending(spend::epsilon(third.split(dimensions as u64)))?;
        Self::endless_with_noise(counter, monitor, comparison, dimensions, statistic)
    }

    /// With these parts, as [`with_noise`](Self::with_noise).
    ///
    /// # Errors
    /// As there.
    pub fn endless_with_noise(
        counter: EndlessCounter<DiscreteLaplace>,
        monitor: SparseVector,
        comparison: DiscreteLaplace,
        dimensions: usize,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        let noises = Noises::of(Counting::Endless(counter), monitor, comparison);
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
        let variance = least_fitting(&delta, |variance| {
            let counter = counter(variance).ok()?;
            let row = DiscreteGaussian::row(&counter.map(), dimensions, &delta).ok()?;
            Some(*row.epsilon() <= third)
        })?;
        Self::with_gaussian_noise(
            counter(&variance)?,
            &delta,
            monitor,
            comparison,
            dimensions,
            statistic,
        )
    }

    /// The same for streams of any length, as [`endless`](Histogram::endless).
    ///
    /// # Errors
    /// [`BuildError`] if ε, δ or the columns are zero, or δ is one and more.
    pub fn endless_approx(
        epsilon: impl Parameter,
        delta: impl Parameter,
        dimensions: usize,
        statistic: Statistic,
    ) -> Result<Self, BuildError> {
        let (third, delta) = (third_of(epsilon, dimensions)?, parameter::loss("δ", delta)?);
        let (monitor, comparison) = watching(&third)?;
        // What one column may cost is the inverse of what is searched for: the more, the less it costs.
        let counter =
            |inverse: &Exact| EndlessCounter::spending(spend::rho(inverse.recip(Round::Down)));
        let inverse = least_fitting(&delta, |inverse| {
            let map = counter(inverse).ok()?.map();
            let row = DiscreteGaussian::row(&map, dimensions, &delta).ok()?;
            Some(*row.epsilon() <= third)
        })?;
        let noises = Noises::of(Counting::Endless(counter(&inverse)?), monitor, comparison);
        Self::of(noises, &delta, dimensions, statistic)
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
        let noises = Noises::of(Counting::Until(counter), monitor, comparison);
        Self::of(noises, delta, dimensions, statistic)
    }
}

/// The least number with which the noise is enough for this δ.
fn least_fitting(
    delta: &Exact,
    fits: impl Fn(&Exact) -> Option<bool>,
) -> Result<Exact, BuildError> {
    let fits = |x: &Exact| fits(x) == Some(true);
    let Least::Found(least) = Exact::least(SCALE_BITS, 0, fits) else {
        let demand = "above 0 and below 1, so that some noise is enough";
        return Err(BuildError::out_of_range("δ", demand, delta));
    };
    Ok(least)
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
            statistic,
            noises: Arc::new(noises),
            losses: Arc::new(losses),
            margins: [Margins { step: 1, check: 0 }].into(),
        };
        Ok(histogram.failing_at_most(0.05))
    }

    /// How many rows it takes at the most.
    pub fn horizon(&self) -> u64 {
        self.noises.counter.horizon()
    }

    /// The loss between streams that differ in one row. Rounded up.
    pub fn loss(&self) -> <N::Whole as Measure>::Loss {
        N::whole(self.losses.whole())
    }

    /// The continual mechanism. After the horizon's last row it takes no more.
    pub fn machine(&self) -> impl Machine<Query = RowMessage, Answer = i64> + use<N> {
        let catalogue = self
            .noises
            .catalogue(&self.losses, self.dimensions, self.statistic);
        CompositeMechanism::new(self.running(), catalogue, self.slots())
    }

    fn running(&self) -> Running {
        let margins = Arc::clone(&self.margins);
        Running::new(self.dimensions, self.horizon(), self.statistic, margins)
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
            .with_parameter("horizon", self.horizon())
    }
}
