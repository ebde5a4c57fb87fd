//! Optional fields of a record: statements that older programs may not know, each with a tag, a length and a value.
//!
//! ```text
//! tag u16 | length u32 | value | tag u16 | length u32 | value | …
//! ```
//! Numbers are little endian. Tags ascend, so that there is one way to write the same fields down. A reader refuses an unknown
//! tag with the highest bit, and keeps the value of any other: it is written again as it was read.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::journal::time;

/// The bit of a tag (the highest of its 16) of a field that a reader must understand: a program that does not know the field
/// refuses the record.
pub const MUST_UNDERSTAND: u16 = 1 << 15;

/// How many fields a record has at most.
pub const MAX_FIELDS: usize = 64;

/// How many bytes all fields of a record have at most, with their tags and lengths.
pub const MAX_FIELD_BYTES: usize = 1 << 18;

/// How many bytes a field of one line has at most.
pub const MAX_LINE: usize = 4096;

/// How long a tag and a length are.
const HEAD: usize = 6;

/// A SHA-256.
pub type Digest = [u8; 32];

/// The optional fields of a record. All of them are stated by the program or the operator, and none is proven. They are in the
/// hash chain, and no admission depends on them.
///
/// ```
/// use odometry::odometer::journal::Fields;
/// let fields = Fields {
///     time: Some("2026-11-19T08:30:00Z".into()),
///     actor: Some("survey service, node 3".into()),
///     ..Fields::default()
/// };
/// assert_eq!(Fields::decode(&fields.encode()?)?, fields);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields {
    /// The wall clock when the record was prepared: RFC 3339, in UTC, with any number of decimals up to nine.
    pub time: Option<String>,
    /// The person or program that acts. A pseudonym is fine. One line.
    pub actor: Option<String>,
    /// A note on this record. One line.
    pub note: Option<String>,
    /// The purpose of an account or a charge. One line.
    pub purpose: Option<String>,
    /// The person or office to ask about an account. One line.
    pub contact: Option<String>,
    /// The person or system that vouches for the loss of a charge. One line.
    pub voucher: Option<String>,
    /// The SHA-256 of a file that belongs to the record.
    pub attached_file: Option<Digest>,
    /// The plan of a table query, as it was executed. Several lines are fine.
    pub plan: Option<String>,
    /// In an opening: the unit of privacy. One line.
    pub unit: Option<String>,
    /// In an opening: the operator's name for the snapshot of the data. One line.
    pub data_snapshot: Option<String>,
    /// A hash of everything that makes a request the same request. The same key with another fingerprint is another launch.
    pub fingerprint: Option<Digest>,
    /// In the opening of a partition: the rule that prices its parts, if it is not the first one. One line. A reader must
    /// understand it, because another price is another loss.
    pub partition_price: Option<String>,
    /// Fields that this program does not know, by their tags.
    pub unknown: Vec<UnknownField>,
}

/// A field of a newer program, which does not have to be understood.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownField {
    /// Its tag.
    pub tag: u16,
    /// Its value.
    pub value: Vec<u8>,
}

/// Why fields are not written, or not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum FieldError {
    /// There is an unknown field that has to be understood.
    #[error(
        "it has the field {tag:#06x}, which this program does not know and must not ignore: use a newer program"
    )]
    Newer {
        /// Its tag.
        tag: u16,
    },
    /// There are too many of them.
    #[error("it has more than {MAX_FIELDS} fields: leave some out")]
    TooMany,
    /// They are too long.
    #[error("its fields have more than {MAX_FIELD_BYTES} bytes: shorten them")]
    TooLong,
    /// They are cut off, not in order, or there twice.
    #[error("its fields are not whole, or not in the order of their tags")]
    Malformed,
    /// The value of a known field is none.
    #[error("its field `{name}` is not {expected}")]
    Value {
        /// The field.
        name: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
}

/// What a known field holds.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Time,
    Line,
    Text,
    Hash,
}

impl Shape {
    const fn expected(self) -> &'static str {
        match self {
            Self::Time => "a time in UTC such as 2026-11-19T08:30:00Z",
            Self::Line => "one line of up to 4096 bytes without control characters",
            Self::Text => "a text that is not empty",
            Self::Hash => "a hash of 32 bytes",
        }
    }

    fn accepts(self, value: &[u8]) -> bool {
        let text = std::str::from_utf8(value).ok();
        match self {
            Self::Hash => value.len() == 32,
            Self::Text => text.is_some_and(|text| !text.is_empty()),
            Self::Line => text.is_some_and(is_line),
            Self::Time => text.is_some_and(time::is_utc),
        }
    }
}

/// Is it one line of plain text that says something?
pub(super) fn is_line(text: &str) -> bool {
    text.len() <= MAX_LINE && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// A known field of a record that has it.
struct Known<'a> {
    tag: u16,
    name: &'static str,
    shape: Shape,
    value: &'a [u8],
}

/// The value of a field, to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// Text.
    Text(&'a str),
    /// Bytes, such as a hash.
    Bytes(&'a [u8]),
}

/// The table of all known fields: in the order of their tags.
macro_rules! known {
    ($($tag:expr, $shape:ident, $field:ident;)*) => {
        impl Fields {
            fn known(&self) -> impl Iterator<Item = Known<'_>> {
                let all = [$(
                    self.$field.as_ref().map(|value| Known {
                        tag: $tag,
                        name: stringify!($field),
                        shape: Shape::$shape,
                        value: value.as_ref(),
                    }),
                )*];
                all.into_iter().flatten()
            }

            /// Takes the value of a field that was read.
            fn take(&mut self, tag: u16, value: &[u8]) -> Result<(), FieldError> {
                $(if tag == $tag {
                    let wrong = FieldError::Value {
                        name: stringify!($field),
                        expected: Shape::$shape.expected(),
                    };
                    let value = Some(value).filter(|value| Shape::$shape.accepts(value));
                    self.$field = Some(value.and_then(FromBytes::from_bytes).ok_or(wrong)?);
                    return Ok(());
                })*
                if tag & MUST_UNDERSTAND != 0 {
                    return Err(FieldError::Newer { tag });
                }
                self.unknown.push(UnknownField { tag, value: value.into() });
                Ok(())
            }

            fn is_known(tag: u16) -> bool {
                [$($tag),*].contains(&tag)
            }
        }
    };
}

known! {
    1, Time, time;
    2, Line, actor;
    3, Line, note;
    4, Line, purpose;
    5, Line, contact;
    6, Line, voucher;
    7, Hash, attached_file;
    8, Text, plan;
    9, Line, unit;
    10, Line, data_snapshot;
    11, Hash, fingerprint;
    MUST_UNDERSTAND | 12, Line, partition_price;
}

trait FromBytes: Sized {
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl FromBytes for String {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.into()).ok()
    }
}

impl FromBytes for Digest {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

impl Fields {
    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.known().next().is_none() && self.unknown.is_empty()
    }

    /// The known fields that are there, by their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, FieldValue<'_>)> {
        self.known().map(|field| {
            let value = match (field.shape, std::str::from_utf8(field.value)) {
                (Shape::Time | Shape::Line | Shape::Text, Ok(text)) => FieldValue::Text(text),
                _ => FieldValue::Bytes(field.value),
            };
            (field.name, value)
        })
    }

    /// Their bytes, in a record: nothing if there are none.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn encode(&self) -> Result<Vec<u8>, FieldError> {
        let mut all = Vec::new();
        for Known {
            tag,
            name,
            shape,
            value,
        } in self.known()
        {
            if !shape.accepts(value) {
                let expected = shape.expected();
                return Err(FieldError::Value { name, expected });
            }
            all.push((tag, value));
        }
        for UnknownField { tag, value } in &self.unknown {
            match *tag {
                tag if Self::is_known(tag) => return Err(FieldError::Malformed),
                tag if tag & MUST_UNDERSTAND != 0 => return Err(FieldError::Newer { tag }),
                tag => all.push((tag, value)),
            }
        }
        all.sort_by_key(|(tag, _)| *tag);
        if all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(FieldError::Malformed);
        }
        if all.len() > MAX_FIELDS {
            return Err(FieldError::TooMany);
        }
        let lengths = all.iter().map(|(_, value)| HEAD + value.len());
        if lengths.sum::<usize>() > MAX_FIELD_BYTES {
            return Err(FieldError::TooLong);
        }
        let mut bytes = Vec::new();
        for (tag, value) in all {
            bytes.extend(tag.to_le_bytes());
            bytes.extend((value.len() as u32).to_le_bytes());
            bytes.extend(value);
        }
        Ok(bytes)
    }

    /// The fields with these bytes. Nothing is allocated for a length that a record only claims.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, FieldError> {
        let (mut fields, mut rest) = (Self::default(), bytes);
        if rest.len() > MAX_FIELD_BYTES {
            return Err(FieldError::TooLong);
        }
        let (mut before, mut count) = (None, 0);
        while !rest.is_empty() {
            let (tag, value, after) = first(rest).ok_or(FieldError::Malformed)?;
            if before.is_some_and(|before| before >= tag) {
                return Err(FieldError::Malformed);
            }
            count += 1;
            if count > MAX_FIELDS {
                return Err(FieldError::TooMany);
            }
            fields.take(tag, value)?;
            (before, rest) = (Some(tag), after);
        }
        Ok(fields)
    }

    /// May a record with one of these be the same request as one with the other? Times, actors and notes are not compared, and
    /// a field that only one of them has is not, either.
    pub(super) fn may_be_same_request(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.zip(other).is_none_or(|(one, other)| one == other)
        }
        agree(self.fingerprint.as_ref(), other.fingerprint.as_ref())
            && agree(self.attached_file.as_ref(), other.attached_file.as_ref())
            && agree(self.plan.as_ref(), other.plan.as_ref())
    }
}

/// The tag and the value of the first field, and the bytes after it.
fn first(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let tag = u16::from_le_bytes([head[0], head[1]]);
    let length = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
    let (value, after) = rest.split_at_checked(length as usize)?;
    Some((tag, value, after))
}

/// In checkpoints and snapshots: the bytes in hexadecimal digits, so that a program that does not know a field writes the same as
/// one that does.
impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.encode().map_err(serde::ser::Error::custom)?;
        serializer.collect_str(&Hex(&bytes))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let bytes = from_hex(&text).ok_or_else(|| de::Error::custom(FieldError::Malformed))?;
        Self::decode(&bytes).map_err(de::Error::custom)
    }
}

/// Bytes as hexadecimal digits in lower case.
pub(super) struct Hex<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0.iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some(16 * digit(high)? + digit(low)?);
    let bytes = pairs.iter().map(byte).collect();
    rest.is_empty().then_some(bytes)?
}
