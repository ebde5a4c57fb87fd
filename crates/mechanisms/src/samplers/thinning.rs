//! Bernoulli(e^−γ) for a γ that changes with every draw: `γ = count·rate`, with a rate that is fixed.
//!
//! Machine integers bound γ, two terms of the series accept nearly always, and four decide nearly all of the rest; what
//! is left is decided by big integers with the same uniform real.

use dashu_base::BitTest;
use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::interval::Interval;
use rand_core::Rng;

use super::{
    quotient::{div_ceil, quotient},
    real::UniformReal,
};

/// Decides with probability `e^−(count·rate)`, where `count·rate < 1/2`.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    /// `floor(rate_lo·2^scale)`, below 2^62.
    lo: u64,
    /// `ceil(rate_hi·2^scale)`, below 2^63.
    hi: u64,
    scale: u32,
}

impl Thinning {
    /// For a rate between these bounds. `None` if machine integers cannot hold it.
    pub(crate) fn new(rate_lo: &RBig, rate_hi: &RBig) -> Option<Self> {
        let size = rate_lo.denominator().bit_len() as i64 - rate_lo.numerator().bit_len() as i64;
        // The rate is below 2^(1 − size), so this keeps `lo` below 2^62.
        let scale = u32::try_from(61 + size)
            .ok()
            .filter(|s| (64..=190).contains(s))?;
        let units = |rate| {
            let (above, below) = quotient(rate);
            (above << scale as usize, below)
        };
        let (lo, hi) = (units(rate_lo), units(rate_hi));
        let (lo, hi) = (lo.0 / lo.1, div_ceil(hi.0, hi.1));
        Some(Self {
            lo: u64::try_from(lo).ok()?,
            hi: u64::try_from(hi).ok().filter(|&hi| hi < 1 << 63)?,
            scale,
        })
    }

    /// True with probability `e^−(count·rate)`; `exact` gives this number at any precision.
    pub(crate) fn accept(
        &self,
        count: u128,
        bits: &mut dyn Rng,
        exact: impl Fn(usize) -> Interval,
    ) -> bool {
        if count == 0 {
            return true;
        }
        let word = bits.next_u64();
        let decided = self
            .exponent(count)
            .and_then(|(lo, hi)| decide(word, lo, hi));
        decided.unwrap_or_else(|| UniformReal::started(UBig::from(word), 64).below(exact, bits))
    }

    /// Bounds on `count·rate`, as fractions of 2^64.
    fn exponent(&self, count: u128) -> Option<(u64, u64)> {
        // Drop low digits of a long count, so that the product fits.
        let drop = (128 - count.leading_zeros()).saturating_sub(62);
        let short = (count >> drop) as u64;
        let shift = self.scale.checked_sub(64 + drop)?;
        let lo = (u128::from(short) * u128::from(self.lo)).checked_shr(shift)?;
        let above = u128::from(short) + u128::from(drop > 0);
        let hi = (above * u128::from(self.hi)).checked_shr(shift)? + 1;
        Some((u64::try_from(lo).ok()?, u64::try_from(hi).ok()?))
    }
}

/// Whether a uniform that starts with `word` is below e^−γ, if that is clear from bounds on γ in fractions of 2^64. γ is
/// below 1, so that the series alternates and decreases.
fn decide(word: u64, lo: u64, hi: u64) -> Option<bool> {
    // e^-γ ≥ 1 − γ
    if word < hi.wrapping_neg() {
        return Some(true);
    }
    let mul = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    // Everything in 2^-64 of one, as a distance from one; each product is one unit too small at the most.
    let square = (mul(lo, lo), mul(hi, hi) + 1);
    let cube = (mul(square.0, lo), mul(square.1, hi) + 1);
    let fourth = mul(cube.1, hi) + 1;
    // e^-γ ≥ 1 − γ + γ²/2 − γ³/6, and at most that plus γ⁴/24.
    let far = u128::from(hi) + u128::from(cube.1 / 6 + 1);
    let far = far.saturating_sub(u128::from(square.0 / 2));
    let near = u128::from(lo) + u128::from(cube.0 / 6);
    let near = near.saturating_sub(u128::from(square.1 / 2 + 1) + u128::from(fourth / 24 + 1));
    let distance = (1u128 << 64) - u128::from(word); // the uniform is in [1 − distance, 1 − distance + 2^-64)
    if distance > far {
        return Some(true);
    }
    if distance <= near {
        return Some(false);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::real::exp_neg;
    use dashu_int::IBig;
    use exact::Round;
    use proptest::prelude::*;

    proptest! {
        /// What the machine integers decide is what the big integers say.
        #[test]
        fn machine_integers_never_err(count in 1u128..1_000_000, rate in 2_000_000u64..50_000_000, offset in -40i64..40, near in any::<bool>(), word in any::<u64>()) {
            let rate = RBig::from_parts(1.into(), rate.into());
            let gamma = &rate * RBig::from(UBig::from(count));
            let at = exp_neg(&gamma, 80);
            let (at_lo, at_hi) = (at.lo.scaled(64, Round::Down), at.hi.scaled(64, Round::Up));
            let word = if near { u64::try_from(&at_lo).unwrap().wrapping_add_signed(offset) } else { word };
            let thinning = Thinning::new(&rate, &rate).unwrap();
            let (lo, hi) = thinning.exponent(count).unwrap();
            let scaled = &gamma * RBig::from(UBig::ONE << 64usize);
            prop_assert!(RBig::from(lo) <= scaled && scaled <= RBig::from(hi));
            prop_assert!(hi - lo <= 16);
            match decide(word, lo, hi) {
                Some(true) => prop_assert!(IBig::from(word) + IBig::ONE <= at_hi),
                Some(false) => prop_assert!(IBig::from(word) >= at_lo),
                None => prop_assert!(near || gamma > RBig::from_parts(1.into(), 100u8.into())),
            }
        }
    }
}
