//! Measurements, accounts, odometers, filters, compositors and partitions.

mod account;
mod bill;
mod compositor;
mod error;
mod ledger;
mod link;
mod measurement;
pub mod message;
mod odometer;
mod partition;
mod payer;
mod quote;
mod session;
mod snapshot;
mod space;
mod tallies;
mod transformation;

pub use account::MAX_NESTING;
pub use compositor::{ComposedBy, Composition, Compositor};
pub use error::{LaunchError, Refusal};
pub use measurement::{Description, Measurement};
pub use odometer::{Filter, FilterAfter, Odometer, Pipeline, Transformed};
pub use partition::{CountsRecords, Partition};
pub use session::{Nested, Session};
pub use snapshot::{Charge, RestoreError, Snapshot, SnapshotOf};
pub use space::{AnyOf, Domain, Space};
pub use transformation::{Mismatch, Transformation};
