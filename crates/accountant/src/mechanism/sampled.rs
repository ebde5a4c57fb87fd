//! Any mechanism on a Poisson sample, from its own profile.

use std::sync::Arc;

use dashu_ratio::RBig;
use exact::{Exact, Parameter, Round};

use super::poisson::{Rate, gaussian_sampled, laplace_sampled, sampled};
use super::{Mechanism, Side, curve, pairs};
use crate::AccountantError;
use crate::directed::{rational, to_f64};
use crate::laws::{Law, Mixture, SubsampledGaussian};

impl Mechanism {
    /// This mechanism on a Poisson sample: every record is in the sample with probability `rate`, by itself, and the sample
    /// is not shown. The mechanism must be one for a record that is added or removed, with the record in the first data set
    /// of its pair; so is the result.
    ///
    /// With the record in the first data set `δ_q(1−q+qγ) = q·δ(γ)`, with it in the second
    /// `δ_q(γ/(q+γ(1−q))) = q/(q+γ(1−q))·δ(γ)`, because hockey-stick divergences are jointly convex (
    /// `docs/accountant.md` has the argument). Gaussian noise keeps its closed form; other laws are replaced by
    /// piecewise linear profiles above theirs.
    /// Where a profile cannot be evaluated (noise on the integers with σ above 1000, or σ of Gaussian noise below 0.05) the
    /// mechanism without sampling is given, which dominates.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let count = Mechanism::discrete_laplace(1, "1")?;
    /// let sampled = count.poisson_sampled("0.1")?;
    /// // ln(1 + 0.1·(e − 1)) = 0.1585…
    /// let pure = Accountant::new().add(sampled, 1).epsilon("0")?;
    /// assert!(pure >= "0.15855".parse()? && pure < "0.15857".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AccountantError::Parameter`] for a rate above 1.
    pub fn poisson_sampled(&self, rate: impl Parameter) -> Result<Mechanism, AccountantError> {
        let rate = match sampled(rate)? {
            Rate::None => return Ok(Mechanism::symmetric(Side::ZERO)),
            Rate::All => return Ok(self.clone()),
            Rate::Some(rate) => rate,
        };
        let side = |at: usize| sampled_side(self.sides()[at], &rate, at == 0);
        Ok(match (side(0), side(1)) {
            (Some(forward), Some(backward)) => Mechanism {
                forward,
                backward: Some(backward),
            },
            _ => self.clone(),
        })
    }
}

/// `removed`: the record is in the first data set.
fn sampled_side(side: &Side, rate: &Exact, removed: bool) -> Option<Side> {
    if side.law.is_none() && side.failure.is_zero() {
        return Some(Side::ZERO);
    }
    if let (Some(law), true) = (&side.law, side.failure.is_zero())
        && let Some(side) = closed(law, rate, removed)
    {
        return Some(side);
    }
    let points = curve::points(side)?;
    Some(pairs::of_curve(sampled_points(
        points,
        &rate.to_rational()?,
        removed,
    )))
}

/// What stays in closed form.
fn closed(law: &Law, rate: &Exact, removed: bool) -> Option<Side> {
    match law {
        Law::Gaussian(law) => {
            // Noise of a larger scale is noise of a smaller one, and more.
            let sigma = (1.0 / law.square.sqrt()) * (1.0 - 4.0 * f64::EPSILON);
            gaussian_sampled(rate, sigma.min(1e6), removed)
        }
        Law::Laplace(law) => laplace_sampled(rate, law.epsilon, removed),
        // A sample of a sample.
        Law::SubsampledGaussian(law) if law.removed == removed => {
            let both = rational(law.rate) * rate.to_rational()?;
            let rate = to_f64(&both, Round::Up).max(1e-100);
            Some(Side::of(Law::SubsampledGaussian(SubsampledGaussian {
                rate,
                ..*law
            })))
        }
        Law::Mixture(mixture) => {
            // The choice does not depend on the data, so it may come first. All parts must stay laws.
            let part = |(weight, law): &(_, Law)| {
                let side = closed(law, rate, removed)?;
                side.failure.is_zero().then_some((*weight, side.law?))
            };
            let parts = mixture.parts.iter().map(part).collect::<Option<Vec<_>>>()?;
            Some(Side::of(Law::Mixture(Arc::new(Mixture { parts }))))
        }
        _ => None,
    }
}

/// The points of a profile, moved to where they are after sampling.
fn sampled_points(points: Vec<(RBig, RBig)>, q: &RBig, removed: bool) -> Vec<(RBig, RBig)> {
    let rest = RBig::ONE - q;
    let moved = |(gamma, delta): (RBig, RBig)| match removed {
        true => (&rest + q * gamma, q * delta),
        false => {
            let below = q + &gamma * &rest;
            (gamma / &below, q * delta / below)
        }
    };
    let mut moved: Vec<(RBig, RBig)> = points.into_iter().map(moved).collect();
    match removed {
        // Up to here it is `1 − γ`.
        true => moved.insert(0, (rest.clone(), q.clone())),
        // From here on the larger law is nowhere larger.
        false => moved.push((RBig::ONE / rest, RBig::ZERO)),
    }
    moved
}
