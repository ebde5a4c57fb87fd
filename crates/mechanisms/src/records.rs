//! Data that are records, and the two ways to count how far apart they are.

use exact::Exact;
use measures::{ChangeOneDistance, SymmetricDistance, UnitSteps};
use odometer::{AnyOf, Space};

use crate::noise::Change;

/// A distance between lists of records, with what one unit of it does to queries over them.
pub trait RecordMetric: UnitSteps {
    /// Does a unit replace a record (rather than add or remove one)?
    const REPLACES: bool;
}

/// A unit adds or removes one record.
impl RecordMetric for SymmetricDistance {
    const REPLACES: bool = false;
}

/// A unit replaces one record by another.
impl RecordMetric for ChangeOneDistance {
    const REPLACES: bool = true;
}

/// The space of all lists of records of one type.
pub type RecordSpace<T, MI> = Space<AnyOf<Vec<T>>, MI>;

/// How much a histogram changes between inputs at this distance: a record moves one bin by one, a replaced one moves two.
pub(crate) fn histogram_change<MI: RecordMetric>(d_in: u32) -> Change {
    Change::repeated(&Exact::from(d_in), if MI::REPLACES { 2 } else { 1 })
}
