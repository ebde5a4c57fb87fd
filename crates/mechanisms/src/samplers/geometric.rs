//! Geometric noise, and what the geometric laws have in common: parameters, and how they are enumerated.

use std::fmt;

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::interval::Interval;
use queryable::coins::Distribution;
use rand_core::Rng;

use super::{
    decay::Decay,
    enumeration::{Enumeration, Filled, delegates_to_enumeration},
    quotient::{div_ceil, quotient},
    real::{complement, lower},
    steps::{Magnitude, Steps},
};
use crate::{error::BuildError, parameter::Parameter};

/// The largest number of outcomes that are enumerated unless asked for.
const DEFAULT_RADIUS: u64 = 1024;

/// How far to enumerate unless told: to a tail of 2^-40, if that is not too far.
pub(super) fn default_radius(steps: &Steps) -> u32 {
    let (above, below) = quotient(&steps.rate.1);
    let far = div_ceil(UBig::from(28u8) * below, &above);
    u64::try_from(far).map_or(DEFAULT_RADIUS, |far| far.clamp(1, DEFAULT_RADIUS)) as u32
}

/// The number of failures before a success: `P(m) = (1−q)·q^m` for `m ≥ 0`.
///
/// ```
/// use odometry::mechanisms::samplers::Geometric;
/// use odometry::queryable::coins::Distribution;
/// let half = Geometric::with_ratio("0.5")?;
/// assert_eq!(half.outcome(2).1.to_string(), "1/8");
/// # Ok::<(), odometry::mechanisms::BuildError>(())
/// ```
#[derive(Clone)]
pub struct Geometric {
    steps: Steps,
    enumeration: Enumeration<UBig>,
}

impl Geometric {
    /// With `q = e^(−1/scale)`.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`].
    pub fn new(scale: impl Parameter) -> Result<Self, BuildError> {
        Decay::of_scale(scale).map(Self::from_decay)
    }

    /// With a rational `q`, strictly between zero and one.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::OutOfRange`], [`BuildError::TooLong`].
    pub fn with_ratio(ratio: impl Parameter) -> Result<Self, BuildError> {
        Decay::of_ratio(ratio).map(Self::from_decay)
    }

    fn from_decay(decay: Decay) -> Self {
        let steps = Steps::new(decay, false);
        Self {
            enumeration: Enumeration::new(default_radius(&steps) as usize + 1),
            steps,
        }
    }

    /// Enumerates this many outcomes, at least one; sampling is not affected.
    pub fn enumerating(mut self, outcomes: usize) -> Self {
        self.enumeration = Enumeration::new(outcomes.max(1));
        self
    }

    /// An upper bound on `−ln q`; `1/scale` exactly where there is a scale.
    pub(crate) fn rate(&self) -> &RBig {
        &self.steps.rate.1
    }

    /// Its parameter, with the parameter's name.
    pub(crate) fn parameter(&self) -> (&'static str, String) {
        self.steps.decay.parameter()
    }

    fn enumerated(&self) -> &Filled<UBig> {
        self.enumeration.get(|count| {
            let first = Start::new(&self.steps.decay, |one, q| one - q, complement);
            let value = |m: usize| UBig::from(m);
            (0..count)
                .map(|m| (value(m), first.times_power(&self.steps.decay, m)))
                .collect()
        })
    }
}

impl Distribution for Geometric {
    type Outcome = UBig;

    fn sample(&self, bits: &mut dyn Rng) -> UBig {
        match self.steps.draw(bits).1 {
            Magnitude::Small(m) => UBig::from(m),
            Magnitude::Big(m) => m,
        }
    }

    delegates_to_enumeration!(UBig);
}

/// The probability of the first outcome: a rational for a rational ratio, otherwise a lower bound.
pub(super) enum Start {
    Rational(RBig),
    Bound(Interval),
}

/// Digits of an enumerated probability that is not rational.
const ENUMERATED_BITS: usize = 128;

impl Start {
    pub(super) fn new(
        decay: &Decay,
        rational: impl Fn(RBig, &RBig) -> RBig,
        bound: impl Fn(&Interval) -> Interval,
    ) -> Self {
        match decay {
            Decay::Ratio(q) => Self::Rational(rational(RBig::ONE, q)),
            Decay::Exp { .. } => {
                let q = decay.power(&UBig::ONE, ENUMERATED_BITS + 16);
                Self::Bound(bound(&q))
            }
        }
    }

    /// This probability times `q^m`, or a lower bound of it.
    pub(super) fn times_power(&self, decay: &Decay, m: usize) -> RBig {
        match (self, decay) {
            (Self::Rational(first), Decay::Ratio(q)) => first * q.pow(m as isize),
            (Self::Rational(first), _) => first.clone(),
            (Self::Bound(first), _) => {
                let power = decay.power(&UBig::from(m), ENUMERATED_BITS + 16);
                lower(&(first * &power), ENUMERATED_BITS)
            }
        }
    }
}

impl fmt::Debug for Geometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Geometric({})", self.steps.decay)
    }
}
