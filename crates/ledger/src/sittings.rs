//! Who writes when other processes write, too: threads of this process enter together, settle on the newest state of all
//! processes, and leave; whoever leaves last writes for all, and then others may.
//!
//! Whoever comes first opens the sitting, which takes the turn from other processes. Those who come meanwhile join; those who
//! come later wait for the next, so that each ends soon. Nothing is locked while somebody opens or writes.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

use fork_count::Process;
use odometer::journal::JournalError;

use crate::{
    store::Cause,
    sync::{Arc, Condvar, Mutex, PoisonError, lock},
};

/// The sittings of a process, one after the other.
pub struct Sittings {
    state: Mutex<State>,
    changed: Condvar,
    process: Process,
}

struct State {
    /// Is a sitting being opened, held, or written down?
    busy: bool,
    /// How many are in it.
    inside: usize,
    /// The next one: how its opening went, for all who wait for it.
    next: Arc<OnceLock<Result<(), JournalError>>>,
    waiting: usize,
}

impl Default for Sittings {
    fn default() -> Self {
        Self::new()
    }
}

impl Sittings {
    /// None is held.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State {
                busy: false,
                inside: 0,
                next: Arc::default(),
                waiting: 0,
            }),
            changed: Condvar::new(),
            process: Process::current(),
        }
    }

    /// Enters the next sitting. Whoever finds nobody busy opens it.
    ///
    /// # Errors
    /// What opening it ended in, for all who waited for it.
    pub fn enter(
        &self,
        open: impl FnOnce() -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        if !self.process.is_current() {
            // Whoever was in it is in the other process, and will not leave it here.
            let reason = Cause::Forked.to_string();
            return Err(JournalError::Closed { reason });
        }
        let mut state = lock(&self.state);
        state.waiting += 1;
        let mine = Arc::clone(&state.next);
        while state.busy {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(opened) = mine.get() {
                return opened.clone();
            }
        }
        state.busy = true;
        drop(state);
        let panicked = |payload| {
            mem::forget(payload);
            let reason = Cause::Panicked.to_string();
            Err(JournalError::Closed { reason })
        };
        let opened = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(panicked);
        let mut state = lock(&self.state);
        let joined = mem::take(&mut state.waiting);
        state.next = Arc::default();
        state.busy = opened.is_ok();
        state.inside = if opened.is_ok() { joined } else { 0 };
        let _ = mine.set(opened.clone());
        drop(state);
        self.changed.notify_all();
        opened
    }

    /// Leaves. Whoever is the last writes.
    pub fn leave(&self, write: impl FnOnce()) {
        {
            let mut state = lock(&self.state);
            state.inside -= 1;
            if state.inside > 0 {
                return;
            }
        }
        write();
        lock(&self.state).busy = false;
        self.changed.notify_all();
    }
}
