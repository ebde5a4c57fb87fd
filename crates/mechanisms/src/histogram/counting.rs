//! With which noise a histogram counts, and what one row costs then.

use continual::streams::Updates;
use exact::{Exact, Round};
use measures::{
    ApproxDp, Epsilon, EpsilonDelta, MapError, Measure, PrivacyMap, PureDp, Rho,
    convert::zcdp_epsilon,
};

use crate::{
    counter::Counter,
    noise::Noise,
    samplers::{DiscreteGaussian, DiscreteLaplace},
};

/// Noise that a histogram's counter may have: Laplace noise makes it pure, Gaussian noise (ε, δ).
pub trait CountingNoise: Noise + sealed::Sealed {
    /// In which the whole histogram is private.
    type Whole: Measure;

    /// What one row costs in independent counters, one for each column, of which it moves every one by at most one.
    #[doc(hidden)]
    fn row(
        counter: &Counter<Self>,
        columns: usize,
        delta: &Exact,
    ) -> Result<EpsilonDelta, MapError>;

    /// The loss of the whole in its measure.
    #[doc(hidden)]
    fn whole(loss: EpsilonDelta) -> <Self::Whole as Measure>::Loss;

    /// The map of the whole: distances count the rows that differ.
    #[doc(hidden)]
    fn whole_map(loss: EpsilonDelta) -> PrivacyMap<Updates, Self::Whole>;

    /// How far the sum of so many draws is from zero, but with probability `2e^-log`.
    #[doc(hidden)]
    fn spread(&self, draws: f64, log: f64) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DiscreteLaplace {}
    impl Sealed for super::DiscreteGaussian {}
}

impl CountingNoise for DiscreteLaplace {
    type Whole = PureDp;

    /// The losses of the columns add up: the loss at L1 distance `columns`.
    fn row(counter: &Counter<Self>, columns: usize, _: &Exact) -> Result<EpsilonDelta, MapError> {
        let loss = counter.map().loss(&count(columns))?;
        Ok(loss.into())
    }

    fn whole(loss: EpsilonDelta) -> Epsilon {
        Epsilon::new(loss.epsilon().clone())
    }

    fn whole_map(loss: EpsilonDelta) -> PrivacyMap<Updates, PureDp> {
        PrivacyMap::linear(PureDp, Self::whole(loss))
    }

    /// Moments are at most those of the continuous noise: \[CSS11\] Cor 2.9.
    fn spread(&self, draws: f64, log: f64) -> f64 {
        let scale = 1.0 / self.loss_per_unit().to_f64(Round::Down);
        scale * draws.sqrt().max(log.sqrt()) * (8.0 * log).sqrt()
    }
}

impl CountingNoise for DiscreteGaussian {
    type Whole = ApproxDp;

    /// Counters of columns compose in zCDP, in any interleaving (\[HSV25\] Cor 13.4); the sum is converted once.
    fn row(
        counter: &Counter<Self>,
        columns: usize,
        delta: &Exact,
    ) -> Result<EpsilonDelta, MapError> {
        let each: Rho = counter.map().loss(&Exact::ONE)?;
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
    fn spread(&self, draws: f64, log: f64) -> f64 {
        (2.0 * self.variance().to_f64().value() * draws * log).sqrt()
    }
}

fn count(columns: usize) -> Exact {
    Exact::from(u64::try_from(columns).unwrap_or(u64::MAX))
}
