//! Exact noise from exact parameters, and the mechanisms of the field as measurements.
//!
//! - [`samplers`]: exact laws over rational parameters.
//! - [`noise`], [`additive`], [`decimal`]: discrete Laplace and Gaussian noise on integers, vectors, counts, sums,
//!   histograms and decimals.
//! - [`response`]: randomized response, leaky and interactive.
//! - [`selection`]: the exponential mechanism and report-noisy-max.
//! - [`sparse`], [`weights`]: sparse vector, above-threshold and private multiplicative weights: many queries of the same
//!   data, charged once.
//! - [`counter`], [`monitor`]: continual counting and a threshold monitor: data that arrive over time, charged once.
//!
//! Bad parameters are refused when a mechanism is built ([`BuildError`]); nothing fails later because of the data. The
//! functions of the data that an author hands in (predicates, scores, queries) are the author's responsibility: each
//! constructor says what is vouched for. Timing is not covered by any guarantee here.

pub mod additive;
pub mod counter;
pub mod decimal;
mod error;
pub mod monitor;
pub mod noise;
pub mod records;
pub mod response;
pub mod samplers;
pub mod selection;
pub mod sparse;
pub mod weights;

pub use error::BuildError;
