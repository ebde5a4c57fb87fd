//! Admission: how a launch is charged to every account from the session's to the root, or to a
//! filter that was launched in full. Dry runs, questions, charges of other processes and restored
//! charges go the same way, and differ by their [`Kind`].
//!
//! 1. **Prepare.** Nothing is locked. [`Payer::prepare`] goes from the leaf to the root: each
//!    account asks for the cost at its cap's distance, and adds a [`Step`].
//! 2. **Check.** The accounts lock, from the leaf to the root. Each step computes its next tally,
//!    asks the rule, and reserves memory. The first refusal ends this.
//! 3. **Stage.** On a journal, the record enters the queue ([`Staging`]). This is the last
//!    operation that can fail.
//! 4. **Commit.** From the root to the leaf, each account takes over its next tally, counts the
//!    launch in its list, and unlocks. No user-supplied code runs and nothing is allocated.
//!
//! Then no account is locked any more: refusals are put into words, the launch waits for its record,
//! and runs. Accounts lock in one order, because an account has one parent for life: so they do not
//! deadlock.
//!
//! On a journal, an admission runs inside the write lease and under the [turn locks](TurnLocks).
//! Both are held while a refusal is put into words and while a launch is merged.

use std::{borrow::Cow, mem};

use measures::{Measure, Metric};
use queryable::{AskError, Root, Scope, Turn, guarded};

use crate::{
    account::Payer,
    account::cost::Cost,
    error::LaunchError,
    journal::{JournalError, Posting},
    planted::{PlantedMistake, is_planted},
    sync::MutexGuard,
};

/// What a launch is admitted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Plain,
    /// A refusal leads to another try, so it halts no account.
    Tentative,
    /// Only if exactly this number of launches was charged to the leaf's account before.
    After(u64),
    /// Only a question: nothing is charged, and no account halts.
    Asked,
    /// A launch in a dry run, charged to copies of accounts: nothing is listed, and no account
    /// halts.
    Planned,
    /// This number of launches that were charged before, to one account: the rule is not asked.
    Past(u64),
}

impl Kind {
    /// How many launches are charged.
    pub(super) fn count(self) -> u64 {
        match self {
            Self::Past(count) => count,
            _ => 1,
        }
    }

    /// How many launches the leaf's account must have been charged, if that matters.
    fn expected(self) -> Option<u64> {
        match self {
            Self::After(launched) => Some(launched),
            _ => None,
        }
    }

    /// Whether accounts change once all have agreed.
    fn charges(self) -> bool {
        self != Self::Asked
    }

    /// Whether a refusal halts accounts of the halting form.
    pub(super) fn halts(self) -> bool {
        matches!(self, Self::Plain | Self::After(_))
    }

    /// Whether the launch has happened, so that no rule is asked, and a full list does not refuse.
    pub(super) fn is_past(self) -> bool {
        matches!(self, Self::Past(_))
    }

    /// Whether it begins a turn in sequential accounts.
    pub(super) fn takes_turns(self) -> bool {
        !matches!(self, Self::Planned | Self::Past(_))
    }
}

/// The part of one account in an admission. The type of its costs and tallies is erased.
pub(crate) trait Step<'a> {
    /// Locks the account, and checks the launch. The account stays locked, unless a rule or a tally
    /// panics.
    fn check(&mut self, kind: Kind, expected: Option<u64>) -> Result<Checked, Refused>;

    /// Halts the locked account.
    fn halt(&mut self);

    /// Charges what was checked, and unlocks the account. Returns the launch's turn, if the account
    /// is sequential.
    fn commit(&mut self, kind: Kind) -> Option<Turn>;

    /// Unlocks the account, if it is locked.
    fn unlock(&mut self);

    /// Forgets what an attempt has computed. Destructors run, so nothing may be locked.
    fn reset(&mut self);

    /// Drops all values with user-supplied destructors, which may panic: then it is called again.
    fn release(&mut self);

    /// After [`Refused::Crowded`]: prepares to count the launch in an entry that stands for several
    /// measurements. No account may be locked.
    fn merge(&mut self, kind: Kind) -> Result<(), LaunchError>;

    /// The refusal in words. The rule is asked, so no account may be locked.
    fn explain(&mut self, refused: Refused) -> LaunchError;

    /// The name of the account.
    fn label(&self) -> &str;

    /// On a journal: what the account is charged. Maps are asked, so nothing may be locked.
    fn posting(&self) -> Result<Option<Posting>, LaunchError>;

    /// Whether a refusal by this account halts it.
    fn is_halting(&self) -> bool;

    /// On a journal: the [turn lock](TurnLocks) of the account, if it is sequential.
    fn turn_lock(&self) -> Option<MutexGuard<'a, ()>>;
}

/// The steps of a launch, from the leaf to the root.
pub(crate) type Steps<'a> = Vec<Box<dyn Step<'a> + 'a>>;

/// What an account asks of a launch that it agrees to.
pub(crate) struct Checked {
    pub(super) is_sequential: bool,
    pub(super) messages: Option<u64>,
}

/// Why an account does not agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refused {
    /// Too little is left.
    Over,
    /// The account has halted.
    Halted,
    /// The launch has other sizes of change than before.
    Contradiction,
    /// Another number of launches was charged than was expected.
    Moved,
    /// The list has no room for one more measurement: the launch may be [merged](Step::merge).
    Crowded,
    /// The list has no room, and this limit.
    Full(u32),
}

/// What is recorded of an admission while accounts are locked. Foreign code must be guarded.
pub(super) trait Staging {
    /// All accounts have agreed.
    fn charge(&mut self) -> Result<(), JournalError>;

    /// The account of the step with this number halts.
    fn halt(&mut self, step: usize) -> Result<(), JournalError>;
}

/// Nothing is recorded: the accounts are in memory only.
pub(super) struct Unrecorded;

impl Staging for Unrecorded {
    fn charge(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn halt(&mut self, _: usize) -> Result<(), JournalError> {
        Ok(())
    }
}

/// A launch that was charged, and may run.
#[derive(Default)]
pub(crate) struct Admitted {
    /// Its turn in every sequential account.
    pub(crate) turns: Vec<Turn>,
    /// The number of messages that it may answer, with everything it spawns.
    pub(crate) messages: Option<u64>,
}

impl Admitted {
    #[inline]
    pub(crate) fn run<X>(
        self,
        root: &Root,
        function: impl FnOnce(&mut Scope<'_>) -> Result<X, AskError>,
    ) -> Result<X, AskError> {
        match self.messages {
            // Most rules are concurrent.
            None if self.turns.is_empty() => root.run(None, function),
            None => root.run(self.turns, function),
            Some(messages) => root.run_answering_at_most(messages, self.turns, function),
        }
    }
}

/// A prepared launch: nothing is locked.
pub(crate) struct Admission<'a>(Steps<'a>);

/// Why an admission ended.
enum Ended {
    /// The account of the step with this number refused.
    Refused(usize, Refused),
    /// The journal failed, so that nothing was charged.
    Journal(JournalError),
}

impl<'a> Admission<'a> {
    /// Prepares a launch in this account and all above.
    ///
    /// # Errors
    /// [`LaunchError::Map`], [`LaunchError::MapPanicked`], [`LaunchError::TooDeep`].
    pub(super) fn prepare<MI: Metric, M: Measure>(
        leaf: &'a impl Payer<MI, M>,
        cost: &'a Cost<MI, M>,
    ) -> Result<Self, LaunchError> {
        let mut admission = Self(Vec::with_capacity(usize::from(leaf.depth()) + 1));
        leaf.prepare(Cow::Borrowed(cost), None, &mut admission.0)?;
        Ok(admission)
    }

    /// An admission in one account only.
    pub(super) fn alone(step: Box<dyn Step<'a> + 'a>) -> Self {
        Self(vec![step])
    }

    pub(super) fn steps(&self) -> &[Box<dyn Step<'a> + 'a>] {
        &self.0
    }

    /// Checks, stages and commits. Afterwards no account is locked.
    ///
    /// # Errors
    /// [`LaunchError`]: nothing was charged.
    pub(super) fn admit(
        &mut self,
        kind: Kind,
        staging: &mut impl Staging,
    ) -> Result<Admitted, LaunchError> {
        loop {
            match self.attempt(kind, staging)? {
                Ok(admitted) => return Ok(admitted),
                Err(Ended::Refused(at, Refused::Crowded)) => {
                    let _ = guarded(|| self.0.iter_mut().for_each(|step| step.reset()));
                    self.0[at].merge(kind)?;
                }
                Err(Ended::Refused(at, refused)) => return Err(self.0[at].explain(refused)),
                Err(Ended::Journal(error)) => return Err(error.into()),
            }
        }
    }

    /// One attempt. Rules and tallies run under the locks. If one panics, values that it was using
    /// are dropped under the locks, and all accounts are unlocked when this returns.
    fn attempt(
        &mut self,
        kind: Kind,
        staging: &mut impl Staging,
    ) -> Result<Result<Admitted, Ended>, LaunchError> {
        let mut asked = 0;
        let attempt = guarded(|| attempt(&mut self.0, kind, staging, &mut asked));
        attempt.map_err(|_| LaunchError::RulePanicked {
            account: self.0[asked].label().to_string(),
        })
    }
}

/// A panic of a user-supplied destructor stays here, and the other values are dropped as well.
impl Drop for Admission<'_> {
    #[inline]
    fn drop(&mut self) {
        let release = |steps: &mut Steps<'_>| steps.iter_mut().for_each(|step| step.release());
        while guarded(|| release(&mut self.0)).is_err() {}
    }
}

/// Phases 2 to 4. `asked` is the number of the step whose code runs.
fn attempt(
    steps: &mut Steps<'_>,
    kind: Kind,
    staging: &mut impl Staging,
    asked: &mut usize,
) -> Result<Admitted, Ended> {
    let locked = Locked(steps);
    let (mut sequential, mut messages) = (0, None);
    let mut expected = kind.expected();
    if is_planted(PlantedMistake::LocksFromTheRoot) && kind == Kind::Tentative {
        locked.0.reverse();
    }
    for (at, step) in locked.0.iter_mut().enumerate() {
        *asked = at;
        let checked = step.check(kind, expected.take());
        let checked = checked.map_err(|refused| {
            let halts = refused == Refused::Over && kind.halts() && step.is_halting();
            if !halts {
                return Ended::Refused(at, refused);
            }
            // The account halts only if a restart will know of it.
            if let Err(error) = staging.halt(at) {
                return Ended::Journal(error);
            }
            step.halt();
            Ended::Refused(at, refused)
        })?;
        sequential += usize::from(checked.is_sequential);
        messages = messages.into_iter().chain(checked.messages).min();
    }
    let mut turns = Vec::with_capacity(sequential);
    if !is_planted(PlantedMistake::CommitsWithoutStage) {
        staging.charge().map_err(Ended::Journal)?;
    }
    if kind.charges() {
        let steps = locked.0.iter_mut().rev();
        turns.extend(steps.filter_map(|step| step.commit(kind)));
        // Every account is unlocked.
        mem::forget(locked);
    }
    Ok(Admitted { turns, messages })
}

/// Steps whose accounts are unlocked when this is dropped, also by a panic.
struct Locked<'s, 'a>(&'s mut Steps<'a>);

impl Drop for Locked<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        self.0.iter_mut().rev().for_each(|step| step.unlock());
    }
}

/// Locks of sequential accounts on a journal, held from before a launch is checked until its
/// function runs: otherwise the next launch would move the turn while this one waits for its
/// record, and it would be charged and never answer.
pub(crate) type TurnLocks<'a> = Vec<MutexGuard<'a, ()>>;
