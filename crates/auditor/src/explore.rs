//! All runs of a system on one input, shared in a tree of histories.
//!
//! A run is a sequence of decisions, the auditor's queries and the coins' outcomes; every run replays the real system
//! from the start and differs from the last run in its last decision. Some runs are made again, see `rerun`. Only the
//! masses of the leaves are kept: the probability of a history is the sum over its continuations under any one way to go
//! on.

use queryable::{AskError, Exchange, Root, coins::Script};

use crate::{
    answers::Answers,
    decisions::{Ask, Decisions, Missing},
    equality::Alike,
    error::AuditError,
    limits::{Limits, Memory},
    mass::Mass,
    progress::Progress,
    rerun::Reruns,
    system::{Build, Input, Seat},
    weigh,
};

/// How many runs are counted together, so that threads do not wait for one another.
const COUNTED: u64 = 64;

/// What came back: errors, halts and panics are answers.
pub(crate) type Heard<A> = Result<A, AskError>;

/// The queries offered after a history, all of them to one part of the system; none at its end.
#[derive(PartialEq)]
pub(crate) struct Offer<Q> {
    pub(crate) part: usize,
    pub(crate) queries: Vec<Q>,
    /// At the end: whether it was the depth that ended it.
    pub(crate) cut_off: bool,
}

/// A history of one input's tree.
pub(crate) struct Node<Q, A> {
    pub(crate) part: usize,
    pub(crate) edges: Vec<Edge<Q, A>>,
    /// The mass of the runs that end here.
    pub(crate) mass: Mass,
    expanded: bool,
}

impl<Q, A> Node<Q, A> {
    pub(crate) fn empty() -> Self {
        Self {
            part: 0,
            edges: Vec::new(),
            mass: Mass::ZERO,
            expanded: false,
        }
    }
}

/// A query, and where its answers lead.
pub(crate) struct Edge<Q, A> {
    pub(crate) query: Q,
    pub(crate) to: Answers<A>,
    /// The mass of outcomes that were not enumerated while answering. The second place is for the other input's: so an edge
    /// of the graph takes as much room, and can take this one's (it does for histories that are possible under both).
    pub(crate) missing: [Mass; 2],
}

/// The tree of histories of one input.
pub(crate) struct Tree<Q, A> {
    pub(crate) nodes: Vec<Node<Q, A>>,
    /// What was not enumerated while the system was built.
    pub(crate) missing: Mass,
    pub(crate) runs: u64,
    /// How many runs were made again.
    pub(crate) reruns: usize,
    /// Whether the depth ended a history.
    pub(crate) cut_off: bool,
}

impl<Q, A> Tree<Q, A> {
    /// The empty history.
    pub(crate) fn new() -> Self {
        Self {
            nodes: vec![Node::empty()],
            missing: Mass::ZERO,
            runs: 0,
            reruns: 0,
            cut_off: false,
        }
    }

    fn add_node(&mut self) -> usize {
        self.nodes.push(Node::empty());
        self.nodes.len() - 1
    }
}

impl<Q, A> Missing for Tree<Q, A> {
    fn missing(&mut self, ask: Option<Ask>) -> &mut Mass {
        match ask {
            Some(ask) => &mut self.nodes[ask.node].edges[ask.choice].missing[0],
            None => &mut self.missing,
        }
    }
}

/// Says what is offered after a history.
pub(crate) type Next<'a, Q, A> = dyn Fn(&[Exchange<Q, A>]) -> Offer<Q> + Sync + 'a;

struct Explorer<'a, 's, Q, A> {
    build: &'a Build<'s, Q, A>,
    offer: &'a Next<'a, Q, A>,
    alike: Alike<A>,
    input: Input,
    tree: Tree<Q, A>,
    decisions: Decisions<'a>,
    /// What was asked and answered in the last run.
    history: Vec<Exchange<Q, A>>,
    reruns: Reruns<Q, A>,
}

/// Enumerates every run on `input`. `offer` says what is asked after a history.
pub(crate) fn explore<Q, A>(
    build: &Build<'_, Q, A>,
    offer: &Next<'_, Q, A>,
    alike: Alike<A>,
    input: Input,
    limits: &Limits,
    memory: &Memory,
    progress: &Progress,
) -> Result<Tree<Q, A>, AuditError>
where
    Q: Clone + PartialEq,
    A: Clone + Ord,
{
    let mut explorer = Explorer {
        build,
        offer,
        alike,
        input,
        tree: Tree::new(),
        decisions: Decisions::new(memory),
        history: Vec::new(),
        reruns: Reruns::new(limits.reruns),
    };
    let mut script = limits.applied(Script::new(Vec::new()));
    let mut fresh_from = 0;
    loop {
        if explorer.tree.runs == limits.runs {
            let limit = limits.runs;
            return Err(AuditError::TooManyRuns { limit });
        }
        explorer.run(&mut script, fresh_from)?;
        if explorer.tree.runs.is_multiple_of(COUNTED) {
            progress.count(COUNTED);
        }
        match explorer.decisions.advance(&mut script)? {
            Some(fresh) => fresh_from = fresh,
            None => {
                let meter = &mut explorer.decisions.meter;
                let nodes = &explorer.tree.nodes;
                let reruns = explorer
                    .reruns
                    .compare(build, input, limits, nodes, alike, meter)?;
                meter.settle()?;
                explorer.tree.reruns = reruns;
                return Ok(explorer.tree);
            }
        }
    }
}

impl<Q, A> Explorer<'_, '_, Q, A>
where
    Q: Clone + PartialEq,
    A: Clone + Ord,
{
    /// One run. The asks before number `fresh_from` must be answered as they were in the last run.
    fn run(&mut self, script: &mut Script, fresh_from: usize) -> Result<(), AuditError> {
        let mut seat = Seat::take(self.build, self.input, &Root::scripted(script));
        for (round, known) in self.history[..fresh_from].iter().enumerate() {
            if seat.ask(known.query.clone()) != known.answer {
                return Err(AuditError::HiddenRandomness { round });
            }
        }
        self.history.truncate(fresh_from);
        let leaf = loop {
            let round = self.history.len();
            let node = match round {
                0 => 0,
                _ => self.decisions.asks[round - 1].child,
            };
            if round == self.decisions.asks.len() {
                let choices = self.expand(node)?;
                if choices == 0 {
                    break node;
                }
                self.decisions.ask_first(node, choices, script);
            }
            let choice = self.decisions.asks[round].choice;
            let edge = &self.tree.nodes[node].edges[choice];
            let query = edge.query.clone();
            let answer = seat.ask(query.clone());
            let (child, answer) = match edge.to.get(&answer, round, self.alike)? {
                Some(child) => (child, answer),
                None => {
                    // The tree keeps the answer itself: a copy may have another capacity.
                    let copy = answer.clone();
                    (self.add_child(node, choice, answer)?, copy)
                }
            };
            self.decisions.asks[round].child = child;
            self.history.push(Exchange { query, answer });
        };
        seat.leave()?;
        let mass = self.decisions.take_in(script, &mut self.tree)?;
        // Kept in the tree or the graph, and once more while counts are made of it.
        let leaf = &mut self.tree.nodes[leaf].mass;
        weigh::add(&mut self.decisions.meter, 2, leaf, &mass)?;
        let Decisions {
            meter, branches, ..
        } = &mut self.decisions;
        self.reruns
            .offer(meter, self.tree.runs, &self.history, branches)?;
        self.tree.runs += 1;
        Ok(())
    }

    fn add_child(
        &mut self,
        node: usize,
        choice: usize,
        answer: Heard<A>,
    ) -> Result<usize, AuditError> {
        let child = self.tree.add_node();
        let to = &mut self.tree.nodes[node].edges[choice].to;
        let weight = weigh::node::<Q, A>() + weigh::answer::<A>();
        to.insert(answer, child);
        self.decisions.meter.take(weight)?;
        Ok(child)
    }

    /// Finds out what is offered after the current history; says how many queries. It is asked for twice, because
    /// the other input may never come here.
    fn expand(&mut self, node: usize) -> Result<usize, AuditError> {
        if !self.tree.nodes[node].expanded {
            let history = &self.history;
            let offer = (self.offer)(history);
            if (self.offer)(history) != offer {
                let round = history.len();
                return Err(AuditError::OffersChanged { round });
            }
            self.tree.cut_off |= offer.queries.is_empty() && offer.cut_off;
            self.decisions
                .meter
                .take(offer.queries.len().saturating_mul(weigh::edge::<Q, A>()))?;
            let this = &mut self.tree.nodes[node];
            this.expanded = true;
            this.part = offer.part;
            this.edges.reserve_exact(offer.queries.len());
            for query in offer.queries {
                this.edges.push(Edge {
                    query,
                    to: Answers::new(),
                    missing: [Mass::ZERO, Mass::ZERO],
                });
            }
        }
        Ok(self.tree.nodes[node].edges.len())
    }
}
