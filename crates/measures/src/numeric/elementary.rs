//! Certified elementary functions on intervals: exponential, logarithm and π, by Taylor series
//! with explicit remainders after range reduction.

use dashu_int::{IBig, UBig};

use super::float::Float;
use super::interval::Interval;

/// Arguments of more than this many bits before the point are not computed: their exponential is
/// beyond every use, or as good as zero.
const LARGEST_EXPONENT: i64 = 40;

impl Interval {
    /// `e^x`; `None` if `x` reaches 2^40. From −2^40 down only `0 ≤ e^x < 2^(−2^40)` is told.
    pub(crate) fn exp(&self) -> Option<Interval> {
        let lo = exp_point(&self.lo, self.bits)?.lo;
        let hi = exp_point(&self.hi, self.bits)?.hi;
        Some(Interval {
            lo,
            hi,
            bits: self.bits,
        })
    }

    /// `ln x`; `None` unless the interval is certainly above zero.
    pub(crate) fn ln(&self) -> Option<Interval> {
        let lo = ln_point(&self.lo, self.bits)?.lo;
        let hi = ln_point(&self.hi, self.bits)?.hi;
        Some(Interval {
            lo,
            hi,
            bits: self.bits,
        })
    }
}

fn exp_point(x: &Float, bits: usize) -> Option<Interval> {
    if x.is_zero() {
        return Some(Interval::int(1u8, bits));
    }
    if x.magnitude() > LARGEST_EXPONENT {
        let tiny = Float::power_of_two(-(1 << LARGEST_EXPONENT));
        return x
            .is_negative()
            .then(|| Interval::new(Float::ZERO, tiny, bits));
    }
    let halvings = (bits as f64).sqrt() as i64 / 2 + 2;
    let work = bits + 2 * halvings as usize + 32 + x.magnitude().max(0) as usize;
    // Any integer near x/ln 2 does: it only keeps the rest small.
    let turns = (x.approximate() / std::f64::consts::LN_2).round() as i64;
    let rest = &Interval::point(x.clone(), work) - &(&Interval::int(turns, work) * &ln_2(work));
    let rest = rest.shifted(-halvings);
    let mut power = exp_series(&rest);
    for _ in 0..halvings {
        power = &power * &power;
    }
    Some(power.shifted(turns).with_bits(bits))
}

/// `Σ x^i/i!` for `|x| < 1/2`: the terms after the first omitted one `t` add up to less than `2|t|`.
fn exp_series(x: &Interval) -> Interval {
    let bits = x.bits;
    let mut sum = Interval::int(1u8, bits);
    let mut term = Interval::int(1u8, bits);
    let mut i = 1;
    loop {
        term = (&term * x).div_int(i);
        if biggest(&term).magnitude() < -(bits as i64) - 2 {
            let omitted = biggest(&term).shifted(1);
            return sum.widened(&omitted);
        }
        sum = &sum + &term;
        i += 1;
    }
}

/// The largest absolute value in the interval.
fn biggest(x: &Interval) -> Float {
    x.hi.clone().max(x.lo.neg())
}

fn ln_point(x: &Float, bits: usize) -> Option<Interval> {
    if !x.is_positive() {
        return None;
    }
    let work = bits + 64;
    // x = y · 2^turns with y in [1/2, 1), or in [1, 2) if that is nearer to one; near one no
    // turns are taken, so that no digits cancel.
    let mut turns = x.magnitude();
    if x.shifted(-turns).at_most(&Float::new(3.into(), -2)) {
        turns -= 1;
    }
    let mut y = Interval::point(x.shifted(-turns), work);
    let mut doublings = 0;
    while distance_from_one(&y).magnitude() > -6 {
        y = y.sqrt()?;
        doublings += 1;
    }
    let one = Interval::int(1u8, work);
    let z = (&y - &one).div(&(&y + &one))?;
    let ln_y = atanh_series(&z).shifted(1 + doublings);
    let turned = &Interval::int(turns, work) * &ln_2(work);
    Some((&ln_y + &turned).with_bits(bits))
}

fn distance_from_one(y: &Interval) -> Float {
    biggest(&(y - &Interval::int(1u8, y.bits)))
}

/// `Σ z^(2i+1)/(2i+1)` for `|z| ≤ 1/2`: what is left out after term `t` is below `|t|`.
fn atanh_series(z: &Interval) -> Interval {
    let square = z * z;
    let mut power = z.clone();
    let mut sum = z.clone();
    let stop = biggest(z).magnitude() - z.bits as i64 - 2;
    let mut odd = 1;
    while !power.lo.is_zero() || !power.hi.is_zero() {
        power = &power * &square;
        odd += 2;
        let term = power.div_int(odd);
        sum = &sum + &term;
        if biggest(&term).magnitude() < stop {
            return sum.widened(&biggest(&term));
        }
    }
    sum
}

/// Constants are stored to this many bits; more are computed.
const STORED: usize = 512;

/// `⌊2^512 ln 2⌋`, lowest word first; a test compares it with the series.
const LN_2: [u64; 8] = [
    0x2757_3b29_1169_b825,
    0xed2e_ae35_c138_2144,
    0x5595_52fb_4afa_1b10,
    0xe7b8_7620_6deb_ac98,
    0x8a0d_175b_8baa_fa2b,
    0x40f3_4326_7298_b62d,
    0xc9e3_b398_03f2_f6af,
    0xb172_17f7_d1cf_79ab,
];
/// `⌊2^510 π⌋`, lowest word first; a test compares it with the series.
const PI: [u64; 8] = [
    0x4fe1_356d_6d51_c245,
    0x302b_0a6d_f25f_1437,
    0xef95_19b3_cd3a_431b,
    0x514a_0879_8e34_04dd,
    0x020b_bea6_3b13_9b22,
    0x2902_4e08_8a67_cc74,
    0xc4c6_628b_80dc_1cd1,
    0xc90f_daa2_2168_c234,
];

/// The constant `words · 2^exponent`, which was rounded down.
fn stored(words: &[u64; 8], exponent: i64, bits: usize) -> Interval {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let low = IBig::from(UBig::from_le_bytes(&bytes));
    let high = &low + IBig::ONE;
    Interval::new(Float::new(low, exponent), Float::new(high, exponent), bits)
}

/// ln 2.
fn ln_2(bits: usize) -> Interval {
    if bits + 2 <= STORED {
        stored(&LN_2, -512, bits)
    } else {
        ln_2_series(bits)
    }
}

fn ln_2_series(bits: usize) -> Interval {
    let third = Interval::int(1u8, bits + 16).div_int(3);
    atanh_series(&third).shifted(1).with_bits(bits)
}

/// π.
pub(crate) fn pi(bits: usize) -> Interval {
    if bits + 2 <= STORED {
        stored(&PI, -510, bits)
    } else {
        pi_series(bits)
    }
}

/// Machin's formula, `16 arctan(1/5) − 4 arctan(1/239)`.
fn pi_series(bits: usize) -> Interval {
    let work = bits + 16;
    let a = arctan_of_reciprocal(5, work).shifted(4);
    let b = arctan_of_reciprocal(239, work).shifted(2);
    (&a - &b).with_bits(bits)
}

/// `arctan(1/n)`: an alternating series with falling terms, so the error is below the first omitted one.
fn arctan_of_reciprocal(n: u64, bits: usize) -> Interval {
    let mut power = Interval::int(1u8, bits).div_int(n);
    let mut sum = power.clone();
    let mut odd = 1;
    loop {
        power = -&power.div_int(n * n);
        odd += 2;
        let term = power.div_int(odd);
        if biggest(&term).magnitude() < -(bits as i64) - 2 {
            return sum.widened(&biggest(&term));
        }
        sum = &sum + &term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact::{Exact, Round};

    fn decimal(text: &str, bits: usize) -> Interval {
        let value: Exact = text.parse().expect("a decimal");
        Interval::exact(&value, bits).expect("finite")
    }

    /// The digits are truncated, so the true value is at or above them by less than one unit.
    fn assert_digits(found: &Interval, digits: &str, unit: &str) {
        let low = decimal(digits, 512);
        let high = &low + &decimal(unit, 512);
        assert!(
            low.lo.at_most(&found.hi) && found.lo.at_most(&high.hi),
            "{found:?} vs {digits}"
        );
        assert!(
            found.is_narrow(found.bits as i64 - 8, i64::MAX / 8),
            "too wide: {found:?}"
        );
    }

    #[test]
    fn known_constants() {
        assert_digits(
            &pi(160),
            "3.14159265358979323846264338327950288419716939937510",
            "1e-50",
        );
        assert_digits(
            &ln_2(160),
            "0.69314718055994530941723212145817656807550013436025",
            "1e-50",
        );
        let e = Interval::int(1u8, 160).exp().expect("small");
        assert_digits(
            &e,
            "2.71828182845904523536028747135266249775724709369995",
            "1e-50",
        );
        let ln_10 = Interval::int(10u8, 160).ln().expect("positive");
        assert_digits(
            &ln_10,
            "2.30258509299404568401799145468436420760110148862877",
            "1e-50",
        );
    }

    #[test]
    fn stored_constants_are_those_of_the_series() {
        for (stored, series) in [(ln_2(510), ln_2_series(600)), (pi(510), pi_series(600))] {
            assert!(stored.lo.at_most(&series.lo) && series.hi.at_most(&stored.hi));
            assert!(stored.is_narrow(505, i64::MAX / 8));
        }
    }

    #[test]
    fn logarithm_inverts_exponential() {
        for text in ["1e-30", "0.000001", "0.3", "1", "7.25", "700", "123456.789"] {
            let x = decimal(text, 256);
            for x in [x.clone(), -&x] {
                let back = x.exp().expect("small").ln().expect("positive");
                assert!(back.lo.at_most(&x.hi) && x.lo.at_most(&back.hi), "{text}");
                assert!(back.is_narrow(140, i64::MAX / 8), "{text}: {back:?}");
            }
        }
    }

    #[test]
    fn far_below_zero_the_exponential_is_as_good_as_zero() {
        let limit = Float::power_of_two(LARGEST_EXPONENT);
        let below = limit.add(&Float::one().neg(), 128, Round::Up);
        let at = |x: &Float| Interval::point(x.clone(), 128).exp();
        let (far, near) = (at(&limit.neg()).unwrap(), at(&below.neg()).unwrap());
        assert!(far.lo.is_zero() && far.hi.is_positive());
        // e^−(2^40 − 1) has 2^40·log₂ e zeros: both are below 2^−(2^40).
        let tiny = Float::power_of_two(-(1 << LARGEST_EXPONENT));
        assert!(far.hi.at_most(&tiny) && near.hi.at_most(&tiny) && near.lo.is_positive());
        assert!(at(&limit).is_none());
        let across = Interval::new(limit.shifted(9).neg(), Float::ZERO, 128).exp();
        let across = across.unwrap();
        assert!(across.lo.is_zero() && Float::one().at_most(&across.hi));
    }

    #[test]
    fn logarithm_near_one_keeps_relative_precision() {
        let tiny = decimal("1e-60", 400);
        let y = (&Interval::int(1u8, 400) + &tiny).ln().expect("positive");
        assert!(y.is_narrow(150, i64::MAX / 8));
        assert!(y.hi.at_most(&tiny.hi));
    }

    #[test]
    fn rounding_is_directed() {
        let third = Interval::int(1u8, 40).div_int(3);
        assert!(third.lo.cmp_value(&third.hi).is_lt());
        let minus = -&third;
        assert!(minus.lo.cmp_value(&minus.hi).is_lt() && minus.hi.is_negative());
        let square = Float::from_int(2u8);
        let low = square.sqrt(50, Round::Down).expect("positive");
        let high = square.sqrt(50, Round::Up).expect("positive");
        assert!(low.mul(&low, 200, Round::Down).cmp_value(&square).is_lt());
        assert!(high.mul(&high, 200, Round::Down).cmp_value(&square).is_gt());
    }
}
