//! Contained destructors: of machines' states, and of what panics carry.
//!
//! A destructor sees the state, so it is code that sees data: it may ask nobody, or dropping the last handle would let
//! a machine tell its secret to another one. It is foreign code, too: its panic must not reach whoever drops the handle
//! (perhaps another machine's step, perhaps while it unwinds), and a chain of machines that hold one another's handles
//! must not be dropped by recursion, because an analyst could build one that overflows the stack.
//!
//! The same holds for the payload of a panic that was caught. It is dropped, or an analyst could fill the memory with
//! them, and it is dropped when the lock under which the code panicked has been released.

use std::{any::Any, cell::RefCell, mem};

use crate::{running::guarded, sync::thread_local};

/// How many destructors of payloads may panic one after the other, each with the next payload. What comes then is
/// forgotten, or it might never end.
const MOST_PANICS: u16 = 256;

/// What a caught panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// What waits for the destructor that runs on this thread to end.
#[derive(Default)]
struct Waiting {
    values: Vec<(Box<dyn Send>, u16)>,
    /// How many destructors panicked to bring about the value that is being dropped.
    panics: u16,
}

thread_local! {
    /// None if no destructor runs.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// Drops a machine now, or when the destructor that runs on this thread ends.
pub(crate) fn drop_contained<M: Send + 'static>(machine: M) {
    drop_after(machine, 0);
}

/// Drops what a caught panic carries: contained as a machine's destructor is, so it may ask nothing, and its own panic is
/// caught. For code that catches panics by itself; it must have released its locks before.
///
/// ```
/// let caught = std::panic::catch_unwind(|| panic!("a message of a megabyte"));
/// if let Err(payload) = caught {
///     odometry::queryable::discard(payload);
/// }
/// ```
#[cold]
pub fn discard(payload: Box<dyn Any + Send>) {
    drop_after(payload, 1);
}

/// What a step's panic carried, if it panicked; discarded with this. Made before the lock is taken, so that it is dropped
/// after the lock is released.
#[derive(Default)]
pub(crate) struct Caught(pub(crate) Option<Payload>);

impl Drop for Caught {
    #[inline]
    fn drop(&mut self) {
        if let Some(payload) = self.0.take() {
            discard(payload);
        }
    }
}

/// Drops a value now, or when the destructor that runs on this thread ends; `panics` more destructors panicked to bring
/// it about.
fn drop_after<T: Send + 'static>(value: T, panics: u16) {
    let mut value = Some(value);
    let postpone = |waiting: &RefCell<Option<Waiting>>| match &mut *waiting.borrow_mut() {
        Some(waiting) => {
            let panics = waiting.panics + panics;
            if panics > MOST_PANICS {
                mem::forget(value.take());
            } else {
                waiting.values.push((Box::new(value.take()), panics));
            }
        }
        none => {
            *none = Some(Waiting {
                values: Vec::new(),
                panics,
            });
        }
    };
    if WAITING.try_with(postpone).is_err() && panics > 0 {
        // The thread ends, and there is nowhere to wait and nothing to count in.
        mem::forget(value.take());
    }
    let Some(value) = value else { return };
    drop_guarded(value);
    while let Some(value) = next_waiting() {
        drop_guarded(value);
    }
}

fn next_waiting() -> Option<Box<dyn Send>> {
    let next = |waiting: &RefCell<Option<Waiting>>| {
        let mut waiting = waiting.borrow_mut();
        let next = waiting.as_mut().and_then(|waiting| {
            let (value, panics) = waiting.values.pop()?;
            waiting.panics = panics;
            Some(value)
        });
        if next.is_none() {
            *waiting = None;
        }
        next
    };
    WAITING.try_with(next).ok().flatten()
}

fn drop_guarded(value: impl Send) {
    // Nobody is there to be told of a panic; the process's hook was. What it carries waits for its turn.
    let _ = guarded(|| drop(value));
}
