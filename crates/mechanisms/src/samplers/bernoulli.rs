//! A bit that is one with probability `e^−γ`.

use dashu_int::UBig;
use dashu_ratio::RBig;
use queryable::coins::{Distribution, Probability};
use rand_core::Rng;

use super::{
    enumeration::{Enumeration, Filled},
    fixed::exp_neg,
    real::UniformReal,
};
use crate::error::BuildError;

/// Digits of the enumerated probabilities.
const ENUMERATED_BITS: usize = 128;

/// A bit that is `true` with probability `e^−γ`, for a rational `γ ≥ 0`.
///
/// One random word decides but for one time in 2^62; then more digits of both are compared, exactly.
///
/// ```
/// use dashu_ratio::RBig;
/// use mechanisms::samplers::BernoulliExp;
/// use queryable::coins::Distribution;
/// let bit = BernoulliExp::new(RBig::ONE)?;
/// assert!(bit.outcome(1).0);
/// assert!(bit.missing().as_rational().to_f64().value() < 1e-37);
/// # Ok::<(), mechanisms::BuildError>(())
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
    /// [`BuildError::OutOfRange`] if `gamma` is negative.
    pub fn new(gamma: RBig) -> Result<Self, BuildError> {
        if gamma < RBig::ZERO {
            return Err(BuildError::out_of_range("γ", "at least zero", gamma));
        }
        let bounds = exp_neg(&gamma, 64);
        let word = |bound: UBig| u128::try_from(bound).unwrap_or(1 << 64);
        Ok(Self {
            gamma,
            words: (word(bounds.lo), word(bounds.hi)),
            enumeration: Enumeration::new(2),
        })
    }

    fn enumerated(&self) -> &Filled<bool> {
        self.enumeration.get(|_| {
            let bits = ENUMERATED_BITS;
            let one = exp_neg(&self.gamma, bits);
            vec![
                (false, one.complement(bits).lower(bits)),
                (true, one.lower(bits)),
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
