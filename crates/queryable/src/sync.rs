//! The synchronization primitives of this crate: the standard library's, or a model checker's under `cfg(model)`
//! (see `crates/queryable-model`). `Arc` is always the standard one.

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
