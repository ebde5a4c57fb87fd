//! Concave chains: the value of a history at every ε at once.
//!
//! An adversary that accepts a set of views is a point `(p1, p0)`, the probabilities of acceptance. The upper boundary
//! of these points is a concave chain from the origin, kept as its edges, steepest first. The best points of
//! independent branches add up, so the sum over answers merges edges by slope; the best of several queries is the
//! upper hull. Then `δ(ε)` is the largest `p0 − e^ε·p1` over the corners.

use std::{cmp::Ordering, ops::AddAssign};

use dashu_int::UBig;
use exact::convex::{Coordinate, Corner, upper_hull};

use crate::{links::Outline, masses::Counts};

/// Non-negative integers that the chain is computed with.
pub(crate) trait Count: Coordinate + Default + for<'a> AddAssign<&'a Self> {}

impl<N: Coordinate + Default + for<'a> AddAssign<&'a N>> Count for N {}

/// A step of a chain: how much more `p1` (`x`) and `p0` (`y`) it takes in. The steepest step is the least.
fn by_slope<N: Count>(a: &Corner<N>, b: &Corner<N>) -> Ordering {
    N::compare_products(&b.y, &a.x, &a.y, &b.x)
}

/// A concave chain from the origin, by its steps, strictly less steep one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chain<N>(Vec<Corner<N>>);

impl<N: Count> Chain<N> {
    /// The chain with all these steps.
    fn sum(mut steps: Vec<Corner<N>>) -> Self {
        steps.sort_by(by_slope);
        steps.dedup_by(|step, last| {
            let equal = by_slope(last, step) == Ordering::Equal;
            if equal {
                last.x += &step.x;
                last.y += &step.y;
            }
            equal
        });
        Self(steps)
    }

    /// The upper hull of both.
    fn hull(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let points = in_order(self.corners(), other.corners());
        let mut hull = upper_hull(Corner::default(), points);
        for at in (1..hull.len()).rev() {
            let (from, to) = (&hull[at - 1], &hull[at]);
            hull[at] = Corner::new(from.x.distance(&to.x), from.y.distance(&to.y));
        }
        hull.remove(0);
        Self(hull)
    }

    /// The corners after the origin.
    fn corners(self) -> Vec<Corner<N>> {
        let mut corners = self.0;
        let mut at = Corner::<N>::default();
        for corner in &mut corners {
            at.x += &corner.x;
            at.y += &corner.y;
            *corner = at.clone();
        }
        corners
    }
}

/// What is in two ordered lists, in order.
fn in_order<T: Ord>(one: Vec<T>, other: Vec<T>) -> impl Iterator<Item = T> {
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(a), Some(b)) if b < a => other.next(),
        (None, _) => other.next(),
        _ => one.next(),
    })
}

/// The corners of the chain of the whole system: `y` is the mass under input `over`, `x` under the other input.
pub(crate) fn corners(graph: Outline<'_>, over: usize) -> Vec<Corner<UBig>> {
    match &graph.masses.counts {
        Counts::Small(counts) => root_chain(graph, counts, over)
            .corners()
            .into_iter()
            .map(|corner| Corner::new(corner.x.into(), corner.y.into()))
            .collect(),
        Counts::Big(counts) => root_chain(graph, counts, over).corners(),
    }
}

fn root_chain<N: Count>(graph: Outline<'_>, counts: &[[N; 2]], over: usize) -> Chain<N> {
    let nodes = graph.nodes;
    let mut chains: Vec<Chain<N>> = vec![Chain(vec![]); nodes.count()];
    // One view: accept it or not. A view that is impossible under the first input is never worth accepting.
    let view = |at: usize| {
        let [x, y] = [&counts[at][1 - over], &counts[at][over]];
        (*y != N::default()).then(|| Corner::new(x.clone(), y.clone()))
    };
    let is_leaf = |at: usize| nodes.edges(at) == 0;
    let mut children = Vec::new();
    // Who asks for a chain last is the parent of the least number; only merged histories have several.
    let first_parent = graph.merged.then(|| {
        let mut first_parent = vec![0; nodes.count()];
        for at in (0..nodes.count()).rev() {
            for edge in 0..nodes.edges(at) {
                nodes.children(at, edge, &mut children);
                children.iter().for_each(|child| first_parent[*child] = at);
            }
        }
        first_parent
    });
    let is_last =
        |at: usize, child: usize| first_parent.as_ref().is_none_or(|first| first[child] == at);
    let mut asked_for = Vec::new();
    for at in (0..nodes.count()).rev() {
        asked_for.clear();
        let asked = (0..nodes.edges(at)).map(|edge| {
            nodes.children(at, edge, &mut children);
            let mut steps = Vec::with_capacity(children.len());
            for child in &children {
                match is_leaf(*child) {
                    true => steps.extend(view(*child)),
                    false => steps.extend_from_slice(&chains[*child].0),
                }
            }
            asked_for.extend_from_slice(&children);
            Chain::sum(steps)
        });
        chains[at] = asked.reduce(Chain::hull).unwrap_or_default();
        for child in asked_for.iter().filter(|child| is_last(at, **child)) {
            chains[*child] = Chain(vec![]);
        }
    }
    match is_leaf(0) {
        true => Chain(view(0).into_iter().collect()),
        false => chains.swap_remove(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(steps: &[(u64, u64)]) -> Chain<u64> {
        Chain(steps.iter().map(|&(x, y)| Corner::new(x, y)).collect())
    }

    #[test]
    fn sum_merges_by_slope() {
        let a = chain(&[(0, 1), (1, 2), (4, 1)]);
        let b = chain(&[(2, 4), (3, 1)]);
        let sum = Chain::sum([a.0, b.0].concat());
        assert_eq!(sum, chain(&[(0, 1), (3, 6), (3, 1), (4, 1)]));
    }

    #[test]
    fn hull_keeps_the_highest_points() {
        let a = chain(&[(1, 4), (5, 2)]);
        let b = chain(&[(2, 5), (4, 1)]);
        assert_eq!(a.hull(b), chain(&[(1, 4), (1, 1), (4, 1)]));
        let high = chain(&[(0, 3), (1, 3)]);
        let low = chain(&[(2, 3)]);
        assert_eq!(low.hull(high.clone()), high);
    }
}
