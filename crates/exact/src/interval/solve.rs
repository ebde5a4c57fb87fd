//! A certified root finder for falling functions: what it returns has been evaluated, and the
//! function's upper bound there is at most zero.

use crate::Round;

use super::enclosure::Interval;
use super::float::Float;

/// Candidates carry this many bits.
const BITS: usize = 160;
/// The bracket is closed to this relative width, in bits.
const PRECISION: i64 = 72;

/// The least point of `[lo, hi]`, up to a relative `2^-72`, at which the falling function `g` is
/// certainly at most zero; `None` if not even `hi` is such a point. Soundness does not depend on
/// `g` falling: the answer itself has been checked.
pub fn least_root(
    lo: Float,
    hi: Float,
    mut g: impl FnMut(&Float) -> Option<Interval>,
) -> Option<Float> {
    let at_lo = g(&lo);
    if at_lo.as_ref().is_some_and(holds) {
        return Some(lo);
    }
    let at_hi = g(&hi).filter(holds)?;
    let mut low = End {
        x: lo,
        g: at_lo.as_ref().map_or(f64::MAX, value),
    };
    let mut high = End {
        x: hi,
        g: value(&at_hi),
    };
    let first_width = width(&low, &high);
    for round in 0..400 {
        let width = width(&low, &high);
        if width.magnitude() < high.x.magnitude() - PRECISION {
            break;
        }
        let shrunk = width.magnitude() - first_width.magnitude();
        let x = between(&low, &width, share(&low, &high, shrunk, round));
        let at_x = g(&x);
        if at_x.as_ref().is_some_and(holds) {
            high = End {
                x,
                g: at_x.as_ref().map_or(0.0, value),
            };
        } else {
            low = End {
                x,
                g: at_x.as_ref().map_or(f64::MAX, value),
            };
        }
    }
    Some(high.x)
}

fn width(low: &End, high: &End) -> Float {
    high.x.add(&low.x.neg(), BITS, Round::Up)
}

struct End {
    x: Float,
    g: f64,
}

fn holds(g: &Interval) -> bool {
    !g.hi.is_positive()
}

fn value(g: &Interval) -> f64 {
    g.hi.approximate()
}

/// How far from `low` towards `high` to try next. The secant's zero lands on one side of the root again and again; moved
/// towards the middle by a part of the width that shrinks with the width (as the ITP method does), it lands on either
/// side, and the whole bracket closes faster than by halving. Every sixth time, the middle.
fn share(low: &End, high: &End, shrunk: i64, round: u32) -> f64 {
    let secant = low.g / (low.g - high.g);
    if !secant.is_finite() || low.g == f64::MAX || round % 6 == 5 {
        return 0.5;
    }
    let nudge = 0.2 * 2f64.powi(shrunk.clamp(-45, 0) as i32);
    let nudged = if secant < 0.5 {
        secant + nudge
    } else {
        secant - nudge
    };
    nudged.clamp(nudge, 1.0 - nudge)
}

fn between(low: &End, width: &Float, share: f64) -> Float {
    let scaled = Float::from_int((share * 2f64.powi(53)) as u64).shifted(-53);
    low.x
        .add(&width.mul(&scaled, BITS, Round::Up), BITS, Round::Up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_square_root_of_two_from_above_quickly() {
        let mut evaluations = 0;
        let root = least_root(Float::ZERO, Float::from_int(100u8), |x| {
            evaluations += 1;
            let x = Interval::point(x.clone(), 400);
            Some(&Interval::int(2u8, 400) - &(&x * &x))
        })
        .expect("bracketed");
        let two = Float::from_int(2u8);
        assert!(two.at_most(&root.mul(&root, 400, Round::Down)));
        let exact = two.sqrt(200, Round::Up).expect("positive");
        let excess = root.add(&exact.neg(), 64, Round::Up);
        assert!(excess.magnitude() < -70);
        assert!(evaluations < 30, "{evaluations}");
    }

    #[test]
    fn no_root_is_none_and_an_early_root_is_the_start() {
        let positive = |_: &Float| Some(Interval::int(1u8, 64));
        assert!(least_root(Float::ZERO, Float::one(), positive).is_none());
        let zero = |_: &Float| Some(Interval::int(0u8, 64));
        assert!(
            least_root(Float::ZERO, Float::one(), zero)
                .expect("holds")
                .is_zero()
        );
    }
}
