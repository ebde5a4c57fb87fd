//! Continuous noise: Laplace and Gaussian.

use exact::{Parameter, Round};

use super::response::{LARGEST, SMALLEST};
use super::{Mechanism, Side, noise};
use crate::AccountantError;
use crate::laws::{Gaussian, Laplace, Law};

impl Mechanism {
    /// Laplace noise of this scale on a value of this sensitivity. `Δ/b` is rounded up.
    pub fn laplace(
        sensitivity: impl Parameter,
        scale: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        let Some((sensitivity, scale)) = noise(sensitivity, scale, "scale")? else {
            return Ok(Mechanism::symmetric(Side::ZERO));
        };
        let epsilon = sensitivity
            .div(&scale, Round::Up)
            .to_f64(Round::Up)
            .max(SMALLEST);
        Ok(Mechanism::symmetric(match epsilon > LARGEST {
            true => Side::NOTHING,
            false => Side::of(Law::Laplace(Laplace { epsilon })),
        }))
    }

    /// Gaussian noise of standard deviation σ on a value of this sensitivity (in the Euclidean norm). `(Δ/σ)²` is rounded up.
    pub fn gaussian(
        sensitivity: impl Parameter,
        sigma: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        let Some((sensitivity, sigma)) = noise(sensitivity, sigma, "σ")? else {
            return Ok(Mechanism::symmetric(Side::ZERO));
        };
        let mu = sensitivity.div(&sigma, Round::Up);
        let square = mu.mul(&mu, Round::Up).to_f64(Round::Up).max(SMALLEST);
        Ok(Mechanism::symmetric(match square > LARGEST {
            true => Side::NOTHING,
            false => Side::of(Law::Gaussian(Gaussian { square })),
        }))
    }
}
