//! Why a launch did not answer, and why a loss is not known. Errors are part of the analyst's view: they are made from
//! what the analyst sent and from what was charged, never from data.

use measures::{MapError, RuleError};
use queryable::AskError;
use thiserror::Error;

use crate::{
    journal::{JournalError, Receipt},
    refusal::Refusal,
    transformation::Mismatch,
};

/// Why a launch, or another wish to a session, was not fulfilled.
///
/// Only [`Failed`](LaunchError::Failed), and sometimes [`Stopped`](LaunchError::Stopped), has been charged, and
/// [`InDoubt`](LaunchError::InDoubt) counts as charged ([`was_charged`](LaunchError::was_charged)). In all other cases
/// nothing was charged, and the launch read no data. A refusal may halt an account of the halting form.
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
    /// What was to be launched, or what it was to be launched in, could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A rule panicked, or tried to use a session, when it was asked about an account. The launch, if there was one, did
    /// not run.
    #[error("the rule of {account} panicked")]
    RulePanicked {
        /// The account.
        account: String,
    },
    /// Everything on these data has stopped for good: a transformation, or the key function of a partition, failed on
    /// them, for which no charge can pay. The operator who opened the data [can find out](crate::Watch) what it was. A launch
    /// that was charged before it happened is not answered, unless its function had ended; later ones are not charged.
    #[error(
        "everything on these data has stopped for good{}; whoever opened them can find out why",
        if *charged { ", and the launch was charged" } else { "" }
    )]
    Stopped {
        /// Was it charged?
        charged: bool,
    },
    /// Sessions, or the combinators by which something was made, are nested as deeply as they may be.
    #[error("nested too deeply: the limit is {limit}")]
    TooDeep {
        /// The largest depth.
        limit: u16,
    },
    /// An account on the way to the root lists as many different measurements as it may from this session: as its quota
    /// allows, or the share of it that this session's account has.
    #[error(
        "{account} lists as many different measurements as it may, {quota}; launch what is listed already, or open the \
         session with a larger quota"
    )]
    LedgerFull {
        /// The account.
        account: String,
        /// Its quota, or the share of it.
        quota: u32,
    },
    /// Other threads launched all the while, and a condition on the total could not be checked in between.
    #[error("other launches came in between each time; try again")]
    Contended,
    /// The session cannot be used from here, or its turn has passed. Nothing was charged.
    #[error("the session does not answer: {0}")]
    Unusable(AskError),
    /// The measurement cannot be launched now, whatever it costs. Nothing was charged.
    #[error("{launch} cannot be launched now: {reason}")]
    NotReady {
        /// What was to be launched.
        launch: String,
        /// Why not.
        reason: AskError,
    },
    /// The launch was charged, and did not answer. Its function may not have run. The charge stays.
    #[error("the launch was charged, and failed: {0}")]
    Failed(AskError),
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
    /// The rule is only a filter's: it has a budget, and no running loss.
    #[error(
        "the rule of {account} is only a filter's and has no running loss; ask what it has spent"
    )]
    OnlyFilter {
        /// The account.
        account: String,
    },
    /// A stability map gives other distances than it gave before.
    #[error("a stability map gives other distances than it gave before; maps must not change")]
    Contradiction,
    /// On a ledger: it is not known whether the charge was written down. It counts as charged, and nothing ran; after the
    /// ledger was opened again, the log decides.
    #[error("the charge is in doubt, and the launch did not run: {0}")]
    InDoubt(Box<JournalError>),
    /// On a ledger: the launch with this key was charged before, and does not run again.
    #[error("the launch `{key}` was charged before, as record {receipt}; it does not run again")]
    AlreadyCharged {
        /// The key.
        key: String,
        /// Where it is written down.
        receipt: Receipt,
    },
    /// On a ledger: the launch is not in the ledger, and did not run. After [`JournalError::NotWritten`], accounts in memory
    /// count it until the ledger is opened again.
    #[error(transparent)]
    Journal(Box<JournalError>),
    /// Nothing is known to remain at this distance, so it cannot be spent.
    #[error("nothing is known to remain at distance {d_in}")]
    NothingRemains {
        /// The distance.
        d_in: String,
    },
}

impl LaunchError {
    /// Was the launch charged all the same? One that [is in doubt](Self::is_in_doubt) counts as charged.
    pub fn was_charged(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Stopped { charged: true }) || self.is_in_doubt()
    }

    /// Is it unknown whether the launch was charged? Then it did not run.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt(_))
    }

    /// What was staged, and is not known to be written down, or is known not to be.
    pub(crate) fn in_doubt(error: JournalError) -> Self {
        match error {
            JournalError::NotWritten { .. } => Self::Journal(Box::new(error)),
            error => Self::InDoubt(Box::new(error)),
        }
    }
}

/// Why something could not be opened: a session, a filter's budget, a compositor, a part of a partition. No data was read but to
/// see whether they are in the space, and nothing was charged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The data set is not in the space.
    #[error("the data are not in the space {space}")]
    NotInSpace {
        /// The space.
        space: String,
    },
    /// The transformation is for other data, or for another distance between data.
    #[error("this takes {theirs}, but the session is on {ours}")]
    Space {
        /// The session's space.
        ours: String,
        /// The transformation's space.
        theirs: String,
    },
    /// The conversion is between other measures, or between the same with other parameters.
    #[error("the conversion is for {theirs}, but the sessions count in {ours}")]
    Measure {
        /// The sessions' measures.
        ours: String,
        /// The conversion's measures.
        theirs: String,
    },
    /// The rule does not take this budget, or these losses.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The rule panicked, or tried to use a session.
    #[error("the rule of {account} panicked")]
    RulePanicked {
        /// The account.
        account: String,
    },
    /// Sessions, or the combinators by which something was made, are nested as deeply as they may be.
    #[error("nested too deeply: the limit is {limit}")]
    TooDeep {
        /// The largest depth.
        limit: u16,
    },
    /// The session or the root cannot be used from here.
    #[error("the session does not answer: {0}")]
    Unusable(AskError),
    /// A partition was to put each record into no part at all.
    #[error("each record must be in at least one part")]
    NoParts,
    /// A partition has as many parts as its session's quota allows.
    #[error(
        "{account} has as many different parts as it may, {quota}; open the session with a larger quota"
    )]
    PartsFull {
        /// The account.
        account: String,
        /// Its quota.
        quota: u32,
    },
    /// On a ledger: it cannot be opened there, or not like this.
    #[error(transparent)]
    Journal(Box<JournalError>),
    /// The slots of a compositor were to be taken in any order under a rule whose children may not interleave.
    #[error("slots can be taken in any order only if the rule's children may interleave")]
    Sequential,
}

impl From<JournalError> for LaunchError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::AlreadyCharged { key, receipt } => Self::AlreadyCharged { key, receipt },
            error => Self::Journal(Box::new(error)),
        }
    }
}

impl From<JournalError> for OpenError {
    fn from(error: JournalError) -> Self {
        Self::Journal(Box::new(error))
    }
}

impl From<Mismatch> for OpenError {
    fn from(Mismatch { first, second }: Mismatch) -> Self {
        Self::Space {
            ours: first,
            theirs: second,
        }
    }
}
