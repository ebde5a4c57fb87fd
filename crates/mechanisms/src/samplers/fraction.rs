//! Enclosures of numbers below one in machine words, beside [`Interval`] on purpose: tables are built of hundreds of them.

use exact::{
    Round,
    interval::{Float, Interval},
};

use super::table::Boundary;

/// Bounds on a number below one, as fractions of 2^64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fraction {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Fraction {
    /// `None` if the upper bound is not below one.
    pub(crate) fn new(real: &Interval) -> Option<Self> {
        let word = |end: &Float, round| u64::try_from(end.scaled(64, round)).ok();
        Some(Self {
            lo: word(&real.lo, Round::Down)?,
            hi: word(&real.hi, Round::Up)?,
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
