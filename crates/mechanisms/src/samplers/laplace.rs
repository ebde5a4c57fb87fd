//! Discrete Laplace (two-sided geometric) noise.

use std::fmt;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{Exact, Round, interval::Interval};
use queryable::coins::Distribution;
use rand_core::Rng;

use super::{
    decay::Decay,
    enumeration::{Enumeration, Filled, delegates_to_enumeration, outwards},
    geometric::{Start, default_radius},
    real::{complement, probability},
    steps::{Magnitude, Steps},
};
use crate::{error::BuildError, parameter::Parameter};

/// Discrete Laplace noise: `P(x) = (1−q)/(1+q)·q^|x|` on the integers, with `q = e^(−1/scale)` or rational.
///
/// Added to an integer of sensitivity `d` it has a loss of `d·(−ln q)`, which is `d/scale` (\[GRS09\]; the sampler is
/// ours, the law that of \[CKS20\]). Sampling is exact, one or two random words for most draws. It does not take
/// constant time, and nothing is claimed about its timing.
///
/// ```
/// use odometry::mechanisms::samplers::DiscreteLaplace;
/// use odometry::queryable::{Root, machine};
/// let noise = DiscreteLaplace::new(10)?;
/// assert_eq!(noise.loss_per_unit().to_string(), "0.1");
/// let draws = Root::seeded([7; 32]).spawn(machine(move |(), scope| scope.draw(&noise)))?;
/// println!("{}", draws.ask(())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DiscreteLaplace {
    steps: Steps,
    enumeration: Enumeration<IBig>,
}

impl DiscreteLaplace {
    /// With `q = e^(−1/scale)`.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`].
    pub fn new(scale: impl Parameter) -> Result<Self, BuildError> {
        Decay::of_scale(scale).map(Self::from_decay)
    }

    /// With a rational `q`, strictly between zero and one: every probability is rational, and `e^ε = 1/q` per unit.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::OutOfRange`], [`BuildError::TooLong`].
    pub fn with_ratio(ratio: impl Parameter) -> Result<Self, BuildError> {
        Decay::of_ratio(ratio).map(Self::from_decay)
    }

    fn from_decay(decay: Decay) -> Self {
        let steps = Steps::new(decay, true);
        Self {
            enumeration: Enumeration::new(2 * default_radius(&steps) as usize + 1),
            steps,
        }
    }

    #[cfg(test)]
    pub(super) fn with_width(mut self, width: super::width::Width) -> Self {
        self.steps = Steps::with_width(self.steps.decay, self.steps.rate, true, width);
        self
    }

    /// Enumerates the outcomes from `−radius` to `radius`; sampling is not affected.
    pub fn enumerating(mut self, radius: u32) -> Self {
        self.enumeration = Enumeration::new(2 * radius as usize + 1);
        self
    }

    /// The pure loss per unit of sensitivity, `−ln q`, rounded up.
    pub fn loss_per_unit(&self) -> Exact {
        Exact::from_rational(self.rate(), Round::Up).unwrap_or(Exact::INFINITY)
    }

    /// An upper bound on `−ln q`; `1/scale` exactly where there is a scale.
    pub(crate) fn rate(&self) -> &RBig {
        &self.steps.rate.1
    }

    /// `P(x ≥ m)` for `m` of at least one, which is `q^m/(1 + q)`; for zero it is an upper bound to be one.
    pub(crate) fn upper_tail(&self, m: &UBig, bits: usize) -> Interval {
        if m.is_zero() {
            return Interval::int(1u8, bits);
        }
        let power = |m: &UBig| self.steps.decay.power(m, bits + 8);
        let both = &Interval::int(1u8, bits + 8) + &power(&UBig::ONE);
        power(m).div(&both).unwrap_or_else(probability)
    }

    /// Its parameter, with the parameter's name.
    pub(crate) fn parameter(&self) -> (&'static str, String) {
        self.steps.decay.parameter()
    }

    fn enumerated(&self) -> &Filled<IBig> {
        self.enumeration.get(|count| {
            let decay = &self.steps.decay;
            let first = Start::new(
                decay,
                |one, q| (&one - q) / (&one + q),
                |q| {
                    let sum = &Interval::int(1u8, q.bits) + q;
                    complement(q).div(&sum).unwrap_or_else(probability)
                },
            );
            let outcome = |index| {
                let (value, m) = outwards(index);
                (value, first.times_power(decay, m))
            };
            (0..count).map(outcome).collect()
        })
    }
}

impl Distribution for DiscreteLaplace {
    type Outcome = IBig;

    fn sample(&self, bits: &mut dyn Rng) -> IBig {
        match self.steps.draw(bits) {
            (false, Magnitude::Small(m)) => IBig::from(m),
            (true, Magnitude::Small(m)) => IBig::from(-1 - m as i128),
            (false, Magnitude::Big(m)) => m.into(),
            (true, Magnitude::Big(m)) => -IBig::from(m + UBig::ONE),
        }
    }

    delegates_to_enumeration!(IBig);
}

impl fmt::Debug for DiscreteLaplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiscreteLaplace({})", self.steps.decay)
    }
}
