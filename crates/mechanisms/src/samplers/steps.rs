//! A number of equal steps down: `P(m) = (1−q)·q^m`, with or without a sign.
//!
//! For large scales `m = width·w + r`: the bucket `w` comes from a table, the remainder `r` is uniform and kept with
//! probability `q^r`. A sign shares the table: it is biased and independent of `m`, so that with `−` standing for
//! `−(m+1)` the law is symmetric, and zero comes out right without redraws.

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::interval::Interval;
use rand_core::Rng;

use super::{
    decay::Decay,
    fraction::Fraction,
    quotient::{div_ceil, quotient},
    real::{UniformReal, complement, probability},
    table::{Boundary, LazyTable},
    thinning::Thinning,
    width::{Width, below, below_big},
};

/// Buckets per scale: more make the table longer, fewer make more redraws (one in 32).
const BUCKETS: u64 = 16;
/// The table ends where less than `2^-TAIL` is left; there, big integers take over.
const TAIL: u32 = 18;
/// About as many cells as a table has for large scales.
const USUAL: usize = 512;

/// Draws `m` and, if asked, a sign.
#[derive(Clone)]
pub(super) struct Steps {
    pub(super) decay: Decay,
    /// Bounds on `−ln q`.
    pub(super) rate: (RBig, RBig),
    width: Width,
    table: LazyTable,
    thinning: Option<Thinning>,
    signed: bool,
}

impl Steps {
    pub(super) fn new(decay: Decay, signed: bool) -> Self {
        let rate = decay.rate();
        let (above, below) = quotient(&rate.1);
        let width = div_ceil(below.clone(), &(above * UBig::from(BUCKETS)));
        let width = Width::new(width.max(UBig::ONE));
        Self::with_width(decay, rate, signed, width)
    }

    /// Any width has the same law; it decides only how much is drawn again.
    pub(super) fn with_width(decay: Decay, rate: (RBig, RBig), signed: bool, width: Width) -> Self {
        let thinning = match &width {
            Width::Small(_) => Thinning::new(&rate.0, &rate.1),
            Width::Big(_) => None,
        };
        Self {
            decay,
            rate,
            width,
            table: LazyTable::default(),
            thinning,
            signed,
        }
    }

    /// The probability of passing a bucket, `q^width`, and of passing its non-negative half.
    fn passing(&self, bits: usize) -> (Interval, Interval) {
        let q = self.decay.power(&UBig::ONE, bits);
        let bucket = match &self.width {
            Width::Small(1) => q.clone(),
            width => self.decay.power(&width.to_big(), bits),
        };
        // The non-negative half has 1/(1 + q) of a bucket, and what is left is (q + q^width)/(1 + q): nothing cancels.
        let one = Interval::int(1u8, bits);
        let half = (&q + &bucket).div(&(&one + &q));
        (bucket, half.unwrap_or_else(probability))
    }

    /// As [`passing`](Self::passing), in words: nearly as close, much faster, not for every parameter.
    fn machine_passing(&self) -> Option<(Fraction, Fraction)> {
        let Decay::Exp { rate } = &self.decay else {
            return None;
        };
        let q = Fraction::exp_neg(rate)?;
        let bucket = match &self.width {
            Width::Small(1) => q,
            width => Fraction::exp_neg(&(rate * RBig::from(width.to_big())))?,
        };
        // (q + q^width)/(1 + q) is 1 − (1 − q^width)/(1 + q), which grows with both.
        let rest = |bucket: u64, q: u64| {
            let one = 1u128 << 64;
            ((one - u128::from(bucket)) << 63, one + u128::from(q))
        };
        let ((above, below), (above_hi, below_hi)) = (rest(bucket.lo, q.lo), rest(bucket.hi, q.hi));
        let word = |half: u128| u64::try_from((1u128 << 64).checked_sub(2 * half)?).ok();
        let half = Fraction {
            lo: word(above.div_ceil(below))?,
            hi: word(above_hi / below_hi)?,
        };
        Some((bucket, half))
    }

    /// Cumulative probabilities of the cells, to 64 digits, until little is left.
    fn machine_boundaries(&self) -> Vec<Boundary> {
        let exact = || {
            let (bucket, half) = self.passing(72);
            Some((Fraction::new(&bucket)?, Fraction::new(&half)?))
        };
        let Some((ratio, half)) = self.machine_passing().or_else(exact) else {
            return Vec::new();
        };
        let (mut all, mut left, mut left_half) = (Vec::with_capacity(USUAL), ratio, half);
        while left.hi >> (64 - TAIL) > 0 || all.is_empty() {
            if self.signed {
                all.push(left_half.complement());
            }
            all.push(left.complement());
            left_half = left_half.mul(ratio);
            left = left.mul(ratio);
        }
        all
    }

    /// Cumulative probabilities of the cells, at any precision.
    fn boundaries(&self, bits: usize) -> Vec<Interval> {
        let work = bits + 32;
        let (bucket, half) = self.passing(work);
        let (mut all, mut left, mut left_half) = (Vec::new(), bucket.clone(), half);
        loop {
            if self.signed {
                all.push(complement(&left_half));
            }
            all.push(complement(&left));
            if left.lo.magnitude() < -(bits as i64) {
                return all;
            }
            left_half = &left_half * &bucket;
            left = &left * &bucket;
        }
    }

    /// The sign (true is minus) and `m`.
    pub(super) fn draw(&self, bits: &mut dyn Rng) -> (bool, Magnitude) {
        let table = self.table.get(|| self.machine_boundaries());
        loop {
            let word = bits.next_u64();
            let cell = table.locate(word as u32).unwrap_or_else(|| {
                UniformReal::started(UBig::from(word as u32), 32)
                    .locate(|precision| self.boundaries(precision), bits)
            });
            let (minus, bucket) = match self.signed {
                true => (cell & 1 == 1, cell >> 1),
                false => (false, cell),
            };
            match &self.width {
                Width::Small(1) => return (minus, Magnitude::Small(bucket as u128)),
                Width::Small(width) => {
                    let rest = below(*width, (word >> 32) as u32, bits);
                    if self.keep_small(rest, bits) {
                        let m = u128::from(*width) * bucket as u128 + u128::from(rest);
                        return (minus, Magnitude::Small(m));
                    }
                }
                Width::Big(width) => {
                    let rest = below_big(width, bits);
                    if self.keep(&rest, bits) {
                        let m = width * UBig::from(bucket) + rest;
                        return (minus, Magnitude::Big(m));
                    }
                }
            }
        }
    }

    /// True with probability `q^rest`.
    fn keep(&self, rest: &UBig, bits: &mut dyn Rng) -> bool {
        UniformReal::new().below(|precision| self.decay.power(rest, precision), bits)
    }

    fn keep_small(&self, rest: u64, bits: &mut dyn Rng) -> bool {
        match &self.thinning {
            Some(thinning) => thinning.accept(u128::from(rest), bits, |precision| {
                self.decay.power(&UBig::from(rest), precision)
            }),
            None => self.keep(&UBig::from(rest), bits),
        }
    }
}

/// How many steps were made: below 2^100 where buckets are small, since a table has far fewer than 2^48 cells.
pub(super) enum Magnitude {
    Small(u128),
    Big(UBig),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::{fraction::tests::encloses, tests::ratio};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passing_in_words_is_passing(n in 1u64..1 << 30, d in 1u64..1 << 30, width in 1u64..1 << 20, own in any::<bool>()) {
            for rate in [ratio(n, d), ratio(1, d)] {
                let steps = Steps::new(Decay::Exp { rate: rate.clone() }, true);
                let steps = match own {
                    true => steps,
                    false => Steps::with_width(steps.decay, steps.rate, true, Width::Small(width)),
                };
                let (bucket, half) = steps.passing(120);
                match steps.machine_passing() {
                    Some(words) => prop_assert!(encloses(words.0, &bucket) && encloses(words.1, &half)),
                    None => prop_assert!(rate < ratio(1, 1 << 50)),
                }
            }
        }
    }
}
