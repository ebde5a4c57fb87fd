//! Types whose equal values are indistinguishable.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    hash::Hash,
};

use crate::error::AskError;

/// Types whose equality, order and hash look at the value alone, and whose values can be rebuilt
/// from it.
///
/// Privacy proofs treat equal values as one value. In Rust, equal values can differ: `PathBuf`s
/// `a//b` and `a/b` are equal and print differently, equal `String`s have different capacities, and
/// equal `Arc`s have different counts. A key or an answer of such a type can carry a record out
/// unseen. So keys that are computed from data have a type of this trait, and a key is
/// [rebuilt](Self::rebuild) before it is shown. Audits compare answers of these types, and fail if
/// equal answers have different capacities or are different static strings.
///
/// The trait is sealed. It holds for integers, `bool`, `char`, `()`, `String`, `&'static str`
/// (rebuilt as a `String`) and [`AskError`]; and for lists, arrays, tuples of up to four, `Option`,
/// `Result`, `BTreeMap` and `BTreeSet` of these. Floats are not included: -0.0 equals 0.0, and NaN
/// does not equal itself. Convert them to integers, for example with [`f64::to_bits`]. For any
/// other type the caller vouches with [`Attested`].
///
/// The address of a value in memory remains visible: see the channels that types cannot close, in
/// `docs/theorems.md`.
///
/// ```
/// use odometry::queryable::Canonical;
/// let mut text = String::with_capacity(1000);
/// text.push_str("north");
/// assert_eq!((text.rebuild(), text.rebuild().capacity()), ("north".to_owned(), 5));
/// assert_eq!(("north", 3).rebuild(), ("north".to_owned(), 3));
/// ```
///
/// ```compile_fail,E0277
/// use odometry::mechanisms::keys::choose_keys;
/// use odometry::odometer::Records;
/// use std::path::PathBuf;
/// // error: equal values of `PathBuf` may be distinguishable
/// choose_keys(Records::<PathBuf>::new(), "0.1", "1e-9", |path| path.clone());
/// ```
#[diagnostic::on_unimplemented(
    message = "equal values of `{Self}` may be distinguishable",
    label = "not a canonical type",
    note = "a key: return an integer, a `String` or a tuple of these instead, or vouch for the type with `queryable::Attested`",
    note = "an answer in an audit: call `trusting_equality()` on the audit, and its verdict states this assumption"
)]
pub trait Canonical: Clone + Ord + Hash + Debug + Send + Sync + Sealed + 'static {
    /// The type of rebuilt values: itself, with `String` in place of `&'static str`.
    type Rebuilt: Canonical;

    /// Whether a caller vouches for a part of it: there is an [`Attested`] in it.
    #[doc(hidden)]
    const ATTESTED: bool;

    /// A new copy of the value: it shares no memory with the original, and its capacity depends on
    /// the value alone.
    #[must_use]
    fn rebuild(&self) -> Self::Rebuilt;

    /// Appends what safe code can read from it, apart from its value: capacities, and addresses of
    /// static strings.
    #[doc(hidden)]
    fn layout(&self, layout: &mut Vec<usize>);
}

/// A value of a type for which the caller vouches that it is [`Canonical`].
///
/// The statement: equal values of `T` are indistinguishable by any function that the analyst can
/// call. `Eq`, `Ord` and `Hash` of `T` agree with one another, depend on the two values alone, and
/// have no side effects. `Clone` copies the value and shares no memory that can change. Printing it
/// shows the value alone.
///
/// The verdict of an audit with such answers states the assumption.
///
/// ```
/// use odometry::mechanisms::keys::choose_keys;
/// use odometry::odometer::Records;
/// use odometry::queryable::Attested;
///
/// #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// enum Region { North, South }
///
/// // Derived traits of an enum without fields: equal values are indistinguishable.
/// let regions = choose_keys(Records::<Region>::new(), "1", "1e-6", |region| Attested(region.clone()))?;
/// assert!(regions.invoke(vec![Region::North; 1000])?.contains(&Attested(Region::North)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attested<T>(pub T);

/// Implemented by the crates of this workspace.
pub trait Sealed {}

impl<T: Clone + Ord + Hash + Debug + Send + Sync + 'static> Sealed for Attested<T> {}
impl<T: Clone + Ord + Hash + Debug + Send + Sync + 'static> Canonical for Attested<T> {
    type Rebuilt = Self;
    const ATTESTED: bool = true;
    fn rebuild(&self) -> Self {
        self.clone()
    }
    fn layout(&self, _: &mut Vec<usize>) {}
}

/// Implements [`Canonical`] for `Copy` types of this workspace whose derived traits compare every
/// field, none of them a pointer.
#[doc(hidden)]
#[macro_export]
macro_rules! canonical_copies {
    ($($type:ty)*) => {$(
        impl $crate::internal::Sealed for $type {}
        impl $crate::Canonical for $type {
            type Rebuilt = Self;
            const ATTESTED: bool = false;
            fn rebuild(&self) -> Self {
                *self
            }
            fn layout(&self, _: &mut Vec<usize>) {}
        }
    )*};
}

canonical_copies!(() bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Sealed for String {}
impl Canonical for String {
    type Rebuilt = Self;
    const ATTESTED: bool = false;
    fn rebuild(&self) -> Self {
        self.as_str().to_owned()
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        layout.push(self.capacity());
    }
}

impl Sealed for &'static str {}
impl Canonical for &'static str {
    type Rebuilt = String;
    const ATTESTED: bool = false;
    fn rebuild(&self) -> String {
        (*self).to_owned()
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        layout.push(self.as_ptr().addr());
    }
}

/// The text of an error is a `Box<str>`, which has no capacity.
impl Sealed for AskError {}
impl Canonical for AskError {
    type Rebuilt = Self;
    const ATTESTED: bool = false;
    fn rebuild(&self) -> Self {
        self.clone()
    }
    fn layout(&self, _: &mut Vec<usize>) {}
}

impl<T: Canonical> Sealed for Vec<T> {}
impl<T: Canonical> Canonical for Vec<T> {
    type Rebuilt = Vec<T::Rebuilt>;
    const ATTESTED: bool = T::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        let rebuilt: Box<[T::Rebuilt]> = self.iter().map(T::rebuild).collect();
        rebuilt.into_vec()
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        layout.push(self.capacity());
        self.iter().for_each(|item| item.layout(layout));
    }
}

impl<T: Canonical, const N: usize> Sealed for [T; N] {}
impl<T: Canonical, const N: usize> Canonical for [T; N] {
    type Rebuilt = [T::Rebuilt; N];
    const ATTESTED: bool = T::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        self.each_ref().map(T::rebuild)
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        self.iter().for_each(|item| item.layout(layout));
    }
}

impl<T: Canonical> Sealed for Option<T> {}
impl<T: Canonical> Canonical for Option<T> {
    type Rebuilt = Option<T::Rebuilt>;
    const ATTESTED: bool = T::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        self.as_ref().map(T::rebuild)
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        self.iter().for_each(|item| item.layout(layout));
    }
}

impl<T: Canonical, E: Canonical> Sealed for Result<T, E> {}
impl<T: Canonical, E: Canonical> Canonical for Result<T, E> {
    type Rebuilt = Result<T::Rebuilt, E::Rebuilt>;
    const ATTESTED: bool = T::ATTESTED || E::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        self.as_ref().map(T::rebuild).map_err(E::rebuild)
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        match self {
            Ok(value) => value.layout(layout),
            Err(error) => error.layout(layout),
        }
    }
}

impl<T: Canonical> Sealed for BTreeSet<T> {}
impl<T: Canonical> Canonical for BTreeSet<T> {
    type Rebuilt = BTreeSet<T::Rebuilt>;
    const ATTESTED: bool = T::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        self.iter().map(T::rebuild).collect()
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        self.iter().for_each(|item| item.layout(layout));
    }
}

impl<K: Canonical, V: Canonical> Sealed for BTreeMap<K, V> {}
impl<K: Canonical, V: Canonical> Canonical for BTreeMap<K, V> {
    type Rebuilt = BTreeMap<K::Rebuilt, V::Rebuilt>;
    const ATTESTED: bool = K::ATTESTED || V::ATTESTED;
    fn rebuild(&self) -> Self::Rebuilt {
        let entries = self.iter();
        entries
            .map(|(key, value)| (key.rebuild(), value.rebuild()))
            .collect()
    }
    fn layout(&self, layout: &mut Vec<usize>) {
        for (key, value) in self {
            key.layout(layout);
            value.layout(layout);
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),*))*) => {$(
        impl<$($name: Canonical),*> Sealed for ($($name,)*) {}
        impl<$($name: Canonical),*> Canonical for ($($name,)*) {
            type Rebuilt = ($($name::Rebuilt,)*);
            const ATTESTED: bool = $($name::ATTESTED)||*;
            fn rebuild(&self) -> Self::Rebuilt {
                ($(self.$at.rebuild(),)*)
            }
            fn layout(&self, layout: &mut Vec<usize>) {
                $(self.$at.layout(layout);)*
            }
        }
    )*};
}

tuples!((A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));
