//! What makes two costs one entry of a list: a service makes an equal measurement for every
//! request, and all of them are one entry.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use measures::{Form, Measure, Metric};

use crate::account::{
    cost::{Cost, Source},
    recorded::Origin,
};

/// The symbolic form of a cost, or its address if it has none. The description belongs to the
/// identity as well: it is part of the hash, and compared apart.
#[derive(Debug, PartialEq)]
pub(super) struct Identity {
    hash: u64,
    symbols: Option<Symbols>,
}

#[derive(Debug, PartialEq, Hash)]
enum Symbols {
    Map {
        /// The parts that the launch is in, the innermost first: the address of the partition, the
        /// part, and the factor that turns a distance into a number of units.
        parts: Vec<(usize, u64, u32)>,
        /// The form of the map, in the innermost part.
        form: Form<String, String>,
    },
    Recorded(Origin),
}

impl Identity {
    /// The identity of a cost. Measures, losses and conversions write their names: user-supplied
    /// code.
    pub(super) fn of<MI: Metric, M: Measure>(cost: &Cost<MI, M>) -> Self {
        let Some(symbols) = Symbols::of(cost) else {
            return Self::only(cost);
        };
        let mut hasher = DefaultHasher::new();
        (cost.description(), &symbols).hash(&mut hasher);
        Self {
            hash: hasher.finish(),
            symbols: Some(symbols),
        }
    }

    /// The identity of a cost that is equal to no other one.
    pub(super) fn only<MI: Metric, M: Measure>(cost: &Cost<MI, M>) -> Self {
        Self {
            hash: cost.address() as u64,
            symbols: None,
        }
    }

    /// Equal identities have equal hashes.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether another cost can have the same identity.
    pub(super) fn is_symbolic(&self) -> bool {
        self.symbols.is_some()
    }
}

impl Symbols {
    fn of<MI: Metric, M: Measure>(cost: &Cost<MI, M>) -> Option<Self> {
        match cost.source() {
            Source::Direct(map) => {
                let (parts, form) = (Vec::new(), map.form().written());
                (!form.is_function()).then_some(Self::Map { parts, form })
            }
            Source::Part(part) => match Self::of(&part.inner)? {
                Self::Map { mut parts, form } => {
                    parts.push((part.group.address(), part.part, part.factor?));
                    Some(Self::Map { parts, form })
                }
                Self::Recorded(_) => None,
            },
            Source::Recorded(recorded) => Some(Self::Recorded(recorded.origin().clone())),
        }
    }
}
