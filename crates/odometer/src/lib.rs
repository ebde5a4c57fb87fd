//! Measurements, and what keeps account of them: odometers, filters, compositors and partitions, nested and concurrent,
//! at constant cost.
//!
//! ```
//! use odometry::measures::{Basic, PrivacyMap, PureDp};
//! use odometry::odometer::{Measurement, Odometer, Records};
//!
//! let records = Records::<i64>::new();
//! let map = PrivacyMap::per_record(PureDp, "0.1")?;
//! let query = Measurement::new("query", records, map, |data, _scope| Ok(data.len())); // yours adds noise
//!
//! // An organisation's budget of 1, at distance 1; a team may spend 0.5 of it, an analyst in the team as much as is left.
//! let organisation = Odometer::new(records, Basic::new(PureDp)).named("the organisation");
//! let organisation = organisation.filter(1, "1")?.invoke(vec![3, 1, 4])?;
//! let team = organisation.nested("team red").capped(1, "0.5").open()?;
//! let analyst = team.nested("an analyst").open()?;
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
//! for its stability map and that it never fails (the first failure stops everything on those data, and the operator's
//! [`Watch`] says what it was). An analyst who may only choose among given measurements vouches for nothing; one who may write
//! measurements is trusted with their maps. Timing and memory use are not covered. The theorems for (ε, δ), f-DP and
//! Gaussian DP ask for finite communication: a launch, with everything it spawns, answers at most 2⁴⁸ messages
//! ([`Odometer::answering_at_most`] sets another number).
//!
//! Papers are cited by keys such as \[HST+23\]; `docs/references.md` in the repository lists them all.

mod account;
mod collection;
mod compositor;
mod durable;
mod error;
mod failure;
#[doc(hidden)]
pub mod internal;
pub mod journal;
mod launcher;
mod measurement;
pub mod message;
mod odometer;
mod partition;
mod pipeline;
#[cfg(model)]
pub mod planted;
#[cfg(not(model))]
mod planted;
mod refusal;
mod remaining;
mod session;
mod space;
mod sync;
mod time_uniform;
mod transformation;

pub use account::questions::{Bookmark, Listed};
pub use account::{DEFAULT_QUOTA, MAX_NESTING};
pub use collection::{Collection, Partible};
pub use compositor::{ComposedBy, Composition, Compositor};
pub use error::{LaunchError, OpenError};
pub use launcher::Launcher;
pub use measurement::{Description, Measurement};
pub use odometer::{Filter, Odometer};
pub use partition::{PartOf, Partition};
pub use pipeline::{FilterAfter, Pipeline, Transformed};
pub use refusal::{Refusal, RefusedLosses};
pub use remaining::Remaining;
pub use session::Session;
pub use session::any::{AnyNested, AnySession, Budget};
pub use session::durable::{KeyedLaunch, Receipted};
pub use session::linked::NamedLink;
pub use session::nested::Nested;
pub use session::plan::{AnyPlan, Plan};
pub use session::questions::Charge;
pub use session::watch::{Failure, Watch};
pub use space::{Any, Connected, OfRecords, Records, Space};
pub use time_uniform::{TimeUniformOdometer, TimeUniformSession};
pub use transformation::{Mismatch, Transformation};
