//! Bounds on numbers below one in machine words, for building tables quickly.

use dashu_int::UBig;

use super::{fixed::Bounds, table::Boundary};

/// Bounds on a number below one, as fractions of 2^64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fraction {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Fraction {
    /// From bounds at 64 digits; `None` if the upper one is not below one.
    pub(crate) fn new(bounds: &Bounds) -> Option<Self> {
        let word = |bound: &UBig| u64::try_from(bound).ok();
        Some(Self {
            lo: word(&bounds.lo)?,
            hi: word(&bounds.hi)?,
        })
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        let product = |a: u64, b: u64| (u128::from(a) * u128::from(b)) >> 64;
        Self {
            lo: product(self.lo, other.lo) as u64,
            hi: product(self.hi, other.hi) as u64 + 1,
        }
    }

    /// One minus this. An upper bound of one becomes the largest fraction: the table reads 32 digits and has a margin.
    pub(crate) fn complement(self) -> Boundary {
        Boundary {
            lo: self.hi.wrapping_neg(),
            hi: match self.lo {
                0 => u64::MAX,
                lo => lo.wrapping_neg(),
            },
        }
    }
}
