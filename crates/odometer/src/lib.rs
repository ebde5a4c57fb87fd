//! Measurements, and what keeps account of them: odometers, filters, compositors and partitions, nested and concurrent,
//! at constant cost.
//!
//! ```
//! use measures::{Basic, PrivacyMap, PureDp, SymmetricDistance};
//! use odometer::{Measurement, Odometer, Space};
//!
//! let records = Space::any::<Vec<i64>>(SymmetricDistance);
//! let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?);
//! let query = Measurement::new("query", records, map, |data, _scope| Ok(data.len())); // yours adds noise
//!
//! // An organisation's budget of 1, at distance 1; a team may spend 0.5 of it, an analyst in the team as much as is left.
//! let organisation = Odometer::new(records, Basic::new(PureDp)).named("the organisation");
//! let organisation = organisation.filter(1, "1".parse()?)?.invoke(vec![3, 1, 4])?;
//! let team = organisation.nested("team red").capped(1, "0.5".parse()?).open()?;
//! let analyst = team.nest()?;
//! for _ in 0..5 {
//!     analyst.launch(&query)?; // admitted and charged by all three, then run
//! }
//! let refusal = analyst.launch(&query).unwrap_err();
//! assert!(refusal.to_string().starts_with("refused by team red: `query` asks for 0.1, but only 0 is left of 0.5"));
//! assert_eq!(organisation.remaining(&1)?, Some("0.5".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What happens at a launch
//! 1. Every account from the session to the root, or to the nearest filter that was launched in full, is asked whether
//!    the launch fits. What is refused has not read the data, and leaves everything as it was.
//! 2. All of them charge it, as one step. What was charged stays charged, whether the mechanism answers, errs or panics.
//! 3. It runs, outside all locks.
//!
//! Every account is charged the launched measurement's *own* loss, in that account's measure and at its distance: never a
//! total, nor a converted total.
//!
//! # Who vouches for what
//! The author of a measurement vouches for its privacy map and for what its errors say; the author of a transformation,
//! for its stability map. An analyst who may only choose among given measurements vouches for nothing; one who may write
//! measurements is trusted with their maps. Timing and memory use are not covered. The theorems for (ε, δ), f-DP and
//! Gaussian DP ask for finite communication: a process sends fewer than 2⁶⁴ messages of bounded size, and that is the
//! bound.

mod account;
mod addresses;
mod bill;
mod compositor;
mod data;
mod error;
mod ledger;
mod link;
mod measurement;
pub mod message;
mod nested;
mod odometer;
mod partition;
mod payer;
mod questions;
mod readings;
mod session;
mod snapshot;
mod space;
mod split;
mod sync;
mod tallies;
mod time_uniform;
mod transformation;

pub use account::MAX_NESTING;
pub use compositor::{ComposedBy, Composition, Compositor};
pub use error::{LaunchError, Refusal};
pub use measurement::{Description, Measurement};
pub use nested::Nested;
pub use odometer::{Filter, FilterAfter, Odometer, Pipeline, Transformed};
pub use partition::{CountsRecords, Partition};
pub use session::Session;
pub use snapshot::{Charge, RestoreError, Snapshot, SnapshotOf};
pub use space::{AnyOf, Connected, Domain, Space};
pub use time_uniform::{TimeUniformOdometer, TimeUniformSession};
pub use transformation::{Mismatch, Transformation};
