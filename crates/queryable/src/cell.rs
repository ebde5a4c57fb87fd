//! A running machine: its state under a lock, and what every handle may know without the lock.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    coins::Coins,
    contained::{Caught, drop_contained},
    error::AskError,
    lineage::{Asker, Running, guarded},
    machine::Machine,
    meter::Prepaid,
    scope::{Context, Place, Scope, Terms},
    sync::{Mutex, lock},
    turn::inside,
};

/// `S` is a [`Slot`], as a trait object in a handle.
pub(crate) struct Cell<S: ?Sized> {
    pub(crate) place: Place,
    slot: Mutex<S>,
}

/// The order of the fields keeps neighbours in memory out of each other's cache lines: what every ask touches comes
/// first, and the context, which is longer than a line and hardly touched, lies between it and the next cell.
#[repr(C)]
struct Slot<M: Machine + 'static> {
    status: Status,
    prepaid: Prepaid,
    /// Always there, until it is dropped.
    machine: Option<M>,
    context: Context,
}

/// May the machine still be asked?
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Status {
    Running,
    Halted,
    Panicked,
}

/// What a handle does with a machine of some type, under its lock.
pub(crate) trait Locked<Q, A>: Send {
    /// Takes the query only if it will be asked: a query that is refused is dropped without the lock, because its
    /// destructor may ask this machine. For the same reason what a panic carries is left for the caller to drop.
    fn ask(
        &mut self,
        place: &Place,
        asker: Asker,
        query: &mut Option<Q>,
        caught: &mut Caught,
    ) -> Result<A, AskError>;
    fn halt(&mut self);
}

/// A machine at a place, ready to be asked.
pub(crate) fn cell<M: Machine + 'static>(
    machine: M,
    place: Place,
    coins: Coins,
) -> Cell<impl Locked<M::Query, M::Answer>> {
    Cell {
        place,
        slot: Mutex::new(Slot {
            status: Status::Running,
            prepaid: Prepaid::NONE,
            machine: Some(machine),
            context: Context::new(coins),
        }),
    }
}

impl<Q, A> Cell<dyn Locked<Q, A>> {
    /// Asks, if the code that runs on this thread may.
    #[inline]
    pub(crate) fn ask(&self, query: Q) -> Result<A, AskError> {
        let asker = self.place.position.check_reachable()?;
        self.ask_unchecked(asker, query)
    }

    /// Asks on behalf of code that was checked when it got hold of the machine.
    #[inline]
    pub(crate) fn ask_unchecked(&self, asker: Asker, query: Q) -> Result<A, AskError> {
        // Two paths and not one with a check behind it: an answer that is moved once more costs as much as all the rest.
        match self.place.position.withholds() {
            false => self.ask_now(asker, query),
            true => self.ask_in_time(asker, query),
        }
    }

    #[inline]
    fn ask_now(&self, asker: Asker, query: Q) -> Result<A, AskError> {
        let mut query = Some(query);
        let mut caught = Caught::default();
        lock(&self.slot).ask(&self.place, asker, &mut query, &mut caught)
    }

    /// Asks, and withholds the answer if the turn has passed meanwhile. It was not given, so its destructor is still the
    /// machine's code: it asks nobody.
    #[cold]
    fn ask_in_time(&self, asker: Asker, query: Q) -> Result<A, AskError> {
        let answer = self.ask_now(asker, query);
        match self.place.lease.check() {
            Ok(_) => answer,
            Err(late) => {
                let _ = guarded(|| drop(answer));
                Err(late)
            }
        }
    }

    pub(crate) fn halt(&self) -> Result<(), AskError> {
        self.place.position.check_reachable()?;
        lock(&self.slot).halt();
        Ok(())
    }
}

impl<M: Machine + 'static> Locked<M::Query, M::Answer> for Slot<M> {
    fn ask(
        &mut self,
        place: &Place,
        asker: Asker,
        query: &mut Option<M::Query>,
        caught: &mut Caught,
    ) -> Result<M::Answer, AskError> {
        let machine = match (self.status, &mut self.machine) {
            (Status::Running, Some(machine)) => machine,
            (Status::Panicked, _) => return Err(AskError::Panicked),
            _ => return Err(AskError::Halted),
        };
        // Checked under the lock: whoever waited for it may have lost the turn meanwhile.
        let outside = place.lease.enter(&mut self.prepaid, asker)?;
        let step = |scope: &mut Scope<'_>| match query.take() {
            Some(query) => machine.step(query, scope),
            None => Err(AskError::Halted),
        };
        let (context, status) = (&mut self.context, &mut self.status);
        match outside {
            None => run(place, Terms::Inherited, context, status, caught, step),
            Some(outside) => inside(outside, || {
                run(place, Terms::Inherited, context, status, caught, step)
            }),
        }
    }

    fn halt(&mut self) {
        if self.status == Status::Running {
            self.status = Status::Halted;
        }
    }
}

impl<M: Machine + 'static> Drop for Slot<M> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<M>()
            && let Some(machine) = self.machine.take()
        {
            drop_contained(machine);
        }
    }
}

/// Runs foreign code as a step: in its own scope, noted on this thread, a panic caught. Notes how the machine is
/// afterwards.
#[inline]
pub(crate) fn run<R>(
    place: &Place,
    terms: Terms,
    context: &mut Context,
    status: &mut Status,
    caught: &mut Caught,
    step: impl FnOnce(&mut Scope<'_>) -> Result<R, AskError>,
) -> Result<R, AskError> {
    let running = Running::step(context.lineage(), terms.asker(place))?;
    let mut scope = Scope::new(place, context, terms);
    let outcome = catch_unwind(AssertUnwindSafe(|| step(&mut scope)));
    drop(running);
    match outcome {
        Ok(outcome) => {
            if scope.finish(outcome.is_ok()) {
                *status = Status::Halted;
            }
            outcome
        }
        Err(payload) => {
            // The payload is foreign: its destructor may panic again, or block, and this machine may be locked.
            caught.0 = Some(payload);
            *status = Status::Panicked;
            Err(AskError::Panicked)
        }
    }
}
