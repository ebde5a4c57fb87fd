//! Merged interleavings of parts that run concurrently with coins of their own.
//!
//! # Why it is sound
//! A part that was spawned concurrently answers from its own state and its own coins. So the probability of a joint
//! history is the product of the probabilities of the parts' own histories, whatever their interleaving; and what can be
//! asked next depends on the parts' own histories as well. Two interleavings of the same histories are therefore worth
//! the same to an adversary, and it is enough to replay one: all queries to the first part, then all to the second, and
//! so on. The product form is checked on every history that is replayed; a part that answers differently depending on
//! what the others answered is an error.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use queryable::Round;

use crate::{
    error::AuditError,
    explore::{Heard, Offer},
    graph::{Edge, Graph, Node},
};

/// One of several parts that are asked concurrently: how often, and what, given its own history.
pub struct Part<Q, A> {
    depth: usize,
    offer: Box<Offers<Q, A>>,
}

/// How many merged histories there may be.
const MAX_HISTORIES: usize = 50_000_000;

type Offers<Q, A> = dyn Fn(&[Round<Q, A>]) -> Vec<Q> + Sync;

impl<Q, A> Part<Q, A> {
    /// A part that is asked at most `depth` times; `offer` says what, given the history of this part alone.
    pub fn new(depth: usize, offer: impl Fn(&[Round<Q, A>]) -> Vec<Q> + Sync + 'static) -> Self {
        Self {
            depth,
            offer: Box::new(offer),
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    fn offered(&self, history: &[Round<Q, A>]) -> Vec<Q> {
        if history.len() >= self.depth {
            return vec![];
        }
        (self.offer)(history)
    }
}

/// The first part that has something to ask, when the history goes through the parts in order.
pub(crate) fn in_order<Q, A>(parts: &[Part<Q, A>], history: &[Round<Q, A>]) -> Option<Offer<Q>> {
    let mut rest = history;
    for (number, part) in parts.iter().enumerate() {
        let own = (0..=rest.len())
            .find(|&length| length == rest.len() || part.offered(&rest[..length]).is_empty())?;
        if own == rest.len() {
            let queries = part.offered(rest);
            if !queries.is_empty() {
                return Some(Offer {
                    part: number,
                    queries,
                });
            }
        }
        rest = &rest[own..];
    }
    None
}

/// What is offered after any interleaving; `owners` says which part each round went to.
pub(crate) fn in_any_order<Q: Clone, A: Clone>(
    parts: &[Part<Q, A>],
    history: &[Round<(usize, Q), A>],
) -> Option<Offer<(usize, Q)>> {
    let queries: Vec<(usize, Q)> = (0..parts.len())
        .flat_map(|number| {
            let own: Vec<Round<Q, A>> = history
                .iter()
                .filter(|round| round.query.0 == number)
                .map(|round| Round {
                    query: round.query.1.clone(),
                    answer: round.answer.clone(),
                })
                .collect();
            let offered = parts[number].offered(&own);
            offered.into_iter().map(move |query| (number, query))
        })
        .collect();
    (!queries.is_empty()).then_some(Offer { part: 0, queries })
}

/// The histories of one part.
struct Own<Q, A> {
    nodes: Vec<OwnNode<Q, A>>,
}

struct OwnNode<Q, A> {
    edges: Vec<(Q, BTreeMap<Heard<A>, usize>)>,
    /// The probability of this history under each input, once it has been seen.
    law: [Option<RBig>; 2],
}

/// From the graph of histories that go through the parts in order, to the graph of all interleavings, merged.
pub(crate) fn interleave<Q: Clone, A: Clone + Ord>(
    ordered: &Graph<Q, A>,
    parts: usize,
) -> Result<Graph<Q, A>, AuditError> {
    ordered.demand_everything("the product form of merged interleavings")?;
    let fresh = || OwnNode {
        edges: vec![],
        law: [None, None],
    };
    let own = (0..parts)
        .map(|_| Own {
            nodes: vec![fresh()],
        })
        .collect();
    let mut walk = Walk {
        ordered,
        own,
        leaves: vec![],
    };
    walk.visit(0, &mut vec![0; parts], None)?;
    walk.product()
}

struct Walk<'a, Q, A> {
    ordered: &'a Graph<Q, A>,
    own: Vec<Own<Q, A>>,
    /// The parts' complete histories together, and the node of the ordered graph.
    leaves: Vec<(Vec<usize>, usize)>,
}

impl<Q: Clone, A: Clone + Ord> Walk<'_, Q, A> {
    /// Visits a node of the ordered graph, where the parts' own histories are `at`. `start` is the current part and the
    /// node where its turn began.
    fn visit(
        &mut self,
        node: usize,
        at: &mut Vec<usize>,
        start: Option<(usize, usize)>,
    ) -> Result<(), AuditError> {
        let ordered = self.ordered;
        if let Some((part, start)) = start {
            self.check_law(part, at[part], node, start)?;
        }
        if ordered.nodes[node].edges.is_empty() {
            self.leaves.push((at.clone(), node));
            return Ok(());
        }
        let part = ordered.nodes[node].part;
        let start = match start {
            Some((current, start)) if current == part => (part, start),
            _ => (part, node),
        };
        let here = at[part];
        for (number, edge) in ordered.nodes[node].edges.iter().enumerate() {
            for (answer, child) in &edge.to {
                at[part] = self.step(part, here, number, edge, answer);
                self.visit(*child, at, Some(start))?;
            }
        }
        at[part] = here;
        Ok(())
    }

    fn step(
        &mut self,
        part: usize,
        here: usize,
        number: usize,
        edge: &Edge<Q, A>,
        answer: &Heard<A>,
    ) -> usize {
        let nodes = &mut self.own[part].nodes;
        if nodes[here].edges.len() <= number {
            nodes[here]
                .edges
                .push((edge.query.clone(), BTreeMap::new()));
        }
        if let Some(known) = nodes[here].edges[number].1.get(answer) {
            return *known;
        }
        let new = nodes.len();
        nodes[here].edges[number].1.insert(answer.clone(), new);
        nodes.push(OwnNode {
            edges: vec![],
            law: [None, None],
        });
        new
    }

    /// Given what the earlier parts answered, this part's history must be as likely as ever.
    fn check_law(
        &mut self,
        part: usize,
        own: usize,
        node: usize,
        start: usize,
    ) -> Result<(), AuditError> {
        let masses = &self.ordered.masses;
        for input in 0..2 {
            if masses.is_zero(start, input) {
                continue;
            }
            let likely = masses.of(node, input) / masses.of(start, input);
            match &mut self.own[part].nodes[own].law[input] {
                Some(known) if *known != likely => {
                    return Err(AuditError::NotIndependent { part });
                }
                Some(_) => {}
                unknown => *unknown = Some(likely),
            }
        }
        Ok(())
    }

    /// All combinations of the parts' histories. A node's number is that of its parts in mixed radix, so edges go up.
    fn product(self) -> Result<Graph<Q, A>, AuditError> {
        let sizes: Vec<usize> = self.own.iter().map(|own| own.nodes.len()).collect();
        let total = sizes
            .iter()
            .try_fold(1usize, |total, &size| total.checked_mul(size));
        let total = total.filter(|&total| total <= MAX_HISTORIES);
        let total = total.ok_or(AuditError::TooManyHistories {
            limit: MAX_HISTORIES,
        })?;
        let weights: Vec<usize> = (0..sizes.len())
            .map(|part| sizes[part + 1..].iter().product())
            .collect();
        let nodes = (0..total)
            .map(|at| self.combined(at, &sizes, &weights))
            .collect();
        let mut leaves = vec![[RBig::ZERO, RBig::ZERO]; total];
        for (at, node) in &self.leaves {
            let number: usize = at
                .iter()
                .zip(&weights)
                .map(|(at, weight)| at * weight)
                .sum();
            leaves[number] = [0, 1].map(|input| self.ordered.masses.of(*node, input));
        }
        let mut graph = Graph::with_leaves(nodes, leaves)?;
        graph.merged = true;
        Ok(graph)
    }

    fn combined(&self, at: usize, sizes: &[usize], weights: &[usize]) -> Node<Q, A> {
        let mut edges = Vec::new();
        for (part, own) in self.own.iter().enumerate() {
            let here = at / weights[part] % sizes[part];
            for (query, answers) in &own.nodes[here].edges {
                let to = |(answer, child): (&Heard<A>, &usize)| {
                    (answer.clone(), at + (child - here) * weights[part])
                };
                edges.push(Edge {
                    query: query.clone(),
                    to: answers.iter().map(to).collect(),
                    missing: [RBig::ZERO, RBig::ZERO],
                });
            }
        }
        Node { part: 0, edges }
    }
}
