//! Measurements, accounts, odometers, filters, compositors and partitions.

mod account;
mod bill;
mod error;
mod ledger;
mod link;
mod measurement;
mod odometer;
mod payer;
mod session;
mod space;
mod tallies;
mod transformation;

pub use account::MAX_NESTING;
pub use error::{LaunchError, Refusal};
pub use measurement::{Description, Measurement};
pub use odometer::{Odometer, Pipeline, Transformed};
pub use session::{Nested, Session};
pub use space::{AnyOf, Domain, Space};
pub use transformation::{Mismatch, Transformation};
