//! The exact privacy of the code that runs, over every adaptive adversary.
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
mod system;
mod truncated;

pub use attack::{Attack, Play};
pub use audit::{Audit, DEFAULT_RUNS, Report, Stats, audit};
pub use claims::{Claim, Verdict};
pub use concurrent::Part;
pub use error::AuditError;
pub use ever::Tail;
pub use factor::{Bounds, Factor};
pub use profile::{Direction, Piece, Profile};
pub use system::{Input, System, player};
pub use truncated::{Reading, ReportsLoss, Shown, Truncated};
