//! The code that runs on a thread: the analyst's, a step of a machine, or other foreign code.
//!
//! Every ask checks it. It only ever *refuses*: nothing is inherited through it.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    contained::discard,
    error::AskError,
    lineage::{Lineage, MAX_DEPTH, address},
    sync::thread_local,
};

/// What runs on a thread.
#[derive(Clone, Copy)]
pub(crate) struct Now {
    /// Whose step it is: the address of its lineage, or one of the constants below. While the step runs its machine
    /// keeps the lineage alive, so the address cannot be taken by another.
    pub(crate) who: usize,
    pub(crate) depth: Depth,
}

/// How many steps run inside one another, and how many meters the innermost has. One number, because reading two at once
/// that were written one after the other stalls a processor.
#[derive(Clone, Copy)]
pub(crate) struct Depth(u32);

impl Depth {
    const ANALYST: Self = Self(0);

    #[inline]
    fn steps(self) -> u16 {
        (self.0 >> 16) as u16
    }

    #[inline]
    pub(crate) fn asker(self) -> Asker {
        let meters = self.0 as u16;
        Asker { meters }
    }

    /// The same depth, for code that is part of no launch.
    #[inline]
    fn counted(self) -> Self {
        Self(u32::from(self.steps()) << 16 | u32::from(Asker::ANALYST.meters))
    }

    /// One step further, by this code.
    #[inline]
    fn deeper(self, asker: Asker) -> Self {
        Self((u32::from(self.steps()) + 1) << 16 | u32::from(asker.meters))
    }
}

/// Code that asks, as meters see it: the launches that it is part of.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    /// The number of their meters. A step may ask only what is below its machine, and that has the same meters first,
    /// counted from the root: so the number identifies them.
    pub(crate) meters: u16,
}

impl Asker {
    /// Code that is part of no launch: the analyst's.
    pub(crate) const ANALYST: Self = Self { meters: 0 };

    /// The code that runs on this thread.
    pub(crate) fn now() -> Self {
        now().depth.asker()
    }
}

pub(crate) const ANALYST: usize = 0;
// No allocation lives at these addresses.
/// A step of a machine that has spawned nothing yet.
const CHILDLESS: usize = 1;
/// A machine's destructor, or other guarded code.
const OUTCAST: usize = 2;

thread_local! {
    static NOW: Cell<Now> = const { Cell::new(Now { who: ANALYST, depth: Depth::ANALYST }) };
}

pub(crate) fn now() -> Now {
    NOW.with(Cell::get)
}

/// Is the analyst's side running on this thread?
pub(crate) fn check_analyst() -> Result<(), AskError> {
    if inside_step() {
        return Err(AskError::NotSpawnedHere);
    }
    Ok(())
}

/// Is code that sees data running on this thread: a machine's step or destructor, or a function under [`Root::run`]?
///
/// What only the analyst's side may do (such as to launch into a session that it opened) asks this first.
///
/// [`Root::run`]: crate::Root::run
pub fn inside_step() -> bool {
    now().who != ANALYST
}

/// Runs foreign code that may ask nothing and spawn nothing (such as a privacy map); a panic is caught, and what it
/// carries is dropped like a machine's state: it may ask nothing either, and its own panic is caught. So whatever lock the
/// foreign code runs under, take it inside.
///
/// ```
/// use odometry::queryable::{AskError, guarded};
/// assert_eq!(guarded(|| 2 + 2), Ok(4));
/// assert_eq!(guarded(|| -> u8 { panic!("a map's author was careless") }), Err(AskError::Panicked));
/// ```
///
/// # Errors
/// [`AskError::Panicked`].
#[inline]
pub fn guarded<R>(foreign: impl FnOnce() -> R) -> Result<R, AskError> {
    let running = Running::outcast();
    let outcome = catch_unwind(AssertUnwindSafe(foreign));
    drop(running);
    outcome.map_err(|payload| {
        discard(payload);
        AskError::Panicked
    })
}

/// Runs an analyst's post-processing, perhaps inside a step: it may ask only what the step may ask, and meters count its asks as
/// the analyst's, also those of post-processors that it builds.
#[inline]
pub fn counted_as_analyst<R>(processing: impl FnOnce() -> R) -> R {
    let _running = Running::counted();
    processing()
}

/// Notes that a step or other foreign code runs, until dropped.
pub(crate) struct Running {
    before: Now,
}

impl Running {
    /// A step of the machine with this lineage.
    #[inline]
    pub(crate) fn step(own: &Option<Arc<Lineage>>, asker: Asker) -> Result<Self, AskError> {
        let who = own.as_ref().map_or(CHILDLESS, address);
        NOW.with(|now| {
            let before = now.get();
            if before.depth.steps() > MAX_DEPTH {
                return Err(AskError::TooDeep { limit: MAX_DEPTH });
            }
            let depth = before.depth.deeper(asker);
            now.set(Now { who, depth });
            Ok(Self { before })
        })
    }

    /// User-supplied code that may ask no machine.
    #[inline]
    fn outcast() -> Self {
        NOW.with(|now| {
            let before = now.get();
            now.set(Now {
                who: OUTCAST,
                ..before
            });
            Self { before }
        })
    }

    /// The running code, which is part of no launch.
    #[inline]
    fn counted() -> Self {
        NOW.with(|now| {
            let before = now.get();
            let depth = before.depth.counted();
            now.set(Now { depth, ..before });
            Self { before }
        })
    }

    /// The running step has just got its lineage, because it spawns for the first time.
    pub(crate) fn becomes_parent(own: &Arc<Lineage>) {
        NOW.with(|now| {
            let before = now.get();
            if before.who == CHILDLESS {
                now.set(Now {
                    who: address(own),
                    ..before
                });
            }
        });
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        NOW.with(|now| now.set(self.before));
    }
}
