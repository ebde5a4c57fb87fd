//! The square root.

use dashu_int::UBig;

use super::Enclosure;
use crate::Round;
use crate::leading::Leading;
use crate::repr::{Exact, Mantissa};

impl Exact {
    /// The square root: exact where the mantissa fits in 128 bits and it is rational, otherwise with a
    /// relative excess of at most `2^-61`.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let x: Exact = "2.25".parse()?;
    /// assert_eq!(x.sqrt(Round::Up), "1.5".parse()?);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn sqrt(&self, round: Round) -> Exact {
        if self.is_infinite() || self.is_zero() {
            return self.clone();
        }
        self.exact_sqrt()
            .unwrap_or_else(|| leading_sqrt(&Leading::of(self)).end(round))
    }

    /// The square root if it is rational, of a number whose mantissa fits in 128 bits.
    fn exact_sqrt(&self) -> Option<Exact> {
        let (Mantissa::Flat(mantissa), two, five) = self.canonical() else {
            return None;
        };
        // The mantissa is prime to ten, so all three parts have to be squares. Odd squares are one
        // more than a multiple of eight.
        if two % 2 != 0 || five % 2 != 0 || mantissa % 8 != 1 {
            return None;
        }
        let root = mantissa.isqrt();
        (root * root == mantissa).then(|| Exact::from_big(UBig::from(root), two / 2, five / 2))
    }
}

fn leading_sqrt(x: &Leading) -> Enclosure {
    let odd = x.two.rem_euclid(2);
    // The true value is less than 5 above; its root, at least 2^63, less than 1.01 above this one.
    let low = (x.bits >> odd).isqrt();
    Enclosure {
        low,
        high: low + 2,
        two: (x.two + odd) / 2,
    }
}
