//! Floating-point numbers whose errors are counted: plain `f64`, and sums of two for large counts. Nothing here trusts
//! the system's elementary functions. Errors are in *units*; [`Number::UNIT`] bounds the relative error of one operation.

mod cis;
mod complex;
mod constants;
mod double;
mod elementary;
mod plain;
#[cfg(test)]
mod tests;

pub(crate) use cis::{cis, cos_sin};
pub(crate) use complex::Complex;
pub(crate) use double::Double;
pub(crate) use elementary::{exp, exp_m1, ln, ln_1p};

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Angles `t·x` stay below this: the argument reduction is exact up to here.
pub(crate) const LARGEST_ANGLE: f64 = (1u64 << 25) as f64;

/// A real number whose operations have a relative error of at most [`UNIT`](Number::UNIT).
pub(crate) trait Number:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The relative error of one operation.
    const UNIT: f64;
    /// Taylor series go up to this power: `0.35^n/n!` and `0.8^n/n!` are then far below a unit.
    const TERMS: usize;

    /// This value, exactly.
    fn of(x: f64) -> Self;

    /// The sum of two numbers that do not overlap, up to a unit.
    fn of_two(high: f64, low: f64) -> Self;

    /// The nearest `f64`, up to one unit of `f64`.
    fn near(self) -> f64;

    /// Times a power of two, between `2^-1000` and `2^1000`.
    fn scaled(self, exponent: i32) -> Self;

    /// 2π, up to a unit.
    fn two_pi() -> Self {
        let [a, b, c, d] = constants::HALF_PI;
        (Self::of(4.0 * a) + Self::of(4.0 * b)) + (Self::of(4.0 * c) + Self::of(4.0 * d))
    }

    /// `1/√2π`, up to a unit.
    fn inverse_root_two_pi() -> Self {
        let [high, low] = constants::INVERSE_ROOT_TWO_PI;
        Self::of_two(high, low)
    }

    /// `1/n!`, up to a unit.
    fn inverse_factorial(n: usize) -> Self;

    /// `x − k ln 2` for an integer `k` below 2^11 that is near `x/ln 2`; its error is at most `1 + |x|` units.
    fn less_ln_2(self, k: f64) -> Self;

    /// `t·x` less the nearest multiple of π/2, with that multiple modulo 4. `t` has at most 26 bits and `|t·x|` is below
    /// [`LARGEST_ANGLE`]. The absolute error is at most 3 units, for the very `x` given. Where the multiple is zero, the
    /// relative error is at most 3 units as well.
    fn angle(t: f64, x: Self) -> (Self, u8);
}

/// Splits 53 bits in two halves of at most 26 (Veltkamp); exact for what is below 2^996.
#[inline(always)]
pub(crate) fn halves(x: f64) -> (f64, f64) {
    let scaled = x * 134_217_729.0;
    let high = scaled - (scaled - x);
    (high, x - high)
}

/// `2^exponent` for an exponent of a normal number.
#[inline(always)]
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1023) + 1023) as u64) << 52)
}
