//! What the optimal composition theorems share: the pair of products of randomized responses,
//! the hockey-stick divergence of that pair, and the least ε at which it meets its target.
//!
//! With `L` the privacy loss of the pair under its first law `P`, and `Q` its second law,
//! `δ(x) = P(L > x) − e^x Q(L > x)`. As a function of `e^x` this is convex and falling, so a
//! tangent's zero never passes the root: Newton's steps from the left are lower bounds, and every
//! answer is an upper bound because it has been evaluated.

use dashu_ratio::RBig;
use exact::{Exact, Round};

use exact::interval::{Float, Interval, refine};

/// The tails of a privacy loss under both laws of its pair.
pub(crate) trait LossTail {
    /// Enclosures of `P(L > x)` and `Q(L > x)`; `None` if the precision does not suffice.
    fn tail(&self, x: &Float) -> Option<(Interval, Interval)>;
    /// An upper bound of `L`, at which `δ` is certainly zero.
    fn largest(&self) -> Float;
}

/// `δ(x)`.
pub(crate) fn hockey_stick(loss: &impl LossTail, x: &Float) -> Option<Interval> {
    let (p, q) = loss.tail(x)?;
    let scale = Interval::point(x.clone(), p.bits).exp()?;
    Some(&p - &(&scale * &q))
}

/// An upper bound on the least `x ≥ 0` with `δ(x) ≤ target`, checked by evaluation, and at most
/// `2^-43` above it; `None` if the precision does not suffice.
pub(crate) fn least_epsilon(loss: &impl LossTail, target: &Interval) -> Option<Float> {
    let fits = |x: &Float| hockey_stick(loss, x).map(|delta| delta.hi.at_most(&target.lo));
    if fits(&Float::ZERO)? {
        return Some(Float::ZERO);
    }
    let mut low = Float::ZERO;
    let mut high = loss.largest();
    let slack = Float::power_of_two((high.magnitude() - 50).min(-45));
    for _ in 0..256 {
        let (p, q) = loss.tail(&low)?;
        let newton = (&p - target).div(&q)?.ln()?;
        let candidate = newton.hi.add(&slack, p.bits, Round::Up);
        if high.at_most(&candidate) {
            return Some(high);
        }
        if fits(&candidate)? {
            return Some(candidate);
        }
        low = low.max(newton.lo);
        let width = high.add(&low.neg(), p.bits, Round::Up);
        if width.at_most(&slack.shifted(1)) {
            return Some(high);
        }
        let middle = low.add(&width.shifted(-1), p.bits, Round::Up);
        let at_middle = hockey_stick(loss, &middle)?;
        if at_middle.hi.at_most(&target.lo) {
            high = middle;
        } else if target.hi.at_most(&at_middle.lo) {
            low = middle;
        } else {
            return None;
        }
    }
    None
}

/// The δ that the children's own δ leave for the pure part: `1 − (1−δ_g)/Π(1−δ_j)`.
pub(crate) enum Target {
    /// The children's δ alone exceed `δ_g`: no ε will do.
    Missed,
    /// Nothing is left: only the plain sum of the ε will do.
    Zero,
    /// This much is left.
    Left(Interval),
}

/// Numbers of more bits than this are not multiplied out exactly.
const EXACT_BITS: u64 = 1 << 16;

/// The target, for children with `count` times `delta` each; every `delta` below one.
pub(crate) fn target(delta_g: &Exact, deltas: &[(Exact, u64)], bits: usize) -> Target {
    let Some(delta_g) = delta_g.to_rational() else {
        return Target::Missed;
    };
    if let Some(kept) = product_of_complements(deltas) {
        let left = RBig::ONE - (RBig::ONE - delta_g) / kept;
        return match left.cmp(&RBig::ZERO) {
            std::cmp::Ordering::Less => Target::Missed,
            std::cmp::Ordering::Equal => Target::Zero,
            std::cmp::Ordering::Greater => Target::Left(Interval::rational(&left, bits)),
        };
    }
    match target_enclosure(&delta_g, deltas, bits) {
        Some(left) if left.lo.is_positive() => Target::Left(left),
        _ => Target::Missed,
    }
}

/// `Π(1−δ_j)` as a rational, while that is a number of reasonable size.
fn product_of_complements(deltas: &[(Exact, u64)]) -> Option<RBig> {
    use dashu_int::ops::BitTest;
    let mut product = RBig::ONE;
    let mut size = 0;
    for (delta, count) in deltas.iter().filter(|(delta, _)| !delta.is_zero()) {
        let kept = RBig::ONE - delta.to_rational()?;
        size += (kept.denominator().bit_len() as u64).saturating_mul(*count);
        if size > EXACT_BITS {
            return None;
        }
        product *= kept.pow(isize::try_from(*count).ok()?);
    }
    Some(product)
}

/// The target where the product is too large a number, with room for the digits that cancel.
fn target_enclosure(delta_g: &RBig, deltas: &[(Exact, u64)], bits: usize) -> Option<Interval> {
    let room = -Float::from_rational(delta_g, 64, Round::Down).magnitude();
    let work = bits + 64 + room.clamp(0, 1 << 20) as usize;
    let one = Interval::int(1u8, work);
    let missing = &one - &Interval::rational(delta_g, work);
    let left = &one - &missing.div(&complement(deltas, work)?)?;
    Some(left.with_bits(bits))
}

/// Precisions past this are given up.
const MOST_BITS: usize = 1 << 11;

/// The least ε of the optimal composition theorem, rounded up: at most `2^-42` above the exact one. `build` makes the
/// loss, given the smallest mass that matters and a precision; `sum` is the plain sum of the ε. `None` if the loss cannot
/// be built, or no precision suffices.
pub(crate) fn epsilon_of<L: LossTail>(
    delta_g: &Exact,
    deltas: &[(Exact, u64)],
    sum: &Exact,
    build: impl Fn(&Float, usize) -> Option<L>,
) -> Option<Exact> {
    let mut bits = 128;
    while bits <= MOST_BITS {
        let left = match target(delta_g, deltas, bits) {
            Target::Missed => return Some(Exact::INFINITY),
            Target::Zero => return Some(sum.clone()),
            Target::Left(left) => left,
        };
        if let Some(epsilon) = least_epsilon(&build(&left.lo, bits)?, &left) {
            return Some(epsilon.to_exact(Round::Up).min(sum.clone()));
        }
        bits *= 2;
    }
    None
}

/// `1 − Π(1−δ_j)·(1 − δ(x))`, rounded up: the least `δ_g` at this ε.
pub(crate) fn delta_of<L: LossTail>(
    deltas: &[(Exact, u64)],
    epsilon: &Exact,
    build: impl Fn(usize) -> Option<L>,
) -> Option<Exact> {
    let epsilon = epsilon.to_rational()?;
    let delta = refine(|bits| {
        let one = Interval::int(1u8, bits);
        let loss = build(bits)?;
        // δ falls with ε, so ε may be rounded down.
        let x = Float::from_rational(&epsilon, 2 * bits, Round::Down);
        let pure = hockey_stick(&loss, &x)?;
        let kept = complement(deltas, bits)?;
        Some(&one - &(&kept * &(&one - &pure)))
    })?;
    Some(delta.upper().min(Exact::ONE))
}

/// `Π(1−δ_j)`, enclosed.
fn complement(deltas: &[(Exact, u64)], bits: usize) -> Option<Interval> {
    if let Some(exact) = product_of_complements(deltas) {
        return Some(Interval::rational(&exact, bits));
    }
    let one = Interval::int(1u8, bits);
    let mut ln_kept = Interval::int(0u8, bits);
    for (delta, count) in deltas {
        let kept = (&one - &Interval::exact(delta, bits)?).ln()?;
        ln_kept = &ln_kept + &(&kept * &Interval::int(*count, bits));
    }
    ln_kept.exp()
}
