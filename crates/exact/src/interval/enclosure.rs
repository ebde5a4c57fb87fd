//! Closed intervals of [`Float`]s that are certain to hold the true value: every operation
//! rounds its lower end down and its upper end up. The working precision travels with the value.

use std::ops::{Add, Mul, Neg, Sub};

use crate::{Exact, Round};
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::float::Float;

/// An enclosure `[lo, hi]` computed with `bits` significant bits.
#[derive(Clone, Debug)]
pub struct Interval {
    /// At most the true value.
    pub lo: Float,
    /// At least the true value.
    pub hi: Float,
    /// The working precision of what is computed from it.
    pub bits: usize,
}

impl Interval {
    /// These ends, rounded outwards to `bits`.
    pub fn new(lo: Float, hi: Float, bits: usize) -> Interval {
        Interval {
            lo: lo.round(bits, Round::Down),
            hi: hi.round(bits, Round::Up),
            bits,
        }
    }

    /// One value, rounded outwards to `bits`.
    pub fn point(value: Float, bits: usize) -> Interval {
        Interval::new(value.clone(), value, bits)
    }

    /// An integer.
    pub fn int(value: impl Into<IBig>, bits: usize) -> Interval {
        Interval::point(Float::from_int(value), bits)
    }

    /// A rational number.
    pub fn rational(value: &RBig, bits: usize) -> Interval {
        let (lo, hi) = Float::around_rational(value, bits);
        Interval { lo, hi, bits }
    }

    /// A finite exact number; `None` for infinity.
    pub fn exact(value: &Exact, bits: usize) -> Option<Interval> {
        value
            .to_rational()
            .map(|value| Interval::rational(&value, bits))
    }

    /// The quotient; `None` unless the divisor is certainly not zero.
    pub fn div(&self, other: &Interval) -> Option<Interval> {
        let bits = self.bits.max(other.bits);
        if other.lo.is_negative() && other.hi.is_negative() {
            return (-self).div(&-other);
        }
        if !other.lo.is_positive() {
            return None;
        }
        let low_divisor = if self.lo.is_negative() {
            &other.lo
        } else {
            &other.hi
        };
        let high_divisor = if self.hi.is_negative() {
            &other.hi
        } else {
            &other.lo
        };
        Some(Interval {
            lo: self.lo.div(low_divisor, bits, Round::Down)?,
            hi: self.hi.div(high_divisor, bits, Round::Up)?,
            bits,
        })
    }

    /// The quotient by a positive integer.
    pub fn div_int(&self, divisor: u64) -> Interval {
        let divisor = Float::from_int(divisor.max(1));
        let part = |end: &Float, round| end.div(&divisor, self.bits, round).unwrap_or(Float::ZERO);
        Interval {
            lo: part(&self.lo, Round::Down),
            hi: part(&self.hi, Round::Up),
            bits: self.bits,
        }
    }

    /// The square root of the part at or above zero; `None` if all of it lies below.
    pub fn sqrt(&self) -> Option<Interval> {
        let lo = self.lo.clone().max(Float::ZERO);
        Some(Interval {
            lo: lo.sqrt(self.bits, Round::Down)?,
            hi: self.hi.sqrt(self.bits, Round::Up)?,
            bits: self.bits,
        })
    }

    /// Times a power of two.
    pub fn shifted(&self, by: i64) -> Interval {
        Interval {
            lo: self.lo.shifted(by),
            hi: self.hi.shifted(by),
            bits: self.bits,
        }
    }

    /// Widened by `margin` on both sides.
    pub fn widened(&self, margin: &Float) -> Interval {
        Interval {
            lo: self.lo.add(&margin.neg(), self.bits, Round::Down),
            hi: self.hi.add(margin, self.bits, Round::Up),
            bits: self.bits,
        }
    }

    /// The same enclosure, rounded outwards to `bits`.
    pub fn with_bits(&self, bits: usize) -> Interval {
        Interval::new(self.lo.clone(), self.hi.clone(), bits)
    }

    /// The smallest interval with both.
    pub fn hull(self, other: Interval) -> Interval {
        let bits = self.bits.max(other.bits);
        Interval {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            bits,
        }
    }

    /// The width is at most `2^-precision` of the value, or at most `2^-absolute`.
    pub fn is_narrow(&self, precision: i64, absolute: i64) -> bool {
        let width = self.hi.add(&self.lo.neg(), 32, Round::Up);
        let value = self.lo.magnitude().max(self.hi.magnitude());
        width.magnitude() <= (value - 1 - precision).max(-absolute)
    }

    /// The upper end, rounded up; zero if that is negative.
    pub fn upper(&self) -> Exact {
        self.hi.to_exact(Round::Up)
    }

    /// The lower end, rounded down; zero if that is negative.
    pub fn lower(&self) -> Exact {
        self.lo.to_exact(Round::Down)
    }
}

impl Add for &Interval {
    type Output = Interval;
    fn add(self, other: &Interval) -> Interval {
        let bits = self.bits.max(other.bits);
        Interval {
            lo: self.lo.add(&other.lo, bits, Round::Down),
            hi: self.hi.add(&other.hi, bits, Round::Up),
            bits,
        }
    }
}

impl Sub for &Interval {
    type Output = Interval;
    fn sub(self, other: &Interval) -> Interval {
        self + &-other
    }
}

impl Neg for &Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval {
            lo: self.hi.neg(),
            hi: self.lo.neg(),
            bits: self.bits,
        }
    }
}

impl Mul for &Interval {
    type Output = Interval;
    fn mul(self, other: &Interval) -> Interval {
        let bits = self.bits.max(other.bits);
        if !self.lo.is_negative() && !other.lo.is_negative() {
            return Interval {
                lo: self.lo.mul(&other.lo, bits, Round::Down),
                hi: self.hi.mul(&other.hi, bits, Round::Up),
                bits,
            };
        }
        let corners = [
            (&self.lo, &other.lo),
            (&self.lo, &other.hi),
            (&self.hi, &other.lo),
            (&self.hi, &other.hi),
        ];
        let product = |(a, b): (&Float, &Float)| Interval {
            lo: a.mul(b, bits, Round::Down),
            hi: a.mul(b, bits, Round::Up),
            bits,
        };
        let [first, rest @ ..] = corners.map(product);
        rest.into_iter().fold(first, Interval::hull)
    }
}

/// Raises the precision until the enclosure is narrow: relative width `2^-72`, or absolute
/// width `2^-1200`. `None` if `compute` never gets there within 2^12 bits.
pub fn refine(mut compute: impl FnMut(usize) -> Option<Interval>) -> Option<Interval> {
    let mut bits = 128;
    while bits <= 1 << 12 {
        if let Some(value) = compute(bits)
            && value.is_narrow(72, 1200)
        {
            return Some(value);
        }
        bits *= 2;
    }
    None
}
