//! Where an account is in the tree of a journal: names, and the keys of parts, from the root down.

use std::fmt;

use queryable::Attested;
use serde::{Deserialize, Serialize};

/// The path of an account: segments from the root down. Its text escapes what would be ambiguous.
///
/// ```
/// use odometry::odometer::journal::{Key, Path, Segment};
/// let path = Path::new([Segment::name("a/b"), Segment::Key(Key::from("north"))]);
/// assert_eq!(path.to_string(), r#"a~1b/["north"]"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Segment {
    /// A session, a link, or a filter that was launched.
    Name(String),
    /// A partition: another version of its key function is another partition.
    Partition {
        /// Its name.
        name: String,
        /// Its author's number for the key function.
        version: u32,
    },
    /// A part of a partition.
    Key(Key),
    /// A link through a transformation that has a version: another version is another link.
    Transformed {
        /// Its name.
        name: String,
        /// The numbers of the transformations that it is made of. A link through unversioned ones is a plain name.
        versions: Vec<u32>,
    },
}

/// In how many lists a [`Key`] may be: whatever is written down must be read again, by readers that go no deeper than they can.
pub const MAX_KEY_DEPTH: u8 = 32;

/// The key of a part, as it is written down: it has a type, so that the text `"1"` is not the number 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// Text.
    Text(String),
    /// A whole number. A `u128` is a list of its upper and its lower 64 bits.
    Whole(i128),
    /// Yes or no.
    Bool(bool),
    /// Several keys, or none.
    List(Vec<Key>),
}

/// A key of a part that a journal can store.
///
/// It is implemented for all [`Canonical`](queryable::Canonical) types that are made for keys:
/// integers, `bool`, `char`, text, `()`; lists, arrays, tuples of up to four and `Option` of these;
/// and [`Attested`] keys that implement it. It is a trait of its own because it fixes a format: the
/// implementer vouches that equal keys have equal forms, that different keys have different ones,
/// and that forms never change.
pub trait DurableKey {
    /// What is written down.
    fn key(&self) -> Key;
}

impl Key {
    /// Is everything in it in at most so many lists?
    pub(crate) fn within(&self, depth: u8) -> bool {
        match self {
            Self::List(keys) => depth
                .checked_sub(1)
                .is_some_and(|left| keys.iter().all(|key| key.within(left))),
            Self::Text(_) | Self::Whole(_) | Self::Bool(_) => true,
        }
    }
}

impl Path {
    /// The path of these segments.
    pub fn new(segments: impl IntoIterator<Item = Segment>) -> Self {
        Self(segments.into_iter().collect())
    }

    /// Its segments, from the root down.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl Segment {
    /// A name as a segment.
    pub fn name(name: impl Into<String>) -> Self {
        Self::Name(name.into())
    }

    /// A link through transformations of these versions.
    pub(crate) fn transformed(name: &str, versions: &[u32]) -> Self {
        match versions.iter().all(|version| *version == 0) {
            true => Self::name(name),
            false => Self::Transformed {
                name: name.into(),
                versions: versions.into(),
            },
        }
    }

    /// Is it called nothing?
    pub(crate) fn is_unnamed(&self) -> bool {
        match self {
            Self::Name(name) | Self::Partition { name, .. } | Self::Transformed { name, .. } => {
                name.is_empty()
            }
            Self::Key(_) => false,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("/")?;
            }
            segment.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&escaped(name)),
            Self::Partition { name, version } => write!(f, "{}@{version}", escaped(name)),
            Self::Key(key) => write!(f, "[{}]", escaped(&key.to_string())),
            Self::Transformed { name, versions } => {
                let versions: Vec<String> = versions.iter().map(u32::to_string).collect();
                write!(f, "{}@v{}", escaped(name), versions.join("."))
            }
        }
    }
}

/// As in JSON pointers; a bracket at the beginning of a name is no key's, and an `@` no version's.
fn escaped(text: &str) -> String {
    let text = text
        .replace('~', "~0")
        .replace('/', "~1")
        .replace('@', "~3");
    match text.strip_prefix('[') {
        Some(rest) => format!("~2{rest}"),
        None => text,
    }
}

/// As JSON: text in quotes, lists in brackets.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => {
                let quoted = text.replace('\\', r"\\").replace('"', "\\\"");
                write!(f, "\"{quoted}\"")
            }
            Self::Whole(number) => number.fmt(f),
            Self::Bool(yes) => yes.fmt(f),
            Self::List(keys) => {
                let keys: Vec<String> = keys.iter().map(Key::to_string).collect();
                write!(f, "({})", keys.join(", "))
            }
        }
    }
}

impl<K: DurableKey> From<K> for Key {
    fn from(key: K) -> Self {
        key.key()
    }
}

macro_rules! text {
    ($($type:ty)*) => {$(
        impl DurableKey for $type {
            fn key(&self) -> Key {
                Key::Text(self.to_string())
            }
        }
    )*};
}

text!(String & str char);

impl DurableKey for bool {
    fn key(&self) -> Key {
        Key::Bool(*self)
    }
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl DurableKey for $type {
            fn key(&self) -> Key {
                Key::Whole(*self as i128)
            }
        }
    )*};
}

// None of these has a value that `i128` has not.
whole!(u8 u16 u32 u64 usize i8 i16 i32 i64 i128 isize);

/// The upper and the lower 64 bits.
impl DurableKey for u128 {
    fn key(&self) -> Key {
        [(self >> 64) as u64, *self as u64].key()
    }
}

impl DurableKey for () {
    fn key(&self) -> Key {
        Key::List(vec![])
    }
}

impl<K: DurableKey> DurableKey for Attested<K> {
    fn key(&self) -> Key {
        self.0.key()
    }
}

impl<K: DurableKey> DurableKey for Option<K> {
    fn key(&self) -> Key {
        Key::List(self.iter().map(K::key).collect())
    }
}

impl<K: DurableKey> DurableKey for Vec<K> {
    fn key(&self) -> Key {
        Key::List(self.iter().map(K::key).collect())
    }
}

impl<K: DurableKey, const N: usize> DurableKey for [K; N] {
    fn key(&self) -> Key {
        Key::List(self.iter().map(K::key).collect())
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),*))*) => {$(
        impl<$($name: DurableKey),*> DurableKey for ($($name,)*) {
            fn key(&self) -> Key {
                Key::List(vec![$(self.$at.key()),*])
            }
        }
    )*};
}

tuples!((A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));
