//! The tilted contour with the trapezoid rule, certified. `docs/accountant.md` has the proof; in short, for the loss `L` of
//! a composition, `δ(ε) = E(1 − e^{ε−L})₊`, `W = 2π/h` and `z_n = λ + inh`:
//!
//! `(h/2π)·Σ_n e^{K(z_n) − z_n ε}/(z_n(z_n+1)) = Σ_m e^{λmW}·δ(ε + mW) ≥ δ(ε)` for every λ > 0 and h > 0.
//!
//! What is computed is the sum over `|n| ≤ N`, plus a bound of the rest, plus a bound of all rounding errors.

mod bounds;
mod factors;
mod list;
mod nodes;
mod plan;
mod saddle;
mod scaled;
mod singles;
mod solve;
#[cfg(test)]
mod tests;

pub(crate) use bounds::{top_delta, top_epsilon};
pub(crate) use list::List;
pub(crate) use solve::{deltas, epsilon};
