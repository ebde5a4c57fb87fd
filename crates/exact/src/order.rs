//! Comparison and hashing, by value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use dashu_int::UBig;

use crate::flat::lift;
use crate::repr::{Exact, Mantissa, five_to};

/// Numbers whose rough logarithms are so far apart are in the same order.
const FAR: i64 = (1 << 20) + (1 << 12);

impl Exact {
    /// Both mantissas over the smaller exponents, which come last, where that fits in machine
    /// integers. Both numbers infinite gives zeros over infinity's exponents; one of them, `None`.
    // Every launch adds and compares.
    #[inline(always)]
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

    /// `2^20` times the logarithm to base two, roughly, of a positive number in machine integers: at most `2^11` too much,
    /// and less than `2^20 + 2^11` too little.
    ///
    /// The mantissa is between `2^k` and `2^(k+1)`, of which this takes the former. `FIVE` is within 1/2 of `2^20` times the
    /// logarithm of five, and no exponent of five is beyond `2^12`.
    #[inline(always)]
    fn rough_log2(&self) -> i64 {
        const FIVE: i64 = 2_434_718;
        let k = 127 - i64::from(self.mantissa.leading_zeros());
        ((k + i64::from(self.two)) << 20) + FIVE * i64::from(self.five)
    }

    #[inline(never)]
    fn cmp_exactly(&self, other: &Exact) -> Ordering {
        match self.aligned_flat(other) {
            Some((left, right, _, _)) => left.cmp(&right),
            None => self.cmp_big(other),
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
        let (two, five) = (self.two.min(other.two), self.five.min(other.five));
        let aligned = |x: &Exact| x.lifted_wide(two, five);
        if let (Some(left), Some(right)) = (aligned(self), aligned(other)) {
            return left.compare(&right);
        }
        let (left, right, _, _) = self.aligned_big(other);
        left.cmp(&right)
    }
}

impl Ord for Exact {
    #[inline]
    fn cmp(&self, other: &Exact) -> Ordering {
        // Neither is zero, infinite or long; mostly one is more than twice the other.
        if self.mantissa != 0 && other.mantissa != 0 {
            if self.two == other.two && self.five == other.five {
                return self.mantissa.cmp(&other.mantissa);
            }
            let difference = self.rough_log2() - other.rough_log2();
            if difference.abs() >= FAR {
                return difference.cmp(&0);
            }
        }
        self.cmp_exactly(other)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repr::{FLAT_FIVE, MIN_FIVE};

    /// Numbers that are as close to one another as rough logarithms can tell, for every exponent of five: what they tell is
    /// so. The other number has the powers of five that are worst.
    #[test]
    fn rough_logarithms_are_right_about_all_exponents() {
        let mantissas = [(1, u128::MAX), (u128::MAX, 1), ((1 << 64) - 1, 1 << 64)];
        let mut told = 0;
        for five in MIN_FIVE..=FLAT_FIVE {
            for other_five in [MIN_FIVE, 0, FLAT_FIVE] {
                for (mantissa, other_mantissa) in mantissas {
                    let one = Exact::flat(mantissa, -4_000, five as i32);
                    let other = Exact::flat(other_mantissa, 0, other_five as i32);
                    let apart = one.rough_log2() - other.rough_log2();
                    for two in [(apart - FAR) >> 20, ((apart + FAR) >> 20) + 1] {
                        let other = Exact::flat(other_mantissa, two as i32, other_five as i32);
                        let apart = one.rough_log2() - other.rough_log2();
                        assert!((FAR..FAR + (1 << 20)).contains(&apart.abs()));
                        assert_eq!(one.cmp_exactly(&other), apart.cmp(&0), "{one:?} {other:?}");
                        told += 1;
                    }
                }
            }
        }
        assert_eq!(told, 5_121 * 3 * 3 * 2);
    }
}
