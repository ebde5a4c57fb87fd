//! The best adversary as a decision tree that a person can read.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use exact::Round;

use crate::{
    explore::Heard,
    factor::Factor,
    graph::Graph,
    links::{Links, Outline},
    masses::Masses,
    profile::Direction,
    shown::{bound, is_short},
};

/// An adversary: what it asks after which answers, and what it concludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack<Q, A> {
    /// What it shows, in words.
    pub claim: String,
    /// The decision tree.
    pub play: Play<Q, A>,
}

/// A decision tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Play<Q, A> {
    /// Asks, and goes on according to the answer.
    Ask {
        /// What it asks.
        query: Q,
        /// What it does after each answer. Errors are answers.
        answers: Vec<(Heard<A>, Play<Q, A>)>,
    },
    /// Has seen enough.
    Stop {
        /// Whether it accepts: says that it has seen what it was looking for.
        accept: bool,
        /// The probability of this view under the first input (where draws were truncated: at least this).
        p0: RBig,
        /// The probability of this view under the second input (likewise).
        p1: RBig,
    },
}

impl<Q, A> Play<Q, A> {
    /// The probabilities that it accepts, under the two inputs; of what was enumerated.
    pub fn accepted(&self) -> (RBig, RBig) {
        match self {
            Self::Stop { accept: false, .. } => (RBig::ZERO, RBig::ZERO),
            Self::Stop { p0, p1, .. } => (p0.clone(), p1.clone()),
            Self::Ask { answers, .. } => {
                let zero = (RBig::ZERO, RBig::ZERO);
                let parts = answers.iter().map(|(_, play)| play.accepted());
                parts.fold(zero, |sum, part| (sum.0 + part.0, sum.1 + part.1))
            }
        }
    }
}

/// What an adversary does at each node: the number of the query it asks, or none.
pub(crate) struct Plan {
    asks: Vec<Option<usize>>,
}

impl Plan {
    /// The plan that makes the most of `worth`, additive over answers; stops where asking on gains nothing.
    pub(crate) fn best<V: Ord + Clone>(
        nodes: &dyn Links,
        worth: impl Fn(usize) -> V,
        add: impl Fn(V, &V) -> V,
    ) -> (Self, V) {
        let mut values: Vec<V> = (0..nodes.count()).map(&worth).collect();
        let mut asks = vec![None; nodes.count()];
        let mut children = Vec::new();
        for at in (0..nodes.count()).rev() {
            for number in 0..nodes.edges(at) {
                nodes.children(at, number, &mut children);
                let mut answers = children.iter().map(|child| &values[*child]);
                let Some(first) = answers.next() else {
                    continue;
                };
                let value = answers.fold(first.clone(), &add);
                if value > values[at] {
                    (values[at], asks[at]) = (value, Some(number));
                }
            }
        }
        let value = values.swap_remove(0);
        (Self { asks }, value)
    }

    /// The tree of this plan.
    pub(crate) fn play<Q: Clone, A: Clone>(
        &self,
        graph: &Graph<Q, A>,
        accept: &dyn Fn(usize) -> bool,
    ) -> Play<Q, A> {
        self.play_at(graph, 0, accept)
    }

    fn play_at<Q: Clone, A: Clone>(
        &self,
        graph: &Graph<Q, A>,
        at: usize,
        accept: &dyn Fn(usize) -> bool,
    ) -> Play<Q, A> {
        let Some(number) = self.asks[at] else {
            return Play::Stop {
                accept: accept(at),
                p0: graph.masses.of(at, 0),
                p1: graph.masses.of(at, 1),
            };
        };
        let edge = &graph.nodes[at].edges[number];
        let answer = |(answer, child): &(Heard<A>, usize)| {
            (answer.clone(), self.play_at(graph, *child, accept))
        };
        Play::Ask {
            query: edge.query.clone(),
            answers: edge.to.iter().map(answer).collect(),
        }
    }
}

/// `y − t·x` of a history, times both denominators.
fn excess(masses: &Masses, factor: &Factor, over: usize, at: usize) -> IBig {
    let t = factor.as_rational();
    let [y, x] = [over, 1 - over].map(|input| masses.count(at, input));
    IBig::from(y * t.denominator()) - IBig::from(x) * t.numerator()
}

/// The same, or nothing if it is negative: what a history is worth to an adversary that stops there.
fn worth(masses: &Masses, factor: &Factor, over: usize, at: usize) -> UBig {
    UBig::try_from(excess(masses, factor, over, at)).unwrap_or(UBig::ZERO)
}

impl Plan {
    /// The plan that looks one answer ahead.
    pub(crate) fn greedy(graph: Outline<'_>, factor: &Factor, direction: Direction) -> Self {
        let (nodes, over) = (graph.nodes, direction.over());
        let mut children = Vec::new();
        let best = |at: usize| {
            let tells = |number: usize| {
                nodes.children(at, number, &mut children);
                let answers = children
                    .iter()
                    .map(|child| worth(graph.masses, factor, over, *child));
                answers.fold(UBig::ZERO, |sum, part| sum + part)
            };
            let asked = (0..nodes.edges(at)).map(tells).enumerate();
            let (number, _) = asked.max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))?;
            Some(number)
        };
        Self {
            asks: (0..nodes.count()).map(best).collect(),
        }
    }

    /// The plan with the largest `y − t·x` over what was enumerated.
    fn of_largest_excess(graph: Outline<'_>, factor: &Factor, direction: Direction) -> Self {
        let worth = |at| worth(graph.masses, factor, direction.over(), at);
        Self::best(graph.nodes, worth, |sum, part| sum + part).0
    }
}

/// The adversary with the largest `y − t·x` over what was enumerated.
pub(crate) fn best_attack<Q: Clone, A: Clone>(
    graph: &Graph<Q, A>,
    factor: &Factor,
    direction: Direction,
) -> Attack<Q, A> {
    let plan = Plan::of_largest_excess(graph.outline(), factor, direction);
    described(graph, &plan, factor, direction)
}

/// A plan, and what it shows about δ: `δ ≥ y − t·(x + η)` where mass η of the other input's draws was not enumerated.
pub(crate) fn described<Q: Clone, A: Clone>(
    graph: &Graph<Q, A>,
    plan: &Plan,
    factor: &Factor,
    direction: Direction,
) -> Attack<Q, A> {
    let over = direction.over();
    let accept = |at| excess(&graph.masses, factor, over, at) > IBig::ZERO;
    let play = plan.play(graph, &accept);
    let claim = claim(graph.outline(), play.accepted(), factor, direction);
    Attack { claim, play }
}

/// What an adversary shows that accepts with these probabilities.
fn claim(
    graph: Outline<'_>,
    (p0, p1): (RBig, RBig),
    factor: &Factor,
    direction: Direction,
) -> String {
    let over = direction.over();
    let [y, x] = match direction {
        Direction::ZeroOverOne => [&p0, &p1],
        Direction::OneOverZero => [&p1, &p0],
    };
    // What was not enumerated may be accepted, too: that can only help under one input, and only hurt under the other.
    let x = (x + &graph.missing[1 - over]).min(RBig::ONE);
    let delta = (y - factor.as_rational() * &x).max(RBig::ZERO);
    // Rounded, each of them claims less.
    let said = |value: &RBig, round: Round| {
        let words = match round {
            Round::Down => "at least ",
            Round::Up => "at most ",
        };
        let exact = is_short(value) && !graph.is_truncated();
        format!("{}{}", if exact { "" } else { words }, bound(value, round))
    };
    // What is impossible under the other input is excused by no ε.
    let at = match x.is_zero() && !delta.is_zero() {
        true => "every ε".into(),
        false => format!("e^ε = {}", bound(factor.as_rational(), Round::Down)),
    };
    format!(
        "accepts with probability {} on input {over} and {} on input {}: δ ≥ {} at {at}",
        said(y, Round::Down),
        said(&x, Round::Up),
        1 - over,
        bound(&delta, Round::Down),
    )
}
