//! Gaussian privacy except with probability δ: squares of μ add up, and so do the δ.

use exact::Exact;

use super::gaussian::{rest_of_squares, root_of_squares, squares_within};
use super::tally::{square, tally, what_remains};
use crate::{Adaptive, MuDelta, Tallied, Total, TotalLoss};

/// Approximate Gaussian composition: `(√Σμ², Σδ)`.
///
/// Valid as an accumulator (truncated view) and a filter for adaptively chosen (μ, δ), concurrently under finite communication;
/// not time-uniform. *Proof* (derived here, from \[ST22\] and \[HST+23\] Thm 3.4). Loss (μ, δ) is f-DP with `f_{0,δ} ⊗ G_μ`, so by Thm 3.4 it is
/// enough to look at noninteractive children, and by Blackwell's theorem at children that toss a coin, tell the input if it says so (with
/// probability δ_j), and answer as a Gaussian pair with μ_j otherwise. Draw one uniform `U` in advance, and let the first coin that
/// says so be that of the first child `j` with `1 − Π_{i≤j}(1 − δ_i) > U`: given that none did before, this has probability δ_j, whatever was chosen and
/// answered, as it should. On every path `1 − Π(1 − δ_j) ≤ Σδ_j ≤ δ`, so that with `U ≥ δ` no child ever tells, and all of it is
/// Gaussian composition within `Σμ² ≤ μ²`, which has `G_μ` (\[ST22\]). `U < δ` has probability δ, and the same on both inputs: together that is `f_{0,δ} ⊗ G_μ`.
///
/// Sums are as exact as in [`GaussianComposition`](super::GaussianComposition). A budget is compared as `Σμ² ≤ μ²` and `Σδ ≤ δ`; the root is taken, rounded up, only to
/// report.
///
/// ```
/// use odometry::measures::adaptive::ApproxGaussianComposition;
/// use odometry::measures::{FilterRule, Tallied, Tally};
/// let rule = ApproxGaussianComposition;
/// let gate = rule.open(&"(0.5, 1e-6)".parse()?)?;
/// let tally = rule.start().after(&"(0.3, 4e-7)".parse()?, 1);
/// assert_eq!(rule.remaining(&gate, &tally), Some("(0.4, 6e-7)".parse()?));
/// assert!(!rule.fits(&gate, &tally.after(&"(0, 7e-7)".parse()?, 1)));
/// # Ok::<(), odometry::measures::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxGaussianComposition;

rule! {
    ApproxGaussianComposition, ApproxGaussianDp => ApproxGaussianDp, ConcurrentFinite,
    |_rule| crate::Name::new("approximate-gaussian")
}

impl Tallied for ApproxGaussianComposition {
    type Tally = SquareDeltaSum;

    fn start(&self) -> SquareDeltaSum {
        SquareDeltaSum::default()
    }
}

impl Adaptive for ApproxGaussianComposition {
    fn loss(&self, tally: &SquareDeltaSum) -> Total<TotalLoss<Self>> {
        let mu = root_of_squares(&tally.squares);
        Total::new(MuDelta::saturating(mu, tally.deltas.clone()))
    }

    #[inline]
    fn within(&self, tally: &SquareDeltaSum, budget: &MuDelta) -> bool {
        // Where nothing is guaranteed, nothing is compared.
        budget.is_infinite()
            || tally.deltas <= *budget.delta() && squares_within(&tally.squares, budget.mu())
    }

    fn remaining_within(&self, tally: &SquareDeltaSum, budget: &MuDelta) -> Option<MuDelta> {
        if budget.is_infinite() {
            return Some(MuDelta::INFINITY);
        }
        let delta: Exact = what_remains(budget.delta(), &tally.deltas)?;
        let mu = rest_of_squares(&tally.squares, budget.mu())?;
        Some(MuDelta::saturating(mu, delta))
    }
}

tally! {
    /// The exact sums of the squares, rounded as those of [`SquareSum`](super::SquareSum), and of the δ.
    SquareDeltaSum, |loss: MuDelta| { squares: square(loss.mu()), deltas: loss.delta(), }
}
