//! Scripted coins: replay a prefix of outcomes, then always take the first possible one, and report every branching.

use std::{borrow::Cow, sync::Arc};

use dashu_ratio::RBig;

use super::{distribution::Distribution, probability::Probability};
use crate::{
    error::AskError,
    sync::{Mutex, lock},
};

/// One draw of a scripted run: which outcome was taken, out of how many, how likely it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The number of the outcome that was taken.
    pub choice: usize,
    /// Its exact probability.
    pub probability: Probability,
    /// How many outcomes the distribution enumerates.
    pub arity: usize,
    /// The probability of what the distribution does not enumerate.
    pub missing: Probability,
    /// The next outcome after `choice` that is possible at all.
    pub next: Option<usize>,
}

/// A tape of choices for a machine and all its descendants, in the order in which they draw.
///
/// ```
/// use odometry::queryable::{Root, coins::{Bit, Script}, machine};
/// let script = Script::new(vec![1]);
/// let bit = Root::scripted(&script).spawn(machine(|(), scope| scope.draw(&Bit::fair())))?;
/// assert_eq!(bit.ask(())?, true); // outcome 1, as scripted
/// assert_eq!(bit.ask(())?, false); // past the script: outcome 0
/// assert_eq!(script.branches().len(), 2);
/// # Ok::<(), odometry::queryable::AskError>(())
/// ```
#[derive(Clone)]
pub struct Script(Arc<Mutex<Tape>>);

struct Tape {
    /// How many draws there may be.
    limit: usize,
    /// How many outcomes of a draw are told apart.
    outcomes: usize,
    prefix: Prefix,
    branches: Vec<Branch>,
    fault: Option<Cow<'static, str>>,
    /// Whether the fault is one draw too many.
    overdrawn: bool,
}

/// What the first draws are to be.
enum Prefix {
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

impl Script {
    /// How many draws a run may make, unless [`at_most`](Self::at_most) says otherwise.
    pub const DEFAULT_DRAWS: usize = 1 << 14;

    /// Takes these choices, then the first possible outcome of every further draw.
    pub fn new(choices: Vec<usize>) -> Self {
        Self::with_prefix(Prefix::Choices(choices))
    }

    /// Replays these branches, and faults when a draw does not branch as it did when they were recorded: then the
    /// machine has randomness of its own, or depends on something else that changes.
    pub fn replay(branches: Vec<Branch>) -> Self {
        let last = branches.last().map_or(0, |branch| branch.choice);
        Self::with_prefix(Prefix::Seen { branches, last })
    }

    /// Replays these branches but for the last, where it takes the next possible outcome instead. `None` if there is
    /// none.
    pub fn divert(branches: Vec<Branch>) -> Option<Self> {
        let last = branches.last()?.next?;
        Some(Self::with_prefix(Prefix::Seen { branches, last }))
    }

    fn with_prefix(prefix: Prefix) -> Self {
        Self(Arc::new(Mutex::new(Tape {
            limit: Self::DEFAULT_DRAWS,
            outcomes: usize::MAX,
            branches: Vec::with_capacity(prefix.len() + 1),
            prefix,
            fault: None,
            overdrawn: false,
        })))
    }

    /// Allows this many draws. One more is a fault: a machine that draws until it likes the outcome would not end.
    ///
    /// ```
    /// use odometry::queryable::{Root, coins::{Bit, Script}, machine};
    /// let script = Script::new(vec![]).at_most(100);
    /// let stubborn = machine(|(), scope| {
    ///     while !scope.draw(&Bit::fair())? {} // the first outcome is `false`
    ///     Ok(())
    /// });
    /// assert!(Root::scripted(&script).spawn(stubborn)?.ask(()).is_err());
    /// assert_eq!(script.overdrawn(), Some(100));
    /// # Ok::<(), odometry::queryable::AskError>(())
    /// ```
    pub fn at_most(self, draws: usize) -> Self {
        lock(&self.0).limit = draws;
        self
    }

    /// Cuts every draw to its first outcomes, at most this many (at least one); the rest is [missing](Branch::missing). For
    /// noise with more outcomes than one cares to enumerate.
    ///
    /// ```
    /// use odometry::queryable::{Root, coins::{Probability, Uniform, enumerate}};
    /// let noise = Uniform::below(100)?;
    /// let all = enumerate(10, |script| {
    ///     let script = script.clone().cut_to(3);
    ///     Root::scripted(&script).run([], |scope| scope.draw(&noise))
    /// })?;
    /// assert_eq!(all.runs.len(), 3);
    /// assert_eq!(all.missing, Probability::new(97, 100)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cut_to(self, outcomes: usize) -> Self {
        lock(&self.0).outcomes = outcomes.max(1);
        self
    }

    /// How many draws were allowed, if there were to be more.
    pub fn overdrawn(&self) -> Option<usize> {
        let tape = lock(&self.0);
        tape.overdrawn.then_some(tape.limit)
    }

    /// The draws so far.
    pub fn branches(&self) -> Vec<Branch> {
        lock(&self.0).branches.clone()
    }

    /// Ends the run: all its draws. Whatever is left of it and draws again gets an error.
    pub fn end(&self) -> Vec<Branch> {
        let mut tape = lock(&self.0);
        tape.prefix = Prefix::Choices(Vec::new());
        tape.fault.get_or_insert(Cow::Borrowed("the run is over"));
        std::mem::take(&mut tape.branches)
    }

    /// How many draws there were so far.
    pub fn drawn(&self) -> usize {
        lock(&self.0).branches.len()
    }

    /// Why the script did not fit, if it did not. A machine cannot hide this by swallowing the error.
    pub fn fault(&self) -> Option<String> {
        let tape = lock(&self.0);
        let unused = (tape.branches.len() < tape.prefix.len())
            .then_some(Cow::Borrowed("the run ended before the script did"));
        tape.fault.clone().or(unused).map(Cow::into_owned)
    }

    pub(super) fn draw<D: Distribution + ?Sized>(
        &self,
        distribution: &D,
    ) -> Result<D::Outcome, AskError> {
        // The distribution is foreign code: it runs with no lock held.
        let drawn = self
            .choose(distribution)
            .and_then(|(outcome, branch)| self.take_in(branch).map(|()| outcome));
        drawn
            .inspect_err(|why| lock(&self.0).fault = Some(why.clone()))
            .map_err(AskError::Script)
    }

    fn choose<D: Distribution + ?Sized>(
        &self,
        distribution: &D,
    ) -> Result<(D::Outcome, Branch), Cow<'static, str>> {
        let all = distribution.arity();
        let (scripted, outcomes) = self.scripted_choice()?;
        let arity = all.min(outcomes);
        let possible = |from: usize| (from..arity).find(|&i| !distribution.outcome(i).1.is_zero());
        let choice = match scripted {
            Some(choice) if choice < arity => choice,
            Some(_) => return Err("a scripted outcome is out of range".into()),
            None if arity < all => possible(0).ok_or("a draw was cut to impossible outcomes")?,
            None => possible(0).ok_or("a distribution without a possible outcome")?,
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
            next: possible(choice + 1),
        };
        Ok((outcome, branch))
    }

    /// What is scripted for the next draw, and how many outcomes are told apart.
    fn scripted_choice(&self) -> Result<(Option<usize>, usize), Cow<'static, str>> {
        let mut tape = lock(&self.0);
        match &tape.fault {
            Some(fault) => Err(fault.clone()),
            None if tape.branches.len() >= tape.limit => {
                tape.overdrawn = true;
                Err("a run drew more often than allowed".into())
            }
            None => Ok((tape.prefix.choice(tape.branches.len()), tape.outcomes)),
        }
    }

    fn take_in(&self, branch: Branch) -> Result<(), Cow<'static, str>> {
        let mut tape = lock(&self.0);
        if !tape.prefix.fits(tape.branches.len(), &branch) {
            return Err(
                "a replay branched differently: the run depends on something other than its coins"
                    .into(),
            );
        }
        if branch.probability.is_zero() {
            return Err("an impossible outcome was scripted".into());
        }
        tape.branches.push(branch);
        Ok(())
    }
}

/// What the first outcomes leave to one. Not the sum of the others: there may be as many as a number can say.
fn rest<D: Distribution + ?Sized>(
    distribution: &D,
    first: usize,
) -> Result<Probability, Cow<'static, str>> {
    let kept = (0..first).map(|index| distribution.outcome(index).1.into_rational());
    let rest = kept.fold(RBig::ONE, |rest, mass| rest - mass);
    Probability::try_from(rest).map_err(|_| "the probabilities of a draw sum to more than 1".into())
}
