//! The blocks of one stream while it arrives.

use dashu_int::IBig;
use queryable::{AskError, Scope};

use super::{Counter, shape::WEIGHT_BITS};
use crate::{integers::saturate, noise::Noise};

/// Binary digits of estimates after the point. Estimates are made of what was released: rounding costs no privacy.
const FRACTION_BITS: usize = 32;

/// The blocks that make up the time so far.
#[derive(Clone)]
pub struct Blocks<N> {
    counter: Counter<N>,
    time: u64,
    levels: Vec<Level>,
}

/// The finished blocks of a level that are in no finished block of the next.
#[derive(Clone, Default)]
struct Level {
    finished: u64,
    sum: i128,
    /// Of the sum, in units of 2^-[`FRACTION_BITS`].
    estimate: IBig,
}

impl<N: Noise> Blocks<N> {
    pub(super) fn new(counter: Counter<N>) -> Self {
        Self {
            levels: vec![Level::default(); counter.levels() as usize],
            time: 0,
            counter,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.time == self.counter.horizon
    }

    /// On how many levels a block ends with the next step.
    fn ending(&self) -> usize {
        let arities = self.counter.shape.arities();
        let full = self.levels.iter().zip(arities);
        let full = full.take_while(|(level, arity)| level.finished + 1 == **arity);
        (full.count() + 1).min(self.levels.len())
    }

    /// One step of time: every block that ends is measured, and put together with its parts.
    pub(super) fn add(&mut self, update: i64, scope: &mut Scope<'_>) -> Result<i64, AskError> {
        if self.has_ended() {
            return Err(AskError::Halted);
        }
        let ending = self.ending();
        let noises: Result<Vec<IBig>, AskError> = (0..ending)
            .map(|_| scope.draw(&self.counter.noise))
            .collect();
        // At most 2^64 updates below 2^63: 128 bits hold every sum.
        let (mut sum, mut parts) = (i128::from(update), IBig::ZERO);
        for (at, noise) in noises?.into_iter().enumerate() {
            let own = (IBig::from(sum) + noise) << FRACTION_BITS;
            let estimate = match at {
                0 => own,
                _ => combined(own, parts, self.counter.shape.weight(at)),
            };
            let level = &mut self.levels[at];
            level.finished += 1;
            level.sum += sum;
            level.estimate += estimate;
            if at + 1 == ending {
                break;
            }
            let whole = std::mem::take(level);
            (sum, parts) = (whole.sum, whole.estimate);
        }
        self.time += 1;
        let estimates = self.levels.iter().map(|level| &level.estimate);
        let total = estimates.fold(IBig::ZERO, |total, estimate| total + estimate);
        let half = IBig::ONE << (FRACTION_BITS - 1);
        Ok(saturate((total + half) >> FRACTION_BITS))
    }
}

/// The weighted mean of a block's own measurement and the estimates of its parts.
fn combined(own: IBig, parts: IBig, weight: u32) -> IBig {
    let rest = (1u32 << WEIGHT_BITS).saturating_sub(weight);
    (own * IBig::from(weight) + parts * IBig::from(rest)) >> WEIGHT_BITS
}
