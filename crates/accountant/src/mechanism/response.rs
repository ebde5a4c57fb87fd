//! Randomized response, and with it every pure or approximate guarantee.

use exact::{Exact, Parameter, Round};
use measures::EpsilonDelta;

use super::{Mechanism, Side};
use crate::AccountantError;
use crate::laws::{Law, Response};

impl Mechanism {
    /// Randomized response with parameter ε, which dominates every ε-private mechanism. Infinite ε: no guarantee.
    ///
    /// # Errors
    /// [`AccountantError::NotANumber`].
    pub fn randomized_response(epsilon: impl Parameter) -> Result<Mechanism, AccountantError> {
        let epsilon = AccountantError::read("ε", epsilon, Round::Up)?;
        Ok(Mechanism::from(EpsilonDelta::saturating(
            epsilon,
            Exact::ZERO,
        )))
    }

    /// Any (ε, δ)-private mechanism: with probability δ everything is revealed, otherwise it is randomized response
    /// (\[KOV15\], \[MV16\]). δ above 1 is an error.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let step = Mechanism::approximate("0.1", "1e-9")?;
    /// let epsilon = Accountant::new().add(step, 1000).epsilon("1e-5")?;
    /// assert!(epsilon < "20".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approximate(
        epsilon: impl Parameter,
        delta: impl Parameter,
    ) -> Result<Mechanism, AccountantError> {
        let epsilon = AccountantError::read("ε", epsilon, Round::Up)?;
        let delta = AccountantError::read("δ", delta, Round::Up)?;
        let loss = EpsilonDelta::new(epsilon, delta.clone());
        let loss = loss.map_err(|_| AccountantError::parameter("δ", &delta, "between 0 and 1"))?;
        Ok(Mechanism::from(loss))
    }
}

impl From<EpsilonDelta> for Mechanism {
    fn from(loss: EpsilonDelta) -> Mechanism {
        let epsilon = loss.epsilon().to_f64(Round::Up);
        if loss.is_infinite() || epsilon > LARGEST {
            return Mechanism::symmetric(Side::NOTHING);
        }
        // Below the normal numbers products would lose their relative accuracy.
        let law = (epsilon > 0.0).then(|| {
            Law::Response(Response {
                epsilon: epsilon.max(SMALLEST),
            })
        });
        Mechanism::symmetric(Side {
            law,
            failure: loss.delta().clone(),
        })
    }
}

/// A larger ε guarantees nothing that a number could say.
pub(super) const LARGEST: f64 = 1e30;
/// A smaller one is rounded up.
pub(super) const SMALLEST: f64 = 1e-100;
