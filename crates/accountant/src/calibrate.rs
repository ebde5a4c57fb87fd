//! The noise for a budget: the least parameter, up to a relative `2^-20`, at which the accountant's ε is within it.

use exact::Exact;
use measures::{EpsilonDelta, IntoLoss};

use crate::{Accountant, AccountantError, Mechanism};

/// Scales are looked for between these.
const LEAST: f64 = 1e-6;
const MOST: f64 = 1e12;

impl Accountant {
    /// The least noise scale, rounded up by at most a relative `1e-6`, at which `count` runs of `mechanism(scale)`, beside
    /// what is accounted for already, stay within the budget. The answer itself has been checked. More noise must not cost
    /// more privacy; scales that the mechanism refuses count as too little.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// // A thousand steps on samples of one in a hundred, for (1, 1e-6):
    /// let step = |sigma| Mechanism::poisson_gaussian("0.01", sigma);
    /// let sigma = Accountant::new().calibrate(1000, "(1, 1e-6)", step)?;
    /// assert!(sigma > "1.5".parse()? && sigma < "1.8".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calibrate(
        &self,
        count: u64,
        budget: impl IntoLoss<EpsilonDelta>,
        mechanism: impl Fn(Exact) -> Result<Mechanism, AccountantError>,
    ) -> Result<Exact, AccountantError> {
        let budget = budget.into_loss()?;
        let fits = |scale: f64| -> Result<bool, AccountantError> {
            let scale = Exact::try_from(scale).unwrap_or(Exact::INFINITY);
            let Ok(mechanism) = mechanism(scale) else {
                return Ok(false);
            };
            let together = self.clone().add(mechanism, count);
            Ok(together.epsilon(budget.delta())? <= *budget.epsilon())
        };
        let scale = least_scale(fits)?.ok_or_else(|| AccountantError::OutOfReach {
            name: "noise scale",
            limit: MOST.to_string(),
            budget: exact::excerpt(&budget.to_string()),
        })?;
        Ok(Exact::try_from(scale).unwrap_or(Exact::INFINITY))
    }

    /// The most runs of a mechanism that stay within the budget beside what is accounted for already; below 2^40.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let count = Mechanism::laplace("1", "10")?;
    /// let runs = Accountant::new().runs(&count, "(18.951, 1e-6)")?;
    /// assert_eq!(runs, 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn runs(
        &self,
        mechanism: &Mechanism,
        budget: impl IntoLoss<EpsilonDelta>,
    ) -> Result<u64, AccountantError> {
        let budget = budget.into_loss()?;
        const MOST_RUNS: u64 = 1 << 40;
        let fits = |count: u64| -> Result<bool, AccountantError> {
            let together = self.clone().add(mechanism.clone(), count);
            Ok(together.epsilon(budget.delta())? <= *budget.epsilon())
        };
        let (mut enough, mut most) = (0, 1);
        while most < MOST_RUNS && fits(most)? {
            enough = most;
            most *= 2;
        }
        while most - enough > 1 {
            let middle = enough + (most - enough) / 2;
            match fits(middle)? {
                true => enough = middle,
                false => most = middle,
            }
        }
        Ok(enough)
    }
}

/// By halving in the logarithm, from 1.
fn least_scale(
    fits: impl Fn(f64) -> Result<bool, AccountantError>,
) -> Result<Option<f64>, AccountantError> {
    let (mut low, mut high) = (1.0, 1.0);
    if fits(1.0)? {
        while low > LEAST && fits(low)? {
            high = low;
            low /= 2.0;
        }
        if low <= LEAST {
            return Ok(Some(high));
        }
    } else {
        while !fits(high)? {
            low = high;
            high *= 2.0;
            if high > MOST {
                return Ok(None);
            }
        }
    }
    while high > low * (1.0 + 1e-6) {
        let middle = (low * high).sqrt();
        match fits(middle)? {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(Some(high))
}
