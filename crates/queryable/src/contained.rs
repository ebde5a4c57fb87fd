//! Contained destructors of machines.
//!
//! A destructor sees the state, so it is code that sees data: it may ask nobody, or dropping the last handle would let
//! a machine tell its secret to another one. It is foreign code, too: its panic must not reach whoever drops the handle
//! (perhaps another machine's step, perhaps while it unwinds), and a chain of machines that hold one another's handles
//! must not be dropped by recursion, because an analyst could build one that overflows the stack.

use std::cell::RefCell;

use crate::{lineage::guarded, sync::thread_local};

/// The states that wait for the destructor that runs on this thread to end; none if none runs.
type Waiting = Option<Vec<Box<dyn Send>>>;

thread_local! {
    static WAITING: RefCell<Waiting> = const { RefCell::new(None) };
}

/// Drops a machine now, or when the destructor that runs on this thread ends.
pub(crate) fn drop_contained<M: Send + 'static>(machine: M) {
    let mut machine = Some(machine);
    let postpone = |waiting: &RefCell<Waiting>| match &mut *waiting.borrow_mut() {
        Some(states) => states.push(Box::new(machine.take())),
        none => *none = Some(Vec::new()),
    };
    // While a thread ends there may be nowhere to wait.
    let _ = WAITING.try_with(postpone);
    let Some(machine) = machine else { return };
    drop_guarded(machine);
    while let Some(state) = next_waiting() {
        drop_guarded(state);
    }
}

fn next_waiting() -> Option<Box<dyn Send>> {
    let next = |waiting: &RefCell<Waiting>| {
        let mut waiting = waiting.borrow_mut();
        let next = waiting.as_mut().and_then(Vec::pop);
        if next.is_none() {
            *waiting = None;
        }
        next
    };
    WAITING.try_with(next).ok().flatten()
}

fn drop_guarded(state: impl Send) {
    // Nobody is there to be told of a panic; the process's hook was.
    let _ = guarded(|| drop(state));
}
