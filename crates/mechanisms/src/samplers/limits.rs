//! How long parameters may be. Sampling is exact for every rational, and takes the longer the more digits it has: a bound
//! on them is a bound on the time.

use dashu_base::BitTest;
use dashu_ratio::RBig;

use crate::error::BuildError;

/// Scales, ratios, ε and sensitivities are fractions of at most this many bits above and below the line: every `f64`, all
/// decimals of 600 digits, and scales from `2^-2047` to `2^2047`.
pub const PARAMETER_BITS: usize = 2048;

/// What is made of two parameters: a variance of a scale, the unit of penalties of ε and a sensitivity.
pub(crate) const PRODUCT_BITS: usize = 2 * PARAMETER_BITS;

/// Penalties are a score times a unit; there is room for more.
pub(crate) const PENALTY_BITS: usize = 2 * PRODUCT_BITS;

/// The value, if it has at most so many bits above and below the line.
pub(crate) fn shorter_than(
    most: usize,
    what: &'static str,
    value: RBig,
) -> Result<RBig, BuildError> {
    let above = value.numerator().bit_len();
    let below = value.denominator().bit_len();
    if above.max(below) > most {
        return Err(BuildError::TooLong {
            what,
            most,
            bits: above.max(below),
        });
    }
    Ok(value)
}
