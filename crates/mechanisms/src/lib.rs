//! Exact noise from exact parameters, and the mechanisms of the field as measurements.
//!
//! - [`samplers`]: exact laws over rational parameters.
//! - [`noise`], [`additive`], [`decimal`]: discrete Laplace, staircase and Gaussian noise on integers, vectors, counts, sums,
//!   histograms and decimals.
//! - [`response`]: randomized response, leaky and interactive.
//! - [`selection`]: the exponential mechanism, report-noisy-max, and the best few.
//! - [`statistics`], [`keys`], [`persons`]: quantiles, means and variances; keys that nobody lists; bounds on what a person contributes.
//! - [`propose`]: propose-test-release, for what changes little near the data at hand.
//! - [`sparse`], [`weights`]: sparse vector, above-threshold and private multiplicative weights: many queries of the same
//!   data, charged once.
//! - [`counter`], [`monitor`]: continual counting and a threshold monitor: data that arrive over time, charged once.
//! - [`histogram`]: a statistic of columns (the largest, a quantile) while rows arrive, built from these; charged once.
//! - [`cores`]: the core numbers of a graph, by a local protocol.
//! - [`sampling`]: measurements on a Poisson sample of the records.
//! - [`spend`], [`calibrate`](mod@calibrate): noise for a loss instead of a scale, for one mechanism and for a pipeline.
//!
//! Parameters are decimal text, integers or exact numbers ([`Parameter`]). Bad parameters are refused when a mechanism is built ([`BuildError`]); nothing fails later because of the data. The
//! functions of the data that an author hands in (predicates, scores, queries) are the author's responsibility: each
//! constructor says what is vouched for. Timing is not covered by any guarantee here.
//!
//! Papers are cited by keys such as \[HST+23\]; `docs/references.md` in the repository lists them all.

pub mod additive;
pub mod calibrate;
pub mod cores;
pub mod counter;
pub mod decimal;
mod error;
pub mod histogram;
mod integers;
pub mod keys;
mod moments;
pub mod monitor;
pub mod noise;
mod parameter;
pub mod persons;
pub mod propose;
pub mod records;
pub mod response;
pub mod samplers;
pub mod sampling;
pub mod selection;
mod sensitivity;
pub mod sparse;
pub mod spend;
pub mod statistics;
pub mod weights;

pub use error::BuildError;
pub use parameter::Parameter;
