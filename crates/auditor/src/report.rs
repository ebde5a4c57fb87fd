//! The report: everything that follows from the histories and their probabilities.

use std::{fmt::Debug, time::Duration};

use dashu_ratio::RBig;
use exact::Exact;

use crate::{
    attack::{Attack, best_attack},
    chain::corners,
    coverage::Coverage,
    error::AuditError,
    factor::{Enclosure, Factor},
    graph::Graph,
    links::Outline,
    profile::{DirectedProfile, Direction},
    progress::Progress,
    renyi,
};

/// What an audit cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// How many histories were told apart.
    pub histories: usize,
    /// How many runs there were, both inputs together, [reruns](Coverage::reruns) left out.
    pub runs: u64,
    /// How long it took.
    pub time: Duration,
}

/// The exact privacy of a system, over every adaptive adversary that asks what was offered.
pub struct Report<Q, A> {
    pub(crate) graph: Graph<Q, A>,
    profiles: [DirectedProfile; 2],
    stats: Stats,
    coverage: Coverage,
}

impl<Q, A> Report<Q, A> {
    pub(crate) fn new(
        graph: Graph<Q, A>,
        runs: u64,
        coverage: Coverage,
        progress: &Progress,
    ) -> Self {
        let profiles = profiles(graph.outline());
        let stats = Stats {
            histories: graph.nodes.len(),
            runs,
            time: progress.elapsed(),
        };
        Self {
            graph,
            profiles,
            stats,
            coverage,
        }
    }

    /// What was looked at, and what was taken for granted. Nothing in this report says more than that.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What the audit cost.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The profile in one direction.
    pub fn profile(&self, direction: Direction) -> &DirectedProfile {
        &self.profiles[direction.over()]
    }

    /// δ at this `e^ε`, both directions: exact, or bounds where draws were truncated.
    pub fn delta(&self, factor: &Factor) -> Enclosure<RBig> {
        let [zero, one] = &self.profiles;
        zero.delta(factor).max(one.delta(factor))
    }

    /// The least `e^ε` with δ(ε) at most `delta`, both directions (PrivLoss of \[VW21\]); `None` for infinity. An upper
    /// bound where draws were truncated, exact otherwise. [`Factor::epsilon`] gives ε.
    pub fn factor(&self, delta: &RBig) -> Option<Factor> {
        let [zero, one] = &self.profiles;
        Some(zero.factor(delta)?.max(one.factor(delta)?))
    }

    /// The largest total variation distance between the views.
    pub fn total_variation(&self) -> Enclosure<RBig> {
        self.delta(&Factor::ONE)
    }

    /// The largest mass that an adversary can lose to truncated draws, under each input.
    pub fn missing(&self) -> [&RBig; 2] {
        [&self.graph.missing[0], &self.graph.missing[1]]
    }

    pub(crate) fn demand_everything(&self, what: &'static str) -> Result<(), AuditError> {
        self.graph.outline().demand_everything(what)
    }

    /// The Rényi divergence of an order above one, in one direction, certified from both sides.
    ///
    /// # Errors
    /// [`AuditError::Truncated`] where draws were truncated: no bound holds without a bound on the tail.
    /// [`AuditError::Parameter`] for an order of one, less, or infinity.
    pub fn renyi(
        &self,
        order: &Exact,
        direction: Direction,
    ) -> Result<Enclosure<Exact>, AuditError> {
        renyi::divergence(self.graph.outline(), order, direction)
    }

    /// The adversary that attains the lower bound of [`renyi`](Self::renyi).
    ///
    /// # Errors
    /// As [`renyi`](Self::renyi).
    pub fn renyi_attack(
        &self,
        order: &Exact,
        direction: Direction,
    ) -> Result<Attack<Q, A>, AuditError>
    where
        Q: Clone,
        A: Clone,
    {
        renyi::attack(&self.graph, order, direction)
    }

    /// The power sum `Σ p0^α·p1^(1−α)` of an integer order of at least two, exactly; `None` for infinity. The Rényi
    /// divergence is its logarithm divided by `α − 1`.
    ///
    /// # Errors
    /// As [`renyi`](Self::renyi).
    pub fn power_sum(&self, order: u32, direction: Direction) -> Result<Option<RBig>, AuditError> {
        if order < 2 {
            return Err(AuditError::Parameter {
                name: "the order",
                value: order.to_string(),
                expected: "at least 2",
            });
        }
        renyi::power_sum(self.graph.outline(), order, direction)
    }

    /// The adversary that attains δ at this `e^ε` in this direction (of what was enumerated).
    pub fn attack(&self, factor: &Factor, direction: Direction) -> Attack<Q, A>
    where
        Q: Clone,
        A: Clone,
    {
        best_attack(&self.graph, factor, direction)
    }

    /// Whether another system gives every adversary exactly the same view: the same histories with
    /// the same probabilities, under both inputs. Both audits must have been offered the same
    /// queries. Answers of the two systems are compared by `==`, whatever their capacities.
    pub fn same_views(&self, other: &Report<Q, A>) -> bool
    where
        Q: PartialEq,
        A: PartialEq,
    {
        self.graph.same_views(&other.graph)
    }

    /// The adversary that attains δ at this `e^ε` in the worse direction.
    pub fn best_attack(&self, factor: &Factor) -> Attack<Q, A>
    where
        Q: Clone,
        A: Clone,
    {
        let least = |direction| self.profile(direction).delta(factor).least;
        let [zero, one] = Direction::BOTH;
        self.attack(factor, if least(one) > least(zero) { one } else { zero })
    }
}

/// In both directions. Where every outcome is known, one follows from the other.
fn profiles(graph: Outline<'_>) -> [DirectedProfile; 2] {
    let profile = |over: usize| {
        let missing = (graph.missing[1 - over].clone(), graph.missing[over].clone());
        DirectedProfile::new(corners(graph, over), &graph.masses.denominator, missing)
    };
    let zero = profile(0);
    let one = match graph.is_truncated() {
        true => profile(1),
        false => zero.reflected(),
    };
    [zero, one]
}

impl<Q: Debug, A: Debug> Debug for Report<Q, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut report = f.debug_struct("Report");
        report.field("profiles", &self.profiles);
        report.field("coverage", &self.coverage);
        report.field("stats", &self.stats).finish_non_exhaustive()
    }
}
