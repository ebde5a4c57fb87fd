//! Joins the trees of both inputs into one graph. A history that is possible under one input only has mass zero under
//! the other.
//!
//! Histories keep the numbers that they have in the first tree, and those of the second tree alone come after them: so
//! both trees are gone through as they were made, which is about how they lie in memory.

use crate::{
    answers::{self, Answers},
    error::AuditError,
    explore::{Edge as HalfEdge, Node as HalfNode, Tree},
    graph::{Edge, Graph, Node},
    limits::Memory,
    mass::Mass,
};

pub(crate) fn join<Q: PartialEq, A: Ord>(
    trees: [Tree<Q, A>; 2],
    memory: &Memory,
) -> Result<Graph<Q, A>, AuditError> {
    let built = [0, 1].map(|input| trees[input].missing.to_rational());
    let [zero, one] = trees.map(|tree| tree.nodes);
    let (nodes, leaves) = join_nodes(zero, one)?;
    let mut graph = Graph::with_leaves(nodes, leaves, memory)?;
    for (missing, built) in graph.missing.iter_mut().zip(built) {
        *missing += built;
    }
    Ok(graph)
}

/// The nodes of the graph, and their masses.
type Joined<Q, A> = (Vec<Node<Q, A>>, Vec<[Mass; 2]>);

fn join_nodes<Q: PartialEq, A: Ord>(
    zero: Vec<HalfNode<Q, A>>,
    mut one: Vec<HalfNode<Q, A>>,
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
        let (node, masses) = origins.join([zero.next(), there], depth as usize)?;
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

    fn join<Q: PartialEq, A: Ord>(
        &mut self,
        halves: [Option<HalfNode<Q, A>>; 2],
        depth: usize,
    ) -> Result<(Node<Q, A>, [Mass; 2]), AuditError> {
        let part = halves.iter().flatten().last().map_or(0, |half| half.part);
        let both = halves.iter().all(Option::is_some);
        let [zero, one] = halves.map(|half| half.unwrap_or_else(HalfNode::empty));
        if both {
            let same = |(zero, one): (&HalfEdge<Q, A>, &HalfEdge<Q, A>)| zero.query == one.query;
            if zero.edges.len() != one.edges.len() || !zero.edges.iter().zip(&one.edges).all(same) {
                return Err(AuditError::OffersChanged { round: depth });
            }
        }
        let longest = zero.edges.len().max(one.edges.len());
        let mut edges = Vec::with_capacity(longest);
        let (mut here, mut there) = (zero.edges.into_iter(), one.edges.into_iter());
        for _ in 0..longest {
            edges.extend(self.edge([here.next(), there.next()], depth)?);
        }
        Ok((Node { part, edges }, [zero.mass, one.mass]))
    }

    fn edge<Q, A: Ord>(
        &mut self,
        halves: [Option<HalfEdge<Q, A>>; 2],
        depth: usize,
    ) -> Result<Option<Edge<Q, A>>, AuditError> {
        let mut to = [Answers::new(), Answers::new()];
        let mut missing = [Mass::ZERO, Mass::ZERO];
        let mut query = None;
        for (input, half) in halves.into_iter().enumerate() {
            let Some(half) = half else { continue };
            query = Some(half.query);
            missing[input] = half.missing;
            to[input] = half.to;
        }
        let to = answers::join(to, depth, |at| self.place(at, depth + 1))?;
        let edge = |query| Edge { query, to, missing };
        Ok(query.map(edge))
    }
}
