//! Lease tokens, by which our machines keep to the turns of OpenDP's sequential compositors.
//!
//! OpenDP cannot lock our queryables: without a token, a child of ours would go on answering after its parent has moved on.
//! So each export makes a [`TurnProbe`], an OpenDP queryable that answers only while every compositor above would. OpenDP
//! adds their checks to the probe when it is made.
//!
//! A probe is bound to its thread, so it stays in a list there. The exported machine is spawned in a root under a
//! [`LeaseToken`], a number that is `Send`, and all machines below inherit the token in their leases. Each step asks the
//! probe first. The step runs inside of a wrapper, so OpenDP's queryables that are made in it ask the probe, too. On
//! other threads, and if the probe refuses, the step is refused.

use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use opendp::{
    combinators::make_fully_adaptive_composition,
    core::{Measurement, OdometerQueryable},
    domains::AtomDomain,
    error::Fallible,
    interactive::Wrapper,
    metrics::DiscreteDistance,
};
use queryable::{AskError, Outside, guarded, inside_step};

use crate::{
    frame::{framed, wrapped},
    measures::theirs::Pure,
};

type Nothing = Measurement<AtomDomain<bool>, DiscreteDistance, Pure, ()>;

/// An OpenDP queryable that answers only while all of OpenDP's compositors above would: an odometer without data, which is
/// asked for its loss.
#[derive(Clone)]
pub(crate) struct TurnProbe(OdometerQueryable<Nothing, (), u32, f64>);

impl TurnProbe {
    /// A probe under the compositors that are running now. Call it in the function of an OpenDP measurement.
    pub(crate) fn new() -> Fallible<Self> {
        let (domain, metric) = (AtomDomain::default(), DiscreteDistance);
        make_fully_adaptive_composition(domain, metric, Pure)?
            .invoke(&false)
            .map(Self)
    }

    /// An error if a compositor above would not answer.
    fn check(&self) -> Fallible<()> {
        self.0.clone().privacy_loss(0).map(drop)
    }
}

/// The number of a probe, for leases. It is `Send`; the probe is not.
pub(crate) struct LeaseToken {
    /// Never used again.
    number: u64,
    /// Shared with the thread of the probe.
    dropped: DroppedTokens,
}

/// The numbers of tokens that were dropped, and whose probes were not yet.
type DroppedTokens = Arc<Mutex<Vec<u64>>>;

thread_local! {
    static PROBES: RefCell<Probes> = RefCell::default();
}

/// The probes of a thread.
#[derive(Default)]
struct Probes {
    by_number: HashMap<u64, TurnProbe>,
    dropped: DroppedTokens,
}

impl Probes {
    /// Removes the probes whose token was dropped.
    fn take_unused(&mut self) -> Vec<TurnProbe> {
        let dropped =
            std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        dropped
            .iter()
            .filter_map(|number| self.by_number.remove(number))
            .collect()
    }
}

impl LeaseToken {
    /// A token for a new probe on this thread, under the compositors that are running now.
    pub(crate) fn new() -> Fallible<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        drop_unused_probes();
        let probe = TurnProbe::new()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let stored = PROBES.try_with(|probes| {
            let mut probes = probes.borrow_mut();
            probes.by_number.insert(number, probe);
            Arc::clone(&probes.dropped)
        });
        // A thread that is being torn down has no list any more: then every step is refused.
        let dropped = stored.unwrap_or_default();
        Ok(Self { number, dropped })
    }

    fn probe(&self) -> Result<TurnProbe, AskError> {
        PROBES
            .try_with(|probes| probes.borrow().by_number.get(&self.number).cloned())
            .ok()
            .flatten()
            .ok_or(AskError::WrongThread)
    }
}

impl Outside for LeaseToken {
    fn within(&self, step: &mut dyn FnMut()) -> Result<(), AskError> {
        let probe = self.probe()?;
        match framed(|| probe.check()) {
            Ok(Ok(())) => {}
            _ => return Err(AskError::OutOfTurn),
        }
        let hook = move || probe.check();
        wrapped(Wrapper::new_recursive_pre_hook(hook), step);
        Ok(())
    }
}

/// The last machine was dropped, so its probe can be dropped, too: on the thread of the probe, and never inside of a step,
/// because the probe holds OpenDP's compositors, whose destructors are user-supplied code.
impl Drop for LeaseToken {
    fn drop(&mut self) {
        self.dropped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.number);
        if !inside_step() {
            drop_unused_probes();
        }
    }
}

/// Drops the probes of this thread whose token was dropped.
fn drop_unused_probes() {
    let unused = PROBES.try_with(|probes| probes.borrow_mut().take_unused());
    // User-supplied destructors run here, where the list is not borrowed.
    let _ = guarded(|| drop(unused));
}
