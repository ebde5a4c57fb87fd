//! The exact operations: sums, multiples and differences.

use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::sync::Arc;

use dashu_int::UBig;

use crate::repr::{Big, Exact, TOP};

impl Exact {
    /// The exact sum.
    #[inline]
    fn plus(&self, other: &Exact) -> Exact {
        match self.plus_flat(other) {
            Some((sum, two, five)) => Exact::flat(sum, two, five),
            None => self.plus_big(other),
        }
    }

    /// Mantissa and exponents of the sum, where machine integers suffice.
    #[inline(always)]
    pub(crate) fn plus_flat(&self, other: &Exact) -> Option<(u128, i32, i32)> {
        let (left, right, two, five) = self.aligned_flat(other)?;
        Some((left.checked_add(right)?, two, five))
    }

    #[cold]
    pub(crate) fn plus_big(&self, other: &Exact) -> Exact {
        if self.is_infinite() || other.is_infinite() {
            return Exact::INFINITY;
        }
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        if let Some(sum) = self.plus_wide(other) {
            return sum;
        }
        let (left, right, two, five) = self.aligned_big(other);
        Exact::from_big(left + right, two, five)
    }

    /// Adds to a big mantissa that nobody else holds, without a new one. Returns false, and does
    /// nothing, where the sum needs smaller exponents, could reach the top, or is not so held.
    fn add_in_place(&mut self, other: &Exact) -> bool {
        if other.is_infinite() || other.two < self.two || other.five < self.five {
            return false;
        }
        let bounds = (self.log2_bounds().1, other.log2_bounds().1);
        let Some(big) = self.big.as_mut().and_then(Arc::get_mut) else {
            return false;
        };
        if bounds.0.max(bounds.1) >= TOP {
            return false;
        }
        match big {
            Big::Huge(big) => *big += other.lifted(self.two, self.five),
            Big::Wide(wide) => {
                let Some(mut sum) = other.lifted_wide(self.two, self.five) else {
                    return false;
                };
                if !sum.add(wide) {
                    return false;
                }
                *wide = sum;
            }
        }
        true
    }

    /// The exact sum of `n` copies; zero for `n = 0`, also of infinity.
    ///
    /// ```
    /// use odometry::exact::Exact;
    /// let tenth: Exact = "0.1".parse()?;
    /// assert_eq!(tenth.times(10_000), Exact::from(1000_u32));
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn times(&self, n: u64) -> Exact {
        if n == 0 {
            return Exact::ZERO;
        }
        if self.is_infinite() {
            return Exact::INFINITY;
        }
        if self.big.is_none()
            && let Some(product) = self.mantissa.checked_mul(n.into())
        {
            return Exact::flat(product, self.two, self.five);
        }
        let product = self.big_mantissa() * UBig::from(n);
        Exact::from_big(product, self.two.into(), self.five.into())
    }

    /// The exact difference; `None` if it would be negative, and for infinity less infinity.
    pub fn checked_sub(&self, other: &Exact) -> Option<Exact> {
        if other.is_infinite() {
            return None;
        }
        if self.is_infinite() {
            return Some(Exact::INFINITY);
        }
        if let Some((left, right, two, five)) = self.aligned_flat(other) {
            let difference = left.checked_sub(right)?;
            return Some(match difference {
                0 => Exact::ZERO,
                _ => Exact::flat(difference, two, five),
            });
        }
        let (left, right, two, five) = self.aligned_big(other);
        (left >= right).then(|| Exact::from_big(left - right, two, five))
    }

    /// The exact difference, or zero where it would be negative. Infinity less a finite number is
    /// infinity; infinity less infinity is zero.
    pub fn saturating_sub(&self, other: &Exact) -> Exact {
        self.checked_sub(other).unwrap_or(Exact::ZERO)
    }
}

impl Add<&Exact> for &Exact {
    type Output = Exact;
    #[inline]
    fn add(self, other: &Exact) -> Exact {
        self.plus(other)
    }
}

impl Add<Exact> for &Exact {
    type Output = Exact;
    #[inline]
    fn add(self, other: Exact) -> Exact {
        self.plus(&other)
    }
}

impl Add<&Exact> for Exact {
    type Output = Exact;
    #[inline]
    fn add(self, other: &Exact) -> Exact {
        self.plus(other)
    }
}

impl Add for Exact {
    type Output = Exact;
    #[inline]
    fn add(self, other: Exact) -> Exact {
        self.plus(&other)
    }
}

impl AddAssign<&Exact> for Exact {
    #[inline]
    fn add_assign(&mut self, other: &Exact) {
        match self.plus_flat(other) {
            // In place: nothing to drop.
            Some((sum, two, five)) => (self.mantissa, self.two, self.five) = (sum, two, five),
            None if self.add_in_place(other) => {}
            None => *self = self.plus_big(other),
        }
    }
}

impl AddAssign for Exact {
    #[inline]
    fn add_assign(&mut self, other: Exact) {
        *self += &other;
    }
}

impl Sum for Exact {
    fn sum<I: Iterator<Item = Exact>>(summands: I) -> Exact {
        summands.fold(Exact::ZERO, |sum, x| sum + x)
    }
}

impl<'a> Sum<&'a Exact> for Exact {
    fn sum<I: Iterator<Item = &'a Exact>>(summands: I) -> Exact {
        summands.fold(Exact::ZERO, |sum, x| sum + x)
    }
}
