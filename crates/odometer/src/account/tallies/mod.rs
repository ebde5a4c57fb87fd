//! What has been charged at one distance: the launches on the data themselves, and those in the parts of partitions.
//!
//! A change of `n` units of the data can fall on the parts in many ways. The rule gets, for each of the raw sums that it
//! needs, the largest value over all ways to split the `n` units; totals of parts are never composed. Several
//! partitions of the same data all see the same change, so they add up. What they may come to is a [`Cap`].

mod alike;
mod node;
mod reading;
mod spent;

use std::{mem, sync::Arc};

use measures::{ChildLoss, FilterRule, Metric, Tallied, Tally, Total, TotalLoss};
use queryable::guarded;

pub(crate) use self::alike::Alike;
use self::node::{Change, Launch, Node};
pub(crate) use self::spent::{Next, Spent};
use crate::{
    account::bill::{Quote, Step},
    error::OpenError,
};

#[derive(Clone, Debug)]
pub(crate) enum Tallies<T> {
    /// No launch in any part.
    Plain(T),
    Parted(Box<Parted<T>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Parted<T> {
    data: Node<T>,
    total: T,
    /// Was something absorbed of which the total does not know yet?
    stale: bool,
}

/// Tallies with launches more, not yet in force. Everything foreign (copies, sums) has happened when there is one.
pub(crate) enum Pending<T> {
    /// Almost always: still no launch in any part.
    Plain(T),
    InParts(Box<InParts<T>>),
}

pub(crate) enum InParts<T> {
    /// All of them anew.
    Whole(Tallies<T>),
    /// What changes in those that are there.
    Changed(Changed<T>),
}

pub(crate) struct Changed<T> {
    change: Change<T>,
    total: T,
}

/// The same launch was priced for different sizes of change than before: some stability map contradicts itself.
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

    /// What was charged if the change of the data falls on this part; `None` if that is not known apart.
    pub(crate) fn along(&self, path: &[Step]) -> Option<T> {
        match (self, path) {
            (_, []) => None,
            (Self::Plain(own), _) => Some(own.clone()),
            (Self::Parted(parted), _) => parted.data.along(path),
        }
    }

    /// What they would be after `n` launches at this quote.
    #[inline(always)]
    pub(crate) fn after(
        &self,
        quote: &Quote<T::Loss>,
        n: u64,
        zero: &T,
    ) -> Result<Pending<T>, Contradiction> {
        match (self, quote) {
            (Self::Plain(own), Quote::Direct(loss)) => Ok(Pending::Plain(own.after(loss, n))),
            _ => self.after_in_parts(quote, n, zero).map(Pending::InParts),
        }
    }

    #[inline(never)]
    fn after_in_parts(
        &self,
        quote: &Quote<T::Loss>,
        n: u64,
        zero: &T,
    ) -> Result<Box<InParts<T>>, Contradiction> {
        match self {
            Self::Plain(own) => InParts::first(own.clone(), quote, n, zero),
            Self::Parted(parted) => {
                let changed = parted
                    .data
                    .changed(quote.path(), &Launch::at(quote, n, zero))?;
                Ok(Box::new(InParts::Changed(changed)))
            }
        }
    }

    /// Makes room for what these tallies would [become](Self::after).
    #[inline]
    pub(crate) fn make_room(&mut self, pending: &mut Pending<T>) {
        if let (Self::Parted(parted), Pending::InParts(pending)) = (self, pending)
            && let InParts::Changed(changed) = &mut **pending
        {
            parted.data.make_room(&mut changed.change);
        }
    }

    /// Puts in force what these tallies would [become](Self::after), and leaves what they were: nothing is copied or
    /// dropped, nor allocated where [room was made](Self::make_room). They must not have changed in between.
    #[inline(always)]
    pub(crate) fn commit(&mut self, pending: &mut Pending<T>) {
        match (self, pending) {
            (Self::Plain(own), Pending::Plain(next)) => mem::swap(own, next),
            (tallies, Pending::InParts(next)) => tallies.commit_in_parts(next),
            (Self::Parted(_), Pending::Plain(_)) => have_changed(),
        }
    }

    #[inline(never)]
    fn commit_in_parts(&mut self, pending: &mut InParts<T>) {
        match (self, pending) {
            (tallies, InParts::Whole(next)) => mem::swap(tallies, next),
            (Self::Parted(parted), InParts::Changed(changed)) => {
                parted.data.commit(&mut changed.change);
                mem::swap(&mut parted.total, &mut changed.total);
            }
            (Self::Plain(_), InParts::Changed(_)) => have_changed(),
        }
    }
}

#[cold]
fn have_changed() {
    unreachable!("nothing comes between the check and the charge");
}

impl<T: Tally> Pending<T> {
    /// What launches of which none was in a part amount to, after `n` more at this quote.
    #[inline(never)]
    fn after(mut own: T, quote: &Quote<T::Loss>, n: u64, zero: &T) -> Result<Self, Contradiction> {
        match quote {
            Quote::Direct(loss) => {
                own.absorb(loss, n);
                Ok(Self::Plain(own))
            }
            Quote::Part(_) => InParts::first(own, quote, n, zero).map(Self::InParts),
        }
    }

    #[inline]
    pub(crate) fn total(&self) -> &T {
        match self {
            Self::Plain(own) => own,
            Self::InParts(pending) => match &**pending {
                InParts::Whole(tallies) => tallies.total(),
                InParts::Changed(changed) => &changed.total,
            },
        }
    }
}

impl<T: Tally> InParts<T> {
    /// The first launches in a part.
    fn first(own: T, quote: &Quote<T::Loss>, n: u64, zero: &T) -> Result<Box<Self>, Contradiction> {
        let mut data = Node::new([own].into());
        let launch = Launch::at(quote, n, zero);
        let Changed { mut change, total } = data.changed(quote.path(), &launch)?;
        data.commit(&mut change);
        let stale = false;
        let parted = Parted { data, total, stale };
        Ok(Box::new(Self::Whole(Tallies::Parted(Box::new(parted)))))
    }
}

/// A budget at a distance.
pub(crate) struct Cap<MI: Metric, R: Tallied> {
    pub(crate) d_in: MI::Distance,
    pub(crate) budget: TotalLoss<R>,
    pub(in crate::account) gate: Arc<dyn Gate<R>>,
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
        let gate: Result<_, OpenError> = open.map_err(panicked)?;
        Ok(Self {
            d_in,
            budget,
            gate: Arc::new(gate?),
            halting,
        })
    }
}

impl<MI: Metric, R: Tallied> Clone for Cap<MI, R> {
    fn clone(&self) -> Self {
        Self {
            d_in: self.d_in.clone(),
            budget: self.budget.clone(),
            gate: Arc::clone(&self.gate),
            halting: self.halting,
        }
    }
}

/// A rule with a budget, as [`FilterRule`]: an account without a cap needs none, so its rule may be of another kind.
pub(in crate::account) trait Gate<R: Tallied>: Send + Sync {
    fn fits(&self, tally: &R::Tally) -> bool;
    fn remaining(&self, tally: &R::Tally) -> Option<ChildLoss<R>>;
    fn spent(&self, tally: &R::Tally) -> Total<TotalLoss<R>>;
}

struct Opened<R: FilterRule>(R, R::Gate);

impl<R: FilterRule> Gate<R> for Opened<R> {
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
