//! Joins the trees of both inputs into one graph. A history that is possible under one input only has mass zero under
//! the other.

use crate::{
    answers::{self, Answers},
    error::AuditError,
    explore::{Edge as HalfEdge, Node as HalfNode, Tree},
    graph::{Edge, Graph, Node},
    mass::Mass,
};

pub(crate) fn join<Q: PartialEq, A: Ord>(
    trees: [Tree<Q, A>; 2],
) -> Result<Graph<Q, A>, AuditError> {
    let built = [0, 1].map(|input| trees[input].missing.to_rational());
    let fewest = trees[0].nodes.len().max(trees[1].nodes.len());
    let mut join = Join {
        halves: trees.map(|tree| tree.nodes.into_iter().map(Some).collect()),
        nodes: Vec::with_capacity(fewest),
        leaves: Vec::with_capacity(fewest),
        origins: Vec::with_capacity(fewest),
    };
    join.place([Some(0), Some(0)], 0);
    for new in 0.. {
        let Some(&(at, depth)) = join.origins.get(new) else {
            break;
        };
        join.fill(new, at, depth)?;
    }
    let mut graph = Graph::with_leaves(join.nodes, join.leaves)?;
    for (missing, built) in graph.missing.iter_mut().zip(built) {
        *missing += built;
    }
    Ok(graph)
}

struct Join<Q, A> {
    halves: [Vec<Option<HalfNode<Q, A>>>; 2],
    nodes: Vec<Node<Q, A>>,
    leaves: Vec<[Mass; 2]>,
    /// Where each node comes from in the two trees, and its depth.
    origins: Vec<([Option<usize>; 2], usize)>,
}

impl<Q: PartialEq, A: Ord> Join<Q, A> {
    fn place(&mut self, at: [Option<usize>; 2], depth: usize) -> usize {
        self.nodes.push(Node {
            part: 0,
            edges: vec![],
        });
        self.leaves.push([Mass::ZERO, Mass::ZERO]);
        self.origins.push((at, depth));
        self.nodes.len() - 1
    }

    fn fill(&mut self, new: usize, at: [Option<usize>; 2], depth: usize) -> Result<(), AuditError> {
        let mut edges = [vec![], vec![]];
        for input in 0..2 {
            let Some(half) = at[input].and_then(|at| self.halves[input][at].take()) else {
                continue;
            };
            self.nodes[new].part = half.part;
            self.leaves[new][input] = half.mass;
            edges[input] = half.edges;
        }
        let [zero, one] = edges;
        if at.iter().all(Option::is_some) {
            let same = |(zero, one): (&HalfEdge<Q, A>, &HalfEdge<Q, A>)| zero.query == one.query;
            if zero.len() != one.len() || !zero.iter().zip(&one).all(same) {
                return Err(AuditError::OffersChanged { round: depth });
            }
        }
        let longest = zero.len().max(one.len());
        self.nodes[new].edges.reserve_exact(longest);
        let (mut zero, mut one) = (zero.into_iter(), one.into_iter());
        for _ in 0..longest {
            if let Some(edge) = self.edge([zero.next(), one.next()], depth)? {
                self.nodes[new].edges.push(edge);
            }
        }
        Ok(())
    }

    fn edge(
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
