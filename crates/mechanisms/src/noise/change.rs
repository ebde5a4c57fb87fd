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

    /// So many times as much, in every coordinate. Exact, but for the square of a number with more than 64 bits, which is rounded up.
    pub fn times(&self, by: &Exact) -> Self {
        Self {
            l1: multiple(&self.l1, by),
            l2_squared: multiple(&self.l2_squared, &by.pow(2, Round::Up)),
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

/// The product. Never rounded, because a rate that is as long may still make a short loss of it; infinite past the range.
fn multiple(x: &Exact, by: &Exact) -> Exact {
    let rounded = x.mul(by, Round::Up);
    if rounded == x.mul(by, Round::Down) {
        return rounded;
    }
    let exact = || Exact::from_rational(&(x.to_rational()? * by.to_rational()?), Round::Up).ok();
    exact().unwrap_or(rounded)
}
