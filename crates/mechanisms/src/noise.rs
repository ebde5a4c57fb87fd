//! What additive noise has to tell about itself: its law, and what it makes of a change of the numbers it is added to.

mod change;
mod product;

pub use change::Change;
use product::{form_of_product, product};

use accountant::{Mechanism, PairMap};
use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{
    ApproxDp, Epsilon, EpsilonDelta, Form, MapError, Measure, Metric, Mu, Number, PrivacyMap,
    PureDp, Rho, Zcdp,
    convert::{gaussian_delta, zcdp_delta},
};
use odometer::{Measurement, Space};
use queryable::coins::{Distribution, Probability};
use rand_core::Rng;

use crate::{
    error::BuildError,
    parameter::{self, Parameter, shown},
    samplers::{DiscreteGaussian, DiscreteLaplace, Staircase, lower, upper},
};

/// Integer noise with a privacy guarantee: independent draws, one added to each coordinate of a vector of integers.
///
/// Whoever implements this vouches for `loss`. The measure is the one in which the noise has its tight theorem; convert
/// the measurement for another ([`Measurement::convert`](odometer::Measurement::convert)).
pub trait Noise: Distribution<Outcome = IBig> + Clone + Send + Sync + 'static {
    /// In which the loss is counted.
    type Measure: Measure;

    /// That measure.
    fn measure(&self) -> Self::Measure;

    /// The loss when the vector changes by at most this much. Rounded up, and monotone. Counters rely on it for changes that are
    /// chosen one after the other in view of earlier noisy sums, and stay within this much along every path: it must hold for
    /// those, too, as it does for pure losses, zCDP and Rényi.
    fn loss(&self, change: &Change) -> <Self::Measure as Measure>::Loss;

    /// What it is, for descriptions: its law and its parameters, by name.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// A pair that dominates the noise when the vector changes by at most this much, if one is known: what an
    /// [accountant](accountant::Accountant) composes. Rounded up, and monotone.
    fn pair(&self, change: &Change) -> Option<Mechanism> {
        let _ = change;
        None
    }

    /// The pairs of a vector that changes by at most `change(d_in)`.
    fn pairs<MI: Metric>(
        &self,
        change: impl Fn(&MI::Distance) -> Change + Send + Sync + 'static,
    ) -> PairMap<MI> {
        let noise = self.clone();
        PairMap::new(move |d_in| noise.pair(&change(d_in)))
    }

    /// The privacy map of a vector that changes by at most `change(d_in)`.
    fn map<MI: Metric>(
        &self,
        change: impl Fn(&MI::Distance) -> Change + Send + Sync + 'static,
    ) -> PrivacyMap<MI, Self::Measure> {
        let noise = self.clone();
        PrivacyMap::new(self.measure(), move |d_in| {
            Ok::<_, MapError>(noise.loss(&change(d_in)))
        })
    }

    /// What the map of a vector is that changes by at most `d_in` times `one`, if it is more than a function. It must give what
    /// [`loss`](Self::loss) gives, and may give more where that would be rounded more than once.
    fn form<D>(&self, one: &Change) -> Form<D, <Self::Measure as Measure>::Loss> {
        let _ = one;
        Form::Function
    }

    /// The privacy map of a vector that changes by at most `d_in` times `one`: with a [form](Self::form), where there is one, so
    /// that it survives on a ledger.
    ///
    /// ```
    /// use odometry::measures::{Form, SymmetricDistance};
    /// use odometry::mechanisms::{noise::{Change, Noise}, samplers::DiscreteLaplace};
    /// let map = DiscreteLaplace::new(10)?.map_per_unit::<SymmetricDistance>(Change::one(&1u32.into()));
    /// assert_eq!(*map.form(), Form::Linear("0.1".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn map_per_unit<MI: Metric<Distance: Number>>(
        &self,
        one: Change,
    ) -> PrivacyMap<MI, Self::Measure> {
        self.map_within(&one.clone(), move |d_in: &MI::Distance| {
            one.times(&d_in.number())
        })
    }

    /// The privacy map of a vector that changes by at most `change(d_in)`, of which both norms are those of `d_in` times `one`: with a
    /// [form](Self::form), where there is one.
    fn map_within<MI: Metric>(
        &self,
        one: &Change,
        change: impl Fn(&MI::Distance) -> Change + Send + Sync + 'static,
    ) -> PrivacyMap<MI, Self::Measure> {
        let (noise, known, one) = (self.clone(), self.clone(), one.clone());
        let loss = move |d_in: &MI::Distance| Ok::<_, MapError>(noise.loss(&change(d_in)));
        PrivacyMap::known_as(self.measure(), loss, move || known.form(&one))
    }
}

/// ε = (L1 change)·(−ln q), rounded up: the ratio of probabilities at points one apart is `q` (\[GRS09\]).
impl Noise for DiscreteLaplace {
    type Measure = PureDp;

    fn measure(&self) -> PureDp {
        PureDp
    }

    fn loss(&self, change: &Change) -> Epsilon {
        Epsilon::new(product(&change.l1, self.rate()))
    }

    fn form<D>(&self, one: &Change) -> Form<D, Epsilon> {
        let linear = |at_one| Form::Linear(Epsilon::new(at_one));
        form_of_product(&one.l1, self.rate(), linear)
    }

    /// Of one coordinate, its own: every `P(Y ≥ k) − γ·P(Y ≥ k + d)` grows with `d`, and the largest of them is δ.
    fn pair(&self, change: &Change) -> Option<Mechanism> {
        let scale = Exact::from_rational(&(RBig::ONE / self.rate()), Round::Down).ok()?;
        Mechanism::discrete_laplace(one_coordinate(change)?, scale).ok()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("noise", "discrete Laplace".into()), self.parameter()]
    }
}

/// One number that changes by at most the width costs ε: `|x + s| ≤ |x| + width` for such a change `s`, probabilities fall with
/// the distance from zero, and over a width by a factor of `q` exactly. Every started width counts, and in several coordinates
/// every change does, be it by one: then there may be as many as the L1 norm.
impl Noise for Staircase {
    type Measure = PureDp;

    fn measure(&self) -> PureDp {
        PureDp
    }

    fn loss(&self, change: &Change) -> Epsilon {
        let times = match change.one_coordinate {
            true => change.l1.div(&Exact::from(self.width()), Round::Up).ceil(),
            false => change.l1.ceil(),
        };
        Epsilon::new(self.loss_per_width().mul(&times, Round::Up))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.parameters()
    }
}

/// How much the one coordinate that changes does, as a whole number; `None` where several may.
fn one_coordinate(change: &Change) -> Option<u64> {
    let by = change.l1.to_rational().filter(|_| change.one_coordinate)?;
    u64::try_from(by.ceil()).ok()
}

/// ρ = (L2 change)²/2σ², rounded up (\[CKS20\] Thm 4 and 14). There is no Gaussian-DP claim: for
/// small σ the discrete Gaussian is less private than the continuous one.
impl Noise for DiscreteGaussian {
    type Measure = Zcdp;

    fn measure(&self) -> Zcdp {
        Zcdp
    }

    fn loss(&self, change: &Change) -> Rho {
        Rho::new(product(&change.l2_squared, self.rate()))
    }

    fn form<D>(&self, one: &Change) -> Form<D, Rho> {
        let quadratic = |at_one| Form::Quadratic(Rho::new(at_one));
        form_of_product(&one.l2_squared, self.rate(), quadratic)
    }

    /// Of one coordinate, its own, as for [`DiscreteLaplace`].
    fn pair(&self, change: &Change) -> Option<Mechanism> {
        let variance = self.variance();
        Mechanism::discrete_gaussian_of_variance(one_coordinate(change)?, variance).ok()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let variance = ("variance", shown(self.variance()));
        vec![("noise", "discrete Gaussian".into()), variance]
    }
}

/// Discrete Gaussian noise with its own (ε, δ) guarantee, at an ε that is fixed in advance: tighter than converting its
/// zCDP loss.
///
/// *One coordinate* that changes by `d` has `δ = P(Y > εσ²/d − d/2) − e^ε·P(Y > εσ²/d + d/2)`, exactly (\[CKS20\] Thm 7).
/// Smaller changes are covered, for this is the largest of `P(Y ≥ k) − e^ε·P(Y ≥ k + d)` over `k`, and each of these
/// grows with `d` (our derivation). From σ = 4096 on, these sums have too many terms.
///
/// *Several coordinates*, and one from there on (our derivation, after \[Pei10\] Thm 3.1). Let continuous Gaussian noise of
/// variance `σ² − r²` be added, and the sum be rounded at random, to an integer `w` with weight `e^(−(w−y)²/2r²)`. The weights sum to
/// `r√2π·(1 ± η)` with `η = 2·Σ e^(−2π²r²m²)` over `m ≥ 1`, wherever `y` is (Poisson summation). So this is discrete noise of variance σ², but for a factor
/// between `1 − η` and `1 + η`, and a normalization. Where `n` coordinates change, in the L2 norm by `d`, rounding is post-processing, and
/// `δ ≤ e^s·δ′`, where `s = n·ln((1 + η)/(1 − η))`, and `δ′` is that of continuous noise at `ε − s` and `μ = d/√(σ² − r²)`. Every `r` is valid; some are tried.
/// Coordinates that do not change do not count, and integers that do change contribute at least 1 to both norms, so
/// `n` is at most either.
///
/// Rounded up; never more than what the zCDP loss gives.
///
/// ```
/// use odometry::mechanisms::{additive::add_noise, noise::ApproxGaussian, samplers::DiscreteGaussian};
/// let noise = DiscreteGaussian::with_scale(5)?;
/// let approx = add_noise(ApproxGaussian::new(noise, 1)?);
/// let loss = approx.map().loss(&1u32.into())?;
/// assert!(loss.delta().to_f64(odometry::exact::Round::Up) < 1.9e-8); // its zCDP loss alone gives 8.8e-8
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ApproxGaussian {
    noise: DiscreteGaussian,
    epsilon: Exact,
}

/// Digits of δ.
const DELTA_BITS: usize = 160;

impl ApproxGaussian {
    /// This noise, its loss counted at this ε.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`] for ε.
    pub fn new(noise: DiscreteGaussian, epsilon: impl Parameter) -> Result<Self, BuildError> {
        let epsilon = parameter::loss("ε", epsilon)?;
        Ok(Self { noise, epsilon })
    }

    /// The noise itself.
    pub fn gaussian(&self) -> &DiscreteGaussian {
        &self.noise
    }

    /// δ for one coordinate that changes by this much, rounded up.
    fn delta(&self, change: &Exact) -> Option<Exact> {
        let change = change.to_rational()?.ceil();
        let d = RBig::from(change.clone());
        let middle = self.epsilon.to_rational()? * self.noise.variance() / &d;
        let above = (middle - d / RBig::from(2u8)).floor() + IBig::ONE;
        let more = self.noise.upper_tail(&above, DELTA_BITS)?;
        let less = self.noise.upper_tail(&(above + change), DELTA_BITS)?;
        let factor = self.epsilon.exp(Round::Down).to_rational()?;
        let delta = upper(&more, DELTA_BITS) - factor * lower(&less, DELTA_BITS);
        Exact::from_rational(&delta.max(RBig::ZERO), Round::Up).ok()
    }
}

/// From here on the exact tails have digits to spare: below, they may be coarser than the other bound.
fn tiny() -> Exact {
    Exact::ratio(1, 1 << 100).unwrap_or(Exact::ONE)
}

/// The variances `r²` of the rounding that are tried, in hundredths: less loses less variance, more is closer to the law.
const ROUNDINGS: [u32; 5] = [30, 40, 60, 150, 900];

impl ApproxGaussian {
    /// δ for any change, by rounding of continuous noise. Rounded up.
    fn delta_by_rounding(&self, change: &Change) -> Option<Exact> {
        let coordinates = match change.one_coordinate {
            true => Exact::ONE,
            false => change.l1.clone().min(change.l2_squared.clone()),
        };
        let delta = |r: u32| self.delta_rounded_with(&change.l2_squared, &coordinates, r);
        ROUNDINGS.into_iter().filter_map(delta).min()
    }

    fn delta_rounded_with(&self, squared: &Exact, n: &Exact, hundredths: u32) -> Option<Exact> {
        let rounding = RBig::from_parts(hundredths.into(), 100u8.into());
        let variance = self.noise.variance() - &rounding;
        if variance <= RBig::ZERO {
            return None;
        }
        let variance = Exact::from_rational(&variance, Round::Down).ok()?;
        let mu = Mu::new(squared.div(&variance, Round::Up).sqrt(Round::Up));
        // 2π² is above 19.739. With x = e^(−2π²r²) ≤ 0.003, η = 2(x + x⁴ + …) is below 2.001·x, and ln((1 + η)/(1 − η)) below 2.001·η.
        let exponent = RBig::from_parts(19_739.into(), 1000u16.into()) * rounding;
        let x = Exact::from_rational(&exponent, Round::Down).ok()?;
        let x = x.exp(Round::Down).recip(Round::Up);
        let per_coordinate = x.mul(&Exact::ratio(4_005, 1000).ok()?, Round::Up);
        let shift = n.mul(&per_coordinate, Round::Up);
        let epsilon = self.epsilon.checked_sub(&shift)?;
        let delta = gaussian_delta(&mu, &epsilon);
        Some(delta.mul(&shift.exp(Round::Up), Round::Up).min(Exact::ONE))
    }
}

impl Distribution for ApproxGaussian {
    type Outcome = IBig;

    fn sample(&self, bits: &mut dyn Rng) -> IBig {
        self.noise.sample(bits)
    }

    fn arity(&self) -> usize {
        self.noise.arity()
    }

    fn outcome(&self, index: usize) -> (IBig, Probability) {
        self.noise.outcome(index)
    }

    fn missing(&self) -> Probability {
        self.noise.missing()
    }
}

impl Noise for ApproxGaussian {
    type Measure = ApproxDp;

    fn measure(&self) -> ApproxDp {
        ApproxDp
    }

    fn loss(&self, change: &Change) -> EpsilonDelta {
        if change.l1.is_zero() {
            return EpsilonDelta::ZERO;
        }
        let general = zcdp_delta(&self.noise.loss(change), &self.epsilon);
        let one = change.one_coordinate.then(|| self.delta(&change.l1));
        let delta = match one.flatten() {
            Some(delta) if delta > tiny() => delta,
            one => {
                let both = one.into_iter().chain(self.delta_by_rounding(change));
                both.fold(Exact::ONE, Exact::min)
            }
        };
        EpsilonDelta::saturating(self.epsilon.clone(), delta.min(general))
    }

    fn pair(&self, change: &Change) -> Option<Mechanism> {
        self.noise.pair(change)
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = self.noise.parameters();
        parameters.push(("ε", self.epsilon.to_string()));
        parameters
    }
}

/// The measurement with its noise in its description.
pub(crate) fn described<S: Space, M: Measure, A: 'static>(
    measurement: Measurement<S, M, A>,
    noise: &impl Noise,
) -> Measurement<S, M, A> {
    let parameters = noise.parameters().into_iter();
    parameters.fold(measurement, |measurement, (name, value)| {
        measurement.with_parameter(name, value)
    })
}

/// The same, with what is known of the noise's pair when the numbers change by at most `change(d_in)`.
pub(crate) fn promised<S: Space, M: Measure, A: 'static>(
    measurement: Measurement<S, M, A>,
    noise: &impl Noise,
    change: impl Fn(&S::Distance) -> Change + Send + Sync + 'static,
) -> Measurement<S, M, A> {
    described(measurement, noise).knowing(noise.pairs::<S::Metric>(change))
}
