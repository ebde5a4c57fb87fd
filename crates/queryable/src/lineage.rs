//! Who spawned whom, and whose step is running on this thread.
//!
//! Code that sees data may ask only machines below its own (the design's invariant 2). A step cannot be handed a
//! capability for that, because a closure may capture any handle; so a thread-local notes whose step is running, and
//! every ask checks it. The note only ever *refuses*: nothing is inherited through it.

use std::{
    cell::Cell,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{error::AskError, sync::thread_local};

/// How deep machines may be nested: spawned by one another, or post-processing one another.
pub const MAX_DEPTH: u16 = 256;

/// A machine as its descendants know it.
pub(crate) struct Lineage {
    parent: Option<Arc<Lineage>>,
}

/// The place of a machine, a function or a root in the tree: who stands above it, and how deep it is.
#[derive(Clone)]
pub(crate) struct Position {
    spawner: Option<Arc<Lineage>>,
    depth: u16,
}

impl Position {
    /// On the analyst's side, below nobody.
    pub(crate) const TOP: Self = Self {
        spawner: None,
        depth: 0,
    };

    /// The lineage under which whatever stands here spawns.
    pub(crate) fn lineage(&self) -> Arc<Lineage> {
        Arc::new(Lineage {
            parent: self.spawner.clone(),
        })
    }

    /// One level down, below `lineage`.
    pub(crate) fn below(&self, lineage: &Arc<Lineage>) -> Result<Self, AskError> {
        Ok(Self {
            spawner: Some(Arc::clone(lineage)),
            depth: self.deeper(self.depth)?,
        })
    }

    /// Here, and deeper than both this place and `other` (a post-processor stands on what it wraps).
    pub(crate) fn above(&self, other: &Position) -> Result<Self, AskError> {
        Ok(Self {
            spawner: self.spawner.clone(),
            depth: self.deeper(other.depth)?,
        })
    }

    fn deeper(&self, other: u16) -> Result<u16, AskError> {
        let depth = self.depth.max(other) + 1;
        if depth > MAX_DEPTH {
            return Err(AskError::TooDeep { limit: MAX_DEPTH });
        }
        Ok(depth)
    }

    /// May the code that runs on this thread use what stands here? The analyst may use everything; a step, what is
    /// strictly below its own machine.
    #[inline]
    pub(crate) fn check_reachable(&self) -> Result<(), AskError> {
        let running = RUNNING.get();
        if running == ANALYST || self.is_below(running) {
            Ok(())
        } else {
            Err(AskError::NotSpawnedHere)
        }
    }

    fn is_below(&self, running: usize) -> bool {
        let mut above = &self.spawner;
        while let Some(lineage) = above {
            if address(lineage) == running {
                return true;
            }
            above = &lineage.parent;
        }
        false
    }
}

const ANALYST: usize = 0;
/// A step of a machine that has spawned nothing yet. No allocation lives at this address.
const CHILDLESS: usize = 1;

thread_local! {
    /// Whose step runs on this thread: the address of its lineage. While the step runs its machine keeps the lineage
    /// alive, so the address cannot be taken by another.
    static RUNNING: Cell<usize> = const { Cell::new(ANALYST) };
}

fn address(lineage: &Arc<Lineage>) -> usize {
    Arc::as_ptr(lineage).addr()
}

/// Is code that sees data running on this thread: a machine's step, or a function under [`Root::run`]?
///
/// What only the analyst's side may do (launch into a session it opened, for one) asks this first.
///
/// [`Root::run`]: crate::Root::run
pub fn inside_step() -> bool {
    RUNNING.get() != ANALYST
}

/// Runs foreign code that may ask nothing and spawn nothing (a privacy map, for one); a panic is caught.
///
/// ```
/// use queryable::{AskError, guarded};
/// assert_eq!(guarded(|| 2 + 2), Ok(4));
/// assert_eq!(guarded(|| -> u8 { panic!("a map's author was careless") }), Err(AskError::Panicked));
/// ```
///
/// # Errors
/// [`AskError::Panicked`].
#[inline]
pub fn guarded<R>(foreign: impl FnOnce() -> R) -> Result<R, AskError> {
    let running = Running::enter(&None);
    let outcome = catch_unwind(AssertUnwindSafe(foreign));
    drop(running);
    outcome.map_err(|payload| {
        // The payload is foreign: its destructor may panic again.
        mem::forget(payload);
        AskError::Panicked
    })
}

/// Notes that a step runs, until dropped.
pub(crate) struct Running {
    before: usize,
}

impl Running {
    #[inline]
    pub(crate) fn enter(own: &Option<Arc<Lineage>>) -> Self {
        let now = own.as_ref().map_or(CHILDLESS, address);
        Self {
            before: RUNNING.replace(now),
        }
    }

    /// The running step has just got its lineage, because it spawns for the first time.
    pub(crate) fn becomes_parent(own: &Arc<Lineage>) {
        if RUNNING.get() == CHILDLESS {
            RUNNING.set(address(own));
        }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        RUNNING.set(self.before);
    }
}
