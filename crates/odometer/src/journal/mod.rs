//! Charges that survive: what a session needs of whoever writes them down.
//!
//! A journal is told of every launch at the point where all accounts have agreed, and before the launch runs. Under the
//! accounts' locks it only [stages](Draft::stage) what was drafted before; the launching thread [waits](Draft::wait) with
//! nothing locked, and only then runs the measurement. So memory ≥ written down ≥ ran, and a crash in between keeps the
//! charge. What is written down never depends on data: a session that a measurement's function opens is not journaled.
//!
//! The `ledger` crate has journals on disk and in a database; [`Memory`] is one for tests and for [snapshots](Snapshot).

mod books;
mod budget;
mod charged;
mod fields;
mod memory;
mod news;
mod path;
mod record;
mod retry;
mod room;
mod snapshot;
mod state;
mod terms;
mod time;

pub use self::{
    books::Books,
    budget::{BudgetError, BudgetProposal, MAX_REASON},
    charged::{Past, Run},
    fields::{
        Digest, FieldError, FieldValue, Fields, MAX_FIELD_BYTES, MAX_FIELDS, MAX_LINE,
        MUST_UNDERSTAND, UnknownField,
    },
    memory::Memory,
    path::{DurableKey, Key, MAX_KEY_DEPTH, Path, Segment},
    record::{
        AccountTerms, BudgetDecision, ChargeRecord, CompositorTerms, Event, Guarantee, Halt,
        NewBudget, Note, Opening, PartitionTerms, Place, Posted, Posting, Record, Relation,
        SecondRun, Step, Terms, UnknownEvent,
    },
    room::MAX_PLACE_DEPTH,
    snapshot::{Snapshot, SnapshotError},
    state::{Invalid, State},
};
pub(crate) use self::{books::Drafted, news::Informed};

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Whoever writes charges down. [`State`] does most of the work: what was applied before, and what a record changes.
///
/// It belongs to one tree of sessions in this process: whoever holds it admits launches on the grounds of what they
/// remember, and nobody else may write to it meanwhile. A journal [with other writers](Self::has_other_writers) sees to
/// that by [sittings](Sitting).
pub trait Journal: Send + Sync + 'static {
    /// Do other processes write to it, too?
    fn has_other_writers(&self) -> bool {
        false
    }

    /// Enters a sitting, with nothing locked. When this returns, everything that others have written was handed to `tell`,
    /// in order and once, and nobody else writes until the sitting is over. A journal without other writers has none.
    ///
    /// # Errors
    /// [`JournalError::Unreachable`]: nothing was charged, and the next try may succeed; [`JournalError::Closed`]; what
    /// `tell` answers.
    fn enter(&self, tell: &mut Tell<'_>) -> Result<Option<Box<dyn Sitting>>, JournalError> {
        let _ = tell;
        Ok(None)
    }

    /// Opens a place: the one that is there, with all that was charged to it, or a new one, which is staged, and must be
    /// waited for. Called in a sitting, if there are any.
    ///
    /// # Errors
    /// [`JournalError::OtherTerms`] if there is one with other terms.
    fn open(&self, opening: &Opening) -> Result<OpenedPlace, JournalError>;

    /// The place that is to be opened, if it is there: nothing is written.
    ///
    /// # Errors
    /// [`JournalError::OtherTerms`] if it is there with other terms.
    fn find(&self, opening: &Opening) -> Result<Option<(Place, Past)>, JournalError>;

    /// Prepares a record, with nothing locked: whatever takes time or memory, or may fail, happens here.
    ///
    /// # Errors
    /// [`JournalError::AlreadyCharged`] and [`JournalError::OtherLaunch`] for a key that is there already, staged ones
    /// included; [`JournalError::Exists`] for a place to be opened that is there; or it cannot be written down.
    fn draft(&self, record: Record) -> Result<Box<dyn Draft>, JournalError>;

    /// Waits until everything that was staged before this call is written down.
    ///
    /// # Errors
    /// [`JournalError::InDoubt`], [`JournalError::Closed`].
    fn flush(&self) -> Result<(), JournalError>;
}

/// A record that is ready to be written down. One that is dropped before it was staged never happened; one that is dropped
/// before it was waited for may be written down all the same.
pub trait Draft: Send {
    /// Puts it in the queue, which fixes its place in the order. This happens in a sitting, if there are any, and under the
    /// locks of all accounts on the way: it only moves what was prepared, and does nothing that takes time. The last step that can fail: afterwards all
    /// accounts charge.
    ///
    /// # Errors
    /// As [`Journal::draft`]; then it was not staged, and will not be.
    fn stage(&mut self) -> Result<(), JournalError>;

    /// Waits until it is written down for good. Nothing is locked, and whoever waits is in no sitting.
    ///
    /// # Errors
    /// [`JournalError::InDoubt`]: it may or may not be written down. Nothing may be staged after it until that is known.
    fn wait(self: Box<Self>) -> Result<Written, JournalError>;

    /// The same for a limited time: the draft comes back if its outcome is not known by then, and nothing may run for it until
    /// it is. A journal that does not implement this waits without a limit.
    fn wait_for(self: Box<Self>, limit: Duration) -> Waited {
        let _ = limit;
        Waited::Known(self.wait())
    }
}

/// The result of a wait with a time limit.
pub enum Waited {
    /// As [`Draft::wait`].
    Known(Result<Written, JournalError>),
    /// The limit has passed. The draft is staged, and may be waited for again.
    Unknown(Box<dyn Draft>),
}

/// A time in which only this process writes. Whoever is in it stages what was drafted before, on the grounds of the newest
/// state of all processes. When the last one has left, what was staged is written down, and others get their turn.
pub trait Sitting: Send {
    /// Leaves. Whoever was the last to do so writes; how that went is told to whoever waits for a draft.
    fn leave(self: Box<Self>);
}

/// Takes what other processes have written.
pub type Tell<'a> = dyn FnMut(&[Record]) -> Result<(), JournalError> + 'a;

/// A place, and what was charged to it.
pub struct OpenedPlace {
    /// Its number.
    pub place: Place,
    /// What was charged to it.
    pub past: Past,
    /// If it is new: the record that opens it, which was staged and is to be waited for.
    pub draft: Option<Box<dyn Draft>>,
}

/// What is known of a record that is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    /// Where it is.
    pub receipt: Receipt,
    /// The place that it opened.
    pub opened: Option<Place>,
}

/// Where a record is: its number and the hash of the chain up to it. Shown as `seq:hash`.
/// It is serialized as this text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Receipt {
    /// Its number, in the order of charges.
    pub seq: u64,
    /// Of the chain up to it and with it.
    pub hash: [u8; 32],
}

/// A text that is not a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a receipt is a number, a colon and 64 hexadecimal digits in lower case")]
pub struct NoReceipt;

/// Accepts exactly the text that a receipt is shown as, so that there is one text for each.
impl FromStr for Receipt {
    type Err = NoReceipt;

    fn from_str(text: &str) -> Result<Self, NoReceipt> {
        let (seq, digits) = text.split_once(':').ok_or(NoReceipt)?;
        let hash = fields::from_hex(digits).ok_or(NoReceipt)?;
        let receipt = Self {
            seq: seq.parse().map_err(|_| NoReceipt)?,
            hash: hash.try_into().map_err(|_| NoReceipt)?,
        };
        let same = receipt.to_string() == text;
        same.then_some(receipt).ok_or(NoReceipt)
    }
}

impl TryFrom<String> for Receipt {
    type Error = NoReceipt;

    fn try_from(text: String) -> Result<Self, NoReceipt> {
        text.parse()
    }
}

impl From<Receipt> for String {
    fn from(receipt: Receipt) -> Self {
        receipt.to_string()
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, fields::Hex(&self.hash))
    }
}

/// Why something was not written down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It is not known whether the record was written. It counts as charged, and did not run.
    #[error(
        "it is not known whether record {seq} was written down; it counts as charged, and nothing ran: open the ledger \
         again, and look for it there"
    )]
    InDoubt {
        /// The number that it has if it was written.
        seq: u64,
    },
    /// Nothing is written any more.
    #[error("the ledger writes nothing any more ({reason}): open it again")]
    Closed {
        /// Why.
        reason: String,
    },
    /// The record was not written, for certain: it was not charged, and nothing ran. Accounts in memory have been charged, so
    /// nothing more is written.
    #[error(
        "the record was not written, so it was not charged, and nothing ran ({reason}): open the ledger again"
    )]
    NotWritten {
        /// Why.
        reason: String,
    },
    /// The server does not answer, or somebody else writes all the while. Nothing was charged, and nothing ran.
    #[error(
        "the ledger cannot be reached, so nothing was charged and nothing ran ({reason}): try again once that is mended"
    )]
    Unreachable {
        /// Why.
        reason: String,
    },
    /// There is no room for it. Nothing was written, and the ledger goes on.
    #[error("the ledger has no room for this: {reason}")]
    Full {
        /// Of what.
        reason: String,
    },
    /// The place is there, with other terms.
    #[error(
        "{path} is in the ledger with {stored}, and was opened with {asked}: open it as it was, or under another name"
    )]
    OtherTerms {
        /// The place.
        path: String,
        /// What differs, as it is written down.
        stored: String,
        /// What differs, as it was asked for.
        asked: String,
    },
    /// A filter or a compositor was to be launched under a name that is taken.
    #[error("{path} was launched before: resume it, or launch it under another name")]
    Exists {
        /// The place.
        path: String,
    },
    /// The account is open in this process, and admits launches by what it knows.
    #[error("{path} is open: drop its sessions and all below, and then try again")]
    InUse {
        /// The place.
        path: String,
    },
    /// Something has no name, and so no place.
    #[error("{what} has no name, and a ledger finds things by their names: give it one")]
    Unnamed {
        /// What.
        what: String,
    },
    /// A rule, measure, metric, loss or distance of one's own that says nothing of how it is written down.
    #[error(
        "{what} cannot be written down: {}its author has to implement {method}",
        if method.ends_with("::name`") { "give a name to it, or to its measure, if that takes one (`.named(…)`); otherwise " } else { "" }
    )]
    NotStorable {
        /// What.
        what: String,
        /// The method that says so.
        method: &'static str,
    },
    /// The launch with this key was charged before. It is not run again: that would be a second sample.
    #[error("the launch `{key}` was charged before, as record {receipt}; it does not run again")]
    AlreadyCharged {
        /// The key.
        key: String,
        /// Where it is written down.
        receipt: Receipt,
    },
    /// The key belongs to another launch.
    #[error("the key `{key}` belongs to another launch, record {seq}: take another key")]
    OtherLaunch {
        /// The key.
        key: String,
        /// The record of the other launch.
        seq: u64,
    },
    /// Another process has written a record that this program does not know and must not ignore.
    #[error("{reason}. Nothing was charged, and nothing ran")]
    Newer {
        /// The record, why it is not read, and what to do.
        reason: String,
    },
    /// What is written down makes no sense here.
    #[error("the ledger is damaged: {0}")]
    Damaged(String),
    /// This cannot be done on a journal.
    #[error("{0}")]
    Unsupported(String),
}
