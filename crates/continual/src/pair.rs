//! What is sent: pairs of messages, and the messages of streams.

use queryable::Fixed;
use serde::{Deserialize, Serialize};

/// Two messages, of which the mechanism gets one: what an adversary of the privacy game sends (\[HSV25\] Def 3.2).
///
/// ```
/// use odometry::continual::Pair;
/// assert!(Pair::same(3).is_identical());
/// assert_eq!(Pair::new(0, 1).swapped(), Pair::new(1, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair<M> {
    /// The message on the first input.
    pub zero: M,
    /// The message on the second input.
    pub one: M,
}

impl<M> Pair<M> {
    /// These two.
    pub const fn new(zero: M, one: M) -> Self {
        Self { zero, one }
    }

    /// The same message on both inputs.
    pub fn same(message: M) -> Self
    where
        M: Clone,
    {
        Self {
            zero: message.clone(),
            one: message,
        }
    }

    /// Whether both halves are the same message.
    pub fn is_identical(&self) -> bool
    where
        M: PartialEq,
    {
        self.zero == self.one
    }

    /// The halves in the other order.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self {
            zero: self.one,
            one: self.zero,
        }
    }

    /// The same function of both halves.
    pub fn map<T>(self, mut f: impl FnMut(M) -> T) -> Pair<T> {
        Pair {
            zero: f(self.zero),
            one: f(self.one),
        }
    }

    /// The half of input `b`.
    pub fn half(self, b: bool) -> M {
        if b { self.one } else { self.zero }
    }
}

impl<M: Fixed> Fixed for Pair<M> {}

/// A message to a mechanism over a stream: data that arrive, or a question about what has arrived (\[HSV25\] §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StreamMessage<U, Q> {
    /// Data.
    Update(U),
    /// A question.
    Question(Q),
}

impl<U: Fixed, Q: Fixed> Fixed for StreamMessage<U, Q> {}
