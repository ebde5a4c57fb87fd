//! From and to integers, ratios, dashu rationals and `f64`.

use dashu_base::{BitTest, Signed, UnsignedAbs};
use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::Round;
use crate::directed::Grid;
use crate::error::{ExactError, excerpt};
use crate::leading::{Leading, SLACK};
use crate::repr::{Exact, MIN_FIVE, MIN_TWO, TOP, five_to, reduce};

impl Exact {
    /// `num / den`: exact if that has a finite decimal expansion, otherwise rounded up to 128
    /// significant bits.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// assert_eq!(Exact::ratio(3, 20)?, "0.15".parse()?);
    /// assert!(Exact::ratio(1, 3)?.times(3) > Exact::ONE);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn ratio(num: u128, den: u128) -> Result<Exact, ExactError> {
        Exact::ratio_rounded(num, den, Round::Up)
    }

    /// `num / den`: exact if that has a finite decimal expansion, otherwise rounded to 128
    /// significant bits.
    pub fn ratio_rounded(num: u128, den: u128, round: Round) -> Result<Exact, ExactError> {
        if den == 0 {
            return Err(ExactError::ZeroDenominator { numerator: num });
        }
        let ratio = RBig::from_parts(num.into(), den.into());
        Exact::from_rational(&ratio, round)
    }

    /// A dashu rational: exact if it is in range and has a finite decimal expansion, otherwise rounded
    /// to 128 significant bits. Negative numbers, and those past the top, are errors.
    pub fn from_rational(ratio: &RBig, round: Round) -> Result<Exact, ExactError> {
        if ratio.is_negative() {
            let input = excerpt(ratio);
            return Err(ExactError::Negative { input });
        }
        let out_of_range = || ExactError::OutOfRange {
            input: excerpt(ratio),
        };
        let numerator = ratio.numerator().unsigned_abs();
        let whole_bits = numerator.bit_len() as i64 - ratio.denominator().bit_len() as i64;
        if whole_bits > TOP {
            return Err(out_of_range());
        }
        let (rest, two, five) = reduce(ratio.denominator().clone(), 0, 0);
        let exact = if rest.is_one() && -two >= MIN_TWO && -five >= MIN_FIVE {
            Exact::from_big(numerator, -two, -five)
        } else {
            Exact::from_ratio(&numerator, ratio.denominator(), 0, round)
        };
        match exact.is_infinite() {
            true => Err(out_of_range()),
            false => Ok(exact),
        }
    }

    /// The same number as a dashu rational; `None` for infinity.
    pub fn to_rational(&self) -> Option<RBig> {
        if self.is_infinite() {
            return None;
        }
        let (numerator, denominator) = self.ratio_parts();
        Some(RBig::from_parts(numerator.into(), denominator))
    }

    /// Numerator and denominator of a finite number.
    pub(crate) fn ratio_parts(&self) -> (UBig, UBig) {
        let (mut numerator, mut denominator) = (self.big_mantissa(), UBig::ONE);
        if self.five >= 0 {
            numerator *= five_to(self.five.into());
        } else {
            denominator *= five_to(-i64::from(self.five));
        }
        if self.two >= 0 {
            numerator <<= self.two as usize;
        } else {
            denominator <<= self.two.unsigned_abs() as usize;
        }
        (numerator, denominator)
    }

    /// The nearest `f64` in the given direction. Past the largest `f64`, `Up` is infinity and `Down`
    /// is that largest one.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let tenth: Exact = "0.1".parse()?;
    /// assert_eq!(tenth.to_f64(Round::Up), 0.1); // the f64 closest to one tenth is above it
    /// assert!(tenth.to_f64(Round::Down) < 0.1);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn to_f64(&self, round: Round) -> f64 {
        if self.is_infinite() {
            return f64::INFINITY;
        }
        if self.is_zero() {
            return 0.0;
        }
        let (mantissa, two) = self.leading_f64(round).unwrap_or_else(|| {
            let (num, den) = self.ratio_parts();
            let (mantissa, two) = F64.round_ratio(&num, &den, 0, round);
            (u64::try_from(mantissa).unwrap_or(u64::MAX), two)
        });
        to_f64(mantissa, two, round)
    }

    /// Mantissa and exponent of the rounded `f64`, unless the leading bits leave them open.
    fn leading_f64(&self, round: Round) -> Option<(u64, i64)> {
        let leading = Leading::of(self);
        let drop = (128 - F64.bits).max(F64.min_two - leading.two);
        let drop = u32::try_from(drop).ok().filter(|drop| *drop < 128)?;
        let down = leading.bits >> drop;
        if !leading.exact && leading.bits.checked_add(SLACK)? >> drop != down {
            return None;
        }
        let more = !leading.exact || down << drop != leading.bits;
        let up = u64::from(more && round == Round::Up);
        Some((down as u64 + up, leading.two + i64::from(drop)))
    }
}

/// The grid of the `f64`.
const F64: Grid = Grid {
    bits: 53,
    min_two: -1074,
};

/// `mantissa · 2^two`, which is on the grid of the `f64` but may be past its end.
fn to_f64(mantissa: u64, two: i64, round: Round) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let length = i64::from(64 - mantissa.leading_zeros());
    let exponent = two + length - 1;
    if exponent > 1023 {
        return match round {
            Round::Up => f64::INFINITY,
            Round::Down => f64::MAX,
        };
    }
    // The significand without its leading bit, under the biased exponent; or all of a subnormal.
    let bits = match exponent >= -1022 {
        true => {
            let aligned = (u128::from(mantissa) << 53 >> length) as u64;
            (((exponent + 1023) as u64) << 52) + (aligned - (1 << 52))
        }
        false => mantissa << (two + 1074),
    };
    f64::from_bits(bits)
}

macro_rules! from_unsigned {
    ($($unsigned:ty),*) => {$(
        impl From<$unsigned> for Exact {
            fn from(n: $unsigned) -> Exact {
                Exact::flat(n.into(), 0, 0)
            }
        }
    )*};
}
from_unsigned!(u8, u16, u32, u64, u128);

macro_rules! from_signed {
    ($($signed:ty),*) => {$(
        impl TryFrom<$signed> for Exact {
            type Error = ExactError;
            fn try_from(n: $signed) -> Result<Exact, ExactError> {
                match u128::try_from(n) {
                    Ok(n) => Ok(Exact::from(n)),
                    Err(_) => Err(ExactError::Negative { input: n.to_string() }),
                }
            }
        }
    )*};
}
from_signed!(i32, i64);

impl TryFrom<f64> for Exact {
    type Error = ExactError;

    /// The exact binary value: `0.1_f64` is slightly more than one tenth. Minus zero is zero.
    fn try_from(x: f64) -> Result<Exact, ExactError> {
        if x.is_nan() {
            let input = x.to_string();
            return Err(ExactError::NotANumber { input });
        }
        if x < 0.0 {
            let input = x.to_string();
            return Err(ExactError::Negative { input });
        }
        if x.is_infinite() {
            return Ok(Exact::INFINITY);
        }
        let bits = x.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, u128::from(bits & ((1 << 52) - 1)));
        Ok(match (exponent, fraction) {
            (0, 0) => Exact::ZERO,
            (0, _) => Exact::flat(fraction, -1074, 0),
            _ => Exact::flat(fraction | 1 << 52, exponent - 1075, 0),
        })
    }
}
