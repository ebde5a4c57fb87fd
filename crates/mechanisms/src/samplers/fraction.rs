//! Enclosures of numbers below one in machine words, beside [`Interval`] on purpose: tables are built of hundreds of them.

use dashu_base::{DivRem, UnsignedAbs};
use dashu_ratio::RBig;
use exact::{
    Exact, Round,
    interval::{Float, Interval},
};

use super::table::Boundary;

/// Bounds on a number below one, as fractions of 2^64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fraction {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Fraction {
    /// `None` if the upper bound is not below one.
    pub(crate) fn new(real: &Interval) -> Option<Self> {
        let word = |end: &Float, round| u64::try_from(end.scaled(64, round)).ok();
        Some(Self {
            lo: word(&real.lo, Round::Down)?,
            hi: word(&real.hi, Round::Up)?,
        })
    }

    /// `e^−exponent`, for an exponent that is not negative, to a relative 2^-58. `None` if it is out of range, or the upper
    /// bound not below one.
    pub(crate) fn exp_neg(exponent: &RBig) -> Option<Self> {
        let end = |round: Round| {
            let exponent = Exact::from_rational(exponent, round.reversed()).ok()?;
            let (above, below) = exponent.exp_neg(round).to_rational()?.into_parts();
            let (word, rest) = (above.unsigned_abs() << 64).div_rem(below);
            let more = round == Round::Up && !rest.is_zero();
            u64::try_from(word).ok()?.checked_add(more.into())
        };
        let (lo, hi) = (end(Round::Down)?, end(Round::Up)?);
        Some(Self { lo, hi })
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        let product = |a: u64, b: u64| (u128::from(a) * u128::from(b)) >> 64;
        Self {
            lo: product(self.lo, other.lo) as u64,
            hi: product(self.hi, other.hi) as u64 + 1,
        }
    }

    /// One minus this. An upper bound of one becomes the largest fraction: the table reads 32 digits and has a margin.
    pub(crate) fn complement(self) -> Boundary {
        Boundary {
            lo: self.hi.wrapping_neg(),
            hi: match self.lo {
                0 => u64::MAX,
                lo => lo.wrapping_neg(),
            },
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::samplers::{
        real::{exp_neg, lower, upper},
        tests::ratio,
    };
    use proptest::prelude::*;

    /// The number lies between the words, which are close.
    pub(in crate::samplers) fn encloses(words: Fraction, number: &Interval) -> bool {
        let fraction = |word: u64| ratio(word, 1 << 32) / ratio(1 << 32, 1);
        let (below, above) = (lower(number, 128), upper(number, 128));
        let close = words.hi - words.lo < 256;
        fraction(words.lo) <= above && below <= fraction(words.hi) && close
    }

    proptest! {
        #[test]
        fn words_enclose_the_exponential(n in 1u64..1 << 40, d in 1u64..1 << 40) {
            for rate in [ratio(n, d), ratio(n, 1 << 52), ratio(n % 100, d)] {
                match Fraction::exp_neg(&rate) {
                    Some(words) => prop_assert!(encloses(words, &exp_neg(&rate, 120))),
                    // e^-x rounds up to one, or x is past the range of `Exact`.
                    None => prop_assert!(rate < ratio(1, 1 << 50)),
                }
            }
        }
    }
}
