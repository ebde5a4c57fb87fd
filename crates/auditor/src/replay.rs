//! How an audit is made, whatever is audited: generic only in what is asked and answered, so that systems and offers that
//! differ in nothing else share what is compiled.

use std::{panic::resume_unwind, thread};

use queryable::{Exchange, Root};

use crate::{
    concurrent::{DEFAULT_TURNS, Offers, Part, in_any_order, in_few_turns, in_order},
    coverage::{Coverage, Merged},
    equality::Alike,
    error::AuditError,
    explore::{Next, Offer, Tree, explore},
    graph::Graph,
    join::join,
    limits::{Limits, Memory, check_depth},
    merge::{Merger, Pair},
    progress::Progress,
    report::Report,
    system::{Build, Built, Input, player},
};

/// How an audit is made.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) merge: bool,
    pub(crate) turns: usize,
    pub(crate) threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            merge: true,
            turns: DEFAULT_TURNS,
            threads: 2,
        }
    }
}

/// All runs on both inputs.
struct Replayed<Q, A> {
    graph: Graph<Q, A>,
    runs: u64,
    reruns: usize,
    cut_off: bool,
}

impl Settings {
    /// As [`Audit::asking`](crate::Audit::asking).
    pub(crate) fn asking<Q, A>(
        &self,
        build: &Build<'_, Q, A>,
        depth: usize,
        offer: &Offers<'_, Q, A>,
        alike: Alike<A>,
    ) -> Result<Report<Q, A>, AuditError>
    where
        Q: Clone + PartialEq + Send,
        A: Clone + Ord + Send,
    {
        check_depth(depth)?;
        let progress = Progress::new("runs");
        let offer = |history: &[Exchange<Q, A>]| {
            let cut_off = history.len() == depth;
            Offer {
                part: 0,
                queries: if cut_off { vec![] } else { offer(history) },
                cut_off,
            }
        };
        let memory = Memory::new(self.limits.memory);
        let all = self.replay(build, &offer, alike, &memory, &progress)?;
        let coverage = Coverage::new(
            all.graph.outline(),
            all.cut_off,
            all.reruns,
            alike.assumed,
            None,
        );
        Ok(Report::new(all.graph, all.runs, coverage, &progress))
    }

    /// As [`Audit::concurrently`](crate::Audit::concurrently).
    pub(crate) fn concurrently<Q, A>(
        &self,
        build: &Build<'_, Q, A>,
        parts: &[Part<Q, A>],
        alike: Alike<A>,
    ) -> Result<Report<Q, A>, AuditError>
    where
        Q: Clone + PartialEq + Send,
        A: Clone + Ord + Send,
    {
        check_depth(parts.iter().map(Part::depth).fold(0, usize::saturating_add))?;
        let progress = Progress::new("runs");
        let of_parts = |input, root: &Root| {
            let mut system = build(input, root)?;
            let ask = move |(_, query): (usize, Q)| system.ask(query);
            Ok(Box::new(player(ask)) as Built<'_, _, _>)
        };
        let memory = Memory::new(self.limits.memory);
        // The histories of one part have one order.
        if !self.merge || parts.len() < 2 {
            let offer = |history: &[_]| in_any_order(parts, history);
            let all = self.replay(&of_parts, &offer, alike, &memory, &progress)?;
            let graph = all.graph.map_queries(|(_, query)| query);
            let coverage = Coverage::new(
                graph.outline(),
                all.cut_off,
                all.reruns,
                alike.assumed,
                None,
            );
            return Ok(Report::new(graph, all.runs, coverage, &progress));
        }
        let offer = |history: &[_]| in_order(parts, history);
        let ordered = self.replay(build, &offer, alike, &memory, &progress)?;
        let (mut runs, mut reruns) = (ordered.runs, ordered.reruns);
        let mut merger = Merger::new(parts.len(), alike);
        for (a, b) in (0..parts.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let offer = |history: &[_]| in_few_turns(parts, [a, b], self.turns, history);
            let before = memory.used();
            let Replayed {
                graph,
                runs: more,
                reruns: fewest,
                ..
            } = self.replay(&of_parts, &offer, alike, &memory, &progress)?;
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
        let coverage = Coverage::new(
            graph.outline(),
            ordered.cut_off,
            reruns,
            alike.assumed,
            Some(merged),
        );
        Ok(Report::new(graph, runs, coverage, &progress))
    }

    /// All runs on both inputs, one thread each.
    fn replay<Q, A>(
        &self,
        build: &Build<'_, Q, A>,
        offer: &Next<'_, Q, A>,
        alike: Alike<A>,
        memory: &Memory,
        progress: &Progress,
    ) -> Result<Replayed<Q, A>, AuditError>
    where
        Q: Clone + PartialEq + Send,
        A: Clone + Ord + Send,
    {
        let run = |input| explore(build, offer, alike, input, &self.limits, memory, progress);
        let [zero, one] = match self.threads {
            1 => [run(Input::Zero)?, run(Input::One)?],
            _ => {
                // Nothing was run for these: they have no mass, and joining them is an error.
                let (mut zero, mut one) = (Ok(Tree::new()), Ok(Tree::new()));
                at_once(&mut || zero = run(Input::Zero), &mut || {
                    one = run(Input::One)
                });
                [zero?, one?]
            }
        };
        Ok(Replayed {
            runs: zero.runs + one.runs,
            reruns: zero.reruns.min(one.reruns),
            cut_off: zero.cut_off || one.cut_off,
            graph: join([zero, one], alike, memory)?,
        })
    }
}

/// Makes both calls, the second on a thread of its own. Not generic: what makes a thread is long.
fn at_once(here: &mut dyn FnMut(), there: &mut (dyn FnMut() + Send)) {
    thread::scope(|scope| {
        let other = scope.spawn(there);
        here();
        // The caller's own closures are the only code that can panic here.
        if let Err(panic) = other.join() {
            resume_unwind(panic);
        }
    });
}
