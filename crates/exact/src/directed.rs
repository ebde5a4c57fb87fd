//! The operations that may round: products, quotients, powers, and rounding itself.

use dashu_base::{BitTest, DivRem};
use dashu_int::UBig;

use crate::Round;
use crate::repr::{Exact, MIN_FIVE, MIN_TWO, TOP, reduce};

/// Rounded results have this many significant bits.
const BITS: i64 = 128;

/// `num / den · 2^two`, rounded to 128 significant bits.
pub(crate) fn round_ratio(num: &UBig, den: &UBig, two: i64, round: Round) -> Exact {
    if num.is_zero() {
        return Exact::ZERO;
    }
    let shift = BITS + 2 + den.bit_len() as i64 - num.bit_len() as i64;
    let (quotient, rest) = if shift >= 0 {
        (num << shift as usize).div_rem(den)
    } else {
        num.div_rem(&(den << -shift as usize))
    };
    round_binary(quotient, two - shift, !rest.is_zero(), round)
}

/// `mantissa · 2^two`, rounded to 128 significant bits. `more` says that the true value is a little
/// larger, by less than one unit of the mantissa.
pub(crate) fn round_binary(mantissa: UBig, two: i64, more: bool, round: Round) -> Exact {
    let drop = (mantissa.bit_len() as i64 - BITS).max(MIN_TWO - two).max(0);
    let lost = drop > 0 && mantissa.trailing_zeros().is_some_and(|z| (z as i64) < drop);
    let mut mantissa = mantissa >> drop as usize;
    if round == Round::Up && (more || lost) {
        mantissa += UBig::ONE;
    }
    let rounded = Exact::from_big(mantissa, two + drop, 0);
    if rounded.is_infinite() && round == Round::Down {
        return largest();
    }
    rounded
}

/// The largest number that rounding down gives.
fn largest() -> Exact {
    Exact::from_big(UBig::from(u128::MAX), TOP - BITS, 0)
}

/// `num / den · 2^two · 5^five`: exact where the reduced mantissa has at most 128 bits, otherwise
/// rounded to 128 significant bits.
fn exact_or_rounded(num: UBig, den: UBig, two: i64, five: i64, round: Round) -> Exact {
    if den.is_one() && num.bit_len() as i64 <= BITS && two >= MIN_TWO && five >= MIN_FIVE {
        let exact = Exact::from_big(num, two, five);
        return match (exact.is_infinite(), round) {
            (true, Round::Down) => largest(),
            _ => exact,
        };
    }
    if five >= 0 {
        round_ratio(&(num * crate::repr::five_to(five)), &den, two, round)
    } else {
        round_ratio(&num, &(den * crate::repr::five_to(-five)), two, round)
    }
}

impl Exact {
    /// The product: exact where its mantissa (the numerator without factors two and five) has at most
    /// 128 bits, otherwise rounded to 128 significant bits. Zero times infinity is zero.
    pub fn mul(&self, other: &Exact, round: Round) -> Exact {
        if self.is_zero() || other.is_zero() {
            return Exact::ZERO;
        }
        if self.is_infinite() || other.is_infinite() {
            return Exact::INFINITY;
        }
        let ((a, a_two, a_five), (b, b_two, b_five)) = (self.reduced(), other.reduced());
        exact_or_rounded(a * b, UBig::ONE, a_two + b_two, a_five + b_five, round)
    }

    /// The quotient: exact where it has a finite decimal expansion whose mantissa has at most 128
    /// bits, otherwise rounded to 128 significant bits.
    ///
    /// `x/0` is infinity for `x > 0`, `0/0` is 0, `x/inf` is 0 for finite `x`, and `inf/inf` is
    /// infinity rounded up and 0 rounded down.
    pub fn div(&self, other: &Exact, round: Round) -> Exact {
        if self.is_zero() {
            return Exact::ZERO;
        }
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) if round == Round::Up => return Exact::INFINITY,
            (_, true) => return Exact::ZERO,
            (true, false) => return Exact::INFINITY,
            (false, false) => {}
        }
        if other.is_zero() {
            return Exact::INFINITY;
        }
        let ((a, a_two, a_five), (b, b_two, b_five)) = (self.reduced(), other.reduced());
        let (quotient, rest) = (&a).div_rem(&b);
        let (num, den) = match rest.is_zero() {
            true => (quotient, UBig::ONE),
            false => (a, b),
        };
        exact_or_rounded(num, den, a_two - b_two, a_five - b_five, round)
    }

    /// `1/x`, as [`div`](Exact::div) gives it: infinity for 0, and 0 for infinity.
    pub fn recip(&self, round: Round) -> Exact {
        Exact::ONE.div(self, round)
    }

    /// The `n`-th power, by repeated [`mul`](Exact::mul); one for `n = 0`. Exact where the products
    /// are, otherwise with a relative excess of at most `n · 2^-126`.
    pub fn pow(&self, n: u32, round: Round) -> Exact {
        let (mut power, mut square, mut rest) = (Exact::ONE, self.clone(), n);
        while rest > 0 {
            if rest & 1 == 1 {
                power = power.mul(&square, round);
            }
            rest >>= 1;
            if rest > 0 {
                square = square.mul(&square, round);
            }
        }
        power
    }

    /// This number as a multiple of a power of two with 128 significant bits, to shrink
    /// intermediate results.
    pub fn rounded(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::INFINITY;
        }
        let (mantissa, two, five) = self.reduced();
        if five == 0 {
            return round_binary(mantissa, two, false, round);
        }
        let (num, den) = self.ratio_parts();
        let _ = reduce;
        round_ratio(&num, &den, 0, round)
    }
}
