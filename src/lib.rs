//! Interactive differential privacy as state machines that anyone can build, compose, account for and check.
//!
//! This package re-exports the library crates of the workspace as modules; each is also usable alone.

pub use exact;
pub use measures;
pub use mechanisms;
pub use odometer;
#[cfg(feature = "opendp")]
pub use opendp_bridge;
pub use queryable;
