//! The locks and threads of this crate: the standard library's, or a model checker's under `cfg(model)`
//! (see `crates/ledger-model`).

use std::time::Duration;
#[cfg(not(model))]
use std::time::Instant;

#[cfg(not(model))]
pub(crate) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

#[cfg(model)]
pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How long a thread waits.
pub(crate) struct Limit(#[cfg(not(model))] Option<Instant>, #[cfg(model)] bool);

/// A thread that sleeps until it is woken.
#[cfg(not(model))]
#[derive(Clone)]
pub(crate) struct Sleeper(thread::Thread);

#[cfg(not(model))]
impl Limit {
    pub(crate) const NONE: Self = Self(None);

    /// This long from now. A time that no clock shows is none.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.0.is_some_and(|end| end <= Instant::now())
    }
}

#[cfg(not(model))]
impl Sleeper {
    pub(crate) fn current() -> Self {
        Self(thread::current())
    }

    pub(crate) fn wake(self) {
        self.0.unpark();
    }

    /// Sleeps until it is woken, or until the limit has passed, or for no reason.
    pub(crate) fn sleep(&self, limit: &Limit) {
        match limit.0 {
            Some(end) => thread::park_timeout(end.saturating_duration_since(Instant::now())),
            None => thread::park(),
        }
    }
}

/// A flag: the model checker's `park` returns for no reason, which would hide a thread that is never woken.
#[cfg(model)]
#[derive(Clone)]
pub(crate) struct Sleeper(Arc<(Mutex<bool>, Condvar)>);

/// The model checker has no clock: a limit passes at any moment.
#[cfg(model)]
impl Limit {
    pub(crate) const NONE: Self = Self(false);

    pub(crate) fn after(_: Duration) -> Self {
        Self(true)
    }

    pub(crate) fn has_passed(&self) -> bool {
        use shuttle::rand::Rng as _;
        self.0 && shuttle::rand::thread_rng().gen_bool(0.5)
    }
}

#[cfg(model)]
impl Sleeper {
    pub(crate) fn current() -> Self {
        Self(Arc::new((Mutex::new(false), Condvar::new())))
    }

    pub(crate) fn wake(self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_one();
    }

    pub(crate) fn sleep(&self, limit: &Limit) {
        if limit.0 {
            return shuttle::thread::yield_now();
        }
        let mut woken = lock(&self.0.0);
        while !*woken {
            woken = (self.0.1.wait(woken)).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Locks. A panic under the lock does not make it unusable: nothing foreign runs under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
