//! One pair for both directions: the pointwise maximum of both profiles over all real ε, above which a piecewise linear
//! profile is laid.

use dashu_ratio::RBig;
use exact::Round;
use exact::interval::{Float, Interval, upper_tail};

use super::{Mechanism, Side, pairs};
use crate::AccountantError;
use crate::directed::{float, rational};
use crate::laws::{Finite, Law, SubsampledGaussian};

const BITS: usize = 160;
/// How many points a sampled law gets on either side: most of them within six standard deviations.
const POINTS: i32 = 160;

impl Mechanism {
    /// The same mechanism, dominated by one pair in both directions: for where an addition upstream may arrive here as a
    /// removal. Composing the directions apart is not valid there: of P = (0.1, 0.9), Q = (0, 1) and its mirror, each
    /// direction alone has δ = 0.1, and the two together 0.19.
    ///
    /// Symmetric mechanisms stay as they are. Sampled noise keeps its profile up to about a relative `1e-3` of the loss's variance;
    /// losses of a probability below `1e-40` count as infinite. Mixtures of parts that are not symmetric are refused: mix what
    /// this gives for the parts.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let weights = [("1", "0"), ("9", "1")].map(|(p, q)| (p.parse().unwrap(), q.parse().unwrap()));
    /// let leaky = Mechanism::finite(&weights)?.either_way()?;
    /// let delta = Accountant::new().add(leaky, 2).delta(&"0".parse()?)?;
    /// assert!(delta >= "0.19".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn either_way(self) -> Result<Mechanism, AccountantError> {
        let Some(backward) = &self.backward else {
            return Ok(self);
        };
        let curve = larger(&self.forward, backward).ok_or_else(|| {
            AccountantError::parameter(
                "mechanism",
                &"a mixture",
                "mixed of parts after `either_way`",
            )
        })?;
        Ok(Mechanism::symmetric(pairs::of_curve(curve)))
    }
}

/// Points of the larger of both profiles, rounded up.
fn larger(a: &Side, b: &Side) -> Option<Vec<(RBig, RBig)>> {
    let mut odds: Vec<f64> = corners(a)?.into_iter().chain(corners(b)?).collect();
    odds.retain(|odds| odds.is_finite() && *odds > 1e-290);
    odds.sort_by(f64::total_cmp);
    odds.dedup();
    let (a, b) = (Curve::of(a)?, Curve::of(b)?);
    let point = |odds: f64| {
        let gamma = Interval::point(float(odds), BITS);
        let height = a.at(&gamma)?.hi.max(b.at(&gamma)?.hi);
        // No profile is below 1 − γ or zero.
        let least = (RBig::ONE - rational(odds)).max(RBig::ZERO);
        let height = height
            .round(128, Round::Up)
            .to_rational()
            .max(least)
            .min(RBig::ONE);
        Some((rational(odds), height))
    };
    odds.into_iter().map(point).collect()
}

/// Where a profile bends, as odds: every choice is valid, since chords are above a convex function.
fn corners(side: &Side) -> Option<Vec<f64>> {
    match &side.law {
        None => Some(vec![1.0]),
        Some(Law::Finite(law)) => Some(law.atoms.iter().map(|(loss, _)| loss.exp()).collect()),
        Some(Law::SubsampledGaussian(law)) => {
            let odds = |i: i32| {
                let share = f64::from(i) / f64::from(POINTS);
                let x = 0.5 + law.sigma * (6.0 * share + 8.0 * share.powi(9));
                let w = (1.0 - law.rate)
                    + law.rate * ((2.0 * x - 1.0) / (2.0 * law.sigma * law.sigma)).exp();
                if law.removed { w } else { 1.0 / w }
            };
            Some((-POINTS..=POINTS).map(odds).collect())
        }
        _ => None,
    }
}

/// A profile that can be evaluated.
enum Curve<'a> {
    Zero(&'a Side),
    /// Probabilities, and those of Q.
    Finite(&'a Side, Vec<(Interval, Interval)>),
    Sampled(SubsampledGaussian),
}

impl<'a> Curve<'a> {
    fn of(side: &'a Side) -> Option<Curve<'a>> {
        match &side.law {
            None => Some(Curve::Zero(side)),
            Some(Law::Finite(law)) => Some(Curve::Finite(side, masses(law)?)),
            Some(Law::SubsampledGaussian(law)) => Some(Curve::Sampled(*law)),
            _ => None,
        }
    }

    /// δ at odds γ, enclosed.
    fn at(&self, gamma: &Interval) -> Option<Interval> {
        let one = Interval::int(1u8, BITS);
        let (side, finite) = match self {
            Curve::Sampled(law) => return sampled(law, gamma),
            Curve::Zero(side) => (side, positive(&one - gamma)),
            Curve::Finite(side, masses) => {
                let terms = masses.iter().map(|(p, q)| positive(p - &(gamma * q)));
                (
                    side,
                    terms.fold(Interval::int(0u8, BITS), |sum, term| &sum + &term),
                )
            }
        };
        let failure = Interval::exact(&side.failure, BITS)?;
        Some(&failure + &(&(&one - &failure) * &finite))
    }
}

/// The probabilities were rounded to a relative `2^-100`.
fn masses(law: &Finite) -> Option<Vec<(Interval, Interval)>> {
    let mass = |(loss, p): &(f64, crate::numbers::Double)| {
        let p = &Interval::point(float(p.high), BITS) + &Interval::point(float(p.low), BITS);
        let p = p.widened(&p.hi.shifted(-99));
        let inverse = (-&Interval::point(float(*loss), BITS)).exp()?;
        Some((p.clone(), &p * &inverse))
    };
    law.atoms.iter().map(mass).collect()
}

fn positive(x: Interval) -> Interval {
    Interval::new(x.lo.max(Float::ZERO), x.hi.max(Float::ZERO), BITS)
}

/// With the record in the first data set `q·δ((γ − (1−q))/q)`, in the second `(1 − γ(1−q))·δ(γq/(1 − γ(1−q)))`, with the δ of
/// Gaussian noise; beyond the ends, `1 − γ` or zero.
fn sampled(law: &SubsampledGaussian, gamma: &Interval) -> Option<Interval> {
    let one = Interval::int(1u8, BITS);
    let q = Interval::point(float(law.rate), BITS);
    let rest = &one - &q;
    let (factor, inner) = match law.removed {
        true => (q.clone(), (gamma - &rest).div(&q)?),
        false => {
            let kept = &one - &(gamma * &rest);
            if !kept.lo.is_positive() {
                return Some(Interval::int(0u8, BITS).hull(positive(kept)));
            }
            let inner = (gamma * &q).div(&kept)?;
            (kept, inner)
        }
    };
    if !inner.lo.is_positive() {
        return Some(positive(&one - gamma));
    }
    let sigma = Interval::point(float(law.sigma), BITS);
    let log = &inner.ln()? * &sigma;
    let half = one.div(&sigma.shifted(1))?;
    let (p, q) = (upper_tail(&(&log - &half))?, upper_tail(&(&log + &half))?);
    Some(&factor * &positive(&p - &(&inner * &q)))
}
