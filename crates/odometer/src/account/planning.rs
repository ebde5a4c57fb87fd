//! Dry runs of several launches in order: every account on the way keeps a copy of what it was charged, and charges that.
//! The accounts themselves are locked for the copy only.

use std::sync::Arc;

use measures::{ChildLoss, Measure, Metric, Tallied, Total, TotalLoss};
use queryable::guarded;

use crate::{
    account::Account,
    account::bill::{Bill, Quote},
    account::tallies::{Contradiction, Pending, Tallies},
    error::LaunchError,
    sync::lock,
};

/// Whoever would pay for launches, as seen from below.
pub(crate) trait Planned<MI: Metric, M: Measure>: Send {
    /// Would it be admitted, here and everywhere above? It is not charged yet.
    fn check(&mut self, bill: &Bill<MI, M>) -> Result<(), LaunchError>;

    /// Charges what was checked last to the copies, here and everywhere above.
    fn commit(&mut self);
}

pub(crate) type PlannedParent<MI, M> = Box<dyn Planned<MI, M>>;

/// A copy of an account.
pub(crate) struct Copied<MI: Metric, R: Tallied> {
    account: Arc<Account<MI, R>>,
    spent: Tallies<R::Tally>,
    halted: bool,
    next: Option<Pending<R::Tally>>,
    parent: Option<PlannedParent<MI, R::Child>>,
}

impl<MI: Metric, R: Tallied> Copied<MI, R> {
    pub(crate) fn new(account: &Arc<Account<MI, R>>) -> Result<Self, LaunchError> {
        let parent = match &account.parent {
            Some(parent) => Some(Arc::clone(parent).plan()?),
            None => None,
        };
        let (spent, halted) = account.ruled(|| {
            let book = lock(&account.book);
            (book.spent.clone(), book.halted)
        })?;
        Ok(Self {
            account: Arc::clone(account),
            spent,
            halted,
            next: None,
            parent,
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
        let cap = self.account.cap.as_ref();
        self.account
            .ruled(|| cap.map(|cap| cap.gate.spent(self.spent.total())))
    }

    fn check_here(&mut self, bill: &Bill<MI, R::Child>) -> Result<(), LaunchError> {
        let Some(cap) = &self.account.cap else {
            return Ok(());
        };
        if self.halted {
            let account = self.account.label.to_string();
            return Err(LaunchError::Halted { account });
        }
        let quote = bill.quoted(&cap.d_in)?;
        let fits = self.account.ruled(|| {
            let next = self.spent.after(&quote, 1, &self.account.zero)?;
            let fits = cap.gate.fits(next.total());
            Ok::<_, Contradiction>(fits.then_some(next))
        })??;
        match fits {
            Some(next) => {
                self.next = Some(next);
                Ok(())
            }
            None => Err(self.refused(bill, &quote)?),
        }
    }

    fn refused(
        &self,
        bill: &Bill<MI, R::Child>,
        quote: &Quote<ChildLoss<R>>,
    ) -> Result<LaunchError, LaunchError> {
        let Some(cap) = &self.account.cap else {
            return Err(LaunchError::Contended);
        };
        self.account.ruled(|| {
            let spent = self.spent.total();
            let (remaining, total) = (cap.gate.remaining(spent), cap.gate.spent(spent));
            let launch = (bill.description(), Some(quote));
            let budget = (&cap.d_in, &cap.budget);
            let refusal = self.account.refusal(launch, budget, remaining, &total);
            LaunchError::Refused(Box::new(refusal))
        })
    }
}

impl<MI: Metric, R: Tallied> Planned<MI, R::Child> for Copied<MI, R> {
    fn check(&mut self, bill: &Bill<MI, R::Child>) -> Result<(), LaunchError> {
        self.next = None;
        self.check_here(bill)?;
        match &mut self.parent {
            Some(parent) => parent.check(bill),
            None => Ok(()),
        }
    }

    fn commit(&mut self) {
        if let Some(mut next) = self.next.take() {
            self.spent.make_room(&mut next);
            self.spent.commit(&mut next);
            // Tallies are somebody's code, and so are their destructors.
            let _ = guarded(|| drop(next));
        }
        if let Some(parent) = &mut self.parent {
            parent.commit();
        }
    }
}
