//! The leading 128 bits of a number: where the functions and the conversion to `f64` start.

use dashu_base::{BitTest, DivRem};
use dashu_int::UBig;

use crate::flat::{self, FIVES, wide_mul};
use crate::repr::{Exact, Mantissa, five_to};

/// A positive number `x` with `bits · 2^two <= x < (bits + SLACK) · 2^two`; `bits` has its top bit set.
pub(crate) struct Leading {
    pub(crate) bits: u128,
    pub(crate) two: i64,
    /// Is `x` just `bits · 2^two`?
    pub(crate) exact: bool,
}

/// How far the true value may lie above the leading bits, in units of the last bit.
pub(crate) const SLACK: u128 = 4;

impl Leading {
    /// The leading bits of a finite positive number. They depend on the value only.
    #[inline]
    pub(crate) fn of(x: &Exact) -> Leading {
        if x.big.is_none() {
            let (mantissa, two, five) = flat::reduce(x.mantissa, x.two.into(), x.five.into());
            if five.unsigned_abs() < POWERS as u64 {
                return scaled(mantissa, two, five);
            }
        }
        Leading::of_any(x)
    }

    #[cold]
    fn of_any(x: &Exact) -> Leading {
        match x.canonical() {
            (Mantissa::Flat(mantissa), two, five) if five.unsigned_abs() < POWERS as u64 => {
                scaled(mantissa, two, five)
            }
            (Mantissa::Flat(mantissa), two, five) => divided(UBig::from(mantissa), two, five),
            (Mantissa::Big(mantissa), two, five) => divided(mantissa, two, five),
        }
    }

    /// The exponent of the leading bit: `2^log2 <= x < 2^(log2 + 1)`, up to the slack.
    #[inline]
    pub(crate) fn log2(&self) -> i64 {
        self.two + 127
    }

    /// The leading 64 bits `f`, with the top bit set: `f <= x / 2^(log2 - 63) < f + 1 + 2^-61`.
    #[inline]
    pub(crate) fn top(&self) -> u64 {
        (self.bits >> 64) as u64
    }

    /// The number times `2^places`, rounded down to an integer of at most 128 bits.
    /// The true product is less than `1 + 4 · 2^(two + places)` above.
    #[inline]
    pub(crate) fn fixed(&self, places: i64) -> u128 {
        let shift = -(self.two + places);
        debug_assert!(shift >= 0);
        u32::try_from(shift).map_or(0, |shift| self.bits.checked_shr(shift).unwrap_or(0))
    }
}

/// Powers of five from `5^-54` to `5^54` have their leading bits in a table.
const POWERS: usize = 55;

/// `mantissa · 2^two · 5^five`, by a multiplication with the leading bits of the power.
#[inline]
fn scaled(mantissa: u128, two: i64, five: i64) -> Leading {
    let zeros = mantissa.leading_zeros();
    let (bits, two) = (mantissa << zeros, two - i64::from(zeros));
    if five == 0 {
        let exact = true;
        return Leading { bits, two, exact };
    }
    let (power, power_two) = match five > 0 {
        true => FIVE_UP[five as usize],
        false => FIVE_DOWN[-five as usize],
    };
    // Each factor is below 2^128, the power is less than one unit too small (and exact if it is no
    // fraction), and the low half is dropped: less than two units in all, or four after the shift.
    let (high, low) = wide_mul(bits, power);
    let two = two + power_two + 128;
    let exact = five > 0 && low == 0;
    match high.leading_zeros() {
        0 => Leading {
            bits: high,
            two,
            exact,
        },
        _ => Leading {
            bits: high << 1 | low >> 127,
            two: two - 1,
            exact: five > 0 && low << 1 == 0,
        },
    }
}

/// The same for anything, by a division of big integers: less than one unit too small.
fn divided(mantissa: UBig, two: i64, five: i64) -> Leading {
    let (num, den) = match five >= 0 {
        true => (mantissa * five_to(five), UBig::ONE),
        false => (mantissa, five_to(-five)),
    };
    // This makes the quotient 128 or 129 bits long.
    let shift = 128 + den.bit_len() as i64 - num.bit_len() as i64;
    let (quotient, rest) = match shift >= 0 {
        true => (num << shift as usize).div_rem(den),
        false => num.div_rem(den << -shift as usize),
    };
    let (drop, two) = (quotient.bit_len() - 128, two - shift);
    let exact = rest.is_zero() && quotient.trailing_zeros() >= Some(drop);
    let bits = quotient >> drop;
    Leading {
        bits: u128::try_from(bits).unwrap_or(u128::MAX),
        two: two + drop as i64,
        exact,
    }
}

/// `5^k` as 128 leading bits (exact) and an exponent of two.
const FIVE_UP: [(u128, i64); POWERS] = {
    let mut powers = [(0, 0); POWERS];
    let mut k = 0;
    while k < POWERS {
        let zeros = FIVES[k].leading_zeros();
        powers[k] = (FIVES[k] << zeros, -(zeros as i64));
        k += 1;
    }
    powers
};

/// `5^-k` as 128 leading bits (rounded down) and an exponent of two.
const FIVE_DOWN: [(u128, i64); POWERS] = {
    let mut powers = [(0, 0); POWERS];
    let mut k = 0;
    while k < POWERS {
        powers[k] = leading_reciprocal(FIVES[k]);
        k += 1;
    }
    powers
};

/// `1/n` for `0 < n < 2^127` by long division.
const fn leading_reciprocal(n: u128) -> (u128, i64) {
    let (mut rest, mut bits, mut two) = (1, 0u128, 0);
    while bits >> 127 == 0 {
        bits <<= 1;
        if rest >= n {
            rest -= n;
            bits |= 1;
        }
        rest <<= 1;
        two -= 1;
    }
    (bits, two + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::IBig;
    use dashu_ratio::RBig;
    use proptest::prelude::*;

    fn dyadic(bits: u128, two: i64) -> RBig {
        let (num, den) = match two >= 0 {
            true => (IBig::from(bits) << two as usize, UBig::ONE),
            false => (bits.into(), UBig::ONE << -two as usize),
        };
        RBig::from_parts(num, den)
    }

    fn brackets(x: &Exact) {
        let leading = Leading::of(x);
        let (low, true_value) = (dyadic(leading.bits, leading.two), x.to_rational().unwrap());
        assert!(leading.bits >> 127 == 1 && low <= true_value);
        assert!(true_value < &low + dyadic(SLACK, leading.two));
        assert_eq!(leading.exact, low == true_value);
    }

    #[test]
    fn powers_of_five() {
        for five in -60..60 {
            for mantissa in [1, 3, u64::MAX as u128, u128::MAX] {
                brackets(&Exact::flat(mantissa, 0, five));
            }
        }
    }

    proptest! {
        #[test]
        fn leading_bits_bracket(mantissa in 1..u128::MAX, drop in 0..128u32, two in -2000..2000, five in -200..200) {
            brackets(&Exact::flat((mantissa >> drop).max(1), two, five));
        }
    }
}
