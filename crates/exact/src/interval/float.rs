//! Binary floating-point numbers of any precision, rounded in a stated direction.
//! A value is `mantissa · 2^exponent`; products and sums are exact until rounded.
//! Relies on dashu's integers only.

use std::cmp::Ordering;

use crate::{Exact, Round};
use dashu_int::IBig;
use dashu_int::ops::{BitTest, DivRemEuclid, SquareRoot, UnsignedAbs};
use dashu_ratio::RBig;

/// `mantissa · 2^exponent`. Not normalised: compare with [`Float::cmp_value`], never by fields.
#[derive(Clone, Debug)]
pub struct Float {
    mantissa: IBig,
    exponent: i64,
}

impl Float {
    /// Zero.
    pub const ZERO: Float = Float {
        mantissa: IBig::ZERO,
        exponent: 0,
    };

    /// `mantissa · 2^exponent`.
    pub fn new(mantissa: IBig, exponent: i64) -> Float {
        if mantissa.is_zero() {
            Float::ZERO
        } else {
            Float { mantissa, exponent }
        }
    }

    /// One.
    pub fn one() -> Float {
        Float::from_int(1u8)
    }

    /// An integer.
    pub fn from_int(value: impl Into<IBig>) -> Float {
        Float::new(value.into(), 0)
    }

    /// `2^exponent`.
    pub fn power_of_two(exponent: i64) -> Float {
        Float::new(IBig::ONE, exponent)
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    /// Is it above zero?
    pub fn is_positive(&self) -> bool {
        self.mantissa > IBig::ZERO
    }

    /// Is it below zero?
    pub fn is_negative(&self) -> bool {
        self.mantissa < IBig::ZERO
    }

    /// The least `n` with `|self| < 2^n`; very negative for zero.
    pub fn magnitude(&self) -> i64 {
        if self.is_zero() {
            return i64::MIN / 4;
        }
        bit_length(&self.mantissa) + self.exponent
    }

    /// Rounded to at most `bits` significant bits.
    pub fn round(self, bits: usize, round: Round) -> Float {
        let excess = bit_length(&self.mantissa) - bits as i64;
        if excess <= 0 {
            return self;
        }
        let mantissa = shift_right(self.mantissa, excess as usize, round);
        Float::new(mantissa, self.exponent + excess)
    }

    /// The sum, rounded to `bits` significant bits.
    pub fn add(&self, other: &Float, bits: usize, round: Round) -> Float {
        if self.is_zero() {
            return other.clone().round(bits, round);
        }
        if other.is_zero() {
            return self.clone().round(bits, round);
        }
        let (large, small) = if self.magnitude() >= other.magnitude() {
            (self, other)
        } else {
            (other, self)
        };
        // A summand far below the last place only decides the direction of rounding.
        let floor = large.magnitude() - 2 * bits as i64 - bit_length(&large.mantissa) - 8;
        if small.magnitude() < floor {
            let nudge = Float::new(small.mantissa.signum(), floor);
            return exact_sum(large, &nudge).round(bits, round);
        }
        exact_sum(large, small).round(bits, round)
    }

    /// Its negative, exactly.
    pub fn neg(&self) -> Float {
        Float::new(-&self.mantissa, self.exponent)
    }

    /// The product, rounded to `bits` significant bits.
    pub fn mul(&self, other: &Float, bits: usize, round: Round) -> Float {
        Float::new(
            &self.mantissa * &other.mantissa,
            self.exponent + other.exponent,
        )
        .round(bits, round)
    }

    /// The quotient; `None` if `other` is zero.
    pub fn div(&self, other: &Float, bits: usize, round: Round) -> Option<Float> {
        if other.is_zero() {
            return None;
        }
        let shift =
            (bits as i64 + 1 + bit_length(&other.mantissa) - bit_length(&self.mantissa)).max(0);
        let mut numerator = self.mantissa.clone() << shift as usize;
        let mut denominator = other.mantissa.clone();
        if denominator < IBig::ZERO {
            numerator = -numerator;
            denominator = -denominator;
        }
        let quotient = divide(numerator, denominator, round);
        Some(Float::new(quotient, self.exponent - other.exponent - shift).round(bits, round))
    }

    /// Times `numerator/denominator`, rounded down; for a value at or above zero.
    pub fn times_ratio(&self, numerator: u64, denominator: u64, bits: usize) -> Float {
        // The divisor takes away at most 64 bits.
        let shift = 64 + (bits as i64 - bit_length(&self.mantissa)).max(0);
        let scaled = (&self.mantissa * numerator) << shift as usize;
        let quotient = scaled / denominator.max(1);
        Float::new(quotient, self.exponent - shift).round(bits, Round::Down)
    }

    /// The square root; `None` below zero.
    pub fn sqrt(&self, bits: usize, round: Round) -> Option<Float> {
        if self.is_negative() {
            return None;
        }
        let mut shift = (2 * bits as i64 + 2 - bit_length(&self.mantissa)).max(0);
        if (self.exponent - shift) % 2 != 0 {
            shift += 1;
        }
        let radicand = (self.mantissa.clone() << shift as usize).unsigned_abs();
        let root = radicand.sqrt();
        let exact = &root * &root == radicand;
        let root = IBig::from(root);
        let root = if exact || round == Round::Down {
            root
        } else {
            root + IBig::ONE
        };
        Some(Float::new(root, (self.exponent - shift) / 2).round(bits, round))
    }

    /// Times a power of two, exactly.
    pub fn shifted(&self, by: i64) -> Float {
        Float::new(self.mantissa.clone(), self.exponent + by)
    }

    /// Times `2^places`, rounded to an integer.
    pub fn scaled(&self, places: i64, round: Round) -> IBig {
        let shift = self.exponent + places;
        if shift >= 0 {
            return &self.mantissa << shift as usize;
        }
        shift_right(self.mantissa.clone(), shift.unsigned_abs() as usize, round)
    }

    /// Compares the values.
    pub fn cmp_value(&self, other: &Float) -> Ordering {
        let sign = self.mantissa.signum().cmp(&other.mantissa.signum());
        if sign != Ordering::Equal || self.is_zero() {
            return sign;
        }
        let magnitude = self.magnitude().cmp(&other.magnitude());
        if magnitude != Ordering::Equal {
            return if self.is_positive() {
                magnitude
            } else {
                magnitude.reverse()
            };
        }
        exact_sum(self, &other.neg()).mantissa.cmp(&IBig::ZERO)
    }

    /// Is this value at most the other?
    pub fn at_most(&self, other: &Float) -> bool {
        self.cmp_value(other) != Ordering::Greater
    }

    /// The smaller of the two.
    pub fn min(self, other: Float) -> Float {
        if self.at_most(&other) { self } else { other }
    }

    /// The larger of the two.
    pub fn max(self, other: Float) -> Float {
        if self.at_most(&other) { other } else { self }
    }

    /// A rational number, rounded.
    pub fn from_rational(value: &RBig, bits: usize, round: Round) -> Float {
        let (down, up) = Float::around_rational(value, bits);
        match round {
            Round::Down => down,
            Round::Up => up,
        }
    }

    /// A rational number, rounded down and up.
    pub(super) fn around_rational(value: &RBig, bits: usize) -> (Float, Float) {
        let (numerator, denominator) = (value.numerator(), value.denominator());
        let shift = bits as i64 + 1 + denominator.bit_len() as i64 - bit_length(numerator);
        let shift = shift.max(0);
        let (floor, rest) = (numerator << shift as usize).div_rem_euclid(denominator.as_ibig());
        let up = match rest.is_zero() {
            true => floor.clone(),
            false => &floor + IBig::ONE,
        };
        let end = |end, round| Float::new(end, -shift).round(bits, round);
        (end(floor, Round::Down), end(up, Round::Up))
    }

    /// The value as a rational.
    pub fn to_rational(&self) -> RBig {
        let mantissa = RBig::from(self.mantissa.clone());
        let scale = RBig::from(IBig::ONE << self.exponent.unsigned_abs() as usize);
        if self.exponent >= 0 {
            mantissa * scale
        } else {
            mantissa / scale
        }
    }

    /// As an [`Exact`] number of at most 128 significant bits; values below zero become zero
    /// (so round up only what is known not to be negative, or what zero bounds as well).
    pub fn to_exact(&self, round: Round) -> Exact {
        if !self.is_positive() {
            return Exact::ZERO;
        }
        // Far outside of every sensible range the rational would need gigabytes.
        let value = match (self.magnitude(), round) {
            (EXTREME.., Round::Up) => return Exact::INFINITY,
            (EXTREME.., Round::Down) => Float::power_of_two(EXTREME - 1),
            (..=TINY, Round::Down) => return Exact::ZERO,
            (..=TINY, Round::Up) => Float::power_of_two(TINY),
            _ => self.clone().round(128, round),
        };
        Exact::from_rational(&value.to_rational(), round).unwrap_or(Exact::INFINITY)
    }

    /// The nearest `f64`, roughly: for starting points and estimates only.
    pub fn approximate(&self) -> f64 {
        let top = self.clone().round(60, Round::Down);
        let exponent = top.exponent.clamp(-4000, 4000) as i32;
        let half = exponent / 2;
        top.mantissa.to_f64().value() * 2f64.powi(half) * 2f64.powi(exponent - half)
    }
}

/// Exponents past this are treated as zero or infinity when a value leaves this module.
const EXTREME: i64 = 1 << 13;
const TINY: i64 = -EXTREME;

fn bit_length(value: &IBig) -> i64 {
    value.bit_len() as i64
}

fn exact_sum(a: &Float, b: &Float) -> Float {
    let exponent = a.exponent.min(b.exponent);
    let a_mantissa = &a.mantissa << (a.exponent - exponent) as usize;
    let b_mantissa = &b.mantissa << (b.exponent - exponent) as usize;
    Float::new(a_mantissa + b_mantissa, exponent)
}

fn shift_right(mantissa: IBig, by: usize, round: Round) -> IBig {
    match round {
        Round::Down => mantissa >> by,
        Round::Up => -((-mantissa) >> by),
    }
}

/// Quotient by a positive denominator, rounded towards the stated side.
fn divide(numerator: IBig, denominator: IBig, round: Round) -> IBig {
    let (floor, remainder) = numerator.div_rem_euclid(denominator);
    if round == Round::Up && !remainder.is_zero() {
        floor + IBig::ONE
    } else {
        floor
    }
}
