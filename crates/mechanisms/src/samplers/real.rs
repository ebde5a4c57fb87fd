//! A uniform real that is drawn as far as needed, and where it lies among reals that are known only by enclosures: what
//! decides an outcome when the first random word does not.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::{
    Round,
    interval::{Float, Interval},
};
use rand_core::Rng;

/// Extra digits of the reals, beyond those drawn of the uniform: they make it unlikely that it lies in an enclosure.
const EXTRA: usize = 32;

/// The first digits of a uniform real in `[0, 1)`: it lies in `[digits, digits + 1) / 2^length`.
pub(crate) struct UniformReal {
    digits: UBig,
    length: usize,
}

impl UniformReal {
    pub(crate) fn new() -> Self {
        Self::started(0u32.into(), 0)
    }

    /// With these first digits already drawn.
    pub(crate) fn started(digits: UBig, length: usize) -> Self {
        Self { digits, length }
    }

    fn draw_more(&mut self, bits: &mut dyn Rng) {
        self.digits = (std::mem::take(&mut self.digits) << 64) + UBig::from(bits.next_u64());
        self.length += 64;
    }

    /// Is it below the real that `real` gives at any precision? Ends with probability one.
    pub(crate) fn below(mut self, real: impl Fn(usize) -> Interval, bits: &mut dyn Rng) -> bool {
        loop {
            self.draw_more(bits);
            let at = real(self.length + EXTRA);
            if self.certainly_below(&at) {
                return true;
            }
            if self.certainly_not_below(&at) {
                return false;
            }
        }
    }

    /// The number of boundaries at or below it. `boundaries` gives, at any precision, ascending boundaries in `[0, 1]`:
    /// all but those that are within about one unit of one. Ends with probability one.
    pub(crate) fn locate(
        mut self,
        boundaries: impl Fn(usize) -> Vec<Interval>,
        bits: &mut dyn Rng,
    ) -> usize {
        loop {
            self.draw_more(bits);
            let all = boundaries(self.length + EXTRA);
            let index = all.partition_point(|b| self.certainly_not_below(b));
            if all.get(index).is_some_and(|b| self.certainly_below(b)) {
                return index;
            }
        }
    }

    fn certainly_below(&self, real: &Interval) -> bool {
        self.place(&self.digits + UBig::ONE).at_most(&real.lo)
    }

    fn certainly_not_below(&self, real: &Interval) -> bool {
        real.hi.at_most(&self.place(self.digits.clone()))
    }

    fn place(&self, digits: UBig) -> Float {
        Float::new(digits.into(), -(self.length as i64))
    }
}

/// `e^−exponent` for a rational exponent that is not negative, to a relative `2^-bits` or closer.
pub(crate) fn exp_neg(exponent: &RBig, bits: usize) -> Interval {
    // An error of the exponent counts as a whole, so its digits before the point come on top.
    let whole = exponent.numerator().bit_len();
    let whole = whole.saturating_sub(exponent.denominator().bit_len());
    let exponent = Interval::rational(exponent, bits + 4 + whole.min(64));
    (-&exponent).exp().unwrap_or_else(probability)
}

/// All that is known of a probability of which nothing is known: for what cannot fail where it is asked.
pub(crate) fn probability() -> Interval {
    Interval::new(Float::ZERO, Float::one(), 1)
}

/// One minus this.
pub(crate) fn complement(real: &Interval) -> Interval {
    &Interval::int(1u8, real.bits) - real
}

/// A lower bound, not below zero, that is a multiple of `2^-bits`.
pub(crate) fn lower(real: &Interval, bits: usize) -> RBig {
    let units = real.lo.scaled(bits as i64, Round::Down);
    RBig::from_parts(units.max(IBig::ZERO), UBig::ONE << bits)
}

/// An upper bound that is a multiple of `2^-bits`.
pub(crate) fn upper(real: &Interval, bits: usize) -> RBig {
    RBig::from_parts(real.hi.scaled(bits as i64, Round::Up), UBig::ONE << bits)
}
