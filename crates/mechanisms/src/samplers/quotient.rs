//! Divisions of integers where rationals would do: those look for common factors, which is most of the work.

use dashu_base::{DivRem, UnsignedAbs};
use dashu_int::UBig;
use dashu_ratio::RBig;

/// A positive rational as a quotient of integers.
pub(crate) fn quotient(x: &RBig) -> (UBig, &UBig) {
    (x.numerator().unsigned_abs(), x.denominator())
}

/// `above/below`, rounded up.
pub(crate) fn div_ceil(above: UBig, below: &UBig) -> UBig {
    let (whole, rest) = above.div_rem(below);
    match rest.is_zero() {
        true => whole,
        false => whole + UBig::ONE,
    }
}
