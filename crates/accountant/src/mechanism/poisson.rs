//! Noise on a Poisson sample: every record is in the sample with probability q, by itself, and the sample is not shown.

use dashu_ratio::RBig;
use exact::interval::{Float, Interval};
use exact::{Exact, Parameter, Round};

use super::response::{LARGEST, SMALLEST};
use super::{Mechanism, Side, pairs, positive};
use crate::AccountantError;
use crate::directed::{rational, to_f64};
use crate::laws::{Law, SubsampledGaussian};

impl Mechanism {
    /// Gaussian noise on a sum over a Poisson sample, one step of DP-SGD: each record is sampled with probability `rate`, and
    /// contributes at most 1 in the Euclidean norm; σ is the noise multiplier. Neighbours differ in one record, added or
    /// removed.
    ///
    /// The pairs are `((1−q)N(0,σ²) + qN(1,σ²), N(0,σ²))` and its reverse (`docs/accountant.md` has the argument). The rate is rounded up
    /// and σ down, to `f64`. σ between `0.05` and `1e6`.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let step = Mechanism::poisson_gaussian("0.01", "1")?;
    /// let epsilon = Accountant::new().add(step, 1000).epsilon("1e-10")?;
    /// assert!(epsilon > "3.29".parse()? && epsilon < "3.291".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poisson_gaussian(
        rate: impl Parameter,
        sigma: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        let sigma = positive("σ", sigma)?;
        let near = sigma.to_f64(Round::Down);
        let least = Exact::ratio(1, 20).unwrap_or(Exact::ONE);
        if sigma < least || near > 1e6 {
            return Err(AccountantError::parameter(
                "σ",
                &sigma,
                "between 0.05 and 1e6",
            ));
        }
        match sampled(rate)? {
            Rate::None => Ok(Mechanism::symmetric(Side::ZERO)),
            Rate::All => Mechanism::gaussian(Exact::ONE, sigma),
            Rate::Some(rate) => {
                let side = |removed| gaussian_side(&rate, near, removed);
                Ok(Mechanism {
                    forward: side(true),
                    backward: Some(side(false)),
                })
            }
        }
    }

    /// Laplace noise of this scale on a value of this sensitivity, computed on a Poisson sample. The profiles of both
    /// directions are closed forms; each is replaced by a piecewise linear one above it with 256 pieces, which adds about
    /// `1e-5` to the variance of the loss, relatively.
    pub fn poisson_laplace(
        rate: impl Parameter,
        sensitivity: impl Parameter,
        scale: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        Mechanism::laplace(sensitivity, scale)?.poisson_sampled(rate)
    }
}

fn gaussian_side(rate: &Exact, sigma: f64, removed: bool) -> Side {
    Side::of(Law::SubsampledGaussian(SubsampledGaussian {
        rate: rate.to_f64(Round::Up).max(SMALLEST),
        sigma,
        removed,
    }))
}

/// The same, where σ is in the law's range.
pub(super) fn gaussian_sampled(rate: &Exact, sigma: f64, removed: bool) -> Option<Side> {
    (0.05..=1e6)
        .contains(&sigma)
        .then(|| gaussian_side(rate, sigma, removed))
}

pub(super) fn laplace_sampled(rate: &Exact, epsilon: f64, removed: bool) -> Option<Side> {
    let q = (epsilon < 1e3).then(|| rate.to_rational()).flatten()?;
    laplace_curve(&q, epsilon, removed).map(pairs::of_curve)
}

pub(super) enum Rate {
    None,
    Some(Exact),
    All,
}

pub(super) fn sampled(rate: impl Parameter) -> Result<Rate, AccountantError> {
    let rate = AccountantError::read("sampling rate", rate, Round::Up)?;
    if rate > Exact::ONE {
        return Err(AccountantError::parameter(
            "sampling rate",
            &rate,
            "between 0 and 1",
        ));
    }
    Ok(match rate {
        rate if rate.is_zero() => Rate::None,
        rate if rate == Exact::ONE => Rate::All,
        rate => Rate::Some(rate),
    })
}

const PIECES: u32 = 256;
const BITS: usize = 192;

/// The profile of Laplace noise on a sample, at points `(e^ε, δ)` from the lowest to the highest loss.
///
/// Without sampling, `δ = 1 − √(γ e^−ε)` for `γ` between `e^−ε` and `e^ε`. With the record in the first data set,
/// `δ_q(γ) = q·δ((γ − (1−q))/q)`; with it in the second, `δ_q(γ) = (1 − γ(1−q))·δ(γq/(1 − γ(1−q)))`.
fn laplace_curve(q: &RBig, epsilon: f64, removed: bool) -> Option<Vec<(RBig, RBig)>> {
    let e = Interval::point(crate::directed::float(epsilon), BITS);
    let (up, down) = (e.exp()?, (-&e).exp()?);
    let rest = RBig::ONE - q;
    // w at both ends, outwards.
    let odds = |x: &Float| &rest + q * x.to_rational();
    let (least, most) = match removed {
        true => (odds(&down.lo), odds(&up.hi)),
        false => (RBig::ONE / odds(&up.hi), RBig::ONE / odds(&down.lo)),
    };
    let (low, high) = (to_f64(&least, Round::Down), to_f64(&most, Round::Up));
    let mut points = vec![(rational(low), RBig::ONE - rational(low))];
    let (from, to) = (low.ln(), high.ln());
    for i in 1..PIECES {
        let share = f64::from(i) / f64::from(PIECES);
        let gamma = (from + share * (to - from)).exp();
        if !(gamma > low && gamma < high) {
            continue;
        }
        let gamma = rational(gamma);
        let (factor, inner) = match removed {
            true => (q.clone(), (&gamma - &rest) / q),
            false => {
                let kept = RBig::ONE - &gamma * &rest;
                (kept.clone(), &gamma * q / kept)
            }
        };
        if factor <= RBig::ZERO || inner <= RBig::ZERO {
            continue;
        }
        let root = (&Interval::rational(&inner, BITS) * &down).sqrt()?;
        let delta = &Interval::rational(&factor, BITS) * &(&Interval::int(1u8, BITS) - &root);
        let floor = RBig::ONE - &gamma;
        let delta = delta.hi.max(Float::ZERO).to_rational();
        points.push((gamma, delta.max(floor)));
    }
    points.push((rational(high), RBig::ZERO));
    (high < LARGEST).then_some(points)
}
