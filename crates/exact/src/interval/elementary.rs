//! Certified elementary functions on intervals: exponential, logarithm and π, by Taylor series
//! with explicit remainders after range reduction.

use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};

use crate::Round;

use super::enclosure::Interval;
use super::float::Float;

/// Arguments of more than this many bits before the point are not computed: their exponential is
/// beyond every use, or as good as zero.
const LARGEST_EXPONENT: i64 = 40;

impl Interval {
    /// `e^x`; `None` if `x` reaches 2^40. From −2^40 down only `0 ≤ e^x < 2^(−2^40)` is told.
    pub fn exp(&self) -> Option<Interval> {
        let start = exp_point(&self.lo, self.bits)?;
        let width = self.hi.add(&self.lo.neg(), self.bits, Round::Up);
        if width.is_zero() {
            return Some(start);
        }
        if width.magnitude() > 0 {
            let hi = exp_point(&self.hi, self.bits)?.hi;
            return Some(Interval { hi, ..start });
        }
        // e^w ≤ 1 + w + w² ≤ 1 + 2w for w ≤ 1: a narrow interval needs no second evaluation.
        let growth = match width.magnitude() < -16 {
            true => width.add(&width.shifted(-16), 64, Round::Up),
            false => width.shifted(1),
        };
        let more = start.hi.mul(&growth, 64, Round::Up);
        Some(Interval {
            hi: start.hi.add(&more, self.bits, Round::Up),
            ..start
        })
    }

    /// `ln x`; `None` unless the interval is certainly above zero.
    pub fn ln(&self) -> Option<Interval> {
        let start = ln_point(&self.lo, self.bits)?;
        let width = self.hi.add(&self.lo.neg(), self.bits, Round::Up);
        let growth = width.div(&self.lo, self.bits, Round::Up)?;
        if growth.magnitude() > -16 {
            let hi = ln_point(&self.hi, self.bits)?.hi;
            return Some(Interval { hi, ..start });
        }
        // ln(1 + g) ≤ g: a narrow interval needs no second evaluation.
        Some(Interval {
            hi: start.hi.add(&growth, self.bits, Round::Up),
            ..start
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
    let halvings = bits.isqrt() / 2 + 2;
    // Room for what is rounded off: a few units for each term, doubled by each squaring.
    let places = bits + halvings + bits.bit_len() + 12;
    let (turns, rest) = without_turns(x, places);
    let (value, off) = exp_fixed(rest, halvings, places);
    let scale = turns - places as i64;
    let end = |end: UBig| Float::new(end.into(), scale);
    Some(Interval::new(end(&value - &off), end(value + off), bits))
}

/// `x = turns·ln 2 + rest` with `0 ≤ rest < 2`, in fixed point; the rest is less than four units away.
fn without_turns(x: &Float, places: usize) -> (i64, UBig) {
    /// More places of ln 2 than turns have bits: all turns together are less than a unit away.
    const MORE: usize = 48;
    // Any integer just below x/ln 2 does: it only keeps the rest small.
    let mut turns = (x.approximate() / std::f64::consts::LN_2).floor() as i64;
    let mut rest = x.scaled(places as i64, Round::Down);
    if turns == 0 && rest >= IBig::ZERO {
        return (turns, rest.unsigned_abs());
    }
    let ln_2 = ln_2_below(places + MORE);
    rest -= (&ln_2 * IBig::from(turns)) >> MORE;
    while rest < IBig::ZERO {
        rest += &ln_2 >> MORE;
        turns -= 1;
    }
    (turns, rest.unsigned_abs())
}

/// `e^x` in fixed point and how far away it may be, for `x < 2` that is less than four units away: halved until it is below
/// one half, a Taylor series, and squared back.
///
/// In units of the last place: the halved argument is less than 2 away, its powers over their factorials less than 3
/// each, and all that is left out less than 4. Relative to the value, which is at least one, a squaring doubles the error
/// and adds one for the rounding and one for the error's own square.
fn exp_fixed(x: UBig, halvings: usize, places: usize) -> (UBig, UBig) {
    let x = x >> halvings;
    let mut value = UBig::ONE << places;
    let mut term = x.clone();
    let mut terms = 1usize;
    while !term.is_zero() {
        value += &term;
        terms += 1;
        term = ((term * &x) >> places) / terms;
    }
    let mut off = UBig::from(3 * terms + 4);
    for _ in 0..halvings {
        value = value.sqr() >> places;
        off = off * 2u8 + 2u8;
    }
    // The error is relative to the true value, which is that much larger at the most.
    let off = (((off + 8u8) * &value) >> places) + 1u8;
    (value, off)
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
    let low = integer(words);
    let high = &low + IBig::ONE;
    Interval::new(Float::new(low, exponent), Float::new(high, exponent), bits)
}

fn integer(words: &[u64]) -> IBig {
    let mut bytes = [0; STORED / 8];
    for (eight, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *eight = word.to_le_bytes();
    }
    UBig::from_le_bytes(&bytes[..8 * words.len()]).into()
}

/// `ln 2 · 2^places`, less than two units too small.
fn ln_2_below(places: usize) -> IBig {
    let words = places / 64 + 1;
    match LN_2.len().checked_sub(words) {
        Some(skipped) => integer(&LN_2[skipped..]) >> (64 * words - places),
        None => ln_2(places + 2).lo.scaled(places as i64, Round::Down),
    }
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
pub fn pi(bits: usize) -> Interval {
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
    use crate::Exact;

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
        for places in [1, 63, 64, 200, 511, 512, 700] {
            let exactly = ln_2_series(places + 100)
                .lo
                .scaled(places as i64, Round::Up);
            let off = exactly - ln_2_below(places);
            assert!(off >= IBig::ZERO && off <= IBig::from(2u8), "{places}");
        }
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
