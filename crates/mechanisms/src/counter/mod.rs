//! Continual counting: the tree counter of \[DNPR10\] and \[CSS11\] with blocks of any size, and its d-dimensional form.
//!
//! Time is cut into blocks of blocks. Each block's sum is noised once, when the block is finished, and each update lies in
//! one block per level. With Laplace noise the counter is pure, with Gaussian noise it has a zCDP loss, which converts
//! to (ε, δ). It is charged once for the whole stream, never per step. The guarantee holds for streams chosen adaptively
//! from earlier answers, since each block's noise is fresh and at most `levels` blocks see any update.
//!
//! *Which one* (root of the mean squared error, 2¹⁴ steps):
//!
//! | | ε = 1 | ρ = ½ | memory |
//! |---|---|---|---|
//! | [`Counter::new`]: blocks of two | 41.9 | 7.6 | a number a level |
//! | [`Counter::spending`]: the best blocks | 24.8 | 7.3 | a number a level |
//! | [`SubtractingCounter`]: the best for pure losses | 20.7 | – | some numbers a level |
//! | [`EndlessCounter`]: no horizon | 23.7 | 7.9 | a number a level |
//! | [`SquareRootBlocks`]: the best in short memory | – | 4.9 | the root of the stream |
//! | [`SquareRootCounter`]: the best for zCDP and (ε, δ) | – | 4.0 | the stream |
//!
//! Prefer [`SubtractingCounter`] for ε, and [`SquareRootCounter`] otherwise. [`Counter`] is for several columns, for noise of one's own, and for
//! what is built on finished blocks only.

mod columns;
mod digits;
mod endless;
mod shape;
mod square_root;
mod square_root_blocks;
mod subtracting;
mod tree;

use std::sync::Arc;

use continual::streams::{Continual, Streams};
use exact::{Exact, Round};
use measures::{L1Distance, PrivacyMap};
use odometer::{Measurement, Space};
use queryable::{AskError, Machine, Queryable, Scope};

pub use self::{
    columns::Columns,
    endless::{Divisible, EndlessCounter, EndlessMachine, Epoch},
    square_root::{MOST_STEPS, SquareRootCounter, SquareRootMachine},
    square_root_blocks::{SquareRootBlocks, SquareRootBlocksMachine},
    subtracting::{SubtractingCounter, SubtractingMachine},
};
use self::{shape::Shape, tree::Blocks};
use crate::{
    additive::Vectors,
    error::BuildError,
    noise::{Change, Noise, described},
    spend::Spend,
};

/// A counter for streams of a length that is fixed in advance.
///
/// Distances are L1 over the whole stream (and all coordinates): neighbouring streams of an event-level guarantee differ
/// in one step, by at most one, and are at distance 1.
///
/// ```
/// use odometry::mechanisms::{counter::Counter, samplers::DiscreteLaplace};
/// let counter = Counter::new(1000, DiscreteLaplace::new(20)?)?; // 10 levels
/// let running = counter.measurement()?;
/// assert_eq!(running.map().loss(&1u32.into())?.to_string(), "0.5"); // 10/20
/// let counts = running.invoke(vec![1; 1000])?;
/// for _ in 0..1000 {
///     let so_far: i64 = counts.ask(())?;
///     # let _ = so_far;
/// }
/// assert!(counts.ask(()).is_err()); // the stream has ended
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Counter<N> {
    horizon: u64,
    shape: Arc<Shape>,
    noise: N,
}

impl<N: Noise> Counter<N> {
    /// For streams of this length, at least one, with this noise on every block, and blocks of two:
    /// `⌊log₂ horizon⌋ + 1` levels.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`].
    pub fn new(horizon: u64, noise: N) -> Result<Self, BuildError> {
        Self::shaped(horizon, Shape::binary(horizon), noise)
    }

    /// The same with so many blocks of a level in one of the next, from the lowest level up. Their product is at least the length
    /// of the stream.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`] for the length; [`BuildError::OutOfRange`] if the blocks are too few.
    pub fn with_arities(horizon: u64, arities: Vec<u64>, noise: N) -> Result<Self, BuildError> {
        Self::shaped(horizon, Shape::new(horizon, arities)?, noise)
    }

    fn shaped(horizon: u64, shape: Shape, noise: N) -> Result<Self, BuildError> {
        if horizon == 0 {
            return Err(BuildError::not_positive("the length of the stream", 0));
        }
        let shape = Arc::new(shape);
        Ok(Self {
            horizon,
            shape,
            noise,
        })
    }

    /// How long streams are.
    pub const fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The noise on every block.
    pub const fn noise(&self) -> &N {
        &self.noise
    }

    /// For streams of this length, at least one, with the least noise that costs this at distance 1, and with the blocks that make
    /// the error least on average: large ones for pure losses (11 or 12 of a level make one of the next at 2¹⁴ steps), two
    /// or three for the others.
    ///
    /// ```
    /// use odometry::mechanisms::{counter::Counter, spend::epsilon};
    /// let counter = Counter::spending(1000, epsilon("0.5"))?;
    /// assert_eq!(counter.map().loss(&1u32.into())?.to_string(), "0.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::NotPositive`] for the length; as [`Spend::noise_for`].
    pub fn spending<L: Spend<Noise = N>>(horizon: u64, loss: L) -> Result<Self, BuildError> {
        Self::spending_with(horizon, Shape::best(horizon, L::POWER), loss)
    }

    fn spending_with<L: Spend<Noise = N>>(
        horizon: u64,
        shape: Shape,
        loss: L,
    ) -> Result<Self, BuildError> {
        let levels = shape.arities().len() as u32;
        Self::shaped(
            horizon,
            shape,
            loss.noise_for(&change(levels, &Exact::ONE))?,
        )
    }

    /// In how many blocks an update lies, at the most.
    pub fn levels(&self) -> u32 {
        self.shape.arities().len() as u32
    }

    /// Of how many blocks a time is made, at the most.
    pub fn most_blocks(&self) -> u64 {
        self.shape.most_blocks()
    }

    /// The map between streams at an L1 distance: `levels` blocks see every unit of it. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, N::Measure> {
        let levels = self.levels();
        let one = change(levels, &Exact::ONE);
        self.noise
            .map_within::<L1Distance>(&one, move |d_in| change(levels, d_in))
    }

    /// A continual mechanism: every query is an update, and is answered with the noisy sum of all updates so far. It
    /// halts with the answer at the end of the horizon. Its map is [`map`](Self::map).
    pub fn machine(&self) -> ContinualCounter<N> {
        ContinualCounter(Blocks::new(self.clone()))
    }

    /// The same as a measurement, for accounts: charged when it is launched, for the whole stream that will arrive.
    ///
    /// ```
    /// use odometry::continual::streams::Streams;
    /// use odometry::measures::{Basic, L1Distance, PureDp};
    /// use odometry::mechanisms::{counter::Counter, samplers::DiscreteLaplace};
    /// use odometry::odometer::Odometer;
    /// let counter = Counter::new(1000, DiscreteLaplace::new(20)?)?.continual(); // 10 levels
    /// let session = Odometer::new(Streams::with(L1Distance), Basic::new(PureDp)).open(())?;
    /// let counts = session.launch(&counter)?;
    /// counts.ask(1)?;
    /// let so_far: i64 = counts.ask(1)?;
    /// # let _ = so_far;
    /// assert_eq!(session.privacy_loss(&1u32.into())?.to_string(), "0.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn continual(&self) -> Continual<L1Distance, N::Measure, i64, i64> {
        let counter = self.clone();
        Streams::with(L1Distance)
            .measurement("continual count", self.map(), move || counter.machine())
            .with_parameter("horizon", self.horizon)
            .with_parameter("levels", self.levels())
    }

    /// The same in several dimensions, as a measurement.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without dimensions.
    pub fn continual_vector(&self, dimensions: usize) -> Result<LiveRows<N::Measure>, BuildError> {
        let measurement = self.vector_machine(dimensions)?.continual(self.map());
        Ok(measurement.with_parameter("horizon", self.horizon))
    }

    /// The same in several dimensions: an independent counter for each coordinate. Its map is [`map`](Self::map), with
    /// distances summed over the coordinates, too.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without dimensions.
    pub fn vector_machine(&self, dimensions: usize) -> Result<VectorCounter<N>, BuildError> {
        Columns::new(self.machine(), dimensions)
    }

    /// A measurement of a whole stream of numbers: each query, `()`, is one step of time.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`] if no stream can be so long.
    pub fn measurement(&self) -> Result<OfStream<N::Measure, (), i64>, BuildError> {
        let counter = self.clone();
        fed(self.horizon, self.map(), &self.noise, move || {
            counter.machine()
        })
    }

    /// A measurement of a whole stream of rows: each query, `()`, is one step of time.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`] if no stream can be so long; [`BuildError::Empty`] without dimensions.
    pub fn vector_measurement(&self, dimensions: usize) -> Result<OfRows<N::Measure>, BuildError> {
        let rows = Rows {
            length: length(self.horizon)?,
            columns: dimensions,
        };
        let machine = self.vector_machine(dimensions)?;
        let start = move |data: &Arc<Vec<Vec<i64>>>, scope: &mut Scope<'_>| {
            scope.spawn(Feed::new(data, machine.clone()))
        };
        let measurement = Measurement::new("continual counts", rows, self.map(), start);
        let measurement = measurement
            .with_parameter("horizon", self.horizon)
            .with_parameter("dimensions", dimensions);
        Ok(described(measurement, &self.noise))
    }
}

fn length(horizon: u64) -> Result<usize, BuildError> {
    usize::try_from(horizon)
        .map_err(|_| BuildError::out_of_range("the length of the stream", "within memory", horizon))
}

/// A measurement of a whole stream of numbers that feeds it to a machine: each query, `()`, is one step of time.
fn fed<N, C>(
    horizon: u64,
    map: PrivacyMap<L1Distance, N::Measure>,
    noise: &N,
    machine: impl Fn() -> C + Send + Sync + 'static,
) -> Result<OfStream<N::Measure, (), i64>, BuildError>
where
    N: Noise,
    C: Machine<Query = i64, Answer = i64> + 'static,
{
    let space = Vectors::of_length(length(horizon)?, L1Distance)?;
    let start =
        move |data: &Arc<Vec<i64>>, scope: &mut Scope<'_>| scope.spawn(Feed::new(data, machine()));
    let measurement = Measurement::new("continual count", space, map, start);
    let measurement = measurement.with_parameter("horizon", horizon);
    Ok(described(measurement, noise))
}

/// How much the sums of the blocks change between streams at this distance.
fn change(levels: u32, d_in: &Exact) -> Change {
    let levels = u64::from(levels);
    Change {
        l1: d_in.times(levels),
        // On each level the changes of the blocks sum to at most d_in, so their squares to at most d_in².
        l2_squared: d_in.pow(2, Round::Up).times(levels),
        one_coordinate: false,
    }
}

/// A measurement of a whole stream of numbers, whose answer can be asked step by step.
pub type OfStream<M, Q, A> = Measurement<Vectors<L1Distance>, M, Queryable<Q, A>>;

/// A measurement of a whole stream of rows, whose answer can be asked step by step.
pub type OfRows<M> = Measurement<Rows, M, Queryable<(), Vec<i64>>>;

/// A measurement of rows that arrive, each of which is answered.
pub type LiveRows<M> = Continual<L1Distance, M, Vec<i64>, Vec<i64>>;

/// All streams of rows with one length and one number of columns. Their distance is the sum of all changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    length: usize,
    columns: usize,
}

impl Space for Rows {
    type Data = Vec<Vec<i64>>;
    type Distance = Exact;
    type Metric = L1Distance;

    fn metric(&self) -> &L1Distance {
        &L1Distance
    }

    fn contains(&self, data: &Vec<Vec<i64>>) -> bool {
        data.len() == self.length && data.iter().all(|row| row.len() == self.columns)
    }
}

/// Counts one stream that arrives in its queries.
#[derive(Clone)]
pub struct ContinualCounter<N>(Blocks<N>);

impl<N: Noise> Machine for ContinualCounter<N> {
    type Query = i64;
    type Answer = i64;

    fn step(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        let count = self.0.add(update, scope)?;
        if self.0.has_ended() {
            scope.halt();
        }
        Ok(count)
    }
}

/// A [`Counter`] for each column.
pub type VectorCounter<N> = Columns<ContinualCounter<N>>;

/// A machine that takes its queries from a stream, one for each step of time.
pub(crate) struct Feed<M: Machine> {
    stream: Arc<Vec<M::Query>>,
    time: usize,
    machine: M,
}

impl<M: Machine> Feed<M> {
    pub(crate) fn new(stream: &Arc<Vec<M::Query>>, machine: M) -> Self {
        Self {
            stream: Arc::clone(stream),
            time: 0,
            machine,
        }
    }
}

impl<M: Machine<Query: Clone + Send + Sync>> Machine for Feed<M> {
    type Query = ();
    type Answer = M::Answer;

    fn step(&mut self, (): (), scope: &mut Scope<'_>) -> Result<M::Answer, AskError> {
        let update = self.stream.get(self.time).ok_or(AskError::Halted)?;
        let answer = self.machine.step(update.clone(), scope)?;
        self.time += 1;
        Ok(answer)
    }
}
