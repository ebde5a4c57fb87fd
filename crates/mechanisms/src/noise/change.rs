//! How much a vector changes: what noise has to hide.

use exact::{Exact, Round};

/// How much a vector of integers changes, at the most, between two inputs: bounds on both norms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The sum of the absolute changes.
    pub l1: Exact,
    /// The sum of the squared changes.
    pub l2_squared: Exact,
    /// Is it known that one coordinate changes at the most? The norms do not tell.
    pub one_coordinate: bool,
}

impl Change {
    /// One coordinate changes by this much.
    pub fn one(by: &Exact) -> Self {
        Self::repeated(by, 1)
    }

    /// So many coordinates change by this much each. Rounded up.
    pub fn repeated(by: &Exact, coordinates: u64) -> Self {
        Self {
            l1: by.times(coordinates),
            l2_squared: by.pow(2, Round::Up).times(coordinates),
            one_coordinate: coordinates <= 1,
        }
    }

    /// The same norms, in any number of coordinates.
    pub fn in_several(self) -> Self {
        Self {
            one_coordinate: false,
            ..self
        }
    }

    /// So many times as much, in every coordinate. Rounded up.
    pub fn times(&self, by: &Exact) -> Self {
        Self {
            l1: self.l1.mul(by, Round::Up),
            l2_squared: self.l2_squared.mul(&by.pow(2, Round::Up), Round::Up),
            one_coordinate: self.one_coordinate,
        }
    }

    /// The absolute changes sum to this much at the most, over any number of coordinates. Rounded up. Below two, only one
    /// integer can change.
    pub fn summing_to(l1: &Exact) -> Self {
        Self {
            one_coordinate: *l1 < Exact::from(2u64),
            ..Self::one(l1)
        }
    }
}
