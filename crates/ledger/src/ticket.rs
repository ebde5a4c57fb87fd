//! A staged record, and what became of it.

use odometer::journal::Receipt;
use thiserror::Error;

use crate::{
    store::Cause,
    sync::{Arc, Mutex, lock},
};

/// Why a record is not durable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CommitError {
    /// It may be durable or not: the log decides when it is opened again. It counts as charged.
    #[error(
        "it is not known whether record {seq} was written, and it counts as charged: {cause}; open the ledger again"
    )]
    InDoubt {
        /// The number that it has, if it was written.
        seq: u64,
        /// What happened.
        cause: Cause,
    },
    /// It is not there, and will not be after a restart.
    #[error("record {seq} was not written: {cause}; open the ledger again")]
    NotWritten {
        /// The number that it would have had.
        seq: u64,
        /// What happened.
        cause: Cause,
    },
    /// An earlier record was not written, or it is not known, and so nothing more is.
    #[error("the ledger has stopped: {cause}; open it again")]
    Stopped {
        /// What happened.
        cause: Cause,
    },
    /// The ledger was closed.
    #[error("the ledger was closed; open it again")]
    Closed,
}

pub(crate) type Outcome = Result<(), CommitError>;

/// A staged record: what to wait for.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub(crate) receipt: Receipt,
    outcome: Arc<Mutex<Option<Outcome>>>,
}

impl Ticket {
    /// The place of the record in the chain, if it gets written.
    pub fn receipt(&self) -> Receipt {
        self.receipt
    }

    /// Of a record that is staged.
    pub(crate) fn staged(receipt: Receipt) -> Self {
        Self {
            receipt,
            outcome: Arc::default(),
        }
    }

    /// Of a record that another process has written.
    pub(crate) fn durable(receipt: Receipt) -> Self {
        Self {
            receipt,
            outcome: Arc::new(Mutex::new(Some(Ok(())))),
        }
    }

    pub(crate) fn outcome(&self) -> Option<Outcome> {
        lock(&self.outcome).clone()
    }

    pub(crate) fn settle(&self, outcome: Outcome) {
        *lock(&self.outcome) = Some(outcome);
    }
}
