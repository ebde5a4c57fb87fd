//! Turns: under sequential composition only the newest child, and whatever descends from it, may be asked.
//!
//! Concurrent composition demands nothing, so a lease without turns costs nothing and shares nothing.

use std::sync::Arc;

use crate::{
    error::AskError,
    sync::{AtomicU64, Ordering},
};

/// Whose turn it is among the children of one sequential composition.
///
/// ```
/// use queryable::Sequence;
/// let sequence = Sequence::new();
/// let first = sequence.begin_next();
/// assert!(first.is_current());
/// let second = sequence.begin_next();
/// assert!(second.is_current() && !first.is_current());
/// ```
#[derive(Clone)]
pub struct Sequence(Arc<Counters>);

struct Counters {
    /// Numbers handed out. A number is never reused, so a child that missed its turn never gets one by accident.
    issued: AtomicU64,
    current: AtomicU64,
}

impl Sequence {
    /// A sequence in which nobody has had a turn.
    #[allow(
        clippy::new_without_default,
        reason = "two defaults would look like the same sequence"
    )]
    pub fn new() -> Self {
        Self(Arc::new(Counters {
            issued: AtomicU64::new(0),
            current: AtomicU64::new(0),
        }))
    }

    /// Ends the current turn and begins the next.
    pub fn begin_next(&self) -> Turn {
        let turn = self.issue();
        turn.begin();
        turn
    }

    /// A turn that has not begun: nobody can be asked under it yet, and the current turn goes on.
    pub(crate) fn issue(&self) -> Turn {
        Turn {
            sequence: self.clone(),
            number: self.0.issued.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }
}

/// One child's turn in a [`Sequence`].
#[derive(Clone)]
pub struct Turn {
    sequence: Sequence,
    number: u64,
}

impl Turn {
    /// Begins this turn, unless a later one has begun already.
    pub(crate) fn begin(&self) {
        self.sequence
            .0
            .current
            .fetch_max(self.number, Ordering::SeqCst);
    }

    fn is_same(&self, other: &Turn) -> bool {
        Arc::ptr_eq(&self.sequence.0, &other.sequence.0) && self.number == other.number
    }

    /// Is it still this child's turn?
    pub fn is_current(&self) -> bool {
        self.sequence.0.current.load(Ordering::SeqCst) == self.number
    }
}

/// The turns that a machine depends on, its own first.
#[derive(Clone)]
pub(crate) struct Lease(Option<Arc<Link>>);

struct Link {
    turn: Turn,
    rest: Lease,
}

impl Lease {
    /// No turns: concurrent at every level.
    pub(crate) const FREE: Self = Self(None);

    /// These turns, and one more.
    pub(crate) fn and(&self, turn: Turn) -> Self {
        Self(Some(Arc::new(Link {
            turn,
            rest: self.clone(),
        })))
    }

    pub(crate) fn includes(&self, turn: &Turn) -> bool {
        let mut lease = self;
        while let Some(link) = &lease.0 {
            if link.turn.is_same(turn) {
                return true;
            }
            lease = &link.rest;
        }
        false
    }

    #[inline]
    pub(crate) fn check(&self) -> Result<(), AskError> {
        let mut lease = self;
        while let Some(link) = &lease.0 {
            if !link.turn.is_current() {
                return Err(AskError::OutOfTurn);
            }
            lease = &link.rest;
        }
        Ok(())
    }
}

/// Link by link, because a recursive drop of a long lease would overflow the stack.
impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|mut link| link.rest.0.take());
        }
    }
}
