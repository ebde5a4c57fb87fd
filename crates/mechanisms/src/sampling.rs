//! Measurements on a Poisson sample of the records: privacy amplified by sampling.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{
    ApproxDp, Conversion, EpsilonDelta, GroupPrivacy, Name, PureDp, RuleError, SymmetricDistance,
};
use odometer::{Measurement, Records, internal::on_other_data};
use queryable::{
    AskError, Scope,
    coins::{Bit, Probability},
};

use crate::{
    error::BuildError,
    parameter::{self, Parameter, shown},
};
use accountant::PairMap;

/// Measurements that can be made on a Poisson sample of their records.
///
/// Only where neighbours have one record more or less; replaced records do not compile, and would be wrong (a test refutes
/// it):
///
/// ```compile_fail,E0599
/// use odometry::mechanisms::{additive::count, samplers::DiscreteLaplace, sampling::PoissonSampled};
/// use odometry::prelude::*;
/// let replaced = count(Records::<u8>::replaced(), DiscreteLaplace::new(1).unwrap(), |_| true);
/// replaced.poisson_sampled("0.1");
/// ```
///
/// zCDP and Rényi losses are not amplified like this. What is known of the noise survives a conversion:
///
/// ```
/// use odometry::accountant::Accountant;
/// use odometry::measures::convert::ZcdpToApprox;
/// use odometry::mechanisms::{additive::{Clamp, sum}, samplers::DiscreteGaussian, sampling::PoissonSampled};
/// use odometry::prelude::*;
/// let noise = DiscreteGaussian::with_scale(100)?;
/// let total = sum(Records::<i64>::new(), noise, Clamp::new(0, 100)?, |income| *income);
/// let step = total.convert(ZcdpToApprox::new("1e-8")?).poisson_sampled("0.01")?;
/// let steps = Accountant::new().add(&step, 1000)?;
/// assert!(steps.epsilon("1e-6")? < "2.13".parse()?); // continuous noise: 2.1245
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait PoissonSampled: Sized {
    /// This measurement on a sample: every record is in it with probability `rate`, by itself, by exact coins.
    ///
    /// At distance 1 the loss ε becomes `ln(1 + q(e^ε − 1))`, and (ε, δ) becomes that with `qδ` (\[BBG18\];
    /// `docs/theorems.md` has the argument), rounded up. Beyond it, group privacy. The accountant's pair is known at
    /// distance 1, where the measurement's own pair is.
    ///
    /// Hypotheses. Neighbours have one record more or less. The sample is drawn once for a launch, inside its step, and not
    /// shown: an answer may be interactive, and all of it is about the same sample. The measurement takes every list of
    /// records, the empty one included, and is private for all orders of them, because a sample keeps the order. Cloning a
    /// record does not fail. Time is not covered, and shows more than before: it depends on the size of the sample.
    ///
    /// ```
    /// use odometry::mechanisms::{additive::count, samplers::DiscreteLaplace, sampling::PoissonSampled};
    /// use odometry::prelude::*;
    /// let adults = count(Records::<u8>::new(), DiscreteLaplace::new(1)?, |age| *age >= 18);
    /// let sampled = adults.poisson_sampled("0.1")?;
    /// assert!(*sampled.map().loss(&1)?.value() < "0.15857".parse()?); // instead of 1
    /// println!("{}", 10 * sampled.invoke(vec![20, 33, 8])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::OutOfRange`], [`BuildError::TooLong`] for the rate.
    fn poisson_sampled(&self, rate: impl Parameter) -> Result<Self, BuildError>;
}

impl<T, M, A> PoissonSampled for Measurement<Records<T>, M, A>
where
    T: Clone + Send + Sync + 'static,
    M: Amplified,
    A: 'static,
{
    fn poisson_sampled(&self, rate: impl Parameter) -> Result<Self, BuildError> {
        let rate = parameter::at_least_zero("the sampling rate", rate)?;
        if rate > RBig::ONE {
            let expected = "between 0 and 1";
            return Err(BuildError::out_of_range(
                "the sampling rate",
                expected,
                rate,
            ));
        }
        let at_most = Exact::from_rational(&rate, Round::Up).unwrap_or(Exact::ONE);
        let amplified = Sampling {
            measure: self.map().measure().clone(),
            rate: at_most.clone(),
        };
        // Only distance 1 is asked of what is amplified.
        let map = self.map().convert(amplified).group();
        let words = shown(&rate);
        let coin = Probability::try_from(rate).map_err(BuildError::failed)?;
        let coin = Bit::new(coin);
        let sampled = on_other_data(self, map, move |data, scope| sample(data, &coin, scope));
        let sampled = sampled.with_parameter("sampling rate", words);
        Ok(match self.known::<PairMap<SymmetricDistance>>() {
            Some(pairs) => sampled.knowing(pairs.poisson_sampled(at_most)),
            None => sampled,
        })
    }
}

/// Every record by its own coin.
fn sample<T: Clone>(data: &[T], coin: &Bit, scope: &mut Scope<'_>) -> Result<Vec<T>, AskError> {
    let mut sample = Vec::new();
    for record in data {
        if scope.draw(coin)? {
            sample.push(record.clone());
        }
    }
    Ok(sample)
}

/// A measure in which Poisson sampling lowers a loss at distance 1.
///
/// Whoever implements it vouches for the bound, for the view of an interactive mechanism as well.
#[diagnostic::on_unimplemented(
    message = "sampling does not lower a loss of `{Self}` by a known formula",
    note = "convert the measurement to (ε, δ) first"
)]
pub trait Amplified: GroupPrivacy {
    /// The loss on a sample of this rate, at most 1, at distance 1: rounded up.
    fn amplified(&self, loss: &Self::Loss, rate: &Exact) -> Self::Loss;
}

impl Amplified for PureDp {
    fn amplified(&self, loss: &measures::Epsilon, rate: &Exact) -> measures::Epsilon {
        measures::Epsilon::new(epsilon(loss.value(), rate))
    }
}

impl Amplified for ApproxDp {
    fn amplified(&self, loss: &EpsilonDelta, rate: &Exact) -> EpsilonDelta {
        EpsilonDelta::saturating(
            epsilon(loss.epsilon(), rate),
            loss.delta().mul(rate, Round::Up),
        )
    }
}

/// `ln(1 + q(e^ε − 1))`.
fn epsilon(epsilon: &Exact, rate: &Exact) -> Exact {
    if rate.is_zero() || epsilon.is_infinite() {
        return if rate.is_zero() {
            Exact::ZERO
        } else {
            Exact::INFINITY
        };
    }
    let more = epsilon.exp_m1(Round::Up).mul(rate, Round::Up);
    more.ln_1p(Round::Up).min(epsilon.clone())
}

/// Sampling as a conversion of losses at distance 1.
#[derive(Clone, Debug, PartialEq)]
struct Sampling<M> {
    measure: M,
    rate: Exact,
}

impl<M: Amplified> Conversion for Sampling<M> {
    type From = M;
    type To = M;

    fn from(&self) -> M {
        self.measure.clone()
    }

    fn to(&self) -> M {
        self.measure.clone()
    }

    fn convert(&self, loss: &M::Loss) -> Result<M::Loss, RuleError> {
        Ok(self.measure.amplified(loss, &self.rate))
    }

    /// Never written down, and nobody reads it: it says that this is more than a function. So the map has a form, if that of the
    /// measurement has: the one of group privacy, from the loss at distance 1.
    fn name(&self) -> Option<Name> {
        let measure = self.measure.name()?;
        let name = Name::new("poisson-sampled").of(&measure);
        Some(name.with("rate", self.rate.text()))
    }
}
