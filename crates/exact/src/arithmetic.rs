//! The exact operations: sums, multiples and differences.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use dashu_int::UBig;

use crate::repr::Exact;

impl Exact {
    /// The exact sum.
    fn plus(&self, other: &Exact) -> Exact {
        if self.is_infinite() || other.is_infinite() {
            return Exact::INFINITY;
        }
        let (left, right, two, five) = self.aligned(other);
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
        let product = self.big_mantissa() * UBig::from(n);
        Exact::from_big(product, self.two.into(), self.five.into())
    }

    /// The exact difference; `None` if it would be negative, and for infinity less infinity.
    pub fn checked_sub(&self, other: &Exact) -> Option<Exact> {
        match (self.is_infinite(), other.is_infinite()) {
            (_, true) => None,
            (true, false) => Some(Exact::INFINITY),
            (false, false) => {
                let (left, right, two, five) = self.aligned(other);
                (left >= right).then(|| Exact::from_big(left - right, two, five))
            }
        }
    }

    /// The exact difference, or zero where it would be negative. Infinity less a finite number is
    /// infinity; infinity less infinity is zero.
    pub fn saturating_sub(&self, other: &Exact) -> Exact {
        self.checked_sub(other).unwrap_or(Exact::ZERO)
    }
}

impl Add<&Exact> for &Exact {
    type Output = Exact;
    fn add(self, other: &Exact) -> Exact {
        self.plus(other)
    }
}

impl Add<Exact> for &Exact {
    type Output = Exact;
    fn add(self, other: Exact) -> Exact {
        self.plus(&other)
    }
}

impl Add<&Exact> for Exact {
    type Output = Exact;
    fn add(self, other: &Exact) -> Exact {
        self.plus(other)
    }
}

impl Add for Exact {
    type Output = Exact;
    fn add(self, other: Exact) -> Exact {
        self.plus(&other)
    }
}

impl AddAssign<&Exact> for Exact {
    fn add_assign(&mut self, other: &Exact) {
        *self = self.plus(other);
    }
}

impl AddAssign for Exact {
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
