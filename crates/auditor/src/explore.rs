//! All runs of a system on one input, shared in a tree of histories.
//!
//! A run is a sequence of decisions, the auditor's queries and the coins' outcomes; every run replays the real system
//! from the start and differs from the last run in its last decision. Some runs are made again, see `rerun`. Only the
//! masses of the leaves are kept: the probability of a history is the sum over its continuations under any one way to go
//! on.

use queryable::{
    AskError, Exchange, Root,
    coins::{Branch, Script},
};

use crate::{
    answers::Answers,
    error::AuditError,
    limits::{Limits, Memory, Meter},
    mass::Mass,
    progress::Progress,
    rerun::{Path, Reruns},
    system::{History, Input, Seat, System},
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
    /// of the graph takes as much room, and can take this one's.
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
    fn add_node(&mut self) -> usize {
        self.nodes.push(Node::empty());
        self.nodes.len() - 1
    }
}

/// A query on the current path.
struct Ask {
    node: usize,
    choice: usize,
    /// How many coins were drawn before it.
    coins_before: usize,
    child: usize,
}

/// What is known of a draw on the current path, besides its branching.
struct Draw {
    visited: Mass,
    /// The probability of getting to this draw.
    reached: Mass,
}

impl Draw {
    /// Besides itself: the branch, in a list with room for as many again.
    fn weight(&self, branch: &Branch) -> usize {
        let long = self.reached.heap() + self.visited.heap() + weigh::long_branch(branch);
        size_of::<Self>() + 2 * size_of::<Branch>() + long
    }
}

/// Ends a run: all its draws, unless something is wrong with them.
pub(crate) fn end(script: &mut Script) -> Result<Vec<Branch>, AuditError> {
    script.end().map_err(|why| match script.overdrawn() {
        Some(limit) => AuditError::TooManyDraws { limit },
        None => AuditError::Script(why),
    })
}

struct Explorer<'a, B, O, Q, A> {
    build: &'a B,
    offer: &'a O,
    input: Input,
    meter: Meter<'a>,
    tree: Tree<Q, A>,
    asks: Vec<Ask>,
    /// What was asked and answered in the last run.
    history: Vec<Exchange<Q, A>>,
    branches: Vec<Branch>,
    draws: Vec<Draw>,
    /// Whether the last of these draws has a new choice in the next run.
    diverted: bool,
    reruns: Reruns<Q, A>,
}

/// Enumerates every run on `input`. `offer` says what is asked after a history.
pub(crate) fn explore<S, B, O>(
    build: &B,
    offer: &O,
    input: Input,
    limits: &Limits,
    memory: &Memory,
    progress: &Progress,
) -> Result<Tree<S::Query, S::Answer>, AuditError>
where
    S: System,
    S::Query: Clone + PartialEq,
    S::Answer: Clone + Ord,
    B: Fn(Input, &Root) -> Result<S, AskError>,
    O: Fn(&History<S>) -> Offer<S::Query>,
{
    let mut tree = Tree {
        nodes: Vec::new(),
        missing: Mass::ZERO,
        runs: 0,
        reruns: 0,
        cut_off: false,
    };
    tree.add_node();
    let mut explorer = Explorer {
        build,
        offer,
        input,
        meter: Meter::new(memory),
        tree,
        asks: Vec::new(),
        history: Vec::new(),
        branches: Vec::new(),
        draws: Vec::new(),
        diverted: false,
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
        match explorer.advance(&mut script)? {
            Some(fresh) => fresh_from = fresh,
            None => {
                let Explorer {
                    mut tree,
                    mut meter,
                    reruns,
                    ..
                } = explorer;
                tree.reruns = reruns.compare(build, input, limits, &mut meter)?;
                meter.settle()?;
                return Ok(tree);
            }
        }
    }
}

impl<S, B, O, Q, A> Explorer<'_, B, O, Q, A>
where
    S: System<Query = Q, Answer = A>,
    Q: Clone + PartialEq,
    A: Clone + Ord,
    B: Fn(Input, &Root) -> Result<S, AskError>,
    O: Fn(&[Exchange<Q, A>]) -> Offer<Q>,
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
                _ => self.asks[round - 1].child,
            };
            if round == self.asks.len() {
                if !self.expand(node)? {
                    break node;
                }
                self.asks.push(Ask {
                    node,
                    choice: 0,
                    coins_before: script.drawn(),
                    child: 0,
                });
            }
            let choice = self.asks[round].choice;
            let edge = &self.tree.nodes[node].edges[choice];
            let query = edge.query.clone();
            let answer = seat.ask(query.clone());
            self.asks[round].child = match edge.to.get(&answer, round)? {
                Some(child) => child,
                None => self.add_child(node, choice, answer.clone())?,
            };
            self.history.push(Exchange { query, answer });
        };
        seat.leave()?;
        let mass = self.take_in(end(script)?)?;
        // Kept in the tree or the graph, and once more while counts are made of it.
        let leaf = &mut self.tree.nodes[leaf].mass;
        weigh::add(&mut self.meter, 2, leaf, &mass)?;
        self.keep_path()?;
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
        self.meter.take(weight)?;
        Ok(child)
    }

    fn keep_path(&mut self) -> Result<(), AuditError> {
        let (history, branches) = (&self.history, &self.branches);
        self.reruns.offer(&mut self.meter, self.tree.runs, || Path {
            history: history.clone(),
            branches: branches.clone(),
        })
    }

    /// Finds out what is offered after the current history; says whether anything is. It is asked for twice, because
    /// the other input may never come here.
    fn expand(&mut self, node: usize) -> Result<bool, AuditError> {
        if !self.tree.nodes[node].expanded {
            let history = &self.history;
            let offer = (self.offer)(history);
            if (self.offer)(history) != offer {
                let round = history.len();
                return Err(AuditError::OffersChanged { round });
            }
            self.tree.cut_off |= offer.queries.is_empty() && offer.cut_off;
            self.meter
                .take(offer.queries.len().saturating_mul(weigh::edge::<Q, A>()))?;
            let this = &mut self.tree.nodes[node];
            this.expanded = true;
            this.part = offer.part;
            let edge = |query| Edge {
                query,
                to: Answers::new(),
                missing: [Mass::ZERO, Mass::ZERO],
            };
            this.edges = offer.queries.into_iter().map(edge).collect();
        }
        Ok(!self.tree.nodes[node].edges.is_empty())
    }

    /// Takes in what a run drew past the replayed prefix; returns the probability of the run.
    fn take_in(&mut self, branches: Vec<Branch>) -> Result<Mass, AuditError> {
        let known = self.draws.len();
        self.branches = branches;
        if std::mem::take(&mut self.diverted) {
            // Only now is the probability of the new choice known.
            let branch = &self.branches[known - 1];
            self.meter.take(weigh::long_branch(branch))?;
            let probability = Mass::from(&branch.probability);
            let visited = &mut self.draws[known - 1].visited;
            weigh::add(&mut self.meter, 1, visited, &probability)?;
        }
        for at in known..self.branches.len() {
            let reached = self.through(at);
            let branch = &self.branches[at];
            if !branch.missing.is_zero() {
                let place = match self.asks.iter().rev().find(|ask| ask.coins_before <= at) {
                    Some(ask) => &mut self.tree.nodes[ask.node].edges[ask.choice].missing[0],
                    None => &mut self.tree.missing,
                };
                // Kept in the tree or the graph, and in two sums over what comes after.
                let missing = reached.times(&branch.missing);
                weigh::add(&mut self.meter, 3, place, &missing)?;
            }
            let visited = Mass::from(&branch.probability);
            let draw = Draw { visited, reached };
            self.meter.take(draw.weight(branch))?;
            self.draws.push(draw);
        }
        Ok(self.through(self.branches.len()))
    }

    /// The probability of the first `count` outcomes of the current path.
    fn through(&self, count: usize) -> Mass {
        match count {
            0 => Mass::ONE,
            _ => {
                let probability = &self.branches[count - 1].probability;
                self.draws[count - 1].reached.times(probability)
            }
        }
    }

    /// Goes back to the last decision that can be taken otherwise, and sets the script to it: the first ask whose answer
    /// may be new. `None` when all runs have been made.
    fn advance(&mut self, script: &mut Script) -> Result<Option<usize>, AuditError> {
        loop {
            let asked_at = self.asks.last().map_or(0, |ask| ask.coins_before);
            if self.branches.len() > asked_at {
                let last = self.branches.last();
                if let Some((last, next)) = last.and_then(|last| Some((last, last.next?))) {
                    self.meter.give_back(weigh::long_branch(last));
                    self.diverted = true;
                    script.rewind(std::mem::take(&mut self.branches), next);
                    return Ok(Some(self.asks.len().saturating_sub(1)));
                }
                self.check_sum()?;
                if let (Some(branch), Some(draw)) = (self.branches.pop(), self.draws.pop()) {
                    self.meter.give_back(draw.weight(&branch));
                }
                continue;
            }
            let Some(ask) = self.asks.last_mut() else {
                return Ok(None);
            };
            if ask.choice + 1 < self.tree.nodes[ask.node].edges.len() {
                ask.choice += 1;
                let last = self.branches.last().map_or(0, |last| last.choice);
                script.rewind(std::mem::take(&mut self.branches), last);
                return Ok(Some(self.asks.len() - 1));
            }
            self.asks.pop();
        }
    }

    fn check_sum(&self) -> Result<(), AuditError> {
        let (Some(branch), Some(draw)) = (self.branches.last(), self.draws.last()) else {
            return Ok(());
        };
        let mut sum = draw.visited.clone();
        sum.add(&Mass::from(&branch.missing));
        if !sum.is_one() {
            return Err(AuditError::NotNormalized {
                draw: self.branches.len() - 1,
                sum: sum.to_rational(),
            });
        }
        Ok(())
    }
}
