//! Has this process been forked since?
//!
//! Whatever must not be used on both sides of a `fork` (a generator of random bits, a budget) notes the [`Process`] in
//! which it was made, and asks it before every use. Asking costs an atomic load: the C library calls a handler in every
//! forked child, which counts.
//!
//! ```
//! use fork_count::Process;
//! let made_in = Process::current();
//! assert!(made_in.is_current());
//! ```
//!
//! Not noticed: a process made by a bare `clone` or `vfork` system call, for which the C library runs no handlers (`vfork`
//! and `posix_spawn` children only execute another program), and a virtual machine that is restored or cloned from a
//! snapshot, which no program can see from inside. Where there is no `fork` (not on Unix) nothing is counted.

use std::sync::{
    Once,
    atomic::{AtomicU32, Ordering},
};

/// How many forks there are between this process and the one that registered the handler.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// What [`FORKS`] is if the handler could not be registered (the C library was out of memory): then processes are told
/// apart by their identifiers, at a system call each.
const UNCOUNTED: u32 = u32::MAX;

/// A process, as opposed to those that are forked from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process(u32);

impl Process {
    /// The process that runs this.
    pub fn current() -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            if !register() {
                FORKS.store(UNCOUNTED, Ordering::Relaxed);
            }
        });
        Self(now())
    }

    /// Is it still the process that runs this?
    #[inline]
    pub fn is_current(self) -> bool {
        self.0 == now()
    }
}

#[inline]
fn now() -> u32 {
    // Written between a fork and the first instruction of the child, so there is nothing to be ordered with.
    match FORKS.load(Ordering::Relaxed) {
        UNCOUNTED => identifier(),
        forks => forks,
    }
}

#[cold]
fn identifier() -> u32 {
    std::process::id()
}

/// Called in every forked child. Only what may be done in a signal handler may be done here: an atomic addition.
#[cfg(unix)]
extern "C" fn count() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// From now on, forks are counted; or they cannot be.
#[cfg(unix)]
#[allow(unsafe_code, reason = "there is no safe way to learn of a fork")]
fn register() -> bool {
    // SAFETY: `pthread_atfork` keeps the pointer for as long as this code is loaded, and `count`, a static function, is
    // there as long. It unwinds never, takes no lock and allocates nothing, so it may run between a fork and whatever the
    // child does next, whatever other threads were doing.
    unsafe { libc::pthread_atfork(None, None, Some(count)) == 0 }
}

#[cfg(not(unix))]
fn register() -> bool {
    true
}
