//! One real stream: a writer sends what units contribute, a reader asks questions, and every part of the data has a
//! continual mechanism of its own.
//!
//! In the privacy game there are pairs of streams; here there is one, and the bounds on what a unit contributes are what
//! makes it a neighbour of the stream without that unit. So they are enforced: what a unit sends beyond its [`ContributionBounds`] is
//! replaced by the empty record, *and the mechanism still steps*. That an update was replaced depends on data. The reader
//! must not notice it: somebody who is told, or who sees that a mechanism did not step, learns something for which nobody
//! has paid.
//!
//! What is public: when an update comes, and for which part. What is protected: what it says, and whose it is. Where the
//! part itself must not be seen, send with [`Writer::update_everywhere`]. Timing is not covered.

mod bounds;
mod group_by;
mod handles;
mod part;
mod table;

use queryable::AskError;
use thiserror::Error;

pub use bounds::{ContributionBounds, MAX_SLOTS};
pub use group_by::GroupBy;
pub use handles::{Contributions, Handles, Reader, Writer};
pub use part::{Live, LivePart, latest, one_unit};
use table::MAX_PARTS;

use crate::error::AllowanceError;

/// Why an update was replaced by the empty record. It is for the writer's books: what it sends next must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum Replaced {
    /// The unit has sent as many updates as it may.
    #[error("the unit has sent as many updates as it may")]
    TooManyUpdates,
    /// The unit has touched as many parts as it may, or no slot that it has left has room for this part.
    #[error("the unit has no slot left with room for this part")]
    TooManyParts,
    /// Nobody has created this part: parts are created by lists and questions only.
    #[error("there is no such part: parts are created by lists and questions")]
    NoSuchPart,
}

/// What became of an update. Both are right: the bounds on contributions did their work.
pub type Recorded = Result<(), Replaced>;

/// Why something did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// Bounds that bound nothing, or too much.
    #[error("a unit has between 1 and {MAX_SLOTS} slots, and at least one update")]
    Bounds,
    /// No part can have this key.
    #[error("no part can have this key")]
    Unknown,
    /// There are as many parts as there can be.
    #[error("there are {MAX_PARTS} parts, and there can be no more")]
    TooManyParts,
    /// The part may not be created.
    #[error("the part may not be created: {0}")]
    Refused(#[from] AllowanceError),
    /// The part's mechanism did not answer.
    #[error(transparent)]
    Mechanism(#[from] AskError),
    /// What was written down belongs to other bounds.
    #[error(
        "what was written down belongs to other bounds: open with the bounds it was written under"
    )]
    OtherBounds,
}
