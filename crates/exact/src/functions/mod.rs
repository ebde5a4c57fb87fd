//! A second implementation, on purpose: exp, ln, tanh and square root in machine integers, in both directions. It is the
//! fast one, to `1e-15`; [`interval`](crate::interval) has any precision, and `tests/interval.rs` holds each to the other.
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

use constants::TERMS;

use crate::Round;
use crate::flat::mul_high;
use crate::leading::Leading;
use crate::repr::Exact;

/// A true value between `low · 2^two` and `high · 2^two`.
struct Enclosure {
    low: u128,
    high: u128,
    two: i64,
}

impl Enclosure {
    /// `x·(1 - q)`, with `q` in units of `2^-64`, less than 2.2 units away. In units of the last bit of the leading ones of
    /// `x`, of which `x` has at most 1.01 more, the true value is up to 2.2 + 1 (q, product) below, and up to 2.2 + 1.01
    /// (q, the leading bits) above.
    #[inline]
    fn less(x: &Leading, q: u64) -> Self {
        let middle = u128::from(x.top()) - u128::from(mul_high(x.top(), q));
        Self {
            low: middle - 4,
            high: middle + 6,
            two: x.log2() - 63,
        }
    }

    /// The end in the given direction.
    fn end(&self, round: Round) -> Exact {
        match round {
            Round::Up => Exact::from_dyadic(self.high, self.two, round),
            Round::Down => Exact::from_dyadic(self.low, self.two, round),
        }
    }
}

/// `q = s·(c2 ± s·(c3 ± s·(c4 ± …)))` in units of `2^-64`, for `s` below 1/16 and falling
/// coefficients of at most 1/2; the signs alternate where `ALTERNATING`.
///
/// A bracket is less than 2.2 units away: 1 from the coefficient, 1 from the product, and the next
/// bracket's over 16. So `q` is less than `1 + 2.2·s` away, plus what the terms after the last one
/// come to, plus 0.6 if `s` was rounded down by 1.01. Without alternation, all of that is rounded down.
#[inline]
fn series<const ALTERNATING: bool>(s: u64, coefficients: &[u64; TERMS]) -> u64 {
    let mut bracket = 0;
    for coefficient in coefficients.iter().rev() {
        let product = mul_high(s, bracket);
        bracket = match ALTERNATING {
            true => coefficient - product,
            false => coefficient + product,
        };
    }
    mul_high(s, bracket)
}
