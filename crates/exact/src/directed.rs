//! The operations that may round: products, quotients, parts, powers, and rounding itself.

use dashu_base::{BitTest, DivRem};
use dashu_int::UBig;

use crate::Round;
use crate::flat::wide_mul;
use crate::repr::{Exact, MIN_FIVE, MIN_TWO, Mantissa, TOP, five_to};

/// Rounded results have this many significant bits.
const BITS: i64 = 128;

/// How many significant bits a dyadic result may have, and its smallest exponent of two.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) bits: i64,
    pub(crate) min_two: i64,
}

const GRID: Grid = Grid {
    bits: BITS,
    min_two: MIN_TWO,
};

impl Grid {
    /// `mantissa · 2^two` rounded to this grid. `more` says that the true value is larger, by less
    /// than one unit of the mantissa; the mantissa then has more bits than the grid.
    fn round(self, mantissa: UBig, two: i64, more: bool, round: Round) -> (UBig, i64) {
        let surplus = mantissa.bit_len() as i64 - self.bits;
        let drop = surplus.max(self.min_two - two).max(0);
        let lost = mantissa
            .trailing_zeros()
            .is_some_and(|zeros| (zeros as i64) < drop);
        let mut mantissa = mantissa >> drop as usize;
        if round == Round::Up && (more || lost) {
            mantissa += UBig::ONE;
        }
        (mantissa, two + drop)
    }

    /// `num / den · 2^two`, for positive numbers, rounded to this grid.
    pub(crate) fn round_ratio(self, num: &UBig, den: &UBig, two: i64, round: Round) -> (UBig, i64) {
        let shift = self.bits + 1 + den.bit_len() as i64 - num.bit_len() as i64;
        let (quotient, rest) = match shift >= 0 {
            true => (num << shift as usize).div_rem(den),
            false => num.div_rem(&(den << -shift as usize)),
        };
        self.round(quotient, two - shift, !rest.is_zero(), round)
    }
}

impl Exact {
    /// `num / den · 2^two`, rounded to 128 significant bits.
    pub(crate) fn from_ratio(num: &UBig, den: &UBig, two: i64, round: Round) -> Exact {
        if num.is_zero() {
            return Exact::ZERO;
        }
        let (mantissa, two) = GRID.round_ratio(num, den, two, round);
        Exact::from_big(mantissa, two, 0).or_largest(round)
    }

    /// `mantissa · 2^two`, rounded only where that is below or above the range.
    #[inline]
    pub(crate) fn from_dyadic(mantissa: u128, two: i64, round: Round) -> Exact {
        if mantissa == 0 {
            return Exact::ZERO;
        }
        Exact::try_flat(mantissa, two, 0).unwrap_or_else(|| {
            let (mantissa, two) = GRID.round(UBig::from(mantissa), two, false, round);
            Exact::from_big(mantissa, two, 0).or_largest(round)
        })
    }

    /// A finite result that passed the top: infinity rounded up, the largest number rounded down.
    fn or_largest(self, round: Round) -> Exact {
        match self.is_infinite() && round == Round::Down {
            true => Exact::from_big(UBig::from(u128::MAX), TOP - BITS, 0),
            false => self,
        }
    }

    /// The product: exact where its mantissa (the numerator without factors two and five) has at most
    /// 128 bits and where one factor is 1, otherwise rounded to 128 significant bits. Zero times infinity is zero.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let (a, b): (Exact, Exact) = ("0.1".parse()?, "0.25".parse()?);
    /// assert_eq!(a.mul(&b, Round::Up), "0.025".parse()?);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn mul(&self, other: &Exact, round: Round) -> Exact {
        if self.is_zero() || other.is_zero() {
            return Exact::ZERO;
        }
        if self.is_infinite() || other.is_infinite() {
            return Exact::INFINITY;
        }
        let (two, five) = (
            i64::from(self.two) + i64::from(other.two),
            i64::from(self.five) + i64::from(other.five),
        );
        if self.big.is_none()
            && other.big.is_none()
            && let Some(product) = self.mantissa.checked_mul(other.mantissa)
            && let Some(exact) = Exact::try_flat(product, two, five)
        {
            return exact;
        }
        self.mul_wide(other, round)
    }

    /// A product whose mantissa may need more than 128 bits.
    fn mul_wide(&self, other: &Exact, round: Round) -> Exact {
        if *other == Exact::ONE {
            return self.clone();
        }
        if *self == Exact::ONE {
            return other.clone();
        }
        if let (Mantissa::Flat(a), a_two, 0) = self.canonical()
            && let (Mantissa::Flat(b), b_two, 0) = other.canonical()
        {
            // Odd and prime to five, the product is exact only if the upper half is zero.
            let (high, low) = wide_mul(a, b);
            let zeros = high.leading_zeros();
            let mantissa = match zeros {
                0 => high,
                _ => high.unbounded_shl(zeros) | low >> (128 - zeros),
            };
            let up = u128::from(round == Round::Up);
            if high > 0
                && let Some(mantissa) = mantissa.checked_add(up)
            {
                let two = a_two + b_two + 128 - i64::from(zeros);
                return Exact::from_dyadic(mantissa, two, round);
            }
        }
        let ((a, a_two, a_five), (b, b_two, b_five)) = (self.reduced(), other.reduced());
        exact_or_rounded(a * b, UBig::ONE, a_two + b_two, a_five + b_five, round)
    }

    /// The quotient: exact where it has a finite decimal expansion whose mantissa has at most 128
    /// bits, otherwise rounded to 128 significant bits.
    ///
    /// `x/0` is infinity for `x > 0`, `0/0` is 0, `x/inf` is 0 for finite `x`, and `inf/inf` is
    /// infinity rounded up and 0 rounded down.
    pub fn div(&self, other: &Exact, round: Round) -> Exact {
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) if round == Round::Up => return Exact::INFINITY,
            (_, true) => return Exact::ZERO,
            (true, false) => return Exact::INFINITY,
            (false, false) => {}
        }
        if self.is_zero() {
            return Exact::ZERO;
        }
        if other.is_zero() {
            return Exact::INFINITY;
        }
        let ((a, a_two, a_five), (b, b_two, b_five)) = (self.reduced(), other.reduced());
        let (quotient, rest) = (&a).div_rem(&b);
        let (num, den) = match rest.is_zero() {
            true => (quotient, UBig::ONE),
            false => (a, b),
        };
        exact_or_rounded(num, den, a_two - b_two, a_five - b_five, round)
    }

    /// `1/x`, as [`div`](Exact::div) gives it: infinity for 0, and 0 for infinity.
    pub fn recip(&self, round: Round) -> Exact {
        Exact::ONE.div(self, round)
    }

    /// The `n`-th power, by repeated [`mul`](Exact::mul); one for `n = 0`. Exact where the products
    /// are, otherwise with a relative excess of at most `n · 2^-126`.
    pub fn pow(&self, n: u32, round: Round) -> Exact {
        let (mut power, mut square, mut rest) = (Exact::ONE, self.clone(), n);
        loop {
            if rest & 1 == 1 {
                power = power.mul(&square, round);
            }
            rest >>= 1;
            if rest == 0 {
                return power;
            }
            square = square.mul(&square, round);
        }
    }

    /// One of `n` equal parts: `n` of them add up to this number or less. Exact where
    /// [`div`](Exact::div) is, otherwise rounded down to 128 significant bits: all parts together lose
    /// less than a relative `2^-127` (and `n · 2^-16384`, at the very bottom). One part is the number
    /// itself; for `n = 0` there are no parts, and zero is returned.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// let third = Exact::ONE.split(3);
    /// assert!(third.times(3) < Exact::ONE); // a third that entered as a ratio is rounded up
    /// assert!(Exact::ratio(1, 3)?.times(3) > Exact::ONE);
    /// assert_eq!(Exact::ONE.split(10).to_string(), "0.1");
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn split(&self, n: u64) -> Exact {
        match n {
            0 => Exact::ZERO,
            1 => self.clone(),
            _ => self.div(&Exact::from(n), Round::Down),
        }
    }

    /// The least integer that is not below this number: exact. Infinity stays infinity, and what is
    /// less than one below the top becomes it.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// assert_eq!("0.5".parse::<Exact>()?.ceil(), Exact::ONE);
    /// assert_eq!(Exact::from(3u32).ceil(), Exact::from(3u32));
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn ceil(&self) -> Exact {
        if self.is_infinite() || self.two >= 0 && self.five >= 0 {
            return self.clone();
        }
        Exact::from_big(self.over_power_of_ten(0, Round::Up), 0, 0)
    }

    /// This number as a multiple of a power of two with at most 128 significant bits, to shrink
    /// intermediate results.
    pub fn rounded(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::INFINITY;
        }
        if self.big.is_none() && self.five == 0 {
            return self.clone();
        }
        let (num, den) = self.ratio_parts();
        Exact::from_ratio(&num, &den, 0, round)
    }
}

/// `num / den · 2^two · 5^five` in lowest terms: exact where `den` is one, `num` has at most 128 bits
/// and the exponents are in range, otherwise rounded to 128 significant bits.
fn exact_or_rounded(num: UBig, den: UBig, two: i64, five: i64, round: Round) -> Exact {
    if den.is_one() && num.bit_len() as i64 <= BITS && two >= MIN_TWO && five >= MIN_FIVE {
        return Exact::from_big(num, two, five).or_largest(round);
    }
    match five >= 0 {
        true => Exact::from_ratio(&(num * five_to(five)), &den, two, round),
        false => Exact::from_ratio(&num, &(den * five_to(-five)), two, round),
    }
}
