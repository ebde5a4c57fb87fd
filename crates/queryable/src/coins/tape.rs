//! What a script says, and what was drawn: replays of known draws take no lock, because an enumeration is mostly replays.

use std::{borrow::Cow, ops::Range};

use dashu_ratio::RBig;

use super::{distribution::Distribution, probability::Probability, script::Branch};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, lock, own};

pub(super) struct Tape {
    prefix: Prefix,
    /// How many draws there were.
    drawn: AtomicU64,
    /// Draws below this number are to be exactly as in the prefix.
    replayed: AtomicU64,
    /// Draws from this number on are refused, for a reason that is among the rest.
    allowed: AtomicU64,
    /// How many outcomes of a draw are told apart.
    outcomes: AtomicU64,
    rest: Mutex<Rest>,
}

struct Rest {
    /// How many draws there may be.
    limit: usize,
    /// The draws that are not exactly as in the prefix: all that come after those that are.
    fresh: Vec<Branch>,
    fault: Option<Fault>,
    /// Whether the fault is one draw too many.
    overdrawn: bool,
}

impl Rest {
    /// What is wrong, after so many draws of so many that were planned.
    fn fault(&self, drawn: usize, planned: usize) -> Option<Fault> {
        let unused = (drawn < planned).then_some(UNUSED);
        self.fault.clone().or(unused)
    }

    /// No draws from now on: what was wrong until then is said here, and no later draw changes it.
    fn end(&mut self, drawn: usize, planned: usize) -> Result<(), Fault> {
        let fault = self.fault(drawn, planned);
        self.fault.get_or_insert(OVER);
        fault.map_or(Ok(()), Err)
    }
}

/// What the first draws are to be.
pub(super) enum Prefix {
    Choices(Vec<usize>),
    /// What an earlier run drew; this run must branch alike there.
    Seen {
        branches: Vec<Branch>,
        /// The last choice, which may be a new one.
        last: usize,
    },
}

impl Prefix {
    fn len(&self) -> usize {
        match self {
            Self::Choices(choices) => choices.len(),
            Self::Seen { branches, .. } => branches.len(),
        }
    }

    fn choice(&self, at: usize) -> Option<usize> {
        match self {
            Self::Choices(choices) => choices.get(at).copied(),
            Self::Seen { branches, last } if at + 1 == branches.len() => Some(*last),
            Self::Seen { branches, .. } => branches.get(at).map(|branch| branch.choice),
        }
    }

    /// The draws that are to be exactly as they were.
    fn same(&self) -> &[Branch] {
        match self {
            Self::Choices(_) => &[],
            Self::Seen { branches, last } => match branches.split_last() {
                Some((diverted, same)) if diverted.choice != *last => same,
                _ => branches,
            },
        }
    }

    /// Did this draw branch now as it did then? The probability can be compared only for the same choice.
    fn fits(&self, at: usize, now: &Branch) -> bool {
        let Self::Seen { branches, .. } = self else {
            return true;
        };
        branches.get(at).is_none_or(|seen| {
            let same_choice = seen.choice == now.choice;
            seen.arity == now.arity
                && seen.missing == now.missing
                && (!same_choice || (seen.probability == now.probability && seen.next == now.next))
        })
    }
}

pub(super) type Fault = Cow<'static, str>;

const DIFFERENT: Fault = Cow::Borrowed(
    "a replay branched differently: the run depends on something other than its coins",
);
const OVERDRAWN: Fault = Cow::Borrowed("a run drew more often than allowed");
pub(super) const OVER: Fault = Cow::Borrowed("the run is over");
const UNUSED: Fault = Cow::Borrowed("the run ended before the script did");
const AT_ONCE: Fault = Cow::Borrowed("two threads drew from one script at the same time");
const OUT_OF_RANGE: Fault = Cow::Borrowed("a scripted outcome is out of range");
const IMPOSSIBLE: Fault = Cow::Borrowed("an impossible outcome was scripted");

impl Tape {
    pub(super) fn new(prefix: Prefix, limit: usize) -> Self {
        let tape = Self {
            prefix,
            drawn: AtomicU64::new(0),
            replayed: AtomicU64::new(0),
            allowed: AtomicU64::new(0),
            outcomes: AtomicU64::new(u64::MAX),
            rest: Mutex::new(Rest {
                limit,
                fresh: Vec::new(),
                fault: None,
                overdrawn: false,
            }),
        };
        tape.allow(limit);
        tape
    }

    pub(super) fn allow(&self, draws: usize) {
        let mut rest = lock(&self.rest);
        rest.limit = draws;
        if rest.fault.is_none() {
            let replayed = self.same().len().min(draws);
            self.replayed.store(replayed as u64, Ordering::Relaxed);
            self.allowed.store(draws as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn cut_to(&self, outcomes: usize) {
        let outcomes = outcomes.max(1) as u64;
        self.outcomes.store(outcomes, Ordering::Relaxed);
    }

    #[inline]
    fn outcomes(&self) -> usize {
        usize::try_from(self.outcomes.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    #[inline]
    pub(super) fn drawn(&self) -> usize {
        self.drawn.load(Ordering::SeqCst) as usize
    }

    pub(super) fn overdrawn(&self) -> Option<usize> {
        let rest = lock(&self.rest);
        rest.overdrawn.then_some(rest.limit)
    }

    pub(super) fn fault(&self) -> Option<Fault> {
        lock(&self.rest).fault(self.drawn(), self.prefix.len())
    }

    pub(super) fn branches(&self) -> Vec<Branch> {
        let rest = lock(&self.rest);
        self.all(&rest, self.drawn())
    }

    fn all(&self, rest: &Rest, drawn: usize) -> Vec<Branch> {
        let count = drawn.saturating_sub(rest.fresh.len());
        let same = self.same();
        [&same[..count.min(same.len())], &rest.fresh].concat()
    }

    /// The draws that are to be exactly as they were.
    fn same(&self) -> &[Branch] {
        self.prefix.same()
    }

    /// All draws, or why they do not fit; no more from now on.
    pub(super) fn end(&mut self) -> Result<Vec<Branch>, Fault> {
        let planned = self.prefix.len();
        let mut branches = match &mut self.prefix {
            Prefix::Choices(_) => Vec::new(),
            Prefix::Seen { branches, .. } => std::mem::take(branches),
        };
        let drawn = *self.drawn.get_mut() as usize;
        (*self.replayed.get_mut(), *self.allowed.get_mut()) = (0, 0);
        let rest = own(&mut self.rest);
        rest.end(drawn, planned)?;
        branches.truncate(drawn.saturating_sub(rest.fresh.len()));
        branches.append(&mut rest.fresh);
        Ok(branches)
    }

    /// The same while something of the run is left, which may be drawing on another thread.
    pub(super) fn end_shared(&self) -> Result<Vec<Branch>, Fault> {
        let mut rest = self.refuse();
        let drawn = self.drawn();
        rest.end(drawn, self.prefix.len())?;
        Ok(self.all(&rest, drawn))
    }

    /// From the start, with another prefix and within the same limits.
    pub(super) fn rewind(&mut self, prefix: Prefix) {
        let same = prefix.same().len();
        self.prefix = prefix;
        let rest = own(&mut self.rest);
        rest.fresh.clear();
        (rest.fault, rest.overdrawn) = (None, false);
        *self.drawn.get_mut() = 0;
        *self.replayed.get_mut() = same.min(rest.limit) as u64;
        *self.allowed.get_mut() = rest.limit as u64;
    }

    /// A tape with another prefix within the same limits.
    pub(super) fn like(&self, prefix: Prefix) -> Self {
        let tape = Self::new(prefix, lock(&self.rest).limit);
        tape.cut_to(self.outcomes());
        tape
    }

    /// No draws from now on. The first reason counts.
    pub(super) fn stop(&self, why: Fault) {
        self.refuse().fault.get_or_insert(why);
    }

    /// Refuses all draws from now on; why is for the caller to say.
    fn refuse(&self) -> MutexGuard<'_, Rest> {
        let rest = lock(&self.rest);
        self.replayed.store(0, Ordering::SeqCst);
        self.allowed.store(0, Ordering::Relaxed);
        rest
    }

    #[inline]
    pub(super) fn draw<D: Distribution + ?Sized>(
        &self,
        distribution: &D,
    ) -> Result<D::Outcome, Fault> {
        // The distribution is foreign code: it runs with no lock held.
        let at = self.drawn();
        let drawn = match (at as u64) < self.replayed.load(Ordering::Relaxed) {
            true => self.draw_again(at, distribution),
            false => self.draw_fresh(distribution),
        };
        drawn.map_err(|why| self.failed(why))
    }

    #[cold]
    fn failed(&self, why: Fault) -> Fault {
        self.stop(why.clone());
        why
    }

    /// Counts the draw with this number, unless somebody else did meanwhile.
    #[inline]
    fn count(&self, at: usize) -> Result<(), Fault> {
        let (at, next) = (at as u64, at as u64 + 1);
        let counted = self
            .drawn
            .compare_exchange(at, next, Ordering::SeqCst, Ordering::Relaxed);
        counted.map(|_| ()).map_err(|_| AT_ONCE)
    }

    /// A draw that is to be exactly as it was.
    #[inline]
    fn draw_again<D: Distribution + ?Sized>(
        &self,
        at: usize,
        distribution: &D,
    ) -> Result<D::Outcome, Fault> {
        let Prefix::Seen { branches, .. } = &self.prefix else {
            return Err(DIFFERENT);
        };
        let seen = branches.get(at).ok_or(DIFFERENT)?;
        let all = distribution.arity();
        let arity = all.min(self.outcomes());
        if seen.choice >= arity {
            return Err(OUT_OF_RANGE);
        }
        let (outcome, probability) = distribution.outcome(seen.choice);
        let same = arity == seen.arity
            && probability == seen.probability
            && match arity < all {
                true => rest(distribution, arity)? == seen.missing,
                false => distribution.missing() == seen.missing,
            }
            && possible(distribution, seen.choice + 1..arity) == seen.next;
        if !same {
            return Err(DIFFERENT);
        }
        if probability.is_zero() {
            return Err(IMPOSSIBLE);
        }
        self.count(at)?;
        // Whoever ends the run says so first, and then counts the draws: either it counts this one, or it is seen here.
        match (at as u64) < self.replayed.load(Ordering::SeqCst) {
            true => Ok(outcome),
            false => Err(lock(&self.rest).fault.clone().unwrap_or(DIFFERENT)),
        }
    }

    /// A draw that may be the first of its kind.
    fn draw_fresh<D: Distribution + ?Sized>(&self, distribution: &D) -> Result<D::Outcome, Fault> {
        let all = distribution.arity();
        let (at, scripted) = self.scripted_choice()?;
        let arity = all.min(self.outcomes());
        let choice = match scripted {
            Some(choice) if choice < arity => choice,
            Some(_) => return Err(OUT_OF_RANGE),
            None => possible(distribution, 0..arity).ok_or(match arity < all {
                true => "a draw was cut to impossible outcomes",
                false => "a distribution without a possible outcome",
            })?,
        };
        let (outcome, probability) = distribution.outcome(choice);
        let branch = Branch {
            choice,
            probability,
            arity,
            missing: match arity < all {
                true => rest(distribution, arity)?,
                false => distribution.missing(),
            },
            next: possible(distribution, choice + 1..arity),
        };
        self.take_in(at, branch)?;
        Ok(outcome)
    }

    /// The number of the next draw, and what is scripted for it.
    fn scripted_choice(&self) -> Result<(usize, Option<usize>), Fault> {
        let at = self.drawn();
        match (at as u64) < self.allowed.load(Ordering::Relaxed) {
            // Whether the run has ended meanwhile is seen when the draw is taken in.
            true => Ok((at, self.prefix.choice(at))),
            false => Err(self.refused()),
        }
    }

    /// Why a draw is refused.
    #[cold]
    fn refused(&self) -> Fault {
        let mut rest = lock(&self.rest);
        rest.overdrawn |= rest.fault.is_none();
        // At once: whoever ends the run meanwhile has to know.
        let fault = rest.fault.get_or_insert(OVERDRAWN);
        fault.clone()
    }

    fn take_in(&self, at: usize, branch: Branch) -> Result<(), Fault> {
        if !self.prefix.fits(at, &branch) {
            return Err(DIFFERENT);
        }
        if branch.probability.is_zero() {
            return Err(IMPOSSIBLE);
        }
        let mut rest = lock(&self.rest);
        // Somebody may have ended the run meanwhile, from another thread.
        if let Some(fault) = &rest.fault {
            return Err(fault.clone());
        }
        self.count(at)?;
        rest.fresh.push(branch);
        Ok(())
    }
}

/// The first of these outcomes that is possible.
#[inline(always)]
fn possible<D: Distribution + ?Sized>(
    distribution: &D,
    mut outcomes: Range<usize>,
) -> Option<usize> {
    outcomes.find(|&index| !distribution.outcome(index).1.is_zero())
}

/// What the first outcomes leave to one. Not the sum of the others: there may be as many as a number can say.
fn rest<D: Distribution + ?Sized>(distribution: &D, first: usize) -> Result<Probability, Fault> {
    let kept = (0..first).map(|index| distribution.outcome(index).1.to_rational());
    let rest = kept.fold(RBig::ONE, |rest, mass| rest - mass);
    Probability::try_from(rest).map_err(|_| "the probabilities of a draw sum to more than 1".into())
}
