//! The normal distribution function, certified from both sides, in fixed-point arithmetic.
//!
//! `Φ(x) − 1/2 = (1/√(2π))·Σ (−1)^k x^(2k+1) / (2^k k! (2k+1))`. The terms are at most `e^(x²/2) < 2^104` for `|x| ≤ 12`,
//! and the sum is carried with 320 fractional bits, so that what is rounded off stays far below what is reported.

use dashu_base::UnsignedAbs;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::factor::Bounds;

const BITS: usize = 320;
/// Beyond this point the tail is below `2^-106`.
const END: i64 = 12;
/// All roundings together cost less than `2^LOST` units of the last place: each of the 600 steps rounds by a few units,
/// which the later steps multiply by less than `600·e^72 < 2^114`; there are fewer than `2^20` such roundings.
const LOST: usize = 136;

/// Bounds on Φ(x), `2^-183` apart for `|x| ≤ 12`.
pub(super) fn normal(x: &RBig) -> Bounds<RBig> {
    let end = RBig::from(END);
    let tiny = RBig::from_parts(IBig::ONE, UBig::ONE << 100);
    if *x >= end {
        return Bounds {
            least: RBig::ONE - tiny,
            most: RBig::ONE,
        };
    }
    if *x <= -end {
        return Bounds {
            least: RBig::ZERO,
            most: tiny,
        };
    }
    let scaled = fixed(x);
    let square = (&scaled * &scaled) >> (BITS + 1);
    let mut term = scaled;
    let mut sum = IBig::ZERO;
    // After k = 600 > e·x²/2 the terms are below 2^-BITS and shrink.
    for k in 0..600u32 {
        sum += &term / IBig::from(2 * k + 1);
        term = -((&term * &square) >> BITS) / IBig::from(k + 1);
    }
    let centre = (sum * inverse_root_two_pi()) >> BITS;
    let half = IBig::ONE << (BITS - 1);
    let error = RBig::from_parts(IBig::ONE, UBig::ONE << (BITS - LOST));
    let value = RBig::from_parts(centre + half, UBig::ONE << BITS);
    Bounds {
        least: &value - &error,
        most: value + error,
    }
}

fn fixed(x: &RBig) -> IBig {
    (x.numerator().clone() << BITS) / IBig::from(x.denominator().clone())
}

/// `1/√(2π)` in fixed point, from 100 digits of π.
fn inverse_root_two_pi() -> IBig {
    const DIGITS: &str = "31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679";
    let digits: UBig = DIGITS.parse().unwrap_or(UBig::from(3u8));
    let scale = UBig::from(10u8).pow(DIGITS.len() - 1);
    // 1/√(2π) = √(scale / (2·digits)).
    let square = (scale << (2 * BITS)) / (digits * UBig::from(2u8));
    IBig::from(dashu_base::SquareRoot::sqrt(&square))
        .unsigned_abs()
        .into()
}

/// The point where Φ is `p`, between zero and one exclusive, from both sides to `2^-60`. A side is `None` where the point
/// is beyond ±12, for all that is known.
pub(super) fn quantile(p: &RBig) -> Bounds<Option<RBig>> {
    let (mut least, mut most) = (None, None);
    let (mut low, mut high) = (RBig::from(-END), RBig::from(END));
    for _ in 0..64 {
        let middle = (&low + &high) / RBig::from(2);
        let there = normal(&middle);
        if there.most <= *p {
            least = Some(middle.clone());
            low = middle;
        } else if there.least >= *p {
            most = Some(middle.clone());
            high = middle;
        } else {
            break;
        }
    }
    Bounds { least, most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::approximate;

    #[test]
    fn known_values() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-2.0, 0.022_750_131_948_179_21),
            (5.0, 0.999_999_713_348_428_1),
            (-8.0, 6.220_960_574_271_785e-16),
        ] {
            let bounds = normal(&RBig::try_from(x).unwrap());
            assert!(bounds.least <= bounds.most);
            assert!((approximate(&bounds.least) - expected).abs() <= 1e-15 * expected.max(1e-3));
            assert!(approximate(&(bounds.most - bounds.least)) < 1e-50);
        }
    }

    #[test]
    fn quantile_inverts() {
        let p = RBig::from_parts(3.into(), 4u8.into());
        let z = quantile(&p);
        let (least, most) = (z.least.unwrap(), z.most.unwrap());
        assert!((approximate(&least) - 0.674_489_750_196_081_7).abs() < 1e-15);
        assert!(normal(&least).most <= p && normal(&most).least >= p);
    }

    #[test]
    fn quantiles_beyond_the_end_are_unknown() {
        let tiny = RBig::from_parts(IBig::ONE, UBig::ONE << 120);
        let below = quantile(&tiny);
        assert_eq!(below.least, None);
        assert!(normal(&below.most.unwrap()).least >= tiny);
        let above = quantile(&(RBig::ONE - &tiny));
        assert_eq!(above.most, None);
        assert!(normal(&above.least.unwrap()).most <= RBig::ONE - tiny);
    }
}
