//! The synchronization primitives of this crate: the standard library's, or a model checker's under `cfg(model)`
//! (see `crates/odometer-model`).

#[cfg(not(model))]
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(model)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. A panic under the lock does not make it unusable: whatever is changed under it is changed after everything
/// that can panic, or put back.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
