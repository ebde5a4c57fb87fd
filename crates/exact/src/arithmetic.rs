//! The exact operations: sums, multiples and differences.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use dashu_int::UBig;

use crate::repr::Exact;

impl Exact {
    /// The exact sum.
    #[inline]
    fn plus(&self, other: &Exact) -> Exact {
        if let Some((left, right, two, five)) = self.aligned_flat(other)
            && let Some(sum) = left.checked_add(right)
        {
            return Exact::flat(sum, two, five);
        }
        self.plus_big(other)
    }

    #[cold]
    fn plus_big(&self, other: &Exact) -> Exact {
        if self.is_infinite() || other.is_infinite() {
            return Exact::INFINITY;
        }
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let (left, right, two, five) = self.aligned_big(other);
        Exact::from_big(left + right, two, five)
    }

    /// The exact sum of `n` copies; zero for `n = 0`, also of infinity.
    ///
    /// ```
    /// use exact::Exact;
    /// let tenth: Exact = "0.1".parse()?;
    /// assert_eq!(tenth.times(10_000), Exact::from(1000_u32));
    /// # Ok::<(), exact::ExactError>(())
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
        *self = self.plus(other);
    }
}

impl AddAssign for Exact {
    #[inline]
    fn add_assign(&mut self, other: Exact) {
        *self = self.plus(&other);
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
