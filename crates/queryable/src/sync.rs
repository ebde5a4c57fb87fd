//! The synchronization primitives of this crate: the standard library's, or a model checker's under `cfg(model)`
//! (see `crates/queryable-model`). `Arc` is always the standard one.

use std::sync::atomic::AtomicUsize;

#[cfg(not(model))]
pub(crate) use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread_local,
};

#[cfg(model)]
pub(crate) use shuttle::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread_local,
};

/// Locks; a panic under the lock does not make it unusable (what a panic may leave behind is dealt with by its owner).
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is in a mutex that nobody else has; as [`lock`].
pub(crate) fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// A number that tells this thread from most others.
pub(crate) fn thread_index() -> usize {
    /// Numbers threads apart; nothing else depends on it.
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static INDEX: usize = THREADS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    INDEX.try_with(|index| *index).unwrap_or(0)
}
