//! Snapshots: all that a journal in memory amounts to, in one piece. No state of any mechanism, no data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::journal::{Event, Fields, Record, State};

/// The version that is written. The first one was that of single accounts; the second had no optional fields.
const VERSION: u32 = 3;

/// The version before. Its checksum was one of values, and is not checked any more.
const OLDER: u32 = 2;

/// Everything that was charged on a [journal in memory](crate::journal::Memory): every account of every tree, parts of partitions,
/// filters and compositors, halts and request keys. It is what a ledger's checkpoint is, with a version and a checksum of its
/// own; write it down in any format of `serde`'s that writes the names of fields (JSON, for one).
///
/// Restoring an older one is a refund: see [`Memory::restored_by_operator`](crate::journal::Memory::restored_by_operator).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Snapshot {
    pub(super) state: State,
    /// The launches that have request keys, with their numbers.
    pub(super) keyed: Vec<(u64, Record)>,
    /// How many records there were.
    pub(super) written: u64,
}

/// As it is written. What is missing may be another version's.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    /// [`Body`] as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Of the bytes of the body, against snapshots that were cut off or damaged. It is no protection against forgery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<u32>,
    /// What version 2 had in the place of a body.
    #[serde(default, skip_serializing)]
    places: Option<State>,
    #[serde(default, skip_serializing)]
    keyed: Option<Vec<(u64, Event)>>,
    #[serde(default, skip_serializing)]
    written: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    places: State,
    keyed: Vec<(u64, Event, Fields)>,
    written: u64,
}

/// Why a snapshot cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It was written by another version.
    #[error(
        "the snapshot has version {found}, and this program reads {OLDER} and {VERSION}: use the program that wrote it"
    )]
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
}

impl From<Snapshot> for Written {
    fn from(snapshot: Snapshot) -> Self {
        let keyed = snapshot.keyed.into_iter();
        let body = Body {
            places: snapshot.state,
            keyed: keyed
                .map(|(seq, record)| (seq, record.event, record.fields))
                .collect(),
            written: snapshot.written,
        };
        // Fields that cannot be written were refused when they were staged. Without a body, nothing reads back.
        let body = serde_json::to_string(&body).ok();
        Self {
            version: VERSION,
            checksum: body.as_deref().map(checksum),
            body,
            places: None,
            keyed: None,
            written: None,
        }
    }
}

impl TryFrom<Written> for Snapshot {
    type Error = SnapshotError;

    fn try_from(written: Written) -> Result<Self, SnapshotError> {
        let damaged = |why: &str| SnapshotError::Damaged(why.into());
        let missing = || damaged("something is missing");
        match written.version {
            VERSION => {
                let body = written.body.ok_or_else(missing)?;
                if written.checksum.ok_or_else(missing)? != checksum(&body) {
                    return Err(damaged("its checksum is wrong"));
                }
                let body: Body = serde_json::from_str(&body)
                    .map_err(|error| SnapshotError::Damaged(exact::excerpt(&error)))?;
                let record = |(seq, event, fields)| (seq, Record { event, fields });
                Ok(Self {
                    state: body.places,
                    keyed: body.keyed.into_iter().map(record).collect(),
                    written: body.written,
                })
            }
            OLDER => Ok(Self {
                state: written.places.ok_or_else(missing)?,
                keyed: (written.keyed.ok_or_else(missing)?.into_iter())
                    .map(|(seq, event)| (seq, event.into()))
                    .collect(),
                written: written.written.ok_or_else(missing)?,
            }),
            found => Err(SnapshotError::Version { found }),
        }
    }
}

/// FNV-1a of the bytes of a text. It finds damage, not forgery.
fn checksum(text: &str) -> u32 {
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    (sum ^ (sum >> 32)) as u32
}
