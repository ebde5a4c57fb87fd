//! What has been charged at one distance: the launches on the data themselves, and those in the parts of partitions.
//!
//! A change of `n` units of the data can fall on the parts in many ways. The rule gets, for each of the raw sums that it
//! needs, the largest value over all ways to split the `n` units; totals of parts are never composed. Several
//! partitions of the same data all see the same change, so they add up.

use std::mem;

use measures::Tally;

use crate::{
    account::addresses::AddressMap,
    account::bill::{PartQuote, Quote, Step},
    partition::parts::{Parts, PartsPath},
    partition::split::{Combine, Curve, Path, Tree, monotone, sum},
};

mod reading;

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
        let (path, losses) = match quote {
            Quote::Direct(loss) => (&[][..], std::slice::from_ref(loss)),
            Quote::Part(part) => (&*part.path, &*part.losses),
        };
        let launch = Launch { losses, n, zero };
        Ok(Box::new(match self {
            Self::Parted(parted) => InParts::Changed(parted.data.changed(path, &launch)?),
            Self::Plain(own) => {
                let mut data = Node::new(vec![own.clone()]);
                let Changed { mut change, total } = data.changed(path, &launch)?;
                data.commit(&mut change);
                let stale = false;
                InParts::Whole(Self::Parted(Box::new(Parted { data, total, stale })))
            }
        }))
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

/// `n` launches: what each costs for every size of a change.
struct Launch<'a, T: Tally> {
    losses: &'a [T::Loss],
    n: u64,
    zero: &'a T,
}

impl<'a, T: Tally> Launch<'a, T> {
    fn new(losses: &'a [T::Loss], n: u64, zero: &'a T) -> Self {
        Self { losses, n, zero }
    }

    fn of(quote: &'a PartQuote<T::Loss>, n: u64, zero: &'a T) -> Self {
        Self::new(&quote.losses, n, zero)
    }
}

/// Data, or a part of them, and all partitions of them.
#[derive(Clone, Debug)]
struct Node<T> {
    /// The launches on these data themselves, for each size of a change of them.
    own: Curve<T>,
    groups: Vec<Group<T>>,
    /// The group with this address; it keeps its id, so the address stays its own.
    index: AddressMap<usize, usize>,
    sums: Tree<T>,
    /// The groups in which something was absorbed that the sums do not know yet.
    stale: Vec<usize>,
}

/// A partition.
#[derive(Clone, Debug)]
struct Group<T> {
    /// Of any launch in this partition.
    step: Step,
    parts: Vec<Node<T>>,
    index: AddressMap<u64, usize>,
    splits: Parts<T>,
    /// The parts in which something was absorbed that the splits do not know yet.
    stale: Vec<usize>,
}

/// What one launch changes in a node.
pub(crate) struct Change<T> {
    total: Curve<T>,
    place: Place<T>,
}

enum Place<T> {
    Here(Curve<T>),
    Below(Box<Below<T>>),
}

struct Below<T> {
    step: Step,
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
    fn new(own: Curve<T>) -> Self {
        Self {
            own,
            groups: Vec::new(),
            index: AddressMap::default(),
            sums: Tree::new(Combine::Sum),
            stale: Vec::new(),
        }
    }

    /// What was charged for a change of one unit in this part: known where there is no other partition.
    fn along(&self, path: &[Step]) -> Option<T> {
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

    /// What one launch changes in the data and all that is below.
    fn changed(&self, path: &[Step], launch: &Launch<'_, T>) -> Result<Changed<T>, Contradiction> {
        let change = self.after(path, launch)?;
        let total = change.total.first().ok_or(Contradiction)?.clone();
        Ok(Changed { change, total })
    }

    fn after(&self, path: &[Step], launch: &Launch<'_, T>) -> Result<Change<T>, Contradiction> {
        let Some((step, path)) = path.split_first() else {
            return self.after_here(launch);
        };
        if step.units.len() != self.own.len() {
            return Err(Contradiction);
        }
        let known = self.index.get(&step.group.address());
        let number = known.copied().unwrap_or(self.groups.len());
        let below = match self.groups.get(number) {
            Some(group) => group.after(number, step, path, launch, &self.sums)?,
            None => {
                let group = Group::new(step);
                let below = group.after(number, step, path, launch, &self.sums)?;
                Below {
                    new_group: Some(group),
                    ..below
                }
            }
        };
        Ok(Change {
            total: sum(&self.own, Some(&below.sums.all)),
            place: Place::Below(Box::new(below)),
        })
    }

    fn after_here(&self, launch: &Launch<'_, T>) -> Result<Change<T>, Contradiction> {
        if launch.losses.len() != self.own.len() {
            return Err(Contradiction);
        }
        let priced = self.own.iter().zip(launch.losses);
        let own: Curve<T> = priced
            .map(|(own, loss)| own.after(loss, launch.n))
            .collect();
        Ok(Change {
            total: sum(&own, self.sums.all()),
            place: Place::Here(own),
        })
    }

    fn make_room(&mut self, change: &mut Change<T>) {
        let Place::Below(below) = &mut change.place else {
            return;
        };
        self.sums.make_room(below.group, &mut below.sums);
        let group = match &mut below.new_group {
            Some(group) => {
                self.groups.reserve(1);
                self.index.reserve(1);
                group
            }
            None => &mut self.groups[below.group],
        };
        group.splits.make_room(below.part, &mut below.splits);
        let part = match &mut below.new_part {
            Some(part) => {
                group.parts.reserve(1);
                group.index.reserve(1);
                part
            }
            None => &mut group.parts[below.part],
        };
        part.make_room(&mut below.change);
    }

    fn commit(&mut self, change: &mut Change<T>) {
        let below = match &mut change.place {
            Place::Here(own) => return mem::swap(&mut self.own, own),
            Place::Below(below) => below,
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
    fn new(step: &Step) -> Self {
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
        step: &Step,
        path: &[Step],
        launch: &Launch<'_, T>,
        sums: &Tree<T>,
    ) -> Result<Below<T>, Contradiction> {
        if step.units != self.step.units {
            return Err(Contradiction);
        }
        let known = self.index.get(&step.part);
        let part = known.copied().unwrap_or(self.parts.len());
        let new_part = match self.parts.get(part) {
            Some(_) => None,
            None => Some(empty(step, launch.zero)),
        };
        let node = new_part.as_ref().or(self.parts.get(part));
        let change = node.ok_or(Contradiction)?.after(path, launch)?;
        let curve = monotone(change.total.clone());
        let splits = self.splits.with(part, curve, launch.zero);
        let total = at_sizes_above(&self.step, splits.all(), launch.zero);
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
fn at_sizes_above<T: Tally>(step: &Step, worst: &[T], zero: &T) -> Curve<T> {
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

fn empty<T: Tally>(step: &Step, zero: &T) -> Node<T> {
    Node::new(vec![zero.clone(); step.sizes()])
}
