//! The histories of both inputs together: a graph whose edges go from smaller to larger numbers, with the exact masses
//! of its nodes. Everything that is computed about a system is a pass over it.

use std::collections::HashSet;

use dashu_ratio::RBig;

use crate::{
    error::AuditError,
    explore::Heard,
    limits::Memory,
    links::Outline,
    mass::Mass,
    masses::{Masses, worst_missing},
};

/// A history, or several that are worth the same.
pub(crate) struct Node<Q, A> {
    pub(crate) part: usize,
    pub(crate) edges: Vec<Edge<Q, A>>,
}

/// A query, and where its answers lead.
pub(crate) struct Edge<Q, A> {
    pub(crate) query: Q,
    pub(crate) to: Vec<(Heard<A>, usize)>,
    /// What was not enumerated, under each input.
    pub(crate) missing: [Mass; 2],
}

pub(crate) struct Graph<Q, A> {
    pub(crate) nodes: Vec<Node<Q, A>>,
    pub(crate) masses: Masses,
    /// The largest mass that an adversary can lose to truncated draws, under each input.
    pub(crate) missing: [RBig; 2],
    /// Whether a node stands for several histories.
    pub(crate) merged: bool,
}

impl<Q, A> Graph<Q, A> {
    /// A graph with these masses at its leaves; the masses of the other nodes follow.
    pub(crate) fn with_leaves(
        nodes: Vec<Node<Q, A>>,
        leaves: &[[Mass; 2]],
        memory: &Memory,
    ) -> Result<Self, AuditError> {
        let missing = worst_missing(&nodes);
        let truncated = missing.iter().any(|mass| !mass.is_zero());
        let masses = Masses::with_leaves(&nodes, leaves, truncated, memory)?;
        Ok(Self {
            nodes,
            masses,
            missing,
            merged: false,
        })
    }

    /// What does not depend on what is asked and answered.
    pub(crate) fn outline(&self) -> Outline<'_> {
        Outline {
            nodes: &self.nodes,
            masses: &self.masses,
            missing: &self.missing,
            merged: self.merged,
        }
    }

    pub(crate) fn map_queries<R>(self, map: impl Fn(Q) -> R) -> Graph<R, A> {
        let edge = |edge: Edge<Q, A>| Edge {
            query: map(edge.query),
            to: edge.to,
            missing: edge.missing,
        };
        let node = |node: Node<Q, A>| Node {
            part: node.part,
            edges: node.edges.into_iter().map(edge).collect(),
        };
        Graph {
            nodes: self.nodes.into_iter().map(node).collect(),
            masses: self.masses,
            missing: self.missing,
            merged: self.merged,
        }
    }

    /// Whether all histories have the same probabilities; an impossible history may be missing from either.
    pub(crate) fn same_views(&self, other: &Self) -> bool
    where
        Q: PartialEq,
        A: PartialEq,
    {
        let mut waiting = vec![(0, 0)];
        // Merged histories are reached in many ways.
        let mut seen = HashSet::new();
        while let Some((mine, theirs)) = waiting.pop() {
            if (self.merged || other.merged) && !seen.insert((mine, theirs)) {
                continue;
            }
            let same = (0..2).all(|b| self.masses.of(mine, b) == other.masses.of(theirs, b));
            let (here, there) = (&self.nodes[mine].edges, &other.nodes[theirs].edges);
            if !same || here.len() != there.len() {
                return false;
            }
            for (a, b) in here.iter().zip(there) {
                let possible = |graph: &Self, edge: &Edge<Q, A>| {
                    let likely = |to: &&(Heard<A>, usize)| {
                        (0..2).any(|input| !graph.masses.is_zero(to.1, input))
                    };
                    edge.to.iter().filter(likely).count()
                };
                let pairs: Vec<(usize, usize)> =
                    a.to.iter()
                        .filter_map(|(answer, to)| {
                            let found = b.to.iter().find(|(other, _)| other == answer)?;
                            Some((*to, found.1))
                        })
                        .collect();
                let shared = pairs
                    .iter()
                    .filter(|(to, _)| (0..2).any(|input| !self.masses.is_zero(*to, input)))
                    .count();
                let all = shared == possible(self, a) && shared == possible(other, b);
                if a.query != b.query || !all {
                    return false;
                }
                waiting.extend(pairs);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;

    /// So many rounds of one query and one answer, then two queries with one answer each, with these masses over `8·unit`; the
    /// second query's draw was truncated.
    fn graph(
        rounds: usize,
        unit: &UBig,
        masses: [i64; 2],
        missing: i64,
    ) -> Result<Graph<u8, ()>, AuditError> {
        let leaf = |n: i64| Mass::from(&RBig::from_parts(n.into(), unit * 8u8));
        let edge = |to: usize, missing| Edge {
            query: 0,
            to: vec![(Ok(()), to)],
            missing: [leaf(missing), leaf(missing)],
        };
        let node = |edges| Node { part: 0, edges };
        let mut nodes: Vec<_> = (1..=rounds).map(|to| node(vec![edge(to, 0)])).collect();
        nodes.push(node(vec![edge(rounds + 1, 0), edge(rounds + 2, missing)]));
        nodes.extend([node(vec![]), node(vec![])]);
        let inner = vec![0; rounds + 1];
        let leaves = inner.into_iter().chain(masses);
        let leaves: Vec<_> = leaves.map(|n| [leaf(n), leaf(n)]).collect();
        Graph::with_leaves(nodes, &leaves, &Memory::new(u64::MAX))
    }

    #[test]
    fn a_truncated_draw_excuses_its_own_mass_only() {
        // In words and in long integers.
        for (round, unit) in [(0, UBig::ONE), (2, UBig::ONE), (2, UBig::from(3u8).pow(90))] {
            let found = |masses, missing| graph(round, &unit, masses, missing).err();
            assert_eq!(found([8, 8], 0), None);
            assert_eq!(found([8, 7], 1), None);
            for (masses, missing) in [([8, 7], 0), ([8, 6], 1), ([8, 8], 1)] {
                let unstable = Some(AuditError::Unstable { round });
                assert_eq!(found(masses, missing), unstable, "{masses:?} {missing}");
            }
        }
    }
}
