//! Certified bounds on reals between zero and one, in fixed point at any precision: what decides an outcome when the
//! first random word does not. Big integers, every rounding outward.

use dashu_base::{BitTest, DivRem};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Bounds on a real at some precision: `lo / 2^bits ≤ x ≤ hi / 2^bits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) lo: UBig,
    pub(crate) hi: UBig,
}

impl Bounds {
    pub(crate) fn exact(value: UBig) -> Self {
        Self {
            lo: value.clone(),
            hi: value,
        }
    }

    /// One, at this precision.
    pub(crate) fn one(bits: usize) -> Self {
        Self::exact(UBig::ONE << bits)
    }

    /// A rational that is not negative.
    pub(crate) fn rational(value: &RBig, bits: usize) -> Self {
        let (floor, rest) =
            (magnitude(value.numerator()) << bits).div_rem(value.denominator().clone());
        let hi = &floor + UBig::from(!rest.is_zero());
        Self { lo: floor, hi }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        Self {
            lo: &self.lo + &other.lo,
            hi: &self.hi + &other.hi,
        }
    }

    /// One minus this; this is at most one.
    pub(crate) fn complement(&self, bits: usize) -> Self {
        let one = UBig::ONE << bits;
        Self {
            lo: minus(&one, &self.hi),
            hi: minus(&one, &self.lo),
        }
    }

    pub(crate) fn mul(&self, other: &Self, bits: usize) -> Self {
        Self {
            lo: (&self.lo * &other.lo) >> bits,
            hi: shift_up(&self.hi * &other.hi, bits),
        }
    }

    /// The quotient; the divisor is above zero at this precision.
    pub(crate) fn div(&self, by: &Self, bits: usize) -> Self {
        let hi = (&self.hi << bits) + (&by.lo - UBig::ONE);
        Self {
            lo: (&self.lo << bits) / &by.hi,
            hi: hi / &by.lo,
        }
    }

    /// The same bounds at a lower precision.
    pub(crate) fn narrowed(&self, from: usize, to: usize) -> Self {
        Self {
            lo: &self.lo >> (from - to),
            hi: shift_up(self.hi.clone(), from - to),
        }
    }

    /// The lower bound as a rational.
    pub(crate) fn lower(&self, bits: usize) -> RBig {
        RBig::from_parts(self.lo.clone().into(), UBig::ONE << bits)
    }

    /// The upper bound as a rational.
    pub(crate) fn upper(&self, bits: usize) -> RBig {
        RBig::from_parts(self.hi.clone().into(), UBig::ONE << bits)
    }
}

/// `a − b`, zero if that is negative.
fn minus(a: &UBig, b: &UBig) -> UBig {
    if a > b { a - b } else { UBig::ZERO }
}

/// `ceil(value / 2^by)`.
fn shift_up(value: UBig, by: usize) -> UBig {
    let mask = (UBig::ONE << by) - UBig::ONE;
    (value + mask) >> by
}

/// The absolute value.
pub(crate) fn magnitude(value: &IBig) -> UBig {
    value.clone().into_parts().1
}

/// `e^−exponent` for a rational exponent that is not negative: two units wide at the most.
///
/// The exponent is halved until it is below 2^-8, the alternating series summed, and the result squared back. Errors are
/// counted in units of the working precision: under 3 for each term, doubled by each squaring.
pub(crate) fn exp_neg(exponent: &RBig, bits: usize) -> Bounds {
    if exponent.is_zero() {
        return Bounds::one(bits);
    }
    let whole = (magnitude(exponent.numerator()) / exponent.denominator()).bit_len();
    if whole > usize::BITS as usize - 2 || (1usize << whole) > 4 * bits.max(1) {
        // The exponent is at least 2^(whole − 1) > 2·bits, so the result is below one unit.
        return Bounds {
            lo: UBig::ZERO,
            hi: UBig::ONE,
        };
    }
    let halvings = whole + 8;
    // Each term is 2^-8 of the one before it, so there are fewer terms than bits.
    let guard = halvings + 2 * (usize::BITS - bits.leading_zeros()) as usize + 16;
    let work = bits + guard;
    let x = (magnitude(exponent.numerator()) << (work - halvings)) / exponent.denominator();
    let (mut plus, mut minus_) = (UBig::ONE << work, UBig::ZERO);
    let mut term = plus.clone();
    let mut terms = 0usize;
    while !term.is_zero() {
        terms += 1;
        term = ((&term * &x) >> work) / UBig::from(terms);
        if terms % 2 == 1 {
            minus_ += &term;
        } else {
            plus += &term;
        }
    }
    let mut value = plus - minus_;
    let mut error = UBig::from(3 * terms + 4);
    for _ in 0..halvings {
        value = (value.sqr()) >> work;
        error = error * UBig::from(2u8) + UBig::from(3u8);
    }
    let bounds = Bounds {
        lo: minus(&value, &error),
        hi: value + error,
    };
    let mut bounds = bounds.narrowed(work, bits);
    bounds.hi = bounds.hi.min(UBig::ONE << bits);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(n: u64, d: u64) -> RBig {
        RBig::from_parts(n.into(), d.into())
    }

    #[test]
    fn e_to_the_minus_one() {
        // e^-1 = 0.36787944117144232159552377016146086744581113103176783450783680…
        let digits: UBig = "36787944117144232159552377016146086744581113103176783450783680"
            .parse()
            .unwrap();
        let ten = UBig::from(10u8).pow(62);
        for bits in [32, 64, 96, 128, 190] {
            let got = exp_neg(&RBig::ONE, bits);
            let floor = (&digits << bits) / &ten;
            assert!(got.lo <= floor && floor <= got.hi, "{bits}");
            assert!(&got.hi - &got.lo <= UBig::from(2u8), "{bits}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn exp_is_consistent_and_narrow(n in 0u64..5000, d in 1u64..300, bits in 16usize..200) {
            let x = ratio(n, d);
            let coarse = exp_neg(&x, bits);
            let fine = exp_neg(&x, bits + 77);
            prop_assert!(&coarse.hi - &coarse.lo <= UBig::from(2u8));
            prop_assert!((&coarse.lo << 77) <= fine.lo && fine.hi <= (&coarse.hi << 77));
            // e^-x · e^-1 = e^-(x+1)
            let product = fine.mul(&exp_neg(&RBig::ONE, bits + 77), bits + 77);
            let direct = exp_neg(&(x + RBig::ONE), bits + 77);
            prop_assert!(product.lo <= direct.hi && direct.lo <= product.hi);
        }
    }
}
