//! Where the records of each part are.

use std::{collections::HashMap, hash::Hash, mem};

use queryable::guarded;

use crate::collection::Collection;

/// Where the records of each part are. Keys that come from the data stay here.
pub(super) struct Index<K>(HashMap<K, Vec<usize>>);

/// The keys' destructors see data: they may use no session.
impl<K> Drop for Index<K> {
    fn drop(&mut self) {
        let _ = guarded(|| drop(mem::take(&mut self.0)));
    }
}

impl<K: Eq + Hash> Index<K> {
    /// By the first `most` different keys of each record.
    pub(super) fn new<C: Collection>(
        all: &C,
        most: usize,
        keys: &impl Fn(&C::Record) -> Vec<K>,
    ) -> Self {
        let mut index = Self(HashMap::new());
        let mut at = 0;
        all.each(&mut |record| {
            for key in first_different(keys(record), most) {
                index.0.entry(key).or_default().push(at);
            }
            at += 1;
        });
        index
    }

    /// The records with this key, in order.
    pub(super) fn at(&self, key: &K) -> &[usize] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

fn first_different<K: Eq>(keys: Vec<K>, most: usize) -> Vec<K> {
    let mut kept: Vec<K> = Vec::new();
    for key in keys {
        if kept.len() < most && !kept.contains(&key) {
            kept.push(key);
        }
    }
    kept
}
