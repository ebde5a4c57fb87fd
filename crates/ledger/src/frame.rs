//! A record as it is stored: its bytes, and how each is chained to the one before.
//!
//! ```text
//! version u16 | kind u8 | seq u64 | length of the key u16 | key | body | hash, 32 bytes
//! ```
//! Numbers are little endian. The hash is the SHA-256 of the hash before and of everything in front of it. There is one
//! way to write a record down: the body is what is left, and a record without a key has an empty one.

use odometer::journal::Receipt;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The SHA-256 of a record and of everything before it.
pub type Hash = [u8; HASH];

/// Its length.
const HASH: usize = 32;

/// What the first record comes after.
pub(crate) const NO_HASH: Hash = [0; HASH];

/// The version of the format that is written: of frames, and of the records in them. It has forms of maps that are made of
/// others, versions of transformations, and numbers of messages. (2 is what rows of several records begin with.)
pub const VERSION: u16 = 3;

/// The versions that are read. A ledger may have records of both.
const KNOWN: [u16; 2] = [1, VERSION];

/// How long a request key may be, in bytes, together with the path of its account.
pub const MAX_KEY: usize = 4096;

/// How long the body of a record may be, in bytes. (A checkpoint's may be longer: [`MAX_CHECKPOINT`].)
pub const MAX_BODY: usize = 1 << 20;

/// How long the body of a checkpoint may be, in bytes.
pub const MAX_CHECKPOINT: usize = 1 << 30;

const KIND: usize = 2;
const SEQ: usize = 3;
const KEY_LENGTH: usize = 11;
const KEY: usize = 13;
/// How long a body is, usually.
const USUAL: usize = 256;
/// What a frame without key and body has.
const SHORTEST: usize = KEY + HASH;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The first of a ledger: random bytes, so that no two ledgers have the same chain.
    Begin,
    /// Something that happened to accounts.
    Event,
    /// The state of all accounts after everything before it.
    Checkpoint,
}

impl Kind {
    const fn number(self) -> u8 {
        match self {
            Self::Begin => 0,
            Self::Event => 1,
            Self::Checkpoint => 2,
        }
    }

    const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Begin),
            1 => Some(Self::Event),
            2 => Some(Self::Checkpoint),
            _ => None,
        }
    }

    const fn longest(self) -> usize {
        match self {
            Self::Begin | Self::Event => MAX_BODY,
            Self::Checkpoint => MAX_CHECKPOINT,
        }
    }
}

/// A record that has no place in the chain yet.
#[derive(Debug)]
pub struct Unchained(Vec<u8>);

/// Something to be recorded is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a record takes keys of {MAX_KEY} and bodies of {MAX_BODY} bytes; these have {key} and {body}: shorten the names"
)]
pub struct TooLong {
    /// The length of the key.
    pub key: usize,
    /// The length of the body.
    pub body: usize,
}

impl From<TooLong> for String {
    fn from(error: TooLong) -> Self {
        error.to_string()
    }
}

impl Unchained {
    /// A record with this body. A key is indexed, and occurs once in a ledger; an empty one is none.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn new(kind: Kind, key: &[u8], body: &[u8]) -> Result<Self, TooLong> {
        Self::written(kind, key, |bytes| {
            bytes.extend(body);
            Ok(())
        })
    }

    /// The same, with a body that is written where it belongs.
    pub(crate) fn written<E: From<TooLong>>(
        kind: Kind,
        key: &[u8],
        body: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let too_long = |body| TooLong {
            key: key.len(),
            body,
        };
        if key.len() > MAX_KEY {
            return Err(too_long(0).into());
        }
        let key_length = u16::try_from(key.len()).map_err(|_| too_long(0))?;
        let mut bytes = Vec::with_capacity(SHORTEST + key.len() + USUAL);
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(kind.number());
        bytes.extend([0; 8]);
        bytes.extend(key_length.to_le_bytes());
        bytes.extend(key);
        body(&mut bytes)?;
        let body = bytes.len() - KEY - key.len();
        match body > kind.longest() {
            true => Err(too_long(body).into()),
            false => Ok(Self(bytes)),
        }
    }

    /// The key, if there is one.
    pub fn key(&self) -> Option<&[u8]> {
        key(&self.0)
    }

    /// Puts it behind this record.
    pub(crate) fn seal(self, seq: u64, before: &Hash) -> Frame {
        let mut bytes = self.0;
        bytes[SEQ..KEY_LENGTH].copy_from_slice(&seq.to_le_bytes());
        let hash = chained(before, &bytes);
        bytes.extend(hash);
        Frame(bytes)
    }
}

fn chained(before: &Hash, content: &[u8]) -> Hash {
    let hash = Sha256::new().chain_update(before).chain_update(content);
    hash.finalize().into()
}

fn key(bytes: &[u8]) -> Option<&[u8]> {
    let key = &bytes[KEY..KEY + key_length(bytes)];
    (!key.is_empty()).then_some(key)
}

fn key_length(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([
        bytes[KEY_LENGTH],
        bytes[KEY_LENGTH + 1],
    ]))
}

/// A record with its place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<B: AsRef<[u8]> = Vec<u8>>(B);

impl<B: AsRef<[u8]>> Frame<B> {
    /// Reads a record that should have this number and come after this hash.
    ///
    /// # Errors
    /// [`Flaw`].
    pub fn read(bytes: B, seq: u64, before: &Hash) -> Result<Self, Flaw> {
        let frame = Self::parse(bytes)?;
        let found = frame.seq();
        if found != seq {
            return Err(Flaw::Misplaced { found });
        }
        if chained(before, frame.content()) != frame.hash() {
            return Err(Flaw::Altered);
        }
        Ok(frame)
    }

    /// Reads a record, and believes what it says of its place.
    pub(crate) fn parse(bytes: B) -> Result<Self, Flaw> {
        let all = bytes.as_ref();
        if all.len() < KIND {
            return Err(Flaw::Short);
        }
        let version = u16::from_le_bytes([all[0], all[1]]);
        if !KNOWN.contains(&version) {
            return Err(Flaw::Version { found: version });
        }
        if all.len() < SHORTEST || all.len() < SHORTEST + key_length(all) {
            return Err(Flaw::Short);
        }
        Kind::from_number(all[KIND]).ok_or(Flaw::Altered)?;
        Ok(Self(bytes))
    }

    /// Its number.
    pub fn seq(&self) -> u64 {
        let mut seq = [0; 8];
        seq.copy_from_slice(&self.bytes()[SEQ..KEY_LENGTH]);
        u64::from_le_bytes(seq)
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        // Checked when it was read.
        Kind::from_number(self.bytes()[KIND]).unwrap_or(Kind::Event)
    }

    /// Its key, if it has one.
    pub fn key(&self) -> Option<&[u8]> {
        key(self.bytes())
    }

    /// What is recorded.
    pub fn body(&self) -> &[u8] {
        let content = self.content();
        &content[KEY + key_length(content)..]
    }

    /// Its number and hash.
    pub fn receipt(&self) -> Receipt {
        Receipt {
            seq: self.seq(),
            hash: self.hash(),
        }
    }

    /// All of it, as it is stored.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    fn content(&self) -> &[u8] {
        let bytes = self.bytes();
        &bytes[..bytes.len() - HASH]
    }

    fn hash(&self) -> Hash {
        let (mut hash, bytes) = (NO_HASH, self.bytes());
        hash.copy_from_slice(&bytes[bytes.len() - HASH..]);
        hash
    }
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is not there, although later ones are.
    #[error("it is missing")]
    Missing,
    /// It was cut off.
    #[error("it is cut off")]
    Short,
    /// It has another number.
    #[error("record {found} is in its place")]
    Misplaced {
        /// The number that it has.
        found: u64,
    },
    /// It, or something before it, is not what was written.
    #[error("it is not what was written: its hash does not fit")]
    Altered,
    /// It was written by another version.
    #[error(
        "it has version {found} of the format, and this program reads up to {VERSION}: use a newer program"
    )]
    Version {
        /// Its version.
        found: u16,
    },
    /// The index of keys or of checkpoints says something else than the records.
    #[error("the store's index does not agree with it")]
    Index,
}
