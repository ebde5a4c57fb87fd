//! Settling a launch: every account from the leaf's to the root, or to a reserved filter, admits it, and then all charge
//! it as one step.
//!
//! Quotes are taken on the way up with no lock held. Then the accounts lock their books from the leaf to the root, each
//! checks, and all commit while unlocking from the root to the leaf. There is one order of locks, so there is no
//! deadlock; nothing is allocated.

use std::{
    cell::{OnceCell, RefCell},
    sync::Arc,
};

use measures::{FilterRule, Measure, Metric};
use queryable::Turn;

use crate::{
    account::{Account, Demand},
    bill::Bill,
    error::LaunchError,
};

/// Whoever pays for launches, as seen from below.
pub(crate) trait Payer<MI: Metric, M: Measure>: Send + Sync {
    /// Admits and charges a launch here and everywhere above, after `below` has locked.
    fn settle(
        &self,
        bill: &Bill<MI, M>,
        launch: &Launch,
        below: &dyn Locks,
    ) -> Result<(), LaunchError>;

    fn depth(&self) -> u16;

    /// What one more launch could cost at this distance, for every capped account from here upwards that counts in the
    /// same measure and distance; `None` where nothing is admitted or the rule cannot tell.
    fn remaining(
        &self,
        d_in: &MI::Distance,
        each: &mut dyn FnMut(Option<M::Loss>),
    ) -> Result<(), LaunchError>;
}

pub(crate) type Parent<MI, M> = Arc<dyn Payer<MI, M>>;

/// A launch on its way up.
pub(crate) struct Launch {
    /// The turn of the launch under every sequential account on the way.
    pub(crate) turns: RefCell<Vec<Turn>>,
    /// How many launches this stands for: one, unless a snapshot is restored.
    pub(crate) count: u64,
    /// A refusal leads to another try, so it halts no account.
    pub(crate) tentative: bool,
}

/// The accounts below, which lock first.
pub(crate) trait Locks {
    /// Locks and checks everything below, then runs `above`; commits if that agrees.
    fn lock_then(&self, above: &mut dyn FnMut() -> bool);

    /// How many launches the account above must have been charged, exactly, if there is such a condition.
    fn condition(&self) -> Option<u64>;
}

/// Below the leaf's account there is nothing but a condition on it.
pub(crate) struct Bottom {
    /// Only if exactly this many launches have been charged to the leaf's account.
    pub(crate) launched: Option<u64>,
}

impl Locks for Bottom {
    fn condition(&self) -> Option<u64> {
        self.launched
    }

    #[inline]
    fn lock_then(&self, above: &mut dyn FnMut() -> bool) {
        above();
    }
}

struct Frame<'a, MI: Metric, R: FilterRule> {
    account: &'a Account<MI, R>,
    demand: Demand<'a, MI, R>,
    below: &'a dyn Locks,
}

impl<MI: Metric, R: FilterRule> Locks for Frame<'_, MI, R> {
    fn condition(&self) -> Option<u64> {
        None
    }

    #[inline]
    fn lock_then(&self, above: &mut dyn FnMut() -> bool) {
        self.below
            .lock_then(&mut || self.account.charge(&self.demand, above));
    }
}

impl<MI: Metric, R: FilterRule> Payer<MI, R::Child> for Account<MI, R> {
    fn settle(
        &self,
        bill: &Bill<MI, R::Child>,
        launch: &Launch,
        below: &dyn Locks,
    ) -> Result<(), LaunchError> {
        let asked = OnceCell::new();
        let quote = match self.cap() {
            Some(cap) => Some(bill.quote(&cap.d_in, &asked)?),
            None => None,
        };
        let demand = Demand {
            bill,
            quote,
            launched: below.condition(),
            turns: &launch.turns,
            count: launch.count,
            tentative: launch.tentative,
            no: OnceCell::new(),
        };
        let frame = Frame {
            account: self,
            demand,
            below,
        };
        match &self.parent {
            Some(parent) => parent.settle(bill, launch, &frame)?,
            // A rule may be somebody's code, too: it runs under the locks, so it may use no session.
            None => self.ruled(|| frame.lock_then(&mut || true))?,
        }
        match frame.demand.no.get() {
            Some(no) => Err(self.explain(no, &frame.demand)),
            None => Ok(()),
        }
    }

    fn depth(&self) -> u16 {
        self.depth
    }

    fn remaining(
        &self,
        d_in: &MI::Distance,
        each: &mut dyn FnMut(Option<<R::Child as Measure>::Loss>),
    ) -> Result<(), LaunchError> {
        if let Some(remaining) = Account::remaining(self, d_in)? {
            each(remaining);
        }
        match &self.parent {
            Some(parent) => parent.remaining(d_in, each),
            None => Ok(()),
        }
    }
}
