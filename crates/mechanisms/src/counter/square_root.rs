//! Continual counting with the square root of the matrix of partial sums (\[FHU23\], \[HUU23\]): the least error that is known for noise that is
//! counted in the L2 norm.
//!
//! The partial sums of a stream `x` are `A·x`, where `A` is lower triangular and all ones; its square root has
//! `f_j = C(2j, j)/4^j` on its `j`-th diagonal. Released, one after the other, is `M·x + z`, where `M` is the root in steps of a lattice,
//! `m_j = round(2^20·f_j)`, and `z` is independent integer noise: an exact mechanism with exact sensitivities, whatever was
//! rounded in `m`. `M` is lower triangular, so that a release depends on nothing that is yet to come, and adaptive streams are covered
//! (as for any sequence of releases with a bound on the sum of their squared changes). The answers are `A·M⁻¹` times what was
//! released, in integers, which is post-processing.

use std::sync::Arc;

use continual::streams::{Continual, Streams};
use dashu_int::IBig;
use exact::{Exact, Round};
use measures::{L1Distance, PrivacyMap};
use queryable::{AskError, Machine, Scope};

use super::{LiveRows, OfStream, columns::Columns, fed};
use crate::{
    error::BuildError,
    integers::saturate,
    noise::{Change, Noise},
    spend::Spend,
};

/// A counter with the least error for noise in the L2 norm: zCDP and (ε, δ).
///
/// Distances are L1 over the whole stream, as for [`Counter`](super::Counter). Memory grows with the time (40 bytes a step), and so does the
/// time of an update: two products of the stream so far, about 20 µs at step 2¹⁴. So it is for streams of up to some
/// 10⁵ steps, and of at most [`MOST_STEPS`] (building one takes as long as a whole stream). For longer ones, and where memory is short, take
/// [`SquareRootBlocks`](super::SquareRootBlocks); for pure privacy [`SubtractingCounter`](super::SubtractingCounter).
///
/// ```
/// use odometry::mechanisms::{counter::SquareRootCounter, spend::rho};
/// let counter = SquareRootCounter::spending(1000, rho("0.5"))?;
/// assert_eq!(counter.map().loss(&1u32.into())?.to_string(), "0.5");
/// let counts = counter.continual().invoke(())?;
/// let so_far: i64 = counts.ask(1)?;
/// # let _ = so_far;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SquareRootCounter<N> {
    noise: N,
    matrices: Arc<Matrices>,
}

/// The longest stream of a [`SquareRootCounter`].
pub const MOST_STEPS: u64 = 1 << 20;

/// The lattice of releases is 2^-20 of a unit of the stream.
pub(super) const LATTICE_BITS: usize = 20;
/// Weights of answers have the other digits of a word.
const BITS: usize = 64;

/// The diagonals of both triangular matrices.
#[derive(Debug)]
pub(super) struct Matrices {
    lattice: usize,
    /// `M`, in units of the lattice.
    releases: Vec<i64>,
    /// `A·M⁻¹`, about. What is rounded at one step is made up for at the next, so that the answers are off by `2^-45` of what was counted at
    /// the most.
    answers: Vec<i64>,
}

impl Matrices {
    pub(super) fn new(horizon: usize, lattice: usize) -> Self {
        let releases = roots(horizon, lattice);
        let mut answers: Vec<i64> = Vec::with_capacity(horizon);
        for time in 0..horizon {
            let known = products(&answers, &releases[1..=time]);
            answers.push(rounded((1i128 << BITS) - known, lattice) as i64);
        }
        Self {
            lattice,
            releases,
            answers,
        }
    }

    /// Products of weights and releases below this, and sums of [`MOST_STEPS`] of them, fit into 128 bits.
    fn narrow(&self) -> u128 {
        1 << (42 + self.lattice)
    }

    /// The sum of the squared weights of the answer at this step, about.
    pub(super) fn squares(&self, time: usize) -> f64 {
        let weights = self.answers.iter().take(time);
        let squares: f64 = weights.map(|weight| (*weight as f64).powi(2)).sum();
        squares / 2f64.powi(2 * BITS as i32)
    }

    /// How much the releases change between streams at this distance: that of one column of `M`, the first, times the distance,
    /// by the triangle inequality.
    pub(super) fn change(&self, d_in: &Exact) -> Change {
        // At most 2^20 weights of at most 2^20.
        let sum: u64 = self.releases.iter().map(|m| m.unsigned_abs()).sum();
        let squares: u64 = self.releases.iter().map(|m| m.unsigned_abs().pow(2)).sum();
        Change {
            l1: d_in.times(sum),
            l2_squared: d_in.pow(2, Round::Up).times(squares),
            one_coordinate: false,
        }
    }
}

/// `2^lattice·f_j`, about: `f_j = f_(j−1)·(2j − 1)/2j`, with more digits than are kept.
fn roots(horizon: usize, lattice: usize) -> Vec<i64> {
    const MORE: usize = 60;
    let mut root = 1u128 << (lattice + MORE);
    let mut all = Vec::with_capacity(horizon);
    for j in 1..=horizon as u128 {
        all.push(rounded(root as i128, MORE) as i64);
        root = root * (2 * j - 1) / (2 * j);
    }
    all
}

/// `Σ older[i]·newest_first[n − 1 − i]`: a step of a product of triangular matrices.
fn products<T: Copy + Into<i128>>(older: &[T], newest_first: &[i64]) -> i128 {
    let pairs = older.iter().rev().zip(newest_first);
    pairs
        .map(|(x, weight)| (*x).into() * i128::from(*weight))
        .sum()
}

/// `value/2^bits`, to the nearest integer.
fn rounded(value: i128, bits: usize) -> i128 {
    (value + (1 << (bits - 1))) >> bits
}

impl<N: Noise> SquareRootCounter<N> {
    /// For streams of this length, at least one and at most [`MOST_STEPS`], with the least noise that costs this at distance 1.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`], [`BuildError::OutOfRange`] for the length; as [`Spend::noise_for`].
    pub fn spending(horizon: u64, loss: impl Spend<Noise = N>) -> Result<Self, BuildError> {
        let matrices = matrices(horizon, LATTICE_BITS)?;
        Ok(Self {
            noise: loss.noise_for(&matrices.change(&Exact::ONE))?,
            matrices: Arc::new(matrices),
        })
    }

    /// With this noise on every release, in units of `2^-lattice`, where `lattice` is from 2 to 20: the finer, the less is lost. For noise of one's own,
    /// and for audits.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`], [`BuildError::OutOfRange`].
    pub fn on_lattice(horizon: u64, lattice: u32, noise: N) -> Result<Self, BuildError> {
        let matrices = Arc::new(matrices(horizon, lattice_bits(lattice)?)?);
        Ok(Self { noise, matrices })
    }

    /// How long streams are.
    pub fn horizon(&self) -> u64 {
        self.matrices.releases.len() as u64
    }

    /// The map between streams at an L1 distance. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, N::Measure> {
        let matrices = Arc::clone(&self.matrices);
        let one = matrices.change(&Exact::ONE);
        self.noise
            .map_within::<L1Distance>(&one, move |d_in| matrices.change(d_in))
    }

    /// The standard deviation of the noise of the answer at this step, from 1 on, about: for advice.
    pub fn deviation(&self, time: u64, noise_deviation: f64) -> f64 {
        let time = usize::try_from(time).unwrap_or(usize::MAX);
        self.matrices.squares(time).sqrt() * noise_deviation
    }

    /// The noise on every release, in units of the lattice.
    pub const fn noise(&self) -> &N {
        &self.noise
    }

    /// A continual mechanism: every query is an update, and is answered with the noisy sum of all updates so far. It
    /// halts with the answer at the end of the horizon. Its map is [`map`](Self::map).
    pub fn machine(&self) -> SquareRootMachine<N> {
        SquareRootMachine {
            counter: self.clone(),
            sums: Released::default(),
        }
    }

    /// The same as a measurement, for accounts: charged when it is launched, for the whole stream that will arrive.
    pub fn continual(&self) -> Continual<L1Distance, N::Measure, i64, i64> {
        let counter = self.clone();
        let measurement =
            Streams::with(L1Distance)
                .measurement("continual count", self.map(), move || counter.machine());
        measurement.with_parameter("horizon", self.horizon())
    }

    /// The same in several dimensions: an independent counter for each coordinate. Its map is [`map`](Self::map), with distances summed over the
    /// coordinates, too.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without dimensions.
    pub fn continual_vector(&self, dimensions: usize) -> Result<LiveRows<N::Measure>, BuildError> {
        let columns = Columns::new(self.machine(), dimensions)?;
        let measurement = columns.continual(self.map());
        Ok(measurement.with_parameter("horizon", self.horizon()))
    }

    /// A measurement of a whole stream of numbers: each query, `()`, is one step of time.
    ///
    /// # Errors
    /// None: the length was checked before.
    pub fn measurement(&self) -> Result<OfStream<N::Measure, (), i64>, BuildError> {
        let counter = self.clone();
        fed(self.horizon(), self.map(), &self.noise, move || {
            counter.machine()
        })
    }
}

/// A stream so far, and what was released of it.
#[derive(Clone)]
pub(super) struct Released<T> {
    updates: Vec<T>,
    released: Vec<i128>,
    /// Some release is too large for sums in 128 bits.
    wide: bool,
}

impl<T> Default for Released<T> {
    fn default() -> Self {
        Self {
            updates: Vec::new(),
            released: Vec::new(),
            wide: false,
        }
    }
}

impl<T: Copy + Into<i128>> Released<T> {
    pub(super) fn steps(&self) -> usize {
        self.updates.len()
    }

    /// Takes in an update, and releases the next row with this noise; the sum so far is computed from what was released. At
    /// most [`MOST_STEPS`] updates of up to 85 bits.
    pub(super) fn add(&mut self, update: T, noise: IBig, matrices: &Matrices) -> IBig {
        self.updates.push(update);
        let row = products(&self.updates, &matrices.releases[..self.updates.len()]);
        // From here on only what is released is looked at.
        let release = IBig::from(row) + noise;
        let release = i128::try_from(&release).unwrap_or(match release < IBig::ZERO {
            true => i128::MIN,
            false => i128::MAX,
        });
        self.wide |= release.unsigned_abs() >= matrices.narrow();
        self.released.push(release);
        answer(&self.released, &matrices.answers, self.wide)
    }
}

/// Counts one stream that arrives in its queries.
#[derive(Clone)]
pub struct SquareRootMachine<N> {
    counter: SquareRootCounter<N>,
    sums: Released<i64>,
}

impl<N: Noise> Machine for SquareRootMachine<N> {
    type Query = i64;
    type Answer = i64;

    fn step(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        let matrices = &self.counter.matrices;
        if self.sums.steps() == matrices.releases.len() {
            return Err(AskError::Halted);
        }
        let noise = scope.draw(&self.counter.noise)?;
        let sum = self.sums.add(update, noise, matrices);
        if self.sums.steps() == matrices.releases.len() {
            scope.halt();
        }
        Ok(saturate(sum))
    }
}

pub(super) fn lattice_bits(lattice: u32) -> Result<usize, BuildError> {
    match (2..=20).contains(&lattice) {
        true => Ok(lattice as usize),
        false => Err(BuildError::out_of_range(
            "the lattice",
            "from 2 to 20",
            lattice,
        )),
    }
}

fn matrices(horizon: u64, lattice: usize) -> Result<Matrices, BuildError> {
    let what = "the length of the stream";
    if horizon == 0 {
        return Err(BuildError::not_positive(what, 0));
    }
    if horizon > MOST_STEPS {
        let expected = "at most 2^20 here; take `SquareRootBlocks` for longer streams";
        return Err(BuildError::out_of_range(what, expected, horizon));
    }
    Ok(Matrices::new(horizon as usize, lattice))
}

/// The sum so far, from what was released.
fn answer(released: &[i128], weights: &[i64], wide: bool) -> IBig {
    let pairs = || released.iter().rev().zip(weights);
    if wide {
        let product = |(release, weight): (&i128, &i64)| IBig::from(*release) * IBig::from(*weight);
        let sum = pairs()
            .map(product)
            .fold(IBig::ZERO, |sum, product| sum + product);
        return (sum + (IBig::ONE << (BITS - 1))) >> BITS;
    }
    let sum: i128 = pairs()
        .map(|(release, weight)| release * i128::from(*weight))
        .sum();
    IBig::from(rounded(sum, BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_matrices_multiply_to_all_ones() {
        for lattice in [2, 9, 20] {
            let matrices = Matrices::new(600, lattice);
            for time in 0..600 {
                let row = products(&matrices.answers[..=time], &matrices.releases[..=time]);
                let off = row - (1i128 << BITS);
                assert!(off.abs() <= 1 << (lattice - 1), "{lattice}, {time}: {off}");
            }
        }
        let fine = Matrices::new(3, 20);
        assert_eq!(fine.releases, [1 << 20, 1 << 19, 3 << 17]);
    }

    #[test]
    fn wide_answers_are_the_narrow_ones() {
        let matrices = Matrices::new(50, 20);
        let released: Vec<i128> = (0..50i128).map(|t| (t * 7919 - 100_000) << 35).collect();
        for time in 1..=50 {
            let [narrow, wide] =
                [false, true].map(|wide| answer(&released[..time], &matrices.answers, wide));
            assert_eq!(narrow, wide);
        }
    }
}
