//! Counting without a horizon: one counter after the other, each for a longer epoch.
//!
//! An update is in one epoch, so it is measured by one counter, which has the whole loss to spend: nothing is split between
//! epochs. What was counted in an epoch is taken over as its last answer. Epochs are 64 times as long as the ones before, so there are few
//! last answers to add up: the error at time T is about an eighth more than that of a counter that was built for T.

use std::sync::Arc;

use continual::streams::{Continual, Streams};
use measures::{L1Distance, Loss, PrivacyMap};
use queryable::{AskError, Machine, Scope};

use super::{Counter, shape::Shape, tree::Blocks};
use crate::{
    error::BuildError,
    noise::Noise,
    samplers::{DiscreteGaussian, DiscreteLaplace},
    spend::Spend,
};

/// The first epoch has 2^8 steps, and each has 2^6 times as many as the one before.
const FIRST_BITS: u32 = 8;
const RATIO_BITS: u32 = 6;

/// A counter for streams of any length, up to 2^62 steps.
///
/// Distances are L1 over the whole stream. *Loss* (derived here): a change of `d` in all falls on epochs as `d₁ + d₂ + …`. Laplace noise costs
/// ε·dᵢ in each, Gaussian noise ρ·dᵢ²; epochs are independent, so that is ε·d at the most, or ρ·d².
///
/// ```
/// use odometry::mechanisms::{counter::EndlessCounter, spend::epsilon};
/// let counter = EndlessCounter::spending(epsilon("0.5"))?;
/// assert_eq!(counter.map().loss(&1u32.into())?.to_string(), "0.5");
/// let counts = counter.continual().invoke(())?;
/// for _ in 0..1000 {
///     let so_far: i64 = counts.ask(1)?;
///     # let _ = so_far;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EndlessCounter<N>(Arc<Vec<Counter<N>>>);

/// Noise whose loss is linear or quadratic in the change: in several independent parts, among which a change is divided, it is
/// never more than in the worst one of them.
pub trait Divisible: Noise + sealed::Sealed {}

impl Divisible for DiscreteLaplace {}
impl Divisible for DiscreteGaussian {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DiscreteLaplace {}
    impl Sealed for super::DiscreteGaussian {}
}

impl<N: Divisible> EndlessCounter<N> {
    /// With the least noise that costs this at distance 1.
    ///
    /// # Errors
    /// As [`Spend::noise_for`].
    pub fn spending<L: Spend<Noise = N> + Clone>(loss: L) -> Result<Self, BuildError> {
        let bits = (FIRST_BITS..63).step_by(RATIO_BITS as usize);
        let epoch = |bits: u32| {
            let horizon = 1 << bits;
            Counter::spending_with(horizon, Shape::best_kept(horizon, L::POWER), loss.clone())
        };
        Self::of_epochs(bits.map(epoch).collect::<Result<_, _>>()?)
    }

    /// With these epochs, in their order. After the last one it halts.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without epochs.
    pub fn of_epochs(epochs: Vec<Counter<N>>) -> Result<Self, BuildError> {
        match epochs.is_empty() {
            true => Err(BuildError::Empty { what: "the epochs" }),
            false => Ok(Self(Arc::new(epochs))),
        }
    }

    /// The map between streams at an L1 distance: that of the worst epoch. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, N::Measure> {
        let maps: Vec<_> = self.0.iter().map(Counter::map).collect();
        PrivacyMap::new(self.0[0].noise.measure(), move |d_in| {
            let mut worst = maps[0].loss(d_in)?;
            for map in &maps[1..] {
                let loss = map.loss(d_in)?;
                if !loss.at_most(&worst) {
                    worst = loss;
                }
            }
            Ok(worst)
        })
    }

    /// A continual mechanism: every query is an update, and is answered with the noisy sum of all updates so far. Its map is
    /// [`map`](Self::map).
    pub fn machine(&self) -> EndlessMachine<N> {
        EndlessMachine {
            epochs: Arc::clone(&self.0),
            epoch: 0,
            blocks: Blocks::new(self.0[0].clone()),
            before: 0,
            last: 0,
        }
    }

    /// The same as a measurement, for accounts: charged when it is launched, for all that will arrive.
    pub fn continual(&self) -> Continual<L1Distance, N::Measure, i64, i64> {
        let counter = self.clone();
        Streams::with(L1Distance)
            .measurement("endless count", self.map(), move || counter.machine())
    }
}

/// Counts one stream that arrives in its queries.
#[derive(Clone)]
pub struct EndlessMachine<N> {
    epochs: Arc<Vec<Counter<N>>>,
    epoch: usize,
    blocks: Blocks<N>,
    /// The last answers of all epochs before this one.
    before: i128,
    /// The last answer in this one.
    last: i64,
}

impl<N: Divisible> Machine for EndlessMachine<N> {
    type Query = i64;
    type Answer = i64;

    fn step(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        if self.blocks.has_ended() {
            let next = self.epochs.get(self.epoch + 1).ok_or(AskError::Halted)?;
            self.blocks = Blocks::new(next.clone());
            self.epoch += 1;
            self.before += i128::from(self.last);
        }
        self.last = self.blocks.add(update, scope)?;
        let total = self.before + i128::from(self.last);
        Ok(total.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}
