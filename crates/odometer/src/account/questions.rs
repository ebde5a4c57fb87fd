//! Questions to an account: what was charged at some distance, and what that amounts to. The list is
//! read in batches, so that launches go on meanwhile, and every different map is asked once.

use std::{mem, sync::Arc};

use measures::{Adaptive, ChildLoss, Measure, Metric, Tallied, Total, TotalLoss};
use queryable::guarded;

use crate::{
    account::Account,
    account::cost::{Cost, CostAt},
    account::entries::BATCH,
    account::readings::Progress,
    account::shared::{SharedCurves, SharedTallies},
    account::tallies::{Contradiction, Tallies},
    error::LaunchError,
    measurement::Description,
    refusal::Refusal,
    sync::lock,
};

/// What was launched, and how often.
pub type Listed = (Arc<Description>, u64);

/// What was launched, what each launch was charged, and how often.
pub(crate) type Charged<L> = (Arc<Description>, CostAt<L>, u64);

/// How far the list of an account's launches was read; at first, not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bookmark(usize);

/// Launches of one entry that a question has not read yet.
struct Unread<MI: Metric, M: Measure> {
    entry: usize,
    /// The cost of each, and whether it stands for [equal ones](Cost::by_form), too.
    cost: (Cost<MI, M>, bool),
    /// The number of launches in all.
    count: u64,
}

/// Some entries of the list.
struct Page<MI: Metric, M: Measure> {
    unread: Vec<Unread<MI, M>>,
    /// Where to read on, if there may be more.
    next: Option<usize>,
    /// The number of launches in the account when the page was read.
    launched: u64,
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// The number of launches charged.
    fn launched(&self) -> u64 {
        self.state().launched
    }

    /// A page of the entries that changed after the first `seen` launches.
    fn page(&self, from: usize, seen: u64) -> Page<MI, R::Child> {
        let mut unread = Vec::with_capacity(BATCH);
        let state = self.state();
        let next = state.entries.visit_changed(from, seen, |entry, listed| {
            unread.push(Unread {
                entry,
                cost: listed.cost(),
                count: listed.count(),
            });
        });
        Page {
            next,
            launched: state.launched,
            unread,
        }
    }

    /// Everything that was charged up to some moment after the call, at this distance.
    pub(crate) fn charges(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Vec<Charged<ChildLoss<R>>>, LaunchError> {
        let (mut charges, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next {
            let page = self.page(from, 0);
            for Unread { cost, count, .. } in page.unread {
                let at = by_form(cost.clone())?.at(d_in)?;
                charges.push((Arc::clone(cost.0.description()), at, count));
            }
            next = page.next;
        }
        Ok(charges)
    }

    /// Every measurement that was launched up to some moment after the call, in the order of first
    /// launches, with its count.
    pub(crate) fn launches(&self) -> Vec<Listed> {
        self.launches_after(Bookmark::default(), usize::MAX).0
    }

    /// Up to `most` measurements after those that were read, with their counts, and the new
    /// bookmark.
    pub(crate) fn launches_after(
        &self,
        Bookmark(from): Bookmark,
        most: usize,
    ) -> (Vec<Listed>, Bookmark) {
        let (mut listed, mut next) = (Vec::new(), Some(from));
        while let Some(from) = next
            && listed.len() < most
        {
            let state = self.state();
            next = state.entries.visit_changed(from, 0, |_, entry| {
                if listed.len() < most {
                    listed.push((Arc::clone(entry.description()), entry.count()));
                }
            });
        }
        let read = Bookmark(from + listed.len());
        (listed, read)
    }

    /// What was charged up to some moment after the call, at this distance, for the rule.
    pub(crate) fn tally(&self, d_in: &MI::Distance) -> Result<R::Tally, LaunchError> {
        self.read(d_in, |tallies, _| tallies.total().clone())
    }

    /// Looks at what was charged up to some moment after the call, at this distance, and at the
    /// number of launches.
    fn read<X>(
        &self,
        d_in: &MI::Distance,
        look: impl FnOnce(&Tallies<R::Tally>, u64) -> X,
    ) -> Result<X, LaunchError> {
        let reading = self.ruled(|| self.readings.at(d_in))?;
        let seen = self.ruled(|| {
            // It stays locked, so that threads that ask at one new distance share one reading.
            // Launches and questions at other distances do not need this lock.
            let progress = &mut *lock(reading.progress());
            let until = self.launched();
            while progress.launched < until || progress.tallies.is_none() {
                self.read_on(d_in, progress)?;
            }
            let read = progress.tallies.as_ref().ok_or(LaunchError::Contended)?;
            Ok(look(read, progress.launched))
        });
        // If it was forgotten meanwhile, its tallies are dropped here: user-supplied code.
        let _ = guarded(|| drop(reading));
        seen?
    }

    /// Reads all entries that have changed. Nothing else is locked while maps run. If a map fails,
    /// the batches before stay read; if a tally panics, the next question starts again.
    fn read_on(
        &self,
        d_in: &MI::Distance,
        progress: &mut Progress<R::Tally>,
    ) -> Result<(), LaunchError> {
        let zero = &self.zero;
        let (mut curves, mut tallies) = (SharedCurves::default(), SharedTallies::default());
        let (mut next, mut began) = (Some(0), None);
        while let Some(from) = next {
            let page = self.page(from, progress.seen);
            began.get_or_insert(page.launched);
            next = page.next;
            let mut unread = Vec::with_capacity(page.unread.len());
            for Unread { entry, cost, count } in page.unread {
                let before = progress.counts.get(entry).copied().unwrap_or(0);
                if count > before {
                    let cost = by_form(cost)?.at_with(d_in, &mut curves)?;
                    unread.push((entry, cost, count - before));
                }
            }
            // A tally that panics leaves nothing behind.
            let mut read = mem::replace(progress, Progress::nothing());
            let sum = read.tallies.take();
            let mut sum = sum.unwrap_or_else(|| Tallies::new(zero.clone()));
            for (entry, cost, n) in unread {
                let absorbed = sum.absorb(&cost, n, zero, &mut tallies);
                absorbed.map_err(|Contradiction| LaunchError::Contradiction)?;
                let length = read.counts.len().max(entry + 1);
                read.counts.resize(length, 0);
                read.counts[entry] += n;
                read.launched += n;
            }
            if next.is_none() {
                sum.settle(zero);
            }
            read.tallies = Some(sum);
            *progress = read;
        }
        progress.seen = began.unwrap_or(progress.seen);
        Ok(())
    }
}

/// The cost to ask for, of one that may stand for several.
fn by_form<MI: Metric, M: Measure>(
    (cost, is_shared): (Cost<MI, M>, bool),
) -> Result<Cost<MI, M>, LaunchError> {
    if !is_shared {
        return Ok(cost);
    }
    guarded(|| cost.by_form()).map_err(|_| LaunchError::MapPanicked {
        launch: cost.description().to_string(),
    })
}

impl<MI: Metric, R: Adaptive> Account<MI, R> {
    /// The loss of what was charged up to some moment after the call, at this distance.
    pub(crate) fn loss(&self, d_in: &MI::Distance) -> Result<Total<TotalLoss<R>>, LaunchError> {
        let total = self.tally(d_in)?;
        self.ruled(move || self.rule.loss(&total))
    }

    /// What would be charged after one more launch, and the number of launches before it.
    pub(crate) fn after(
        &self,
        cost: &Cost<MI, R::Child>,
        d_in: &MI::Distance,
    ) -> Result<(R::Tally, u64), LaunchError> {
        let cost = cost.at(d_in)?;
        let after = self.read(d_in, |read, launched| {
            let after = read.after(&cost, 1, &self.zero);
            after.map(|after| (after.total().clone(), launched))
        })?;
        after.map_err(|Contradiction| LaunchError::Contradiction)
    }

    /// Why a launch would pass a budget that is not the cap.
    pub(crate) fn over(
        &self,
        cost: &Cost<MI, R::Child>,
        d_in: &MI::Distance,
        budget: &TotalLoss<R>,
    ) -> Result<Refusal, LaunchError> {
        let asked = cost.at(d_in)?;
        let spent = self.tally(d_in)?;
        self.ruled(move || {
            let remaining = self.rule.remaining_within(&spent, budget);
            let loss = self.rule.loss(&spent);
            let launch = (cost.description(), Some(&asked));
            self.refusal(launch, (d_in, budget), remaining, loss)
        })
    }
}
