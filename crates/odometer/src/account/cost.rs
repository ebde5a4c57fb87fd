//! The cost of one launch, as one account sees it: the map of the launched measurement, converted
//! and pulled back to the account's measure and distances, with the parts of partitions that it
//! goes through. [`CostAt`] is its value at one distance.

use std::{borrow::Cow, ops::RangeInclusive, sync::Arc, sync::OnceLock};

use measures::{Distance, Loss, MapError, Measure, Metric, PrivacyMap, SymmetricDistance};
use queryable::guarded;

use crate::{
    account::identity::Identity, account::recorded::Recorded, account::shared::SharedCurves,
    error::LaunchError, journal::Place, measurement::Description,
};

/// Above this number of units, splits over the parts of a partition are bounded, not enumerated.
pub(crate) const MAX_UNITS: u32 = 64;

/// Identifies a partition. Code that stores an address of an id also stores the id.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupId(Arc<Option<Place>>);

impl GroupId {
    /// The partition at this place of a journal.
    pub(crate) fn at(place: Place) -> Self {
        Self(Arc::new(Some(place)))
    }

    /// The place of the partition on its journal, if it is on one.
    pub(crate) fn place(&self) -> Option<Place> {
        *self.0
    }

    /// A key for tables that store the id as well.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// The cost of a launch at any distance, and the description of the launched measurement. A clone
/// is the same cost.
pub(crate) struct Cost<MI: Metric, M: Measure>(Arc<Inner<MI, M>>);

struct Inner<MI: Metric, M: Measure> {
    description: Arc<Description>,
    source: Source<MI, M>,
    remembered: Remembered<MI::Distance, M::Loss>,
    identity: OnceLock<Identity>,
}

pub(super) enum Source<MI: Metric, M: Measure> {
    /// The launch reads the account's data.
    Direct(PrivacyMap<MI, M>),
    /// The launch reads one part of a partition of the account's data.
    Part(PartCost<MI, M>),
    /// The launch comes from a record, or from a list that was full.
    Recorded(Recorded<MI, M>),
}

/// The cost of a launch inside a part. Data at distance `d_in` differ in `units(d_in)` units in all
/// parts together.
pub(crate) struct PartCost<MI: Metric, M: Measure> {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    pub(crate) units: Arc<Units<MI::Distance>>,
    /// The units are the distance times this factor, if there is one.
    pub(crate) factor: Option<u32>,
    pub(crate) inner: Cost<SymmetricDistance, M>,
}

pub(crate) type Units<D> = dyn Fn(&D) -> Result<u32, MapError> + Send + Sync;

/// The cost of a launch at one distance.
#[derive(Clone, Debug)]
pub(crate) enum CostAt<L> {
    Direct(L),
    Part(Arc<PartCostAt<L>>),
}

#[derive(Clone, Debug)]
pub(crate) struct PartCostAt<L> {
    /// The parts that the launch is in, the outermost first.
    pub(crate) path: Vec<PartStep>,
    /// The loss at each number of units in the innermost part.
    pub(crate) losses: Arc<[L]>,
}

/// One partition on the way from an account's data to the data that a launch reads.
///
/// Above it, changes of the data are distinguished by their size: one size at the top, then the
/// numbers 1, 2, … of changed units.
#[derive(Clone, Debug)]
pub(crate) struct PartStep {
    pub(crate) group: GroupId,
    pub(crate) part: u64,
    /// For each size of change above: the number of units by which all parts together can change.
    pub(crate) units: Vec<u32>,
}

/// A question for the remaining loss, as accounts of this metric see it. Given the distance of a
/// cap: `None` if that cap does not charge the loss of a launch at the distance that was asked
/// about; otherwise the parts that the launch would be in, the outermost first, each with one
/// unit. Stability maps answer it, so nothing may be locked.
pub(crate) type Asked<'a, MI> = &'a dyn Fn(&<MI as Metric>::Distance) -> Option<Vec<PartStep>>;

impl PartStep {
    /// The number of sizes at which a launch below this step has a loss.
    pub(crate) fn sizes(&self) -> usize {
        sizes(&self.units).count()
    }

    /// Whether there are too many units to look at every split.
    pub(crate) fn is_bounded(&self) -> bool {
        largest(&self.units) > MAX_UNITS
    }
}

fn largest(units: &[u32]) -> u32 {
    units.iter().copied().max().unwrap_or(0)
}

/// The numbers of units at which launches below have a loss: all of them, or only the largest.
pub(crate) fn sizes(units: &[u32]) -> RangeInclusive<u32> {
    let largest = largest(units);
    let first = if largest > MAX_UNITS { largest } else { 1 };
    first..=largest
}

impl<MI: Metric, M: Measure> Cost<MI, M> {
    /// The cost of a launch that reads the account's data.
    pub(crate) fn direct(description: Arc<Description>, map: PrivacyMap<MI, M>) -> Self {
        Self::new(description, Source::Direct(map))
    }

    /// The cost of a launch in a part of the account's data, which is listed as the part `shown`.
    pub(crate) fn part(part: PartCost<MI, M>, shown: Option<&str>) -> Self {
        let mut description = Arc::clone(part.inner.description());
        if let Some(shown) = shown {
            let parameter = ("part".into(), shown.to_string());
            Arc::make_mut(&mut description).parameters.push(parameter);
        }
        Self::new(description, Source::Part(part))
    }

    pub(super) fn new(description: Arc<Description>, source: Source<MI, M>) -> Self {
        Self(Arc::new(Inner {
            description,
            source,
            remembered: Remembered::nothing(),
            identity: OnceLock::new(),
        }))
    }

    pub(super) fn source(&self) -> &Source<MI, M> {
        &self.0.source
    }

    #[inline]
    pub(crate) fn description(&self) -> &Arc<Description> {
        &self.0.description
    }

    /// Identifies the cost while it is alive.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// What makes another cost the same entry of a list. Found once: user-supplied code writes the
    /// form of the map, so nothing may be locked.
    #[inline]
    pub(super) fn identity(&self) -> &Identity {
        let find = || guarded(|| Identity::of(self)).unwrap_or_else(|_| Identity::only(self));
        match self.0.identity.get() {
            Some(identity) => identity,
            None => {
                let identity = find();
                self.0.identity.get_or_init(|| identity)
            }
        }
    }

    /// Whether both are one entry of a list: they cost the same at every distance, and are
    /// described alike. Both [identities](Self::identity) must be known.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let known = self.0.identity.get().zip(other.0.identity.get());
        self.address() == other.address()
            || known.is_some_and(|(one, other)| one.is_symbolic() && one == other)
                && self.description() == other.description()
    }

    /// The cost at a distance where launches are charged. The first few distances are remembered.
    ///
    /// Its losses are rounded for tallies already. Losses from records were rounded before they were
    /// written.
    ///
    /// # Errors
    /// [`LaunchError::Map`] and [`LaunchError::MapPanicked`] if the map fails: it is user-supplied,
    /// so nothing may be locked.
    #[inline]
    pub(crate) fn charged_at(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Cow<'_, CostAt<M::Loss>>, LaunchError> {
        if let Some(known) = self.0.remembered.get(d_in) {
            return Ok(Cow::Borrowed(known));
        }
        let cost = self.ask(d_in, &mut SharedCurves::default())?;
        // Another thread may have been faster: then its value is charged. Beyond the remembered
        // distances, each launch is charged its own value.
        let remembered = self.0.remembered.keep(d_in, &cost);
        Ok(remembered.map_or(Cow::Owned(cost), Cow::Borrowed))
    }

    /// The cost at a distance that is only asked about, which is not remembered.
    ///
    /// # Errors
    /// As [`charged_at`](Self::charged_at).
    pub(crate) fn at(&self, d_in: &MI::Distance) -> Result<CostAt<M::Loss>, LaunchError> {
        self.at_with(d_in, &mut SharedCurves::default())
    }

    /// The cost at a distance, for a question that asks many costs: equal curves are computed once.
    ///
    /// # Errors
    /// As [`charged_at`](Self::charged_at).
    pub(super) fn at_with(
        &self,
        d_in: &MI::Distance,
        shared: &mut SharedCurves<M>,
    ) -> Result<CostAt<M::Loss>, LaunchError> {
        match self.0.remembered.get(d_in) {
            Some(known) => Ok(known.clone()),
            None => self.ask(d_in, shared),
        }
    }

    /// Runs the map.
    fn ask(
        &self,
        d_in: &MI::Distance,
        shared: &mut SharedCurves<M>,
    ) -> Result<CostAt<M::Loss>, LaunchError> {
        match guarded(|| self.evaluate(d_in, shared)) {
            Ok(Ok(cost)) => Ok(cost),
            Ok(Err(source)) => Err(LaunchError::Map {
                launch: self.description().to_string(),
                source,
            }),
            Err(_) => Err(LaunchError::MapPanicked {
                launch: self.description().to_string(),
            }),
        }
    }

    pub(super) fn evaluate(
        &self,
        d_in: &MI::Distance,
        shared: &mut SharedCurves<M>,
    ) -> Result<CostAt<M::Loss>, MapError> {
        match &self.0.source {
            Source::Recorded(recorded) => recorded.evaluate(d_in, shared),
            Source::Direct(map) => Ok(CostAt::Direct(map.loss(d_in)?.on_grid())),
            Source::Part(part) => {
                let mut path = Vec::new();
                let losses = part.evaluate(std::slice::from_ref(d_in), &mut path, shared)?;
                Ok(CostAt::Part(Arc::new(PartCostAt { path, losses })))
            }
        }
    }

    /// Whether its map was translated more often than maps may be nested.
    pub(crate) fn is_too_deep(&self) -> bool {
        match &self.0.source {
            Source::Direct(map) => map.is_too_deep(),
            Source::Part(part) => part.inner.is_too_deep(),
            Source::Recorded(_) => false,
        }
    }
}

impl<MI: Metric, M: Measure> PartCost<MI, M> {
    /// The losses in the innermost part. Every map is asked once for each number of units, however
    /// deep partitions are nested.
    fn evaluate(
        &self,
        above: &[MI::Distance],
        path: &mut Vec<PartStep>,
        shared: &mut SharedCurves<M>,
    ) -> Result<Arc<[M::Loss]>, MapError> {
        let units = above.iter().map(|size| (self.units)(size));
        let units: Vec<u32> = units.collect::<Result<_, _>>()?;
        let below = sizes(&units);
        path.push(PartStep {
            group: self.group.clone(),
            part: self.part,
            units,
        });
        match self.inner.source() {
            Source::Direct(map) => shared.losses(&self.inner, map, below),
            Source::Part(part) => part.evaluate(&below.collect::<Vec<u32>>(), path, shared),
            Source::Recorded(_) => Err(MapError::TooDeep { limit: 0 }),
        }
    }
}

impl<L> CostAt<L> {
    /// The parts that the launch is in, the outermost first.
    pub(crate) fn path(&self) -> &[PartStep] {
        match self {
            Self::Direct(_) => &[],
            Self::Part(part) => &part.path,
        }
    }

    /// The loss at each number of units in the innermost part, or the loss on the data themselves.
    pub(crate) fn losses(&self) -> &[L] {
        match self {
            Self::Direct(loss) => std::slice::from_ref(loss),
            Self::Part(part) => &part.losses,
        }
    }

    /// The loss at the largest number of units, for texts.
    pub(crate) fn largest(&self) -> Option<&L> {
        self.losses().last()
    }
}

impl<MI: Metric, M: Measure> Clone for Cost<MI, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<MI: Metric, M: Measure> Clone for PartCost<MI, M> {
    fn clone(&self) -> Self {
        Self {
            group: self.group.clone(),
            part: self.part,
            units: Arc::clone(&self.units),
            factor: self.factor,
            inner: self.inner.clone(),
        }
    }
}

/// The number of distances that are remembered. The caps above a session seldom have as many.
const MAX_REMEMBERED: usize = 4;

/// The values of a cost at the first few distances at which it was charged. Maps never change. The
/// first value is stored in place, since nearly all costs are charged at one distance.
struct Remembered<D, L>(OnceLock<Value<D, L>>);

struct Value<D, L> {
    d_in: D,
    cost: CostAt<L>,
    next: OnceLock<Box<Value<D, L>>>,
}

impl<D: Distance, L: Loss> Remembered<D, L> {
    const fn nothing() -> Self {
        Self(OnceLock::new())
    }

    #[inline]
    fn get(&self, d_in: &D) -> Option<&CostAt<L>> {
        let mut value = self.0.get()?;
        while value.d_in != *d_in {
            value = value.next.get()?;
        }
        Some(&value.cost)
    }

    /// Remembers a value, unless there are too many. Returns what is remembered at this distance.
    fn keep(&self, d_in: &D, cost: &CostAt<L>) -> Option<&CostAt<L>> {
        let new = || Value {
            d_in: d_in.clone(),
            cost: cost.clone(),
            next: OnceLock::new(),
        };
        let mut value = self.0.get_or_init(new);
        for _ in 1..MAX_REMEMBERED {
            if value.d_in == *d_in {
                break;
            }
            value = value.next.get_or_init(|| Box::new(new()));
        }
        (value.d_in == *d_in).then_some(&value.cost)
    }
}
