//! Some runs are made again. An answer that has not come up before is news to the explorer, whether the coins or something
//! else made it: only another run with the same coins and queries can tell.

use queryable::{
    Exchange, Root,
    coins::{Branch, Script},
};

use crate::{
    decisions::end,
    equality::Alike,
    error::AuditError,
    explore::Node,
    limits::{Limits, Meter},
    system::{Build, Input, Seat},
    weigh,
};

/// A complete run: what was asked and answered, and what was drawn.
struct Path<Q, A> {
    history: Vec<Exchange<Q, A>>,
    branches: Vec<Branch>,
}

impl<Q, A> Path<Q, A> {
    fn weight(&self) -> usize {
        self.history.len() * size_of::<Exchange<Q, A>>() + weigh::branches(&self.branches)
    }
}

/// Runs to be made again, evenly spaced over all runs; few runs are made again and again.
pub(crate) struct Reruns<Q, A> {
    paths: Vec<Path<Q, A>>,
    every: u64,
    /// How many reruns there are to be.
    count: usize,
}

impl<Q: Clone + PartialEq, A: Clone + Ord> Reruns<Q, A> {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            paths: Vec::new(),
            every: 1,
            count,
        }
    }

    /// Keeps the run of this number, from zero, if its turn has come.
    pub(crate) fn offer(
        &mut self,
        meter: &mut Meter<'_>,
        number: u64,
        history: &[Exchange<Q, A>],
        branches: &[Branch],
    ) -> Result<(), AuditError> {
        if self.count == 0 || !number.is_multiple_of(self.every) {
            return Ok(());
        }
        if self.paths.len() == self.count {
            let mut keep = false;
            self.paths.retain(|path| {
                keep = !keep;
                if !keep {
                    meter.give_back(path.weight());
                }
                keep
            });
            self.every = self.every.saturating_mul(2);
            if self.paths.len() == self.count || !number.is_multiple_of(self.every) {
                return Ok(());
            }
        }
        let path = Path {
            history: history.to_vec(),
            branches: branches.to_vec(),
        };
        meter.take(path.weight())?;
        self.paths.push(path);
        Ok(())
    }

    /// Makes the runs again, the last one first: so the distance to the first time takes many
    /// values, and something that changes periodically cannot fit them all. `nodes` are those of
    /// the tree with these runs. Says how many were made.
    pub(crate) fn compare(
        &self,
        build: &Build<'_, Q, A>,
        input: Input,
        limits: &Limits,
        nodes: &[Node<Q, A>],
        alike: Alike<A>,
        meter: &mut Meter<'_>,
    ) -> Result<usize, AuditError> {
        if self.paths.is_empty() {
            return Ok(0);
        }
        let last = self.paths.len() - 1;
        for number in 0..self.count {
            let path = &self.paths[last - number % self.paths.len()];
            rerun(path, build, input, limits, nodes, alike)?;
        }
        for path in &self.paths {
            meter.give_back(path.weight());
        }
        Ok(self.count)
    }
}

fn rerun<Q: Clone + PartialEq, A: Ord>(
    path: &Path<Q, A>,
    build: &Build<'_, Q, A>,
    input: Input,
    limits: &Limits,
    nodes: &[Node<Q, A>],
    alike: Alike<A>,
) -> Result<(), AuditError> {
    let mut script = limits.applied(Script::replay(path.branches.clone()));
    let mut seat = Seat::take(build, input, &Root::scripted(&script));
    let mut node = Some(&nodes[0]);
    for (round, Exchange { query, answer }) in path.history.iter().enumerate() {
        let again = seat.ask(query.clone());
        if again != *answer {
            return Err(AuditError::HiddenRandomness { round });
        }
        let edge = node.and_then(|node| node.edges.iter().find(|edge| edge.query == *query));
        let child = edge.map(|edge| edge.to.get(&again, round, alike));
        node = child.transpose()?.flatten().map(|child| &nodes[child]);
    }
    seat.leave()?;
    if end(&mut script)?.len() != path.branches.len() {
        let round = path.history.len().saturating_sub(1);
        return Err(AuditError::HiddenRandomness { round });
    }
    Ok(())
}
