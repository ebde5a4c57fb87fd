//! OpenDP does not know our queryables, so its sequential compositors cannot lock them: after the parent has moved on, a
//! child of ours would go on answering. The canary is an OpenDP queryable born beside it. OpenDP wraps that one, at birth,
//! with the checks of every compositor above.
//!
//! What is exported is spawned in a root under a [`Perch`], which stands for the canary in the leases of everything below,
//! whoever holds the handle. Every step asks the canary first, and runs inside of a wrapper that makes whatever OpenDP
//! spawns meanwhile ask it, too. A canary is bound to its thread: elsewhere the answer is a refusal.

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

/// Tells whether OpenDP's compositors above would still answer: an odometer without data, whose loss is asked.
#[derive(Clone)]
pub(crate) struct Canary(OdometerQueryable<Nothing, (), u32, f64>);

impl Canary {
    /// A canary under the compositors that are at work now: to be called in the function of an OpenDP measurement.
    pub(crate) fn hatch() -> Fallible<Self> {
        let (domain, metric) = (AtomDomain::default(), DiscreteDistance);
        make_fully_adaptive_composition(domain, metric, Pure)?
            .invoke(&false)
            .map(Self)
    }

    /// Does every compositor above agree?
    fn sing(&self) -> Fallible<()> {
        self.0.clone().privacy_loss(0).map(drop)
    }
}

/// The place of a canary, for leases: it crosses threads, the canary does not.
pub(crate) struct Perch {
    /// Never used again.
    number: u64,
    /// Where the canary's thread looks for perches that are gone.
    gone: Gone,
}

type Gone = Arc<Mutex<Vec<u64>>>;

thread_local! {
    static AVIARY: RefCell<Aviary> = RefCell::default();
}

/// The canaries of a thread.
#[derive(Default)]
struct Aviary {
    canaries: HashMap<u64, Canary>,
    gone: Gone,
}

impl Aviary {
    /// Those whose perch is gone.
    fn lost(&mut self) -> Vec<Canary> {
        let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
        gone.iter()
            .filter_map(|number| self.canaries.remove(number))
            .collect()
    }
}

impl Perch {
    /// A perch for a canary of this thread, under the compositors that are at work now.
    pub(crate) fn hatch() -> Fallible<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        sweep();
        let canary = Canary::hatch()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let perched = AVIARY.try_with(|aviary| {
            let mut aviary = aviary.borrow_mut();
            aviary.canaries.insert(number, canary);
            Arc::clone(&aviary.gone)
        });
        // On a thread that is being torn down there is no aviary any more, and nobody will answer.
        let gone = perched.unwrap_or_default();
        Ok(Self { number, gone })
    }

    fn canary(&self) -> Result<Canary, AskError> {
        AVIARY
            .try_with(|aviary| aviary.borrow().canaries.get(&self.number).cloned())
            .ok()
            .flatten()
            .ok_or(AskError::WrongThread)
    }
}

impl Outside for Perch {
    fn within(&self, step: &mut dyn FnMut()) -> Result<(), AskError> {
        let canary = self.canary()?;
        match framed(|| canary.sing()) {
            Ok(Ok(())) => {}
            _ => return Err(AskError::OutOfTurn),
        }
        let hook = move || canary.sing();
        wrapped(Wrapper::new_recursive_pre_hook(hook), step);
        Ok(())
    }
}

/// The last machine is gone, and the canary goes, too: on its own thread, and never inside of a step, because it holds
/// somebody's compositors, and with them foreign destructors.
impl Drop for Perch {
    fn drop(&mut self) {
        self.gone
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.number);
        if !inside_step() {
            sweep();
        }
    }
}

/// Lets go of this thread's canaries whose perch is gone.
fn sweep() {
    let lost = AVIARY.try_with(|aviary| aviary.borrow_mut().lost());
    // Foreign destructors run here, when the aviary is not borrowed any more.
    let _ = guarded(|| drop(lost));
}
