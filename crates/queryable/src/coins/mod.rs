//! Coins: the only randomness a machine has.
//!
//! Coins are a cryptographic stream or a script. A stream is keyed: a child's key is derived from its parent's key and
//! its number, lazily, so spawning costs no entropy and a seeded run reproduces when the order of spawns does. A
//! script replays chosen outcomes and reports the branching, so that a caller can enumerate every run.

mod distribution;
mod enumerate;
mod probability;
mod script;
mod stream;

/// The type of sums of probabilities, from `dashu`.
pub use dashu_ratio::RBig;
/// The random bits that [`Distribution::sample`] draws from.
pub use rand_core::Rng;

pub use distribution::{Bit, Categorical, Distribution, DistributionError, Uniform};
pub use enumerate::{EnumerateError, Enumeration, enumerate};
pub use probability::{NotAProbability, Probability};
pub use script::{Branch, Script};

use crate::error::AskError;
pub(crate) use stream::Key;
use stream::Stream;

/// Where a machine's randomness comes from.
pub(crate) enum Coins {
    Stream(Stream),
    Script(Script),
}

impl Coins {
    pub(crate) fn draw<D: Distribution + ?Sized>(
        &mut self,
        distribution: &D,
    ) -> Result<D::Outcome, AskError> {
        match self {
            Self::Stream(stream) => Ok(distribution.sample(stream.bits())),
            Self::Script(script) => script.draw(distribution),
        }
    }

    /// Where the children's coins come from.
    pub(crate) fn source(&mut self) -> Source {
        match self {
            Self::Stream(stream) => Source::Key(stream.key()),
            Self::Script(script) => Source::Script(script.clone()),
        }
    }
}

/// What the coins of numbered children are derived from.
#[derive(Clone)]
pub(crate) enum Source {
    Key(Key),
    Script(Script),
}

impl Source {
    /// The coins of child `number`.
    pub(crate) fn coins(&self, number: u64) -> Coins {
        match self {
            Self::Key(key) => Coins::Stream(Stream::child(*key, number)),
            Self::Script(script) => Coins::Script(script.clone()),
        }
    }
}
