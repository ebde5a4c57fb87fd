//! The handle to a running machine.

use std::{any::type_name, fmt, sync::Arc};

use crate::{
    cell::{Cell, Locked, cell},
    coins::Coins,
    error::AskError,
    lineage::Asker,
    machine::Machine,
    scope::Place,
};

/// An opaque handle to a running machine (\[HST+23\] Fig 1).
///
/// It can be asked, cloned (the clone is the same machine, never a copy of its state), halted and dropped, from any
/// thread. Nobody can look inside: `Debug` shows only the type. Asks of one machine take turns on its lock; asks of
/// different machines share nothing.
///
/// The one way to deadlock: a step that starts or waits for *another thread* which asks the same machine. Within a
/// thread, and in every cycle of machines that ask one another, the ask is refused instead
/// ([`AskError::NotSpawnedHere`]).
pub struct Queryable<Q, A>(Arc<Cell<dyn Locked<Q, A>>>);

impl<Q: 'static, A: 'static> Queryable<Q, A> {
    pub(crate) fn new<M>(machine: M, place: Place, coins: Coins) -> Self
    where
        M: Machine<Query = Q, Answer = A> + 'static,
    {
        Self(Arc::new(cell(machine, place, coins)))
    }
}

impl<Q, A> Queryable<Q, A> {
    /// Asks the machine and waits for its answer.
    ///
    /// The query must be fixed now (see [`Machine`] and [`Fixed`](crate::Fixed)): one that can still change while the
    /// step runs lets an older child of a sequential composition use a newer one's answer.
    ///
    /// # Errors
    /// The machine's own errors, and those of [`AskError`]: it has halted or panicked, it is not its turn, or the ask
    /// comes from inside a step of a machine that did not spawn it.
    #[inline]
    pub fn ask(&self, query: Q) -> Result<A, AskError> {
        self.0.ask(query)
    }

    /// Ends the conversation for every clone of this handle. Waits for an answer that is under way.
    ///
    /// # Errors
    /// [`AskError::NotSpawnedHere`] from inside a step of a machine that did not spawn it.
    pub fn halt(&self) -> Result<(), AskError> {
        self.0.halt()
    }

    /// Asks without looking at who is asking; `check_reachable` was done when the asker was built.
    pub(crate) fn ask_unchecked(&self, asker: Asker, query: Q) -> Result<A, AskError> {
        self.0.ask_unchecked(asker, query)
    }

    pub(crate) fn place(&self) -> &Place {
        &self.0.place
    }
}

impl<Q, A> Clone for Queryable<Q, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Q, A> fmt::Debug for Queryable<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<Self>())
    }
}
