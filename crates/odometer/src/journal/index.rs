//! The numbers of different launches. Analysts choose what launches are called, so they are hashed with a key that nobody knows:
//! each once, however often the table grows.

use std::{
    collections::hash_map::{Entry, RandomState},
    hash::{BuildHasher, Hash, Hasher},
    sync::Arc,
};

use crate::{account::AddressMap, journal::Posted, measurement::Description};

/// What was launched, and its price.
pub(super) type Launch = (Description, Posted);

/// Numbers of launches, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    key: RandomState,
    numbers: AddressMap<Hashed, usize>,
}

#[derive(Clone, Debug)]
struct Hashed {
    hash: u64,
    launch: Arc<Launch>,
}

impl Hash for Hashed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl PartialEq for Hashed {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.launch == other.launch
    }
}

impl Eq for Hashed {}

impl Index {
    /// The number of this launch, and whether it is new: then it is the next.
    pub(super) fn number(&mut self, launch: Arc<Launch>) -> (usize, bool) {
        let next = self.numbers.len();
        let hash = self.key.hash_one(&*launch);
        match self.numbers.entry(Hashed { hash, launch }) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(vacant) => (*vacant.insert(next), true),
        }
    }
}
