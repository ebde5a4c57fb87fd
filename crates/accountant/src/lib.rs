//! A certified accountant: what thousands of mechanisms that are fixed in advance reveal together, as an upper bound with a
//! proof, at any δ, in milliseconds.
//!
//! ```
//! use odometry::accountant::{Accountant, Mechanism};
//! let accountant = Accountant::new()
//!     .add(Mechanism::laplace("1", "20")?, 100)
//!     .add(Mechanism::gaussian("1", "30")?, 100)
//!     .add(Mechanism::randomized_response("0.03")?, 100);
//! let epsilon = accountant.epsilon("1e-30")?;
//! assert!(epsilon < "8".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Planning DP-SGD: 60,000 records, batches of about 600, gradients clipped to norm 1, steps fixed before training starts.
//!
//! ```
//! use odometry::accountant::{Accountant, Mechanism};
//! let step = |sigma| Mechanism::poisson_gaussian("0.01", sigma);
//! // The noise for 60 epochs within (3, 1e-5):
//! let sigma = Accountant::new().calibrate(6000, "(3, 1e-5)", step)?;
//! assert!(sigma > "1.28".parse()? && sigma < "1.3".parse()?);
//! // With 50 noisy counts beside it:
//! let beside = Accountant::new()
//!     .add(step(sigma)?, 6000)
//!     .add(Mechanism::discrete_laplace(1, "200")?, 50);
//! assert!(beside.epsilon("1e-5")? < "3.1".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A [`Mechanism`] is known by a pair of laws that dominates it; the constructors take exact parameters.
//! - An [`Accountant`] composes mechanisms with counts: [`epsilon`](Accountant::epsilon), [`delta`](Accountant::delta),
//!   [`curve`](Accountant::curve).
//! - A [`PairMap`] is what a measurement knows of its pair beside its own map; [`Paired`] measures have a pair for every loss.
//! - [`calibrate`](Accountant::calibrate) finds the noise for a budget, [`runs`](Accountant::runs) the number of runs.
//! - [`CertifiedApprox`], [`CertifiedPure`] and [`CertifiedProfile`] are rules for compositors.
//! - [`compare`](fn@compare) shows all rules side by side, the accountant's bound among them.
//! - `docs/accountant.md` has the method and its proof: a contour integral of the composition's moment generating function,
//!   by a trapezoid rule that can only err upwards, in floating point with counted errors.

mod accountant;
mod calibrate;
mod compare;
mod contour;
mod directed;
mod direction;
mod error;
mod failure;
mod laws;
mod mechanism;
mod numbers;
mod promised;
#[cfg(test)]
mod reference;
mod relation;
mod rule;

pub use accountant::Accountant;
pub use compare::compare;
pub use error::AccountantError;
pub use mechanism::Mechanism;
pub use promised::{Countable, PairMap, Paired};
pub use rule::{CertifiedApprox, CertifiedProfile, CertifiedPure};
