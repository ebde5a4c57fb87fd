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
//! - for every two parts, in every interleaving of at most four turns (or as many as [`turns`](crate::Audit::turns) says):
//!   one part after every prefix of the other, and the other between any two of its rounds (up to two rounds each, these
//!   are all interleavings of the two);
//! - for all parts together, in the one order above.
//!
//! Anything else is an error. That a part minds none of the other interleavings is an assumption. It holds by
//! construction for children with coins of their own that cannot ask one another; where that is in doubt, audit
//! [`unmerged`](crate::Audit::unmerged). The verdict says that it was made.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use crate::{
    equality::Alike,
    error::AuditError,
    explore::Heard,
    graph::{Edge, Graph, Node},
    limits::Memory,
    mass::Mass,
    weigh,
};

/// The histories of one part.
struct Own<Q, A> {
    nodes: Vec<OwnNode<Q, A>>,
    /// Whether its law is known.
    learnt: bool,
}

struct OwnNode<Q, A> {
    depth: usize,
    edges: Vec<(Q, BTreeMap<Heard<A>, Known>)>,
    /// The probability of this history under each input, when the part is alone.
    law: [RBig; 2],
}

/// An answer that was seen before.
struct Known {
    /// Where it leads.
    to: usize,
    /// What can be read from it apart from its value.
    layout: Vec<usize>,
}

impl<Q: Clone + PartialEq, A: Clone + Ord> Own<Q, A> {
    fn new() -> Self {
        Self {
            nodes: vec![OwnNode::new(0)],
            learnt: false,
        }
    }

    /// Where this answer to the query of this number leads. A history that was not seen before has probability zero.
    fn step(
        &mut self,
        here: usize,
        number: usize,
        query: &Q,
        answer: &Heard<A>,
        alike: Alike<A>,
    ) -> Result<usize, AuditError> {
        let nodes = &mut self.nodes;
        let depth = nodes[here].depth;
        let edges = &mut nodes[here].edges;
        if edges.len() == number {
            edges.push((query.clone(), BTreeMap::new()));
        }
        match edges.get(number) {
            Some((known, _)) if known == query => {}
            _ => return Err(AuditError::OffersChanged { round: depth }),
        }
        match edges[number].1.get_key_value(answer) {
            Some((known, _)) if known != answer => {
                return Err(AuditError::CoarseOrder { round: depth });
            }
            Some((_, known)) if known.layout != alike.layout(answer) => {
                return Err(AuditError::UnequalInMemory { round: depth });
            }
            Some((_, known)) => return Ok(known.to),
            None => {}
        }
        let new = nodes.len();
        let known = Known {
            to: new,
            layout: alike.layout(answer),
        };
        nodes[here].edges[number].1.insert(answer.clone(), known);
        nodes.push(OwnNode::new(depth + 1));
        Ok(new)
    }
}

impl<Q, A> OwnNode<Q, A> {
    fn new(depth: usize) -> Self {
        Self {
            depth,
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

const PRODUCT: &str = "the product form of merged interleavings";

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

/// From the graphs of every two parts, and the graph of histories that go through all parts in order, to the graph of all
/// interleavings, merged.
pub(crate) struct Merger<Q, A> {
    own: Vec<Own<Q, A>>,
    alike: Alike<A>,
}

impl<Q: Clone + PartialEq, A: Clone + Ord> Merger<Q, A> {
    pub(crate) fn new(parts: usize, alike: Alike<A>) -> Self {
        Self {
            own: (0..parts).map(|_| Own::new()).collect(),
            alike,
        }
    }

    /// Learns the parts' laws, and checks that they are independent. There must be a pair for every two parts.
    pub(crate) fn pair(&mut self, pair: &Pair<Q, A>) -> Result<(), AuditError> {
        pair.graph.outline().demand_everything(PRODUCT)?;
        for part in pair.parts {
            if !std::mem::replace(&mut self.own[part].learnt, true) {
                self.learn(&pair.graph, part, 0, 0)?;
            }
        }
        self.check_pair(pair, 0, &mut vec![0; self.own.len()], pair.parts[0])
    }

    pub(crate) fn interleave(
        self,
        ordered: &Graph<Q, A>,
        memory: &Memory,
    ) -> Result<Graph<Q, A>, AuditError> {
        ordered.outline().demand_everything(PRODUCT)?;
        let parts = self.own.len();
        let mut walk = Walk {
            ordered,
            own: self.own,
            alike: self.alike,
            leaves: vec![],
        };
        walk.visit(0, &mut vec![0; parts], None)?;
        walk.product(memory)
    }

    /// Takes in the law of a part from the histories in which it alone is asked.
    fn learn(
        &mut self,
        graph: &Graph<(usize, Q), A>,
        part: usize,
        node: usize,
        here: usize,
    ) -> Result<(), AuditError> {
        self.own[part].nodes[here].law = [0, 1].map(|input| graph.masses.of(node, input));
        for (_, number, edge) in owned(&graph.nodes[node]).filter(|(owner, ..)| *owner == part) {
            for (answer, child) in &edge.to {
                let next = self.own[part].step(here, number, &edge.query.1, answer, self.alike)?;
                self.learn(graph, part, *child, next)?;
            }
        }
        Ok(())
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
                at[part] = self.own[part].step(here, number, &edge.query.1, answer, self.alike)?;
                self.check_pair(pair, *child, at, part)?;
            }
            at[part] = here;
        }
        Ok(())
    }
}

struct Walk<'a, Q, A> {
    ordered: &'a Graph<Q, A>,
    own: Vec<Own<Q, A>>,
    alike: Alike<A>,
    /// The parts' complete histories together, and the node of the ordered graph.
    leaves: Vec<(Vec<usize>, usize)>,
}

impl<Q: Clone + PartialEq, A: Clone + Ord> Walk<'_, Q, A> {
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
        let known = &self.own[part].nodes[here];
        if known.edges.len() > ordered.nodes[node].edges.len() {
            return Err(AuditError::OffersChanged { round: known.depth });
        }
        for (number, edge) in ordered.nodes[node].edges.iter().enumerate() {
            for (answer, child) in &edge.to {
                at[part] = self.own[part].step(here, number, &edge.query, answer, self.alike)?;
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
    fn product(self, memory: &Memory) -> Result<Graph<Q, A>, AuditError> {
        let sizes: Vec<usize> = self.own.iter().map(|own| own.nodes.len()).collect();
        memory.take(self.weigh(&sizes))?;
        let total = sizes
            .iter()
            .try_fold(1, |total: usize, &size| total.checked_mul(size));
        let total = total.ok_or_else(|| memory.too_much())?;
        let weights: Vec<usize> = (0..sizes.len())
            .map(|part| sizes[part + 1..].iter().product())
            .collect();
        let nodes = (0..total)
            .map(|at| self.combined(at, &sizes, &weights))
            .collect();
        let mut leaves = vec![[Mass::ZERO, Mass::ZERO]; total];
        for (at, node) in &self.leaves {
            let number: usize = at
                .iter()
                .zip(&weights)
                .map(|(at, weight)| at * weight)
                .sum();
            let masses = [0, 1].map(|input| Mass::from(&self.ordered.masses.of(*node, input)));
            // Once more while counts are made of it.
            let long: usize = masses.iter().map(|mass| 2 * mass.heap()).sum();
            memory.take(long as u128)?;
            leaves[number] = masses;
        }
        let mut graph = Graph::with_leaves(nodes, &leaves, memory)?;
        graph.outline().demand_all_runs()?;
        graph.merged = true;
        Ok(graph)
    }

    /// What the product will take, saturating.
    fn weigh(&self, sizes: &[usize]) -> u128 {
        let times = |a: u128, b: usize| a.saturating_mul(b as u128);
        let total = sizes.iter().fold(1, |total, &size| times(total, size));
        let mut weight = times(total, weigh::in_graph::<Q, A>());
        for (own, &size) in self.own.iter().zip(sizes) {
            let edges = own.nodes.iter().flat_map(|node| &node.edges);
            let mine: usize = edges
                .map(|(_, to)| size_of::<Edge<Q, A>>() + to.len() * size_of::<(Heard<A>, usize)>())
                .sum();
            weight = weight.saturating_add(times(total / size as u128, mine));
        }
        weight
    }

    fn combined(&self, at: usize, sizes: &[usize], weights: &[usize]) -> Node<Q, A> {
        let mut edges = Vec::new();
        for (part, own) in self.own.iter().enumerate() {
            let here = at / weights[part] % sizes[part];
            for (query, answers) in &own.nodes[here].edges {
                let to = |(answer, known): (&Heard<A>, &Known)| {
                    (answer.clone(), at + (known.to - here) * weights[part])
                };
                edges.push(Edge {
                    query: query.clone(),
                    to: answers.iter().map(to).collect(),
                    missing: [Mass::ZERO, Mass::ZERO],
                });
            }
        }
        Node { part: 0, edges }
    }
}
