//! Joins the trees of both inputs into one graph. A history that is possible under one input only has mass zero under
//! the other.
//!
//! Histories keep the numbers that they have in the first tree, and those of the second tree alone come after them: so
//! both trees are gone through as they were made, which is about how they lie in memory.

use crate::{
    answers::{self, Answers},
    equality::Alike,
    error::AuditError,
    explore::{Node as HalfNode, Tree},
    graph::{Edge, Graph, Node},
    limits::Memory,
    mass::Mass,
    system::Input,
};

pub(crate) fn join<Q: PartialEq, A: Ord>(
    [zero, one]: [Tree<Q, A>; 2],
    alike: Alike<A>,
    memory: &Memory,
) -> Result<Graph<Q, A>, AuditError> {
    let built = [zero.missing, one.missing];
    let (nodes, leaves) = join_nodes(zero.nodes, one.nodes, alike)?;
    let mut graph = Graph::with_leaves(nodes, &leaves, memory)?;
    for (missing, built) in graph.missing.iter_mut().zip(&built) {
        *missing += built.to_rational();
    }
    graph.outline().demand_all_runs()?;
    Ok(graph)
}

/// A node of the graph, and its masses.
type Whole<Q, A> = (Node<Q, A>, [Mass; 2]);

/// All of them.
type Joined<Q, A> = (Vec<Node<Q, A>>, Vec<[Mass; 2]>);

fn join_nodes<Q: PartialEq, A: Ord>(
    zero: Vec<HalfNode<Q, A>>,
    mut one: Vec<HalfNode<Q, A>>,
    alike: Alike<A>,
) -> Result<Joined<Q, A>, AuditError> {
    let fewest = zero.len().max(one.len());
    let (mut nodes, mut leaves) = (Vec::with_capacity(fewest), Vec::with_capacity(fewest));
    let mut origins = Origins(vec![Origin::default(); zero.len()]);
    origins.0[0].one = Some(0);
    let mut zero = zero.into_iter();
    for new in 0.. {
        let Some(&Origin { one: at, depth }) = origins.0.get(new) else {
            break;
        };
        let there = at.map(|at| std::mem::replace(&mut one[at], HalfNode::empty()));
        let depth = depth as usize;
        let (node, masses) = match (zero.next(), there) {
            (Some(zero), Some(one)) => origins.both(zero, one, depth, alike)?,
            (Some(zero), None) => origins.alone(zero, Input::Zero, depth, alike)?,
            (None, Some(one)) => origins.alone(one, Input::One, depth, alike)?,
            (None, None) => break,
        };
        nodes.push(node);
        leaves.push(masses);
    }
    Ok((nodes, leaves))
}

/// Where a node of the graph comes from, besides the node of the same number in the first tree.
#[derive(Clone, Copy, Default)]
struct Origin {
    one: Option<usize>,
    depth: u32,
}

struct Origins(Vec<Origin>);

impl Origins {
    /// The number of what comes from these nodes.
    fn place(&mut self, [zero, one]: [Option<usize>; 2], depth: usize) -> usize {
        let depth = depth as u32;
        let origin = Origin { one, depth };
        match zero {
            Some(zero) => {
                self.0[zero] = origin;
                zero
            }
            None => {
                self.0.push(origin);
                self.0.len() - 1
            }
        }
    }

    /// A history that is possible under both inputs.
    fn both<Q: PartialEq, A: Ord>(
        &mut self,
        zero: HalfNode<Q, A>,
        one: HalfNode<Q, A>,
        depth: usize,
        alike: Alike<A>,
    ) -> Result<Whole<Q, A>, AuditError> {
        let same = |at: usize| zero.edges[at].query == one.edges[at].query;
        if zero.edges.len() != one.edges.len() || !(0..one.edges.len()).all(same) {
            return Err(AuditError::OffersChanged { round: depth });
        }
        let edges = zero.edges.into_iter().zip(one.edges).map(|(zero, one)| {
            let to = [zero.to, one.to];
            let to = answers::join(to, depth, alike, &mut |at| self.place(at, depth + 1))?;
            let ([missing, _], [other, _]) = (zero.missing, one.missing);
            Ok(Edge {
                query: zero.query,
                to,
                missing: [missing, other],
            })
        });
        let node = Node {
            part: one.part,
            // In the place of the first tree's.
            edges: edges.collect::<Result<_, AuditError>>()?,
        };
        Ok((node, [zero.mass, one.mass]))
    }

    /// A history that is possible under this input only.
    fn alone<Q, A: Ord>(
        &mut self,
        half: HalfNode<Q, A>,
        input: Input,
        depth: usize,
        alike: Alike<A>,
    ) -> Result<Whole<Q, A>, AuditError> {
        let mut edges = Vec::with_capacity(half.edges.len());
        for edge in half.edges {
            let mut to = [edge.to, Answers::new()];
            let mut missing = edge.missing;
            if input == Input::One {
                to.reverse();
                missing.reverse();
            }
            let to = answers::join(to, depth, alike, &mut |at| self.place(at, depth + 1))?;
            edges.push(Edge {
                query: edge.query,
                to,
                missing,
            });
        }
        let node = Node {
            part: half.part,
            edges,
        };
        let mut masses = [half.mass, Mass::ZERO];
        if input == Input::One {
            masses.reverse();
        }
        Ok((node, masses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equality::Checked;
    use dashu_ratio::RBig;

    #[test]
    fn runs_that_are_lost_are_found() {
        // The mass of all runs and what is missing, in halves: as if one input, or neither, had never been run, or one run were
        // lost or there twice.
        let tree = |[runs, missing]: [i64; 2]| {
            let half = |n: i64| Mass::from(&RBig::from_parts(n.into(), 2u8.into()));
            let mut tree = Tree::<(), ()>::new();
            (tree.nodes[0].mass, tree.missing) = (half(runs), half(missing));
            tree
        };
        let found = |runs: [[i64; 2]; 2]| {
            join(
                runs.map(tree),
                Alike::by::<Checked>(),
                &Memory::new(u64::MAX),
            )
            .err()
        };
        let lost = |input, halves: i64| {
            let sum = RBig::from_parts(halves.into(), 2u8.into());
            Some(AuditError::Lost { input, sum })
        };
        let all = [2, 0];
        for (runs, sum) in [([0, 0], 0), ([1, 0], 1), ([0, 1], 1), ([3, 0], 3)] {
            assert_eq!(found([runs, all]), lost(0, sum));
            assert_eq!(found([all, runs]), lost(1, sum));
        }
        assert_eq!(found([[0, 0], [0, 0]]), lost(0, 0));
        assert_eq!(found([all, all]), None);
        assert_eq!(found([[1, 1], all]), None);
    }
}
