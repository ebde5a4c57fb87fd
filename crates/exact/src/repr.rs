//! How a number is held: `mantissa · 2^two · 5^five` in machine integers, with a dashu integer in
//! place of the mantissa where 128 bits do not suffice. One value may have many such forms;
//! comparison, hashing and rounding depend on the value only.

use std::sync::Arc;

use dashu_base::BitTest;
use dashu_int::UBig;

/// Finite values are below `2^TOP`.
pub(crate) const TOP: i64 = 16_384;
/// The smallest exponent of two.
pub(crate) const MIN_TWO: i64 = -16_384;
/// The smallest exponent of five.
pub(crate) const MIN_FIVE: i64 = -4_096;
/// Flat values have exponents up to these two, which keeps sums of flat values below `2^TOP`.
const FLAT_TWO: i64 = 4_096;
const FLAT_FIVE: i64 = 1_024;
/// The exponent of two that marks infinity.
const INFINITE: i32 = i32::MAX;

/// A non-negative rational whose denominator is `2^i · 5^j`, or infinity.
///
/// Every decimal and every finite `f64` is such a number. Addition and subtraction are exact; every
/// other operation states its direction with a [`Round`](crate::Round).
///
/// ```
/// use exact::Exact;
/// let spent: Exact = (0..10_000).map(|_| "0.1".parse::<Exact>().unwrap()).sum();
/// assert_eq!(spent, Exact::from(1000_u32));
/// ```
#[derive(Clone)]
pub struct Exact {
    /// Zero for infinity, and when `big` is there.
    pub(crate) mantissa: u128,
    pub(crate) two: i32,
    pub(crate) five: i32,
    pub(crate) big: Option<Arc<UBig>>,
}

impl Exact {
    /// Zero.
    pub const ZERO: Exact = Exact::flat(0, 0, 0);
    /// One.
    pub const ONE: Exact = Exact::flat(1, 0, 0);
    /// Infinity: as a loss, "no guarantee".
    pub const INFINITY: Exact = Exact::flat(0, INFINITE, 0);

    /// Is this zero?
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0 && self.big.is_none() && self.two != INFINITE
    }

    /// Is this infinity?
    pub fn is_infinite(&self) -> bool {
        self.two == INFINITE
    }

    /// Is this a finite number?
    pub fn is_finite(&self) -> bool {
        !self.is_infinite()
    }

    pub(crate) const fn flat(mantissa: u128, two: i32, five: i32) -> Exact {
        Exact {
            mantissa,
            two,
            five,
            big: None,
        }
    }

    /// The mantissa of a finite number as a big integer.
    pub(crate) fn big_mantissa(&self) -> UBig {
        match &self.big {
            Some(big) => UBig::clone(big),
            None => UBig::from(self.mantissa),
        }
    }

    /// The canonical form of a finite number: a mantissa prime to ten (or zero), and exponents.
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
        match u128::try_from(&mantissa) {
            Ok(mantissa) if two <= FLAT_TWO && five <= FLAT_FIVE => {
                Exact::flat(mantissa, two as i32, five as i32)
            }
            _ => Exact {
                mantissa: 0,
                two: two as i32,
                five: five as i32,
                big: Some(Arc::new(mantissa)),
            },
        }
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
    UBig::from(5u8).pow(exponent as usize)
}

/// Moves all factors two and five from the mantissa to the exponents.
pub(crate) fn reduce(mut mantissa: UBig, two: i64, five: i64) -> (UBig, i64, i64) {
    let Some(twos) = mantissa.trailing_zeros() else {
        return (UBig::ZERO, 0, 0);
    };
    mantissa >>= twos;
    let fives = mantissa.remove_word(5).unwrap_or(0);
    (mantissa, two + twos as i64, five + fives as i64)
}

/// Is `mantissa · 2^two · 5^five` at least `2^TOP`?
fn reaches_top(mantissa: &UBig, two: i64, five: i64) -> bool {
    let bits = mantissa.bit_len() as i64 + two;
    // 2^(7/3) > 5 > 2^2, so these bound the position of the leading bit.
    let (low, high) = if five >= 0 {
        (bits - 1 + 2 * five, bits + 7 * five / 3 + 1)
    } else {
        (bits - 1 + 7 * five / 3 - 1, bits + 2 * five)
    };
    if high <= TOP {
        return false;
    }
    if low >= TOP {
        return true;
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
