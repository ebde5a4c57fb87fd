//! The standard normal distribution, enclosed from both sides at any magnitude: a Taylor series
//! around zero, and the continued fraction of Mills' ratio in the tails.

use crate::Round;

use super::elementary::pi;
use super::enclosure::Interval;
use super::float::Float;

/// Below this the series is used, above it the continued fraction.
const SERIES_UP_TO: u8 = 8;
/// Past `2^18` the tail is below `2^(-2^34)`: only its sign is kept.
const FAR: i64 = 18;

/// `P(Z > t)` for a standard normal `Z`.
pub fn upper_tail(t: &Interval) -> Option<Interval> {
    let start = upper_tail_at(&t.lo, t.bits)?;
    if t.lo.is_negative() {
        let lo = upper_tail_at(&t.hi, t.bits)?.lo;
        return Some(Interval { lo, ..start });
    }
    // The density is at most t + 3 times the tail (t + 1/t times from 1 on, 0.4/0.15 times before), so a narrow
    // interval needs no second evaluation.
    let width = Interval::point(t.hi.add(&t.lo.neg(), t.bits, Round::Up), t.bits);
    let rate = &Interval::point(t.lo.clone(), t.bits) + &Interval::int(3u8, t.bits);
    let kept = &Interval::int(1u8, t.bits) - &(&width * &rate);
    let lo = if kept.lo.is_positive() {
        (&start * &kept).lo
    } else {
        Float::ZERO
    };
    Some(Interval { lo, ..start })
}

fn upper_tail_at(t: &Float, bits: usize) -> Option<Interval> {
    if t.is_negative() {
        let other = upper_tail_at(&t.neg(), bits)?;
        return Some(&Interval::int(1u8, bits) - &other);
    }
    if t.magnitude() > FAR {
        let tiny = Float::power_of_two(-(1 << 34));
        return Some(Interval::new(Float::ZERO, tiny, bits));
    }
    if t.at_most(&Float::from_int(SERIES_UP_TO)) {
        return series(t, bits);
    }
    let t = Interval::point(t.clone(), bits + 16);
    Some((&density(&t)? * &continued_fraction(&t)?).with_bits(bits))
}

/// `e^(−t²/2) / √(2π)`.
pub fn density(t: &Interval) -> Option<Interval> {
    let work = t.bits + 16 + 2 * t.lo.magnitude().clamp(0, FAR) as usize;
    let t_work = t.with_bits(work);
    let exponential = (-&(&t_work * &t_work).shifted(-1)).exp()?;
    let root = pi(work).shifted(1).sqrt()?;
    Some(exponential.div(&root)?.with_bits(t.bits))
}

/// Mills' ratio `P(Z > t)/φ(t)` for `t > 0`.
pub fn mills_ratio(t: &Interval) -> Option<Interval> {
    if t.lo.at_most(&Float::from_int(SERIES_UP_TO)) {
        return upper_tail(t)?.div(&density(t)?);
    }
    continued_fraction(t)
}

/// Quantiles are looked for between plus and minus this.
const FARTHEST: u16 = 1 << 10;
/// They are told to `2^-PLACES`, if the probability is.
const PLACES: i64 = 64;

/// The point that `Z` passes with probability `p`; `None` unless it certainly lies between ±2^10.
///
/// ```
/// use odometry::exact::interval::{Interval, upper_quantile, upper_tail};
/// let quarter = Interval::int(1u8, 128).div_int(4);
/// let t = upper_quantile(&quarter).ok_or("too far")?;
/// assert!((t.lo.approximate() - 0.674_489_750_196_081_7).abs() < 1e-15);
/// let back = upper_tail(&t).ok_or("too far")?;
/// assert!(back.lo.at_most(&quarter.lo) && quarter.hi.at_most(&back.hi));
/// # Ok::<(), &str>(())
/// ```
pub fn upper_quantile(p: &Interval) -> Option<Interval> {
    let bits = p.bits;
    let end = Float::from_int(FARTHEST);
    let (mut low, mut high) = (end.neg(), end.clone());
    if !p.hi.at_most(&upper_tail_at(&low, bits)?.lo) {
        return None;
    }
    let mut step = end.shifted(1);
    while step.magnitude() > 1 - PLACES {
        step = step.shifted(-1);
        let middle = low.add(&step, 2 * PLACES as usize, Round::Down);
        match p.hi.at_most(&upper_tail_at(&middle, bits)?.lo) {
            true => low = middle,
            false => high = middle,
        }
    }
    // Just beyond, unless `p` is wide.
    while !upper_tail_at(&high, bits)?.hi.at_most(&p.lo) {
        if end.at_most(&high) {
            return None;
        }
        step = step.shifted(1);
        high = high
            .add(&step, 2 * PLACES as usize, Round::Up)
            .min(end.clone());
    }
    Some(Interval::new(low, high, bits))
}

/// `1/2 − φ(t) Σ t^(2n+1)/(2n+1)!!`. Once `t² < 2n+1`, what follows a term is a falling
/// geometric series of ratio `t²/(2n+3)`.
fn series(t: &Float, bits: usize) -> Option<Interval> {
    // The difference cancels up to t²/2·log₂ e + log₂ t bits: 51 at t = 8.
    let work = bits + 96;
    let square = t.mul(t, work, Round::Up);
    let t_interval = Interval::point(t.clone(), work);
    let t_square = &t_interval * &t_interval;
    let mut term = t_interval.clone();
    let mut sum = t_interval;
    let mut odd = 1u64;
    loop {
        odd += 2;
        term = (&term * &t_square).div_int(odd);
        sum = &sum + &term;
        let halves = square.shifted(1).at_most(&Float::from_int(odd + 2));
        if halves && term.hi.magnitude() < -(work as i64) {
            break;
        }
    }
    // The ratio is at most one half, so the rest is at most the last term.
    let sum = Interval {
        hi: sum.hi.add(&term.hi, work, Round::Up),
        ..sum
    };
    let half = Interval::point(Float::power_of_two(-1), work);
    let density = density(&Interval::point(t.clone(), work))?;
    Some((&half - &(&density * &sum)).with_bits(bits))
}

/// `P(Z > t)/φ(t) = 1/(t + 1/(t + 2/(t + 3/(t + …))))`. The part below depth `n` lies in
/// `[t, t + n/t]`, and every step back up contracts that enclosure.
fn continued_fraction(t: &Interval) -> Option<Interval> {
    let bits = t.bits;
    // The error falls like e^(−2t√(2n)); more or less only makes the enclosure narrower or wider.
    let steps = bits as f64 * 0.3 / t.lo.approximate();
    let depth = (steps * steps) as u64 + 16;
    let deepest = t + &Interval::int(depth, bits).div(t)?;
    let mut tail = t.clone().hull(deepest);
    for n in (1..depth).rev() {
        tail = t + &Interval::int(n, bits).div(&tail)?;
    }
    Interval::int(1u8, bits).div(&tail)
}

#[cfg(test)]
mod tests {
    use super::super::enclosure::refine;
    use super::*;
    use crate::Exact;

    fn tail(t: &str) -> Interval {
        let (sign, digits) = t.strip_prefix('-').map_or((1, t), |digits| (-1, digits));
        let value: Exact = digits.parse().expect("a decimal");
        refine(|bits| {
            let t = Interval::exact(&value, bits)?;
            upper_tail(&if sign < 0 { -&t } else { t })
        })
        .expect("converges")
    }

    fn assert_close(t: &str, expected: &str, tolerance: &str) {
        let found = tail(t);
        let expected: Exact = expected.parse().expect("a decimal");
        let slack = expected.mul(&tolerance.parse().expect("a decimal"), Round::Up);
        assert!(
            found.lower() <= expected.clone() + &slack,
            "{t}: {}",
            found.lower()
        );
        assert!(found.upper() + &slack >= expected, "{t}: {}", found.upper());
    }

    #[test]
    fn known_tails_at_many_magnitudes() {
        // Values from standard tables, to the digits given there.
        assert_close("0", "0.5", "1e-20");
        assert_close("1", "0.158655253931457051414767", "1e-20");
        assert_close("-1", "0.841344746068542948585233", "1e-20");
        assert_close("2", "0.0227501319481792072002826", "1e-20");
        assert_close("5", "2.866515718791939116737523e-7", "1e-20");
        assert_close("10", "7.61985302416052606597337e-24", "1e-20");
        assert_close("37", "5.725571222524e-300", "1e-10");
    }

    #[test]
    fn series_and_continued_fraction_agree() {
        for t in ["3.5", "6", "8", "9.5"] {
            let t: Exact = t.parse().expect("a decimal");
            let t = Interval::point(Interval::exact(&t, 200).expect("finite").lo, 200);
            let a = series(&t.lo, 200).expect("converges");
            let b = &density(&t).expect("small") * &continued_fraction(&t).expect("converges");
            assert!(a.lo.at_most(&b.hi) && b.lo.at_most(&a.hi));
            assert!(a.is_narrow(120, i64::MAX / 8) && b.is_narrow(120, i64::MAX / 8));
        }
    }

    #[test]
    fn quantiles_invert_tails() {
        for p in ["0.5", "0.25", "0.999", "1e-6", "1e-40", "1e-4000"] {
            let p = Interval::exact(&p.parse().expect("a decimal"), 200).expect("finite");
            let t = upper_quantile(&p).expect("near enough");
            assert!(t.is_narrow(55, 55), "{t:?}");
            assert!(p.hi.at_most(&upper_tail_at(&t.lo, 200).expect("converges").lo));
            assert!(
                upper_tail_at(&t.hi, 200)
                    .expect("converges")
                    .hi
                    .at_most(&p.lo)
            );
        }
    }

    #[test]
    fn quantiles_of_what_is_hardly_known_are_wide() {
        let p = Interval::new(Float::power_of_two(-9), Float::power_of_two(-1), 64);
        let t = upper_quantile(&p).expect("near enough");
        assert!(t.lo.at_most(&Float::ZERO) && Float::from_int(2u8).at_most(&t.hi));
        for beyond in [Float::ZERO, Float::one(), Float::power_of_two(-(1 << 20))] {
            assert!(upper_quantile(&Interval::point(beyond, 64)).is_none());
        }
    }

    #[test]
    fn far_tails_are_tiny_and_positive() {
        assert!(tail("1000000").upper() < "1e-1000".parse().expect("a decimal"));
        assert!(tail("-1000000").lower() > "0.999".parse().expect("a decimal"));
    }
}
