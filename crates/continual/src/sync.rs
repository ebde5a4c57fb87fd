//! The synchronization primitives of this crate: the standard library's, or a model checker's under `cfg(model)`
//! (see `crates/continual-model`).

#[cfg(not(model))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

#[cfg(model)]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

/// The number of shards of a map that all writers share, each behind its own lock. (A model checker explores one shard.)
/// A standard map doubles when it is full: with this number, the maps of a million units are nearly full.
pub(crate) const SHARDS: usize = if cfg!(model) { 1 } else { 80 };

/// In cache lines of its own, with the ones that processors fetch together.
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

/// Locks. A panic under the lock does not make it unusable: whatever is changed under it is changed after everything
/// that can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
