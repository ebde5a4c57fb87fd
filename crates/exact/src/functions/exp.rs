//! `e^x`, `e^-x`, and their distances from one.
//!
//! `±x` is written as `n · ln 2 + r` with `0 <= r < 3/4`; `e^r` is a table's value for the leading
//! four bits of `r` times a short series for the rest. Distances from one are differences where `x` is
//! at least 1/16, and a series with the factor `x` in front below that.

use super::constants::{
    EXP_SIXTEENTHS, INVERSE_LN_2, LN_2_ABOVE, LN_2_BELOW, RECIPROCAL_FACTORIALS,
};
use super::{Enclosure, series};
use crate::Round;
use crate::flat::mul_high;
use crate::leading::Leading;
use crate::repr::{Exact, MIN_TWO, TOP};

/// From here on `e^x` is past the top of the range: `2^14 > 16384 ln 2`.
const LOG2_TOO_LARGE: i64 = 14;
/// Below `2^-4` the distances from one have their own series.
const LOG2_SMALL: i64 = -4;

impl Exact {
    /// `e^x`, with a relative excess of at most `2^-59`; infinity for infinity.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// assert_eq!(Exact::ONE.exp(Round::Up).to_f64(Round::Down), std::f64::consts::E);
    /// ```
    pub fn exp(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::INFINITY;
        }
        if self.is_zero() {
            return Exact::ONE;
        }
        exp(&Leading::of(self)).end(round)
    }

    /// `e^x - 1`, with a relative excess of at most `2^-54`; infinity for infinity.
    pub fn exp_m1(&self, round: Round) -> Exact {
        if self.is_infinite() || self.is_zero() {
            return self.clone();
        }
        exp_m1(&Leading::of(self)).end(round)
    }

    /// `e^-x`, with a relative excess of at most `2^-59`; 0 for infinity.
    pub fn exp_neg(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::ZERO;
        }
        if self.is_zero() {
            return Exact::ONE;
        }
        exp_neg(&Leading::of(self)).end(round).min(Exact::ONE)
    }

    /// `1 - e^-x`, with a relative excess of at most `2^-54`; 1 for infinity.
    pub fn one_minus_exp_neg(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::ONE;
        }
        if self.is_zero() {
            return Exact::ZERO;
        }
        one_minus_exp_neg(&Leading::of(self))
            .end(round)
            .min(Exact::ONE)
    }
}

/// What is too large ends up at the end of the range that rounding asks for.
const PAST_TOP: Enclosure = Enclosure {
    low: 1,
    high: 1,
    two: TOP,
};

fn exp(x: &Leading) -> Enclosure {
    if x.log2() >= LOG2_TOO_LARGE {
        return PAST_TOP;
    }
    // The argument is rounded down by less than 1.01 units of 2^-96, and n · ln 2 up by at most n
    // times 2. So the rest is rounded down, by less than 2^16 units; also where it would be negative.
    let fixed = x.fixed(96);
    let mut n = times_inverse_ln_2(fixed);
    let mut rest = fixed.saturating_sub(u128::from(n) * LN_2_ABOVE);
    if rest >= LN_2_ABOVE {
        rest -= LN_2_ABOVE;
        n += 1;
    }
    exp_rest(rest, n.into())
}

fn exp_neg(x: &Leading) -> Enclosure {
    if x.log2() >= LOG2_TOO_LARGE {
        return Enclosure {
            low: 0,
            high: 1,
            two: MIN_TWO,
        };
    }
    // -x = r - n · ln 2, again rounded down by less than 2^16 units of 2^-96.
    let fixed = x.fixed(96) + 2;
    let mut n = times_inverse_ln_2(fixed) + 1;
    if u128::from(n) * LN_2_BELOW < fixed {
        n += 1;
    }
    exp_rest(u128::from(n) * LN_2_BELOW - fixed, -i64::from(n))
}

/// `x / ln 2` rounded down, or one less, for an `x < 2^14` given in units of `2^-96`.
fn times_inverse_ln_2(fixed: u128) -> u32 {
    // Q32 times Q63.
    (((fixed >> 64) * u128::from(INVERSE_LN_2)) >> 95) as u32
}

/// `e^r · 2^n` for `r` in units of `2^-96`, below 3/4 and rounded down by less than `2^16` units.
fn exp_rest(rest: u128, n: i64) -> Enclosure {
    // Rounded down by less than 1.01 units of 2^-64 now.
    let rest = (rest >> 32) as u64;
    let (j, s) = ((rest >> 60) as usize, rest & (u64::MAX >> 4));
    // e^s - 1 < 0.07 is s·(1 + q). Rounded down: 1.08 units from s, 1 from the product, and 1.6/16
    // from q. Less than 2.3 in all.
    let expm1 = s + mul_high(s, exp_series::<false>(s));
    // In units of 2^-63, rounded down: 1.01 · 1.07 from the table, 1 from the product, and 2.3 from
    // the series, whose units of 2^-64 the table's value, below 2, at most doubles. Less than 5 in all.
    let low = u128::from(EXP_SIXTEENTHS[j]) + u128::from(mul_high(EXP_SIXTEENTHS[j], expm1));
    Enclosure {
        low,
        high: low + 5,
        two: n - 63,
    }
}

pub(super) fn exp_m1(x: &Leading) -> Enclosure {
    if x.log2() >= LOG2_TOO_LARGE {
        return PAST_TOP;
    }
    if x.log2() >= LOG2_SMALL {
        let Enclosure { low, high, two } = exp(x);
        // One in these units; below one unit, it still lies between zero and one unit.
        return match u32::try_from(-two) {
            Ok(places) => Enclosure {
                low: low - (1 << places),
                high: high - (1 << places),
                two,
            },
            Err(_) => Enclosure {
                low: low - 1,
                high,
                two,
            },
        };
    }
    let (f, q) = (x.top(), exp_series::<false>(small(x)));
    // x·(1 + q) in units of the last bit of f, of which x has at most 1.01 more. Rounded down: 1.01 · 1.04
    // from f, 1 from the product, 2.2 from q. Less than 6 in all.
    let low = u128::from(f) + u128::from(mul_high(f, q));
    Enclosure {
        low,
        high: low + 6,
        two: x.log2() - 63,
    }
}

fn one_minus_exp_neg(x: &Leading) -> Enclosure {
    if x.log2() >= LOG2_SMALL {
        let Enclosure { low, high, two } = exp_neg(x);
        // e^-x in units of 2^-64, outward.
        let shift = u32::try_from(-64 - two).unwrap_or(u32::MAX);
        let (low, high) = match two >= -64 {
            true => (low << (two + 64), high << (two + 64)),
            false => (low.unbounded_shr(shift), high.unbounded_shr(shift) + 1),
        };
        const ONE: u128 = 1 << 64;
        return Enclosure {
            low: ONE.saturating_sub(high),
            high: ONE - low,
            two: -64,
        };
    }
    Enclosure::less(x, exp_series::<true>(small(x)))
}

/// A number below 1/16 in units of `2^-64`, rounded down by less than 1.01 units.
fn small(x: &Leading) -> u64 {
    x.fixed(64) as u64
}

/// `q` with `e^s - 1 = s·(1 + q)`, or with `1 - e^-s = s·(1 - q)` where `NEGATIVE`, for `s < 2^60` in
/// units of `2^-64`.
///
/// `q = s/2! ± s^2/3! + …`; the terms left out are below `1.01 · s^10/11! < 0.43` units. So `q` is less
/// than 1.6 away, and less than 2.2 if `s` was rounded down by 1.01 units.
#[inline]
fn exp_series<const NEGATIVE: bool>(s: u64) -> u64 {
    series::<NEGATIVE>(s, &RECIPROCAL_FACTORIALS)
}
