//! A running machine: its state under a lock, and what every handle may know without the lock.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    error::AskError,
    lineage::{Position, Running},
    machine::Machine,
    scope::{Context, Scope},
    sync::{Mutex, lock},
    turn::Lease,
};

pub(crate) struct Cell<M: ?Sized> {
    position: Position,
    lease: Lease,
    slot: Mutex<Slot<M>>,
}

struct Slot<M: ?Sized> {
    status: Status,
    context: Context,
    machine: M,
}

/// May the machine still be asked?
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Status {
    Running,
    Halted,
    Panicked,
}

impl<M> Cell<M> {
    pub(crate) fn new(machine: M, context: Context) -> Self {
        Self {
            position: context.position().clone(),
            lease: context.lease().clone(),
            slot: Mutex::new(Slot {
                status: Status::Running,
                context,
                machine,
            }),
        }
    }
}

impl<Q, A> Cell<dyn Machine<Query = Q, Answer = A>> {
    /// Asks, if the code that runs on this thread may.
    #[inline]
    pub(crate) fn ask(&self, query: Q) -> Result<A, AskError> {
        self.position.check_reachable()?;
        self.ask_unchecked(query)
    }

    /// Asks on behalf of code that was checked when it got hold of the machine.
    #[inline]
    pub(crate) fn ask_unchecked(&self, query: Q) -> Result<A, AskError> {
        let mut slot = lock(&self.slot);
        match slot.status {
            Status::Running => {}
            Status::Halted => return Err(AskError::Halted),
            Status::Panicked => return Err(AskError::Panicked),
        }
        // Checked under the lock: whoever waited for it may have lost the turn meanwhile.
        self.lease.check()?;
        slot.step(query)
    }

    pub(crate) fn halt(&self) -> Result<(), AskError> {
        self.position.check_reachable()?;
        let mut slot = lock(&self.slot);
        if slot.status == Status::Running {
            slot.status = Status::Halted;
        }
        Ok(())
    }
}

impl<M: ?Sized> Cell<M> {
    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }
}

impl<Q, A> Slot<dyn Machine<Query = Q, Answer = A>> {
    #[inline]
    fn step(&mut self, query: Q) -> Result<A, AskError> {
        let Self {
            status,
            context,
            machine,
        } = self;
        let (outcome, after) = run(context, |scope| machine.step(query, scope));
        *status = after;
        outcome
    }
}

/// Runs foreign code as a step: in its own scope, noted on this thread, a panic caught. Also says how the machine is
/// afterwards.
#[inline]
pub(crate) fn run<R>(
    context: &mut Context,
    step: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
) -> (Result<R, AskError>, Status) {
    let running = match Running::step(context.lineage()) {
        Ok(running) => running,
        Err(too_deep) => return (Err(too_deep), Status::Running),
    };
    let mut scope = Scope::new(context);
    let outcome = catch_unwind(AssertUnwindSafe(|| step(&mut scope)));
    drop(running);
    match outcome {
        Ok(outcome) => {
            let halts = scope.finish(outcome.is_ok());
            (
                outcome,
                if halts {
                    Status::Halted
                } else {
                    Status::Running
                },
            )
        }
        Err(payload) => {
            // The payload is foreign: its destructor may panic again, or block, while this machine is locked.
            mem::forget(payload);
            (Err(AskError::Panicked), Status::Panicked)
        }
    }
}
