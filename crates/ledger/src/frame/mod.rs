//! A record as it is stored: its bytes, and how each is chained to the one before.
//!
//! ```text
//! version u16 | kind u8 | seq u64 | length of the key u16 | length of the fields u32 | key | fields | body | hash, 32 bytes
//! ```
//! Numbers are little endian. The hash is the SHA-256 of the hash before and of everything in front of it. There is one
//! way to write a record down: the body is the rest, and a record without a key or fields has empty ones. Versions 1 and 3 have
//! no fields, and no length of them.
//!
//! The kind is a number. Its highest bit is set if a reader must understand it; [`Fields`] have such a bit of their own.

mod flaw;
mod kind;

pub use self::{flaw::Flaw, kind::Kind};

use odometer::journal::{FieldError, Fields, MAX_FIELD_BYTES, Receipt};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The SHA-256 of a record and of everything before it.
pub type Hash = [u8; HASH];

/// Its length.
const HASH: usize = 32;

/// What the first record comes after.
pub(crate) const NO_HASH: Hash = [0; HASH];

/// The version of the format that is written: of frames, and of the records in them. It has a kind for each event, and optional
/// fields. (2 is what rows of several records begin with.)
pub const VERSION: u16 = 4;

/// The versions before. They are read, and a ledger may begin with records of both.
const OLDER: [u16; 2] = [1, 3];

/// How long a request key may be, in bytes, together with the path of its account.
pub const MAX_KEY: usize = 4096;

/// How long the body of a record may be, in bytes. (A checkpoint's may be longer: [`MAX_CHECKPOINT`].)
pub const MAX_BODY: usize = 1 << 20;

/// How long the body of a checkpoint may be, in bytes.
pub const MAX_CHECKPOINT: usize = 1 << 30;

/// Longer than any record.
pub(crate) const LONGEST: usize = MAX_CHECKPOINT + MAX_KEY + MAX_FIELD_BYTES + KEY + HASH;

const KIND: usize = 2;
const SEQ: usize = 3;
const KEY_LENGTH: usize = 11;
const FIELDS_LENGTH: usize = 13;
const KEY: usize = 17;
/// Where the key is in older versions.
const OLDER_KEY: usize = FIELDS_LENGTH;
/// How long a body is, usually.
const USUAL: usize = 256;

/// A record that has no place in the chain yet.
#[derive(Debug)]
pub struct Unchained(Vec<u8>);

/// Why something is not written as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// It is too long.
    #[error(
        "a record takes keys of {MAX_KEY} and bodies of {MAX_BODY} bytes; these have {key} and {body}: shorten the names"
    )]
    TooLong {
        /// The length of the key.
        key: usize,
        /// The length of the body.
        body: usize,
    },
    /// Its fields cannot be written.
    #[error("the record cannot be written: {0}")]
    Fields(#[from] FieldError),
    /// Its kind belongs to another version.
    #[error("records of this kind are only read: use one of the kinds of version {VERSION}")]
    Kind,
}

impl From<FrameError> for String {
    fn from(error: FrameError) -> Self {
        error.to_string()
    }
}

impl Unchained {
    /// A record with this body, and without fields. A key is indexed, and occurs once in a ledger; an empty one is none.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn new(kind: Kind, key: &[u8], body: &[u8]) -> Result<Self, FrameError> {
        Self::written(kind, key, &Fields::default(), |bytes| {
            bytes.extend(body);
            Ok(())
        })
    }

    /// The same, with fields, and with a body that is written where it belongs.
    ///
    /// # Errors
    /// Those of `body`, and [`FrameError`].
    pub fn written<E: From<FrameError>>(
        kind: Kind,
        key: &[u8],
        fields: &Fields,
        body: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let too_long = |body| FrameError::TooLong {
            key: key.len(),
            body,
        };
        if key.len() > MAX_KEY {
            return Err(too_long(0).into());
        }
        let number = kind.number().ok_or(FrameError::Kind)?;
        let fields = fields.encode().map_err(FrameError::from)?;
        let before = KEY + key.len() + fields.len();
        let mut bytes = Vec::with_capacity(before + USUAL + HASH);
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(number);
        bytes.extend([0; 8]);
        bytes.extend((key.len() as u16).to_le_bytes());
        bytes.extend((fields.len() as u32).to_le_bytes());
        bytes.extend(key);
        bytes.extend(fields);
        body(&mut bytes)?;
        let body = bytes.len() - before;
        match body > kind.longest() {
            true => Err(too_long(body).into()),
            false => Ok(Self(bytes)),
        }
    }

    /// The key, if there is one.
    pub fn key(&self) -> Option<&[u8]> {
        let length = key_length(&self.0);
        (length > 0).then(|| &self.0[KEY..KEY + length])
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

fn key_length(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([
        bytes[KEY_LENGTH],
        bytes[KEY_LENGTH + 1],
    ]))
}

/// Where the fields of a record begin, and where its body does.
struct Layout {
    key: usize,
    fields: usize,
    body: usize,
}

impl Layout {
    /// Nothing if the bytes end before the hash does.
    fn of(bytes: &[u8]) -> Option<Self> {
        let is_older = bytes.len() < KIND || bytes[..KIND] != VERSION.to_le_bytes();
        let key = if is_older { OLDER_KEY } else { KEY };
        if bytes.len() < key + HASH {
            return None;
        }
        let fields_length = match is_older {
            true => 0,
            false => u32::from_le_bytes([bytes[13], bytes[14], bytes[15], bytes[16]]),
        };
        let fields = key + key_length(bytes);
        let body = fields.checked_add(usize::try_from(fields_length).ok()?)?;
        let is_whole = body <= bytes.len() - HASH;
        is_whole.then_some(Self { key, fields, body })
    }
}

/// A record with its place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<B: AsRef<[u8]> = Vec<u8>>(B);

impl<B: AsRef<[u8]>> Frame<B> {
    /// Reads a record that should have this number and come after this hash.
    ///
    /// # Errors
    /// [`Flaw`]; also if it is as it was written, and has a kind or fields that this program must not ignore.
    pub fn read(bytes: B, seq: u64, before: &Hash) -> Result<Self, Flaw> {
        let frame = Self::parse(bytes)?;
        let found = frame.seq();
        if found != seq {
            return Err(Flaw::Misplaced { found });
        }
        if chained(before, frame.content()) != frame.hash() {
            return Err(Flaw::Altered);
        }
        frame.understood()?;
        Ok(frame)
    }

    /// Reads a record, and believes its number and its hash.
    pub(crate) fn parse(bytes: B) -> Result<Self, Flaw> {
        let all = bytes.as_ref();
        if all.len() < KIND {
            return Err(Flaw::Short);
        }
        let found = u16::from_le_bytes([all[0], all[1]]);
        if found != VERSION && !OLDER.contains(&found) {
            return Err(Flaw::Version { found });
        }
        match Layout::of(all) {
            Some(_) => Ok(Self(bytes)),
            None => Err(Flaw::Short),
        }
    }

    /// Is there nothing in it that this program does not know and must not ignore?
    pub(crate) fn understood(&self) -> Result<(), Flaw> {
        self.known_kind()?;
        self.fields()?;
        Ok(())
    }

    fn known_kind(&self) -> Result<Kind, Flaw> {
        let number = self.bytes()[KIND];
        match self.version() == VERSION {
            true => Kind::of(number),
            false => Kind::of_older(number),
        }
    }

    /// The version that it was written in.
    pub fn version(&self) -> u16 {
        u16::from_le_bytes([self.bytes()[0], self.bytes()[1]])
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
        let number = self.bytes()[KIND];
        self.known_kind().unwrap_or(Kind::Other(number))
    }

    /// Its key, if it has one.
    pub fn key(&self) -> Option<&[u8]> {
        let layout = self.layout();
        let key = &self.bytes()[layout.key..layout.fields];
        (!key.is_empty()).then_some(key)
    }

    /// Its optional fields.
    ///
    /// # Errors
    /// [`FieldError`]: only for a frame that was not read, because reading checks them.
    pub fn fields(&self) -> Result<Fields, FieldError> {
        let layout = self.layout();
        Fields::decode(&self.bytes()[layout.fields..layout.body])
    }

    /// What is recorded.
    pub fn body(&self) -> &[u8] {
        &self.content()[self.layout().body..]
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

    fn layout(&self) -> Layout {
        // Checked when it was parsed.
        Layout::of(self.bytes()).unwrap_or(Layout {
            key: 0,
            fields: 0,
            body: 0,
        })
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
