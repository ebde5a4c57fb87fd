//! An account: what was launched under one session and everything live below it, what that amounts
//! to, and, if there is a cap, whether one more launch fits.
//!
//! A launch is [prepared](admission) with nothing locked, checked and committed under the locks of
//! all accounts from the session's to the root, and runs with nothing locked. An account has one
//! lock for launches ([`State`]); questions about the loss have locks of their own
//! ([`readings`]). Rules and tallies run under the lock for launches; mechanisms and user-supplied
//! maps do not.

mod addresses;
pub(crate) mod admission;
pub(crate) mod cost;
mod derived;
pub(crate) mod durable;
mod entries;
mod identity;
pub(crate) mod link;
pub(crate) mod opening;
pub(crate) mod plan;
pub(crate) mod questions;
mod readings;
mod recorded;
mod replayed;
mod shared;
mod step;
mod tallies;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use measures::{
    ChildLoss, Interleaving, Loss as _, Measure, Metric, Rule, Tallied, Total, TotalLoss,
};
use queryable::{
    AskError, DEFAULT_MESSAGES, Root, Sequence, Tenant, guarded,
    internal::{branch_as, tenant_below},
};

pub(crate) use self::{addresses::AddressMap, tallies::Cap};
use self::{
    admission::{Admission, Admitted, Kind, Steps, Unrecorded},
    cost::{Asked, Cost, CostAt, PartCostAt, PartStep},
    entries::{Entries, Share},
    opening::Journaled,
    plan::Copies,
    readings::Readings,
    step::AccountStep,
    tallies::Tallies,
};
use crate::{
    error::{LaunchError, OpenError},
    remaining::Remaining,
    sync::{Mutex, MutexGuard, lock},
};

/// How deep sessions may be nested live.
pub const MAX_NESTING: u16 = 256;

/// How many different measurements an account lists, unless its quota says otherwise.
pub const DEFAULT_QUOTA: u32 = 1 << 20;

/// The largest number of launches in one account.
const MAX_LAUNCHES: u64 = 1 << 62;

/// An account as those below it see it, or a [link](link::Link) to one that counts differently.
pub(crate) trait Payer<MI: Metric, M: Measure>: Send + Sync {
    /// Prepares a launch here and everywhere above: one step for each account, from this one to
    /// the root. `share` is that of the account below, if there is one. Maps run, so nothing may
    /// be locked.
    fn prepare<'a>(
        &'a self,
        cost: Cow<'a, Cost<MI, M>>,
        share: Option<&'a Share>,
        steps: &mut Steps<'a>,
    ) -> Result<(), LaunchError>;

    /// A copy of this account and all above, for a dry run.
    fn copied(self: Arc<Self>, copies: &Copies) -> Result<Parent<MI, M>, LaunchError>;

    /// The remaining loss under the caps below, here and above.
    fn remaining(
        &self,
        asked: Asked<'_, MI>,
        below: Remaining<M::Loss>,
    ) -> Result<Remaining<M::Loss>, LaunchError>;

    /// The number of accounts above this one.
    fn depth(&self) -> u16;

    /// The number of entries in the account's list.
    fn quota(&self) -> u32;

    /// Whether this account or one above answers its newest launch only.
    fn is_sequential(&self) -> bool;

    /// The names of the accounts from the root to this one; an account with its parent's name is
    /// left out.
    fn path(&self) -> Vec<String>;
}

pub(crate) type Parent<MI, M> = Arc<dyn Payer<MI, M>>;

pub(crate) struct Account<MI: Metric, R: Tallied> {
    pub(crate) label: Arc<str>,
    pub(crate) rule: R,
    pub(crate) measure: R::Child,
    zero: R::Tally,
    cap: Option<Cap<MI, R>>,
    /// The number of different measurements in the list.
    pub(crate) quota: u32,
    /// The part of the parent's list that this account may use, with everything below it.
    share: Share,
    /// The number of messages that each launch may answer, with everything it spawns, if the rule
    /// asks for finite communication.
    messages: Option<u64>,
    /// The turns of all leaves charged here, if the rule is sequential.
    sequence: Option<Sequence>,
    parent: Option<Parent<MI, R::Child>>,
    depth: u16,
    /// The tenant of all sessions with this account, unless it is a link's or a part's.
    tenant: OnceLock<Tenant>,
    /// Where charges are recorded, if they are.
    journaled: Option<Box<Journaled<MI>>>,
    state: Mutex<State<MI, R>>,
    readings: Readings<MI::Distance, R::Tally>,
    copies: plan::CopiesOf<Self>,
}

/// What a launch changes, in cache lines of its own.
#[repr(align(128))]
struct State<MI: Metric, R: Tallied> {
    /// The account has refused a launch, and refuses everything from now on.
    halted: bool,
    /// The number of launches charged.
    launched: u64,
    /// What was charged at the cap's distance.
    spent: Tallies<R::Tally>,
    entries: Entries<MI, R::Child>,
}

impl<MI: Metric, R: Tallied> State<MI, R> {
    fn new(spent: Tallies<R::Tally>, halted: bool) -> Self {
        Self {
            halted,
            launched: 0,
            spent,
            entries: Entries::new(),
        }
    }
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// An account below `parent`, or a root. `share` is the stated part of the parent's list.
    pub(crate) fn new(
        label: Arc<str>,
        rule: R,
        cap: Option<Cap<MI, R>>,
        (quota, share): (u32, Option<u32>),
        parent: Option<Parent<MI, R::Child>>,
    ) -> Result<Self, OpenError> {
        let depth = parent.as_ref().map_or(0, |parent| parent.depth() + 1);
        if depth >= MAX_NESTING {
            return Err(OpenError::TooDeep { limit: MAX_NESTING });
        }
        let zero = rule.start();
        let sequential = matches!(R::INTERLEAVING, Interleaving::Sequential);
        Ok(Self {
            label,
            measure: rule.child(),
            state: Mutex::new(State::new(Tallies::new(zero.clone()), false)),
            cap,
            quota,
            share: Share::new(
                parent.as_ref().map_or(quota, |parent| parent.quota()),
                share,
            ),
            messages: finite::<R>().then_some(DEFAULT_MESSAGES),
            sequence: sequential.then(Sequence::new),
            parent,
            depth,
            tenant: OnceLock::new(),
            journaled: None,
            readings: Readings::new(),
            copies: plan::CopiesOf::default(),
            zero,
            rule,
        })
    }

    /// Where communication must be finite, it ends after this number of messages.
    pub(crate) fn answering_at_most(mut self, messages: u64) -> Self {
        self.messages = self.messages.map(|_| messages);
        self
    }

    /// The account on a journal, before its first launch.
    pub(crate) fn on(mut self, journaled: Journaled<MI>) -> Self {
        self.journaled = Some(Box::new(journaled));
        self
    }

    /// The account with turns, whatever its rule says about interleaving.
    pub(crate) fn sequential(mut self) -> Self {
        self.sequence.get_or_insert_with(Sequence::new);
        self
    }

    /// A root below `above` for a session with this account. The same account has the same tenant,
    /// however often it is opened.
    pub(crate) fn root_below(&self, above: &Root) -> Result<Root, AskError> {
        let tenant = || tenant_below(above, Arc::clone(&self.label));
        branch_as(above, self.tenant.get_or_init(tenant))
    }

    pub(crate) fn cap(&self) -> Option<&Cap<MI, R>> {
        self.cap.as_ref()
    }

    fn state(&self) -> MutexGuard<'_, State<MI, R>> {
        lock(&self.state)
    }

    /// Has a launch admitted by this account and all above, and charges it to all of them. On a
    /// journal it is only asked ([`Kind::Asked`]): [`durable`] charges there.
    ///
    /// # Errors
    /// [`LaunchError`]: nothing was charged.
    pub(crate) fn launch(
        &self,
        cost: &Cost<MI, R::Child>,
        kind: Kind,
    ) -> Result<Admitted, LaunchError> {
        Admission::prepare(self, cost)?.admit(kind, &mut Unrecorded)
    }

    /// What one more launch could cost within the cap, if there is one.
    fn remaining_here(&self, asked: Asked<'_, MI>) -> Result<Remaining<ChildLoss<R>>, LaunchError> {
        self.ruled(|| {
            let Some(cap) = &self.cap else {
                return Remaining::unlimited();
            };
            match asked(&cap.d_in) {
                Some(path) => Remaining::under(&self.label, self.remaining_in(cap, &path)),
                None => Remaining::unlimited().beside(&self.label),
            }
        })
    }

    /// What one more launch in this part could cost.
    fn remaining_in(&self, cap: &Cap<MI, R>, path: &[PartStep]) -> Option<ChildLoss<R>> {
        let (spent, alone) = {
            let state = self.state();
            if state.halted {
                return None;
            }
            (state.spent.total().clone(), state.spent.along(path))
        };
        let anywhere = cap.solved.remaining(&spent);
        // A part in which less was launched than in others has more left, if the rule agrees to
        // the sums that result.
        let here = alone.and_then(|alone| cap.solved.remaining(&alone));
        let here = here.filter(|loss| {
            let losses = [loss.clone().on_grid()].into();
            let path = path.to_vec();
            let cost = CostAt::Part(Arc::new(PartCostAt { path, losses }));
            let next = self.state().spent.after(&cost, 1, &self.zero);
            next.is_ok_and(|next| cap.solved.fits(next.total()))
        });
        here.or(anywhere)
    }

    /// How much of the cap was spent.
    pub(crate) fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        self.ruled(|| {
            let cap = self.cap.as_ref()?;
            let spent = self.state().spent.total().clone();
            Some(cap.solved.spent(&spent))
        })
    }

    /// Runs user-supplied code of a rule or its tallies: it may use no session, and its panics are
    /// caught. Tallies that are needed for nothing else are moved in, because their destructors
    /// are user-supplied as well.
    #[inline]
    pub(crate) fn ruled<X>(&self, ask: impl FnOnce() -> X) -> Result<X, LaunchError> {
        guarded(ask).map_err(|_| LaunchError::RulePanicked {
            account: self.label.to_string(),
        })
    }
}

impl<MI: Metric, R: Tallied> Payer<MI, R::Child> for Account<MI, R> {
    fn prepare<'a>(
        &'a self,
        cost: Cow<'a, Cost<MI, R::Child>>,
        share: Option<&'a Share>,
        steps: &mut Steps<'a>,
    ) -> Result<(), LaunchError> {
        steps.push(AccountStep::prepare(self, cost.clone(), share)?);
        match &self.parent {
            Some(parent) => parent.prepare(cost, Some(&self.share), steps),
            None => Ok(()),
        }
    }

    fn copied(self: Arc<Self>, copies: &Copies) -> Result<Parent<MI, R::Child>, LaunchError> {
        Ok(self.copy(copies)?)
    }

    fn remaining(
        &self,
        asked: Asked<'_, MI>,
        below: Remaining<ChildLoss<R>>,
    ) -> Result<Remaining<ChildLoss<R>>, LaunchError> {
        let remaining = below.and(self.remaining_here(asked)?);
        match &self.parent {
            Some(parent) => parent.remaining(asked, remaining),
            None => Ok(remaining),
        }
    }

    fn depth(&self) -> u16 {
        self.depth
    }

    fn quota(&self) -> u32 {
        self.quota
    }

    fn is_sequential(&self) -> bool {
        let above = || {
            self.parent
                .as_ref()
                .is_some_and(|parent| parent.is_sequential())
        };
        self.sequence.is_some() || above()
    }

    fn path(&self) -> Vec<String> {
        let above = self.parent.as_ref().map(|parent| parent.path());
        let mut path = above.unwrap_or_default();
        if path.last().is_none_or(|last| **last != *self.label) {
            path.push(self.label.to_string());
        }
        path
    }
}

/// Whether the rule's theorem asks for finite communication.
pub(crate) fn finite<R: Rule>() -> bool {
    matches!(R::INTERLEAVING, Interleaving::ConcurrentFinite)
}
