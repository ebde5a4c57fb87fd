//! Noise on the integers, and pairs of finite laws.

use dashu_ratio::RBig;
use exact::{Exact, Parameter, Round};

use super::response::{LARGEST, SMALLEST};
use super::{Mechanism, Side, double, noise, pairs, positive};
use crate::AccountantError;
use crate::directed::to_f64;
use crate::laws::{DiscreteGaussian, DiscreteLaplace, Law, MOST_ATOMS};

impl Mechanism {
    /// Discrete Laplace noise (the two-sided geometric distribution, `P(x) ∝ e^{−|x|/scale}`) on an integer of this
    /// sensitivity, at most 2^50. The rate `1/scale` is rounded up.
    pub fn discrete_laplace(
        sensitivity: u64,
        scale: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        if sensitivity > 1 << 50 {
            return Err(AccountantError::parameter(
                "sensitivity",
                &sensitivity,
                "at most 2^50",
            ));
        }
        let Some((_, scale)) = noise(sensitivity, scale, "scale")? else {
            return Ok(Mechanism::symmetric(Side::ZERO));
        };
        let rate = scale.recip(Round::Up).to_f64(Round::Up).max(SMALLEST);
        let law = DiscreteLaplace {
            rate,
            distance: sensitivity,
        };
        Ok(Mechanism::symmetric(match law.top() > LARGEST {
            true => Side::NOTHING,
            false => Side::of(Law::DiscreteLaplace(law)),
        }))
    }

    /// Discrete Gaussian noise (`P(x) ∝ e^{−x²/2σ²}` on the integers) on an integer of this sensitivity, at most 2^26;
    /// σ between `1e-3` and `1e15`.
    pub fn discrete_gaussian(
        sensitivity: u64,
        sigma: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        let sigma = positive("σ", sigma)?;
        let variance = sigma.to_rational().unwrap_or(RBig::ONE).sqr();
        Mechanism::discrete_gaussian_of_variance(sensitivity, &variance)
    }

    /// The same by its variance σ², which need not be the square of a number that can be written down.
    pub fn discrete_gaussian_of_variance(
        sensitivity: u64,
        variance: &RBig,
    ) -> Result<Mechanism, AccountantError> {
        if sensitivity > 1 << 26 {
            return Err(AccountantError::parameter(
                "sensitivity",
                &sensitivity,
                "at most 2^26",
            ));
        }
        let near = to_f64(variance, Round::Up).sqrt();
        if *variance <= RBig::ZERO || !(1e-3..=1e15).contains(&near) {
            return Err(AccountantError::parameter(
                "σ",
                &near,
                "between 1e-3 and 1e15",
            ));
        }
        if sensitivity == 0 {
            return Ok(Mechanism::symmetric(Side::ZERO));
        }
        let law = DiscreteGaussian {
            square: double(variance),
            distance: sensitivity,
        };
        Ok(Mechanism::symmetric(Side::of(Law::DiscreteGaussian(law))))
    }

    /// A mechanism with finitely many answers: for each answer, its weights under both data sets. Weights count relative to
    /// their sums, so thirds can be had. At most 2^14 answers.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let weights = [("3", "1"), ("1", "3")].map(|(p, q)| (p.parse().unwrap(), q.parse().unwrap()));
    /// let response = Mechanism::finite(&weights)?;
    /// let delta = Accountant::new().add(response, 1).delta("0")?;
    /// assert!(delta >= "0.5".parse()? && delta < "0.50001".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finite(weights: &[(Exact, Exact)]) -> Result<Mechanism, AccountantError> {
        if weights.len() > MOST_ATOMS {
            return Err(AccountantError::parameter(
                "answers",
                &weights.len(),
                "at most 2^14",
            ));
        }
        let (p, q): (Vec<&Exact>, Vec<&Exact>) = weights.iter().map(|(p, q)| (p, q)).unzip();
        let (p, q) = (shares(&p)?, shares(&q)?);
        let pairs: Vec<(RBig, RBig)> = p.into_iter().zip(q).collect();
        let swapped = pairs
            .iter()
            .map(|(p, q)| (q.clone(), p.clone()))
            .collect::<Vec<_>>();
        Ok(Mechanism {
            forward: pairs::side(&pairs),
            backward: Some(pairs::side(&swapped)),
        })
    }
}

fn shares(weights: &[&Exact]) -> Result<Vec<RBig>, AccountantError> {
    let total: Exact = weights.iter().map(|weight| (*weight).clone()).sum();
    let sum = total.to_rational().filter(|sum| *sum > RBig::ZERO);
    let sum = sum.ok_or_else(|| {
        AccountantError::parameter("sum of weights", &total, "above 0 and finite")
    })?;
    Ok(weights
        .iter()
        .filter_map(|weight| Some(weight.to_rational()? / &sum))
        .collect())
}
