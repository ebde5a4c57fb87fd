//! Meters: how many messages a launch, with everything it spawns, may still answer.
//!
//! Some theorems on concurrent composition ask for finite communication: a bound on the number of messages that is set in
//! advance. A meter is part of the lease, so whatever descends from the launch has it from birth, whoever holds the handle.
//!
//! Only messages that enter the launch from outside are communication. A step of a machine of the launch asks other
//! machines of the launch for free: how often it does may depend on data, and the number of messages that are left must
//! not. A post-processor asks on behalf of the code that put it there, the analyst's as a rule.
//!
//! A machine takes messages from its meters in advance, the more the longer it has been asked, and counts them under
//! its own lock: so machines that share a meter do not share a cache line at every ask.

use std::sync::Arc;

use crate::{
    error::AskError,
    lineage::Asker,
    sync::{AtomicU64, Ordering},
    turn::Lease,
};

/// How many messages a launch answers, with everything it spawns, where communication must be finite and nobody says
/// otherwise: at a billion a second, three days.
pub const DEFAULT_MESSAGES: u64 = 1 << 48;

/// How much of what a meter has left is taken in advance: one in so many. What a machine has taken and is never asked for is
/// lost to others, so little is taken when little is left; below this, one at a time, and the limit is met exactly.
const SHARE: u64 = 1 << 10;

/// What is left of a number of messages.
#[derive(Clone)]
pub(crate) struct Meter(Arc<Counter>);

struct Counter {
    left: AtomicU64,
    limit: u64,
}

impl Meter {
    pub(crate) fn new(limit: u64) -> Self {
        let left = AtomicU64::new(limit);
        Self(Arc::new(Counter { left, limit }))
    }

    fn left(&self) -> u64 {
        self.0.left.load(Ordering::Relaxed)
    }

    /// Is there a message left?
    pub(crate) fn check(&self) -> Result<(), AskError> {
        match self.left() {
            0 => Err(AskError::TooManyMessages {
                limit: self.0.limit,
            }),
            _ => Ok(()),
        }
    }

    /// How many of so many wanted messages may be taken in advance now: at least one.
    pub(crate) fn offer(&self, wanted: u16) -> u16 {
        let share = (self.left() / SHARE).clamp(1, u64::from(u16::MAX));
        wanted.min(share as u16)
    }

    /// Takes so many messages, or none if there are not that many.
    pub(crate) fn take(&self, messages: u16) -> bool {
        let less = |left: u64| left.checked_sub(u64::from(messages));
        let left = &self.0.left;
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// What a machine has taken from its meters in advance.
#[derive(Clone, Copy)]
pub(crate) struct Prepaid {
    left: u16,
    next: u16,
}

impl Prepaid {
    /// The most that is taken at once.
    const MOST: u16 = 1 << 15;

    /// Nothing: one message is taken at first, and then as many as were used.
    pub(crate) const NONE: Self = Self { left: 0, next: 1 };

    /// Uses one message of an asker that all meters count.
    #[inline]
    pub(crate) fn pay(&mut self, lease: &Lease) -> Result<(), AskError> {
        if self.left == 0 {
            self.left = lease.take(self.next, Asker::ANALYST)?;
            self.next = self.next.saturating_mul(2).min(Self::MOST);
        }
        self.left -= 1;
        Ok(())
    }
}
