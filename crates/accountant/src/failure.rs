//! Losses that are infinite: with probability `d_i` each, so `δ(ε) = 1 − Π(1−d_i)·(1 − δ′(ε))` with the δ′ of what is left.

use std::collections::BTreeMap;

use dashu_int::ops::BitTest;
use dashu_ratio::RBig;
use exact::interval::{Float, Interval};
use exact::{Exact, Round};

/// The probability that every loss is finite.
#[derive(Clone, Debug)]
pub(crate) enum Finite {
    /// Exactly.
    Exactly(RBig),
    /// Between these.
    Within(Interval),
}

/// What a δ leaves for the finite losses.
pub(crate) enum Left {
    /// The infinite losses alone have more: no ε will do.
    Missed,
    /// Nothing: only the largest loss will do.
    Nothing,
    /// At least this much, above zero.
    Some(Float),
}

const BITS: usize = 192;
/// Products of more bits than this are enclosed, not multiplied out.
const EXACT_BITS: u64 = 1 << 13;

impl Finite {
    /// For these probabilities, each below one, with their counts.
    pub(crate) fn new<'a>(failures: impl IntoIterator<Item = (&'a Exact, u64)>) -> Finite {
        let mut counts = BTreeMap::<&Exact, u64>::new();
        for (failure, count) in failures
            .into_iter()
            .filter(|(failure, _)| !failure.is_zero())
        {
            *counts.entry(failure).or_default() += count;
        }
        let kept = |failure: &Exact| RBig::ONE - failure.to_rational().unwrap_or(RBig::ONE);
        let size = |failure: &Exact| kept(failure).denominator().bit_len() as u64;
        let total = counts.iter().fold(0u64, |sum, (failure, n)| {
            sum.saturating_add(size(failure).saturating_mul(*n))
        });
        if total <= EXACT_BITS {
            let power = |(failure, n): (&&Exact, &u64)| kept(failure).pow(*n as isize);
            return Finite::Exactly(counts.iter().map(power).fold(RBig::ONE, |a, b| a * b));
        }
        // Enough bits to tell the smallest of them from nothing.
        let zeros = counts
            .keys()
            .map(|failure| -approximate_log(failure))
            .fold(0, i64::max);
        let bits = BITS + zeros.min(1 << 14) as usize;
        let mut product = Interval::int(1u8, bits);
        for (failure, n) in &counts {
            let kept = Interval::rational(&kept(failure), bits);
            product = &product * &power(&kept, *n);
        }
        Finite::Within(product)
    }

    /// What `delta` leaves: `1 − (1−δ)/Π(1−d_i)`.
    pub(crate) fn left(&self, delta: &RBig) -> Left {
        let rest = RBig::ONE - delta;
        let left = match self {
            Finite::Exactly(kept) => {
                let left = RBig::ONE - rest / kept;
                if left == RBig::ZERO {
                    return Left::Nothing;
                }
                Float::from_rational(&left, BITS, Round::Down)
            }
            Finite::Within(kept) => {
                let one = Interval::int(1u8, kept.bits);
                let quotient = Interval::rational(&rest, kept.bits).div(kept);
                quotient.map_or(Float::ZERO, |quotient| (&one - &quotient).lo)
            }
        };
        match left.is_positive() {
            true => Left::Some(left),
            false => Left::Missed,
        }
    }

    /// `1 − Π(1−d_i)·(1 − δ′)`, rounded up.
    pub(crate) fn whole(&self, pure: &Float) -> Float {
        let one = Interval::int(1u8, BITS);
        let kept = match self {
            Finite::Exactly(kept) => Interval::rational(kept, BITS),
            Finite::Within(kept) => kept.clone(),
        };
        // In this form nothing cancels where there are no infinite losses.
        let failed = match self {
            Finite::Exactly(kept) => Interval::rational(&(RBig::ONE - kept), BITS),
            Finite::Within(kept) => &one - kept,
        };
        (&failed + &(&kept * &Interval::point(pure.clone(), BITS))).hi
    }
}

/// The exponent of two of a number above zero.
fn approximate_log(x: &Exact) -> i64 {
    x.to_rational()
        .map_or(0, |x| Float::from_rational(&x, 64, Round::Down).magnitude())
}

fn power(x: &Interval, n: u64) -> Interval {
    let (mut power, mut square, mut rest) = (Interval::int(1u8, x.bits), x.clone(), n);
    while rest > 0 {
        if rest & 1 == 1 {
            power = &power * &square;
        }
        rest >>= 1;
        square = &square * &square;
    }
    power
}
