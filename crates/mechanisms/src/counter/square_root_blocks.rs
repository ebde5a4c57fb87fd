//! The square root in short memory: one over the steps of a block, and one over the blocks that have ended.
//!
//! Released, one after the other, are the rows of two [square roots](super::square_root): at each step that of the steps since
//! the last block, and at the last step of a block, in its place, that of the sums of all blocks. An answer is the sum of the blocks and that of the
//! steps since. A unit of distance changes one column of each, and nothing waits for the future, so adaptive streams are
//! covered for the same reason.
//!
//! *Bands instead* (\[KL24\]; banded inverses, \[KMUL25\]) have more error in the same memory, for one stream of 2¹⁴ steps with ρ = ½: with 256 numbers 8.8
//! (the inverse 6.2) against 4.9 here and 4.0 without a bound. With 1024 numbers the banded inverse has 4.4, but its factor is not on a lattice, so that exact noise
//! does not fit it.

use std::sync::Arc;

use continual::streams::{Continual, Streams};
use dashu_int::IBig;
use exact::Exact;
use measures::{L1Distance, PrivacyMap};
use queryable::{AskError, Machine, Scope};

use super::{
    LiveRows, OfStream,
    columns::Columns,
    fed,
    square_root::{LATTICE_BITS, MOST_STEPS, Matrices, Released, lattice_bits},
};
use crate::{
    error::BuildError,
    integers::saturate,
    noise::{Change, Noise},
    spend::Spend,
};

/// A [`SquareRootCounter`](super::SquareRootCounter) in short memory: `2√T` numbers for T steps, and as much time for an update.
///
/// It has 1.22 times the error of that one at 2¹⁴ steps, and 1.17 times at 2²⁰: the logarithms of both lengths add up, and
/// there is a constant for each. Distances are L1 over the whole stream.
///
/// ```
/// use odometry::mechanisms::{counter::SquareRootBlocks, spend::rho};
/// let counter = SquareRootBlocks::spending(1 << 20, rho("0.5"))?; // 1024 blocks of 1024 steps
/// assert_eq!(counter.map().loss(&1u32.into())?.to_string(), "0.5");
/// let counts = counter.continual().invoke(())?;
/// let so_far: i64 = counts.ask(1)?;
/// # let _ = so_far;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SquareRootBlocks<N> {
    horizon: u64,
    block: u64,
    noise: N,
    /// Of the steps of a block but for its last, and of the blocks.
    steps: Arc<Matrices>,
    blocks: Arc<Matrices>,
}

impl<N: Noise> SquareRootBlocks<N> {
    /// For streams of this length, at least one, with the least noise that costs this at distance 1.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`], [`BuildError::OutOfRange`] for a length of zero or of more than 2⁴⁰; as [`Spend::noise_for`].
    pub fn spending(horizon: u64, loss: impl Spend<Noise = N>) -> Result<Self, BuildError> {
        let block = horizon.isqrt().max(2);
        let (steps, blocks) = matrices(horizon, block, LATTICE_BITS)?;
        let noise = loss.noise_for(&change(&steps, &blocks, &Exact::ONE))?;
        Ok(Self {
            horizon,
            block,
            noise,
            steps: Arc::new(steps),
            blocks: Arc::new(blocks),
        })
    }

    /// With blocks of so many steps, at least two, and this noise on every release, in units of `2^-lattice`, where `lattice` is from 2 to 20. For
    /// noise of one's own, and for audits.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`], [`BuildError::OutOfRange`].
    pub fn on_lattice(
        horizon: u64,
        block: u64,
        lattice: u32,
        noise: N,
    ) -> Result<Self, BuildError> {
        let (steps, blocks) = matrices(horizon, block, lattice_bits(lattice)?)?;
        Ok(Self {
            horizon,
            block,
            noise,
            steps: Arc::new(steps),
            blocks: Arc::new(blocks),
        })
    }

    /// How long streams are.
    pub const fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The noise on every release, in units of the lattice.
    pub const fn noise(&self) -> &N {
        &self.noise
    }

    /// The map between streams at an L1 distance. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, N::Measure> {
        let (steps, blocks) = (Arc::clone(&self.steps), Arc::clone(&self.blocks));
        let one = change(&steps, &blocks, &Exact::ONE);
        self.noise
            .map_within::<L1Distance>(&one, move |d_in| change(&steps, &blocks, d_in))
    }

    /// The standard deviation of the noise of the answer at this step, from 1 on, about: for advice.
    pub fn deviation(&self, time: u64, noise_deviation: f64) -> f64 {
        let blocks = self.blocks.squares((time / self.block) as usize);
        let steps = self.steps.squares((time % self.block) as usize);
        (blocks + steps).sqrt() * noise_deviation
    }

    /// A continual mechanism: every query is an update, and is answered with the noisy sum of all updates so far. It
    /// halts with the answer at the end of the horizon. Its map is [`map`](Self::map).
    pub fn machine(&self) -> SquareRootBlocksMachine<N> {
        SquareRootBlocksMachine {
            counter: self.clone(),
            time: 0,
            steps: Released::default(),
            blocks: Released::default(),
            block_sum: 0,
            before: IBig::ZERO,
        }
    }

    /// The same as a measurement, for accounts: charged when it is launched, for the whole stream that will arrive.
    pub fn continual(&self) -> Continual<L1Distance, N::Measure, i64, i64> {
        let counter = self.clone();
        Streams::with(L1Distance)
            .measurement("continual count", self.map(), move || counter.machine())
            .with_parameter("horizon", self.horizon)
            .with_parameter("block", self.block)
    }

    /// The same in several dimensions: an independent counter for each coordinate. Its map is [`map`](Self::map), with distances summed over the
    /// coordinates, too.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without dimensions.
    pub fn continual_vector(&self, dimensions: usize) -> Result<LiveRows<N::Measure>, BuildError> {
        let columns = Columns::new(self.machine(), dimensions)?;
        let measurement = columns.continual(self.map());
        Ok(measurement.with_parameter("horizon", self.horizon))
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
}

/// Those of the steps of a block but for its last, and of the blocks.
fn matrices(horizon: u64, block: u64, lattice: usize) -> Result<(Matrices, Matrices), BuildError> {
    if horizon == 0 {
        return Err(BuildError::not_positive("the length of the stream", 0));
    }
    let blocks = horizon / block.max(1);
    if !(2..=MOST_STEPS).contains(&block) || blocks > MOST_STEPS {
        let expected = "from 2 to 2^20 steps, and at most 2^20 of them";
        return Err(BuildError::out_of_range("the blocks", expected, block));
    }
    let [steps, blocks] = [block - 1, blocks].map(|length| Matrices::new(length as usize, lattice));
    Ok((steps, blocks))
}

/// How much the releases change between streams at this distance: by that much of the first column of each matrix, by the triangle inequality.
fn change(steps: &Matrices, blocks: &Matrices, d_in: &Exact) -> Change {
    let [steps, blocks] = [steps, blocks].map(|matrices| matrices.change(d_in));
    Change {
        l1: &steps.l1 + &blocks.l1,
        l2_squared: &steps.l2_squared + &blocks.l2_squared,
        one_coordinate: false,
    }
}

/// Counts one stream that arrives in its queries.
#[derive(Clone)]
pub struct SquareRootBlocksMachine<N> {
    counter: SquareRootBlocks<N>,
    time: u64,
    steps: Released<i64>,
    blocks: Released<i128>,
    /// Of the block that has not ended.
    block_sum: i128,
    /// What was counted up to that block.
    before: IBig,
}

impl<N: Noise> Machine for SquareRootBlocksMachine<N> {
    type Query = i64;
    type Answer = i64;

    fn step(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        let counter = &self.counter;
        if self.time == counter.horizon {
            return Err(AskError::Halted);
        }
        let noise = scope.draw(&counter.noise)?;
        self.time += 1;
        // At most 2^20 updates of 63 bits.
        self.block_sum += i128::from(update);
        let sum = if self.time.is_multiple_of(counter.block) {
            self.before = self.blocks.add(self.block_sum, noise, &counter.blocks);
            (self.block_sum, self.steps) = (0, Released::default());
            self.before.clone()
        } else {
            &self.before + self.steps.add(update, noise, &counter.steps)
        };
        if self.time == counter.horizon {
            scope.halt();
        }
        Ok(saturate(sum))
    }
}
