//! `e^{itx}`, directly: a walk along the nodes by multiplications would lose a digit every ten nodes.

use super::constants::{HALF_PI, HALF_PI_END};
use super::plain::TO_INTEGER;
use super::{Complex, Number};

/// `e^{itx}` for a `t` of at most 26 bits and `|tx|` below [`LARGEST_ANGLE`](super::LARGEST_ANGLE). Absolute error at
/// most 8 units, for the very `x` given.
///
/// The angle is off by at most 3 units. The remainders of both series after the terms kept are below a tenth of a unit for
/// `|r| ≤ 0.8`, and Horner's steps add at most 3 units in each coordinate.
#[inline(always)]
pub(crate) fn cis<N: Number>(t: f64, x: N) -> Complex<N> {
    let (rest, quarter) = N::angle(t, x);
    let (sin, cos) = sin_cos(rest);
    match quarter {
        0 => Complex::new(cos, sin),
        1 => Complex::new(-sin, cos),
        2 => Complex::new(-cos, -sin),
        _ => Complex::new(sin, -cos),
    }
}

#[inline(always)]
fn sin_cos<N: Number>(r: N) -> (N, N) {
    let square = -(r * r);
    let mut sin = N::inverse_factorial(N::TERMS - 1 + N::TERMS % 2);
    let mut cos = N::inverse_factorial(N::TERMS - N::TERMS % 2);
    let mut n = N::TERMS - 2 - N::TERMS % 2;
    while n >= 2 {
        cos = cos * square + N::inverse_factorial(n);
        n -= 2;
    }
    let mut n = N::TERMS - 3 + N::TERMS % 2;
    while n >= 3 {
        sin = sin * square + N::inverse_factorial(n);
        n -= 2;
    }
    (r + r * (square * sin), N::of(1.0) + square * cos)
}

/// The cosine and the sine of `t·(high + low)`, for halves of at most 26 bits and under the conditions of [`cis`]: without
/// branches, for many at once. Absolute error at most 8 units in each.
///
/// Whole half turns are taken off, as exactly as quarter turns in [`Number::angle`], and only change the sign. `|r|` is at
/// most 1.6; the remainders of the series are below a tenth of a unit, and Horner's steps add at most 4 units.
#[inline(always)]
pub(crate) fn cos_sin(t: f64, high: f64, low: f64) -> (f64, f64) {
    let (large, small) = (t * high, t * low);
    let shifted = (large + small) * std::f64::consts::FRAC_1_PI + TO_INTEGER;
    let k = 2.0 * (shifted - TO_INTEGER);
    let sign = shifted.to_bits() << 63;
    let rest = (large - k * HALF_PI[0]) - k * HALF_PI[1];
    let rest = rest - k * HALF_PI_END + small;
    let square = -(rest * rest);
    let coefficient = f64::inverse_factorial;
    let mut cos = coefficient(22);
    let mut sin = coefficient(23);
    let mut n = 20;
    while n >= 2 {
        cos = cos * square + coefficient(n);
        sin = sin * square + coefficient(n + 1);
        n -= 2;
    }
    let (cos, sin) = (1.0 + square * cos, rest + rest * (square * sin));
    (
        f64::from_bits(cos.to_bits() ^ sign),
        f64::from_bits(sin.to_bits() ^ sign),
    )
}
