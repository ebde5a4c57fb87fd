//! Comparison and hashing, by value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use dashu_int::UBig;

use crate::flat::lift;
use crate::repr::{Exact, Mantissa, five_to};

impl Exact {
    /// Both mantissas over the smaller exponents, which come last, where that fits in machine
    /// integers. Both numbers infinite gives zeros over infinity's exponents; one of them, `None`.
    #[inline]
    pub(crate) fn aligned_flat(&self, other: &Exact) -> Option<(u128, u128, i32, i32)> {
        if self.big.is_some() || other.big.is_some() {
            return None;
        }
        if self.two == other.two && self.five == other.five {
            return Some((self.mantissa, other.mantissa, self.two, self.five));
        }
        if self.is_infinite() || other.is_infinite() {
            return None;
        }
        let (two, five) = (self.two.min(other.two), self.five.min(other.five));
        let up = |x: &Exact| lift(x.mantissa, x.two.abs_diff(two), x.five.abs_diff(five));
        Some((up(self)?, up(other)?, two, five))
    }

    /// The same for any two finite numbers, in big integers.
    pub(crate) fn aligned_big(&self, other: &Exact) -> (UBig, UBig, i64, i64) {
        let (two, five) = (self.two.min(other.two), self.five.min(other.five));
        (
            self.lifted(two, five),
            other.lifted(two, five),
            two.into(),
            five.into(),
        )
    }

    /// The mantissa of a finite number over exponents that are not above its own.
    pub(crate) fn lifted(&self, two: i32, five: i32) -> UBig {
        let (twos, fives) = (self.two.abs_diff(two), self.five.abs_diff(five));
        match fives {
            0 => self.big_mantissa() << twos as usize,
            _ => (self.big_mantissa() * five_to(fives.into())) << twos as usize,
        }
    }

    /// Comparison of numbers that have no common form in machine integers.
    #[cold]
    fn cmp_big(&self, other: &Exact) -> Ordering {
        if self.is_infinite() || other.is_infinite() {
            return self.is_infinite().cmp(&other.is_infinite());
        }
        if self.is_zero() || other.is_zero() {
            return other.is_zero().cmp(&self.is_zero());
        }
        let ((low, high), (other_low, other_high)) = (self.log2_bounds(), other.log2_bounds());
        if low >= other_high {
            return Ordering::Greater;
        }
        if other_low >= high {
            return Ordering::Less;
        }
        let (left, right, _, _) = self.aligned_big(other);
        left.cmp(&right)
    }
}

impl Ord for Exact {
    #[inline]
    fn cmp(&self, other: &Exact) -> Ordering {
        match self.aligned_flat(other) {
            Some((left, right, _, _)) => left.cmp(&right),
            None => self.cmp_big(other),
        }
    }
}

impl PartialOrd for Exact {
    #[inline]
    fn partial_cmp(&self, other: &Exact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exact {
    #[inline]
    fn eq(&self, other: &Exact) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.is_infinite() || self.is_zero() {
            return self.is_zero().hash(state);
        }
        let (mantissa, two, five) = self.canonical();
        match mantissa {
            Mantissa::Flat(mantissa) => mantissa.hash(state),
            Mantissa::Big(mantissa) => mantissa.hash(state),
        }
        (two, five).hash(state);
    }
}
