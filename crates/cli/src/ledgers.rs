//! What the commands on a ledger share: opening it to look at it, its accounts and what they amount to, its charges.

mod accounts;
mod events;
mod holder;
mod progress;
mod reckoning;
mod store;

pub(crate) use accounts::{Account, Standing, Tree};
pub(crate) use events::{Event, EventKind};
pub(crate) use reckoning::{Amount, Reckoning, reckon, share};
pub use store::StoreArguments;
pub(crate) use store::{Viewed, Whereabouts, read_anchor};
