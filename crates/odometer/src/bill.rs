//! What one launch costs, as an account sees it: the leaf measurement's own map, converted and pulled back to that
//! account's measure and distance, and the parts of partitions that it went through on the way up.

use std::sync::Arc;

use measures::{MapError, MapId, Measure, Metric, PrivacyMap, SymmetricDistance};

/// Beyond this many units, splits over the parts of a partition are bounded instead of enumerated.
pub(crate) const MAX_UNITS: u32 = 64;

/// Tells partitions apart. Whoever remembers an id keeps it alive, so it is never given out again.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupId(Arc<()>);

impl GroupId {
    /// A key for tables that keep the id as well.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
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
    Part(Box<PartQuote<L>>),
}

#[derive(Clone, Debug)]
pub(crate) struct PartQuote<L> {
    /// The parts that the launch is in, the outermost first.
    pub(crate) path: Vec<Step>,
    /// What it costs at each number of units in the innermost part.
    pub(crate) losses: Vec<L>,
}

/// One partition on the way to the data that a launch reads.
///
/// Above it, changes of the data are told apart by their size: one size at the top, then the numbers 1, 2, … of changed
/// units.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    /// How many units all parts together can change by, for each size of change above.
    pub(crate) units: Vec<u32>,
}

impl Step {
    /// At how many numbers of units a launch below this step is priced.
    pub(crate) fn sizes(&self) -> usize {
        sizes(&self.units).count()
    }

    /// Are there too many units to look at every split?
    pub(crate) fn is_bounded(&self) -> bool {
        most(&self.units) > MAX_UNITS
    }
}

fn most(units: &[u32]) -> u32 {
    units.iter().copied().max().unwrap_or(0)
}

/// The numbers of units at which launches below are priced: all, or only the largest.
fn sizes(units: &[u32]) -> impl Iterator<Item = u32> + use<> {
    let most = most(units);
    let first = if most > MAX_UNITS { most } else { 1 };
    first..=most
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
    #[inline]
    pub(crate) fn quote(&self, d_in: &MI::Distance) -> Result<Quote<M::Loss>, MapError> {
        match self {
            Self::Direct(map) => map.loss(d_in).map(Quote::Direct),
            Self::Part(part) => {
                let mut path = Vec::new();
                let losses = part.quote(std::slice::from_ref(d_in), &mut path)?;
                Ok(Quote::Part(Box::new(PartQuote { path, losses })))
            }
        }
    }

    fn quotes(
        &self,
        sizes: &[MI::Distance],
        path: &mut Vec<Step>,
    ) -> Result<Vec<M::Loss>, MapError> {
        match self {
            Self::Direct(map) => sizes.iter().map(|size| map.loss(size)).collect(),
            Self::Part(part) => part.quote(sizes, path),
        }
    }
}

impl<MI: Metric, M: Measure> PartBill<MI, M> {
    /// Every map is asked once for each number of units, however deep partitions are nested.
    fn quote(
        &self,
        above: &[MI::Distance],
        path: &mut Vec<Step>,
    ) -> Result<Vec<M::Loss>, MapError> {
        let units: Vec<u32> = above
            .iter()
            .map(|size| (self.units)(size))
            .collect::<Result<_, _>>()?;
        let below: Vec<u32> = sizes(&units).collect();
        path.push(Step {
            group: self.group.clone(),
            part: self.part,
            units,
        });
        self.inner.quotes(&below, path)
    }
}

impl<L> Quote<L> {
    /// The loss at the largest number of units, to say what was asked for.
    pub(crate) fn leaf(&self) -> Option<&L> {
        match self {
            Self::Direct(loss) => Some(loss),
            Self::Part(part) => part.losses.last(),
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
