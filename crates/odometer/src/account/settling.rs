//! Settling a launch: every account from the leaf's to the root, or to a reserved filter, admits it, and then all charge
//! it as one step.
//!
//! Prices are asked for with nothing locked. The accounts lock from the leaf to the root, and each checks. Once the last
//! has agreed, all charge and unlock, from the root to the leaf: nothing foreign runs meanwhile, and nothing is allocated.
//! There is one order of locks, so there is no deadlock. If one says no or panics, all unlock before anything else happens.
//! So whatever is dropped or put into words is so with nothing locked.
//!
//! Nearly always, all prices are remembered and all agree: then one way up is enough. Otherwise nothing has happened on
//! it; all prices are asked for on another way up, before anybody locks, and then the accounts decide for good.

use std::{
    cell::{Cell, OnceCell},
    sync::Arc,
};

use measures::{ChildLoss, Measure, Metric, Tallied};
use queryable::guarded;

use crate::{
    account::admitting::Listing,
    account::ascent::{Below, Kind, Launch, Locked, Settled, Terms},
    account::bill::{Asked, Bill, Quote},
    account::book::Book,
    account::contained::Contained,
    account::durable::{Drafting, Ready},
    account::planning::{Copies, PlannedParent},
    account::refusing::Refused,
    account::tallies::Next,
    account::{Account, rule_panicked},
    error::LaunchError,
    remaining::Remaining,
    sync::MutexGuard,
};

/// Whoever pays for launches, as seen from below.
pub(crate) trait Payer<MI: Metric, M: Measure>: Send + Sync {
    /// Settles a launch here and everywhere above, at prices that are remembered, if all agree. Otherwise nothing has
    /// happened.
    fn settle_at_once<'a>(
        &'a self,
        bill: &Bill<MI, M>,
        launch: &Launch<'a>,
        below: Locked<'_>,
    ) -> bool;

    /// Asks for the prices here and everywhere above; then has everybody lock and decide, those below first.
    fn settle<'a>(&'a self, bill: &Bill<MI, M>, launch: &Launch<'a>, below: &dyn Below) -> Settled;

    /// Waits at the gates of sequential accounts on a ledger, here and everywhere above.
    fn pass<'a>(&'a self, gates: &mut Vec<MutexGuard<'a, ()>>);

    fn depth(&self) -> u16;

    /// The names of the accounts from the root to this one; what has its parent's name is left out.
    fn path(&self) -> Vec<String>;

    /// A copy of this one and all above, for a dry run.
    fn plan(self: Arc<Self>, copies: &Copies) -> Result<PlannedParent<MI, M>, LaunchError>;

    /// What remains under those below, this one and those above.
    fn remaining(
        &self,
        asked: Asked<'_, MI>,
        below: Remaining<M::Loss>,
    ) -> Result<Remaining<M::Loss>, LaunchError>;
}

pub(crate) type Parent<MI, M> = Arc<dyn Payer<MI, M>>;

/// An account that knows its price, and the accounts below it.
struct Level<'a, 'l, MI: Metric, R: Tallied> {
    account: &'l Account<MI, R>,
    demand: Demand<'a, 'l, MI, R>,
    below: &'a dyn Below,
}

impl<MI: Metric, R: Tallied> Below for Level<'_, '_, MI, R> {
    fn lock_then(&self, above: &mut dyn FnMut(Locked<'_>) -> Settled) -> Settled {
        let (account, demand) = (self.account, &self.demand);
        self.below.lock_then(&mut |below| {
            let settled = account.charge(demand, below, &mut *above);
            settled.unwrap_or_else(|refused| Err(account.explain(*refused, demand)))
        })
    }
}

/// What an account has to agree to.
pub(super) struct Demand<'a, 'l, MI: Metric, R: Tallied> {
    pub(super) bill: &'a Bill<MI, R::Child>,
    /// The price at the cap's distance, if there is a cap.
    pub(super) quote: Option<&'a Quote<ChildLoss<R>>>,
    pub(super) launch: &'a Launch<'l>,
    /// Only if exactly this many launches have been charged.
    pub(super) expected: Option<u64>,
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// Settles a launch in this account and all above. The answer is on which terms it runs.
    ///
    /// Rules and tallies may be somebody's code: they run under the locks, so they may use no session. One that panics
    /// before all have agreed charges nobody; what panics later is a destructor, and all are charged.
    pub(crate) fn settle(
        &self,
        bill: &Bill<MI, R::Child>,
        kind: Kind,
    ) -> Result<Terms, LaunchError> {
        let (launch, agreed) = (Launch::new(kind, &self.label), Cell::new(false));
        let settled = self.settle_here(bill, &launch, &agreed);
        match settled {
            Err(error) if !agreed.get() => Err(*error),
            _ => Ok(launch.terms()),
        }
    }

    #[inline]
    fn settle_here<'l>(
        &'l self,
        bill: &Bill<MI, R::Child>,
        launch: &Launch<'l>,
        agreed: &Cell<bool>,
    ) -> Settled {
        if self.parent.is_none() && self.counted(bill, launch) {
            agreed.set(true);
            return Ok(());
        }
        launch.seat.set(Some(&self.seat));
        let asked = OnceCell::new();
        let demand = self.demand(bill, launch, &asked)?;
        let tell = &mut |all| agreed.set(all);
        match guarded(|| self.charge_at_once(&demand, Locked::new(tell))) {
            Ok(true) => Ok(()),
            Ok(false) => {
                launch.at_once.set(false);
                self.settle_above(demand, agreed)
            }
            Err(_) => Err(Box::new(rule_panicked(launch.at.get()))),
        }
    }

    /// Has the top account admitted it in advance? Then it is charged there.
    #[inline]
    fn counted(&self, bill: &Bill<MI, R::Child>, launch: &Launch<'_>) -> bool {
        let seat = self.seat.get();
        launch.may_count() && seat.is_some_and(|seat| seat.count(bill.address()))
    }

    /// What the leaf's account has to agree to.
    #[inline]
    pub(super) fn demand<'a, 'l>(
        &self,
        bill: &'a Bill<MI, R::Child>,
        launch: &'a Launch<'l>,
        asked: &'a OnceCell<Quote<ChildLoss<R>>>,
    ) -> Result<Demand<'a, 'l, MI, R>, LaunchError> {
        Ok(Demand {
            bill,
            quote: self.quote(bill, asked)?,
            launch,
            expected: launch.expected(),
        })
    }

    #[inline]
    fn quote<'a>(
        &self,
        bill: &'a Bill<MI, R::Child>,
        asked: &'a OnceCell<Quote<ChildLoss<R>>>,
    ) -> Result<Option<&'a Quote<ChildLoss<R>>>, LaunchError> {
        match &self.cap {
            Some(cap) => bill.quote(&cap.d_in, asked).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn charge_at_once<'l>(&'l self, demand: &Demand<'_, 'l, MI, R>, below: Locked<'_>) -> bool {
        let (bill, launch) = (demand.bill, demand.launch);
        let above = |mut below: Locked<'_>| match &self.parent {
            Some(parent) if !self.counted(bill, launch) => {
                launch.seat.set(Some(&self.seat));
                parent.settle_at_once(bill, launch, below)
            }
            _ => {
                below.unlock(launch.charges());
                true
            }
        };
        self.charge(demand, below, above).unwrap_or(false)
    }

    /// Settles where this account and those below know their prices.
    #[cold]
    pub(super) fn settle_above<'l>(
        &'l self,
        demand: Demand<'_, 'l, MI, R>,
        below: &dyn Below,
    ) -> Settled {
        let Demand {
            bill,
            quote,
            launch,
            ..
        } = demand;
        let level = Level {
            account: self,
            demand,
            below,
        };
        if let Some(drafting) = launch.drafting {
            drafting.note(quote);
            self.draft(drafting, bill, launch.may_halt())?;
        }
        if let Some(parent) = &self.parent {
            return parent.settle(bill, launch, &level);
        }
        let sitting = match launch.drafting.map(Drafting::ready).transpose() {
            Ok(Some(Ready::Later)) => return Ok(()),
            Ok(Some(Ready::Now(sitting))) => sitting,
            Ok(None) => None,
            Err(error) => return Err(Box::new(error.into())),
        };
        let all_agreed = &mut |mut below: Locked<'_>| {
            // The last step that can fail.
            let staged = launch.drafting.map_or(Ok(()), Drafting::stage);
            below.unlock(launch.charges() && staged.is_ok());
            staged.map_err(|error| Box::new(error.into()))
        };
        let settled = guarded(|| level.lock_then(all_agreed));
        drop(sitting);
        settled.unwrap_or_else(|_| Err(Box::new(rule_panicked(launch.at.get()))))
    }

    /// Locks the book, checks, and asks `above` whether all others agree: only then it charges. Whatever comes of it, nothing
    /// is locked any more.
    #[inline(always)]
    fn charge<'l, X>(
        &'l self,
        demand: &Demand<'_, 'l, MI, R>,
        below: Locked<'_>,
        above: impl FnOnce(Locked<'_>) -> X,
    ) -> Result<X, Box<Refused<R::Tally>>> {
        demand.launch.at.set(&self.label);
        // Dropped in the opposite order, also by a panic: those below unlock, this one unlocks, and then tallies may go.
        let mut next = Contained::new(None);
        let mut book = self.busy.lock();
        let mut below = below;
        let mut listing = self.list(&mut book, demand)?;
        if demand.quote.is_some() && !(listing.is_again() && book.spent.counts()) {
            self.spend(demand, listing.is_again(), &mut book, &mut next)?;
        }
        if listing.is_again() {
            listing.seat = self.seat_of(&mut book, demand.launch);
        }
        let mut book = Some(book);
        let mut unlock = |agreed: bool| {
            if let (true, Some(book)) = (agreed, &mut book) {
                self.commit(book, demand, next.get(), &listing);
            }
            book = None;
            below.unlock(agreed);
        };
        let answer = above(Locked::new(&mut unlock));
        next.release();
        Ok(answer)
    }

    /// Nothing of this can fail.
    #[inline(always)]
    fn commit(
        &self,
        book: &mut Book<MI, R>,
        demand: &Demand<'_, '_, MI, R>,
        next: Option<&mut Next<R::Tally>>,
        listing: &Listing<'_>,
    ) {
        let launch = demand.launch;
        if listing.is_again() && book.spent.counts() {
            book.spent.count();
        } else if let Some(next) = next {
            book.spent.commit(next, listing.is_again());
        }
        book.record(listing.entry, demand.bill, 1);
        if let Some(sequence) = &self.sequence {
            launch.take_turn(sequence);
        }
        match listing.seat {
            Some(seat) => self.busy.grant(book, seat, demand.bill.address()),
            None => self.busy.publish(book),
        }
    }
}

impl<MI: Metric, R: Tallied> Payer<MI, R::Child> for Account<MI, R> {
    fn settle_at_once<'a>(
        &'a self,
        bill: &Bill<MI, R::Child>,
        launch: &Launch<'a>,
        below: Locked<'_>,
    ) -> bool {
        // Distances are compared by somebody's code.
        launch.at.set(&self.label);
        let cap = self.cap.as_ref();
        let quote = cap.and_then(|cap| bill.remembered(&cap.d_in));
        let demand = Demand {
            bill,
            quote,
            launch,
            expected: None,
        };
        quote.is_some() == cap.is_some() && self.charge_at_once(&demand, below)
    }

    fn settle<'a>(
        &'a self,
        bill: &Bill<MI, R::Child>,
        launch: &Launch<'a>,
        below: &dyn Below,
    ) -> Settled {
        let asked = Drafting::asked(launch.drafting, self.cap.is_some());
        let demand = Demand {
            bill,
            quote: self.quote(bill, &asked)?,
            launch,
            expected: None,
        };
        self.settle_above(demand, below)
    }

    fn pass<'a>(&'a self, gates: &mut Vec<MutexGuard<'a, ()>>) {
        gates.extend(self.gate());
        if let Some(parent) = &self.parent {
            parent.pass(gates);
        }
    }

    fn depth(&self) -> u16 {
        self.depth
    }

    fn path(&self) -> Vec<String> {
        let mut path = self
            .parent
            .as_ref()
            .map_or_else(Vec::new, |parent| parent.path());
        if path.last().is_none_or(|last| **last != *self.label) {
            path.push(self.label.to_string());
        }
        path
    }

    fn plan(self: Arc<Self>, copies: &Copies) -> Result<PlannedParent<MI, R::Child>, LaunchError> {
        Ok(copies.of(&self)?)
    }

    fn remaining(
        &self,
        asked: Asked<'_, MI>,
        below: Remaining<ChildLoss<R>>,
    ) -> Result<Remaining<ChildLoss<R>>, LaunchError> {
        let room = below.and(self.room(asked)?);
        match &self.parent {
            Some(parent) => parent.remaining(asked, room),
            None => Ok(room),
        }
    }
}
