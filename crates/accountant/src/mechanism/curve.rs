//! Profiles that can be evaluated: δ at odds γ, enclosed, for every law. Points of a profile, rounded up, are what one pair
//! for both directions and samples are made from.

use dashu_ratio::RBig;
use exact::Round;
use exact::interval::{Float, Interval, upper_tail};

use super::Side;
use crate::directed::{float, interval, rational};
use crate::laws::{Law, SubsampledGaussian};
use crate::mechanism::steps::Steps;
use crate::numbers::Double;

pub(super) const BITS: usize = 160;
/// How many points a law without corners gets on either side of its middle: most of them within six standard deviations.
const POINTS: i32 = 160;

/// Points `(γ, δ)` of a side's profile from the lowest odds to the highest, rounded up. `None` if it cannot be evaluated.
pub(super) fn points(side: &Side) -> Option<Vec<(RBig, RBig)>> {
    let curve = Curve::of(side)?;
    let corners = sorted(corners(side)?);
    corners.into_iter().map(|odds| curve.point(odds)).collect()
}

/// Odds at which something can be evaluated, each once.
pub(super) fn sorted(mut odds: Vec<f64>) -> Vec<f64> {
    odds.retain(|odds| odds.is_finite() && *odds > 1e-290);
    odds.sort_by(f64::total_cmp);
    odds.dedup();
    odds
}

/// Where a profile bends, as odds: every choice is valid, since chords are above a convex function.
pub(super) fn corners(side: &Side) -> Option<Vec<f64>> {
    match &side.law {
        None => Some(vec![1.0]),
        Some(law) => corners_of(law),
    }
}

fn corners_of(law: &Law) -> Option<Vec<f64>> {
    // A little above the largest loss, where nothing is left of the profile.
    let past = |loss: f64| (loss + loss.abs().max(1.0) * 1e-14).exp();
    match law {
        Law::Response(law) => Some(vec![(-law.epsilon).exp(), past(law.epsilon)]),
        Law::Laplace(law) => {
            let odds = |i: i32| (law.epsilon * f64::from(i) / f64::from(POINTS)).exp();
            let inner = (-POINTS..POINTS).map(odds);
            Some(inner.chain([past(law.epsilon)]).collect())
        }
        Law::Gaussian(law) => Some(spread(|x| (law.square.sqrt() * x).exp()).collect()),
        Law::Finite(law) => Some(law.atoms.iter().map(|(loss, _)| past(*loss)).collect()),
        Law::SubsampledGaussian(law) => Some(spread(|x| sampled_odds(law, x)).collect()),
        Law::DiscreteLaplace(law) => Some(Steps::of_laplace(law)?.corners()),
        Law::DiscreteGaussian(law) => Some(Steps::of_gaussian(law)?.corners()),
        Law::Mixture(law) => {
            let parts = law.parts.iter().map(|(_, law)| corners_of(law));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
    }
}

/// A function of standard deviations from the middle, at many of them, up to 14.
pub(super) fn spread(odds: impl Fn(f64) -> f64) -> impl Iterator<Item = f64> {
    (-POINTS..=POINTS).map(move |i| {
        let share = f64::from(i) / f64::from(POINTS);
        odds(6.0 * share + 8.0 * share.powi(9))
    })
}

fn sampled_odds(law: &SubsampledGaussian, x: f64) -> f64 {
    let x = 0.5 + law.sigma * x;
    let full = ((2.0 * x - 1.0) / (2.0 * law.sigma * law.sigma)).exp();
    let w = (1.0 - law.rate) + law.rate * full;
    if law.removed { w } else { 1.0 / w }
}

/// The profile of one side.
pub(super) struct Curve {
    failure: Interval,
    law: Profile,
}

/// The profile of a law.
enum Profile {
    Zero,
    /// Probabilities, and those of Q.
    Atoms(Vec<(Interval, Interval)>),
    Laplace(Interval),
    Gaussian(Interval),
    Sampled(SubsampledGaussian),
    Steps(Box<Steps>),
    Mixture(Vec<(Interval, Profile)>),
}

impl Curve {
    pub(super) fn of(side: &Side) -> Option<Curve> {
        let law = match &side.law {
            None => Profile::Zero,
            Some(law) => Profile::of(law)?,
        };
        Some(Curve {
            failure: Interval::exact(&side.failure, BITS)?,
            law,
        })
    }

    /// δ at odds γ, enclosed.
    pub(super) fn at(&self, gamma: &Interval) -> Option<Interval> {
        let one = Interval::int(1u8, BITS);
        let finite = self.law.at(gamma)?;
        Some(&self.failure + &(&(&one - &self.failure) * &finite))
    }

    /// The point at these odds, rounded up.
    pub(super) fn point(&self, odds: f64) -> Option<(RBig, RBig)> {
        let height = self.at(&interval(odds, BITS))?.hi;
        Some((rational(odds), height_at(odds, height)))
    }
}

/// Rounded up, and as no profile is below `1 − γ` or zero, or above one.
pub(super) fn height_at(odds: f64, height: Float) -> RBig {
    let least = (RBig::ONE - rational(odds)).max(RBig::ZERO);
    let height = height.round(128, Round::Up).to_rational();
    height.max(least).min(RBig::ONE)
}

impl Profile {
    fn of(law: &Law) -> Option<Profile> {
        Some(match law {
            Law::Response(law) => {
                let e = interval(law.epsilon, BITS);
                let truth =
                    Interval::int(1u8, BITS).div(&(&Interval::int(1u8, BITS) + &(-&e).exp()?))?;
                let lie = &Interval::int(1u8, BITS) - &truth;
                Profile::Atoms(vec![(truth.clone(), lie.clone()), (lie, truth)])
            }
            Law::Laplace(law) => Profile::Laplace(interval(law.epsilon, BITS)),
            Law::Gaussian(law) => Profile::Gaussian(interval(law.square, BITS).sqrt()?),
            Law::Finite(law) => {
                let mass = |(loss, p): &(f64, Double)| {
                    let p = enclosed(p);
                    let inverse = (-&interval(*loss, BITS)).exp()?;
                    Some((p.clone(), &p * &inverse))
                };
                Profile::Atoms(law.atoms.iter().map(mass).collect::<Option<_>>()?)
            }
            Law::SubsampledGaussian(law) => Profile::Sampled(*law),
            Law::DiscreteLaplace(law) => Profile::Steps(Box::new(Steps::of_laplace(law)?)),
            Law::DiscreteGaussian(law) => Profile::Steps(Box::new(Steps::of_gaussian(law)?)),
            Law::Mixture(law) => {
                let part =
                    |(weight, law): &(Double, Law)| Some((enclosed(weight), Profile::of(law)?));
                Profile::Mixture(law.parts.iter().map(part).collect::<Option<_>>()?)
            }
        })
    }

    fn at(&self, gamma: &Interval) -> Option<Interval> {
        let (zero, one) = (Interval::int(0u8, BITS), Interval::int(1u8, BITS));
        match self {
            Profile::Zero => Some(positive(&one - gamma)),
            Profile::Atoms(masses) => {
                let terms = masses.iter().map(|(p, q)| positive(p - &(gamma * q)));
                Some(terms.fold(zero, |sum, term| &sum + &term))
            }
            Profile::Laplace(epsilon) => {
                let (up, down) = (epsilon.exp()?, (-epsilon).exp()?);
                let between = &one - &(gamma * &down).sqrt()?;
                // Outside of its ends it is `1 − γ` or zero; at a doubtful end the larger counts.
                Some(if gamma.hi.at_most(&down.lo) {
                    positive(&one - gamma)
                } else if up.hi.at_most(&gamma.lo) {
                    zero
                } else {
                    positive(between).hull(positive(&one - gamma))
                })
            }
            Profile::Gaussian(mu) => gaussian(mu, gamma),
            Profile::Sampled(law) => sampled(law, gamma),
            Profile::Steps(steps) => steps.delta(gamma),
            Profile::Mixture(parts) => {
                let part = |sum: Interval, (weight, law): &(Interval, Profile)| {
                    Some(&sum + &(weight * &law.at(gamma)?))
                };
                parts.iter().try_fold(zero, part)
            }
        }
    }
}

/// A number that was rounded to a relative `2^-100`.
pub(super) fn enclosed(x: &Double) -> Interval {
    let x = &Interval::point(float(x.high), BITS) + &Interval::point(float(x.low), BITS);
    x.widened(&x.hi.shifted(-99))
}

pub(super) fn positive(x: Interval) -> Interval {
    Interval::new(x.lo.max(Float::ZERO), x.hi.max(Float::ZERO), BITS)
}

/// Of Gaussian noise: `P(N > ln γ/μ − μ/2) − γ·P(N > ln γ/μ + μ/2)`.
fn gaussian(mu: &Interval, gamma: &Interval) -> Option<Interval> {
    let (log, half) = (gamma.ln()?.div(mu)?, mu.shifted(-1));
    let (p, q) = (upper_tail(&(&log - &half))?, upper_tail(&(&log + &half))?);
    Some(positive(&p - &(gamma * &q)))
}

/// With the record in the first data set `q·δ((γ − (1−q))/q)`, in the second `(1 − γ(1−q))·δ(γq/(1 − γ(1−q)))`, with the δ of
/// Gaussian noise; beyond the ends, `1 − γ` or zero.
fn sampled(law: &SubsampledGaussian, gamma: &Interval) -> Option<Interval> {
    let one = Interval::int(1u8, BITS);
    let q = interval(law.rate, BITS);
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
    let mu = one.div(&interval(law.sigma, BITS))?;
    Some(&factor * &gaussian(&mu, &inner)?)
}
