//! Some runs are made twice. An answer that has not come up before is news to the explorer, whether the coins or something
//! else made it: only a second run with the same coins and queries can tell.

use queryable::{
    AskError, Root,
    coins::{Branch, Script},
};

use crate::{
    error::AuditError,
    explore::Heard,
    system::{Input, Seat, System},
};

/// How many runs are made twice at the most. Up to this number of runs, it is all of them.
pub(crate) const MAX_RERUNS: usize = 512;

/// A complete run: what was asked and answered, and what was drawn.
pub(crate) struct Path<Q, A> {
    pub(crate) rounds: Vec<(Q, Heard<A>)>,
    pub(crate) branches: Vec<Branch>,
}

/// Runs to be made again, evenly spaced over all runs.
pub(crate) struct Reruns<Q, A> {
    paths: Vec<Path<Q, A>>,
    every: u64,
}

impl<Q: Clone, A: PartialEq> Reruns<Q, A> {
    pub(crate) fn new() -> Self {
        Self {
            paths: Vec::new(),
            every: 1,
        }
    }

    /// Keeps the run of this number, from zero, if its turn has come.
    pub(crate) fn offer(&mut self, number: u64, path: impl FnOnce() -> Path<Q, A>) {
        if !number.is_multiple_of(self.every) {
            return;
        }
        if self.paths.len() == MAX_RERUNS {
            let mut keep = false;
            self.paths.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2;
        }
        self.paths.push(path());
    }

    /// Makes the runs again, the last one first: so the distance to the first time takes many values, and something that
    /// changes periodically cannot fit them all.
    pub(crate) fn compare<S, B>(self, build: &B, input: Input) -> Result<(), AuditError>
    where
        S: System<Query = Q, Answer = A>,
        B: Fn(Input, &Root) -> Result<S, AskError>,
    {
        for path in self.paths.into_iter().rev() {
            let script = Script::replay(&path.branches);
            let mut seat = Seat::take(build, input, &Root::scripted(&script));
            let asked = path.rounds.len();
            for (round, (query, answer)) in path.rounds.into_iter().enumerate() {
                if seat.ask(query) != answer {
                    return Err(AuditError::HiddenRandomness { round });
                }
            }
            if let Some(fault) = script.fault() {
                return Err(AuditError::Script(fault));
            }
            if script.drawn() != path.branches.len() {
                let round = asked.saturating_sub(1);
                return Err(AuditError::HiddenRandomness { round });
            }
        }
        Ok(())
    }
}
