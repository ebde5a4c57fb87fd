//! The exact privacy of the code that runs, over every adaptive adversary.
//!
//! For a finite machine, the worst case over all adaptive adversaries can be computed exactly. The auditor replays the
//! real machine with scripted coins, on two neighbouring inputs, for every sequence of queries and every outcome of every
//! draw; and returns δ(ε) for every ε, or the best attack as a decision tree that a person can read.
//!
//! # Audit your own machine
//!
//! ```
//! use auditor::{Factor, Input, audit};
//! use measures::{Epsilon, EpsilonDelta};
//! use queryable::{Root, Scope, coins::{Bit, Probability}, machine};
//!
//! // Randomized response that tells the truth three times in four, and may be asked again and again.
//! let build = |input: Input, root: &Root| {
//!     let lie = Bit::new(Probability::new(1, 4).unwrap());
//!     root.spawn(machine(move |(), scope: &mut Scope<'_>| {
//!         Ok(scope.draw(&lie)? ^ (input == Input::One))
//!     }))
//! };
//! let report = audit(build).asking(2, |_history| vec![()])?;
//! assert_eq!(report.delta(&Factor::new(3, 1)?).to_string(), "3/8 = 0.375000");
//! assert!(report.claims(&"2.2".parse::<Epsilon>()?)?.holds()); // 2 ln 3
//! let verdict = report.claims(&"(1.1, 0)".parse::<EpsilonDelta>()?)?;
//! println!("{verdict}"); // refuted: accepts with probability 9/16 on input 0 and 1/16 on input 1: …
//! assert!(verdict.attack().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Offer every query that makes a difference, and a depth that covers the conversation: the result is the worst case over
//! all adversaries that ask what was offered. Errors, halts and panics are answers like any other.
//!
//! # What there is
//! - [`audit`]: [`Report::delta`], the whole [`Profile`], [`Report::factor`] (ε for a δ), total variation,
//!   [trade-off curve](Profile::trade_off), [Rényi divergences](Report::renyi), [attacks](Report::attack);
//!   concurrent parts with merged interleavings ([`Audit::concurrently`]).
//! - [`Report::claims`]: does a loss of any measure hold? With the slack, or the attack.
//! - [`Truncated`]: odometers by their truncated view. [`Report::ever_passes`]: time-uniform odometers.
//! - [`simulate`]: the simulators from the proofs. [`adversary`]: adversaries as machines.
//! - [`Sampling`]: a statistical lower bound on ε, for what cannot be enumerated.
//!
//! # What it relies on
//! Deterministic adversaries suffice (000 Lemma 2.3, 003 Lemma 11.1). Every draw goes through the scope and describes the
//! law that it samples; randomness from elsewhere is found when a replay differs, not before. Every run checks
//! what it shares with the run before, and all runs (evenly spaced ones, 256 at the least, where there are more than 512) are
//! made a second time and compared to their last answer. Everything is exact: `e^ε`
//! is a rational, probabilities are rationals, and what is irrational is given as certified bounds. Where a distribution
//! was truncated, δ is bounded from both sides, never guessed. Timing is not covered.

pub mod adversary;
pub mod simulate;

mod attack;
mod audit;
mod chain;
mod claims;
mod concurrent;
mod error;
mod ever;
mod explore;
mod factor;
mod graph;
mod join;
mod profile;
mod progress;
mod renyi;
mod rerun;
mod statistical;
mod system;
mod truncated;

pub use attack::{Attack, Play};
pub use audit::{Audit, DEFAULT_RUNS, MAX_DEPTH, Report, Stats, audit};
pub use claims::{Claim, Verdict};
pub use concurrent::Part;
pub use error::AuditError;
pub use ever::Tail;
pub use factor::{Bounds, Factor};
pub use profile::{Direction, Piece, Profile};
pub use statistical::{Evidence, Sampling};
pub use system::{Input, System, player};
pub use truncated::{Reading, ReportsLoss, Shown, Truncated};
