//! Gaussian differential privacy composes in quadrature.

use super::search::root_within;
use super::tally::{square, tally, what_remains};
use crate::{Adaptive, Mu, Tallied, Total, TotalLoss};
use exact::{Exact, Round};

/// Gaussian composition: `√(Σμ²)` (\[ST22\]).
///
/// Valid as an accumulator (truncated view) and a filter for adaptively chosen μ, concurrently under finite
/// communication (\[HST+23\] Thm 1.20); not time-uniform. The sum of squares is exact while the squares are (128 bits:
/// every `f64` and every decimal of up to 19 digits; multiples of `2^-256 · 5^-64`), otherwise each square is rounded
/// up when it enters; from `2^256` on it is infinite. A budget is compared as `Σμ² ≤ μ²` with no root; the root is
/// taken, rounded up, only to report.
///
/// ```
/// use odometry::measures::adaptive::GaussianComposition;
/// use odometry::measures::{FilterRule, Tallied, Tally};
/// let rule = GaussianComposition;
/// let gate = rule.open(&"0.5".parse()?)?;
/// let tally = rule.start().after(&"0.3".parse()?, 1);
/// assert_eq!(rule.remaining(&gate, &tally), Some("0.4".parse()?));
/// # Ok::<(), odometry::measures::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GaussianComposition;

rule! { GaussianComposition, GaussianDp => GaussianDp, ConcurrentFinite, |_rule| crate::Name::new("gaussian") }

impl Tallied for GaussianComposition {
    type Tally = SquareSum;

    fn start(&self) -> SquareSum {
        SquareSum::default()
    }
}

impl Adaptive for GaussianComposition {
    fn loss(&self, tally: &SquareSum) -> Total<TotalLoss<Self>> {
        Total::new(Mu::new(root_of_squares(&tally.squares)))
    }

    #[inline]
    fn within(&self, tally: &SquareSum, budget: &Mu) -> bool {
        squares_within(&tally.squares, budget.value())
    }

    fn remaining_within(&self, tally: &SquareSum, budget: &Mu) -> Option<Mu> {
        rest_of_squares(&tally.squares, budget.value()).map(Mu::new)
    }
}

/// The μ of these squares. Rounded up.
pub(super) fn root_of_squares(squares: &Exact) -> Exact {
    squares.sqrt(Round::Up)
}

/// Whether `Σμ² ≤ μ²`. The root decides only where the square of the budget has too many digits to be exact.
#[inline]
pub(super) fn squares_within(squares: &Exact, mu: &Exact) -> bool {
    *squares <= mu.mul(mu, Round::Down) || root_of_squares(squares) <= *mu
}

/// The largest μ with which the squares stay within a budget. Rounded down.
pub(super) fn rest_of_squares(squares: &Exact, mu: &Exact) -> Option<Exact> {
    let budget = mu.mul(mu, Round::Down);
    if budget.is_infinite() {
        return Some(Exact::INFINITY);
    }
    what_remains(&budget, squares).map(|rest| root_within(&rest))
}

tally! {
    /// The exact sum of the squares, each rounded up to 128 bits if it is longer, and to the grid.
    SquareSum, |loss: Mu| { squares: square(loss.value()), }
}
