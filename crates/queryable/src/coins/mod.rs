//! Coins: the only randomness a machine has.
//!
//! Coins are a cryptographic stream or a script. Every key has a stream of blocks, one for each child: the child's own key
//! and its first coins. A child gets its block when it first needs it, so spawning costs no entropy, and it never sees its
//! parent's key; a seeded run reproduces when the order of spawns and draws does. A script replays chosen outcomes and
//! reports the branching, so that a caller can enumerate every run.

mod blocks;
mod distribution;
mod enumerate;
pub mod laws;
mod probability;
mod script;
mod stream;
mod tape;
#[cfg(test)]
mod tests;

/// The type of sums of probabilities, from `dashu`.
pub use dashu_ratio::RBig;
/// The random bits that [`Distribution::sample`] draws from.
pub use rand_core::Rng;

pub use distribution::{Bit, Categorical, Distribution, DistributionError, Uniform};
pub use enumerate::{EnumerateError, Enumeration, enumerate};
pub use probability::{NotAProbability, Probability};
pub use script::{Branch, Script};

use crate::error::AskError;
use blocks::Blocks;
pub(crate) use stream::Key;
use stream::Stream;

/// Where a machine's randomness comes from.
pub(crate) enum Coins {
    /// Nothing was needed yet.
    Unborn(Child),
    Stream(Stream),
    Script(Script),
}

/// Which child of its parent.
#[derive(Clone, Copy)]
pub(crate) enum Child {
    /// The spawned one with this number.
    Spawned(u64),
    /// A function under `run`: the next one that needs coins.
    Function,
}

impl Coins {
    #[inline]
    pub(crate) fn draw<D: Distribution + ?Sized>(
        &mut self,
        parent: &Source,
        distribution: &D,
    ) -> Result<D::Outcome, AskError> {
        match self.born(parent) {
            Self::Script(script) => script.draw(distribution),
            Self::Stream(stream) => Ok(distribution.sample(stream.bits())),
            Self::Unborn(_) => unreachable!("just born"),
        }
    }

    /// Where the children's coins come from.
    pub(crate) fn source(&mut self, parent: &Source) -> Source {
        match self.born(parent) {
            Self::Script(script) => Source::Script(script.clone()),
            Self::Stream(stream) => Source::Blocks(Blocks::new(stream.key(), parent.is_ordered())),
            Self::Unborn(_) => unreachable!("just born"),
        }
    }

    /// The key and the first coins of a stream from which nothing has been drawn.
    pub(crate) fn reveal(&mut self, parent: &Source) -> Option<([u8; 32], [u8; 32])> {
        match self.born(parent) {
            Self::Stream(stream) => stream.untouched(),
            _ => None,
        }
    }

    #[inline]
    fn born(&mut self, parent: &Source) -> &mut Self {
        if let Self::Unborn(child) = *self {
            self.be_born(parent, child);
        }
        self
    }

    #[cold]
    fn be_born(&mut self, parent: &Source, child: Child) {
        *self = parent.coins(child);
    }
}

/// What the coins of children come from.
pub(crate) enum Source {
    Blocks(Blocks),
    Script(Script),
}

impl Source {
    /// The blocks under this key. `ordered`: so that the same order of spawns and draws gives the same coins.
    pub(crate) fn keyed(key: Key, ordered: bool) -> Self {
        Self::Blocks(Blocks::new(key, ordered))
    }

    /// What the coins of the children of this child come from, if it has no coins of its own.
    pub(crate) fn below(&self, number: u64) -> Self {
        match self {
            Self::Blocks(blocks) => Self::Blocks(blocks.below(number)),
            Self::Script(script) => Self::Script(script.clone()),
        }
    }

    fn coins(&self, child: Child) -> Coins {
        match (self, child) {
            (Self::Script(script), _) => Coins::Script(script.clone()),
            (Self::Blocks(blocks), Child::Function) => Coins::Stream(Stream::new(blocks.next())),
            (Self::Blocks(blocks), Child::Spawned(number)) => {
                Coins::Stream(Stream::new(blocks.numbered(number)))
            }
        }
    }

    fn is_ordered(&self) -> bool {
        match self {
            Self::Blocks(blocks) => blocks.is_ordered(),
            Self::Script(_) => true,
        }
    }
}
