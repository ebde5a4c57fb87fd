//! The best conversion from one Rényi order to (ε, δ) (\[ALC+20\] Thm 3).
//!
//! Telling apart by one event keeps δ(ε) and does not raise the divergence, so the worst pair has two outcomes: δ is the
//! largest `p − e^ε q` with `M(p, q) = p^α q^(1−α) + (1−p)^α (1−q)^(1−α) ≤ e^((α−1)τ)`. `M` is convex. So around any point
//! a tangent plane bounds it from below, and for any multiplier the Lagrangian over the unit square bounds δ from above:
//! the point and the multiplier may be found in floating point, the bound is computed with certainty.

use exact::{Exact, Parameter, Round};

use super::conversions::{at_delta, renyi_delta, renyi_epsilon};
use crate::convert::{check_delta, conversion};
use crate::{ApproxDp, ConvertsTotals, RenyiDp, RenyiEpsilon, RuleError};
use exact::interval::{Float, Interval, least_root};

/// The least δ that one Rényi order gives at a given ε. Rounded up; never above [`renyi_delta`], and far below it where
/// `(α−1)τ` is small.
///
/// ```
/// use odometry::measures::convert::{renyi_delta, renyi_delta_optimal};
/// let loss = "0.001 at order 8".parse()?;
/// let (best, plain) = (renyi_delta_optimal(&loss, &"0.5".parse()?), renyi_delta(&loss, &"0.5".parse()?));
/// assert!(best < plain.div(&"50".parse()?, odometry::exact::Round::Down));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn renyi_delta_optimal(loss: &RenyiEpsilon, epsilon: &Exact) -> Exact {
    let plain = renyi_delta(loss, epsilon);
    if plain.is_zero() || loss.epsilon().is_infinite() {
        return plain;
    }
    let problem = Problem::new(loss, bits_for(&plain));
    let bound = problem.and_then(|problem| {
        let epsilon = Interval::exact(epsilon, problem.alpha.bits)?;
        problem.delta(&epsilon)
    });
    bound.map_or(plain.clone(), |bound| {
        bound.hi.to_exact(Round::Up).min(plain)
    })
}

/// The least ε that one Rényi order gives at a given δ: [`renyi_delta_optimal`] inverted. What is returned has been
/// evaluated, so it is never too small.
pub fn renyi_epsilon_optimal(loss: &RenyiEpsilon, delta: &Exact) -> Exact {
    let plain = renyi_epsilon(loss, delta);
    if plain.is_zero() || plain.is_infinite() {
        return plain;
    }
    let found = Problem::new(loss, bits_for(delta)).and_then(|problem| {
        let bits = problem.alpha.bits;
        let ln_delta = Interval::exact(delta, bits)?.ln()?;
        let high = Interval::exact(&plain, bits)?.hi;
        least_root(Float::ZERO, high, |epsilon| {
            let bound = problem.delta(&Interval::point(epsilon.clone(), bits))?;
            Some(&bound.ln()? - &ln_delta)
        })
    });
    found.map_or(plain.clone(), |epsilon| {
        epsilon.to_exact(Round::Up).min(plain)
    })
}

/// Masses of about this size have to keep their digits, down to `2^-1024`; below, the plain bound may be the better one.
fn bits_for(delta: &Exact) -> usize {
    let zeros = Interval::exact(delta, 64).map_or(0, |delta| -delta.lo.magnitude());
    256 + zeros.clamp(0, 1 << 10) as usize
}

/// An order and the bound on its divergence.
struct Problem {
    alpha: Interval,
    tau: Interval,
    /// `e^((α−1)τ)`.
    moment: Interval,
    /// The same two, `α` and `(α−1)τ`, for the search.
    rough: (f64, f64),
}

/// A pair of laws on two outcomes, by its likelihood ratios: `ratio > 1` on the event, `rest = 1 − gap < 1` off it.
struct Guess {
    ratio: f64,
    gap: f64,
}

impl Problem {
    fn new(loss: &RenyiEpsilon, bits: usize) -> Option<Problem> {
        let alpha = Interval::exact(loss.order(), bits)?;
        let less_one = &alpha - &Interval::int(1u8, bits);
        let tau = Interval::exact(loss.epsilon(), bits)?;
        let exponent = &less_one * &tau;
        let rough = (alpha.lo.approximate(), exponent.lo.approximate());
        Some(Problem {
            moment: exponent.exp()?,
            alpha,
            tau,
            rough,
        })
    }

    /// An upper bound on δ; near the least one if the guess is good.
    fn delta(&self, epsilon: &Interval) -> Option<Interval> {
        if let Some(delta) = self.certain_event(epsilon) {
            return Some(delta);
        }
        let guess = self.guess(epsilon.lo.approximate())?;
        self.bound(&guess, &epsilon.exp()?)
    }

    /// Where the worst event is certain under the first law. The first term of `M` alone gives
    /// `q ≥ p^(α/(α−1)) e^−τ`; while `e^(ε−τ) α ≤ α − 1`, the largest δ that leaves is at `p = 1`.
    fn certain_event(&self, epsilon: &Interval) -> Option<Interval> {
        let one = Interval::int(1u8, self.alpha.bits);
        let least = (epsilon - &self.tau).exp()?;
        let falls = &(&least * &self.alpha) - &(&self.alpha - &one);
        (!falls.hi.is_positive()).then(|| &one - &least)
    }

    /// The Lagrangian bound around the guess.
    fn bound(&self, guess: &Guess, odds: &Interval) -> Option<Interval> {
        let bits = self.alpha.bits;
        let one = Interval::int(1u8, bits);
        let ratio = Interval::exact(&Exact::try_from(guess.ratio).ok()?, bits)?;
        let gap = Interval::exact(&Exact::try_from(guess.gap).ok()?, bits)?;
        let rest = &one - &gap;
        let q = gap.div(&(&ratio - &rest))?;
        let p = &ratio * &q;
        let less_one = &self.alpha - &one;
        let power = |base: &Interval, exponent: &Interval| (exponent * &base.ln()?).exp();
        let (ratio_a, rest_a) = (power(&ratio, &self.alpha)?, power(&rest, &self.alpha)?);
        let (ratio_b, rest_b) = (ratio_a.div(&ratio)?, rest_a.div(&rest)?);
        let here = &(&q * &ratio_a) + &(&(&one - &q) * &rest_a);
        let slope_p = &self.alpha * &(&ratio_b - &rest_b);
        let slope_q = -&(&less_one * &(&ratio_a - &rest_a));
        // With the multiplier 1/slope_p the plane's p cancels.
        let multiplier = one.div(&slope_p)?;
        let left_over = &(-&(&multiplier * &slope_q)) - odds;
        let feasible = &multiplier * &(&self.moment - &here);
        let value = &p - &(odds * &q);
        // Over the square, what is left over is largest at q = 1 or at q = 0.
        let at_one = (&left_over * &(&one - &q)).hi;
        let at_zero = (-&(&left_over * &q)).hi;
        let corner = Interval::new(Float::ZERO, at_one.max(at_zero), bits);
        Some(&(&value + &feasible) + &corner)
    }

    /// Solves the two conditions of the optimum, the given moment and parallel gradients, in floating point.
    fn guess(&self, epsilon: f64) -> Option<Guess> {
        let (alpha, exponent) = self.rough;
        let moment_less_one = exponent.exp_m1();
        let (mut low, mut high) = (-1000f64, -1e-12f64);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            let gap = middle.exp();
            let ratio = stationary_ratio(alpha, epsilon, gap);
            if excess_moment(alpha, ratio, gap) < moment_less_one {
                low = middle;
            } else {
                high = middle;
            }
        }
        let gap = low.exp();
        // A little below the stationary ratio, what is left over counts q times only.
        let ratio = stationary_ratio(alpha, epsilon, gap) * (1.0 - 1e-13);
        (ratio.is_finite() && ratio > 1.0 && gap > 0.0 && gap < 1.0).then_some(Guess { ratio, gap })
    }
}

/// `M − 1` for these likelihood ratios.
fn excess_moment(alpha: f64, ratio: f64, gap: f64) -> f64 {
    let q = gap / (ratio - 1.0 + gap);
    let rest = (alpha * (-gap).ln_1p()).exp_m1();
    q * ((alpha * ratio.ln()).exp_m1() - rest) + rest
}

/// The ratio `r` with `(α−1)(r^α − s^α) = e^ε α (r^(α−1) − s^(α−1))`, where `s = 1 − gap`: a fixed point, approached
/// from above.
fn stationary_ratio(alpha: f64, epsilon: f64, gap: f64) -> f64 {
    let scale = epsilon.exp() * alpha / (alpha - 1.0);
    let mut ratio = scale;
    for _ in 0..200 {
        let small = (1.0 - gap) / ratio;
        let next = scale * (1.0 - small.powf(alpha - 1.0)) / (1.0 - small.powf(alpha));
        if (next - ratio).abs() <= 1e-16 * ratio {
            break;
        }
        ratio = next;
    }
    ratio
}

/// Rényi privacy of one order to (ε, δ) at a δ fixed in advance, by the best conversion: see [`renyi_epsilon_optimal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenyiToApproxOptimal {
    from: RenyiDp,
    delta: Exact,
}

impl RenyiToApproxOptimal {
    /// From this order, at a δ above 0 and below 1.
    pub fn new(from: RenyiDp, delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(RenyiToApproxOptimal {
            from,
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    RenyiToApproxOptimal, RenyiDp => ApproxDp,
    |this| (this.from.clone(), ApproxDp),
    "renyi-to-approximate-optimal", "order" = this.from.order().text(), "delta" = this.delta.text(),
    |loss| {
        crate::Measure::check(&this.from, loss)?;
        let nothing = loss.epsilon().is_zero();
        Ok(at_delta(nothing, renyi_epsilon_optimal(loss, &this.delta), &this.delta))
    }
}
impl ConvertsTotals for RenyiToApproxOptimal {}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    /// The largest `p − e^ε q` that a search over two-point pairs finds.
    fn attack(alpha: f64, tau: f64, epsilon: f64) -> f64 {
        let limit = ((alpha - 1.0) * tau).exp_m1();
        let mut best = 0f64;
        for step in 1..4000 {
            let ratio = epsilon.exp() * (1.0 + f64::from(step) * 2e-3);
            let (mut low, mut high) = (-60f64, -1e-9f64);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if excess_moment(alpha, ratio, middle.exp()) <= limit {
                    low = middle
                } else {
                    high = middle
                }
            }
            let gap = low.exp();
            let q = gap / (ratio - 1.0 + gap);
            best = best.max(q * (ratio - epsilon.exp()));
        }
        best
    }

    #[test]
    fn no_two_point_pair_beats_it_and_one_comes_close() {
        for (order, tau, epsilon) in [
            ("2", "0.1", "0.5"),
            ("16", "0.328344", "1"),
            ("64", "0.862469", "1"),
            ("8", "0.001", "0.5"),
            ("1.5", "1", "2"),
            ("4", "2", "0"),
        ] {
            let loss = RenyiEpsilon::new(exact(order), exact(tau)).unwrap();
            let found = renyi_delta_optimal(&loss, &exact(epsilon));
            assert!(found <= renyi_delta(&loss, &exact(epsilon)));
            let number = |text: &str| text.parse::<f64>().unwrap();
            let attacked = attack(number(order), number(tau), number(epsilon));
            let found = found.to_f64(Round::Up);
            assert!(
                found >= attacked * (1.0 - 1e-12),
                "{order}: {found} {attacked}"
            );
            assert!(
                found <= attacked * (1.0 + 1e-4),
                "{order}: {found} {attacked}"
            );
        }
    }

    #[test]
    fn never_below_randomized_response() {
        // RR_ε has the divergence it converts from, and δ(x) = (e^ε − e^x)/(1+e^ε).
        for (epsilon, order) in [("0.5", "2"), ("1", "8"), ("2", "1.25")] {
            let order = RenyiDp::new(exact(order)).unwrap();
            let loss = crate::pure::pure_to_renyi(&epsilon.parse().unwrap(), &order);
            let whole = epsilon.parse::<f64>().unwrap();
            for x in ["0", "0.1", "0.25", "0.45"] {
                let true_delta =
                    (whole.exp() - x.parse::<f64>().unwrap().exp()) / (1.0 + whole.exp());
                let found = renyi_delta_optimal(&loss, &exact(x)).to_f64(Round::Up);
                assert!(
                    found >= true_delta * (1.0 - 1e-12),
                    "{epsilon} {x}: {found} {true_delta}"
                );
            }
        }
    }

    #[test]
    fn there_and_back() {
        for loss in ["0.328344 at order 16", "0.001 at order 8", "1 at order 2"] {
            let loss = loss.parse().unwrap();
            for delta in ["1e-6", "0.01", "1e-30"] {
                let epsilon = renyi_epsilon_optimal(&loss, &exact(delta));
                assert!(epsilon <= renyi_epsilon(&loss, &exact(delta)));
                assert!(renyi_delta_optimal(&loss, &epsilon) <= exact(delta));
                let below = epsilon.mul(&exact("0.999999"), Round::Down);
                assert!(epsilon.is_zero() || renyi_delta_optimal(&loss, &below) > exact(delta));
            }
        }
    }

    #[test]
    fn edges() {
        assert_eq!(
            renyi_delta_optimal(&"0 at order 2".parse().unwrap(), &Exact::ZERO),
            Exact::ZERO
        );
        let lost = "inf at order 2".parse().unwrap();
        assert_eq!(renyi_delta_optimal(&lost, &exact("1")), Exact::ONE);
        assert_eq!(renyi_epsilon_optimal(&lost, &exact("0.5")), Exact::INFINITY);
        let some = "1 at order 2".parse().unwrap();
        assert_eq!(renyi_epsilon_optimal(&some, &Exact::ZERO), Exact::INFINITY);
        assert_eq!(renyi_epsilon_optimal(&some, &Exact::ONE), Exact::ZERO);
        assert_eq!(renyi_delta_optimal(&some, &Exact::INFINITY), Exact::ZERO);
        // Where the search in floating point overflows, the plain bound answers.
        let steep = "5 at order 100000".parse().unwrap();
        assert_eq!(
            renyi_delta_optimal(&steep, &exact("5.1")),
            renyi_delta(&steep, &exact("5.1"))
        );
    }
}
