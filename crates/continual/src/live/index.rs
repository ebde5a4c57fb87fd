//! An index whose entries lie where their keys are looked for: one place in memory to wait for, where the standard map has
//! two. With a million units that is most of what an update costs.

use std::num::NonZeroU32;

/// Grows when more than four in five places are taken, to half as many again.
const FULL: (usize, usize) = (4, 5);
const LEAST: usize = 8;

/// A map from keys to values, by open addressing with linear probing. Nothing is ever removed.
///
/// Places follow tags, which are bits of the keys' hashes: whoever uses it hashes with secret keys, so that nobody can make
/// tags collide.
pub(super) struct Index<X, V> {
    places: Vec<Option<Entry<X, V>>>,
    len: usize,
}

struct Entry<X, V> {
    /// Decides most comparisons, and leaves room for `None`.
    tag: NonZeroU32,
    value: V,
    key: X,
}

/// The tag of a key with this hash.
pub(super) fn tag(hash: u64) -> NonZeroU32 {
    NonZeroU32::new((hash >> 32) as u32).unwrap_or(NonZeroU32::MIN)
}

impl<X, V> Index<X, V> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            len: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&X, &V)> {
        let entries = self.places.iter().flatten();
        entries.map(|entry| (&entry.key, &entry.value))
    }

    /// The first of these places where what satisfies this lies, or else the first that is free.
    fn probe(&self, tag: NonZeroU32, found: impl Fn(&Entry<X, V>) -> bool) -> Option<usize> {
        let start = start(tag, self.places.len());
        let mut from_here = (start..self.places.len()).chain(0..start);
        from_here.find(|at| self.places[*at].as_ref().is_none_or(&found))
    }

    fn is_full(&self) -> bool {
        let (taken, of) = FULL;
        self.len * of >= self.places.len() * taken
    }

    fn grow(&mut self) {
        let more = (self.places.len() / 2 * 3).max(LEAST);
        let mut larger = Self {
            places: (0..more).map(|_| None).collect(),
            len: self.len,
        };
        for entry in std::mem::take(&mut self.places).into_iter().flatten() {
            // No two keys are the same, and there is room.
            if let Some(at) = larger.probe(entry.tag, |_| false) {
                larger.places[at] = Some(entry);
            }
        }
        *self = larger;
    }
}

/// Where the search for a tag begins: places follow tags, evenly.
fn start(tag: NonZeroU32, places: usize) -> usize {
    ((u64::from(tag.get()) * places as u64) >> 32) as usize
}

impl<X: Eq, V> Index<X, V> {
    /// The value of this key.
    pub(super) fn get_mut(&mut self, tag: NonZeroU32, key: &X) -> Option<&mut V> {
        let at = self.probe(tag, |entry| entry.tag == tag && entry.key == *key)?;
        let entry = self.places[at].as_mut()?;
        Some(&mut entry.value)
    }

    /// A key that is not there yet.
    pub(super) fn insert(&mut self, tag: NonZeroU32, key: X, value: V) {
        if self.is_full() {
            self.grow();
        }
        if let Some(at) = self.probe(tag, |_| false) {
            self.places[at] = Some(Entry { tag, value, key });
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

    fn check(tags: impl Fn(u64) -> NonZeroU32, keys: u64) {
        let (mut index, mut model) = (Index::new(), HashMap::new());
        for step in 0..4 * keys {
            let key = step.wrapping_mul(0x9E37_79B9) % keys;
            let tag = tags(key);
            match index.get_mut(tag, &key) {
                Some(value) => *value += step,
                None => index.insert(tag, key, step),
            }
            *model.entry(key).or_insert(0) += step;
            assert_eq!(index.get_mut(tag, &key), model.get_mut(&key));
            assert_eq!(index.get_mut(tag, &(keys + key)), None);
        }
        assert_eq!(index.len(), model.len());
        assert!(index.iter().all(|(key, value)| model[key] == *value));
        assert_eq!(index.iter().count(), model.len());
        let taken = index.places.len() as f64 / index.len() as f64;
        assert!(taken >= 1.25 && (keys < 100 || taken < 1.9), "{taken}");
    }

    #[test]
    fn it_is_a_map() {
        let hasher = RandomState::new();
        for keys in [1, 5, 1000, 10_000] {
            check(|key| tag(hasher.hash_one(key)), keys);
        }
    }

    /// All tags the same, at the beginning, the middle and the end.
    #[test]
    fn it_is_a_map_also_if_all_tags_collide() {
        for bits in [0, 1 << 63, u64::MAX] {
            check(|_| tag(bits), 40);
        }
    }

    #[test]
    fn an_entry_is_half_a_line() {
        assert_eq!(size_of::<Option<Entry<u64, [u32; 4]>>>(), 32);
    }
}
