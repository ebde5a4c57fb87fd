//! Machine integers: powers of five, reduction and wide products on `u128`.

/// `5^k` for all `k` where it fits in 128 bits.
pub(crate) const FIVES: [u128; 56] = {
    let mut powers = [1; 56];
    let mut k = 1;
    while k < powers.len() {
        powers[k] = powers[k - 1] * 5;
        k += 1;
    }
    powers
};

/// The inverse of five modulo `2^128`: five times this is one, with the carry lost.
const FIFTH: u128 = u128::MAX / 5 * 4 + 1;

/// `mantissa · 2^twos · 5^fives`, if it fits.
#[inline]
pub(crate) fn lift(mantissa: u128, twos: u32, fives: u32) -> Option<u128> {
    let scaled = match (fives, u64::try_from(mantissa)) {
        (0, _) => mantissa,
        // Both factors fit in 64 bits: one multiplication that cannot overflow.
        (1..=27, Ok(small)) => u128::from(small) * u128::from(FIVES[fives as usize] as u64),
        _ => mantissa.checked_mul(*FIVES.get(fives as usize)?)?,
    };
    // Zero has 128 leading zeros and may be shifted by anything.
    if twos <= scaled.leading_zeros() {
        Some(scaled.checked_shl(twos).unwrap_or(0))
    } else if scaled == 0 {
        Some(0)
    } else {
        None
    }
}

/// Moves all factors two and five from a positive mantissa to the exponents.
#[inline]
pub(crate) fn reduce(mantissa: u128, two: i64, five: i64) -> (u128, i64, i64) {
    debug_assert!(mantissa > 0);
    let twos = mantissa.trailing_zeros();
    let (mut mantissa, mut five) = (mantissa >> twos, five);
    loop {
        // Multiples of five, and no others, become small when multiplied by its inverse.
        let fifth = mantissa.wrapping_mul(FIFTH);
        if fifth > u128::MAX / 5 {
            return (mantissa, two + i64::from(twos), five);
        }
        mantissa = fifth;
        five += 1;
    }
}

/// The upper and lower half of a product.
#[inline]
pub(crate) const fn wide_mul(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a_low * b_low;
    let cross = a_high * b_low + (low >> 64);
    let middle = a_low * b_high + (cross & LOW);
    let high = a_high * b_high + (cross >> 64) + (middle >> 64);
    (high, middle << 64 | low & LOW)
}

/// The upper half of a product of 64-bit fractions, rounded down.
#[inline]
pub(crate) const fn mul_high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;
    use proptest::prelude::*;

    #[test]
    fn a_fifth_of_five_is_one() {
        assert_eq!(FIFTH.wrapping_mul(5), 1);
        assert_eq!(FIVES[55], 5u128.pow(55));
    }

    #[test]
    fn lift_knows_what_fits() {
        assert_eq!(lift(0, 20_000, 3), Some(0));
        assert_eq!(lift(1, 127, 0), Some(1 << 127));
        assert_eq!(lift(1, 128, 0), None);
        assert_eq!(lift(3, 127, 0), None);
        assert_eq!(lift(7, 1, 2), Some(350));
        assert_eq!(lift(1, 0, 56), None);
        assert_eq!(lift(2, 0, 55), None);
    }

    proptest! {
        #[test]
        fn wide_products(a: u128, b: u128) {
            let (high, low) = wide_mul(a, b);
            let product = (UBig::from(high) << 128) + UBig::from(low);
            prop_assert_eq!(product, UBig::from(a) * UBig::from(b));
        }

        #[test]
        fn reduction_takes_out_all_twos_and_fives(odd in 1..1u128 << 60, twos in 0..10u32, fives in 0..20u32) {
            let (mantissa, two, five) = reduce((odd << twos) * FIVES[fives as usize], -5, 7);
            prop_assert!(mantissa % 2 != 0 && mantissa % 5 != 0);
            prop_assert!(two >= -5 + i64::from(twos) && five >= 7 + i64::from(fives));
            let back = (mantissa << (two + 5)) * 5u128.pow((five - 7) as u32);
            prop_assert_eq!(back, (odd << twos) * FIVES[fives as usize]);
        }
    }
}
