//! Rules that are valid for adaptively chosen losses (part C of the spec). Each says which theorem makes it valid, under
//! which hypotheses, for which notion of odometer, how children may interleave, and where it rounds.
//!
//! Approximate Rényi privacy is not offered: no proof is known to us that its losses add up under adaptive choice.

mod basic;

pub use basic::{Additive, Basic, Sum};
