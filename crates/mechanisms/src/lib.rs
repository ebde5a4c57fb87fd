//! Exact noise from exact parameters, and the mechanisms of the field as measurements.
//!
//! - [`samplers`]: exact laws over rational parameters.
//! - [`noise`], [`additive`], [`decimal`]: discrete Laplace and Gaussian noise on integers, vectors, counts, sums,
//!   histograms and decimals.
//! - [`response`]: randomized response, leaky and interactive.
//! - [`selection`]: the exponential mechanism and report-noisy-max.

pub mod additive;
pub mod decimal;
mod error;
pub mod noise;
pub mod records;
pub mod response;
pub mod samplers;
pub mod selection;

pub use error::BuildError;
