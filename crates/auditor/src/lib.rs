//! The exact privacy of the code that runs, over every adaptive adversary.
//!
//! For a finite machine, the worst case over all adaptive adversaries can be computed exactly. The auditor replays the
//! real machine with scripted coins, on two neighbouring inputs, for every sequence of queries and every outcome of every
//! draw; and returns δ(ε) for every ε, or the best attack as a decision tree that a person can read.
//!
//! # Audit your own machine
//!
//! ```
//! use odometry::auditor::{Factor, Input, audit};
//! use odometry::measures::{Epsilon, EpsilonDelta};
//! use odometry::queryable::{Root, Scope, coins::{Bit, Probability}, machine};
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
//! println!("{verdict}"); // refuted: accepts with probability 0.5625 (9/16) on input 0 and 0.0625 (1/16) on …
//! assert!(verdict.attack().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Offer every query that makes a difference, and a depth that covers the conversation: the result is the worst case over
//! all adversaries that ask what was offered. Errors, halts and panics are answers like any other.
//!
//! # What there is
//! - [`audit_measurement`]: a measurement in one call, with the claim of its own map.
//! - [`audit`]: [`Report::delta`], the whole [`DirectedProfile`], [`Report::factor`] (ε for a δ), total variation,
//!   [trade-off curve](DirectedProfile::trade_off), [Rényi divergences](Report::renyi), [attacks](Report::attack);
//!   concurrent parts with merged interleavings ([`Audit::concurrently`]).
//! - [`Report::claims`]: does a loss of any measure hold? With the slack, or the attack.
//!   [`Report::converts`]: does a conversion?
//! - [`Truncated`]: odometers by their truncated view. [`Report::ever_passes`]: time-uniform odometers.
//! - [`simulate`]: the simulators from the proofs. [`adversary`]: adversaries as machines.
//! - [`Sampling`]: a statistical lower bound on ε, for what cannot be enumerated.
//!
//! # What it relies on
//! Deterministic adversaries suffice (\[HST+23\] Lemma 2.3, \[HSV25\] Lemma 11.1). Everything is exact: `e^ε` is a
//! rational, probabilities are rationals, and what is irrational is given as certified bounds; what is printed is
//! rounded in the direction of the claim. Where a distribution was truncated, δ is bounded from both sides, never
//! guessed.
//!
//! A [`Verdict`] says what it is about, as text and typed ([`Coverage`]): how many queries were offered, to which depth,
//! whether that cut a history off, whether interleavings were merged, how many runs were made again. Beyond it:
//! - Every draw goes through the scope and describes the law that it samples. Randomness from elsewhere is found when a
//!   replay differs, not before. Every run checks what it shares with the run before, and 512 runs per input
//!   ([`Audit::reruns`]; the same ones again and again if there are few) are made again and compared to their last answer:
//!   what changes a run with probability p stays hidden with probability `(1 − p)^512`.
//! - What is offered is a function of the history. It is asked for twice and compared, and compared between the inputs.
//! - Equal answers are one answer. For integers, texts, tuples and the like
//!   ([`Canonical`](queryable::Canonical)) this is checked: equal answers with different
//!   capacities, or at different addresses if they are static, are an error. For other types it is
//!   an assumption, made by [`Audit::trusting_equality`] or [`Attested`](queryable::Attested), and
//!   the verdict states it. Answers that are not equal, but whose order does not distinguish them,
//!   are an error.
//! - Timing is not covered, nor are the other channels that `docs/theorems.md` lists.
//!
//! Papers are cited by keys such as \[HST+23\]; `docs/references.md` in the repository lists them all.
//!
//! Audits end: runs, draws per run ([`Audit::draws`]), memory ([`Audit::memory`]) and depth are bounded, with typed errors.

pub mod adversary;
pub mod simulate;

mod answers;
mod attack;
mod audit;
mod chain;
mod claims;
mod concurrent;
mod coverage;
mod decisions;
mod equality;
mod error;
mod ever;
mod explore;
mod factor;
mod graph;
mod join;
mod limits;
mod links;
mod mass;
mod masses;
mod measurement;
mod merge;
mod printed;
mod profile;
mod progress;
mod renyi;
mod replay;
mod report;
mod rerun;
mod shown;
mod statistical;
mod system;
mod truncated;
mod weigh;

pub use attack::{Attack, Play};
pub use audit::{Audit, audit};
pub use claims::{Claim, Finding, Verdict};
pub use concurrent::{DEFAULT_TURNS, Part};
pub use coverage::{Coverage, Merged};
pub use equality::{Checked, Equality, Trusted};
pub use error::AuditError;
pub use ever::Tail;
pub use factor::{Enclosure, Factor};
pub use limits::{DEFAULT_DRAWS, DEFAULT_MEMORY, DEFAULT_RERUNS, DEFAULT_RUNS, MAX_ROUNDS};
pub use measurement::{
    Audited, AuditedAs, MeasurementAudit, audit_measurement, audit_measurement_at,
};
pub use profile::{DirectedProfile, Direction, Piece};
pub use report::{Report, Stats};
pub use statistical::{Evidence, Sampling};
pub use system::{History, Input, System, player};
pub use truncated::{ReportsLoss, Shown, Truncated};
