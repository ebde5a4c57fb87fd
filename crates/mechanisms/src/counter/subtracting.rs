//! Counting with blocks that are also taken away (k-ary trees with subtraction, \[APST25\]): the least error that is known for pure losses.
//!
//! Time is written in digits that may be negative: 14 steps are `1·3² + 2·3 − 1`, or one block of nine, two of three, and without one
//! step. A digit of `k` values needs `k/4` blocks on average, where one that is never negative needs `k/2`. A block that is
//! taken away has not ended, so the noise of blocks looks ahead: an answer is the count so far, with the noise of all these blocks.
//!
//! **Adaptive streams** (derived here; pure losses only). Let two streams that are fixed in advance have answers whose probabilities are
//! within `e^ε`, for any two at distance `d`. Let an adversary choose streams as answers come, always at distance at most `d` in the end. A list of
//! answers `y` fixes what it chooses, the streams `x₀(y)` and `x₁(y)`. The machine answers from its noise and from what has arrived, so
//! that it says `y` in the game exactly if its noise is such that it says `y` to the fixed stream: the probability is the same. So the
//! probabilities of every `y` in both games are those of two fixed streams at distance `d`, and within `e^ε`. (For δ or for
//! Rényi divergences this says nothing: there a bound is on sums over `y`, and each `y` has streams of its own.)
//!
//! **Fixed streams.** An answer is a sum of signed blocks with their noise, so that all answers are post-processing of the sums of all
//! blocks of all levels with noise on each. An update is in one block a level.

use std::sync::Arc;

use continual::streams::{Continual, Streams};
use dashu_int::IBig;
use exact::Exact;
use measures::{L1Distance, PrivacyMap, PureDp};
use queryable::{AskError, Machine, Scope};

use super::{
    LiveRows, OfStream, change,
    columns::Columns,
    digits::{MOST, best, blocks_at, largest, mean_blocks},
    fed,
};
use crate::{error::BuildError, integers::saturate, noise::Noise, spend::Spend};

/// A counter with the least error for pure losses, also of streams that are chosen as answers come.
///
/// Distances are L1 over the whole stream, as for [`Counter`](super::Counter). It keeps half as many numbers a level as blocks make one of the
/// next (some twenty numbers at 2¹⁴ steps).
///
/// ```
/// use odometry::mechanisms::{counter::SubtractingCounter, spend::epsilon};
/// let counter = SubtractingCounter::spending(1000, epsilon("0.5"))?;
/// assert_eq!(counter.map().loss(&1u32.into())?.to_string(), "0.5");
/// let counts = counter.continual().invoke(())?;
/// let so_far: i64 = counts.ask(1)?;
/// # let _ = so_far;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Its proof for adaptive streams is for pure losses, so it takes no other noise:
///
/// ```compile_fail,E0271
/// use odometry::mechanisms::{counter::SubtractingCounter, spend::rho};
/// let counter = SubtractingCounter::spending(1000, rho("0.5"));
/// ```
#[derive(Clone, Debug)]
pub struct SubtractingCounter<N> {
    horizon: u64,
    arities: Arc<[u64]>,
    noise: N,
}

impl<N: Noise<Measure = PureDp>> SubtractingCounter<N> {
    /// For streams of this length, at least one, with the least noise that costs this at distance 1, and with the blocks that make
    /// the error least on average.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`] for the length; as [`Spend::noise_for`].
    pub fn spending<L: Spend<Noise = N>>(horizon: u64, loss: L) -> Result<Self, BuildError> {
        let arities = best(horizon, L::POWER, |arities| mean_blocks(horizon, arities));
        Self::spending_with(horizon, arities, loss)
    }

    /// The same, if the last answer is kept and added to everything that follows.
    pub(super) fn spending_kept<L>(horizon: u64, loss: L) -> Result<Self, BuildError>
    where
        L: Spend<Noise = N>,
    {
        let arities = best(horizon, L::POWER, |arities| {
            mean_blocks(horizon, arities) + blocks_at(horizon, arities)
        });
        Self::spending_with(horizon, arities, loss)
    }

    fn spending_with<L>(horizon: u64, arities: Vec<u64>, loss: L) -> Result<Self, BuildError>
    where
        L: Spend<Noise = N>,
    {
        let noise = loss.noise_for(&change(arities.len() as u32 + 1, &exact::Exact::ONE))?;
        Self::with_arities(horizon, arities, noise)
    }

    /// With so many blocks of a level in one of the next, from the lowest level up, and this noise on every block. There is one
    /// level more, of as many blocks as there are.
    ///
    /// # Errors
    /// [`BuildError::NotPositive`] for the length; [`BuildError::OutOfRange`] for fewer than two or more than 65,536, and for blocks of more than 2^63 steps.
    pub fn with_arities(horizon: u64, arities: Vec<u64>, noise: N) -> Result<Self, BuildError> {
        if horizon == 0 {
            return Err(BuildError::not_positive("the length of the stream", 0));
        }
        let what = "the numbers of blocks that make one of the next level";
        if let Some(arity) = arities.iter().find(|arity| !(2..=MOST).contains(*arity)) {
            return Err(BuildError::out_of_range(what, "from 2 to 65,536", arity));
        }
        let product = arities
            .iter()
            .try_fold(1u64, |n, arity| n.checked_mul(*arity));
        if product.is_none_or(|product| product > 1 << 63) {
            let expected = "such that their product is at most 2^63";
            return Err(BuildError::out_of_range(what, expected, "more"));
        }
        Ok(Self {
            horizon,
            arities: arities.into(),
            noise,
        })
    }

    /// How long streams are.
    pub const fn horizon(&self) -> u64 {
        self.horizon
    }

    /// In how many blocks an update lies, at the most.
    pub fn levels(&self) -> u32 {
        self.arities.len() as u32 + 1
    }

    /// The noise on every block.
    pub const fn noise(&self) -> &N {
        &self.noise
    }

    /// Of how many blocks a time is made, at the most.
    pub fn most_blocks(&self) -> u64 {
        let below = self.arities.iter().map(|arity| largest(*arity));
        let top = self.horizon / self.arities.iter().product::<u64>() + 1;
        below.fold(top, u64::saturating_add)
    }

    /// The root of the mean of the squared errors over all steps, where the noise of a block has this standard deviation, about: for advice.
    pub fn deviation(&self, noise_deviation: f64) -> f64 {
        mean_blocks(self.horizon, &self.arities).sqrt() * noise_deviation
    }

    /// The map between streams at an L1 distance: `levels` blocks see every unit of it. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, PureDp> {
        let levels = self.levels();
        let one = change(levels, &Exact::ONE);
        self.noise
            .map_within::<L1Distance>(&one, move |d_in| change(levels, d_in))
    }

    /// A continual mechanism: every query is an update, and is answered with the noisy sum of all updates so far. It
    /// halts with the answer at the end of the horizon. Its map is [`map`](Self::map).
    pub fn machine(&self) -> SubtractingMachine<N> {
        SubtractingMachine {
            counter: self.clone(),
            time: 0,
            count: 0,
            digits: vec![Digit::default(); self.arities.len()],
            top: IBig::ZERO,
        }
    }

    /// The same as a measurement, for accounts: charged when it is launched, for the whole stream that will arrive.
    pub fn continual(&self) -> Continual<L1Distance, PureDp, i64, i64> {
        let counter = self.clone();
        Streams::with(L1Distance)
            .measurement("continual count", self.map(), move || counter.machine())
            .with_parameter("horizon", self.horizon)
            .with_parameter("levels", self.levels())
    }

    /// The same in several dimensions: an independent counter for each coordinate. Its map is [`map`](Self::map), with distances summed over the
    /// coordinates, too.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without dimensions.
    pub fn continual_vector(&self, dimensions: usize) -> Result<LiveRows<PureDp>, BuildError> {
        let columns = Columns::new(self.machine(), dimensions)?;
        let measurement = columns.continual(self.map());
        Ok(measurement.with_parameter("horizon", self.horizon))
    }

    /// A measurement of a whole stream of numbers: each query, `()`, is one step of time.
    ///
    /// # Errors
    /// [`BuildError::OutOfRange`] if no stream can be so long.
    pub fn measurement(&self) -> Result<OfStream<PureDp, (), i64>, BuildError> {
        let counter = self.clone();
        fed(self.horizon, self.map(), &self.noise, move || {
            counter.machine()
        })
    }
}

/// One level below the highest, while time passes.
#[derive(Clone, Default)]
struct Digit {
    /// How many of its blocks have ended since the last block of the next level.
    ended: u64,
    /// The noise of the blocks that are counted, or without which is counted.
    noise: IBig,
    /// The noise of each block that is taken away, the next one to end last.
    ahead: Vec<IBig>,
}

/// Counts one stream that arrives in its queries.
///
/// A clone begins anew: noise that was drawn ahead must not be added to two streams, whose difference would show.
pub struct SubtractingMachine<N> {
    counter: SubtractingCounter<N>,
    time: u64,
    count: i128,
    digits: Vec<Digit>,
    /// The noise of the blocks of the highest level.
    top: IBig,
}

impl<N: Noise<Measure = PureDp>> Clone for SubtractingMachine<N> {
    fn clone(&self) -> Self {
        self.counter.machine()
    }
}

impl<N: Noise> SubtractingMachine<N> {
    /// How many blocks get their noise with the next step.
    fn fresh(&self) -> u64 {
        let mut fresh = 0;
        for (digit, arity) in self.digits.iter().zip(self.counter.arities.iter()) {
            let ended = digit.ended + 1;
            match ended.cmp(&(largest(*arity) + 1)) {
                std::cmp::Ordering::Less => return fresh + 1,
                std::cmp::Ordering::Greater => return fresh,
                std::cmp::Ordering::Equal => fresh += arity - ended,
            }
        }
        fresh + 1
    }

    pub(super) fn has_ended(&self) -> bool {
        self.time == self.counter.horizon
    }

    /// One step of time, with the noise that is fresh.
    fn pass(&mut self, mut fresh: impl Iterator<Item = IBig>) {
        self.time += 1;
        for (digit, arity) in self.digits.iter_mut().zip(self.counter.arities.iter()) {
            digit.ended += 1;
            let most = largest(*arity);
            let carries = digit.ended == most + 1;
            if digit.ended <= most {
                digit.noise += fresh.next().unwrap_or_default();
            } else if carries {
                // One block more of the next level, without what is yet to come of it.
                let ahead = (arity - digit.ended) as usize;
                digit.ahead = fresh.by_ref().take(ahead).collect();
                digit.noise = -digit
                    .ahead
                    .iter()
                    .fold(IBig::ZERO, |sum, noise| sum + noise);
            } else if let Some(noise) = digit.ahead.pop() {
                digit.noise += noise;
            }
            if digit.ended == *arity {
                digit.ended = 0;
                digit.noise = IBig::ZERO;
            }
            if !carries {
                return;
            }
        }
        self.top += fresh.next().unwrap_or_default();
    }
}

impl<N: Noise> SubtractingMachine<N> {
    /// The sum of all updates so far, with noise.
    pub(super) fn add(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        if self.has_ended() {
            return Err(AskError::Halted);
        }
        let draws = (0..self.fresh()).map(|_| scope.draw(&self.counter.noise));
        let fresh = draws.collect::<Result<Vec<IBig>, AskError>>()?;
        self.pass(fresh.into_iter());
        // At most 2^64 updates below 2^63: 128 bits hold every sum.
        self.count += i128::from(update);
        let noises = self.digits.iter().map(|digit| &digit.noise);
        let noise = noises.fold(self.top.clone(), |sum, noise| sum + noise);
        Ok(saturate(noise + self.count))
    }
}

impl<N: Noise> Machine for SubtractingMachine<N> {
    type Query = i64;
    type Answer = i64;

    fn step(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        let count = self.add(update, scope)?;
        if self.has_ended() {
            scope.halt();
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::DiscreteLaplace;

    /// With noise 1 on every block, that of a digit is the number of its blocks, less those that are taken away: the digit.
    #[test]
    fn an_answer_is_made_of_blocks_that_make_up_its_time() {
        for arities in [vec![2], vec![3], vec![4, 3], vec![2, 5, 3], vec![5, 2]] {
            let noise = DiscreteLaplace::new(1).unwrap();
            let counter = SubtractingCounter::with_arities(150, arities.clone(), noise).unwrap();
            let mut machine = counter.machine();
            for time in 1..=150u64 {
                let fresh = machine.fresh() as usize;
                machine.pass(vec![IBig::ONE; fresh].into_iter());
                let (mut size, mut sum) = (1, IBig::ZERO);
                for (digit, arity) in machine.digits.iter().zip(&arities) {
                    sum += &digit.noise * IBig::from(size);
                    size *= arity;
                    assert!(digit.ahead.len() as u64 <= arity / 2);
                }
                sum += &machine.top * IBig::from(size);
                assert_eq!(sum, IBig::from(time), "{arities:?}");
                let noises = machine
                    .digits
                    .iter()
                    .map(|digit| digit.noise.to_f64().value().abs());
                let blocks = noises.sum::<f64>() + machine.top.to_f64().value();
                assert_eq!(blocks, blocks_at(time, &arities));
                assert!(blocks <= counter.most_blocks() as f64);
            }
        }
    }

    #[test]
    fn shapes_are_as_good_as_published() {
        let error = |horizon| {
            let counter = SubtractingCounter::spending(horizon, crate::spend::epsilon(1)).unwrap();
            counter.deviation(f64::from(counter.levels()) * 2f64.sqrt())
        };
        // Published: 21.1 and 34.4.
        assert!(error(1 << 14) < 20.8, "{}", error(1 << 14));
        assert!(error(1 << 20) < 34.0, "{}", error(1 << 20));
        for horizon in [1, 2, 3, 1000, u64::MAX] {
            assert!(SubtractingCounter::spending(horizon, crate::spend::epsilon(1)).is_ok());
        }
        let noise = || DiscreteLaplace::new(1).unwrap();
        assert!(SubtractingCounter::with_arities(0, vec![2], noise()).is_err());
        assert!(SubtractingCounter::with_arities(9, vec![3, 1], noise()).is_err());
        assert!(SubtractingCounter::with_arities(9, vec![1 << 17], noise()).is_err());
        assert!(
            SubtractingCounter::with_arities(9, vec![1 << 16, 1 << 16, 1 << 16, 1 << 16], noise())
                .is_err()
        );
    }
}
