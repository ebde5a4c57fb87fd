//! Rules for losses fixed in advance: advanced, optimal and hybrid composition. Numerical composition,
//! of many different losses and of whole profiles, is in the crate `accountant`.
//!
//! These are valid when every loss is known before the first launch, and only then; they implement
//! [`FixedRule`](crate::FixedRule), never [`Adaptive`](crate::Adaptive) or [`FilterRule`](crate::FilterRule). As a
//! filter, optimal composition leaks: with a budget of (1.5, 0.1), launch a randomized response of 0.25, then by its
//! answer one of 1.49558 or four of 0.592719; either branch fits, and the true δ(1.5) is 0.13483.
//!
//! Children may be interactive and interleave as [`Rule::INTERLEAVING`](crate::Rule::INTERLEAVING) says.

mod advanced;
mod hybrid;
mod optimal;
mod product;
mod slots;

pub use advanced::Advanced;
pub use hybrid::Hybrid;
pub use optimal::{Method, Optimal, OptimalPure, optimal_delta, optimal_delta_counted};
pub use product::TradeoffProduct;
pub use slots::tightest;
