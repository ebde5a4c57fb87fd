//! Dry runs of several launches in order: every account on the way keeps a copy of what it was charged, and charges that.
//! The accounts themselves are locked for the copy only.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use measures::{ChildLoss, Measure, Metric, Tallied, Total, TotalLoss};
use queryable::guarded;

use crate::{
    account::Account,
    account::bill::{Bill, Quote},
    account::tallies::{Contradiction, Pending, Tallies},
    error::LaunchError,
    sync::{Mutex, lock},
};

/// Whoever would pay for launches, as seen from below.
pub(crate) trait Planned<MI: Metric, M: Measure>: Send + Sync {
    /// Would it be admitted, here and everywhere above? It is not charged yet.
    fn check(&self, bill: &Bill<MI, M>) -> Result<(), LaunchError>;

    /// Charges what was checked last to the copies, here and everywhere above.
    fn commit(&self);
}

pub(crate) type PlannedParent<MI, M> = Arc<dyn Planned<MI, M>>;

/// The copies of one dry run: one of each account, made when it is first needed, whatever it is needed for. A clone is the
/// same.
#[derive(Clone, Default)]
pub(crate) struct Copies(Arc<Mutex<BTreeMap<usize, Arc<dyn Any + Send + Sync>>>>);

impl Copies {
    /// The copy of this account. It keeps the account, so the account's address stays its own.
    pub(crate) fn of<MI: Metric, R: Tallied>(
        &self,
        account: &Arc<Account<MI, R>>,
    ) -> Result<Arc<Copied<MI, R>>, LaunchError> {
        let address = Arc::as_ptr(account).addr();
        let known = lock(&self.0).get(&address).cloned();
        if let Some(Ok(copied)) = known.map(Arc::downcast) {
            return Ok(copied);
        }
        let copied = Arc::new(Copied::new(account, self)?);
        lock(&self.0).insert(address, Arc::clone(&copied) as _);
        Ok(copied)
    }
}

/// A copy of an account.
pub(crate) struct Copied<MI: Metric, R: Tallied> {
    account: Arc<Account<MI, R>>,
    parent: Option<PlannedParent<MI, R::Child>>,
    halted: bool,
    charged: Mutex<Charged<R::Tally>>,
}

/// What was charged to a copy, and what would be charged next.
struct Charged<T> {
    spent: Tallies<T>,
    next: Option<Pending<T>>,
}

impl<MI: Metric, R: Tallied> Copied<MI, R> {
    fn new(account: &Arc<Account<MI, R>>, copies: &Copies) -> Result<Self, LaunchError> {
        let parent = match &account.parent {
            Some(parent) => Some(Arc::clone(parent).plan(copies)?),
            None => None,
        };
        let (spent, halted) = account.ruled(|| {
            let book = account.busy.book();
            (book.spent.tallies(), book.halted)
        })?;
        Ok(Self {
            account: Arc::clone(account),
            parent,
            halted,
            charged: Mutex::new(Charged { spent, next: None }),
        })
    }

    /// What this account's cap would charge.
    pub(crate) fn cost(
        &self,
        bill: &Bill<MI, R::Child>,
    ) -> Result<Option<ChildLoss<R>>, LaunchError> {
        match &self.account.cap {
            Some(cap) => Ok(bill.quoted(&cap.d_in)?.leaf().cloned()),
            None => Ok(None),
        }
    }

    /// What would be spent of the cap.
    pub(crate) fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        let (cap, charged) = (self.account.cap.as_ref(), lock(&self.charged));
        self.account
            .ruled(|| cap.map(|cap| cap.gate.spent(charged.spent.total())))
    }

    fn check_here(&self, bill: &Bill<MI, R::Child>) -> Result<(), LaunchError> {
        let Some(cap) = &self.account.cap else {
            return Ok(());
        };
        if self.halted {
            let account = self.account.label.to_string();
            return Err(LaunchError::Halted { account });
        }
        let quote = bill.quoted(&cap.d_in)?;
        let mut charged = lock(&self.charged);
        let fits = self.account.ruled(|| {
            let next = charged.spent.after(&quote, 1, &self.account.zero)?;
            let fits = cap.gate.fits(next.total());
            Ok::<_, Contradiction>(fits.then_some(next))
        })??;
        match fits {
            Some(next) => {
                charged.next = Some(next);
                Ok(())
            }
            None => Err(self.refused(bill, &quote, charged.spent.total())?),
        }
    }

    fn refused(
        &self,
        bill: &Bill<MI, R::Child>,
        quote: &Quote<ChildLoss<R>>,
        spent: &R::Tally,
    ) -> Result<LaunchError, LaunchError> {
        let Some(cap) = &self.account.cap else {
            return Err(LaunchError::Contended);
        };
        self.account.ruled(|| {
            let (remaining, total) = (cap.gate.remaining(spent), cap.gate.spent(spent));
            let launch = (bill.description(), Some(quote));
            let budget = (&cap.d_in, &cap.budget);
            let refusal = self.account.refusal(launch, budget, remaining, total);
            LaunchError::Refused(Box::new(refusal))
        })
    }
}

impl<MI: Metric, R: Tallied> Planned<MI, R::Child> for Copied<MI, R> {
    fn check(&self, bill: &Bill<MI, R::Child>) -> Result<(), LaunchError> {
        let before = lock(&self.charged).next.take();
        drop_contained(before);
        self.check_here(bill)?;
        match &self.parent {
            Some(parent) => parent.check(bill),
            None => Ok(()),
        }
    }

    fn commit(&self) {
        let mut charged = lock(&self.charged);
        if let Some(mut next) = charged.next.take() {
            charged.spent.make_room(&mut next);
            charged.spent.commit(&mut next);
            drop(charged);
            drop_contained(Some(next));
        } else {
            drop(charged);
        }
        if let Some(parent) = &self.parent {
            parent.commit();
        }
    }
}

/// Tallies are somebody's code, and so are their destructors.
fn drop_contained<T>(tallies: Option<Pending<T>>) {
    let _ = guarded(|| drop(tallies));
}
