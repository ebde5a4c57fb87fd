//! The auditor's front door: what to audit, and how far.

use std::thread;

use queryable::{AskError, Root};

use crate::{
    concurrent::{DEFAULT_TURNS, Part, in_any_order, in_few_turns, in_order},
    coverage::{Coverage, Merged},
    error::AuditError,
    explore::{Offer, Tree, explore},
    graph::Graph,
    join::join,
    limits::{Limits, Memory},
    merge::{Merger, Pair},
    progress::Progress,
    report::Report,
    system::{History, Input, System, player},
};

/// How many rounds a history may have: attacks are trees, and are walked recursively.
pub const MAX_ROUNDS: usize = 2000;

/// Audits the system that `build` makes of each input, with coins from the root it is handed.
///
/// The system is built anew for every run: `build` must be a function of the input and the coins.
pub fn audit<S, B>(build: B) -> Audit<B>
where
    S: System,
    B: Fn(Input, &Root) -> Result<S, AskError>,
{
    Audit::default().of(build)
}

/// An audit to be made.
pub struct Audit<B> {
    build: B,
    limits: Limits,
    merge: bool,
    turns: usize,
    threads: usize,
}

/// An audit of nothing in particular yet.
impl Default for Audit<()> {
    fn default() -> Self {
        Self {
            build: (),
            limits: Limits::default(),
            merge: true,
            turns: DEFAULT_TURNS,
            threads: 2,
        }
    }
}

impl Audit<()> {
    /// The same audit of this system.
    pub(crate) fn of<B>(&self, build: B) -> Audit<B> {
        Audit {
            build,
            limits: self.limits,
            merge: self.merge,
            turns: self.turns,
            threads: self.threads,
        }
    }
}

impl<B> Audit<B> {
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn limited(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Allows this many runs per input ([`DEFAULT_RUNS`](crate::DEFAULT_RUNS) otherwise).
    pub fn runs(self, runs: u64) -> Self {
        self.limited(|limits| limits.runs = runs)
    }

    /// Allows this many draws per run ([`DEFAULT_DRAWS`](crate::DEFAULT_DRAWS) otherwise). A system that draws until it
    /// likes the outcome has runs without end.
    pub fn draws(self, draws: usize) -> Self {
        self.limited(|limits| limits.draws = draws)
    }

    /// Allows the histories about this many bytes ([`DEFAULT_MEMORY`](crate::DEFAULT_MEMORY) otherwise). What queries and
    /// answers hold besides themselves (a long text) is not counted.
    pub fn memory(self, bytes: u64) -> Self {
        self.limited(|limits| limits.memory = bytes)
    }

    /// Makes this many runs again per input, and compares ([`DEFAULT_RERUNS`](crate::DEFAULT_RERUNS) otherwise): how well
    /// this finds randomness that does not come from the coins, [`Coverage::reruns`] says.
    ///
    /// ```
    /// use odometry::auditor::{Input, audit};
    /// use odometry::queryable::{Root, machine};
    /// let build = |_: Input, root: &Root| root.spawn(machine(|(), _| Ok(())));
    /// // One percent stays hidden with probability 0.99^2100 < 1e-9.
    /// let report = audit(build).reruns(2100).asking(1, |_| vec![()])?;
    /// assert_eq!(report.coverage().reruns, 2100);
    /// # Ok::<(), odometry::auditor::AuditError>(())
    /// ```
    pub fn reruns(self, reruns: usize) -> Self {
        self.limited(|limits| limits.reruns = reruns)
    }

    /// Cuts every draw to its first `2·radius + 1` outcomes: for noise around zero, as the samplers order it, those from
    /// `−radius` to `radius`. The rest is counted as missing, so δ is bounded from both sides, and a claim that needs the
    /// tail (a pure one) is refuted or undecided.
    ///
    /// ```
    /// use odometry::auditor::{Factor, Input, audit};
    /// use odometry::queryable::{Root, coins::Uniform, machine};
    /// let noise = Uniform::below(100)?;
    /// let build = |input: Input, root: &Root| {
    ///     let noise = noise.clone();
    ///     root.spawn(machine(move |(), scope| Ok(scope.draw(&noise)? + input.pick(0, 1))))
    /// };
    /// let report = audit(build).enumerating(1).asking(1, |_| vec![()])?; // 3 of 100 outcomes
    /// assert_eq!(report.total_variation().to_string(), "between 0 and 49/50");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enumerating(self, radius: u32) -> Self {
        let outcomes = (radius as usize).saturating_mul(2).saturating_add(1);
        self.limited(|limits| limits.outcomes = outcomes)
    }

    /// Checks that every two parts of [`concurrently`](Self::concurrently) are independent in all interleavings of at most
    /// so many turns (at least two; [`DEFAULT_TURNS`](crate::DEFAULT_TURNS) otherwise). There are about `d^turns` of
    /// them, if each part is asked `d` times.
    pub fn turns(self, turns: usize) -> Self {
        let turns = turns.max(2);
        Self { turns, ..self }
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
    /// offered. The offers must be a function of the history, in the same order each time: they are asked for more than
    /// once and compared. Queries that cannot be compared, such as closures, can be offered by number: let a [`player`]
    /// hold the list.
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
        S::Query: Clone + PartialEq + Send,
        S::Answer: Clone + Ord + Send,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        O: Fn(&History<S>) -> Vec<S::Query> + Sync,
    {
        check_depth(depth)?;
        let progress = Progress::new("runs");
        let offer = |history: &History<S>| {
            let cut_off = history.len() == depth;
            Offer {
                part: 0,
                queries: if cut_off { vec![] } else { offer(history) },
                cut_off,
            }
        };
        let memory = Memory::new(self.limits.memory);
        let all = self.replay(&self.build, &offer, &memory, &progress)?;
        let coverage = Coverage::new(&all.graph, all.cut_off, all.reruns, None);
        Ok(Report::new(all.graph, all.runs, coverage, &progress))
    }

    /// Audits parts that run concurrently with coins of their own, under all interleavings, which are merged: see
    /// [`Part`].
    ///
    /// That the parts are independent is checked for every two parts, in every interleaving of at most four
    /// [`turns`](Self::turns), and for all parts together one after the other. Beyond that it is assumed, and the
    /// verdict says so: it holds for children with coins of their own that cannot ask one another. Anything else needs
    /// [`unmerged`](Self::unmerged), where nothing is assumed.
    ///
    /// # Errors
    /// [`AuditError::NotIndependent`] where that check fails; any other [`AuditError`].
    pub fn concurrently<S>(
        &self,
        parts: &[Part<S::Query, S::Answer>],
    ) -> Result<Report<S::Query, S::Answer>, AuditError>
    where
        S: System,
        S::Query: Clone + PartialEq + Send,
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
        let memory = Memory::new(self.limits.memory);
        // The histories of one part have one order.
        if !self.merge || parts.len() < 2 {
            let offer = |history: &[_]| in_any_order(parts, history);
            let all = self.replay(&build, &offer, &memory, &progress)?;
            let graph = all.graph.map_queries(|(_, query)| query);
            let coverage = Coverage::new(&graph, all.cut_off, all.reruns, None);
            return Ok(Report::new(graph, all.runs, coverage, &progress));
        }
        let offer = |history: &[_]| in_order(parts, history);
        let ordered = self.replay(&self.build, &offer, &memory, &progress)?;
        let (mut runs, mut reruns) = (ordered.runs, ordered.reruns);
        let mut merger = Merger::new(parts.len());
        for (a, b) in (0..parts.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let offer = |history: &[_]| in_few_turns(parts, [a, b], self.turns, history);
            let before = memory.used();
            let Replayed {
                graph,
                runs: more,
                reruns: fewest,
                ..
            } = self.replay(&build, &offer, &memory, &progress)?;
            (runs, reruns) = (runs + more, reruns.min(fewest));
            let parts = [a, b];
            merger.pair(&Pair { parts, graph })?;
            memory.change(before - memory.used())?;
        }
        let graph = merger.interleave(&ordered.graph, &memory)?;
        let merged = Merged {
            parts: parts.len(),
            turns: self.turns,
        };
        let coverage = Coverage::new(&graph, ordered.cut_off, reruns, Some(merged));
        Ok(Report::new(graph, runs, coverage, &progress))
    }

    /// All runs on both inputs, one thread each.
    fn replay<S, B2, O>(
        &self,
        build: &B2,
        offer: &O,
        memory: &Memory,
        progress: &Progress,
    ) -> Result<Replayed<S::Query, S::Answer>, AuditError>
    where
        S: System,
        S::Query: Clone + PartialEq + Send,
        S::Answer: Clone + Ord + Send,
        B2: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        O: Fn(&History<S>) -> Offer<S::Query> + Sync,
    {
        let limits = self.limits;
        let one = |input| explore(build, offer, input, &limits, memory, progress);
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
        Ok(Replayed {
            runs: zero.runs + one.runs,
            reruns: zero.reruns.min(one.reruns),
            cut_off: zero.cut_off || one.cut_off,
            graph: join([zero, one], memory)?,
        })
    }
}

/// All runs on both inputs.
struct Replayed<Q, A> {
    graph: Graph<Q, A>,
    runs: u64,
    reruns: usize,
    cut_off: bool,
}

fn check_depth(depth: usize) -> Result<(), AuditError> {
    if depth <= MAX_ROUNDS {
        return Ok(());
    }
    Err(AuditError::Parameter {
        name: "the depth",
        value: depth.to_string(),
        expected: "at most 2000 rounds",
    })
}
