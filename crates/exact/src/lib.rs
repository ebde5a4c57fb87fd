//! Exact non-negative numbers for privacy losses and budgets.
//!
//! ```
//! use odometry::exact::{Exact, Round};
//!
//! let tenth: Exact = "0.1".parse()?;
//! assert_eq!(tenth.times(10), Exact::ONE); // ten charges of 0.1 spend a budget of 1 to zero
//! let both = &tenth + &Exact::try_from(0.5)?;
//! assert_eq!(both.to_string(), "0.6");
//!
//! // What is irrational rounds in the direction that is asked for.
//! assert!(both.exp(Round::Down) < both.exp(Round::Up));
//! assert!("-0.1".parse::<Exact>().is_err());
//! # Ok::<(), odometry::exact::ExactError>(())
//! ```
//!
//! An [`Exact`] is infinity, or a rational whose denominator is `2^i · 5^j`: every decimal and every
//! finite `f64` is one of them. Other rationals are not: a third is rounded where it enters, up by
//! [`Exact::ratio`], down by [`Exact::split`], which cuts a budget into parts that never add up to
//! more. **Sums and differences never round**, so they do not depend on the order of the summands.
//! Every other operation takes a [`Round`]: `Up` is never below the true value, `Down` is never
//! above it.
//!
//! # Rounding
//!
//! | operation | relative excess |
//! |---|---|
//! | entry, `+`, `times`, `checked_sub` | none (ratios with other denominators: `2^-127`) |
//! | `mul`, `div`, `split`, `recip`, `rounded` | none while the mantissa fits in 128 bits, else `2^-127` |
//! | `exp`, `ln`, `sqrt`, `tanh` and their kin | `1e-15`, at any magnitude and close to 0 and 1 |
//!
//! Equal numbers give equal results, however they were computed. A rounded function need not be
//! monotone in the last of its digits.
//!
//! # Bounded size
//!
//! Finite values are below `2^16384` and are multiples of `2^-16384 · 5^-4096`; no number takes more
//! than 6 kB, and nearly all take 32 bytes. Who adds up numbers that somebody else chooses rounds them to the
//! [grid](Exact::on_grid) first: sums then have at most 725 bits, and one extreme number does not make all later sums slow. What is outside of this range is rejected where it enters.
//! A sum that reaches the top is infinity. A rounded result that reaches the top becomes infinity
//! (`Up`) or the largest rounded number (`Down`); one that needs places below `2^-16384` is rounded to
//! that place, at the very bottom to zero (`Down`) or to `2^-16384` itself (`Up`).
//!
//! # Text
//!
//! `Display` shows at most 17 significant digits, rounded up, for people. `Debug` and serde give the
//! exact value, as a decimal of at most 40 digits or as `m*2^i*5^j`, and [`str::parse`] reads that
//! back as the same number, whatever the number and however it was computed. Text longer than 16,384
//! bytes is rejected unread.

mod arithmetic;
mod convert;
pub mod convex;
mod directed;
mod display;
mod error;
mod flat;
mod functions;
mod grid;
pub mod interval;
mod leading;
mod order;
mod parameter;
mod parse;
mod repr;
pub mod search;
mod text;
mod wide;

pub use error::{ExactError, excerpt};
#[doc(hidden)]
pub use parameter::Given;
pub use parameter::Parameter;
pub use repr::Exact;

/// The direction of an operation that may have to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// Never below the true value: for losses that are reported.
    Up,
    /// Never above the true value: for budgets and thresholds.
    Down,
}

impl Round {
    /// The other direction, for an operand that the result decreases in.
    ///
    /// ```
    /// assert_eq!(odometry::exact::Round::Up.reversed(), odometry::exact::Round::Down);
    /// ```
    pub const fn reversed(self) -> Round {
        match self {
            Round::Up => Round::Down,
            Round::Down => Round::Up,
        }
    }
}
