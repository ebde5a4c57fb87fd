//! The hyperbolic tangent, as `t / (t + 2)` with `t = e^2x - 1`. It grows with `t`, and no faster
//! relative to itself.

use super::exp::exp_m1;
use crate::Round;
use crate::leading::Leading;
use crate::repr::Exact;

impl Exact {
    /// `tanh x`, with a relative excess of at most `2^-53`; 1 for infinity.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// let x: Exact = "0.5".parse()?;
    /// assert!(x.tanh(Round::Down).to_f64(Round::Down) > 0.462117157260009);
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn tanh(&self, round: Round) -> Exact {
        if self.is_infinite() {
            return Exact::ONE;
        }
        if self.is_zero() {
            return Exact::ZERO;
        }
        let x = Leading::of(self);
        let twice = Leading {
            two: x.two + 1,
            ..x
        };
        let t = exp_m1(&twice);
        match round {
            Round::Up => over_two_more(t.high, t.two, round).min(Exact::ONE),
            Round::Down => over_two_more(t.low, t.two, round),
        }
    }
}

/// `t / (t + 2)` for `t = a · 2^two` with `2^59 < a < 2^66` (or past the top).
fn over_two_more(a: u128, two: i64, round: Round) -> Exact {
    if two >= 0 {
        // t is at least 2^62, and 2 / (t + 2) less than 8 units of 2^-64.
        return match round {
            Round::Up => Exact::ONE,
            Round::Down => Exact::flat((1 << 64) - 8, -64, 0),
        };
    }
    if two < -120 {
        // t is below 2^-54, and the quotient between t/2 and t/2 · (1 - t/2).
        return match round {
            Round::Up => Exact::from_dyadic(a, two - 1, round),
            Round::Down => Exact::from_dyadic(a - (a >> 54) - 1, two - 1, round),
        };
    }
    let sum = a + (1 << (1 - two));
    // The leading 64 bits of the sum, rounded against the direction of the quotient.
    let drop = (128 - sum.leading_zeros()).saturating_sub(64);
    let lost = sum & ((1 << drop) - 1) != 0;
    let (divisor, up) = match round {
        Round::Up => (sum >> drop, 1),
        Round::Down => ((sum >> drop) + u128::from(lost), 0),
    };
    Exact::from_dyadic((a << 62) / divisor + up, -62 - i64::from(drop), round)
}
