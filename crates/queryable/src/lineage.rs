//! Who spawned whom, and whose step is running on this thread.
//!
//! Code that sees data may ask only machines below its own. A step cannot be handed a
//! capability for that, because a closure may capture any handle; so a thread-local notes whose step is running, and
//! every ask checks it. The note only ever *refuses*: nothing is inherited through it.

use std::{
    any::Any,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use fork_count::Process;

use crate::{coins::Source, contained::discard, error::AskError, sync::thread_local};

/// How deep machines may be nested: spawned by one another, or post-processing one another. One more is how many steps
/// may run inside one another, whatever asks whom.
pub const MAX_DEPTH: u16 = 256;

/// A machine or a root as its descendants know it.
pub(crate) struct Lineage {
    /// What stands above it; above a root, that is a machine.
    parent: Option<Arc<Lineage>>,
    is_root: bool,
    /// What its children's coins come from.
    source: Source,
    /// A root's values, with those of the roots above.
    carried: Option<Carried>,
    /// Is it a post-processor's? Then nothing below finds what is carried above.
    is_postprocessor: bool,
}

/// Values that everything below a root finds by their types: of each type, the one of the nearest root.
type Carried = Arc<[Arc<dyn Any + Send + Sync>]>;

/// The place of a machine, a function or a root in the tree: who stands above it, and how deep it is.
#[derive(Clone)]
pub(crate) struct Position {
    /// A root stands below itself.
    spawner: Arc<Lineage>,
    depth: u16,
    /// Where the root above was made: no other process may use anything below it.
    process: Process,
    /// Are answers withheld that were not complete in time?
    withholds: bool,
    /// Does a post-processor stand here?
    is_postprocessor: bool,
}

impl Position {
    /// Where a root on the analyst's side and its children stand: below nobody else.
    pub(crate) fn top(source: Source) -> Self {
        Self {
            spawner: Arc::new(Lineage {
                parent: None,
                is_root: true,
                source,
                carried: None,
                is_postprocessor: false,
            }),
            depth: 0,
            process: Process::current(),
            withholds: false,
            is_postprocessor: false,
        }
    }

    /// Where another root and its children stand that is made here: below the same machine.
    pub(crate) fn root(&self, source: Source) -> Self {
        self.root_with(source, self.all_carried().cloned())
    }

    /// Where another root stands that carries this value, too.
    pub(crate) fn carrying<T: Any + Send + Sync>(&self, source: Source, value: T) -> Self {
        let above = self.all_carried().into_iter().flat_map(|all| all.iter());
        let others = above.filter(|value| !value.is::<T>()).cloned();
        let value: Arc<dyn Any + Send + Sync> = Arc::new(value);
        self.root_with(source, Some(others.chain([value]).collect()))
    }

    fn root_with(&self, source: Source, carried: Option<Carried>) -> Self {
        Self {
            spawner: Arc::new(Lineage {
                parent: self.machine().cloned(),
                is_root: true,
                source,
                carried,
                is_postprocessor: false,
            }),
            depth: self.depth,
            process: self.process,
            withholds: self.withholds,
            is_postprocessor: false,
        }
    }

    /// Here and below, answers are withheld that were not complete in time.
    pub(crate) fn withholding(self) -> Self {
        Self {
            withholds: true,
            ..self
        }
    }

    #[inline]
    pub(crate) fn withholds(&self) -> bool {
        self.withholds
    }

    /// What the coins of whatever stands here come from.
    #[inline]
    pub(crate) fn source(&self) -> &Source {
        &self.spawner.source
    }

    /// The closest machine above.
    fn machine(&self) -> Option<&Arc<Lineage>> {
        if self.spawner.is_root {
            self.spawner.parent.as_ref()
        } else {
            Some(&self.spawner)
        }
    }

    /// The lineage under which a machine that stands here spawns.
    pub(crate) fn lineage(&self, source: Source) -> Arc<Lineage> {
        Arc::new(Lineage {
            parent: Some(Arc::clone(&self.spawner)),
            is_root: false,
            source,
            carried: None,
            is_postprocessor: self.is_postprocessor,
        })
    }

    /// The value of this type that the nearest root above carries.
    pub(crate) fn carried<T: Any>(&self) -> Option<&T> {
        self.all_carried()?
            .iter()
            .find_map(|value| value.downcast_ref())
    }

    /// What the nearest root above carries, unless there is a post-processor before it.
    fn all_carried(&self) -> Option<&Carried> {
        let (mut above, mut is_postprocessor) = (&self.spawner, self.is_postprocessor);
        while !is_postprocessor {
            if above.is_root {
                return above.carried.as_ref();
            }
            is_postprocessor = above.is_postprocessor;
            above = above.parent.as_ref()?;
        }
        None
    }

    /// One level down, below `lineage`.
    pub(crate) fn below(&self, lineage: &Arc<Lineage>) -> Result<Self, AskError> {
        Ok(Self {
            spawner: Arc::clone(lineage),
            depth: self.deeper(self.depth)?,
            process: self.process,
            withholds: self.withholds,
            is_postprocessor: false,
        })
    }

    /// Here, and deeper than both this place and `inner`: where a post-processor stands that wraps `inner`.
    ///
    /// Whoever may ask something that stands here can reach `inner` through it. So `inner` must be below the same
    /// machine: this keeps steps from reaching strangers, and locks from being taken in a circle.
    pub(crate) fn in_front_of(&self, inner: &Position) -> Result<Self, AskError> {
        inner.check_process()?;
        if let Some(machine) = self.machine()
            && !inner.is_below(address(machine))
        {
            return Err(AskError::NotSpawnedHere);
        }
        Ok(Self {
            spawner: self.spawner.clone(),
            depth: self.deeper(inner.depth)?,
            process: self.process,
            withholds: self.withholds,
            is_postprocessor: true,
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
    /// strictly below its own machine; a destructor or other guarded code, nothing. Returns who asks.
    #[inline]
    pub(crate) fn check_reachable(&self) -> Result<Asker, AskError> {
        self.check_process()?;
        let Now { who, asker, .. } = now();
        if who == ANALYST || self.is_below(who) {
            Ok(asker)
        } else {
            Err(AskError::NotSpawnedHere)
        }
    }

    /// Does what stands here belong to this process? Asked before anything is locked: in a forked process, the thread
    /// that would have unlocked it may be gone.
    #[inline]
    pub(crate) fn check_process(&self) -> Result<(), AskError> {
        if self.process.is_current() {
            Ok(())
        } else {
            Err(AskError::Forked)
        }
    }

    /// Is the machine with this lineage above? (Steps are machines': no root is ever asked for.)
    fn is_below(&self, lineage: usize) -> bool {
        let mut above = Some(&self.spawner);
        while let Some(spawner) = above {
            if address(spawner) == lineage {
                return true;
            }
            above = spawner.parent.as_ref();
        }
        false
    }
}

fn address(lineage: &Arc<Lineage>) -> usize {
    Arc::as_ptr(lineage).addr()
}

/// What runs on a thread.
#[derive(Clone, Copy)]
struct Now {
    /// Whose step it is: the address of its lineage, or one of the constants below. While the step runs its machine
    /// keeps the lineage alive, so the address cannot be taken by another.
    who: usize,
    /// How many steps run inside one another.
    steps: u16,
    asker: Asker,
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
        now().asker
    }
}

const ANALYST: usize = 0;
// No allocation lives at these addresses.
/// A step of a machine that has spawned nothing yet.
const CHILDLESS: usize = 1;
/// A machine's destructor, or other guarded code.
const OUTCAST: usize = 2;

thread_local! {
    static NOW: Cell<Now> = const { Cell::new(Now { who: ANALYST, steps: 0, asker: Asker::ANALYST }) };
}

fn now() -> Now {
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
/// What only the analyst's side may do (launch into a session it opened, for one) asks this first.
///
/// [`Root::run`]: crate::Root::run
pub fn inside_step() -> bool {
    now().who != ANALYST
}

/// Runs foreign code that may ask nothing and spawn nothing (a privacy map, for one); a panic is caught, and what it
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
            if before.steps > MAX_DEPTH {
                return Err(AskError::TooDeep { limit: MAX_DEPTH });
            }
            let steps = before.steps + 1;
            now.set(Now { who, steps, asker });
            Ok(Self { before })
        })
    }

    /// Foreign code that has nobody to ask.
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
