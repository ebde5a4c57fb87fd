#![doc = include_str!("../README.md")]
//!
//! # Modules
//! This package re-exports the library crates of the workspace as modules; each is also usable alone. The OpenDP bridge is
//! behind the feature `opendp`.

pub use auditor;
pub use exact;
pub use measures;
pub use mechanisms;
pub use odometer;
#[cfg(feature = "opendp")]
pub use opendp_bridge;
pub use queryable;
