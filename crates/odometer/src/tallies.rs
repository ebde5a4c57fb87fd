//! What has been charged at one distance: the launches on the data themselves, and those in the parts of partitions.
//!
//! A change of `n` units of the data can fall on the parts in many ways. The rule gets, for each of the raw sums that it
//! needs, the largest value over all ways to split the `n` units; totals of parts are never composed (spec B7).

use measures::Tally;

use crate::bill::{GroupId, PartQuote, Quote};

#[derive(Clone, Debug)]
pub(crate) struct Tallies<T> {
    own: T,
    partitioned: Option<Box<Partitioned<T>>>,
}

#[derive(Clone, Debug)]
struct Partitioned<T> {
    groups: Vec<Group<T>>,
    /// The launches on the data themselves and the worst split of every group.
    total: T,
}

#[derive(Clone, Debug)]
pub(crate) struct Group<T> {
    id: GroupId,
    parts: Vec<Part<T>>,
    /// The worst split.
    total: T,
}

#[derive(Clone, Debug)]
struct Part<T> {
    id: u64,
    /// At 1, 2, … units, or only at all of them.
    at: Vec<Tallies<T>>,
}

/// Tallies with one launch more, not yet in force.
pub(crate) enum Pending<T> {
    Own {
        own: T,
        total: Option<T>,
    },
    Part {
        group: usize,
        part: usize,
        changed: Group<T>,
        total: T,
    },
}

impl<T: Tally> Tallies<T> {
    pub(crate) fn new(zero: T) -> Self {
        Self {
            own: zero,
            partitioned: None,
        }
    }

    /// Everything that was charged, for the rule.
    #[inline]
    pub(crate) fn total(&self) -> &T {
        self.partitioned
            .as_ref()
            .map_or(&self.own, |partitioned| &partitioned.total)
    }

    /// What they would be after `n` launches at this quote.
    #[inline]
    pub(crate) fn after(&self, quote: &Quote<T::Loss>, n: u64, zero: &T) -> Pending<T> {
        match quote {
            Quote::Direct(loss) => Pending::Own {
                own: self.own.after(loss, n),
                total: self.partitioned.as_ref().map(|p| p.total.after(loss, n)),
            },
            Quote::Part(quote) => self.after_part(quote, n, zero),
        }
    }

    fn after_part(&self, quote: &PartQuote<T::Loss>, n: u64, zero: &T) -> Pending<T> {
        let groups = self.partitioned.as_ref().map_or(&[][..], |p| &p.groups);
        let at = groups
            .iter()
            .position(|group| group.id == quote.group)
            .unwrap_or(groups.len());
        let group = groups.get(at);
        let parts = group.map_or(&[][..], |group| &group.parts);
        let part = parts
            .iter()
            .position(|part| part.id == quote.part)
            .unwrap_or(parts.len());
        let changed = changed_part(parts.get(part), quote, n, zero);
        let group_total = match group {
            Some(group) => group.total_with(part, &changed, quote.bounded, zero),
            None => changed.worst(zero),
        };
        let mut total = self.own.clone();
        for (other, group) in groups.iter().enumerate() {
            if other != at {
                total.merge(&group.total);
            }
        }
        total.merge(&group_total);
        let changed = Group {
            id: quote.group.clone(),
            parts: vec![changed],
            total: group_total,
        };
        Pending::Part {
            group: at,
            part,
            changed,
            total,
        }
    }

    /// Puts a launch in force.
    #[inline]
    pub(crate) fn commit(&mut self, pending: Pending<T>) {
        match pending {
            Pending::Own { own, total } => {
                self.own = own;
                if let (Some(partitioned), Some(total)) = (&mut self.partitioned, total) {
                    partitioned.total = total;
                }
            }
            Pending::Part {
                group,
                part,
                changed,
                total,
            } => {
                let own = &self.own;
                let partitioned = self.partitioned.get_or_insert_with(|| {
                    Box::new(Partitioned {
                        groups: Vec::new(),
                        total: own.clone(),
                    })
                });
                partitioned.commit(group, part, changed);
                partitioned.total = total;
            }
        }
    }

    pub(crate) fn absorb(&mut self, quote: &Quote<T::Loss>, n: u64, zero: &T) {
        let pending = self.after(quote, n, zero);
        self.commit(pending);
    }
}

impl<T: Tally> Pending<T> {
    #[inline]
    pub(crate) fn total(&self) -> &T {
        match self {
            Self::Own {
                total: Some(total), ..
            }
            | Self::Part { total, .. } => total,
            Self::Own { own, total: None } => own,
        }
    }
}

impl<T: Tally> Partitioned<T> {
    fn commit(&mut self, group: usize, part: usize, mut changed: Group<T>) {
        let Some(known) = self.groups.get_mut(group) else {
            self.groups.push(changed);
            return;
        };
        known.total = changed.total;
        let Some(changed) = changed.parts.pop() else {
            return;
        };
        match known.parts.get_mut(part) {
            Some(known) => *known = changed,
            None => known.parts.push(changed),
        }
    }
}

fn changed_part<T: Tally>(
    part: Option<&Part<T>>,
    quote: &PartQuote<T::Loss>,
    n: u64,
    zero: &T,
) -> Part<T> {
    let empty = || vec![Tallies::new(zero.clone()); quote.at.len()];
    let mut at = part.map_or_else(empty, |part| part.at.clone());
    for (tallies, quote) in at.iter_mut().zip(&quote.at) {
        tallies.absorb(quote, n, zero);
    }
    Part { id: quote.part, at }
}

impl<T: Tally> Part<T> {
    /// All units in this part.
    fn worst(&self, zero: &T) -> T {
        self.at
            .last()
            .map_or_else(|| zero.clone(), |tallies| tallies.total().clone())
    }
}

impl<T: Tally> Group<T> {
    /// The worst split, with one part changed.
    fn total_with(&self, changed_at: usize, changed: &Part<T>, bounded: bool, zero: &T) -> T {
        let others = self
            .parts
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != changed_at)
            .map(|(_, part)| part);
        let parts = others.chain([changed]);
        if bounded {
            // As if all units fell on every part: more than any split.
            let mut total = zero.clone();
            parts.for_each(|part| total.merge(&part.worst(zero)));
            return total;
        }
        if changed.at.len() == 1 {
            // One unit falls on one part; tallies only grow, so the old maximum stays valid.
            let mut total = self.total.clone();
            total.join(&changed.worst(zero));
            return total;
        }
        worst_split(parts, changed.at.len(), zero)
    }
}

/// The coordinate-wise maximum over all ways to split the units among the parts.
fn worst_split<'a, T: Tally>(
    parts: impl Iterator<Item = &'a Part<T>>,
    units: usize,
    zero: &T,
) -> T {
    let mut best = vec![zero.clone(); units + 1];
    for part in parts {
        for total in (1..=units).rev() {
            let mut worst = best[total].clone();
            for (here, tallies) in part.at.iter().take(total).enumerate() {
                let mut split = best[total - here - 1].clone();
                split.merge(tallies.total());
                worst.join(&split);
            }
            best[total] = worst;
        }
    }
    best.swap_remove(units)
}
