//! Curves of tallies over the size of a change, and trees that combine many of them, so that one curve that grows costs
//! a logarithm of their number and not all of them again.

use std::{mem, sync::Arc};

use measures::Tally;

/// What was charged, for each size of a change. Parts with the same launches share one.
pub(crate) type Curve<T> = Arc<[T]>;

/// How curves combine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Combine {
    /// The same change hits all of them.
    Sum,
    /// The units of the change are split among them: at each size, the coordinate-wise maximum over all splits.
    Split,
    /// All units hit one of them.
    Worst,
    /// There is one unit, so it hits one of them: as before, and since curves only grow, nothing but the whole is kept.
    Join,
}

impl Combine {
    pub(crate) fn both<T: Tally>(self, one: &[T], other: &[T]) -> Curve<T> {
        match self {
            Self::Sum => pairs(one, other, T::merge),
            Self::Worst | Self::Join => pairs(one, other, T::join),
            Self::Split => (0..one.len().min(other.len()))
                .map(|size| worst_split(one, other, size))
                .collect(),
        }
    }

    /// As [`both`](Self::both), where the worse of a curve and itself is that curve.
    fn of<T: Tally>(self, one: &Curve<T>, other: &Curve<T>) -> Curve<T> {
        match self {
            Self::Worst | Self::Join if Arc::ptr_eq(one, other) => Arc::clone(one),
            _ => self.both(one, other),
        }
    }
}

fn pairs<T: Tally>(one: &[T], other: &[T], combine: impl Fn(&mut T, &T)) -> Curve<T> {
    let pair = |(one, other): (&T, &T)| {
        let mut both = one.clone();
        combine(&mut both, other);
        both
    };
    one.iter().zip(other).map(pair).collect()
}

/// All units of this size (the first size is one unit), split among two.
fn worst_split<T: Tally>(one: &[T], other: &[T], size: usize) -> T {
    let mut worst = one[size].clone();
    worst.join(&other[size]);
    for (here, there) in one[..size].iter().zip(other[..size].iter().rev()) {
        let mut split = here.clone();
        split.merge(there);
        worst.join(&split);
    }
    worst
}

/// A larger change may do what a smaller one does.
pub(crate) fn monotone<T: Tally>(curve: &[T]) -> Curve<T> {
    let mut largest = curve.to_vec();
    for size in 1..largest.len() {
        let (smaller, larger) = largest.split_at_mut(size);
        larger[0].join(&smaller[size - 1]);
    }
    largest.into()
}

/// Sums of both, size by size; a missing curve is zero.
pub(crate) fn sum<T: Tally>(one: &Curve<T>, other: Option<&Curve<T>>) -> Curve<T> {
    other.map_or_else(|| Arc::clone(one), |other| Combine::Sum.both(one, other))
}

/// A balanced tree of combined curves.
#[derive(Clone, Debug)]
pub(crate) struct Tree<T> {
    how: Combine,
    /// The curves themselves, then each two combined, and so on up to one.
    levels: Vec<Vec<Curve<T>>>,
    /// The curves that were set, and not yet combined with the others.
    stale: Vec<usize>,
}

/// The nodes of a tree that a changed curve changes.
pub(crate) struct Path<T> {
    /// From the curve up.
    below: Vec<Curve<T>>,
    /// All curves combined.
    pub(crate) all: Curve<T>,
    /// Room for one more level.
    level: Vec<Curve<T>>,
}

impl<T: Tally> Tree<T> {
    pub(crate) fn new(how: Combine) -> Self {
        Self {
            how,
            levels: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// The curves themselves.
    pub(crate) fn curves(&self) -> &[Curve<T>] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn len(&self) -> usize {
        self.curves().len()
    }

    /// All curves combined.
    pub(crate) fn all(&self) -> Option<&Curve<T>> {
        self.levels.last().and_then(|top| top.first())
    }

    /// What changes if the curve with this number becomes `curve`, or is added at the end.
    pub(crate) fn with(&self, number: usize, curve: Curve<T>) -> Path<T> {
        if self.how == Combine::Join {
            let joined = self.all().map(|all| self.how.of(all, &curve));
            return Path {
                below: Vec::new(),
                all: joined.unwrap_or(curve),
                level: Vec::new(),
            };
        }
        let mut below = Vec::with_capacity(self.levels.len());
        let (mut at, mut node) = (number, curve);
        for level in 0.. {
            let nodes = self.levels.get(level).map_or(&[][..], Vec::as_slice);
            if nodes.len().max(at + 1) == 1 {
                break;
            }
            let above = match nodes.get(at ^ 1) {
                Some(sibling) => self.how.of(&node, sibling),
                None => node.clone(),
            };
            below.push(node);
            (at, node) = (at / 2, above);
        }
        Path {
            below,
            all: node,
            level: Vec::new(),
        }
    }

    /// A join remembers nothing but itself.
    fn place(&self, number: usize) -> usize {
        if self.how == Combine::Join { 0 } else { number }
    }

    /// Makes room for a change, so that [`commit`](Self::commit) allocates nothing.
    pub(crate) fn reserve(&mut self, number: usize, path: &mut Path<T>) {
        let mut at = self.place(number);
        for level in &mut self.levels {
            level.reserve((at + 1).saturating_sub(level.len()));
            at /= 2;
        }
        if self.levels.len() <= path.below.len() {
            self.levels.reserve(1);
            path.level.reserve(1);
        }
    }

    /// The curve with this number becomes `curve`, or is added at the end, when next [refreshed](Self::refresh): many
    /// curves that change cost less together than one by one.
    pub(crate) fn set(&mut self, number: usize, curve: Curve<T>) {
        if self.how == Combine::Join {
            let mut path = self.with(number, curve);
            return self.commit(number, &mut path);
        }
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        put(&mut self.levels[0], number, curve);
        self.stale.push(number);
    }

    /// Combines what was set with everything else: every node above a changed curve once.
    pub(crate) fn refresh(&mut self) {
        let mut stale = mem::take(&mut self.stale);
        stale.sort_unstable();
        for level in 0.. {
            if stale.is_empty() || self.levels[level].len() == 1 {
                return;
            }
            stale.iter_mut().for_each(|at| *at /= 2);
            stale.dedup();
            if self.levels.len() == level + 1 {
                self.levels.push(Vec::new());
            }
            let (below, above) = self.levels.split_at_mut(level + 1);
            for at in &stale {
                let node = match &below[level][2 * at..] {
                    [one, other, ..] => self.how.of(one, other),
                    [alone] => Arc::clone(alone),
                    [] => Curve::default(),
                };
                put(&mut above[0], *at, node);
            }
        }
    }

    /// Puts a change in force, and leaves what was there before.
    pub(crate) fn commit(&mut self, number: usize, path: &mut Path<T>) {
        let mut at = self.place(number);
        for (level, node) in path.below.iter_mut().chain([&mut path.all]).enumerate() {
            if self.levels.len() == level {
                self.levels.push(mem::take(&mut path.level));
            }
            match self.levels[level].get_mut(at) {
                Some(known) => mem::swap(known, node),
                // Shared, and not taken: an empty curve of tallies with a large alignment would be allocated.
                None => self.levels[level].push(Arc::clone(node)),
            }
            at /= 2;
        }
    }
}

/// Replaces a node, or adds it at the end.
fn put<T>(nodes: &mut Vec<Curve<T>>, at: usize, node: Curve<T>) {
    match nodes.get_mut(at) {
        Some(known) => *known = node,
        None => nodes.push(node),
    }
}
