//! The charges of one place: different launches, and runs of them in order.
//!
//! Analysts choose the names of launches, so their numbers are found by a hash with a random key: each launch is
//! hashed once, however often the table grows.

use std::{
    collections::hash_map::{Entry, RandomState},
    hash::{BuildHasher, Hash, Hasher},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    account::AddressMap,
    journal::{Invalid, Posted, state::invalid},
    measurement::Description,
};

/// What was charged to one place, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// Runs of equal launches.
    pub runs: Vec<Run>,
    /// Has it refused, and so halted?
    pub halted: bool,
}

/// A launch, and how often it was charged in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What it is, and its price. Equal ones are shared.
    pub launch: Arc<(Description, Posted)>,
    /// How often.
    pub count: u64,
}

/// What was charged to one place: different launches, and runs of them in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub(super) struct Charged {
    /// Their numbers.
    index: Index,
    launches: Vec<Arc<Launch>>,
    runs: Vec<(usize, u64)>,
}

impl PartialEq for Charged {
    fn eq(&self, other: &Self) -> bool {
        self.launches == other.launches && self.runs == other.runs
    }
}

/// The serialized form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    launches: Vec<Launch>,
    runs: Vec<(usize, u64)>,
}

impl Charged {
    pub(super) fn add(&mut self, description: &Description, price: &Posted, count: u64) {
        // Nearly always the same as before.
        if let Some((launch, charged)) = self.runs.last_mut() {
            let (last, posted) = &*self.launches[*launch];
            if last == description && posted == price {
                *charged = charged.saturating_add(count);
                return;
            }
        }
        self.add_other(Arc::new((description.clone(), price.clone())), count);
    }

    pub(super) fn runs(&self) -> Vec<Run> {
        let run = |(launch, count): &(usize, u64)| Run {
            launch: Arc::clone(&self.launches[*launch]),
            count: *count,
        };
        self.runs.iter().map(run).collect()
    }

    fn add_other(&mut self, launch: Arc<Launch>, count: u64) {
        let (number, is_new) = self.index.number(Arc::clone(&launch));
        if is_new {
            self.launches.push(launch);
        }
        self.runs.push((number, count));
    }
}

impl From<Charged> for Plain {
    fn from(Charged { launches, runs, .. }: Charged) -> Self {
        let launches = launches.iter().map(|launch| (**launch).clone()).collect();
        Self { launches, runs }
    }
}

impl TryFrom<Plain> for Charged {
    type Error = Invalid;

    fn try_from(Plain { launches, runs }: Plain) -> Result<Self, Invalid> {
        let launches: Vec<Arc<Launch>> = launches.into_iter().map(Arc::new).collect();
        let mut index = Index::default();
        let different = (launches.iter()).all(|launch| index.number(Arc::clone(launch)).1);
        if !different || runs.iter().any(|(launch, _)| *launch >= launches.len()) {
            return Err(invalid("its launches do not fit together"));
        }
        Ok(Self {
            index,
            launches,
            runs,
        })
    }
}

/// What was launched, and its price.
type Launch = (Description, Posted);

/// Numbers of launches, in the order in which they came.
#[derive(Clone, Debug, Default)]
struct Index {
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
    fn number(&mut self, launch: Arc<Launch>) -> (usize, bool) {
        let next = self.numbers.len();
        let hash = self.key.hash_one(&*launch);
        match self.numbers.entry(Hashed { hash, launch }) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(vacant) => (*vacant.insert(next), true),
        }
    }
}
