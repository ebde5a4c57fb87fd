//! The durable ledger: a charge is on disk before data are read, and a restart refunds nothing.
//!
//! A [`Ledger`] has the [books](odometer::journal::Books) on which sessions are opened, and keeps them in a [`Store`]: [`Embedded`]
//! is one in a file, and `Postgres` (a feature) one on a server, which several processes share. Calls wait for the disk or the
//! server; neither calls nor drops depend on an asynchronous runtime. Records are chained
//! by hashes ([`frame`], [`chain`]); whoever waits first writes for all who wait ([`Log`]). `docs/ledger.md` in the repository
//! says what is promised and what is not.

#[cfg(test)]
extern crate self as ledger;

pub mod anchor;
mod budget;
pub mod chain;
mod codec;
mod embedded;
mod error;
pub mod export;
pub mod frame;
mod journal;
mod keys;
mod laid;
mod log;
mod opened;
mod options;
mod problem;
mod reader;
mod replay;
mod row;
#[cfg(feature = "postgres")]
mod server;
mod sittings;
mod store;
mod sync;
mod ticket;
mod untouched;

pub use embedded::Embedded;
pub use error::LedgerError;
pub use log::Log;
pub use opened::Ledger;
pub use options::LedgerOptions;
pub use problem::OpenStoreError;
pub use reader::{LedgerEntry, LedgerReader, WrittenDown};
#[cfg(feature = "postgres")]
pub use server::{ConnectError, Postgres};
#[cfg(model)]
pub use sittings::Sittings;
pub use store::{Cause, Each, Hazard, SharedStore, Store, StoreError};
pub use ticket::{CommitError, Ticket};
pub use untouched::Untouched;
