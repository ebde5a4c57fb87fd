//! The continual monotone histogram: a statistic of columns, while rows arrive (\[HSV25\] §7, Alg 4).
//!
//! It is built from a counter, monitors and Laplace comparisons, as a [composite](continual::composite): the type checker
//! sees to it that rows flow into parts only. A row is in one interval, so that one monitor, one comparison and one step of
//! the counter see it: three slots of [`PureParallel`], however many intervals there are. It is charged once.

mod parts;
mod running;
mod statistic;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use continual::{
    PureParallel, StreamMessage,
    composite::CompositeMechanism,
    streams::{Continual, Streams, Updates},
};
use dashu_ratio::RBig;
use exact::Round;
use measures::{Epsilon, MapError, PrivacyMap, PureDp};
use queryable::Machine;

pub use self::statistic::Statistic;
use self::{
    parts::{Losses, Noises},
    running::Running,
};
use crate::{
    counter::Counter,
    error::BuildError,
    parameter::{self, Parameter, positive},
    samplers::DiscreteLaplace,
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
pub struct Histogram {
    dimensions: usize,
    horizon: u64,
    statistic: Statistic,
    noises: Arc<Noises>,
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
        let epsilon = parameter::loss("ε", epsilon)?;
        if dimensions == 0 {
            return Err(BuildError::Empty {
                what: "the columns",
            });
        }
        // Rounded down, so that three of them are no more than ε.
        let third = epsilon.split(3);
        let rate = positive("ε", &third)?;
        let levels = u64::from(horizon.checked_ilog2().unwrap_or(0)) + 1;
        let blocks = RBig::from(levels) * RBig::from(dimensions as u64);
        let counter = Counter::new(horizon, DiscreteLaplace::new(blocks / &rate)?)?;
        let monitor = SparseVector::for_epsilon(&third, Sensitivity::UNIT, 1)?;
        let comparison = DiscreteLaplace::new(RBig::ONE / rate)?;
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
        if dimensions == 0 {
            return Err(BuildError::Empty {
                what: "the columns",
            });
        }
        let noises = Noises {
            counter,
            monitor,
            comparison,
        };
        let losses = noises.losses(dimensions).map_err(|_: MapError| {
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
    pub fn loss(&self) -> Epsilon {
        let Losses {
            counter,
            monitor,
            comparison,
        } = &*self.losses;
        Epsilon::new(&(counter.value() + monitor.value()) + comparison.value())
    }

    /// With probability at least `1 − β`, in all steps: the two noises of a monitor's comparison are together within the
    /// first number, the noise of a Laplace comparison within the second, and every total of the counter within the third.
    ///
    /// Noise of scale `s` is beyond `x` with probability at most `2e^(−x/s)`, one-sided or not, and its moments are at most
    /// those of the continuous one, so that \[CSS11\] Cor 2.9 bounds the sum of a counter's blocks. Each of the four
    /// kinds of noise gets β/4, shared among the horizon's steps (and the columns).
    fn noise_within(&self, beta: f64) -> [f64; 3] {
        let steps = self.horizon as f64;
        let scale = |noise: &DiscreteLaplace| 1.0 / noise.loss_per_unit().to_f64(Round::Down);
        let tail = |noise: &DiscreteLaplace| scale(noise) * (8.0 * steps / beta).ln();
        let [threshold, query] = self.noises.monitor.scales();
        let log = (8.0 * steps * self.dimensions as f64 / beta).ln();
        let blocks = self.noises.counter.most_blocks() as f64;
        let spread = scale(self.noises.counter.noise()) * blocks.sqrt().max(log.sqrt());
        [
            (threshold + query) * (8.0 * steps / beta).ln(),
            tail(&self.noises.comparison),
            spread * (8.0 * log).sqrt(),
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
    /// the first, it is less. Together `γ + a + 2ξ + 3κ`, which is of order `d·ln^1.5(T)·ln(dT/β)/ε`.
    pub fn accuracy(&self, beta: f64) -> f64 {
        let [monitor, comparison, counter] = self.noise_within(beta);
        let step = self.margins_for(beta).step as f64;
        step + monitor + 2.0 * comparison.ceil() + 3.0 * counter
    }

    /// The continual mechanism. After the horizon's last row it takes no more.
    pub fn machine(&self) -> impl Machine<Query = RowMessage, Answer = i64> + use<> {
        let catalogue = self
            .noises
            .catalogue(&self.losses, self.dimensions, self.statistic);
        CompositeMechanism::new(self.running(), catalogue, self.slots())
    }

    fn running(&self) -> Running {
        Running::new(self.dimensions, self.horizon, self.statistic, self.margins)
    }

    fn slots(&self) -> PureParallel {
        let Losses {
            counter,
            monitor,
            comparison,
        } = &*self.losses;
        PureParallel::new(vec![counter.clone(), monitor.clone(), comparison.clone()])
    }

    /// The same as a measurement, for accounts. Distances count the rows that differ.
    pub fn continual(&self) -> Continual<Updates, PureDp, RowMessage, i64> {
        let (histogram, map) = (self.clone(), PrivacyMap::linear(PureDp, self.loss()));
        Streams::with(Updates)
            .measurement("continual histogram", map, move || histogram.machine())
            .with_parameter("columns", self.dimensions)
            .with_parameter("horizon", self.horizon)
    }
}
