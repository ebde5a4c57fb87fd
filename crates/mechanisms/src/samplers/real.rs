//! A uniform real that is drawn as far as needed, and where it lies among reals that are known only by bounds.

use dashu_int::UBig;
use rand_core::Rng;

use super::fixed::Bounds;

/// Extra digits of the reals, beyond those drawn of the uniform: they make the overlap of bounds unlikely.
const EXTRA: usize = 32;

/// The first digits of a uniform real in `[0, 1)`: it lies in `[digits, digits + 1) / 2^length`.
pub(crate) struct UniformReal {
    digits: UBig,
    length: usize,
}

impl UniformReal {
    pub(crate) fn new() -> Self {
        Self::started(0u32.into(), 0)
    }

    /// With these first digits already drawn.
    pub(crate) fn started(digits: UBig, length: usize) -> Self {
        Self { digits, length }
    }

    fn draw_more(&mut self, bits: &mut dyn Rng) {
        self.digits = (std::mem::take(&mut self.digits) << 64) + UBig::from(bits.next_u64());
        self.length += 64;
    }

    /// Is it below the real that `bounds` gives at any precision? Ends with probability one.
    pub(crate) fn below(mut self, bounds: impl Fn(usize) -> Bounds, bits: &mut dyn Rng) -> bool {
        loop {
            self.draw_more(bits);
            let at = bounds(self.length + EXTRA);
            if self.certainly_below(&at) {
                return true;
            }
            if self.certainly_not_below(&at) {
                return false;
            }
        }
    }

    /// The number of boundaries at or below it. `boundaries` gives, at any precision, ascending boundaries in `[0, 1]`:
    /// all but those that are within about one unit of one. Ends with probability one.
    pub(crate) fn locate(
        mut self,
        boundaries: impl Fn(usize) -> Vec<Bounds>,
        bits: &mut dyn Rng,
    ) -> usize {
        loop {
            self.draw_more(bits);
            let all = boundaries(self.length + EXTRA);
            let index = all.partition_point(|b| self.certainly_not_below(b));
            if all.get(index).is_some_and(|b| self.certainly_below(b)) {
                return index;
            }
        }
    }

    fn certainly_below(&self, real: &Bounds) -> bool {
        (&self.digits + UBig::ONE) << EXTRA <= real.lo
    }

    fn certainly_not_below(&self, real: &Bounds) -> bool {
        &self.digits << EXTRA >= real.hi
    }
}
