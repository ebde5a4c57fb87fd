//! Plain `f64`: every operation is rounded to nearest, with a relative error of at most `2^-53`.

use super::constants::{HALF_PI, HALF_PI_END, INVERSE_FACTORIALS, LN_2};
use super::{Number, halves, power_of_two};

/// Adding this to a number below 2^51 leaves its nearest integer in the lowest bits.
pub(super) const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// `t·x` in two exact parts, the nearest number of quarter turns, and that number modulo 4.
#[inline(always)]
pub(super) fn turns(t: f64, x: f64) -> (f64, f64, f64, u8) {
    let (high, low) = halves(x);
    let (large, small) = (t * high, t * low);
    let shifted = (large + small) * std::f64::consts::FRAC_2_PI + TO_INTEGER;
    let quarter = (shifted.to_bits() & 3) as u8;
    (large, small, shifted - TO_INTEGER, quarter)
}

impl Number for f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    const TERMS: usize = 17;

    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }

    fn of_two(high: f64, low: f64) -> f64 {
        high + low
    }

    #[inline(always)]
    fn near(self) -> f64 {
        self
    }

    #[inline(always)]
    fn scaled(self, exponent: i32) -> f64 {
        self * power_of_two(exponent)
    }

    #[inline(always)]
    fn inverse_factorial(n: usize) -> f64 {
        INVERSE_FACTORIALS[n][0]
    }

    /// The product with the first part and the first difference are exact; the second product and difference are off
    /// by less than a unit.
    #[inline(always)]
    fn less_ln_2(self, k: f64) -> f64 {
        (self - k * LN_2[0]) - k * LN_2[1]
    }

    /// All products but the last are exact, and so is the first difference: it is a multiple of the last place of
    /// `large` or of `2^-26`, and below 2. Three roundings of numbers below 2 follow.
    #[inline(always)]
    fn angle(t: f64, x: f64) -> (f64, u8) {
        let (large, small, k, quarter) = turns(t, x);
        let rest = (large - k * HALF_PI[0]) - k * HALF_PI[1];
        (rest - k * HALF_PI_END + small, quarter)
    }
}
