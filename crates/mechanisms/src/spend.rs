//! Noise for a loss: the least noise with which a change of the numbers costs no more than what is to be spent.
//!
//! What is asked for is the loss at distance 1. The scale is exact where it has a closed form, so that the loss is what
//! was asked, to the last digit; otherwise it is rounded up, to the private side.

use dashu_ratio::RBig;
use exact::{Exact, Round, search::Least};
use measures::{EpsilonDelta, Rho, convert::zcdp_delta};

use crate::{
    error::BuildError,
    noise::{ApproxGaussian, Change, Noise},
    parameter::{self, Parameter},
    samplers::{DiscreteGaussian, DiscreteLaplace, Staircase},
};

/// A loss to spend, and which noise spends it: [`epsilon`], [`staircase`], [`rho`] or [`epsilon_delta`].
///
/// There is no μ to spend: no noise here has a Gaussian-DP guarantee of its own, because for small σ the discrete Gaussian
/// is less private than the continuous one. Its zCDP guarantee holds for every σ.
pub trait Spend {
    /// The noise.
    type Noise: Noise;

    /// With which power of the number of coordinates that change by one the variance of the noise grows: 2 if losses add up
    /// in the L1 norm, 1 in the L2 norm. Counters choose their blocks by it.
    const POWER: i32;

    /// The least noise whose loss is at most this when the numbers change by at most `change`.
    ///
    /// # Errors
    /// [`BuildError`] for a loss that is no number above zero, for a change that is zero or infinite, and for noise out of
    /// the samplers' range.
    fn noise_for(self, change: &Change) -> Result<Self::Noise, BuildError>;
}

/// Spends ε, with [`DiscreteLaplace`] noise.
#[derive(Clone, Copy, Debug)]
pub struct SpendEpsilon<P>(P);

/// Spends ε on one number, with [`Staircase`] noise.
#[derive(Clone, Copy, Debug)]
pub struct SpendStaircase<P>(P);

/// Spends ρ, with [`DiscreteGaussian`] noise.
#[derive(Clone, Copy, Debug)]
pub struct SpendRho<P>(P);

/// Spends (ε, δ), with [`ApproxGaussian`] noise.
#[derive(Clone, Copy, Debug)]
pub struct SpendApprox<P, Q>(P, Q);

/// This ε, spent with discrete Laplace noise: scale `Δ₁/ε`, exactly.
///
/// ```
/// use odometry::mechanisms::{additive::count_spending, spend::epsilon};
/// use odometry::odometer::Records;
/// let adults = count_spending(Records::<u8>::new(), epsilon("0.3"), |age| *age >= 18)?;
/// assert_eq!(adults.map().loss(&1)?.to_string(), "0.3");
/// assert_eq!(adults.description().to_string(), "`count`(sensitivity = 1, noise = discrete Laplace, scale = 10/3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon<P: Parameter>(epsilon: P) -> SpendEpsilon<P> {
    SpendEpsilon(epsilon)
}

/// This ε, spent on one number with staircase noise, as wide as the number can change: less noise than Laplace from ε = 1 or so on,
/// if the number can change by much.
pub fn staircase<P: Parameter>(epsilon: P) -> SpendStaircase<P> {
    SpendStaircase(epsilon)
}

/// This ρ, spent with discrete Gaussian noise: variance `Δ₂²/2ρ`, exactly.
pub fn rho<P: Parameter>(rho: P) -> SpendRho<P> {
    SpendRho(rho)
}

/// This (ε, δ), spent with discrete Gaussian noise: the least scale of [`APPROX_BITS`] significant bits.
pub fn epsilon_delta<P: Parameter, Q: Parameter>(epsilon: P, delta: Q) -> SpendApprox<P, Q> {
    SpendApprox(epsilon, delta)
}

/// A scale found for (ε, δ) has so many significant bits: it is above the least one by a factor of `1 + 2^-11` at the
/// most.
pub const APPROX_BITS: u32 = 12;

impl<P: Parameter> Spend for SpendEpsilon<P> {
    type Noise = DiscreteLaplace;
    const POWER: i32 = 2;

    fn noise_for(self, change: &Change) -> Result<DiscreteLaplace, BuildError> {
        DiscreteLaplace::for_epsilon(&change.l1, self.0)
    }
}

impl<P: Parameter> Spend for SpendStaircase<P> {
    type Noise = Staircase;
    const POWER: i32 = 2;

    fn noise_for(self, change: &Change) -> Result<Staircase, BuildError> {
        let epsilon = parameter::loss("ε", self.0)?;
        let what = "the change of numbers with staircase noise";
        let expected = "that of one number, by less than 2^64";
        let width = change.l1.ceil().to_rational();
        let width = width.and_then(|width| u64::try_from(width.into_parts().0).ok());
        match width {
            Some(width) if change.one_coordinate => Staircase::new(width, &epsilon),
            _ => Err(BuildError::out_of_range(what, expected, &change.l1)),
        }
    }
}

impl<P: Parameter> Spend for SpendRho<P> {
    type Noise = DiscreteGaussian;
    const POWER: i32 = 1;

    fn noise_for(self, change: &Change) -> Result<DiscreteGaussian, BuildError> {
        let rho = rational(parameter::loss("ρ", self.0)?);
        let squared = squared_sensitivity(change)?;
        DiscreteGaussian::new(squared / (rho * RBig::from(2u8)))
    }
}

impl<P: Parameter, Q: Parameter> Spend for SpendApprox<P, Q> {
    type Noise = ApproxGaussian;
    const POWER: i32 = 1;

    fn noise_for(self, change: &Change) -> Result<ApproxGaussian, BuildError> {
        let epsilon = parameter::loss("ε", self.0)?;
        let delta = parameter::delta(self.1)?;
        squared_sensitivity(change)?;
        let asked = EpsilonDelta::saturating(epsilon.clone(), delta.clone());
        // What zCDP gives is quickly computed, and not far above.
        let by_zcdp = |scale: &Exact| {
            let rho = change
                .l2_squared
                .div(&scale.pow(2, Round::Down).times(2), Round::Up);
            zcdp_delta(&Rho::new(rho), &epsilon) <= delta
        };
        let build =
            |scale: &Exact| ApproxGaussian::new(DiscreteGaussian::with_scale(scale)?, &epsilon);
        let fits = |scale: &Exact| {
            let fits = |noise: ApproxGaussian| noise.loss(change).delta() <= &delta;
            by_zcdp(scale) || build(scale).is_ok_and(fits)
        };
        let rough = Exact::least(1, 0, by_zcdp);
        let near = match &rough {
            Least::Found(scale) => exponent(scale),
            Least::All => -1024,
            Least::None => 1024,
        };
        match Exact::least(APPROX_BITS, near, fits) {
            Least::Found(scale) => build(&scale),
            Least::All => Err(BuildError::AnyScale {
                d_in: change.l1.to_string(),
                budget: asked.to_string(),
            }),
            Least::None => Err(BuildError::NoScale {
                d_in: change.l1.to_string(),
                budget: asked.to_string(),
                reason: "spend more, or clamp to a smaller sensitivity".into(),
            }),
        }
    }
}

/// As maps see it, so that nothing is lost to rounding.
fn squared_sensitivity(change: &Change) -> Result<RBig, BuildError> {
    let squared = change.l2_squared.to_rational();
    match squared {
        Some(squared) if squared > RBig::ZERO => Ok(squared),
        _ => Err(BuildError::not_positive(
            "the sensitivity",
            &change.l2_squared,
        )),
    }
}

/// `n` of `2^n`, about.
fn exponent(power: &Exact) -> i32 {
    let log = power.to_f64(Round::Up).log2();
    log as i32
}

/// A positive parameter is finite.
fn rational(finite: Exact) -> RBig {
    finite.to_rational().unwrap_or(RBig::ONE)
}

impl DiscreteLaplace {
    /// The least noise with which a change by `sensitivity` (of a number, or of a vector in the L1 norm) costs ε: scale
    /// `sensitivity/ε`, exactly.
    ///
    /// ```
    /// use odometry::mechanisms::{additive::add_noise, samplers::DiscreteLaplace};
    /// let noisy = add_noise(DiscreteLaplace::for_epsilon(100, "0.3")?);
    /// assert_eq!(noisy.map().loss(&100u8.into())?.to_string(), "0.3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`].
    pub fn for_epsilon(
        sensitivity: impl Parameter,
        epsilon: impl Parameter,
    ) -> Result<Self, BuildError> {
        let (_, sensitivity) =
            parameter::positive_rounded("the sensitivity", sensitivity, Round::Up)?;
        let (_, epsilon) = parameter::positive_rounded("ε", epsilon, Round::Down)?;
        DiscreteLaplace::new(sensitivity / epsilon)
    }
}

impl DiscreteGaussian {
    /// The least noise with which a change by `sensitivity` (of a number, or of a vector in the L2 norm) costs ρ: variance
    /// `sensitivity²/2ρ`, exactly.
    ///
    /// There is no `for_mu`: see [`Spend`].
    ///
    /// ```
    /// use odometry::mechanisms::{additive::add_noise, samplers::DiscreteGaussian};
    /// let noisy = add_noise(DiscreteGaussian::for_rho(3, "0.7")?);
    /// assert_eq!(noisy.map().loss(&3u8.into())?.to_string(), "0.7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`].
    pub fn for_rho(sensitivity: impl Parameter, rho: impl Parameter) -> Result<Self, BuildError> {
        let change = Change::one(&parameter::sensitivity(sensitivity)?);
        self::rho(rho).noise_for(&change)
    }
}

impl ApproxGaussian {
    /// The least noise, to [`APPROX_BITS`] bits of the scale, with which a change of one number by `sensitivity` costs
    /// (ε, δ). For several numbers, [`epsilon_delta`].
    ///
    /// ```
    /// use odometry::mechanisms::{additive::add_noise, noise::ApproxGaussian};
    /// let noisy = add_noise(ApproxGaussian::for_approx(1, 1, "1e-6")?);
    /// assert!(noisy.map().loss(&1u8.into())?.delta() <= &"1e-6".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`]; [`BuildError::OutOfRange`] for a
    /// δ of 1 and more.
    pub fn for_approx(
        sensitivity: impl Parameter,
        epsilon: impl Parameter,
        delta: impl Parameter,
    ) -> Result<Self, BuildError> {
        let change = Change::one(&parameter::sensitivity(sensitivity)?);
        epsilon_delta(epsilon, delta).noise_for(&change)
    }
}
