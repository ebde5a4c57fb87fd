//! Comparison and hashing, by value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use dashu_int::UBig;

use crate::repr::{Exact, five_to};

impl Exact {
    /// Both mantissas over the smaller exponents, which come last. Both numbers must be finite.
    pub(crate) fn aligned(&self, other: &Exact) -> (UBig, UBig, i64, i64) {
        let (two, five) = (self.two.min(other.two), self.five.min(other.five));
        let lift = |x: &Exact| {
            let by_five = five_to(i64::from(x.five) - i64::from(five));
            (x.big_mantissa() * by_five) << (i64::from(x.two) - i64::from(two)) as usize
        };
        (lift(self), lift(other), two.into(), five.into())
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Exact) -> Ordering {
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let (left, right, _, _) = self.aligned(other);
                left.cmp(&right)
            }
        }
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Exact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Exact) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.is_infinite() {
            return u8::MAX.hash(state);
        }
        let (mantissa, two, five) = self.reduced();
        mantissa.hash(state);
        (two, five).hash(state);
    }
}
