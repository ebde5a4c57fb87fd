//! Discrete Gaussian noise (\[CKS20\]), exactly: `P(x) ∝ e^(−x²/2σ²)` on the integers.
//!
//! The magnitude is `width·w + r`: the bucket `w` comes from a table of `e^(−(width·w)²/2σ²)`, the most likely point of
//! each bucket; `r` is uniform and kept with probability `e^(−r(2·width·w + r)/2σ²)`; the sign is a bit. Zero has one
//! sign only: minus zero is drawn again, or has no weight where buckets hold one number.

use std::fmt;

use dashu_base::{SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::interval::{Float, Interval};
use queryable::coins::Distribution;
use rand_core::Rng;

use super::{
    enumeration::{Enumeration, Filled, delegates_to_enumeration, outwards},
    fraction::Fraction,
    limits::PRODUCT_BITS,
    quotient::{div_ceil, quotient},
    real::{UniformReal, complement, exp_neg, lower, probability},
    table::{Boundary, LazyTable},
    thinning::Thinning,
    width::{Width, below, below_big},
};
use crate::{
    error::BuildError,
    parameter::{Parameter, positive, positive_up_to},
};

/// At least this many buckets per σ, and less than twice as many.
const BUCKETS: u32 = 16;
/// The largest radius that is enumerated unless asked for.
const DEFAULT_RADIUS: u64 = 1024;
/// About as many buckets as a table has for large scales.
const USUAL: usize = 256;
/// Digits of an enumerated probability.
const ENUMERATED_BITS: usize = 128;

/// Discrete Gaussian noise with `P(x) ∝ e^(−x²/2σ²)`.
///
/// Added to an integer of sensitivity `d` it satisfies `d²/2σ²`-zCDP (\[CKS20\] Thm 4); added to each coordinate of an
/// integer vector, with `d` the L2 sensitivity (ibid. Thm 14 with equal scales). Sampling is exact, one to three random
/// words for most draws. It does not take constant time, and nothing is claimed about its timing.
///
/// ```
/// use odometry::mechanisms::samplers::DiscreteGaussian;
/// use odometry::queryable::{Root, machine};
/// let noise = DiscreteGaussian::with_scale(1000)?;
/// let draws = Root::seeded([7; 32]).spawn(machine(move |(), scope| scope.draw(&noise)))?;
/// println!("{}", draws.ask(())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DiscreteGaussian {
    variance: RBig,
    /// `1/2σ²`.
    rate: RBig,
    width: Width,
    table: LazyTable,
    thinning: Option<Thinning>,
    enumeration: Enumeration<IBig>,
}

impl DiscreteGaussian {
    /// With this `σ²`. (The variance of the noise is slightly below it.)
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`].
    pub fn new(variance: impl Parameter) -> Result<Self, BuildError> {
        let variance = positive_up_to(PRODUCT_BITS, "the variance", variance)?;
        let (above, below) = quotient(&variance);
        let rate = RBig::from_parts(below.clone().into(), UBig::from(2u8) * &above);
        let width = (&above / (UBig::from(BUCKETS * BUCKETS) * below)).sqrt();
        let width = Width::new(width.max(UBig::ONE));
        let sigma = div_ceil(above, below).sqrt() + UBig::ONE;
        let radius = u64::try_from(sigma).map_or(DEFAULT_RADIUS, |s| s.saturating_mul(8));
        let noise = Self {
            variance,
            thinning: None,
            rate,
            width: Width::Small(1),
            table: LazyTable::default(),
            enumeration: Enumeration::new(2 * radius.min(DEFAULT_RADIUS) as usize + 1),
        };
        Ok(noise.with_width(width))
    }

    /// Any width has the same law; it decides only how much is drawn again.
    pub(super) fn with_width(mut self, width: Width) -> Self {
        self.thinning = match &width {
            Width::Small(_) => Thinning::new(&self.rate, &self.rate),
            Width::Big(_) => None,
        };
        self.width = width;
        self.table = LazyTable::default();
        self
    }

    /// With this `σ`.
    ///
    /// # Errors
    /// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`].
    pub fn with_scale(scale: impl Parameter) -> Result<Self, BuildError> {
        let scale = positive("the scale", scale)?;
        Self::new(scale.sqr())
    }

    /// Enumerates the outcomes from `−radius` to `radius`; sampling is not affected.
    pub fn enumerating(mut self, radius: u32) -> Self {
        self.enumeration = Enumeration::new(2 * radius as usize + 1);
        self
    }

    /// `σ²`.
    pub fn variance(&self) -> &RBig {
        &self.variance
    }

    /// `1/2σ²`.
    pub(crate) fn rate(&self) -> &RBig {
        &self.rate
    }

    /// `P(Y ≥ k)`, or `None` if the normalizing sum has too many terms to be computed.
    pub(crate) fn upper_tail(&self, k: &IBig, bits: usize) -> Option<Interval> {
        if !self.is_summable() {
            return None;
        }
        if *k <= IBig::ZERO {
            // P(Y ≥ k) = 1 − P(Y ≥ 1 − k), by symmetry.
            let mirrored = self.upper_tail(&(IBig::ONE - k), bits)?;
            return Some(complement(&mirrored));
        }
        let series = Series::new(&self.rate, true, bits);
        let below = usize::try_from(k - IBig::ONE).ok();
        let rest = match below.and_then(|below| series.sums.get(below)) {
            Some(sum) => complement(&series.share(sum)),
            // Past the last partial sum, less than a unit is left.
            None => Interval::new(Float::ZERO, Float::power_of_two(-(bits as i64)), bits),
        };
        // The series is half of the whole.
        Some(rest.shifted(-1))
    }

    /// Few enough terms to sum up.
    fn is_summable(&self) -> bool {
        self.variance.ceil().unsigned_abs() < UBig::ONE << 24usize
    }

    fn has_narrow_buckets(&self) -> bool {
        self.width == Width::Small(1)
    }

    /// `1/2σ²` in units of buckets: `e^(−w²·this)` is the weight of bucket `w`.
    fn bucket_rate(&self) -> RBig {
        let width = self.width.to_big();
        &self.rate * RBig::from(&width * &width)
    }

    /// Cumulative probabilities of the buckets to more digits than a table has.
    fn machine_boundaries(&self) -> Vec<Boundary> {
        let rate = self.bucket_rate();
        let exact = || Fraction::new(&exp_neg(&rate, 72));
        let Some(mut step) = Fraction::exp_neg(&rate).or_else(exact) else {
            return Vec::new();
        };
        let square = step.mul(step);
        let start = 1u128 << if self.has_narrow_buckets() { 63 } else { 64 };
        let mut sums = Vec::with_capacity(USUAL);
        sums.push((start, start));
        let (mut lo, mut hi, mut weight) = (start, start, step);
        while weight.hi >= 1 << 10 {
            lo += u128::from(weight.lo);
            hi += u128::from(weight.hi);
            sums.push((lo, hi));
            step = step.mul(square);
            weight = weight.mul(step);
        }
        // The weights that follow fall faster than a geometric series with this ratio.
        hi += u128::from(weight.hi) * (1 << 64) / u128::from(step.hi.wrapping_neg().max(1)) + 1;
        // Nothing is divided by less than itself, but for what the bounds are apart: without ten digits, its products with the
        // inverses are hardly above 2^117.
        let (inverse_lo, inverse_hi) = ((1 << 127) / hi, (1u128 << 127).div_ceil(lo));
        let boundary = |(below, above): (u128, u128)| Boundary {
            lo: (((below >> 10) * inverse_lo) >> 53) as u64,
            hi: u64::try_from(((((above >> 10) + 1) * inverse_hi) >> 53) + 1).unwrap_or(u64::MAX),
        };
        sums.into_iter().map(boundary).collect()
    }

    /// Cumulative probabilities of the buckets, at any precision.
    fn boundaries(&self, bits: usize) -> Vec<Interval> {
        let series = Series::new(&self.bucket_rate(), self.has_narrow_buckets(), bits);
        series.sums.iter().map(|sum| series.share(sum)).collect()
    }

    fn bucket(&self, half: u32, bits: &mut dyn Rng) -> usize {
        let table = self.table.get(|| self.machine_boundaries());
        table.locate(half).unwrap_or_else(|| {
            UniformReal::started(UBig::from(half), 32)
                .locate(|precision| self.boundaries(precision), bits)
        })
    }

    /// A magnitude, where zero counts half in narrow buckets and full in wide ones.
    fn magnitude_small(
        &self,
        width: u64,
        bucket: usize,
        half: u32,
        bits: &mut dyn Rng,
    ) -> Option<u128> {
        let rest = u128::from(below(width, half, bits));
        let start = u128::from(width) * bucket as u128;
        let count = rest * (2 * start + rest);
        let exact = |precision| exp_neg(&(&self.rate * RBig::from(UBig::from(count))), precision);
        let kept = match &self.thinning {
            Some(thinning) => thinning.accept(count, bits, exact),
            None => UniformReal::new().below(exact, bits),
        };
        kept.then_some(start + rest)
    }

    fn magnitude_big(&self, width: &UBig, bucket: usize, bits: &mut dyn Rng) -> Option<UBig> {
        let rest = below_big(width, bits);
        let start = width * UBig::from(bucket);
        let count = RBig::from(&rest * (UBig::from(2u8) * &start + &rest));
        let kept = UniformReal::new().below(|p| exp_neg(&(&self.rate * &count), p), bits);
        kept.then(|| start + rest)
    }

    /// Half of the normalizing sum, for enumeration. Where it has too many terms it is bounded by its integral:
    /// `Σ ≤ 1 + σ√2π` (\[CKS20\] Fact 18), and lower bounds of probabilities get looser by that.
    fn normalization(&self, bits: usize) -> Series {
        if self.is_summable() {
            return Series::new(&self.rate, true, bits);
        }
        let (above, below) = quotient(&self.variance);
        let sigma = div_ceil(above, below).sqrt() + UBig::ONE;
        let half = RBig::from(sigma) * RBig::from_parts(12534.into(), 10000u16.into()) + RBig::ONE;
        Series {
            sums: Vec::new(),
            total: Interval::rational(&half, bits + 64),
        }
    }

    fn enumerated(&self) -> &Filled<IBig> {
        self.enumeration.get(|count| {
            let bits = ENUMERATED_BITS;
            let series = self.normalization(bits);
            let outcome = |index| {
                let (value, m) = outwards(index);
                let square = RBig::from(UBig::from(m) * UBig::from(m));
                let weight = exp_neg(&(&self.rate * square), bits + 64);
                // The series counts one sign, and half of zero.
                (value, lower(&series.share(&weight).shifted(-1), bits + 1))
            };
            (0..count).map(outcome).collect()
        })
    }
}

impl Distribution for DiscreteGaussian {
    type Outcome = IBig;

    fn sample(&self, bits: &mut dyn Rng) -> IBig {
        loop {
            let word = bits.next_u64();
            let minus = word >> 63 == 1;
            let bucket = self.bucket(word as u32, bits);
            let magnitude = match &self.width {
                Width::Small(1) => return signed(minus, bucket as u128),
                Width::Small(width) => self
                    .magnitude_small(*width, bucket, bits.next_u32(), bits)
                    .map(UBig::from),
                Width::Big(width) => self.magnitude_big(width, bucket, bits),
            };
            match magnitude {
                Some(zero) if zero.is_zero() && minus => (),
                Some(magnitude) if minus => return -IBig::from(magnitude),
                Some(magnitude) => return magnitude.into(),
                None => (),
            }
        }
    }

    delegates_to_enumeration!(IBig);
}

impl fmt::Debug for DiscreteGaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiscreteGaussian(variance {})", self.variance)
    }
}

fn signed(minus: bool, magnitude: u128) -> IBig {
    let value = magnitude as i128;
    IBig::from(if minus { -value } else { value })
}

/// `Σ e^(−w²·rate)` over `w ≥ 0`, and its partial sums.
struct Series {
    sums: Vec<Interval>,
    total: Interval,
}

impl Series {
    /// At least `bits` good digits. Zero counts half if asked.
    fn new(rate: &RBig, half_zero: bool, bits: usize) -> Self {
        let work = bits + 64;
        let mut step = exp_neg(rate, work);
        let square = &step * &step;
        let mut sum = Interval::int(1u8, work).shifted(-i64::from(half_zero));
        let (mut sums, mut weight) = (vec![sum.clone()], step.clone());
        while weight.lo.magnitude() > -(bits as i64) - 40 {
            sum = &sum + &weight;
            sums.push(sum.clone());
            step = &step * &square;
            weight = &weight * &step;
        }
        // The weights that follow fall faster than a geometric series with this ratio.
        let tail = weight.div(&complement(&step)).unwrap_or_else(probability);
        let tail = Interval {
            lo: Float::ZERO,
            ..tail
        };
        Self {
            total: &sum + &tail,
            sums,
        }
    }

    /// A part of the sum as a fraction of it.
    fn share(&self, part: &Interval) -> Interval {
        part.div(&self.total).unwrap_or_else(probability)
    }
}

#[cfg(test)]
mod tests {
    use exact::Round;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Each boundary in words encloses the true one, and is close.
        #[test]
        fn words_enclose_the_boundaries(
            n in 1u64..1 << 40,
            d in prop_oneof![Just(1u64), 1u64..1 << 30],
            width in prop_oneof![Just(None), (1u64..50).prop_map(Some)],
        ) {
            let mut noise = DiscreteGaussian::new(RBig::from_parts(n.into(), d.into())).unwrap();
            if let Some(width) = width.filter(|_| n / d < 10_000) {
                noise = noise.with_width(Width::Small(width));
            }
            let (exactly, words) = (noise.boundaries(100), noise.machine_boundaries());
            prop_assert!(!words.is_empty());
            for (words, truth) in words.iter().zip(&exactly) {
                let word = |end: &Float, round| UBig::try_from(end.scaled(64, round)).unwrap();
                prop_assert!(UBig::from(words.lo) <= word(&truth.lo, Round::Down));
                prop_assert!(word(&truth.hi, Round::Up) <= UBig::from(words.hi) || words.hi == u64::MAX);
                // What a table asks of its boundaries. (Errors of steps add up along the buckets.)
                prop_assert!(words.hi - words.lo < 1 << 32);
            }
        }
    }
}
