//! One account's part in an admission: whether the launch fits in its list and its budget, and the
//! charge.

use std::{borrow::Cow, mem, sync::Arc};

use measures::{ChildLoss, Loss as _, Measure as _, Metric, Tallied, Total, TotalLoss};
use queryable::{Turn, guarded};

use crate::{
    account::admission::{Checked, Kind, Refused, Step},
    account::cost::{Cost, CostAt},
    account::entries::{Limit, Share, Slot},
    account::tallies::Pending,
    account::{Account, MAX_LAUNCHES, Payer, State},
    error::LaunchError,
    journal::Posting,
    measurement::Description,
    planted::{PlantedMistake, is_planted},
    refusal::{Refusal, RefusedLosses, Typed},
    sync::{MutexGuard, lock},
};

/// A launch in one account. Values with user-supplied destructors stay here until
/// [`release`](Step::release), when nothing is locked.
pub(super) struct AccountStep<'a, MI: Metric, R: Tallied> {
    account: &'a Account<MI, R>,
    /// The locked account, from the check to the commit.
    locked: Option<MutexGuard<'a, State<MI, R>>>,
    cost: Option<Cow<'a, Cost<MI, R::Child>>>,
    /// The cost at the cap's distance, if there is a cap.
    at_cap: Option<Cow<'a, CostAt<ChildLoss<R>>>>,
    /// If the list is full: the cost of the entry that stands for several measurements.
    merged: Option<Cost<MI, R::Child>>,
    /// Whether that entry stands for any launch, so that every list has room for it.
    is_last: bool,
    /// The share of the account below.
    share: Option<&'a Share>,
    /// Where the launch is counted, once it was checked; and whether that is the merged entry.
    counted: Option<(Slot, bool)>,
    /// The next tallies once the launch was checked; the old ones once it was charged.
    next: Option<Pending<R::Tally>>,
    /// What was spent before, if the launch was refused.
    spent: Option<Box<R::Tally>>,
}

impl<'a, MI: Metric, R: Tallied> AccountStep<'a, MI, R> {
    /// Asks for the cost at the cap's distance. Nothing may be locked.
    pub(super) fn prepare(
        account: &'a Account<MI, R>,
        cost: Cow<'a, Cost<MI, R::Child>>,
        share: Option<&'a Share>,
    ) -> Result<Box<Self>, LaunchError> {
        cost.identity();
        let at_cap = match (&account.cap, &cost) {
            (None, _) => None,
            (Some(cap), Cow::Borrowed(cost)) => Some(cost.charged_at(&cap.d_in)?),
            (Some(cap), Cow::Owned(cost)) => {
                let at_cap = cost.charged_at(&cap.d_in)?;
                Some(Cow::Owned(at_cap.into_owned()))
            }
        };
        Ok(Box::new(Self {
            account,
            locked: None,
            cost: Some(cost),
            at_cap,
            merged: None,
            is_last: false,
            share,
            counted: None,
            next: None,
            spent: None,
        }))
    }

    /// Checks the launch in the locked account.
    fn check_in(
        &mut self,
        state: &mut State<MI, R>,
        kind: Kind,
        expected: Option<u64>,
    ) -> Result<Checked, Refused> {
        let account = self.account;
        if expected.is_some_and(|expected| expected != state.launched) {
            return Err(Refused::Moved);
        }
        if state.halted && account.cap.is_some() && !kind.is_past() {
            return Err(Refused::Halted);
        }
        if kind.count() > MAX_LAUNCHES - state.launched {
            return Err(Refused::Full(account.quota));
        }
        if kind != Kind::Planned {
            self.check_list(state, kind)?;
        }
        self.check_budget(state, kind)?;
        Ok(Checked {
            is_sequential: account.sequence.is_some() && kind.takes_turns(),
            messages: account.messages,
        })
    }

    /// Finds where the launch is counted.
    fn check_list(&mut self, state: &mut State<MI, R>, kind: Kind) -> Result<(), Refused> {
        let entries = &mut state.entries;
        let limit = self.limit(kind);
        let slot = self
            .cost
            .as_deref()
            .and_then(|cost| entries.slot(cost, &limit));
        if let Some(slot) = slot {
            self.counted = Some((slot, false));
            return Ok(());
        }
        let merged = self.merged.as_ref().ok_or(Refused::Crowded)?;
        let merged_limit = match self.is_last {
            true => limit.last(),
            false => limit.merged(),
        };
        let slot = entries.slot(merged, &merged_limit);
        let full = || match kind.is_past() && !self.is_last {
            true => Refused::Crowded,
            false => Refused::Full(limit.reached()),
        };
        self.counted = Some((slot.ok_or_else(full)?, true));
        Ok(())
    }

    fn limit(&self, kind: Kind) -> Limit<'a> {
        match kind.is_past() {
            true => Limit::of_past(self.account.quota),
            false => Limit::new(self.account.quota, self.share),
        }
    }

    /// Computes the next tallies, and asks the rule.
    fn check_budget(&mut self, state: &mut State<MI, R>, kind: Kind) -> Result<(), Refused> {
        let (Some(cap), Some(cost)) = (&self.account.cap, &self.at_cap) else {
            return Ok(());
        };
        let after = state.spent.after(cost, kind.count(), &self.account.zero);
        let after = after.map_err(|_| Refused::Contradiction)?;
        // It stays here if the rule panics, and is dropped after the unlock.
        let next = self.next.insert(after);
        if !kind.is_past() && !cap.solved.fits(next.total()) {
            self.spent = Some(Box::new(state.spent.total().clone()));
            return Err(Refused::Over);
        }
        state.spent.reserve(next);
        Ok(())
    }
}

impl<'a, MI: Metric, R: Tallied> Step<'a> for AccountStep<'a, MI, R> {
    fn check(&mut self, kind: Kind, expected: Option<u64>) -> Result<Checked, Refused> {
        let mut state = lock(&self.account.state);
        let checked = self.check_in(&mut state, kind, expected);
        if is_planted(PlantedMistake::UnlocksAfterCheck) {
            drop(state);
            state = lock(&self.account.state);
        }
        self.locked = Some(state);
        checked
    }

    fn halt(&mut self) {
        if let Some(state) = &mut self.locked {
            state.halted = true;
        }
    }

    fn commit(&mut self, kind: Kind) -> Option<Turn> {
        let mut locked = self.locked.take()?;
        let state = &mut *locked;
        if let Some(next) = &mut self.next {
            state.spent.commit(next);
        }
        state.launched += kind.count();
        if let Some((slot, is_merged)) = self.counted {
            let cost = match is_merged {
                true => self.merged.as_ref(),
                false => self.cost.as_deref(),
            };
            state
                .entries
                .record((slot, kind.is_past()), cost?, kind.count(), state.launched);
            if let (Slot::New(_), Some(share)) = (slot, self.share) {
                share.take();
            }
        }
        let sequence = self.account.sequence.as_ref();
        let sequence = sequence.filter(|_| kind.takes_turns());
        sequence.map(|sequence| sequence.begin_next())
    }

    fn unlock(&mut self) {
        self.locked = None;
    }

    fn reset(&mut self) {
        self.counted = None;
        drop(self.next.take());
    }

    #[inline]
    fn release(&mut self) {
        // Each value is taken before it is dropped, so a panic leaves it out of the next attempt.
        drop(self.next.take());
        drop(self.at_cap.take());
        drop(self.cost.take());
        drop(self.merged.take());
        drop(self.spent.take());
    }

    #[cold]
    fn merge(&mut self, kind: Kind) -> Result<(), LaunchError> {
        let cost = self.cost.as_deref();
        let merged = match self.merged {
            None => cost.and_then(|cost| cost.merged(self.at_cap())),
            Some(_) => None,
        };
        if merged.is_none() && kind.is_past() {
            // What was charged before is never refused.
            self.is_last = true;
            let replaced = mem::replace(&mut self.merged, cost.and_then(Cost::unknown));
            let _ = guarded(|| drop(replaced));
        } else {
            self.merged = merged;
        }
        let reached = self.limit(kind).reached();
        match self.merged {
            Some(_) => Ok(()),
            None => Err(self.explain(Refused::Full(reached))),
        }
    }

    #[cold]
    fn explain(&mut self, refused: Refused) -> LaunchError {
        let account = self.account.label.to_string();
        match refused {
            Refused::Over => {
                let explained = self.account.ruled(|| self.over());
                match explained {
                    Ok(Some(refusal)) => LaunchError::Refused(Box::new(refusal)),
                    Ok(None) => LaunchError::Contended,
                    Err(panicked) => panicked,
                }
            }
            Refused::Halted => LaunchError::Halted { account },
            Refused::Contradiction => LaunchError::Contradiction,
            Refused::Moved | Refused::Crowded => LaunchError::Contended,
            Refused::Full(quota) => LaunchError::LedgerFull { account, quota },
        }
    }

    fn label(&self) -> &str {
        &self.account.label
    }

    fn posting(&self) -> Result<Option<Posting>, LaunchError> {
        let (Some(journaled), Some(cost)) = (self.account.journaled(), &self.cost) else {
            return Ok(None);
        };
        Ok(Some(Posting {
            account: journaled.place,
            price: cost.posted(&journaled.distances, self.at_cap())?,
        }))
    }

    fn is_halting(&self) -> bool {
        self.account.cap.as_ref().is_some_and(|cap| cap.halting)
    }

    fn turn_lock(&self) -> Option<MutexGuard<'a, ()>> {
        self.account.turn_lock()
    }
}

impl<MI: Metric, R: Tallied> AccountStep<'_, MI, R> {
    /// The distance of the cap, and the cost that is charged there.
    fn at_cap(&self) -> Option<(&MI::Distance, &CostAt<ChildLoss<R>>)> {
        let cap = self.account.cap.as_ref();
        cap.map(|cap| &cap.d_in).zip(self.at_cap.as_deref())
    }

    /// The refusal of a launch over the cap. Asks the rule.
    fn over(&self) -> Option<Refusal> {
        let (spent, cap) = (self.spent.as_deref()?, self.account.cap.as_ref()?);
        let (remaining, total) = (cap.solved.remaining(spent), cap.solved.spent(spent));
        let launch = (self.cost.as_ref()?.description(), self.at_cap.as_deref());
        let budget = (&cap.d_in, &cap.budget);
        Some(self.account.refusal(launch, budget, remaining, total))
    }
}

/// A launch, and its cost if it has one.
type Asking<'a, R> = (&'a Arc<Description>, Option<&'a CostAt<ChildLoss<R>>>);

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// A launch, with its cost, over a budget at a distance.
    pub(super) fn refusal(
        &self,
        (launch, cost): Asking<'_, R>,
        (d_in, budget): (&MI::Distance, &TotalLoss<R>),
        remaining: Option<ChildLoss<R>>,
        spent: Total<TotalLoss<R>>,
    ) -> Refusal {
        let asked = cost.and_then(CostAt::largest);
        Refusal {
            account: self.label.to_string(),
            path: self.path(),
            measure: format!("{:?}", self.rule.total()),
            launch: launch.to_string(),
            d_in: d_in.to_string(),
            asked: asked.map_or_else(String::new, ToString::to_string),
            spent: spent.to_string(),
            remaining: remaining.as_ref().map(|loss| loss.shown_down()),
            budget: budget.shown_down(),
            typed: Typed::new(RefusedLosses {
                asked: asked.map_or_else(|| self.measure.infinity(), Clone::clone),
                spent,
                remaining,
                budget: budget.clone(),
            }),
        }
    }
}
