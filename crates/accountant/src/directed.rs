//! Between `f64`, rationals and intervals, with directions.

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::interval::{Float, Interval};
use exact::{Exact, Round};

/// A finite `f64`, exactly.
pub(crate) fn float(x: f64) -> Float {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    let mantissa = IBig::from(mantissa);
    Float::new(if x < 0.0 { -mantissa } else { mantissa }, exponent)
}

/// A finite `f64`, exactly.
pub(crate) fn rational(x: f64) -> RBig {
    float(x).to_rational()
}

/// A finite `f64` as an interval.
pub(crate) fn interval(x: f64, bits: usize) -> Interval {
    Interval::point(float(x), bits)
}

/// The `f64` next to a rational, in a direction; saturates at the ends.
pub(crate) fn to_f64(x: &RBig, round: Round) -> f64 {
    match *x < RBig::ZERO {
        true => -magnitude(&-x.clone(), round.reversed()),
        false => magnitude(x, round),
    }
}

fn magnitude(x: &RBig, round: Round) -> f64 {
    let exact = Exact::from_rational(x, round);
    exact.map_or(f64::MAX, |exact| exact.to_f64(round))
}

/// An upper bound of the logarithm of a positive rational, signed.
pub(crate) fn ln_up(x: &RBig) -> Option<f64> {
    let log = exact::interval::refine(|bits| Interval::rational(x, bits + 64).ln());
    // ln 1 = 0 is never narrow.
    match log {
        Some(log) => Some(to_f64(&log.hi.to_rational(), Round::Up)),
        None => (*x == RBig::ONE).then_some(0.0),
    }
}
