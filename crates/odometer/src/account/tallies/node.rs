//! Data and their partitions as a tree: the charges in each part, and the change by one more launch.

use std::mem;

use measures::Tally;

use super::{Changed, Contradiction, Launches};
use crate::{
    account::addresses::AddressMap,
    account::cost::PartStep,
    partition::parts::{Parts, PartsPath},
    partition::split::{Combine, Curve, Path, Tree, monotone, sum},
};

/// Data, or a part of them, and all partitions of them.
#[derive(Clone, Debug)]
pub(super) struct Node<T> {
    /// The launches on these data themselves, for each size of a change of them.
    pub(super) own: Curve<T>,
    pub(super) groups: Vec<Group<T>>,
    /// The numbers of groups by address. A group stores its id, so the address stays its own.
    pub(super) index: AddressMap<usize, usize>,
    pub(super) sums: Tree<T>,
    /// The groups with absorbed launches that the sums do not include yet.
    pub(super) stale: Vec<usize>,
}

/// A partition.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    /// Of any launch in this partition.
    pub(super) step: PartStep,
    pub(super) parts: Vec<Node<T>>,
    pub(super) index: AddressMap<u64, usize>,
    pub(super) splits: Parts<T>,
    /// The parts with absorbed launches that the splits do not include yet.
    pub(super) stale: Vec<usize>,
}

/// The change of a node by one launch.
pub(crate) struct Change<T> {
    total: Curve<T>,
    at: At<T>,
}

enum At<T> {
    Here(Curve<T>),
    Below(Box<Below<T>>),
}

struct Below<T> {
    step: PartStep,
    group: usize,
    /// The partition, if nothing was launched in it before.
    new_group: Option<Group<T>>,
    part: usize,
    /// The part, if nothing was launched in it before.
    new_part: Option<Node<T>>,
    change: Change<T>,
    splits: PartsPath<T>,
    sums: Path<T>,
}

impl<T: Tally> Node<T> {
    pub(super) fn new(own: Curve<T>) -> Self {
        Self {
            own,
            groups: Vec::new(),
            index: AddressMap::default(),
            sums: Tree::new(Combine::Sum),
            stale: Vec::new(),
        }
    }

    /// The charges for a change of one unit in this part: known where there is no other partition.
    pub(super) fn along(&self, path: &[PartStep]) -> Option<T> {
        let Some((step, path)) = path.split_first() else {
            return sum(&self.own, self.sums.all()).first().cloned();
        };
        let mut charged = self.own.first()?.clone();
        match self.groups.as_slice() {
            [] => {}
            [group] if group.step.group.address() == step.group.address() => {
                if let Some(part) = group.index.get(&step.part) {
                    charged.merge(&group.parts[*part].along(path)?);
                }
            }
            _ => return None,
        }
        Some(charged)
    }

    /// The change by one launch, in the data and everything below.
    pub(super) fn changed(
        &self,
        path: &[PartStep],
        launches: &Launches<'_, T>,
    ) -> Result<Changed<T>, Contradiction> {
        let change = self.after(path, launches)?;
        let total = change.total.first().ok_or(Contradiction)?.clone();
        Ok(Changed { change, total })
    }

    fn after(
        &self,
        path: &[PartStep],
        launches: &Launches<'_, T>,
    ) -> Result<Change<T>, Contradiction> {
        let Some((step, path)) = path.split_first() else {
            return self.after_here(launches);
        };
        if step.units.len() != self.own.len() {
            return Err(Contradiction);
        }
        let known = self.index.get(&step.group.address());
        let number = known.copied().unwrap_or(self.groups.len());
        let below = match self.groups.get(number) {
            Some(group) => group.after(number, step, path, launches, &self.sums)?,
            None => {
                let group = Group::new(step);
                let below = group.after(number, step, path, launches, &self.sums)?;
                Below {
                    new_group: Some(group),
                    ..below
                }
            }
        };
        Ok(Change {
            total: sum(&self.own, Some(&below.sums.all)),
            at: At::Below(Box::new(below)),
        })
    }

    fn after_here(&self, launches: &Launches<'_, T>) -> Result<Change<T>, Contradiction> {
        if launches.losses.len() != self.own.len() {
            return Err(Contradiction);
        }
        let own = launches.onto(&self.own);
        Ok(Change {
            total: sum(&own, self.sums.all()),
            at: At::Here(own),
        })
    }

    pub(super) fn reserve(&mut self, change: &mut Change<T>) {
        let At::Below(below) = &mut change.at else {
            return;
        };
        self.sums.reserve(below.group, &mut below.sums);
        let group = match &mut below.new_group {
            Some(group) => {
                self.groups.reserve(1);
                self.index.reserve(1);
                group
            }
            None => &mut self.groups[below.group],
        };
        group.splits.reserve(below.part, &mut below.splits);
        let part = match &mut below.new_part {
            Some(part) => {
                group.parts.reserve(1);
                group.index.reserve(1);
                part
            }
            None => &mut group.parts[below.part],
        };
        part.reserve(&mut below.change);
    }

    pub(super) fn commit(&mut self, change: &mut Change<T>) {
        let below = match &mut change.at {
            At::Here(own) => return mem::swap(&mut self.own, own),
            At::Below(below) => below,
        };
        if let Some(group) = below.new_group.take() {
            self.index.insert(group.step.group.address(), below.group);
            self.groups.push(group);
        }
        self.sums.commit(below.group, &mut below.sums);
        let group = &mut self.groups[below.group];
        if let Some(part) = below.new_part.take() {
            group.index.insert(below.step.part, below.part);
            group.parts.push(part);
        }
        group.splits.commit(below.part, &mut below.splits);
        group.parts[below.part].commit(&mut below.change);
    }
}

impl<T: Tally> Group<T> {
    pub(super) fn new(step: &PartStep) -> Self {
        let how = match (step.is_bounded(), step.sizes()) {
            // As if all units fell on every part: more than any split.
            (true, _) => Combine::Sum,
            (false, 1) => Combine::Join,
            (false, _) => Combine::Split,
        };
        Self {
            step: step.clone(),
            parts: Vec::new(),
            index: AddressMap::default(),
            splits: Parts::new(how),
            stale: Vec::new(),
        }
    }

    fn after(
        &self,
        group: usize,
        step: &PartStep,
        path: &[PartStep],
        launches: &Launches<'_, T>,
        sums: &Tree<T>,
    ) -> Result<Below<T>, Contradiction> {
        if step.units != self.step.units {
            return Err(Contradiction);
        }
        let known = self.index.get(&step.part);
        let part = known.copied().unwrap_or(self.parts.len());
        let new_part = match self.parts.get(part) {
            Some(_) => None,
            None => Some(empty(step, launches.zero)),
        };
        let node = new_part.as_ref().or(self.parts.get(part));
        let change = node.ok_or(Contradiction)?.after(path, launches)?;
        let curve = monotone(&change.total);
        let splits = self.splits.with(part, curve, launches.zero);
        let total = at_sizes_above(&self.step, splits.all(), launches.zero);
        Ok(Below {
            step: step.clone(),
            group,
            new_group: None,
            part,
            new_part,
            change,
            splits,
            sums: sums.with(group, total),
        })
    }
}

/// The worst split for each size of a change above.
pub(super) fn at_sizes_above<T: Tally>(step: &PartStep, worst: &[T], zero: &T) -> Curve<T> {
    let bounded = step.is_bounded();
    let at = |units: &u32| match units {
        0 => zero.clone(),
        _ if bounded => worst.last().unwrap_or(zero).clone(),
        units => worst
            .get(*units as usize - 1)
            .or(worst.last())
            .unwrap_or(zero)
            .clone(),
    };
    step.units.iter().map(at).collect()
}

fn empty<T: Tally>(step: &PartStep, zero: &T) -> Node<T> {
    Node::new(vec![zero.clone(); step.sizes()].into())
}
