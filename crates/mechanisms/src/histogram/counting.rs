//! With which noise a histogram counts, and what one row costs then.

use continual::streams::Updates;
use exact::{Exact, Round};
use measures::{
    ApproxDp, Epsilon, EpsilonDelta, L1Distance, MapError, Measure, PrivacyMap, PureDp, Rho, Zcdp,
    convert::zcdp_epsilon,
};

use crate::{
    counter::{Counter, Divisible, EndlessCounter},
    samplers::{DiscreteGaussian, DiscreteLaplace},
};

/// Noise that a histogram's counter may have: Laplace noise makes it pure, Gaussian noise (ε, δ).
pub trait CountingNoise: Divisible + sealed::Sealed {
    /// In which the whole histogram is private.
    type Whole: Measure;

    /// What one row costs in independent counters, one for each column, of which it moves every one by at most one.
    #[doc(hidden)]
    fn row(
        counter: &PrivacyMap<L1Distance, Self::Measure>,
        columns: usize,
        delta: &Exact,
    ) -> Result<EpsilonDelta, MapError>;

    /// The loss of the whole in its measure.
    #[doc(hidden)]
    fn whole(loss: EpsilonDelta) -> <Self::Whole as Measure>::Loss;

    /// The map of the whole: distances count the rows that differ.
    #[doc(hidden)]
    fn whole_map(loss: EpsilonDelta) -> PrivacyMap<Updates, Self::Whole>;

    /// How far the sum of so many draws of each is from zero, but with probability `2e^-log`.
    #[doc(hidden)]
    fn spread(draws: &[(&Self, u64)], log: f64) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DiscreteLaplace {}
    impl Sealed for super::DiscreteGaussian {}
}

impl CountingNoise for DiscreteLaplace {
    type Whole = PureDp;

    /// The losses of the columns add up: the loss at L1 distance `columns`.
    fn row(
        counter: &PrivacyMap<L1Distance, PureDp>,
        columns: usize,
        _: &Exact,
    ) -> Result<EpsilonDelta, MapError> {
        Ok(counter.loss(&count(columns))?.into())
    }

    fn whole(loss: EpsilonDelta) -> Epsilon {
        Epsilon::new(loss.epsilon().clone())
    }

    fn whole_map(loss: EpsilonDelta) -> PrivacyMap<Updates, PureDp> {
        PrivacyMap::linear(PureDp, Self::whole(loss))
    }

    /// Moments are at most those of the continuous noise: \[CSS11\] Cor 2.9.
    fn spread(draws: &[(&Self, u64)], log: f64) -> f64 {
        let scale = |noise: &Self| 1.0 / noise.loss_per_unit().to_f64(Round::Down);
        let squares = draws
            .iter()
            .map(|(noise, n)| *n as f64 * scale(noise).powi(2));
        let largest = draws
            .iter()
            .map(|(noise, _)| scale(noise))
            .fold(0.0, f64::max);
        squares.sum::<f64>().sqrt().max(largest * log.sqrt()) * (8.0 * log).sqrt()
    }
}

impl CountingNoise for DiscreteGaussian {
    type Whole = ApproxDp;

    /// Counters of columns compose in zCDP, in any interleaving (\[HSV25\] Cor 13.4); the sum is converted once.
    fn row(
        counter: &PrivacyMap<L1Distance, Zcdp>,
        columns: usize,
        delta: &Exact,
    ) -> Result<EpsilonDelta, MapError> {
        let each: Rho = counter.loss(&Exact::ONE)?;
        let rho = Rho::new(each.value().mul(&count(columns), Round::Up));
        let epsilon = zcdp_epsilon(&rho, delta);
        Ok(EpsilonDelta::saturating(epsilon, delta.clone()))
    }

    fn whole(loss: EpsilonDelta) -> EpsilonDelta {
        loss
    }

    fn whole_map(loss: EpsilonDelta) -> PrivacyMap<Updates, ApproxDp> {
        PrivacyMap::constant_up_to(ApproxDp, 1, loss)
    }

    /// Subgaussian: its moments are at most those of the continuous noise with the same parameter (\[CKS20\]).
    fn spread(draws: &[(&Self, u64)], log: f64) -> f64 {
        let squares = draws
            .iter()
            .map(|(noise, n)| *n as f64 * noise.variance().to_f64().value());
        (2.0 * squares.sum::<f64>() * log).sqrt()
    }
}

/// What counts the columns: for so many intervals, or without a horizon.
pub(super) enum Counting<N: CountingNoise> {
    Until(Counter<N>),
    Endless(EndlessCounter<N>),
}

impl<N: CountingNoise> Counting<N> {
    pub(super) fn horizon(&self) -> u64 {
        match self {
            Self::Until(counter) => counter.horizon(),
            Self::Endless(counter) => counter.horizon(),
        }
    }

    pub(super) fn map(&self) -> PrivacyMap<L1Distance, N::Measure> {
        match self {
            Self::Until(counter) => counter.map(),
            Self::Endless(counter) => counter.map(),
        }
    }

    /// How far a column's total is from the truth up to this time, but with probability `2e^-log`. (Totals are rounded, once for each epoch.)
    pub(super) fn spread(&self, time: u64, log: f64) -> f64 {
        let draws = match self {
            Self::Until(counter) => vec![(counter.noise(), counter.most_blocks())],
            Self::Endless(counter) => counter.noises_until(time),
        };
        N::spread(&draws, log) + draws.len() as f64
    }
}

fn count(columns: usize) -> Exact {
    Exact::from(u64::try_from(columns).unwrap_or(u64::MAX))
}
