//! What has been charged at one distance: the launches on the data themselves, and those in the parts of partitions.
//!
//! A change of `n` units of the data can fall on the parts in many ways. The rule gets, for each of the raw sums that it
//! needs, the largest value over all ways to split the `n` units; totals of parts are never composed (spec B7). Several
//! partitions of the same data all see the same change, so they add up.

use measures::Tally;

use crate::{
    addresses::AddressMap,
    bill::{PartQuote, Quote, Step},
    split::{Combine, Curve, Path, Tree, monotone, sum},
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
}

/// Tallies with launches more, not yet in force.
pub(crate) enum Pending<T> {
    Plain(T),
    Parted { change: Change<T>, total: T },
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

    /// What they would be after `n` launches at this quote.
    #[inline]
    pub(crate) fn after(
        &self,
        quote: &Quote<T::Loss>,
        n: u64,
        zero: &T,
    ) -> Result<Pending<T>, Contradiction> {
        match (self, quote) {
            (Self::Plain(own), Quote::Direct(loss)) => Ok(Pending::Plain(own.after(loss, n))),
            (Self::Parted(parted), Quote::Direct(loss)) => {
                let launch = Launch::new(std::slice::from_ref(loss), n, zero);
                pending(&parted.data, &[], &launch)
            }
            (Self::Parted(parted), Quote::Part(part)) => {
                pending(&parted.data, &part.path, &Launch::of(part, n, zero))
            }
            (Self::Plain(own), Quote::Part(part)) => {
                let data = Node::new(vec![own.clone()]);
                pending(&data, &part.path, &Launch::of(part, n, zero))
            }
        }
    }

    /// Puts a launch in force.
    #[inline]
    pub(crate) fn commit(&mut self, pending: Pending<T>, zero: &T) {
        match pending {
            Pending::Plain(own) => *self = Self::Plain(own),
            Pending::Parted { change, total } => self.commit_parted(change, total, zero),
        }
    }

    fn commit_parted(&mut self, change: Change<T>, total: T, zero: &T) {
        if let Self::Plain(own) = self {
            let data = Node::new(vec![own.clone()]);
            let total = own.clone();
            *self = Self::Parted(Box::new(Parted { data, total }));
        }
        if let Self::Parted(parted) = self {
            parted.data.commit(change, zero);
            parted.total = total;
        }
    }

    pub(crate) fn absorb(
        &mut self,
        quote: &Quote<T::Loss>,
        n: u64,
        zero: &T,
    ) -> Result<(), Contradiction> {
        if let (Self::Plain(own), Quote::Direct(loss)) = (&mut *self, quote) {
            own.absorb(loss, n);
            return Ok(());
        }
        let pending = self.after(quote, n, zero)?;
        self.commit(pending, zero);
        Ok(())
    }
}

impl<T: Tally> Pending<T> {
    #[inline]
    pub(crate) fn total(&self) -> &T {
        match self {
            Self::Plain(total) | Self::Parted { total, .. } => total,
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

fn pending<T: Tally>(
    data: &Node<T>,
    path: &[Step],
    launch: &Launch<'_, T>,
) -> Result<Pending<T>, Contradiction> {
    let change = data.after(path, launch)?;
    let total = change.total.first().ok_or(Contradiction)?.clone();
    Ok(Pending::Parted { change, total })
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
}

/// A partition.
#[derive(Clone, Debug)]
struct Group<T> {
    /// Of any launch in this partition.
    step: Step,
    parts: Vec<Node<T>>,
    index: AddressMap<u64, usize>,
    splits: Tree<T>,
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
    part: usize,
    change: Change<T>,
    splits: Path<T>,
    sums: Path<T>,
}

impl<T: Tally> Node<T> {
    fn new(own: Curve<T>) -> Self {
        Self {
            own,
            groups: Vec::new(),
            index: AddressMap::default(),
            sums: Tree::new(Combine::Sum),
        }
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
            None => Group::new(step).after(number, step, path, launch, &self.sums)?,
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

    fn commit(&mut self, change: Change<T>, zero: &T) {
        let below = match change.place {
            Place::Here(own) => {
                self.own = own;
                return;
            }
            Place::Below(below) => *below,
        };
        if self.groups.len() == below.group {
            self.index.insert(below.step.group.address(), below.group);
            self.groups.push(Group::new(&below.step));
        }
        self.sums.commit(below.group, below.sums);
        let group = &mut self.groups[below.group];
        if group.parts.len() == below.part {
            group.index.insert(below.step.part, below.part);
            group.parts.push(empty(&below.step, zero));
        }
        group.splits.commit(below.part, below.splits);
        group.parts[below.part].commit(below.change, zero);
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
            splits: Tree::new(how),
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
        let change = match self.parts.get(part) {
            Some(known) => known.after(path, launch)?,
            None => empty(step, launch.zero).after(path, launch)?,
        };
        let splits = self.splits.with(part, monotone(change.total.clone()));
        let total = self.at_sizes_above(&splits.all, launch.zero);
        Ok(Below {
            step: step.clone(),
            group,
            part,
            change,
            splits,
            sums: sums.with(group, total),
        })
    }

    /// The worst split for each size of a change above.
    fn at_sizes_above(&self, worst: &Curve<T>, zero: &T) -> Curve<T> {
        let bounded = self.step.is_bounded();
        let at = |units: &u32| match units {
            0 => zero.clone(),
            _ if bounded => worst.last().unwrap_or(zero).clone(),
            units => worst
                .get(*units as usize - 1)
                .or(worst.last())
                .unwrap_or(zero)
                .clone(),
        };
        self.step.units.iter().map(at).collect()
    }
}

fn empty<T: Tally>(step: &Step, zero: &T) -> Node<T> {
    Node::new(vec![zero.clone(); step.sizes()])
}
