//! The test kit for measures, maps and rules of your own: each function checks laws on the samples it is given and
//! returns the first law that fails, with a witness.
//!
//! Laws hold on what a rule remembers (its [`Tally`](crate::Tally)), not on rounded totals. Where totals are compared, the
//! samples should differ by more than rounding does (a relative 1e-12 is plenty). Passing is no proof that a rule is
//! *private*: that takes a theorem; the `auditor` crate can try to refute it.
//!
//! ```
//! use odometry::measures::{laws, ApproxDp, Basic};
//! let losses = ["(0, 0)", "(0.5, 0)", "(0.1, 1e-6)", "(2, 1e-9)"].map(|text| text.parse().unwrap());
//! laws::check_measure(&ApproxDp, &losses)?;
//! laws::check_adaptive(&Basic::new(ApproxDp), &losses, &losses)?;
//! laws::check_filter(&Basic::new(ApproxDp), &losses, &losses)?;
//! # Ok::<(), laws::Violation>(())
//! ```

mod conversion;
mod map;
mod order;
mod rules;
mod tally;

pub use conversion::check_conversion;
pub use map::check_map;
pub use order::check_measure;
pub use rules::{check_adaptive, check_filter, check_time_uniform};
pub use tally::check_tally;

use thiserror::Error;

/// A law that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Law {
    /// Every loss is at most itself.
    Reflexive,
    /// If `a ≤ b` and `b ≤ c` then `a ≤ c`.
    Transitive,
    /// If `a ≤ b` and `b ≤ a` then `a = b`.
    Antisymmetric,
    /// Zero is at most every loss.
    ZeroIsLeast,
    /// Every loss is at most infinity, and infinity is not at most zero.
    InfinityIsGreatest,
    /// Zero, infinity and the samples pass the measure's own check.
    LossesBelong,
    /// Rounding a loss for tallies never lowers it, leaves zero as it is, is monotone, and changes nothing the second time.
    OnGrid,
    /// A map has a loss of its measure at every sample, and the same one when asked again.
    MapIsAFunction,
    /// A map's loss at a larger distance is at least that at a smaller one.
    MapIsMonotone,
    /// A conversion has a loss of its measure for every sample, zero and infinity, and the same one when asked again.
    ConversionIsAFunction,
    /// A conversion gives a larger loss at least what it gives a smaller one.
    ConversionIsMonotone,
    /// A conversion gives infinity for infinity.
    ConversionGuaranteesNothing,
    /// Absorbing `n` equal losses is absorbing one of them `n` times; absorbing none changes nothing.
    AbsorbMany,
    /// The order in which losses are absorbed does not matter.
    OrderIsIrrelevant,
    /// `after` is a copy that absorbed.
    After,
    /// Merging two tallies is absorbing the losses of both.
    Merge,
    /// Joining is commutative, idempotent, and bounds both sides.
    Join,
    /// With no launch, the total is zero.
    NoLaunchIsZero,
    /// Another launch, or a larger one, never lowers the total.
    TotalIsMonotone,
    /// An infinite loss makes the total infinite, and no finite budget holds it.
    InfinityIsAbsorbed,
    /// What is within a budget is what has a total of at most the budget, rounding aside.
    Within,
    /// What remains can be launched, and what is clearly larger cannot.
    Remaining,
    /// A budget without any guarantee is refused.
    InfiniteBudget,
    /// What fits still fits with less; with no launch, everything fits.
    FitsDownwards,
    /// What is reported as spent is at most the budget while the launches fit, and zero with no launch.
    Spent,
}

/// A law that failed, with the values for which it did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[error("{law:?} fails for {witness}")]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// The values for which it fails.
    pub witness: String,
}

/// `Ok` if the law holds for this witness.
fn ensure(holds: bool, law: Law, witness: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds {
        return Ok(());
    }
    Err(Violation {
        law,
        witness: witness(),
    })
}
