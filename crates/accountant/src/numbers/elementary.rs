//! exp and ln by Taylor series after range reduction, with their errors in units. The logarithms start from the system's
//! guess, and are right only by the residual that is computed for it here: a bad guess gives NaN, never a wrong number.

use super::plain::TO_INTEGER;
use super::{Number, power_of_two};

/// `e^x` for `x` up to 700: relative error at most `4 + |x|` units. Below −700, zero (absolute error below `1e-300`).
///
/// `|r| ≤ 0.35` after the reduction, whose error of `1 + |x|` units becomes a relative one. Each of Horner's steps adds at
/// most two units of a sum of which the steps after it keep at most 0.35: less than 3 units in all.
#[inline(always)]
pub(crate) fn exp<N: Number>(x: N) -> N {
    let near = x.near();
    if near < -700.0 {
        return N::of(0.0);
    }
    let k = (near * std::f64::consts::LOG2_E + TO_INTEGER) - TO_INTEGER;
    let rest = x.less_ln_2(k);
    let series = tail_of_exp(rest, 0);
    series.scaled(k as i32)
}

/// `Σ_{n ≥ from} x^(n−from)/n!`.
#[inline(always)]
fn tail_of_exp<N: Number>(x: N, from: usize) -> N {
    let mut sum = N::inverse_factorial(N::TERMS);
    for n in (from..N::TERMS).rev() {
        sum = sum * x + N::inverse_factorial(n);
    }
    sum
}

/// `e^x − 1` for `x` up to 700: relative error at most `16 + 4|x|` units.
///
/// Below 0.35 by the series without its first term; above, `e^x` is at most 3.4 times `|e^x − 1|`.
pub(crate) fn exp_m1<N: Number>(x: N) -> N {
    if x.near().abs() < 0.35 {
        return x * tail_of_exp(x, 1);
    }
    exp(x) - N::of(1.0)
}

/// `ln(1 + y)` for `y ≥ −1/2`: relative error at most `32 + 8 ln(1 + y)` units.
///
/// With `m = e^g − 1`, `ln(1+y) = g + ln(1+d)` for `d = (y−m)/(1+m)`, and `|ln(1+d) − d| ≤ d²` for small `d`. What
/// `m` is off by, relative to itself, is at most twice as much relative to the logarithm.
pub(crate) fn ln_1p<N: Number>(y: N) -> N {
    let guess = N::of(y.near().ln_1p());
    let m = exp_m1(guess);
    let step = (y - m) / (m + N::of(1.0));
    // d² is then below a unit, relative to g.
    match step.near().abs() <= guess.near().abs() * power_of_two(-46) {
        true => guess + step,
        false => N::of(f64::NAN),
    }
}

/// `ln x` for a positive normal `x`: absolute error at most `16 + 4|ln x|` units.
///
/// With `d = x·e^−g − 1`, `ln x = g + ln(1+d)`; `d` is off by `6 + |g|` units.
pub(crate) fn ln<N: Number>(x: N) -> N {
    let guess = N::of(x.near().ln());
    let step = x * exp(-guess) - N::of(1.0);
    match step.near().abs() <= (1.0 + guess.near().abs()) * power_of_two(-46) {
        true => guess + step,
        false => N::of(f64::NAN),
    }
}
