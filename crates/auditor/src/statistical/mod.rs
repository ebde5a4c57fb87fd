//! The statistical auditor: for systems whose outcomes cannot be enumerated, a lower bound on ε at a δ that holds with a
//! stated confidence, from many seeded runs of one adversary. Its functions repeat a list of bounds on purpose: a trait that
//! stands for it would hide from the compiler what the closures take.
//!
//! The bound says nothing above itself: a small one is no proof of privacy. Binomial tails are computed in floating
//! point, and raised by a bound on the error that grows with the number of runs (about 1e-8 of the tail at 10^5 runs, a
//! tenth or so at 2^40).

mod binomial;

use std::{collections::BTreeMap, thread};

use queryable::{AskError, Exchange, Heard, Machine, Move, Root};

use self::binomial::{at_least, at_most};
use crate::{
    error::AuditError,
    progress::Progress,
    system::{History, Input, Seat, System, boxed},
};

/// How a statistical audit is made. The result depends on the seed, and not on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Runs per input.
    pub runs: u64,
    /// The probability that the bound is right, over the coins: 0.99, for one.
    pub confidence: f64,
    /// What all coins are derived from.
    pub seed: u64,
    /// How many threads share the work.
    pub threads: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            runs: 100_000,
            confidence: 0.99,
            seed: 0,
            threads: 2,
        }
    }
}

/// What a statistical audit found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// How often the adversary accepted, under each input.
    pub accepted: [u64; 2],
    /// Out of how many runs each.
    pub runs: u64,
    /// With the stated confidence, ε at the given δ is at least this (zero if nothing was found).
    pub epsilon: f64,
    /// With the stated confidence, δ at ε = 0 is at least this.
    pub total_variation: f64,
}

impl Sampling {
    /// Lets an adversary play, at most `depth` rounds a run, and `accept` judge what it saw: a lower bound on ε at `delta`.
    /// `accept` must be fixed in advance; [`trained`](Self::trained) finds one on other coins.
    ///
    /// # Errors
    /// [`AuditError::Parameter`] for a senseless confidence, δ or number of runs; [`AuditError::Script`] if the adversary
    /// cannot play.
    pub fn epsilon<S, B, M>(
        &self,
        build: &B,
        adversary: &(impl Fn() -> M + Sync),
        depth: usize,
        delta: f64,
        accept: &(impl Fn(&History<S>) -> bool + Sync),
    ) -> Result<Evidence, AuditError>
    where
        S: System,
        S::Query: Clone,
        S::Answer: Clone,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        M: Machine<Query = Heard<S::Answer>, Answer = Move<S::Query>> + 'static,
    {
        self.check(delta)?;
        let count = |transcript: &[_], total: &mut u64| *total += u64::from(accept(transcript));
        let accepted = self.tally(build, adversary, depth, 1, &count, |a, b| *a += b)?;
        Ok(self.evidence(accepted, delta))
    }

    /// As [`epsilon`](Self::epsilon), with an acceptance rule found on a quarter as many runs with other coins: it accepts
    /// the kinds of view, as told apart by `kind`, whose frequencies differ the most, in the better direction.
    ///
    /// # Errors
    /// As [`epsilon`](Self::epsilon).
    pub fn trained<S, B, M, K>(
        &self,
        build: &B,
        adversary: &(impl Fn() -> M + Sync),
        depth: usize,
        delta: f64,
        kind: &(impl Fn(&History<S>) -> K + Sync),
    ) -> Result<Evidence, AuditError>
    where
        S: System,
        S::Query: Clone,
        S::Answer: Clone,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        M: Machine<Query = Heard<S::Answer>, Answer = Move<S::Query>> + 'static,
        K: Ord + Send + Sync,
    {
        self.check(delta)?;
        let trial = Self {
            runs: self.runs.div_ceil(4),
            ..*self
        };
        let note = |transcript: &[_], seen: &mut BTreeMap<K, u64>| {
            *seen.entry(kind(transcript)).or_default() += 1;
        };
        let add = |all: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>| {
            for (kind, count) in more {
                *all.entry(kind).or_default() += count;
            }
        };
        let [zero, one] = trial.tally(build, adversary, depth, 2, &note, add)?;
        let mut seen: BTreeMap<K, [u64; 2]> = BTreeMap::new();
        for (input, counts) in [zero, one].into_iter().enumerate() {
            for (kind, count) in counts {
                seen.entry(kind).or_default()[input] = count;
            }
        }
        let (over, chosen) = trial.choose(&seen, delta);
        let accept = |transcript: &[_]| chosen.contains(&&kind(transcript));
        let swapped = |input: Input, root: &Root| {
            let input = if over == 0 {
                input
            } else {
                input.pick(Input::One, Input::Zero)
            };
            build(input, root)
        };
        let mut found = self.epsilon(&swapped, adversary, depth, delta, &accept)?;
        if over == 1 {
            found.accepted.reverse();
        }
        Ok(found)
    }

    /// The direction and the kinds, by falling likelihood ratio, that promise the largest bound.
    fn choose<'a, K: Ord>(
        &self,
        seen: &'a BTreeMap<K, [u64; 2]>,
        delta: f64,
    ) -> (usize, std::collections::BTreeSet<&'a K>) {
        let mut best = (f64::NEG_INFINITY, 0, 0);
        let mut orders = Vec::new();
        for over in 0..2 {
            let mut kinds: Vec<(&K, [u64; 2])> = seen.iter().map(|(k, c)| (k, *c)).collect();
            let ratio =
                |counts: &[u64; 2]| (counts[over] as f64 + 0.5) / (counts[1 - over] as f64 + 0.5);
            kinds.sort_by(|a, b| ratio(&b.1).total_cmp(&ratio(&a.1)));
            let mut counts = [0, 0];
            for (taken, (_, more)) in kinds.iter().enumerate() {
                counts = [counts[0] + more[over], counts[1] + more[1 - over]];
                let found = self.evidence(counts, delta);
                let promise = found.epsilon + found.total_variation * 1e-6;
                if promise > best.0 {
                    best = (promise, over, taken + 1);
                }
            }
            orders.push(kinds);
        }
        let (_, over, taken) = best;
        let chosen = orders[over].iter().take(taken).map(|(kind, _)| *kind);
        (over, chosen.collect())
    }

    fn check(&self, delta: f64) -> Result<(), AuditError> {
        let wrong = |name, value: f64, expected| {
            Err(AuditError::Parameter {
                name,
                value: value.to_string(),
                expected,
            })
        };
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return wrong("the confidence", self.confidence, "between 0 and 1");
        }
        if !(0.0..=1.0).contains(&delta) {
            return wrong("δ", delta, "between 0 and 1");
        }
        if self.runs == 0 || self.runs > 1 << 40 {
            return wrong("the number of runs", self.runs as f64, "between 1 and 2^40");
        }
        Ok(())
    }

    fn evidence(&self, accepted: [u64; 2], delta: f64) -> Evidence {
        // Each of the two limits may fail with half of the allowed probability.
        let miss = (1.0 - self.confidence) / 2.0;
        let low = at_least(accepted[0], self.runs, miss);
        let high = at_most(accepted[1], self.runs, miss);
        let epsilon = ((low - delta) / high).ln();
        Evidence {
            accepted,
            runs: self.runs,
            epsilon: if epsilon > 0.0 {
                epsilon * (1.0 - 1e-12)
            } else {
                0.0
            },
            total_variation: (low - high).max(0.0),
        }
    }

    /// Plays all runs of both inputs and adds up what `note` makes of them.
    fn tally<S, B, M, T, F>(
        &self,
        build: &B,
        adversary: &(impl Fn() -> M + Sync),
        depth: usize,
        purpose: u8,
        note: &(impl Fn(&History<S>, &mut T) + Sync),
        add: F,
    ) -> Result<[T; 2], AuditError>
    where
        S: System,
        S::Query: Clone,
        S::Answer: Clone,
        B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
        M: Machine<Query = Heard<S::Answer>, Answer = Move<S::Query>> + 'static,
        T: Default + Send,
        F: Fn(&mut T, T),
    {
        let progress = Progress::new("runs");
        let threads = self.threads.max(1) as u64;
        let share = |thread: u64| -> Result<[T; 2], AuditError> {
            let mut totals = [T::default(), T::default()];
            for run in (thread..self.runs).step_by(threads as usize) {
                for input in Input::BOTH {
                    let root = Root::seeded(self.key(purpose, input, run));
                    let transcript = play(build, adversary(), input, &root, depth)?;
                    note(&transcript, &mut totals[input.index()]);
                }
                progress.count(2);
            }
            Ok(totals)
        };
        let shares: Vec<Result<[T; 2], AuditError>> = thread::scope(|scope| {
            let share = &share;
            let workers: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || share(thread)))
                .collect();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        let mut totals = [T::default(), T::default()];
        for share in shares {
            let [zero, one] = share?;
            add(&mut totals[0], zero);
            add(&mut totals[1], one);
        }
        Ok(totals)
    }

    fn key(&self, purpose: u8, input: Input, run: u64) -> [u8; 32] {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&run.to_le_bytes());
        key[16] = purpose;
        key[17] = input.index() as u8;
        key
    }
}

/// What the adversary saw in one run.
type Transcript<S> = Vec<Exchange<<S as System>::Query, <S as System>::Answer>>;

/// One run.
fn play<S, B, M>(
    build: &B,
    adversary: M,
    input: Input,
    root: &Root,
    depth: usize,
) -> Result<Transcript<S>, AuditError>
where
    S: System,
    S::Query: Clone,
    S::Answer: Clone,
    B: Fn(Input, &Root) -> Result<S, AskError> + Sync,
    M: Machine<Query = Heard<S::Answer>, Answer = Move<S::Query>> + 'static,
{
    let cannot = |why: AskError| AuditError::Script(why.to_string());
    let mut seat = Seat::take(&boxed(build), input, &root.branch().map_err(cannot)?);
    let branch = root.branch().map_err(cannot)?;
    let adversary = branch.spawn(adversary).map_err(cannot)?;
    let mut transcript: Transcript<S> = Vec::new();
    while transcript.len() < depth {
        let heard = transcript.last().map(|round| round.answer.clone());
        let Move::Ask(query) = adversary.ask(heard).map_err(cannot)? else {
            break;
        };
        let answer = seat.ask(query.clone());
        transcript.push(Exchange { query, answer });
    }
    seat.leave()?;
    Ok(transcript)
}
