//! Measures of privacy loss over exact numbers, privacy maps, and composition rules that cannot be misused.
//!
//! - A [`Measure`] says what a loss is, with its partial order: [`PureDp`], [`ApproxDp`], [`Zcdp`], [`ApproxZcdp`],
//!   [`RenyiDp`], [`RenyiCurveDp`], [`GaussianDp`], [`ApproxGaussianDp`], [`TradeoffDp`], [`ProfileDp`], or your own.
//! - A [`PrivacyMap`] says which loss a measurement has between inputs at a given distance.
//! - A [`Rule`] says what several losses amount to. Rules for losses chosen adaptively (module [`adaptive`]) and rules
//!   for losses fixed in advance ([`FixedRule`]) are different traits: taking one for the other does not compile.
//! - [`laws`] is the test kit for measures, maps and rules of your own.
//!
//! Losses are decimal or binary fractions, and their sums are exact: ten charges of 0.1 spend a budget of 1 to zero, in any
//! order. What is neither (a third, a logarithm) is rounded up once, where it enters; [`Split`] cuts a budget into parts
//! that never add up to more than it.
//!
//! ```
//! use odometry::measures::{Basic, FilterRule, PureDp, Tallied, Tally};
//! let rule = Basic::new(PureDp);
//! let gate = rule.open(&"1".parse()?)?;
//! let mut spent = rule.start();
//! for _ in 0..10 {
//!     let next = spent.after(&"0.1".parse()?, 1);
//!     assert!(rule.fits(&gate, &next));
//!     spent = next;
//! }
//! assert_eq!(rule.remaining(&gate, &spent), Some("0".parse()?));
//! # Ok::<(), odometry::measures::RuleError>(())
//! ```
//!
//! This crate knows nothing about machines or data: the `odometer` crate puts it to work.
//!
//! Papers are cited by keys such as \[HST+23\]; `docs/references.md` in the repository lists them all.

mod any;
mod approx;
mod compare;
pub mod convert;
mod error;
mod form;
mod gaussian;
mod group;
mod into;
pub mod laws;
mod loss;
mod map;
mod measure;
mod metric;
mod name;
mod profile;
mod promise;
mod pure;
mod renyi;
mod rules;
mod split;
mod tradeoff;
mod zcdp;

pub use any::{AnyLoss, AnyMeasure, Known};
pub use approx::{ApproxDp, EpsilonDelta};
pub use compare::{Compared, Comparison, Use, compare};
pub use convert::{Conversion, ConvertsTotals};
pub use error::{LossError, MapError, RuleError};
pub use form::{Form, MAX_FORM};
pub use gaussian::{ApproxGaussianDp, GaussianDp, Mu, MuDelta};
pub use group::GroupPrivacy;
pub use into::IntoLoss;
pub use map::{MAX_LINKS, PrivacyMap};
pub use measure::{Loss, Measure, Scale, ScaleSquared};
pub use metric::{
    AbsoluteDistance, ChangeOneDistance, CountsRecords, Distance, HammingDistance,
    InsertDeleteDistance, L1Distance, L2Distance, Metric, Neighbouring, Neighbours, Number,
    SymmetricDistance, times,
};
pub use name::Name;
pub use profile::{Profile, ProfileDp};
pub use promise::Promise;
pub use pure::{Epsilon, PureDp};
pub use renyi::{Orders, RenyiCurve, RenyiCurveDp, RenyiDp, RenyiEpsilon};
pub use rules::adaptive::{Additive, Basic};
pub use rules::{
    Adaptive, ChildLoss, FilterRule, FixedRule, Interleaving, Rule, Tallied, Tally, TimeUniform,
    Total, TotalLoss, WithRule, adaptive, fixed, with_rule,
};
pub use split::Split;
pub use tradeoff::{Tradeoff, TradeoffDp};
pub use zcdp::{ApproxZcdp, Rho, RhoDelta, Zcdp};
