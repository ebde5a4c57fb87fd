//! A second implementation of the normal distribution, kept on purpose as a check on `exact::interval`: the power series
//! around zero in fixed point, with π from its printed digits. It shares nothing with the other but big integers.
//!
//! `Φ(x) − 1/2 = (1/√(2π))·Σ (−1)^k x^(2k+1) / (2^k k! (2k+1))`. The terms are at most `e^(x²/2) < 2^104` for `|x| ≤ 12`,
//! and the sum is carried with 320 fractional bits.

use dashu_base::SquareRoot;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::interval::{Interval, upper_quantile, upper_tail};

const BITS: usize = 320;
/// All roundings together cost less than `2^LOST` units of the last place: each of the 600 steps rounds by a few units,
/// which the later steps multiply by less than `600·e^72 < 2^114`; there are fewer than `2^20` such roundings.
const LOST: usize = 136;

/// `P(Z > x)` for `|x| ≤ 12`, and how far away it may be.
fn reference(x: &RBig) -> (RBig, RBig) {
    let scaled = (x.numerator().clone() << BITS) / IBig::from(x.denominator().clone());
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
    let value = RBig::from_parts(half - centre, UBig::ONE << BITS);
    let error = RBig::from_parts(IBig::ONE, UBig::ONE << (BITS - LOST));
    (value, error)
}

/// `1/√(2π)` in fixed point.
fn inverse_root_two_pi() -> IBig {
    const DIGITS: &str = "31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679";
    let digits: UBig = DIGITS.parse().unwrap();
    let scale = UBig::from(10u8).pow(DIGITS.len() - 1);
    // 1/√(2π) = √(scale / (2·digits)).
    let square = (scale << (2 * BITS)) / (digits * UBig::from(2u8));
    IBig::from(square.sqrt())
}

#[test]
fn tails_agree() {
    for eighths in -96..=96 {
        let x = RBig::from_parts(eighths.into(), 8u8.into());
        let (value, error) = reference(&x);
        let found = upper_tail(&Interval::rational(&x, 200)).unwrap();
        let (lo, hi) = (found.lo.to_rational(), found.hi.to_rational());
        assert!(lo <= &value + &error && &value - &error <= hi, "{x}");
        let narrow = RBig::from_parts(IBig::ONE, UBig::ONE << 190);
        assert!(hi - lo <= narrow, "{x}");
    }
}

#[test]
fn quantiles_agree() {
    for thirtieths in 1..30 {
        let p = RBig::from_parts(thirtieths.into(), 30u8.into());
        let t = upper_quantile(&Interval::rational(&p, 200)).unwrap();
        let (above, error) = reference(&t.lo.to_rational());
        assert!(above + error >= p, "{p}");
        let (below, error) = reference(&t.hi.to_rational());
        assert!(below - error <= p, "{p}");
    }
}
