//! Scripted coins: replay a prefix of outcomes, then always take the first possible one, and report every branching.

use std::{borrow::Cow, sync::Arc};

use super::{
    distribution::Distribution,
    probability::Probability,
    tape::{OVER, Prefix, Tape},
};
use crate::error::AskError;

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
pub struct Script(Arc<Tape>);

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
        Self(Arc::new(Tape::new(prefix, Self::DEFAULT_DRAWS)))
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
        self.0.allow(draws);
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
        self.0.cut_to(outcomes);
        self
    }

    /// How many draws were allowed, if there were to be more.
    pub fn overdrawn(&self) -> Option<usize> {
        self.0.overdrawn()
    }

    /// The draws so far.
    pub fn branches(&self) -> Vec<Branch> {
        self.0.branches()
    }

    /// Ends the run: all its draws, which are handed over once. Whatever is left of it and draws again gets an error.
    ///
    /// # Errors
    /// Why the script did not fit, as [`fault`](Self::fault) would have said: but nothing can go wrong between the question
    /// and the end.
    pub fn end(&mut self) -> Result<Vec<Branch>, String> {
        let ended = match Arc::get_mut(&mut self.0) {
            Some(tape) => tape.end(),
            // Something of the run is left.
            None => self.0.end_shared(),
        };
        ended.map_err(Cow::into_owned)
    }

    /// Makes this the script of another run, within the same limits: it [replays](Self::replay) these branches, but takes
    /// this choice at the last of them. An enumeration with one script makes fewer allocations than with one for each run.
    ///
    /// ```
    /// use odometry::queryable::{Root, coins::{Bit, Script}};
    /// let run = |script: &Script| Root::scripted(script).run([], |scope| scope.draw(&Bit::fair()));
    /// let mut script = Script::new(vec![]);
    /// assert_eq!(run(&script), Ok(false));
    /// let drawn = script.end()?;
    /// assert!(run(&script).is_err()); // it has ended
    /// script.rewind(drawn, 1);
    /// assert_eq!(run(&script), Ok(true));
    /// # Ok::<(), String>(())
    /// ```
    pub fn rewind(&mut self, branches: Vec<Branch>, last: usize) {
        let prefix = Prefix::Seen { branches, last };
        match Arc::get_mut(&mut self.0) {
            Some(tape) => tape.rewind(prefix),
            None => {
                self.0.stop(OVER);
                self.0 = Arc::new(self.0.like(prefix));
            }
        }
    }

    /// How many draws there were so far.
    pub fn drawn(&self) -> usize {
        self.0.drawn()
    }

    /// Why the script did not fit, if it did not. A machine cannot hide this by swallowing the error.
    pub fn fault(&self) -> Option<String> {
        self.0.fault().map(Cow::into_owned)
    }

    #[inline]
    pub(super) fn draw<D: Distribution + ?Sized>(
        &self,
        distribution: &D,
    ) -> Result<D::Outcome, AskError> {
        self.0
            .draw(distribution)
            .map_err(|fault| AskError::Script(fault.into()))
    }
}
