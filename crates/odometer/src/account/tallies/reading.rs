//! Many launches at once: a question absorbs all of them into their parts first, and combines the
//! parts once. It makes the first question over 100,000 parts several times faster.

use std::{mem, sync::Arc};

use measures::Tally;

use super::{
    Contradiction, Launches, Parted, Tallies,
    node::{Group, Node, at_sizes_above},
};
use crate::{
    account::cost::{CostAt, PartStep},
    account::shared::SharedTallies,
    partition::split::{Curve, monotone, sum},
};

impl<T: Tally> Tallies<T> {
    /// Absorbs `n` launches at this cost. The total includes them when it is [settled](Self::settle).
    ///
    /// # Errors
    /// [`Contradiction`]; then these tallies are of no use any more.
    pub(crate) fn absorb(
        &mut self,
        cost: &CostAt<T::Loss>,
        n: u64,
        zero: &T,
        shared: &mut SharedTallies<T>,
    ) -> Result<(), Contradiction> {
        match (&mut *self, cost) {
            (Self::Plain(own), CostAt::Direct(loss)) => {
                own.absorb(loss, n);
                return Ok(());
            }
            (Self::Plain(own), CostAt::Part(_)) => {
                let own = mem::replace(own, zero.clone());
                *self = Self::Parted(Box::new(Parted {
                    total: own.clone(),
                    data: Node::new([own].into()),
                    stale: false,
                }));
            }
            (Self::Parted(_), _) => {}
        }
        let Self::Parted(parted) = self else {
            return Err(Contradiction);
        };
        parted.stale = true;
        let launches = Launches::at(cost, n, zero);
        parted.data.absorb(cost.path(), &launches, shared)
    }

    /// Includes everything that was absorbed in the total.
    pub(crate) fn settle(&mut self, zero: &T) {
        if let Self::Parted(parted) = self
            && parted.stale
        {
            // There is one size of a change at the top.
            parted.total = parted.data.settle(zero)[0].clone();
            parted.stale = false;
        }
    }
}

impl<T: Tally> Node<T> {
    fn absorb(
        &mut self,
        path: &[PartStep],
        launches: &Launches<'_, T>,
        shared: &mut SharedTallies<T>,
    ) -> Result<(), Contradiction> {
        let Some((step, path)) = path.split_first() else {
            if launches.losses.len() != self.own.len() {
                return Err(Contradiction);
            }
            self.own = shared.after(&self.own, launches);
            return Ok(());
        };
        if step.units.len() != self.own.len() {
            return Err(Contradiction);
        }
        let next = self.groups.len();
        let number = *self.index.entry(step.group.address()).or_insert(next);
        if number == next {
            self.groups.push(Group::new(step));
        }
        note(&mut self.stale, number);
        self.groups[number].absorb(step, path, launches, shared)
    }

    /// The total here and below, for each size of a change.
    fn settle(&mut self, zero: &T) -> Curve<T> {
        for number in taken(&mut self.stale) {
            let total = self.groups[number].settle(zero);
            self.sums.set(number, total);
        }
        self.sums.refresh();
        sum(&self.own, self.sums.all())
    }
}

impl<T: Tally> Group<T> {
    fn absorb(
        &mut self,
        step: &PartStep,
        path: &[PartStep],
        launches: &Launches<'_, T>,
        shared: &mut SharedTallies<T>,
    ) -> Result<(), Contradiction> {
        if step.units != self.step.units {
            return Err(Contradiction);
        }
        let next = self.parts.len();
        let part = *self.index.entry(step.part).or_insert(next);
        if part == next {
            let nothing = shared.empty(step.sizes(), launches.zero);
            self.parts.push(Node::new(nothing));
        }
        note(&mut self.stale, part);
        self.parts[part].absorb(path, launches, shared)
    }

    fn settle(&mut self, zero: &T) -> Curve<T> {
        let mut last: Option<(Curve<T>, Curve<T>)> = None;
        for part in taken(&mut self.stale) {
            let settled = self.parts[part].settle(zero);
            let known = last.take_if(|(known, _)| Arc::ptr_eq(known, &settled));
            let (_, curve) = last.insert(known.unwrap_or_else(|| {
                let curve = monotone(&settled);
                (settled, curve)
            }));
            self.splits.set(part, Arc::clone(curve), zero);
        }
        at_sizes_above(&self.step, self.splits.refresh(), zero)
    }
}

fn note(stale: &mut Vec<usize>, number: usize) {
    if stale.last() != Some(&number) {
        stale.push(number);
    }
}

/// Each once, in order: those that are new are added at the end.
fn taken(stale: &mut Vec<usize>) -> Vec<usize> {
    let mut stale = mem::take(stale);
    stale.sort_unstable();
    stale.dedup();
    stale
}
