//! An index whose entries lie where their keys are looked for: one place in memory to wait for, where the standard map has
//! two. With a million units that is most of what an update costs; so is the size of an entry, which decides what of the index the
//! processor's caches hold.

use std::num::NonZeroU64;

/// Grows when more than four in five places are taken, to half as many again.
const FULL: (usize, usize) = (4, 5);
const LEAST: usize = 8;

/// A value has so many bits: the rest of its word is a tag.
pub(super) const VALUE_BITS: u32 = 56;
const VALUE: u64 = (1 << VALUE_BITS) - 1;

/// A map from keys to values of [`VALUE_BITS`], by open addressing with linear probing. Nothing is ever removed.
///
/// Places and tags are bits of the keys' hashes: whoever uses it hashes with secret keys, so that nobody can make them collide.
pub(super) struct Index<X> {
    places: Vec<Option<Entry<X>>>,
    len: usize,
}

struct Entry<X> {
    /// The tag decides most comparisons, and is never zero, which leaves room for `None`.
    word: NonZeroU64,
    key: X,
}

impl<X> Entry<X> {
    const fn value(&self) -> u64 {
        self.word.get() & VALUE
    }
}

/// The word of a key with this hash.
fn word(hash: u64, value: u64) -> NonZeroU64 {
    let tag = tag(hash);
    NonZeroU64::new(tag | value & VALUE).unwrap_or(NonZeroU64::MIN)
}

/// Bits of the hash that say neither the shard nor the place.
const fn tag(hash: u64) -> u64 {
    let bits = hash >> 8 & 0xFF;
    (if bits == 0 { 1 } else { bits }) << VALUE_BITS
}

impl<X> Index<X> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            len: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&X, u64)> {
        let entries = self.places.iter().flatten();
        entries.map(|entry| (&entry.key, entry.value()))
    }

    /// The first of these places where what satisfies this lies, or else the first that is free.
    fn probe(&self, hash: u64, found: impl Fn(&Entry<X>) -> bool) -> Option<usize> {
        let start = start(hash, self.places.len());
        let mut from_here = (start..self.places.len()).chain(0..start);
        from_here.find(|at| self.places[*at].as_ref().is_none_or(&found))
    }

    /// Whether something lies where the search for this hash begins.
    pub(super) fn is_taken(&self, hash: u64) -> bool {
        let start = start(hash, self.places.len());
        self.places.get(start).is_some_and(Option::is_some)
    }

    fn is_full(&self) -> bool {
        let (taken, of) = FULL;
        self.len * of >= self.places.len() * taken
    }

    /// All hashes come first: they are foreign code, and one that panics must not leave half an index, which would be a refund.
    fn grow(&mut self, hash: impl Fn(&X) -> u64) {
        let entries = self.places.iter().flatten();
        let hashes: Vec<u64> = entries.map(|entry| hash(&entry.key)).collect();
        let more = (self.places.len() / 2 * 3).max(LEAST);
        let mut larger = Self {
            places: (0..more).map(|_| None).collect(),
            len: self.len,
        };
        let entries = std::mem::take(&mut self.places).into_iter().flatten();
        for (entry, hash) in entries.zip(hashes) {
            // No two keys are the same, and there is room.
            if let Some(at) = larger.probe(hash, |_| false) {
                larger.places[at] = Some(entry);
            }
        }
        *self = larger;
    }

    /// Another value for what lies here.
    pub(super) fn set(&mut self, at: usize, value: u64) {
        if let Some(entry) = self.places.get_mut(at).and_then(Option::as_mut) {
            let tag = entry.word.get() & !VALUE;
            entry.word = NonZeroU64::new(tag | value & VALUE).unwrap_or(entry.word);
        }
    }
}

/// Where the search for a key begins: places follow hashes, evenly.
const fn start(hash: u64, places: usize) -> usize {
    (((hash >> 32) * places as u64) >> 32) as usize
}

impl<X: Eq> Index<X> {
    /// Where this key lies, and its value.
    pub(super) fn find(&self, hash: u64, key: &X) -> Option<(usize, u64)> {
        let tag = tag(hash);
        let found = |entry: &Entry<X>| entry.word.get() & !VALUE == tag && entry.key == *key;
        let at = self.probe(hash, found)?;
        let entry = self.places[at].as_ref()?;
        Some((at, entry.value()))
    }

    /// A key that is not there yet. `hash` is asked again where the index grows.
    pub(super) fn insert(&mut self, key: X, value: u64, hash: impl Fn(&X) -> u64) {
        if self.is_full() {
            self.grow(&hash);
        }
        let hash = hash(&key);
        if let Some(at) = self.probe(hash, |_| false) {
            let word = word(hash, value);
            self.places[at] = Some(Entry { word, key });
            self.len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        hash::{BuildHasher, RandomState},
    };

    use super::*;

    fn check(hash: impl Fn(&u64) -> u64, keys: u64) {
        let (mut index, mut model) = (Index::new(), HashMap::new());
        for step in 0..4 * keys {
            let key = step.wrapping_mul(0x9E37_79B9) % keys;
            let more = step << 20;
            match index.find(hash(&key), &key) {
                Some((at, value)) => index.set(at, value + more),
                None => index.insert(key, more, &hash),
            }
            *model.entry(key).or_insert(0) += more;
            let value = |key: u64| index.find(hash(&key), &key).map(|(_, value)| value);
            assert_eq!(value(key), model.get(&key).copied());
            assert_eq!(value(keys + key), None);
        }
        assert_eq!(index.len(), model.len());
        assert!(index.iter().all(|(key, value)| model[key] == value));
        assert_eq!(index.iter().count(), model.len());
        let taken = index.places.len() as f64 / index.len() as f64;
        assert!(taken >= 1.25 && (keys < 100 || taken < 1.9), "{taken}");
    }

    #[test]
    fn it_is_a_map() {
        let hasher = RandomState::new();
        for keys in [1, 5, 1000, 10_000] {
            check(|key| hasher.hash_one(key), keys);
        }
    }

    /// All hashes the same: places at the beginning, the middle and the end.
    #[test]
    fn it_is_a_map_also_if_all_hashes_collide() {
        for bits in [0, 1 << 63, u64::MAX] {
            check(|_| bits, 40);
        }
    }

    /// Nobody gets anything back because somebody's hash panics while the index grows.
    #[test]
    fn a_hash_that_panics_loses_nothing() {
        let hash = |key: &u64| key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (mut index, mut panicked) = (Index::new(), 0);
        for key in 0..200u64 {
            let bad = |other: &u64| match *other == key / 2 {
                true => panic!("a bad hash"),
                false => hash(other),
            };
            let insert = || index.insert(key, key, bad);
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(insert)).is_err() {
                panicked += 1;
                assert_eq!(index.len(), key as usize);
                index.insert(key, key, hash);
            }
            let found = |key: u64| index.find(hash(&key), &key).map(|(_, value)| value);
            assert!((0..=key).all(|key| found(key) == Some(key)));
        }
        assert!(panicked > 5, "{panicked}");
    }

    #[test]
    fn values_have_all_their_bits_and_no_more() {
        let mut index = Index::new();
        index.insert('a', VALUE, |_| 0);
        assert_eq!(index.find(0, &'a'), Some((0, VALUE)));
        index.set(0, u64::MAX - 1);
        assert_eq!(index.find(0, &'a'), Some((0, VALUE - 1)));
        index.set(0, 0);
        assert_eq!(index.find(0, &'a'), Some((0, 0)));
    }

    #[test]
    fn an_entry_is_a_quarter_of_a_line() {
        assert_eq!(size_of::<Option<Entry<u64>>>(), 16);
    }
}
