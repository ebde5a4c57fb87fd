//! Why a launch did not answer, and why a loss is not known. Errors are part of the analyst's view: they are made from
//! what the analyst sent and from what was charged, never from data.

use std::fmt;

use measures::{MapError, RuleError};
use queryable::AskError;
use thiserror::Error;

/// Why a launch, or another wish to a session, was not fulfilled.
///
/// Only [`Failed`](LaunchError::Failed) has been charged ([`was_charged`](LaunchError::was_charged)); in all other cases
/// nothing was charged, no data was read, and everything is as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
// Every answer is moved together with room for an error: payloads at odd offsets make that slow.
#[repr(u64)]
pub enum LaunchError {
    /// An account on the way to the root has too little left.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The filter was of the halting form, and has refused before.
    #[error("{account} has refused a launch before, and halts at the first refusal")]
    Halted {
        /// The account.
        account: String,
    },
    /// The measurement or transformation is for other data, or for another distance between data.
    #[error("this takes {theirs}, but the session is on {ours}")]
    Space {
        /// The session's space.
        ours: String,
        /// The measurement's space.
        theirs: String,
    },
    /// The measurement counts in another measure, or in the same with other parameters.
    #[error(
        "the measurement counts in {theirs}, but the session in {ours}; convert the measurement first"
    )]
    Measure {
        /// The session's measure.
        ours: String,
        /// The measurement's measure.
        theirs: String,
    },
    /// The privacy map does not say what the launch would cost.
    #[error("the cost of {launch} is not known: {source}")]
    Map {
        /// What was to be launched.
        launch: String,
        /// What the map said.
        source: MapError,
    },
    /// The privacy map panicked, or tried to use a session.
    #[error("the privacy map of {launch} panicked")]
    MapPanicked {
        /// What was to be launched.
        launch: String,
    },
    /// A rule could not be set up.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A rule panicked, or tried to use a session, when it was asked about an account. The launch, if there was one, did
    /// not run.
    #[error("the rule of {account} panicked")]
    RulePanicked {
        /// The account.
        account: String,
    },
    /// Sessions are nested as deeply as they may be.
    #[error("sessions are nested too deeply: the limit is {limit}")]
    TooDeep {
        /// The largest depth.
        limit: u16,
    },
    /// The account has taken as many different measurements as it can list.
    #[error("the account's ledger is full")]
    LedgerFull,
    /// Other threads launched all the while, and a condition on the total could not be checked in between.
    #[error("other launches came in between each time; try again")]
    Contended,
    /// The session cannot be used from here, or its turn has passed. Nothing was charged.
    #[error("the session does not answer: {0}")]
    Unusable(AskError),
    /// The launch was charged and ran, and did not answer. The charge stays.
    #[error("the launch was charged, and failed: {0}")]
    Failed(AskError),
    /// The data set is not in the domain.
    #[error("the data are not in the domain {domain}")]
    NotInDomain {
        /// The domain.
        domain: String,
    },
    /// A compositor has no slot for this loss.
    #[error("{launch} asks for {asked}, and no slot that is left has room for that: {left}")]
    NoSlot {
        /// What was to be launched.
        launch: String,
        /// Its loss.
        asked: String,
        /// The losses of the slots that are left, in order.
        left: String,
    },
    /// A wish that makes no sense for this session, with the reason.
    #[error("{0}")]
    Unsupported(String),
}

impl LaunchError {
    /// Was the launch charged all the same?
    pub fn was_charged(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

/// Which account refused a launch, and in which numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refusal {
    /// The account that refused.
    pub account: String,
    /// The measure in which it counts.
    pub measure: String,
    /// What was to be launched.
    pub launch: String,
    /// The distance for which the budget holds.
    pub d_in: String,
    /// What the launch would have been charged.
    pub asked: String,
    /// What was charged before.
    pub spent: String,
    /// The largest single launch that would have been admitted, where the rule can tell.
    pub remaining: Option<String>,
    /// The budget.
    pub limit: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            account,
            measure,
            launch,
            d_in,
            asked,
            spent,
            remaining,
            limit,
        } = self;
        write!(f, "refused by {account}: {launch} asks for {asked}, ")?;
        match remaining {
            Some(remaining) => write!(f, "but only {remaining} is left of {limit}")?,
            None => write!(f, "but there is not that much left of {limit}")?,
        }
        write!(f, " ({spent} spent; {measure} at distance {d_in})")
    }
}
