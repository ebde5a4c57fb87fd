//! Exact noise from exact parameters, and the mechanisms of the field as measurements.

mod error;
pub mod samplers;

pub use error::BuildError;
