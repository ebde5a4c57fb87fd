//! exp, ln, tanh and square root in machine integers, in both directions.
//!
//! Every function encloses the true value between two multiples of a power of two and returns the
//! end that is asked for. Errors are counted in the comments, in *units*: one unit is `2^-64` for a
//! fraction in 64 bits. The ends lie at most `2^-52` apart, relative to the value, and depend on
//! the value of the argument only, not on how it is held.

mod constants;
mod exp;
mod ln;
mod sqrt;
mod tanh;

use crate::Round;
use crate::repr::Exact;

/// A true value between `low · 2^two` and `high · 2^two`.
struct Enclosure {
    low: u128,
    high: u128,
    two: i64,
}

impl Enclosure {
    /// The end in the given direction.
    fn end(&self, round: Round) -> Exact {
        match round {
            Round::Up => Exact::from_dyadic(self.high, self.two, round),
            Round::Down => Exact::from_dyadic(self.low, self.two, round),
        }
    }
}
