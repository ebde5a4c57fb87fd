//! The charges to an account at one distance: launches on the data themselves, and launches in the
//! parts of partitions.
//!
//! A change of `n` units of the data can fall on the parts in many ways. The rule gets, for each of
//! the raw sums that it needs, the largest value over all ways to split the `n` units; totals of
//! parts are never composed. Several partitions of the same data all see the same change, so they
//! add up. A [`Cap`] is the budget for them.

mod node;
mod reading;

use std::{mem, sync::Arc};

use measures::{ChildLoss, FilterRule, Metric, Tallied, Tally, Total, TotalLoss};
use queryable::guarded;

use self::node::{Change, Node};
use crate::{
    account::cost::{CostAt, PartStep},
    error::OpenError,
    partition::split::Curve,
};

#[derive(Clone, Debug)]
pub(crate) enum Tallies<T> {
    /// There was no launch in any part.
    Plain(T),
    Parted(Box<Parted<T>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Parted<T> {
    data: Node<T>,
    total: T,
    /// Whether something was absorbed that the total does not include yet.
    stale: bool,
}

/// Launches of one cost: the loss of each, for every size of a change.
pub(crate) struct Launches<'a, T: Tally> {
    pub(super) losses: &'a [T::Loss],
    /// The losses, if they are in a part: other parts may have the same.
    pub(super) shared: Option<&'a Arc<[T::Loss]>>,
    pub(super) n: u64,
    pub(super) zero: &'a T,
}

impl<'a, T: Tally> Launches<'a, T> {
    pub(super) fn at(cost: &'a CostAt<T::Loss>, n: u64, zero: &'a T) -> Self {
        let shared = match cost {
            CostAt::Direct(_) => None,
            CostAt::Part(part) => Some(&part.losses),
        };
        Self {
            losses: cost.losses(),
            shared,
            n,
            zero,
        }
    }

    /// This curve after the launches. Both have the same sizes.
    pub(super) fn onto(&self, own: &[T]) -> Curve<T> {
        let tallies = own.iter().zip(self.losses);
        tallies.map(|(own, loss)| own.after(loss, self.n)).collect()
    }
}

/// Tallies after more launches, which are not in force yet. User-supplied code (copies, sums) has
/// run when there is one.
pub(crate) enum Pending<T> {
    /// There is still no launch in any part.
    Plain(T),
    /// The first launches in a part.
    First(Tallies<T>),
    /// A change of the tallies of parts.
    Changed(Box<Changed<T>>),
}

pub(crate) struct Changed<T> {
    change: Change<T>,
    total: T,
}

/// The same launch has other sizes of change than before: a stability map contradicts itself.
#[derive(Debug)]
pub(crate) struct Contradiction;

impl<T: Tally> Tallies<T> {
    pub(crate) fn new(zero: T) -> Self {
        Self::Plain(zero)
    }

    /// Everything that was charged, for the rule.
    #[inline]
    pub(crate) fn total(&self) -> &T {
        match self {
            Self::Plain(own) => own,
            Self::Parted(parted) => &parted.total,
        }
    }

    /// What was charged if the change of the data falls on this part; `None` if that is not known.
    pub(crate) fn along(&self, path: &[PartStep]) -> Option<T> {
        match (self, path) {
            (_, []) => None,
            (Self::Plain(own), _) => Some(own.clone()),
            (Self::Parted(parted), _) => parted.data.along(path),
        }
    }

    /// The tallies after `n` launches at this cost.
    ///
    /// # Errors
    /// [`Contradiction`].
    #[inline]
    pub(crate) fn after(
        &self,
        cost: &CostAt<T::Loss>,
        n: u64,
        zero: &T,
    ) -> Result<Pending<T>, Contradiction> {
        match (self, cost) {
            (Self::Plain(own), CostAt::Direct(loss)) => Ok(Pending::Plain(own.after(loss, n))),
            (Self::Plain(own), CostAt::Part(_)) => {
                let mut data = Node::new([own.clone()].into());
                let Changed { mut change, total } =
                    data.changed(cost.path(), &Launches::at(cost, n, zero))?;
                data.commit(&mut change);
                let stale = false;
                let parted = Parted { data, total, stale };
                Ok(Pending::First(Self::Parted(Box::new(parted))))
            }
            (Self::Parted(parted), _) => {
                let launches = Launches::at(cost, n, zero);
                let changed = parted.data.changed(cost.path(), &launches)?;
                Ok(Pending::Changed(Box::new(changed)))
            }
        }
    }

    /// Reserves the memory that [`commit`](Self::commit) needs.
    #[inline]
    pub(crate) fn reserve(&mut self, pending: &mut Pending<T>) {
        if let (Self::Parted(parted), Pending::Changed(changed)) = (self, pending) {
            parted.data.reserve(&mut changed.change);
        }
    }

    /// Puts pending tallies in force, and leaves the old ones in their place. Nothing is copied or
    /// dropped; nothing is allocated after [`reserve`](Self::reserve). The tallies must not have
    /// changed since [`after`](Self::after).
    #[inline]
    pub(crate) fn commit(&mut self, pending: &mut Pending<T>) {
        match (self, pending) {
            (Self::Plain(own), Pending::Plain(next)) => mem::swap(own, next),
            (tallies, Pending::First(next)) => mem::swap(tallies, next),
            (Self::Parted(parted), Pending::Changed(changed)) => {
                parted.data.commit(&mut changed.change);
                mem::swap(&mut parted.total, &mut changed.total);
            }
            (Self::Parted(_), Pending::Plain(_)) | (Self::Plain(_), Pending::Changed(_)) => {
                unreachable!("the tallies stay locked between `after` and `commit`")
            }
        }
    }
}

impl<T: Tally> Pending<T> {
    #[inline]
    pub(crate) fn total(&self) -> &T {
        match self {
            Self::Plain(own) => own,
            Self::First(tallies) => tallies.total(),
            Self::Changed(changed) => &changed.total,
        }
    }
}

/// A budget at a distance.
pub(crate) struct Cap<MI: Metric, R: Tallied> {
    pub(crate) d_in: MI::Distance,
    pub(crate) budget: TotalLoss<R>,
    pub(in crate::account) solved: Arc<dyn SolvedBudget<R>>,
    /// The halting form of the papers: no launch after a refusal.
    pub(crate) halting: bool,
}

impl<MI: Metric, R: FilterRule> Cap<MI, R> {
    pub(crate) fn new(
        account: &str,
        rule: &R,
        d_in: MI::Distance,
        budget: TotalLoss<R>,
        halting: bool,
    ) -> Result<Self, OpenError> {
        let open = guarded(|| Ok(Opened(rule.clone(), rule.open(&budget)?)));
        let panicked = |_| OpenError::RulePanicked {
            account: account.into(),
        };
        let solved: Result<_, OpenError> = open.map_err(panicked)?;
        Ok(Self {
            d_in,
            budget,
            solved: Arc::new(solved?),
            halting,
        })
    }
}

impl<MI: Metric, R: Tallied> Clone for Cap<MI, R> {
    fn clone(&self) -> Self {
        Self {
            d_in: self.d_in.clone(),
            budget: self.budget.clone(),
            solved: Arc::clone(&self.solved),
            halting: self.halting,
        }
    }
}

/// A rule with a budget, as [`FilterRule`]. An account without a cap needs none, so its rule may be
/// of another kind.
pub(in crate::account) trait SolvedBudget<R: Tallied>: Send + Sync {
    fn fits(&self, tally: &R::Tally) -> bool;
    fn remaining(&self, tally: &R::Tally) -> Option<ChildLoss<R>>;
    fn spent(&self, tally: &R::Tally) -> Total<TotalLoss<R>>;
}

struct Opened<R: FilterRule>(R, R::Gate);

impl<R: FilterRule> SolvedBudget<R> for Opened<R> {
    #[inline]
    fn fits(&self, tally: &R::Tally) -> bool {
        self.0.fits(&self.1, tally)
    }

    fn remaining(&self, tally: &R::Tally) -> Option<ChildLoss<R>> {
        self.0.remaining(&self.1, tally)
    }

    fn spent(&self, tally: &R::Tally) -> Total<TotalLoss<R>> {
        self.0.spent(&self.1, tally)
    }
}
