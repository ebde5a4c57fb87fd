//! Data that are records: what one of them changes, and properties of one record.

use std::ops::RangeInclusive;

use exact::Exact;
use measures::CountsRecords;

use crate::noise::Change;

/// How much a histogram changes between inputs at this distance: a record moves one bin by one, a replaced one moves two.
pub(crate) fn histogram_change<MI: CountsRecords>(d_in: u32) -> Change {
    let d_in = Exact::from(d_in);
    match MI::REPLACES {
        true => Change::repeated(&d_in, 2),
        // Several records may move several bins.
        false => Change::summing_to(&d_in),
    }
}

/// A property of one record, as a value that an analyst can name.
///
/// Whoever implements it vouches that `holds` looks at nothing but the record, remembers nothing, and does not panic. An
/// analyst who can only send values of the type vouches for nothing.
pub trait Predicate<T>: Send + 'static {
    /// Does the record have the property?
    fn holds(&self, record: &T) -> bool;
}

/// Records between two ends, both included.
impl<T: PartialOrd + Send + 'static> Predicate<T> for RangeInclusive<T> {
    fn holds(&self, record: &T) -> bool {
        self.contains(record)
    }
}

/// A predicate that is any function, for analysts who are trusted like authors: whoever makes one vouches for it as
/// [`Predicate`] says. A function that keeps a secret count, panics, or talks to somebody breaks every guarantee.
pub struct Vouched<T>(Box<dyn Fn(&T) -> bool + Send>);

impl<T> Vouched<T> {
    /// Vouches for this function.
    pub fn new(holds: impl Fn(&T) -> bool + Send + 'static) -> Self {
        Self(Box::new(holds))
    }
}

impl<T: 'static> Predicate<T> for Vouched<T> {
    fn holds(&self, record: &T) -> bool {
        (self.0)(record)
    }
}
