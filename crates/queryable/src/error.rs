//! What an analyst is told when a queryable does not answer.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a queryable did not answer.
///
/// An error is part of the analyst's view, like any answer: errors can be compared, and the author
/// of a machine vouches that its errors are covered by its privacy map. Texts are boxed: equal
/// errors do not differ in a capacity, or in whether the text is static.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Error)]
#[non_exhaustive]
// Whatever a step answers is moved together with room for an error: payloads at odd offsets make that slow.
#[repr(u64)]
pub enum AskError {
    /// The machine does not know this query. Its state is as it was.
    #[error("invalid query: {0}")]
    InvalidQuery(Box<str>),
    /// The machine knows the query and could not answer it.
    #[error("the machine failed: {0}")]
    Failed(Box<str>),
    /// The machine or the analyst ended the conversation.
    #[error("the machine has halted")]
    Halted,
    /// The machine panicked, now or earlier; it will not answer again.
    #[error("the machine panicked and is halted")]
    Panicked,
    /// A newer sibling was spawned in turn at some level above.
    #[error(
        "out of turn: a newer machine was spawned under a sequential composition, so this one no longer answers"
    )]
    OutOfTurn,
    /// Whoever has a say in the machine's turns lives on another thread.
    #[error("the composition that this machine is part of lives on another thread: ask it there")]
    WrongThread,
    /// A step asked a machine, or used a root, that is not below its own machine; or a root that was made inside a step
    /// was to post-process a machine that is not below that step's machine.
    #[error(
        "not spawned here: a step may use only machines below its own, not itself, its ancestors or strangers"
    )]
    NotSpawnedHere,
    /// The tree of machines is as deep as it may be.
    #[error("machines are nested too deeply: the limit is {limit}")]
    TooDeep {
        /// The largest depth.
        limit: u16,
    },
    /// A post-processor went on asking without answering, and is halted.
    #[error("the post-processor did not answer within {limit} inner steps and is halted")]
    Unanswered {
        /// How many inner steps it was allowed.
        limit: u32,
    },
    /// What was launched has answered as many messages, with everything it spawned, as it may where communication must be
    /// finite.
    #[error(
        "this launch has answered {limit} messages, with everything it spawned, and may answer no more; launch it again, or allow more messages where the account or composition is opened"
    )]
    TooManyMessages {
        /// How many it may answer.
        limit: u64,
    },
    /// A scripted draw could not be replayed; the script says why.
    #[error("the script does not fit this run: {0}")]
    Script(Box<str>),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    NoEntropy,
    /// It was made in the process from which this one was forked. Both would draw the same coins and spend the same
    /// budget, so only the process that made it goes on with it.
    #[error(
        "made before a fork, in the parent process: make the root after the fork, in the process that uses it, and share a budget between processes through a ledger"
    )]
    Forked,
}

impl AskError {
    /// The query makes no sense to the machine.
    pub fn invalid(why: impl Into<Box<str>>) -> Self {
        Self::InvalidQuery(why.into())
    }

    /// The machine could not answer. The text reaches the analyst: it must not depend on data beyond what the
    /// machine's privacy map covers.
    pub fn failed(why: impl Into<Box<str>>) -> Self {
        Self::Failed(why.into())
    }
}
