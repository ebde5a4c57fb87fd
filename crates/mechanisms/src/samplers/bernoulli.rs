//! A bit that is one with probability `e^−γ`.

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::{Round, interval::Float};
use queryable::coins::{Distribution, Probability};
use rand_core::Rng;

use super::{
    enumeration::{Enumeration, Filled},
    real::{UniformReal, complement, exp_neg, lower},
};
use crate::{
    error::BuildError,
    parameter::{Parameter, at_least_zero},
};

/// Digits of the enumerated probabilities.
const ENUMERATED_BITS: usize = 128;

/// A bit that is `true` with probability `e^−γ`, for a rational `γ ≥ 0`.
///
/// One random word decides but for one time in 2^62; then more digits of both are compared, exactly.
///
/// ```
/// use odometry::mechanisms::samplers::BernoulliExp;
/// use odometry::queryable::coins::Distribution;
/// let bit = BernoulliExp::new(1)?;
/// assert!(bit.outcome(1).0);
/// assert!(bit.missing().to_rational().to_f64().value() < 1e-37);
/// # Ok::<(), odometry::mechanisms::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BernoulliExp {
    gamma: RBig,
    /// Bounds on `2^64·e^−γ`.
    words: (u128, u128),
    enumeration: Enumeration<bool>,
}

impl BernoulliExp {
    /// True with probability `e^−gamma`.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`]; [`BuildError::OutOfRange`] if `gamma` is negative or infinite; [`BuildError::TooLong`].
    pub fn new(gamma: impl Parameter) -> Result<Self, BuildError> {
        let gamma = at_least_zero("γ", gamma)?;
        let real = exp_neg(&gamma, 72);
        let word = |end: &Float, round| u128::try_from(end.scaled(64, round)).unwrap_or(1 << 64);
        Ok(Self {
            gamma,
            words: (word(&real.lo, Round::Down), word(&real.hi, Round::Up)),
            enumeration: Enumeration::new(2),
        })
    }

    fn enumerated(&self) -> &Filled<bool> {
        self.enumeration.get(|_| {
            let bits = ENUMERATED_BITS;
            let one = exp_neg(&self.gamma, bits + 1);
            vec![
                (false, lower(&complement(&one), bits)),
                (true, lower(&one, bits)),
            ]
        })
    }
}

impl Distribution for BernoulliExp {
    type Outcome = bool;

    fn sample(&self, bits: &mut dyn Rng) -> bool {
        let word = bits.next_u64();
        if u128::from(word) < self.words.0 {
            return true;
        }
        if u128::from(word) >= self.words.1 {
            return false;
        }
        UniformReal::started(UBig::from(word), 64)
            .below(|precision| exp_neg(&self.gamma, precision), bits)
    }

    fn arity(&self) -> usize {
        2
    }

    fn outcome(&self, index: usize) -> (bool, Probability) {
        self.enumerated().outcome(index)
    }

    fn missing(&self) -> Probability {
        self.enumerated().missing()
    }
}
