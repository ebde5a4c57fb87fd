//! The parts of one partition: what the worst way to split a change among them amounts to.
//!
//! Most curves bend upwards: those of noise, of group privacy, of anything whose loss grows with the change at least in
//! proportion. Among these, the worst is that one part gets the whole change, so that the largest of them is enough. The
//! others (a filter's loss is the same for one changed record as for ten) are split in all ways by a tree, as long as there
//! are not too many of them; beyond that, as if there were arbitrarily many copies of a part that is as bad as the worst at
//! every size.
//!
//! Why that is right, in each coordinate. (1) Let `f` and `g` be convex with `f(0) = g(0) = 0`. Then `f(i) + g(s−i)` is
//! convex in `i`, so it is largest at an end: `max(f(s), g(s))`, which is convex again. (2) If `f_p ≤ w` for all parts,
//! then every split sums to at most `Σ w(i_p)`, and the largest such sum is `h(s) = max(w(s), max w(i) + h(s−i))`.

use std::{mem, sync::Arc};

use measures::Tally;

use crate::partition::split::{Combine, Curve, Path, Tree};

#[cfg(test)]
mod tests;

/// How many parts with curves that do not bend upwards are looked at one by one, times the square of the number of units:
/// what a question at a new distance does at the most besides reading.
const MOST_WORK: usize = 1 << 25;

#[derive(Clone, Debug)]
pub(crate) enum Parts<T> {
    /// Combined in one way only.
    Alike(Tree<T>),
    /// The units of a change are split among them.
    Split(Box<Splits<T>>),
}

/// What changes if the curve of one part does.
pub(crate) enum PartsPath<T> {
    Alike(Path<T>),
    Split(Box<SplitsPath<T>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Splits<T> {
    /// How much is looked at one by one.
    work: usize,
    /// Where the curve of each part is.
    places: Vec<Place>,
    /// Those that bend upwards.
    upward: Tree<T>,
    others: Others<T>,
    /// All of them; empty before the first.
    all: Curve<T>,
    stale: bool,
    /// Whether the curve that was set last bends upwards.
    judged: Option<(Curve<T>, bool)>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Upward(usize),
    /// For good, so that a part is never counted on both sides.
    Other(usize),
}

#[derive(Clone, Debug)]
enum Others<T> {
    Each(Tree<T>),
    /// At each size the worst of them, and the worst split among copies of that.
    Bounded {
        worst: Curve<T>,
        copies: Curve<T>,
    },
}

pub(crate) struct SplitsPath<T> {
    place: Place,
    upward: Option<(usize, Path<T>)>,
    others: Option<OthersPath<T>>,
    all: Curve<T>,
}

enum OthersPath<T> {
    Each(usize, Path<T>),
    Whole(Others<T>),
}

impl<T: Tally> Parts<T> {
    pub(crate) fn new(how: Combine) -> Self {
        match how {
            Combine::Split => Self::Split(Box::new(Splits::new(MOST_WORK))),
            how => Self::Alike(Tree::new(how)),
        }
    }

    /// What changes if the curve of this part becomes `curve`, or is added at the end.
    pub(crate) fn with(&self, part: usize, curve: Curve<T>, zero: &T) -> PartsPath<T> {
        match self {
            Self::Alike(tree) => PartsPath::Alike(tree.with(part, curve)),
            Self::Split(splits) => PartsPath::Split(Box::new(splits.with(part, curve, zero))),
        }
    }

    /// Makes room for a change, so that [`commit`](Self::commit) allocates nothing.
    pub(crate) fn reserve(&mut self, part: usize, path: &mut PartsPath<T>) {
        match (self, path) {
            (Self::Alike(tree), PartsPath::Alike(path)) => tree.reserve(part, path),
            (Self::Split(splits), PartsPath::Split(path)) => splits.reserve(part, path),
            _ => unreachable!("a path is of the parts that made it"),
        }
    }

    /// Puts a change in force, and leaves what was there before.
    pub(crate) fn commit(&mut self, part: usize, path: &mut PartsPath<T>) {
        match (self, path) {
            (Self::Alike(tree), PartsPath::Alike(path)) => tree.commit(part, path),
            (Self::Split(splits), PartsPath::Split(path)) => splits.commit(part, path),
            _ => unreachable!("a path is of the parts that made it"),
        }
    }

    /// The curve of this part becomes `curve`, or is added at the end, when next [refreshed](Self::refresh).
    pub(crate) fn set(&mut self, part: usize, curve: Curve<T>, zero: &T) {
        match self {
            Self::Alike(tree) => tree.set(part, curve),
            Self::Split(splits) => splits.set(part, curve, zero),
        }
    }

    /// All parts together, with everything that was set.
    pub(crate) fn refresh(&mut self) -> &[T] {
        match self {
            Self::Alike(tree) => {
                tree.refresh();
                tree.all().map_or(&[], |all| all)
            }
            Self::Split(splits) => {
                splits.refresh();
                &splits.all
            }
        }
    }
}

impl<T> PartsPath<T> {
    /// All parts together, if this is put in force.
    pub(crate) fn all(&self) -> &[T] {
        match self {
            Self::Alike(path) => &path.all,
            Self::Split(path) => &path.all,
        }
    }
}

/// Does the curve, which begins with zero at no units, bend upwards in every coordinate?
fn bends_up<T: Tally>(curve: &[T], zero: &T) -> bool {
    let before = std::iter::once(zero).chain(curve);
    let mut threes = before.zip(curve).zip(curve.iter().skip(1));
    threes.all(|((before, middle), after)| T::bends_up(before, middle, after))
}

impl<T: Tally> Splits<T> {
    fn new(work: usize) -> Self {
        Self {
            work,
            places: Vec::new(),
            upward: Tree::new(Combine::Worst),
            others: Others::Each(Tree::new(Combine::Split)),
            all: Curve::default(),
            stale: false,
            judged: None,
        }
    }

    /// Where the curve of a part goes; and from where it is taken away.
    fn place(&self, part: usize, upward: bool) -> (Place, Option<usize>) {
        let new_other = || Place::Other(self.others.len());
        match self.places.get(part) {
            Some(place @ Place::Other(_)) => (*place, None),
            Some(place @ Place::Upward(_)) if upward => (*place, None),
            Some(Place::Upward(at)) => (new_other(), Some(*at)),
            None if upward => (Place::Upward(self.upward.len()), None),
            None => (new_other(), None),
        }
    }

    fn with(&self, part: usize, curve: Curve<T>, zero: &T) -> SplitsPath<T> {
        let nothing = || vec![zero.clone(); curve.len()].into();
        let (place, left) = self.place(part, bends_up(&curve, zero));
        let left = left.map(|at| (at, self.upward.with(at, nothing())));
        let (upward, others) = match place {
            Place::Upward(at) => (Some((at, self.upward.with(at, curve))), None),
            Place::Other(at) => (left, Some(self.others.with(at, curve, self.work))),
        };
        let all = together(
            upward
                .as_ref()
                .map_or(self.upward.all(), |path| Some(&path.1.all)),
            match &others {
                Some(OthersPath::Each(_, path)) => Some(&path.all),
                Some(OthersPath::Whole(others)) => others.all(),
                None => self.others.all(),
            },
        );
        SplitsPath {
            place,
            upward,
            others,
            all,
        }
    }

    fn reserve(&mut self, part: usize, path: &mut SplitsPath<T>) {
        self.places
            .reserve((part + 1).saturating_sub(self.places.len()));
        if let Some((at, path)) = &mut path.upward {
            self.upward.reserve(*at, path);
        }
        if let (Others::Each(tree), Some(OthersPath::Each(at, path))) =
            (&mut self.others, &mut path.others)
        {
            tree.reserve(*at, path);
        }
    }

    fn commit(&mut self, part: usize, path: &mut SplitsPath<T>) {
        self.put(part, path.place);
        if let Some((at, path)) = &mut path.upward {
            self.upward.commit(*at, path);
        }
        match (&mut self.others, &mut path.others) {
            (Others::Each(tree), Some(OthersPath::Each(at, path))) => tree.commit(*at, path),
            (others, Some(OthersPath::Whole(whole))) => mem::swap(others, whole),
            (_, Some(OthersPath::Each(..)) | None) => {}
        }
        mem::swap(&mut self.all, &mut path.all);
    }

    fn put(&mut self, part: usize, place: Place) {
        match self.places.get_mut(part) {
            Some(known) => *known = place,
            None => self.places.push(place),
        }
    }

    fn set(&mut self, part: usize, curve: Curve<T>, zero: &T) {
        let known = self.judged.take_if(|(known, _)| Arc::ptr_eq(known, &curve));
        let judge = || (Arc::clone(&curve), bends_up(&curve, zero));
        let (_, upward) = *self.judged.insert(known.unwrap_or_else(judge));
        let (place, left) = self.place(part, upward);
        if let Some(at) = left {
            self.upward.set(at, vec![zero.clone(); curve.len()].into());
        }
        match place {
            Place::Upward(at) => self.upward.set(at, curve),
            Place::Other(at) => self.others.set(at, curve, self.work),
        }
        self.put(part, place);
        self.stale = true;
    }

    fn refresh(&mut self) {
        if mem::take(&mut self.stale) {
            self.upward.refresh();
            self.others.refresh();
            self.all = together(self.upward.all(), self.others.all());
        }
    }
}

/// The worst split among the parts of both sides.
fn together<T: Tally>(upward: Option<&Curve<T>>, others: Option<&Curve<T>>) -> Curve<T> {
    match (upward, others) {
        (Some(upward), Some(others)) => Combine::Split.both(upward, others),
        (Some(only), None) | (None, Some(only)) => only.clone(),
        (None, None) => Curve::default(),
    }
}

impl<T: Tally> Others<T> {
    fn len(&self) -> usize {
        match self {
            Self::Each(tree) => tree.len(),
            Self::Bounded { .. } => 0,
        }
    }

    fn all(&self) -> Option<&Curve<T>> {
        match self {
            Self::Each(tree) => tree.all(),
            Self::Bounded { copies, .. } => Some(copies),
        }
    }

    /// The worst at each size, this curve included, if the curve cannot be looked at by itself.
    fn worst_with(&self, at: usize, curve: &Curve<T>, work: usize) -> Option<Curve<T>> {
        let join = |one: Curve<T>, other: &Curve<T>| Combine::Worst.both(&one, other);
        match self {
            Self::Each(tree) if at < tree.len().max(work / curve.len().pow(2)) => None,
            Self::Each(tree) => Some(tree.curves().iter().fold(curve.clone(), join)),
            Self::Bounded { worst, .. } => Some(join(curve.clone(), worst)),
        }
    }

    fn with(&self, at: usize, curve: Curve<T>, work: usize) -> OthersPath<T> {
        match (self, self.worst_with(at, &curve, work)) {
            (Self::Each(tree), None) => OthersPath::Each(at, tree.with(at, curve)),
            (_, worst) => {
                let worst = worst.unwrap_or(curve);
                let copies = copies(&worst);
                OthersPath::Whole(Self::Bounded { worst, copies })
            }
        }
    }

    fn set(&mut self, at: usize, curve: Curve<T>, work: usize) {
        let worst = self.worst_with(at, &curve, work);
        match (&mut *self, worst) {
            (Self::Each(tree), None) => tree.set(at, curve),
            (_, worst) => {
                let (worst, copies) = (worst.unwrap_or(curve), Curve::default());
                *self = Self::Bounded { worst, copies };
            }
        }
    }

    fn refresh(&mut self) {
        match self {
            Self::Each(tree) => tree.refresh(),
            Self::Bounded { worst, copies: all } => *all = copies(worst),
        }
    }
}

/// The worst split among arbitrarily many parts with this curve, at each size.
fn copies<T: Tally>(worst: &[T]) -> Curve<T> {
    let mut copies: Vec<T> = Vec::with_capacity(worst.len());
    for (size, whole) in worst.iter().enumerate() {
        let mut most = whole.clone();
        for (one, rest) in worst[..size].iter().zip(copies.iter().rev()) {
            let mut split = one.clone();
            split.merge(rest);
            most.join(&split);
        }
        copies.push(most);
    }
    copies.into()
}
