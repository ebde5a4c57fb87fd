//! The durable ledger: a charge is on disk before data are read, and a restart refunds nothing.

pub mod anchor;
pub mod chain;
mod embedded;
pub mod export;
pub mod frame;
mod log;
mod store;
mod sync;

pub use embedded::{Embedded, OpenStoreError};
pub use log::{CommitError, Log, Ticket};
pub use store::{Cause, Each, Store, StoreError};
