//! Rules that are valid for adaptively chosen losses. Each says which theorem makes it valid, under
//! which hypotheses, for which notion of odometer, how children may interleave, and where it rounds.
//!
//! | rule | accumulator, filter | filter only | time-uniform |
//! |---|---|---|---|
//! | basic | [`Basic`], [`ImprovedBasic`] | | [`TimeUniformBasic`] |
//! | \[WRRW23\] | [`WhitehouseOdometer`] | [`WhitehouseFilter`] | |
//! | through zCDP | [`ConcentratedOdometer`] | [`ConcentratedFilter`] | |
//! | \[RRUV16\], filter | [`RogersLeastBudget`] | | |
//! | \[RRUV16\], odometer | [`RogersOdometer`] | | [`TimeUniformRogers`] |
//! | Rényi, zCDP, approximate zCDP | [`Basic`] | | |
//! | Gaussian | [`GaussianComposition`] | | |
//! | Gaussian except with probability δ | [`ApproxGaussianComposition`] | | |
//! | δ only | [`ImprovedBasic`] | | |
//! | several at once | | [`Union`] | |
//!
//! Approximate Rényi privacy is not offered: we know of no proof that its losses add up under adaptive choice.

mod approximate_gaussian;
mod basic;
mod concentrated;
mod gaussian;
mod improved;
mod rogers;
mod rogers_least_budget;
mod rogers_odometer;
mod search;
mod slack;
mod tally;
mod time_uniform;
mod union;
mod whitehouse;

pub use approximate_gaussian::{ApproxGaussianComposition, SquareDeltaSum};
pub use basic::{Additive, Basic, Sum};
pub use concentrated::{Concentrated, ConcentratedFilter, ConcentratedOdometer};
pub use gaussian::{GaussianComposition, SquareSum};
pub use improved::{ImprovedBasic, ImprovedSum};
pub use rogers::RogersTally;
pub use rogers_least_budget::RogersLeastBudget;
pub use rogers_odometer::RogersOdometer;
pub use slack::{Concentration, SlackFilter, SlackGate, SlackOdometer, SlackTally};
pub(crate) use tally::{add_times, on_grid};
pub use time_uniform::{PureTally, TimeUniformBasic, TimeUniformRogers};
pub use union::{Both, Union};
pub use whitehouse::{Whitehouse, WhitehouseFilter, WhitehouseOdometer};
