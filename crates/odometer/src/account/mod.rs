//! An account: what was launched under one session and everything live below it, what that amounts to, and, if it is
//! capped, whether one more launch fits.
//!
//! Two locks. The book is locked for the check and the charge only ([`settling`]); the readings, for the questions about
//! the loss ([`questions`]). Neither is held while a mechanism or anybody's map runs.

mod addresses;
mod admitting;
pub(crate) mod ascent;
pub(crate) mod bill;
mod book;
mod contained;
mod curves;
pub(crate) mod durable;
mod few;
pub(crate) mod journaled;
mod launches;
pub(crate) mod link;
pub(crate) mod planning;
pub(crate) mod questions;
mod readings;
mod recorded;
mod refusing;
mod remembered;
mod retold;
mod scales;
mod seat;
pub(crate) mod settling;
mod tallies;

use std::{collections::VecDeque, sync::Arc};

use measures::{ChildLoss, Interleaving, Loss as _, Metric, Rule, Tallied, Total, TotalLoss};
use queryable::{DEFAULT_MESSAGES, Sequence, guarded};

pub(crate) use self::{addresses::AddressMap, tallies::Cap};
use self::{
    bill::{Asked, PartQuote, Quote, Step},
    book::Busy,
    journaled::{Journaled, Told},
    readings::Readings,
    scales::Scales,
    seat::Place,
    settling::Parent,
};
use crate::{
    error::{LaunchError, OpenError},
    remaining::Remaining,
    sync::Mutex,
};

/// How deep sessions may be nested live.
pub const MAX_NESTING: u16 = 256;

/// How many different measurements an account lists, unless its quota says otherwise.
pub const DEFAULT_QUOTA: u32 = 1 << 20;

pub(crate) struct Account<MI: Metric, R: Tallied> {
    pub(crate) label: Arc<str>,
    pub(crate) rule: R,
    pub(crate) measure: R::Child,
    zero: R::Tally,
    cap: Option<Cap<MI, R>>,
    /// How many different measurements are listed at the most: whatever is free could be launched for ever.
    pub(crate) quota: u32,
    /// How many messages each launch answers at the most, with everything it spawns, if the rule asks for finite communication.
    messages: Option<u64>,
    /// Whose turn it is among all leaves charged here, if the rule is sequential.
    sequence: Option<Sequence>,
    parent: Option<Parent<MI, R::Child>>,
    depth: u16,
    /// Where its charges are written down, if they are.
    journaled: Option<Box<Journaled<MI>>>,
    /// Of what was written down: the last few bills.
    told: Mutex<VecDeque<Told<MI, R::Child>>>,
    busy: Busy<MI, R>,
    /// Its seat at the top account, if that is itself or its parent.
    seat: Place,
    readings: Readings<MI::Distance, R::Tally>,
    scales: Scales<R::Tally>,
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    pub(crate) fn new(
        label: Arc<str>,
        rule: R,
        cap: Option<Cap<MI, R>>,
        quota: u32,
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
            busy: Busy::new(zero.clone(), cap.is_some()),
            seat: Place::new(),
            cap,
            quota,
            messages: finite::<R>().then_some(DEFAULT_MESSAGES),
            sequence: sequential.then(Sequence::new),
            parent,
            depth,
            journaled: None,
            told: Mutex::new(VecDeque::new()),
            readings: Readings::new(),
            scales: Scales::new(),
            zero,
            rule,
        })
    }

    /// Where communication must be finite, it ends after so many messages.
    pub(crate) fn answering_at_most(mut self, messages: u64) -> Self {
        self.messages = self.messages.map(|_| messages);
        self
    }

    /// On a journal, before anybody can launch.
    pub(crate) fn on(mut self, journaled: Journaled<MI>) -> Self {
        self.journaled = Some(Box::new(journaled));
        self
    }

    /// Whatever the rule says of interleaving.
    pub(crate) fn sequential(mut self) -> Self {
        self.sequence.get_or_insert_with(Sequence::new);
        self
    }

    pub(crate) fn cap(&self) -> Option<&Cap<MI, R>> {
        self.cap.as_ref()
    }

    /// How many launches have been charged.
    pub(crate) fn launched(&self) -> u64 {
        self.busy.launched()
    }

    /// What one more launch could cost within the cap, if there is one.
    fn room(&self, asked: Asked<'_, MI>) -> Result<Remaining<ChildLoss<R>>, LaunchError> {
        self.ruled(|| {
            let Some(cap) = &self.cap else {
                return Remaining::unlimited();
            };
            match asked(&cap.d_in) {
                Some(path) => Remaining::under(&self.label, self.room_in(cap, &path)),
                None => Remaining::unlimited().beside(&self.label),
            }
        })
    }

    /// What one more launch in this part could cost.
    fn room_in(&self, cap: &Cap<MI, R>, path: &[Step]) -> Option<ChildLoss<R>> {
        let (spent, alone) = {
            let book = self.busy.book();
            if book.halted {
                return None;
            }
            let alone = book.spent.along(path);
            (book.spent.total(), alone)
        };
        let anywhere = cap.gate.remaining(&spent);
        // A part in which less was launched than in others has more left, if the rule agrees to the sums that come of it.
        let here = alone.and_then(|alone| cap.gate.remaining(&alone));
        let here = here.filter(|loss| {
            let losses = [loss.clone().on_grid()].into();
            let path = path.to_vec();
            let quote = Quote::Part(Box::new(PartQuote { path, losses }));
            // Dropped in the opposite order: unlocked first.
            let next;
            let book = self.busy.book();
            next = book.spent.after(&quote, 1, &self.zero);
            drop(book);
            next.is_ok_and(|next| cap.gate.fits(next.total()))
        });
        here.or(anywhere)
    }

    /// How much of the cap has been spent.
    pub(crate) fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        self.ruled(|| {
            let cap = self.cap.as_ref()?;
            let spent = self.busy.book().spent.total();
            Some(cap.gate.spent(&spent))
        })
    }

    pub(crate) fn halt(&self) {
        self.busy.book().halted = true;
    }

    /// Asks the rule, which may be somebody's code: it may use no session, and its panics are caught. Tallies that are only
    /// needed for it are moved in, because their destructors are somebody's code, too.
    #[inline]
    pub(crate) fn ruled<X>(&self, ask: impl FnOnce() -> X) -> Result<X, LaunchError> {
        guarded(ask).map_err(|_| rule_panicked(&self.label))
    }
}

/// Does the rule's theorem ask for finite communication?
pub(crate) fn finite<R: Rule>() -> bool {
    matches!(R::INTERLEAVING, Interleaving::ConcurrentFinite)
}

#[cold]
fn rule_panicked(account: &str) -> LaunchError {
    LaunchError::RulePanicked {
        account: account.to_string(),
    }
}
