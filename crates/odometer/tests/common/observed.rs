//! A rule of somebody's own: it counts as basic composition does, and tells an observer what happens to it. Observers may panic,
//! and may try what they find.

use std::fmt::Debug;

use measures::adaptive::Sum;
use measures::{
    Adaptive, Epsilon, Interleaving, Name, PureDp, Rule, Tallied, Tally, Total, TotalLoss,
};

use super::BASIC;

/// What happens to a rule or to a tally of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Clone,
    Drop,
    Absorb,
    Merge,
    Join,
    Loss,
    Fits,
}

/// Who is told.
pub trait Observer: Clone + Debug + Send + Sync + 'static {
    /// It happens now.
    fn told(&self, event: Event);

    /// The rule is asked whether this is within a limit.
    fn told_of_limit(&self, _: &Epsilon) {
        self.told(Event::Fits);
    }
}

/// The rule.
#[derive(Clone, Debug)]
pub struct Observed<O>(pub O);

/// Its tally.
#[derive(Debug)]
pub struct ObservedTally<O: Observer>(Sum<PureDp>, O);

impl<O: Observer> Clone for ObservedTally<O> {
    fn clone(&self) -> Self {
        self.1.told(Event::Clone);
        Self(self.0.clone(), self.1.clone())
    }
}

impl<O: Observer> Drop for ObservedTally<O> {
    fn drop(&mut self) {
        self.1.told(Event::Drop);
    }
}

impl<O: Observer> PartialEq for ObservedTally<O> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<O: Observer> Tally for ObservedTally<O> {
    type Loss = Epsilon;

    fn absorb(&mut self, loss: &Epsilon, n: u64) {
        self.1.told(Event::Absorb);
        self.0.absorb(loss, n);
    }

    fn merge(&mut self, other: &Self) {
        self.1.told(Event::Merge);
        self.0.merge(&other.0);
    }

    fn join(&mut self, other: &Self) {
        self.1.told(Event::Join);
        self.0.join(&other.0);
    }
}

impl<O: Observer> Rule for Observed<O> {
    type Child = PureDp;
    type Total = PureDp;
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> PureDp {
        PureDp
    }

    fn name(&self) -> Option<Name> {
        Some(Name::new("observed"))
    }
}

impl<O: Observer> Tallied for Observed<O> {
    type Tally = ObservedTally<O>;

    fn start(&self) -> ObservedTally<O> {
        ObservedTally(BASIC.start(), self.0.clone())
    }
}

impl<O: Observer> Adaptive for Observed<O> {
    fn loss(&self, tally: &ObservedTally<O>) -> Total<TotalLoss<Self>> {
        self.0.told(Event::Loss);
        BASIC.loss(&tally.0)
    }

    fn within(&self, tally: &ObservedTally<O>, limit: &Epsilon) -> bool {
        self.0.told_of_limit(limit);
        BASIC.within(&tally.0, limit)
    }
}
