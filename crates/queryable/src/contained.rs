//! Machines whose destructors are contained.
//!
//! A destructor sees the state, so it is code that sees data: it may ask nobody, or dropping the last handle would let
//! a machine tell its secret to another one. It is foreign code, too: its panic must not reach whoever drops the handle
//! (perhaps another machine's step, perhaps while it unwinds), and a chain of machines that hold one another's handles
//! must not be dropped by recursion, because an analyst could build one that overflows the stack.

use std::{
    cell::RefCell,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    error::AskError, lineage::Running, machine::Machine, scope::Scope, sync::thread_local,
};

/// A machine, until it is dropped.
pub(crate) struct Contained<M: Machine + 'static>(Option<M>);

impl<M: Machine + 'static> Contained<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self(Some(machine))
    }
}

impl<M: Machine + 'static> Machine for Contained<M> {
    type Query = M::Query;
    type Answer = M::Answer;

    #[inline]
    fn step(&mut self, query: M::Query, scope: &mut Scope<'_>) -> Result<M::Answer, AskError> {
        match &mut self.0 {
            Some(machine) => machine.step(query, scope),
            None => Err(AskError::Halted),
        }
    }
}

impl<M: Machine + 'static> Drop for Contained<M> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<M>()
            && let Some(machine) = self.0.take()
        {
            drop_contained(machine);
        }
    }
}

/// The states that wait for the destructor that runs on this thread to end; none if none runs.
type Waiting = Option<Vec<Box<dyn Send>>>;

thread_local! {
    static WAITING: RefCell<Waiting> = const { RefCell::new(None) };
}

fn drop_contained<M: Send + 'static>(machine: M) {
    let mut machine = Some(machine);
    let postpone = |waiting: &RefCell<Waiting>| match &mut *waiting.borrow_mut() {
        Some(states) => states.push(Box::new(machine.take())),
        none => *none = Some(Vec::new()),
    };
    // While a thread ends there may be nowhere to wait.
    let _ = WAITING.try_with(postpone);
    let Some(machine) = machine else { return };
    let _running = Running::bystander();
    drop_caught(machine);
    while let Some(state) = next_waiting() {
        drop_caught(state);
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

fn drop_caught(state: impl Send) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(state))) {
        // Its destructor may panic again.
        mem::forget(payload);
    }
}
