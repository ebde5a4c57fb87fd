//! The truncated view (\[HST+23\] Def 2.10, Alg 5): what an analyst sees of an odometer up to a loss set in advance.
//!
//! Before the answer of a step is shown, the odometer is asked for its loss *after* the step; if that is not at most the
//! threshold, the view ends without the answer. Alg 5 as printed asks for the loss *before* the step: then even basic
//! composition fails, because the first launch is always shown. An odometer is valid if the truncated view has at most
//! the threshold's loss, for every threshold: attained totals and joins of them are the ones to try.

use measures::Loss;
use queryable::AskError;

use crate::system::System;

/// A system that reports its privacy loss so far.
pub trait ReportsLoss: System {
    /// What its losses are.
    type Loss: Loss;

    /// The loss of everything so far. It is deterministic given the history, and changes nothing.
    ///
    /// # Errors
    /// What the system has to say.
    fn privacy_loss(&mut self) -> Result<Self::Loss, AskError>;
}

/// What a truncated view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shown<A> {
    /// The answer.
    Answer(A),
    /// The loss passed the threshold: nothing more is shown.
    Stopped,
}

/// A system seen through a truncated view.
pub struct Truncated<S: ReportsLoss> {
    inner: S,
    threshold: S::Loss,
    stopped: bool,
}

impl<S: ReportsLoss> Truncated<S> {
    /// The view up to this loss.
    pub fn new(inner: S, threshold: S::Loss) -> Self {
        Self {
            inner,
            threshold,
            stopped: false,
        }
    }
}

impl<S: ReportsLoss> System for Truncated<S> {
    type Query = S::Query;
    type Answer = Shown<S::Answer>;

    fn ask(&mut self, query: S::Query) -> Result<Shown<S::Answer>, AskError> {
        if self.stopped {
            return Ok(Shown::Stopped);
        }
        let answer = self.inner.ask(query);
        if !self.inner.privacy_loss()?.at_most(&self.threshold) {
            self.stopped = true;
            return Ok(Shown::Stopped);
        }
        answer.map(Shown::Answer)
    }
}
