//! `ln x` on both sides of one, and `ln(1 ± x)`.
//!
//! With `x = f · 2^n` and `1 <= f < 2`, the logarithm is `n · ln 2`, plus a table's value for the leading
//! seven bits of `f`, plus a short series for the rest. Closer to one than 1/128, it is a series in
//! the distance from one with that distance as a factor in front.

use super::constants::{LN_2_BELOW, LN_FACTORS, LN_TABLE, RECIPROCALS};
use super::{Enclosure, series};
use crate::Round;
use crate::flat::mul_high;
use crate::leading::Leading;
use crate::repr::Exact;

/// Closer to one than `2^-7`, the logarithm has its own series.
const LOG2_SMALL: i64 = -7;

impl Exact {
    /// `ln x`, with a relative excess of at most `2^-52`; `None` for `x < 1`, where it is negative.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let two = Exact::from(2_u8);
    /// assert_eq!(two.ln(Round::Down).unwrap().to_f64(Round::Down), std::f64::consts::LN_2);
    /// assert_eq!(Exact::ZERO.ln(Round::Up), None);
    /// ```
    pub fn ln(&self, round: Round) -> Option<Exact> {
        if self.is_infinite() {
            return Some(Exact::INFINITY);
        }
        if self.is_zero() {
            return None;
        }
        let x = Leading::of(self);
        if x.log2() > 0 || x.log2() == 0 && x.top() >= ONE + ONE / 128 {
            return Some(ln(&x).end(round));
        }
        let above = self.checked_sub(&Exact::ONE)?;
        Some(above.ln_1p(round))
    }

    /// `ln(1 + x)`, with a relative excess of at most `2^-52`; infinity for infinity.
    pub fn ln_1p(&self, round: Round) -> Exact {
        if self.is_infinite() || self.is_zero() {
            return self.clone();
        }
        let x = Leading::of(self);
        match x.log2() >= LOG2_SMALL {
            true => ln(&one_plus(&x)).end(round),
            false => ln_1p(&x).end(round),
        }
    }

    /// `-ln x` for `0 <= x <= 1`, with a relative excess of at most `2^-52`; infinity for 0, `None`
    /// for `x > 1`, where it is negative.
    pub fn neg_ln(&self, round: Round) -> Option<Exact> {
        if self.is_zero() {
            return Some(Exact::INFINITY);
        }
        if self.is_infinite() {
            return None;
        }
        let x = Leading::of(self);
        if x.log2() < -1 || x.log2() == -1 && x.top() < 2 * (ONE - ONE / 128) {
            return Some(neg_ln(&x).end(round));
        }
        let below = Exact::ONE.checked_sub(self)?;
        below.neg_ln_1m(round)
    }

    /// `-ln(1 - x)` for `0 <= x <= 1`, with a relative excess of at most `2^-52`; infinity for 1,
    /// `None` for `x > 1`.
    pub fn neg_ln_1m(&self, round: Round) -> Option<Exact> {
        if self.is_zero() {
            return Some(Exact::ZERO);
        }
        if self.is_infinite() {
            return None;
        }
        let x = Leading::of(self);
        if x.log2() < LOG2_SMALL {
            return Some(neg_ln_1m(&x).end(round));
        }
        let rest = Exact::ONE.checked_sub(self)?;
        if rest.is_zero() {
            return Some(Exact::INFINITY);
        }
        Some(neg_ln(&Leading::of(&rest)).end(round))
    }
}

/// One, as the leading bits of a number between one and two have it.
const ONE: u64 = 1 << 63;

/// `ln x` for `x >= 1 + 2^-7`.
fn ln(x: &Leading) -> Enclosure {
    // In units of 2^-64: the true value is up to 1.1 below, and up to 1.01 + 4.1 above. It is at
    // least 2^57, so that the ends lie at most 2^-53 apart.
    let middle = times_ln_2(x.log2()) + ln_top(x.top());
    Enclosure {
        low: middle - 2,
        high: middle + 7,
        two: -64,
    }
}

/// `-ln x` for `x <= 1 - 2^-7`.
fn neg_ln(x: &Leading) -> Enclosure {
    // The true value is up to 4.1 below, and up to 1.01 + 1.1 above.
    let middle = times_ln_2(-x.log2()) - ln_top(x.top());
    Enclosure {
        low: middle - 7,
        high: middle + 4,
        two: -64,
    }
}

/// `n · ln 2` in units of `2^-64`, rounded down by less than 1.01 units.
fn times_ln_2(n: i64) -> u128 {
    debug_assert!((0..1 << 16).contains(&n));
    (n as u128 * LN_2_BELOW) >> 32
}

/// `ln f` in units of `2^-64` for a true `f` between `top` and `top + 1.01`, in units of `2^-63`.
/// At most 1.1 units too large, and at most 4.1 too small.
fn ln_top(top: u64) -> u128 {
    let j = (top >> 56 & 127) as usize;
    // The factor makes this 1 + t with 0 <= t < 1.01/128, exactly for `top`, with up to 2.02 units more
    // for the true f. Then t is rounded down by one unit, as is the table's value by 1.01.
    let product = u128::from(top) * u128::from(LN_FACTORS[j]);
    let t = ((product - (1 << 79)) >> 15) as u64;
    // ln(1 + t) = t·(1 - q), too large by up to 1 from the product, and 0.01 either way from q.
    u128::from(LN_TABLE[j]) + u128::from(t - mul_high(t, ln_series::<true>(t)))
}

/// `1 + x` for `2^-7 <= x`, at most six units of the last bit too small.
fn one_plus(x: &Leading) -> Leading {
    // Room for a carry, and for one to be at most the top bit but one.
    let (shift, exact) = ((-x.log2()).max(0) + 1, false);
    let (bits, two) = (x.bits >> shift, x.two + shift);
    // Past 2^126, one is less than a unit.
    let one = u32::try_from(-two).map_or(0, |places| 1 << places);
    let sum = bits + one;
    let zeros = sum.leading_zeros();
    Leading {
        bits: sum << zeros,
        two: two - i64::from(zeros),
        exact,
    }
}

/// `ln(1 + x)` for `0 < x < 2^-7`.
fn ln_1p(x: &Leading) -> Enclosure {
    Enclosure::less(x, ln_series::<true>(x.fixed(64) as u64))
}

/// `-ln(1 - x)` for `0 < x <= 2^-7`.
fn neg_ln_1m(x: &Leading) -> Enclosure {
    let (f, q) = (x.top(), ln_series::<false>(x.fixed(64) as u64));
    // x·(1 + q) in units of the last bit of f. Rounded down: 1.01 · 1.01 from f, 1 from the product, 2
    // from q. Less than 5 in all.
    let low = u128::from(f) + u128::from(mul_high(f, q));
    Enclosure {
        low,
        high: low + 5,
        two: x.log2() - 63,
    }
}

/// `q` with `ln(1 + s) = s·(1 - q)` where `ALTERNATING`, otherwise with `-ln(1 - s) = s·(1 + q)`, for
/// `s < 1.01 · 2^57` in units of `2^-64`.
///
/// `q = s/2 ∓ s^2/3 + …`; the terms left out are below `1.01 · s^10/11 < 0.01` units. So `q` is less
/// than 1.1 away, and less than 1.7 if `s` was rounded down by 1.01 units.
#[inline]
fn ln_series<const ALTERNATING: bool>(s: u64) -> u64 {
    series::<ALTERNATING>(s, &RECIPROCALS)
}
