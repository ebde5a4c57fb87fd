//! Snapshots: all that a journal in memory amounts to, in one piece. No state of any mechanism, no data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::journal::{
    Record, State,
    checksum::{Unsummed, checksum},
};

/// The version that is written. The first one was that of single accounts.
const VERSION: u32 = 2;

/// Everything that was charged on a [journal in memory](crate::journal::Memory): every account of every tree, parts of partitions,
/// filters and compositors, halts and request keys. It is what a ledger's checkpoint is, with a version and a checksum of its
/// own; write it down in any format of `serde`'s that writes the names of fields (JSON, for one).
///
/// Restoring an older one is a refund: see [`Memory::restored_by_operator`](crate::journal::Memory::restored_by_operator).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Snapshot {
    pub(super) state: State,
    /// The launches that have request keys, with their numbers.
    pub(super) keyed: Vec<(u64, Record)>,
    /// How many records there were.
    pub(super) written: u64,
}

/// As it is written. What is missing may be another version's.
#[derive(Serialize, Deserialize)]
struct Fields {
    version: u32,
    places: Option<State>,
    keyed: Option<Vec<(u64, Record)>>,
    written: Option<u64>,
    /// Of everything above, against snapshots that were cut off or damaged. It is no protection against forgery.
    checksum: Option<u32>,
}

/// Why a snapshot cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It was written by another version.
    #[error("the snapshot has version {found}, and this program reads {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It is not what was written.
    #[error(
        "the snapshot is damaged: {0}; take an older one, or none, and mind that it is a refund"
    )]
    Damaged(String),
}

impl Snapshot {
    /// All accounts, and what was charged to them: for whoever looks.
    pub fn state(&self) -> &State {
        &self.state
    }

    fn checksum(&self) -> Result<u32, Unsummed> {
        checksum(&(VERSION, &self.state, &self.keyed, self.written))
    }
}

impl From<Snapshot> for Fields {
    fn from(snapshot: Snapshot) -> Self {
        Self {
            version: VERSION,
            checksum: snapshot.checksum().ok(),
            places: Some(snapshot.state),
            keyed: Some(snapshot.keyed),
            written: Some(snapshot.written),
        }
    }
}

impl TryFrom<Fields> for Snapshot {
    type Error = SnapshotError;

    fn try_from(fields: Fields) -> Result<Self, SnapshotError> {
        let found = fields.version;
        if found != VERSION {
            return Err(SnapshotError::Version { found });
        }
        let damaged = |why: &str| SnapshotError::Damaged(why.into());
        let missing = || damaged("something is missing");
        let snapshot = Self {
            state: fields.places.ok_or_else(missing)?,
            keyed: fields.keyed.ok_or_else(missing)?,
            written: fields.written.ok_or_else(missing)?,
        };
        match (fields.checksum, snapshot.checksum()) {
            (Some(stored), Ok(sum)) if stored == sum => Ok(snapshot),
            (None, _) => Err(missing()),
            _ => Err(damaged("its checksum is wrong")),
        }
    }
}
