//! The locks and threads of this crate: the standard library's, or a model checker's under `cfg(model)`
//! (see `crates/ledger-model`).

#[cfg(not(model))]
pub(crate) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, Thread},
};

#[cfg(model)]
pub(crate) use shuttle::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, Thread},
};

/// Locks. A panic under the lock does not make it unusable: nothing foreign runs under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
