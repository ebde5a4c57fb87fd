//! Concave chains: the value of a history at every ε at once.
//!
//! An adversary that accepts a set of views is a point `(p1, p0)`, the probabilities of acceptance. The upper boundary
//! of these points is a concave chain from the origin, kept as its edges, steepest first. The best points of
//! independent branches add up, so the sum over answers merges edges by slope; the best of several queries is the
//! upper hull. Then `δ(ε)` is the largest `p0 − e^ε·p1` over the corners.

use std::cmp::Ordering;

use dashu_int::UBig;

use crate::graph::{Counts, Graph};

/// Non-negative integers that the chain is computed with.
pub(crate) trait Count: Clone + Ord + Default {
    fn plus(&self, other: &Self) -> Self;
    /// `self − other`, for `other ≤ self`.
    fn minus(&self, other: &Self) -> Self;
    fn is_none(&self) -> bool;
    /// Compares `a·b` with `c·d`.
    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering;
}

impl Count for u64 {
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    fn minus(&self, other: &Self) -> Self {
        self - other
    }
    fn is_none(&self) -> bool {
        *self == 0
    }
    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering {
        (u128::from(*a) * u128::from(*b)).cmp(&(u128::from(*c) * u128::from(*d)))
    }
}

impl Count for UBig {
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    fn minus(&self, other: &Self) -> Self {
        self - other
    }
    fn is_none(&self) -> bool {
        self.is_zero()
    }
    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering {
        (a * b).cmp(&(c * d))
    }
}

/// A step of a chain: how much more `p1` and `p0` it takes in.
#[derive(Clone, Debug, PartialEq)]
struct Step<N> {
    x: N,
    y: N,
}

impl<N: Count> Step<N> {
    /// The steepest step is the least.
    fn by_slope(&self, other: &Self) -> Ordering {
        N::compare_products(&other.y, &self.x, &self.y, &other.x)
    }
}

/// A concave chain from the origin, by its steps, strictly less steep one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chain<N>(Vec<Step<N>>);

impl<N: Count> Chain<N> {
    /// One view: accept it or not. A view that is impossible under the first input is never worth accepting.
    fn leaf(x: &N, y: &N) -> Self {
        if y.is_none() {
            return Self(vec![]);
        }
        Self(vec![Step {
            x: x.clone(),
            y: y.clone(),
        }])
    }

    fn sum<'a>(chains: impl Iterator<Item = &'a Self>) -> Self
    where
        N: 'a,
    {
        let mut all: Vec<&Step<N>> = chains.flat_map(|chain| &chain.0).collect();
        all.sort_by(|a, b| a.by_slope(b));
        let mut steps: Vec<Step<N>> = Vec::with_capacity(all.len());
        for step in all {
            match steps.last_mut() {
                Some(last) if last.by_slope(step) == Ordering::Equal => {
                    last.x = last.x.plus(&step.x);
                    last.y = last.y.plus(&step.y);
                }
                _ => steps.push(step.clone()),
            }
        }
        Self(steps)
    }

    /// The upper hull of both.
    fn hull(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let mut points = self.corners();
        points.extend(other.corners());
        points.sort();
        let mut hull: Vec<(N, N)> = vec![(N::default(), N::default())];
        for point in points {
            // A point that is not higher than one to its left is never better, as slopes are not negative.
            if hull.last().is_some_and(|last| point.1 <= last.1) {
                continue;
            }
            while let [.., before, last] = hull.as_slice()
                && !turns_down(before, last, &point)
            {
                hull.pop();
            }
            hull.push(point);
        }
        let step = |pair: &[(N, N)]| Step {
            x: pair[1].0.minus(&pair[0].0),
            y: pair[1].1.minus(&pair[0].1),
        };
        Self(hull.windows(2).map(step).collect())
    }

    /// The corners after the origin, as `(x, y)`.
    pub(crate) fn corners(&self) -> Vec<(N, N)> {
        let mut at = (N::default(), N::default());
        let corner = |step: &Step<N>| {
            at = (at.0.plus(&step.x), at.1.plus(&step.y));
            at.clone()
        };
        self.0.iter().map(corner).collect()
    }
}

/// Is the middle point strictly above the line between the others?
fn turns_down<N: Count>(before: &(N, N), middle: &(N, N), after: &(N, N)) -> bool {
    let to = |end: &(N, N)| (end.0.minus(&before.0), end.1.minus(&before.1));
    let (a, b) = (to(middle), to(after));
    N::compare_products(&a.1, &b.0, &b.1, &a.0) == Ordering::Greater
}

/// The corners of the chain of the whole system: `y` is the mass under input `over`, `x` under the other input.
pub(crate) fn corners<Q, A>(graph: &Graph<Q, A>, over: usize) -> Vec<(UBig, UBig)> {
    match &graph.masses.counts {
        Counts::Small(counts) => root_chain(graph, counts, over)
            .corners()
            .into_iter()
            .map(|(x, y)| (x.into(), y.into()))
            .collect(),
        Counts::Big(counts) => root_chain(graph, counts, over).corners(),
    }
}

fn root_chain<Q, A, N: Count>(graph: &Graph<Q, A>, counts: &[[N; 2]], over: usize) -> Chain<N> {
    let mut chains: Vec<Chain<N>> = vec![Chain(vec![]); graph.nodes.len()];
    for at in (0..graph.nodes.len()).rev() {
        let asked = graph.nodes[at].edges.iter().map(|edge| {
            let answers = edge.to.iter().map(|(_, child)| &chains[*child]);
            Chain::sum(answers)
        });
        let best = asked.reduce(Chain::hull);
        chains[at] = best.unwrap_or_else(|| Chain::leaf(&counts[at][1 - over], &counts[at][over]));
    }
    chains.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(steps: &[(u64, u64)]) -> Chain<u64> {
        Chain(steps.iter().map(|&(x, y)| Step { x, y }).collect())
    }

    #[test]
    fn sum_merges_by_slope() {
        let a = chain(&[(0, 1), (1, 2), (4, 1)]);
        let b = chain(&[(2, 4), (3, 1)]);
        let sum = Chain::sum([&a, &b].into_iter());
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
