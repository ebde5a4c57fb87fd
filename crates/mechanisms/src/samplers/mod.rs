//! Exact samplers over rational parameters. No floating point decides an outcome.
//!
//! All rest on one idea: compare a uniform real, drawn as far as needed, with cumulative probabilities that can be bounded
//! to any precision. The first word of both is in a table of machine integers and decides nearly always; the rest is
//! left to big integers with certified bounds. So the law is exact for every parameter, and the common draw costs one to
//! three random words.
//!
//! Each is a [`Distribution`](queryable::coins::Distribution): it also enumerates itself for the auditor. An irrational
//! probability is enumerated by a rational lower bound (good to 128 digits); what the bounds leave to one, and the tail
//! past the enumerated outcomes, is declared missing.
//!
//! Parameters have at most [`PARAMETER_BITS`] bits above and below the line: longer ones are refused, because a draw takes
//! the longer the more digits they have.
//!
//! Constant time is not claimed: how long a draw takes depends on what is drawn.

mod bernoulli;
mod choice;
mod decay;
mod enumeration;
mod fraction;
mod gaussian;
mod geometric;
mod laplace;
mod limits;
mod quotient;
mod real;
mod staircase;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod thinning;
mod width;

pub use bernoulli::BernoulliExp;
pub use choice::{ExponentialChoice, PermuteAndFlip};
pub use gaussian::DiscreteGaussian;
pub use geometric::Geometric;
pub use laplace::DiscreteLaplace;
pub use limits::PARAMETER_BITS;
pub(crate) use limits::shorter_than;
/// A bit with a rational probability, a uniform integer, and finitely many outcomes with rational probabilities.
pub use queryable::coins::{Bit, Categorical, Uniform};
pub(crate) use real::{lower, upper};
pub use staircase::Staircase;
