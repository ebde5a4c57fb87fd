//! Merged interleavings of parts that run concurrently with coins of their own.
//!
//! # Why it is sound
//! A part that was spawned concurrently answers from its own state and its own coins. So the probability of a joint
//! history is the product of the probabilities of the parts' own histories, whatever their interleaving; and what can be
//! asked next depends on the parts' own histories as well. Two interleavings of the same histories are therefore worth
//! the same to an adversary, and it is enough to replay one: all queries to the first part, then all to the second, and
//! so on.
//!
//! # What is checked, and what is assumed
//! The law of each part is taken from replays of that part alone. Every probability must be the product of these laws:
//! - for every two parts, in every interleaving of at most four turns: one part after every prefix of the other, and the
//!   other between any two of its rounds (up to two rounds each, these are all interleavings of the two);
//! - for all parts together, in the one order above.
//!
//! Anything else is an error. That a part minds none of the other interleavings is an assumption. It holds by
//! construction for children with coins of their own that cannot ask one another; where that is in doubt, audit
//! [`unmerged`](crate::Audit::unmerged).

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

/// How often the two parts of a pair take turns, when their independence is checked.
const MAX_TURNS: usize = 4;

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
    offer_of(parts, 0..parts.len(), history)
}

/// What is offered when only two parts are asked, and take few turns.
pub(crate) fn in_few_turns<Q: Clone, A: Clone>(
    parts: &[Part<Q, A>],
    pair: [usize; 2],
    history: &[Round<(usize, Q), A>],
) -> Option<Offer<(usize, Q)>> {
    let owner = |round: &Round<(usize, Q), A>| round.query.0;
    let switches = history
        .windows(2)
        .filter(|two| owner(&two[0]) != owner(&two[1]))
        .count();
    let goes_on = |number: &usize| {
        let switch = history.last().is_some_and(|last| owner(last) != *number);
        switches + usize::from(switch) < MAX_TURNS
    };
    offer_of(parts, pair.into_iter().filter(goes_on), history)
}

/// What these parts are asked next, each given its own history.
fn offer_of<Q: Clone, A: Clone>(
    parts: &[Part<Q, A>],
    numbers: impl Iterator<Item = usize>,
    history: &[Round<(usize, Q), A>],
) -> Option<Offer<(usize, Q)>> {
    let queries: Vec<(usize, Q)> = numbers
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
    /// The probability of this history under each input, when the part is alone.
    law: [RBig; 2],
}

impl<Q: Clone, A: Clone + Ord> Own<Q, A> {
    fn new() -> Self {
        Self {
            nodes: vec![OwnNode::new()],
        }
    }

    /// Where this answer to the query of this number leads. A history that was not seen before has probability zero.
    fn step(&mut self, here: usize, number: usize, query: &Q, answer: &Heard<A>) -> usize {
        let nodes = &mut self.nodes;
        if nodes[here].edges.len() <= number {
            nodes[here].edges.push((query.clone(), BTreeMap::new()));
        }
        if let Some(known) = nodes[here].edges[number].1.get(answer) {
            return *known;
        }
        let new = nodes.len();
        nodes[here].edges[number].1.insert(answer.clone(), new);
        nodes.push(OwnNode::new());
        new
    }
}

impl<Q, A> OwnNode<Q, A> {
    fn new() -> Self {
        Self {
            edges: vec![],
            law: [RBig::ZERO, RBig::ZERO],
        }
    }
}

/// Two parts, and the graph of their histories in few turns.
pub(crate) struct Pair<Q, A> {
    pub(crate) parts: [usize; 2],
    pub(crate) graph: Graph<(usize, Q), A>,
}

/// From the graph of histories that go through two or more parts in order, to the graph of all interleavings, merged.
/// There must be a pair for every two parts.
pub(crate) fn interleave<Q: Clone, A: Clone + Ord>(
    ordered: &Graph<Q, A>,
    pairs: &[Pair<Q, A>],
    parts: usize,
) -> Result<Graph<Q, A>, AuditError> {
    const WHAT: &str = "the product form of merged interleavings";
    ordered.demand_everything(WHAT)?;
    let mut walk = Walk {
        ordered,
        own: (0..parts).map(|_| Own::new()).collect(),
        leaves: vec![],
    };
    for pair in pairs {
        pair.graph.demand_everything(WHAT)?;
        for part in pair.parts {
            walk.learn(&pair.graph, part, 0, 0);
        }
    }
    for pair in pairs {
        walk.check_pair(pair, 0, &mut vec![0; parts], pair.parts[0])?;
    }
    walk.visit(0, &mut vec![0; parts], None)?;
    walk.product()
}

/// The edges of a node of a pair, each with its part, and its number among the queries to that part.
fn owned<Q, A>(
    node: &Node<(usize, Q), A>,
) -> impl Iterator<Item = (usize, usize, &Edge<(usize, Q), A>)> {
    node.edges.iter().enumerate().map(|(at, edge)| {
        let part = edge.query.0;
        let before = node.edges[..at].iter();
        let number = before.filter(|other| other.query.0 == part).count();
        (part, number, edge)
    })
}

struct Walk<'a, Q, A> {
    ordered: &'a Graph<Q, A>,
    own: Vec<Own<Q, A>>,
    /// The parts' complete histories together, and the node of the ordered graph.
    leaves: Vec<(Vec<usize>, usize)>,
}

impl<Q: Clone, A: Clone + Ord> Walk<'_, Q, A> {
    /// Takes in the law of a part from the histories in which it alone is asked.
    fn learn(&mut self, graph: &Graph<(usize, Q), A>, part: usize, node: usize, here: usize) {
        self.own[part].nodes[here].law = [0, 1].map(|input| graph.masses.of(node, input));
        for (_, number, edge) in owned(&graph.nodes[node]).filter(|(owner, ..)| *owner == part) {
            for (answer, child) in &edge.to {
                let next = self.own[part].step(here, number, &edge.query.1, answer);
                self.learn(graph, part, *child, next);
            }
        }
    }

    /// Every history of a pair must be as likely as its parts' own histories together. `last` is the part that answered
    /// last.
    fn check_pair(
        &mut self,
        pair: &Pair<Q, A>,
        node: usize,
        at: &mut Vec<usize>,
        last: usize,
    ) -> Result<(), AuditError> {
        let [a, b] = pair.parts.map(|part| &self.own[part].nodes[at[part]].law);
        for input in 0..2 {
            if pair.graph.masses.of(node, input) != &a[input] * &b[input] {
                return Err(AuditError::NotIndependent { part: last });
            }
        }
        for (part, number, edge) in owned(&pair.graph.nodes[node]) {
            let here = at[part];
            for (answer, child) in &edge.to {
                at[part] = self.own[part].step(here, number, &edge.query.1, answer);
                self.check_pair(pair, *child, at, part)?;
            }
            at[part] = here;
        }
        Ok(())
    }

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
                at[part] = self.own[part].step(here, number, &edge.query, answer);
                self.visit(*child, at, Some(start))?;
            }
        }
        at[part] = here;
        Ok(())
    }

    /// Given what the earlier parts answered, this part's history must be as likely as alone.
    fn check_law(
        &self,
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
            if self.own[part].nodes[own].law[input] != likely {
                return Err(AuditError::NotIndependent { part });
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
