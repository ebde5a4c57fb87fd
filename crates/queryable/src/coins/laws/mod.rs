//! The test kit for distributions of your own: does [`sample`](Distribution::sample), which runs in production, draw from
//! the law that is enumerated, which the auditor sees?
//!
//! [`check_exactly`] is for laws that are decided by few random bits: it drives `sample` with bit strings, and brackets the
//! probability of every outcome. [`check_by_drawing`] is for all others, with a stated probability of error.
//!
//! ```
//! use odometry::queryable::coins::{Distribution, Probability, Rng, laws};
//!
//! /// One of three, the careless way: one word in 2^64 favours the first.
//! struct Careless;
//!
//! impl Distribution for Careless {
//!     type Outcome = u64;
//!     fn sample(&self, bits: &mut dyn Rng) -> u64 {
//!         ((u128::from(bits.next_u64()) * 3) >> 64) as u64
//!     }
//!     fn arity(&self) -> usize { 3 }
//!     fn outcome(&self, index: usize) -> (u64, Probability) {
//!         (index as u64, Probability::new(1, 3).unwrap_or(Probability::ZERO))
//!     }
//! }
//!
//! laws::check_by_drawing(&Careless, 10_000, [7; 32])?; // who would notice?
//! let tiny = Probability::new(1, 1 << 62)?.and(&Probability::new(1, 1 << 6)?);
//! assert!(laws::check_exactly(&Careless, 100_000, &tiny).is_err());
//!
//! let careful = odometry::queryable::coins::Uniform::below(3)?;
//! laws::check_exactly(&careful, 100_000, &tiny)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod drawing;
mod tape;
mod tree;

use std::{collections::BTreeMap, fmt::Debug};

use dashu_ratio::RBig;
use thiserror::Error;

use super::{Distribution, Probability};

pub use drawing::check_by_drawing;
pub use tree::check_exactly;

/// How `sample` and the enumeration disagree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The enumerated probabilities and what is missing do not sum to one.
    #[error("the enumerated probabilities sum to {sum:.40} with what is missing, not to 1")]
    NotNormalized {
        /// The sum.
        sum: String,
    },
    /// An outcome, or a set of them, has another probability than was enumerated.
    #[error(
        "{outcomes} is enumerated with a probability {enumerated}, and sampled with one {sampled}"
    )]
    AnotherLaw {
        /// Which outcomes.
        outcomes: String,
        /// What the enumeration says.
        enumerated: String,
        /// What sampling says.
        sampled: String,
    },
    /// The same bits gave two outcomes: `sample` has a source of randomness of its own.
    #[error("the same random bits gave {first} and then {second}")]
    NotAFunction {
        /// The first outcome.
        first: String,
        /// The second.
        second: String,
    },
    /// Too much is left open after so many runs: allow more of them, or check by drawing.
    #[error("after {runs} runs a probability of {undecided} is still undecided")]
    Undecided {
        /// How often `sample` was run.
        runs: usize,
        /// What is left, about.
        undecided: String,
    },
}

/// What was enumerated: the probability of each outcome, and of all others together.
struct Enumerated<O> {
    outcomes: BTreeMap<O, RBig>,
    missing: RBig,
}

impl<O: Ord + Debug> Enumerated<O> {
    fn of<D: Distribution<Outcome = O>>(law: &D) -> Result<Self, Mistake> {
        let mut outcomes = BTreeMap::new();
        let missing = law.missing().to_rational();
        let mut sum = missing.clone();
        for index in 0..law.arity() {
            let (outcome, probability) = law.outcome(index);
            let probability = probability.to_rational();
            sum += &probability;
            *outcomes.entry(outcome).or_insert(RBig::ZERO) += probability;
        }
        if sum != RBig::ONE {
            let sum = sum.to_string();
            return Err(Mistake::NotNormalized { sum });
        }
        Ok(Self { outcomes, missing })
    }
}

/// An outcome as an error shows it.
fn shown(outcome: &impl Debug) -> String {
    format!("{:.40}", format!("{outcome:?}"))
}

fn between(least: f64, most: f64) -> String {
    match least < most {
        true => format!("from {least:e} to {most:e}"),
        false => format!("of {least:e}"),
    }
}

/// For messages only.
fn float(value: &RBig) -> f64 {
    value.to_f64().value()
}
