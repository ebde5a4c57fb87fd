//! How a number is held: `mantissa · 2^two · 5^five` in machine integers, with a longer integer in
//! place of the mantissa where 128 bits do not suffice. One value may have many such forms;
//! comparison, hashing and rounding depend on the value only.

use std::sync::Arc;

use dashu_base::BitTest;
use dashu_int::UBig;

use crate::flat;
use crate::wide::Wide;

/// Finite values are below `2^TOP`.
pub(crate) const TOP: i64 = 16_384;
/// The smallest exponent of two.
pub(crate) const MIN_TWO: i64 = -16_384;
/// The smallest exponent of five.
pub(crate) const MIN_FIVE: i64 = -4_096;
/// Flat numbers have exponents up to these two: they are below `2^7000`, and no sum or multiple of
/// them that fits in 128 bits reaches `2^TOP`.
pub(crate) const FLAT_TWO: i64 = 4_096;
pub(crate) const FLAT_FIVE: i64 = 1_024;
/// The exponent of two that marks infinity.
const INFINITE: i32 = i32::MAX;

/// A non-negative rational whose denominator is `2^i · 5^j`, or infinity.
///
/// Every decimal and every finite `f64` is such a number. Addition and subtraction are exact; every
/// other operation states its direction with a [`Round`](crate::Round).
///
/// ```
/// use odometry::exact::Exact;
/// let spent: Exact = (0..10_000).map(|_| "0.1".parse::<Exact>().unwrap()).sum();
/// assert_eq!(spent, Exact::from(1000_u32));
/// ```
#[derive(Clone)]
pub struct Exact {
    /// Zero for infinity, and when `big` is there.
    pub(crate) mantissa: u128,
    pub(crate) two: i32,
    pub(crate) five: i32,
    pub(crate) big: Option<Arc<Big>>,
}

/// A mantissa that does not fit in a machine integer, or belongs to large exponents.
pub(crate) enum Big {
    /// It has few words.
    Wide(Wide),
    /// It has any number of words.
    Huge(UBig),
}

impl From<UBig> for Big {
    fn from(mantissa: UBig) -> Big {
        Wide::from_big(&mantissa).map_or(Big::Huge(mantissa), Big::Wide)
    }
}

/// A positive mantissa without factors two and five.
pub(crate) enum Mantissa {
    /// It fits in 128 bits.
    Flat(u128),
    /// It does not.
    Big(UBig),
}

impl Exact {
    /// Zero.
    pub const ZERO: Exact = Exact::flat(0, 0, 0);
    /// One.
    pub const ONE: Exact = Exact::flat(1, 0, 0);
    /// Infinity: as a loss, "no guarantee".
    pub const INFINITY: Exact = Exact::flat(0, INFINITE, 0);

    /// Is this zero?
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0 && self.big.is_none() && self.two != INFINITE
    }

    /// Is this infinity?
    #[inline]
    pub fn is_infinite(&self) -> bool {
        self.two == INFINITE
    }

    /// Is this a finite number?
    #[inline]
    pub fn is_finite(&self) -> bool {
        !self.is_infinite()
    }

    #[inline]
    pub(crate) const fn flat(mantissa: u128, two: i32, five: i32) -> Exact {
        Exact {
            mantissa,
            two,
            five,
            big: None,
        }
    }

    /// The flat number with this mantissa and these exponents, if they are in the range of flat numbers.
    #[inline]
    pub(crate) fn try_flat(mantissa: u128, two: i64, five: i64) -> Option<Exact> {
        let fits = (MIN_TWO..=FLAT_TWO).contains(&two) && (MIN_FIVE..=FLAT_FIVE).contains(&five);
        fits.then(|| Exact::flat(mantissa, two as i32, five as i32))
    }

    /// The mantissa of a finite number as a big integer.
    pub(crate) fn big_mantissa(&self) -> UBig {
        match self.big.as_deref() {
            Some(Big::Huge(big)) => big.clone(),
            Some(Big::Wide(wide)) => wide.to_big(),
            None => UBig::from(self.mantissa),
        }
    }

    /// The canonical form of a finite positive number. It depends on the value only, and so do the
    /// results of everything that starts from it.
    pub(crate) fn canonical(&self) -> (Mantissa, i64, i64) {
        let (two, five) = (self.two.into(), self.five.into());
        if self.big.is_none() {
            let (mantissa, two, five) = flat::reduce(self.mantissa, two, five);
            return (Mantissa::Flat(mantissa), two, five);
        }
        let (mantissa, two, five) = self.reduced();
        match u128::try_from(&mantissa) {
            Ok(mantissa) => (Mantissa::Flat(mantissa), two, five),
            Err(_) => (Mantissa::Big(mantissa), two, five),
        }
    }

    /// The canonical form of any finite number, in big integers.
    pub(crate) fn reduced(&self) -> (UBig, i64, i64) {
        reduce(self.big_mantissa(), self.two.into(), self.five.into())
    }

    /// The number `mantissa · 2^two · 5^five`, or infinity if it is too large.
    /// The exponents after reduction must not be below the smallest ones.
    pub(crate) fn from_big(mantissa: UBig, two: i64, five: i64) -> Exact {
        let (mantissa, two, five) = reduce(mantissa, two, five);
        debug_assert!(two >= MIN_TWO && five >= MIN_FIVE);
        if mantissa.is_zero() {
            return Exact::ZERO;
        }
        if reaches_top(&mantissa, two, five) {
            return Exact::INFINITY;
        }
        let flat = u128::try_from(&mantissa)
            .ok()
            .and_then(|mantissa| Exact::try_flat(mantissa, two, five));
        flat.unwrap_or_else(|| Exact {
            mantissa: 0,
            two: two as i32,
            five: five as i32,
            big: Some(Arc::new(mantissa.into())),
        })
    }

    /// Exponents of powers of two around a finite positive number: `2^low <= x < 2^high`.
    #[inline(always)]
    pub(crate) fn log2_bounds(&self) -> (i64, i64) {
        let bits = match self.big.as_deref() {
            Some(Big::Huge(big)) => big.bit_len() as i64,
            Some(Big::Wide(wide)) => wide.bit_len(),
            None => i64::from(128 - self.mantissa.leading_zeros()),
        };
        log2_bounds(bits, self.two.into(), self.five.into())
    }
}

impl Default for Exact {
    fn default() -> Exact {
        Exact::ZERO
    }
}

/// `5^exponent`.
pub(crate) fn five_to(exponent: i64) -> UBig {
    debug_assert!(exponent >= 0);
    match flat::FIVES.get(exponent as usize) {
        Some(power) => UBig::from(*power),
        None => UBig::from(5u8).pow(exponent as usize),
    }
}

/// Moves all factors two and five from the mantissa to the exponents.
pub(crate) fn reduce(mut mantissa: UBig, two: i64, five: i64) -> (UBig, i64, i64) {
    let Some(twos) = mantissa.trailing_zeros() else {
        return (UBig::ZERO, 0, 0);
    };
    if twos > 0 {
        mantissa >>= twos;
    }
    let fives = mantissa.remove_word(5).unwrap_or(0);
    (mantissa, two + twos as i64, five + fives as i64)
}

/// Exponents of powers of two around a number whose mantissa has so many bits.
#[inline(always)]
fn log2_bounds(bits: i64, two: i64, five: i64) -> (i64, i64) {
    // 2377/1024 < log2(5) < 2378/1024; shifts round down.
    let (below, above) = match five >= 0 {
        true => (2377 * five, 2378 * five),
        false => (2378 * five, 2377 * five),
    };
    let high = bits + two - (-above >> 10);
    (bits - 1 + two + (below >> 10), high)
}

/// Is `mantissa · 2^two · 5^five` at least `2^TOP`?
fn reaches_top(mantissa: &UBig, two: i64, five: i64) -> bool {
    let (low, high) = log2_bounds(mantissa.bit_len() as i64, two, five);
    if high <= TOP || low >= TOP {
        return low >= TOP;
    }
    let (mut left, mut right) = (mantissa.clone(), UBig::ONE);
    if five >= 0 {
        left *= five_to(five);
    } else {
        right *= five_to(-five);
    }
    if two <= TOP {
        right <<= (TOP - two) as usize;
    } else {
        left <<= (two - TOP) as usize;
    }
    left >= right
}

/// Everything is a function of the value: what machine integers give, big integers give.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::Round;
    use proptest::prelude::*;
    use std::hash::{BuildHasher, RandomState};

    /// The same number with its mantissa, times `2^twos · 5^fives`, in a longer integer.
    fn as_big(x: &Exact, twos: u32, fives: u32, big: impl Fn(UBig) -> Big) -> Exact {
        let mantissa = (UBig::from(x.mantissa) << twos as usize) * five_to(fives.into());
        Exact {
            mantissa: 0,
            two: x.two - twos as i32,
            five: x.five - fives as i32,
            big: Some(Arc::new(big(mantissa))),
        }
    }

    fn flat() -> impl Strategy<Value = Exact> {
        (1..u128::MAX, 0..128u32, -150..100i32, -60..30i32).prop_map(
            |(mantissa, drop, two, five)| Exact::flat((mantissa >> drop).max(1), two, five),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn big_agrees_with_flat(a in flat(), b in flat(), twos in 0..200u32, fives in 0..80u32, n: u64, wide: [bool; 2]) {
            let form = |wide: bool| if wide { Big::from } else { Big::Huge };
            let big_a = as_big(&a, twos, fives, form(wide[0]));
            let big_b = as_big(&b, fives, twos, form(wide[1]));
            prop_assert_eq!(&a, &big_a);
            prop_assert_eq!(a.cmp(&b), big_a.cmp(&big_b));
            prop_assert_eq!(a.cmp(&b), a.cmp(&big_b));
            let state = RandomState::new();
            prop_assert_eq!(state.hash_one(&a), state.hash_one(&big_a));
            prop_assert_eq!(&a + &b, &big_a + &big_b);
            let mut sum = big_a.clone();
            sum += &b;
            sum += &a;
            prop_assert_eq!(sum, a.times(2) + &b);
            prop_assert_eq!(a.times(n), big_a.times(n));
            prop_assert_eq!(a.checked_sub(&b), big_a.checked_sub(&big_b));
            prop_assert_eq!(a.to_string(), big_a.to_string());
            prop_assert_eq!(a.text(), big_a.text());
            for round in [Round::Up, Round::Down] {
                prop_assert_eq!(a.mul(&b, round), big_a.mul(&big_b, round));
                prop_assert_eq!(a.div(&b, round), big_a.div(&big_b, round));
                prop_assert_eq!(a.pow(3, round), big_a.pow(3, round));
                prop_assert_eq!(a.rounded(round), big_a.rounded(round));
                prop_assert_eq!(a.to_f64(round), big_a.to_f64(round));
                prop_assert_eq!(a.exp(round), big_a.exp(round));
                prop_assert_eq!(a.ln(round), big_a.ln(round));
                prop_assert_eq!(a.ln_1p(round), big_a.ln_1p(round));
                prop_assert_eq!(a.neg_ln(round), big_a.neg_ln(round));
                prop_assert_eq!(a.sqrt(round), big_a.sqrt(round));
                prop_assert_eq!(a.tanh(round), big_a.tanh(round));
            }
        }
    }
}
