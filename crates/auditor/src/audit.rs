//! The auditor's front door: what to audit, and the report.

use std::{fmt::Debug, thread, time::Duration};

use dashu_ratio::RBig;
use exact::Exact;
use queryable::{AskError, Root, Round};

use crate::{
    attack::{Attack, best_attack},
    chain::corners,
    concurrent::{Pair, Part, in_any_order, in_few_turns, in_order, interleave},
    error::AuditError,
    explore::{Offer, Tree, explore},
    factor::{Bounds, Factor},
    graph::Graph,
    join::join,
    profile::{Direction, Profile},
    progress::Progress,
    renyi,
    system::{Input, System, player},
};

/// How many runs are made at most, unless said otherwise.
pub const DEFAULT_RUNS: u64 = 100_000_000;

/// How many rounds a history may have: attacks are trees, and are walked recursively.
pub const MAX_DEPTH: usize = 2000;

/// Audits the system that `build` makes of each input, with coins from the root it is handed.
///
/// The system is built anew for every run: `build` must be a function of the input and the coins.
pub fn audit<S, B>(build: B) -> Audit<B>
where
    S: System,
    B: Fn(Input, &Root) -> Result<S, AskError>,
{
    Audit {
        build,
        runs: DEFAULT_RUNS,
        merge: true,
        threads: 2,
    }
}

/// An audit to be made.
pub struct Audit<B> {
    build: B,
    runs: u64,
    merge: bool,
    threads: usize,
}

impl<B> Audit<B> {
    /// Allows this many runs per input.
    pub fn runs(self, runs: u64) -> Self {
        Self { runs, ..self }
    }

    /// Replays every interleaving of [`concurrently`](Self::concurrently), to check the merging.
    pub fn unmerged(self) -> Self {
        Self {
            merge: false,
            ..self
        }
    }

    /// Replays one input after the other, on the caller's thread. The result is the same.
    pub fn on_one_thread(self) -> Self {
        Self { threads: 1, ..self }
    }

    /// Audits histories of at most `depth` rounds. `offer` says what can be asked after a history; nothing ends it.
    ///
    /// Offer every query that differs in effect: the result is the worst case over adversaries that ask what was
    /// offered.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn asking<S, O>(
        &self,
        depth: usize,
        offer: O,
    ) -> Result<Report<S::Query, S::Answer>, AuditError>
    where
        S: System,
        S::Query: Clone + Send,
        S::Answer: Clone + Ord + Send,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        O: Fn(&[Round<S::Query, S::Answer>]) -> Vec<S::Query> + Sync,
    {
        check_depth(depth)?;
        let progress = Progress::new("runs");
        let offer = |history: &[Round<S::Query, S::Answer>]| {
            let more = history.len() < depth;
            more.then(|| Offer {
                part: 0,
                queries: offer(history),
            })
        };
        let (graph, runs) = self.replay(&self.build, &offer, &progress)?;
        Ok(Report::new(graph, runs, &progress))
    }

    /// Audits parts that run concurrently with coins of their own, under all interleavings, which are merged: see
    /// [`Part`].
    ///
    /// That the parts are independent is checked for every two parts, in every interleaving of at most four turns, and
    /// for all parts together one after the other. Beyond that it is assumed: it holds for children with coins of their
    /// own that cannot ask one another. Anything else needs [`unmerged`](Self::unmerged), where nothing is assumed.
    ///
    /// # Errors
    /// [`AuditError::NotIndependent`] where that check fails; any other [`AuditError`].
    pub fn concurrently<S>(
        &self,
        parts: &[Part<S::Query, S::Answer>],
    ) -> Result<Report<S::Query, S::Answer>, AuditError>
    where
        S: System,
        S::Query: Clone + Send,
        S::Answer: Clone + Ord + Send,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
    {
        check_depth(parts.iter().map(Part::depth).fold(0, usize::saturating_add))?;
        let progress = Progress::new("runs");
        let build = |input, root: &Root| {
            let mut system = (self.build)(input, root)?;
            Ok(player(move |(_, query): (usize, S::Query)| {
                system.ask(query)
            }))
        };
        // The histories of one part have one order.
        if !self.merge || parts.len() < 2 {
            let offer = |history: &[_]| in_any_order(parts, history);
            let (graph, runs) = self.replay(&build, &offer, &progress)?;
            return Ok(Report::new(
                graph.map_queries(|(_, query)| query),
                runs,
                &progress,
            ));
        }
        let offer = |history: &[_]| in_order(parts, history);
        let (ordered, mut runs) = self.replay(&self.build, &offer, &progress)?;
        let mut pairs = Vec::new();
        for (a, b) in (0..parts.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let offer = |history: &[_]| in_few_turns(parts, [a, b], history);
            let (graph, more) = self.replay(&build, &offer, &progress)?;
            runs += more;
            let parts = [a, b];
            pairs.push(Pair { parts, graph });
        }
        let graph = interleave(&ordered, &pairs, parts.len())?;
        Ok(Report::new(graph, runs, &progress))
    }

    /// All runs on both inputs, one thread each.
    fn replay<S, B2, O>(
        &self,
        build: &B2,
        offer: &O,
        progress: &Progress,
    ) -> Result<(Graph<S::Query, S::Answer>, u64), AuditError>
    where
        S: System,
        S::Query: Clone + Send,
        S::Answer: Clone + Ord + Send,
        B2: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        O: Fn(&[Round<S::Query, S::Answer>]) -> Option<Offer<S::Query>> + Sync,
    {
        let limit = self.runs;
        let one = |input| explore(build, offer, input, limit, progress);
        let [zero, one] = match self.threads {
            1 => [one(Input::Zero)?, one(Input::One)?],
            _ => thread::scope(|scope| -> Result<[Tree<_, _>; 2], AuditError> {
                let other = scope.spawn(|| one(Input::One));
                let zero = one(Input::Zero);
                let other = other.join().unwrap_or_else(|panic| {
                    // The caller's own closures are the only code that can panic here.
                    std::panic::resume_unwind(panic)
                });
                Ok([zero?, other?])
            })?,
        };
        let runs = zero.runs + one.runs;
        Ok((join([zero, one])?, runs))
    }
}

fn check_depth(depth: usize) -> Result<(), AuditError> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(AuditError::Parameter {
        name: "the depth",
        value: depth.to_string(),
        expected: "at most 2000 rounds",
    })
}

/// What an audit cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// How many histories were told apart.
    pub histories: usize,
    /// How many runs there were, both inputs together; some of them were made twice.
    pub runs: u64,
    /// How long it took.
    pub time: Duration,
}

/// The exact privacy of a system, over every adaptive adversary that asks what was offered.
pub struct Report<Q, A> {
    pub(crate) graph: Graph<Q, A>,
    profiles: [Profile; 2],
    stats: Stats,
}

impl<Q, A> Report<Q, A> {
    fn new(graph: Graph<Q, A>, runs: u64, progress: &Progress) -> Self {
        let profile = |over: usize| {
            let missing = (graph.missing[1 - over].clone(), graph.missing[over].clone());
            Profile::new(corners(&graph, over), &graph.masses.denominator, missing)
        };
        let zero = profile(0);
        let one = match graph.is_truncated() {
            true => profile(1),
            false => zero.reflected(),
        };
        let stats = Stats {
            histories: graph.nodes.len(),
            runs,
            time: progress.elapsed(),
        };
        Self {
            graph,
            profiles: [zero, one],
            stats,
        }
    }

    /// What the audit cost.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The profile in one direction.
    pub fn profile(&self, direction: Direction) -> &Profile {
        &self.profiles[direction.over()]
    }

    /// δ at this `e^ε`, both directions: exact, or bounds where draws were truncated.
    pub fn delta(&self, factor: &Factor) -> Bounds<RBig> {
        let [zero, one] = &self.profiles;
        zero.delta(factor).max(one.delta(factor))
    }

    /// The least `e^ε` with δ(ε) at most `delta`, both directions (PrivLoss of seed 001); `None` for infinity. An upper
    /// bound where draws were truncated, exact otherwise. [`Factor::epsilon`] gives ε.
    pub fn factor(&self, delta: &RBig) -> Option<Factor> {
        let [zero, one] = &self.profiles;
        Some(zero.factor(delta)?.max(one.factor(delta)?))
    }

    /// The largest total variation distance between the views.
    pub fn total_variation(&self) -> Bounds<RBig> {
        self.delta(&Factor::ONE)
    }

    /// The largest mass that an adversary can lose to truncated draws, under each input.
    pub fn missing(&self) -> [&RBig; 2] {
        [&self.graph.missing[0], &self.graph.missing[1]]
    }

    pub(crate) fn demand_everything(&self, what: &'static str) -> Result<(), AuditError> {
        self.graph.demand_everything(what)
    }

    /// The Rényi divergence of an order above one, in one direction, certified from both sides.
    ///
    /// # Errors
    /// [`AuditError::Truncated`] where draws were truncated: no bound holds without a bound on the tail.
    /// [`AuditError::Parameter`] for an order of one, less, or infinity.
    pub fn renyi(&self, order: &Exact, direction: Direction) -> Result<Bounds<Exact>, AuditError>
    where
        Q: Clone,
        A: Clone,
    {
        renyi::divergence(&self.graph, order, direction)
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
        renyi::power_sum(&self.graph, order, direction)
    }

    /// The adversary that attains δ at this `e^ε` in this direction (of what was enumerated).
    pub fn attack(&self, factor: &Factor, direction: Direction) -> Attack<Q, A>
    where
        Q: Clone,
        A: Clone,
    {
        best_attack(&self.graph, factor, direction)
    }

    /// Whether another system gives every adversary exactly the same view: the same histories with the same
    /// probabilities, under both inputs. Both audits must have been offered the same queries.
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

impl<Q: Debug, A: Debug> Debug for Report<Q, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut report = f.debug_struct("Report");
        report.field("profiles", &self.profiles);
        report.field("stats", &self.stats).finish_non_exhaustive()
    }
}
