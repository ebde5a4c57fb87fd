//! Sums of two `f64` that do not overlap: about 106 bits. The algorithms are those of Dekker and Knuth; their relative
//! errors are below `2^-101`. A unit is `2^-90`, which leaves room for thousands of operations in whatever claims one.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::constants::{HALF_PI, INVERSE_FACTORIALS, LN_2_TWO};
use super::plain::turns;
use super::{Number, halves, power_of_two};

/// `high + low`, with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Double {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl Double {
    /// A count, exactly.
    pub(crate) fn of_count(count: u64) -> Double {
        let upper = (count >> 32) as f64 * power_of_two(32);
        two_sum(upper, (count & 0xffff_ffff) as f64)
    }
}

/// The sum and its error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let back = high - a;
    let low = (a - (high - back)) + (b - back);
    Double { high, low }
}

/// The same for `|a| ≥ |b|`.
#[inline(always)]
fn quick_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let low = b - (high - a);
    Double { high, low }
}

/// The product and its error.
#[inline(always)]
fn two_product(a: f64, b: f64) -> Double {
    let high = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low;
    Double { high, low }
}

impl Add for Double {
    type Output = Double;

    #[inline(always)]
    fn add(self, other: Double) -> Double {
        let high = two_sum(self.high, other.high);
        let low = two_sum(self.low, other.low);
        let first = quick_sum(high.high, high.low + low.high);
        quick_sum(first.high, first.low + low.low)
    }
}

impl Neg for Double {
    type Output = Double;

    #[inline(always)]
    fn neg(self) -> Double {
        Double {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Sub for Double {
    type Output = Double;

    #[inline(always)]
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;

    #[inline(always)]
    fn mul(self, other: Double) -> Double {
        let product = two_product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        quick_sum(product.high, product.low + cross)
    }
}

impl Div for Double {
    type Output = Double;

    fn div(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self - other * Double::of(first);
        let second = rest.high / other.high;
        let rest = rest - other * Double::of(second);
        let third = rest.high / other.high;
        quick_sum(first, second) + Double::of(third)
    }
}

impl PartialOrd for Double {
    fn partial_cmp(&self, other: &Double) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            order => order,
        }
    }
}

impl Number for Double {
    const UNIT: f64 = 1.0 / (1u128 << 90) as f64;
    const TERMS: usize = 28;

    #[inline(always)]
    fn of(x: f64) -> Double {
        Double { high: x, low: 0.0 }
    }

    fn of_two(high: f64, low: f64) -> Double {
        quick_sum(high, low)
    }

    #[inline(always)]
    fn near(self) -> f64 {
        self.high + self.low
    }

    fn scaled(self, exponent: i32) -> Double {
        let scale = power_of_two(exponent);
        Double {
            high: self.high * scale,
            low: self.low * scale,
        }
    }

    fn inverse_factorial(n: usize) -> Double {
        let [high, low] = INVERSE_FACTORIALS[n];
        Double { high, low }
    }

    fn less_ln_2(self, k: f64) -> Double {
        let [high, low] = LN_2_TWO;
        self - Double::of(k) * Double { high, low }
    }

    /// The first difference is exact, as for `f64`; all other terms are below 1 and are added with 100 bits.
    fn angle(t: f64, x: Double) -> (Double, u8) {
        let (large, small, k, quarter) = turns(t, x.high);
        let mut rest = two_sum(large - k * HALF_PI[0], -k * HALF_PI[1]);
        rest = rest + Double::of(small);
        rest = rest + Double::of(-k * HALF_PI[2]);
        rest = rest + Double::of(-k * HALF_PI[3]);
        (rest + two_product(t, x.low), quarter)
    }
}
