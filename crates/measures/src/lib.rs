//! Measures of privacy loss over exact numbers, privacy maps, and composition rules that cannot be misused.
//!
//! - A [`Measure`] says what a loss is, with its partial order: [`PureDp`], [`ApproxDp`], [`Zcdp`], [`ApproxZcdp`],
//!   [`RenyiDp`], [`RenyiCurveDp`], [`GaussianDp`], or your own.
//! - A [`PrivacyMap`] says which loss a measurement has between inputs at a given distance.
//! - A [`Rule`] says what several losses amount to. Rules for losses chosen adaptively (module [`adaptive`]) and rules
//!   for losses fixed in advance ([`FixedRule`]) are different traits: taking one for the other does not compile.
//! - [`laws`] is the test kit for measures, maps and rules of your own.
//!
//! Losses are exact: ten charges of 0.1 spend a budget of 1 to zero, in any order.
//!
//! ```
//! use measures::{Basic, FilterRule, PureDp, Tallied, Tally};
//! let rule = Basic::new(PureDp);
//! let gate = rule.open(&"1".parse()?)?;
//! let mut spent = rule.start();
//! for _ in 0..10 {
//!     let next = spent.after(&"0.1".parse()?, 1);
//!     assert!(rule.fits(&gate, &next));
//!     spent = next;
//! }
//! assert_eq!(rule.remaining(&gate, &spent), Some("0".parse()?));
//! # Ok::<(), measures::RuleError>(())
//! ```
//!
//! This crate knows nothing about machines or data: the `odometer` crate puts it to work.

pub mod adaptive;
mod conversion;
pub mod convert;
mod error;
pub mod fixed;
mod group;
mod hull;
pub mod laws;
mod losses;
mod map;
mod measure;
mod metric;
mod numeric;
mod profile;
mod rule;
mod tradeoff;

pub use adaptive::{Additive, Basic};
pub use conversion::{Conversion, ConvertsTotals};
pub use error::{LossError, MapError, RuleError};
pub use group::GroupPrivacy;
pub use losses::{
    ApproxDp, ApproxZcdp, Epsilon, EpsilonDelta, GaussianDp, Mu, Orders, PureDp, RenyiCurve,
    RenyiCurveDp, RenyiDp, RenyiEpsilon, Rho, RhoDelta, Zcdp,
};
pub use map::{MapId, PrivacyMap};
pub use measure::{Loss, Measure, Scale, ScaleSquared};
pub use metric::{
    AbsoluteDistance, ChangeOneDistance, Distance, L1Distance, L2Distance, Metric, Neighbouring,
    Neighbours, Number, SymmetricDistance, UnitSteps,
};
pub use profile::{Profile, ProfileDp};
pub use rule::{
    Adaptive, ChildLoss, FilterRule, FixedRule, Interleaving, Rule, Tallied, Tally, TimeUniform,
    Total, TotalLoss,
};
pub use tradeoff::{Tradeoff, TradeoffDp};
