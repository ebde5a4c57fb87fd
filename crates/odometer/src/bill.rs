//! What one launch costs, as an account sees it: the leaf measurement's own map, converted and pulled back to that
//! account's measure and distance, and the parts of partitions that it went through on the way up.

use std::sync::Arc;

use measures::{MapError, MapId, Measure, Metric, PrivacyMap, SymmetricDistance};

/// Beyond this many units, splits over the parts of a partition are bounded instead of enumerated.
pub(crate) const MAX_UNITS: u32 = 64;

/// Tells partitions apart. Whoever remembers an id keeps it alive, so it is never given out again.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupId(Arc<()>);

impl PartialEq for GroupId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

pub(crate) enum Bill<MI: Metric, M: Measure> {
    /// The launch reads the account's data.
    Direct(PrivacyMap<MI, M>),
    /// The launch reads one part of a partition of the account's data.
    Part(Arc<PartBill<MI, M>>),
}

/// A launch inside a part: whatever happens to the account's data at distance `d_in` happens to all parts together in
/// `units(d_in)` units.
pub(crate) struct PartBill<MI: Metric, M: Measure> {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    pub(crate) units: Arc<Units<MI::Distance>>,
    pub(crate) inner: Bill<SymmetricDistance, M>,
}

pub(crate) type Units<D> = dyn Fn(&D) -> Result<u32, MapError> + Send + Sync;

/// Tells bills apart while they are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BillId {
    Direct(MapId),
    Part(usize),
}

/// A bill at one distance.
#[derive(Clone, Debug)]
pub(crate) enum Quote<L> {
    Direct(L),
    Part(PartQuote<L>),
}

#[derive(Clone, Debug)]
pub(crate) struct PartQuote<L> {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    /// At 1, 2, … units in this part; or, if there are too many units, only at all of them.
    pub(crate) at: Vec<Quote<L>>,
    pub(crate) bounded: bool,
}

impl<MI: Metric, M: Measure> Bill<MI, M> {
    #[inline]
    pub(crate) fn id(&self) -> BillId {
        match self {
            Self::Direct(map) => BillId::Direct(map.id()),
            Self::Part(part) => BillId::Part(Arc::as_ptr(part).addr()),
        }
    }

    /// Asks the map. Foreign code: no lock may be held.
    pub(crate) fn quote(&self, d_in: &MI::Distance) -> Result<Quote<M::Loss>, MapError> {
        match self {
            Self::Direct(map) => map.loss(d_in).map(Quote::Direct),
            Self::Part(part) => part.quote(d_in).map(Quote::Part),
        }
    }
}

impl<MI: Metric, M: Measure> PartBill<MI, M> {
    fn quote(&self, d_in: &MI::Distance) -> Result<PartQuote<M::Loss>, MapError> {
        let units = (self.units)(d_in)?;
        let bounded = units > MAX_UNITS;
        let first = if bounded { units } else { 1 };
        let at = (first..=units)
            .map(|n| self.inner.quote(&n))
            .collect::<Result<_, _>>()?;
        Ok(PartQuote {
            group: self.group.clone(),
            part: self.part,
            at,
            bounded,
        })
    }
}

impl<L> Quote<L> {
    /// The loss at the largest number of units, to say what was asked for.
    pub(crate) fn leaf(&self) -> Option<&L> {
        match self {
            Self::Direct(loss) => Some(loss),
            Self::Part(part) => part.at.last().and_then(Quote::leaf),
        }
    }
}

impl<MI: Metric, M: Measure> Clone for Bill<MI, M> {
    fn clone(&self) -> Self {
        match self {
            Self::Direct(map) => Self::Direct(map.clone()),
            Self::Part(part) => Self::Part(Arc::clone(part)),
        }
    }
}
