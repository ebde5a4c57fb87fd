//! Counting without a horizon: one counter after the other, each for a longer epoch.
//!
//! An update is in one epoch, so it is measured by one counter, which has the whole loss to spend: nothing is split between
//! epochs. What was counted in an epoch is taken over as its last answer. Epochs are 64 times as long as the ones before, so there are few
//! last answers to add up: the error at time T is a seventh more than that of a counter of the same kind that was built for T where an epoch
//! ends, and a third more where one begins (ε = 1: 23.7 at 2¹⁴ steps, 33.5 at 2¹⁶, 40.2 at 2²⁰).

use std::sync::Arc;

use continual::streams::{Continual, Streams};
use measures::{L1Distance, Loss, PrivacyMap, PureDp};
use queryable::{AskError, Machine, Scope};

use super::{Columns, Counter, SubtractingCounter, SubtractingMachine, shape::Shape, tree::Blocks};
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
pub struct EndlessCounter<N: Divisible>(Arc<Vec<N::Epoch>>);

/// Noise whose loss is linear or quadratic in the change: in several independent parts, among which a change is divided, it is
/// never more than in the worst one of them.
pub trait Divisible: Noise + sealed::Sealed {
    /// The counter of an epoch: with blocks that are also taken away for a pure loss, with finished ones otherwise.
    type Epoch: Epoch<Noise = Self>;
}

impl Divisible for DiscreteLaplace {
    type Epoch = SubtractingCounter<Self>;
}

impl Divisible for DiscreteGaussian {
    type Epoch = Counter<Self>;
}

/// A counter that is one of several, one after the other: [`SubtractingCounter`] or [`Counter`].
pub trait Epoch: Clone + Send + Sync + sealed::Sealed + 'static {
    /// Its noise.
    type Noise: Noise;
    /// It while it runs.
    #[doc(hidden)]
    type Running: Send + Sync + 'static;

    /// For so many steps, of which the last answer is kept.
    #[doc(hidden)]
    fn kept<L: Spend<Noise = Self::Noise>>(horizon: u64, loss: L) -> Result<Self, BuildError>;
    /// How many steps it has.
    #[doc(hidden)]
    fn steps(&self) -> u64;
    /// Of how many blocks a time is made, at the most.
    #[doc(hidden)]
    fn blocks(&self) -> u64;
    #[doc(hidden)]
    fn noise_of(&self) -> &Self::Noise;
    #[doc(hidden)]
    fn map_of(&self) -> PrivacyMap<L1Distance, <Self::Noise as Noise>::Measure>;
    #[doc(hidden)]
    fn start(&self) -> Self::Running;
    #[doc(hidden)]
    fn has_ended(running: &Self::Running) -> bool;
    #[doc(hidden)]
    fn add(
        running: &mut Self::Running,
        update: i64,
        scope: &mut Scope<'_>,
    ) -> Result<i64, AskError>;
}

impl<N: Noise> Epoch for Counter<N> {
    type Noise = N;
    type Running = Blocks<N>;

    fn kept<L: Spend<Noise = N>>(horizon: u64, loss: L) -> Result<Self, BuildError> {
        Self::spending_with(horizon, Shape::best_kept(horizon, L::POWER), loss)
    }

    fn steps(&self) -> u64 {
        self.horizon()
    }

    fn blocks(&self) -> u64 {
        self.most_blocks()
    }

    fn noise_of(&self) -> &N {
        self.noise()
    }

    fn map_of(&self) -> PrivacyMap<L1Distance, N::Measure> {
        self.map()
    }

    fn start(&self) -> Blocks<N> {
        Blocks::new(self.clone())
    }

    fn has_ended(running: &Blocks<N>) -> bool {
        running.has_ended()
    }

    fn add(running: &mut Blocks<N>, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        running.add(update, scope)
    }
}

impl<N: Noise<Measure = PureDp>> Epoch for SubtractingCounter<N> {
    type Noise = N;
    type Running = SubtractingMachine<N>;

    fn kept<L: Spend<Noise = N>>(horizon: u64, loss: L) -> Result<Self, BuildError> {
        Self::spending_kept(horizon, loss)
    }

    fn steps(&self) -> u64 {
        self.horizon()
    }

    fn blocks(&self) -> u64 {
        self.most_blocks()
    }

    fn noise_of(&self) -> &N {
        self.noise()
    }

    fn map_of(&self) -> PrivacyMap<L1Distance, PureDp> {
        self.map()
    }

    fn start(&self) -> SubtractingMachine<N> {
        self.machine()
    }

    fn has_ended(running: &SubtractingMachine<N>) -> bool {
        running.has_ended()
    }

    fn add(
        running: &mut SubtractingMachine<N>,
        update: i64,
        scope: &mut Scope<'_>,
    ) -> Result<i64, AskError> {
        running.add(update, scope)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DiscreteLaplace {}
    impl Sealed for super::DiscreteGaussian {}
    impl<N> Sealed for super::Counter<N> {}
    impl<N> Sealed for super::SubtractingCounter<N> {}
}

impl<N: Divisible> EndlessCounter<N> {
    /// With the least noise that costs this at distance 1.
    ///
    /// # Errors
    /// As [`Spend::noise_for`].
    pub fn spending<L: Spend<Noise = N> + Clone>(loss: L) -> Result<Self, BuildError> {
        let bits = (FIRST_BITS..63).step_by(RATIO_BITS as usize);
        let epoch = |bits: u32| N::Epoch::kept(1 << bits, loss.clone());
        Self::of_epochs(bits.map(epoch).collect::<Result<_, _>>()?)
    }

    /// With these epochs, in their order. After the last one it halts.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without epochs.
    pub fn of_epochs(epochs: Vec<N::Epoch>) -> Result<Self, BuildError> {
        match epochs.is_empty() {
            true => Err(BuildError::Empty { what: "the epochs" }),
            false => Ok(Self(Arc::new(epochs))),
        }
    }

    /// How many steps all epochs have.
    pub fn horizon(&self) -> u64 {
        self.0.iter().map(Epoch::steps).fold(0, u64::saturating_add)
    }

    /// Up to a time, an answer is off by the noise of no more than so many blocks, for each epoch that has begun.
    pub(crate) fn noises_until(&self, time: u64) -> Vec<(&N, u64)> {
        let (mut found, mut begun) = (Vec::new(), 0);
        for epoch in self.0.iter() {
            if begun >= time {
                break;
            }
            found.push((epoch.noise_of(), epoch.blocks()));
            begun = epoch.steps().saturating_add(begun);
        }
        found
    }

    /// The map between streams at an L1 distance: that of the worst epoch. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, N::Measure> {
        let maps: Vec<_> = self.0.iter().map(Epoch::map_of).collect();
        PrivacyMap::new(self.0[0].noise_of().measure(), move |d_in| {
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
            running: self.0[0].start(),
            before: 0,
            last: 0,
        }
    }

    /// The same in several dimensions: an independent counter for each coordinate. Its map is [`map`](Self::map), with distances
    /// summed over the coordinates, too.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without dimensions.
    pub fn vector_machine(
        &self,
        dimensions: usize,
    ) -> Result<Columns<EndlessMachine<N>>, BuildError> {
        Columns::new(self.machine(), dimensions)
    }

    /// The same as a measurement, for accounts: charged when it is launched, for all that will arrive.
    pub fn continual(&self) -> Continual<L1Distance, N::Measure, i64, i64> {
        let counter = self.clone();
        Streams::with(L1Distance)
            .measurement("endless count", self.map(), move || counter.machine())
    }
}

/// Counts one stream that arrives in its queries.
///
/// A clone begins anew: noise that was drawn ahead must not be added to two streams, whose difference would show.
pub struct EndlessMachine<N: Divisible> {
    epochs: Arc<Vec<N::Epoch>>,
    epoch: usize,
    running: <N::Epoch as Epoch>::Running,
    /// The last answers of all epochs before this one.
    before: i128,
    /// The last answer in this one.
    last: i64,
}

impl<N: Divisible> Clone for EndlessMachine<N> {
    fn clone(&self) -> Self {
        EndlessCounter(Arc::clone(&self.epochs)).machine()
    }
}

impl<N: Divisible> Machine for EndlessMachine<N> {
    type Query = i64;
    type Answer = i64;

    fn step(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        if N::Epoch::has_ended(&self.running) {
            let next = self.epochs.get(self.epoch + 1).ok_or(AskError::Halted)?;
            self.running = next.start();
            self.epoch += 1;
            self.before += i128::from(self.last);
        }
        self.last = N::Epoch::add(&mut self.running, update, scope)?;
        let total = self.before + i128::from(self.last);
        Ok(total.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}
