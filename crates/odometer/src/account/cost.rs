//! The cost of one launch, as one account sees it: the map of the launched measurement, converted
//! and pulled back to the account's measure and distances, with the parts of partitions that it
//! goes through. [`CostAt`] is its value at one distance.

use std::{ops::RangeInclusive, sync::Arc, sync::OnceLock};

use measures::{Conversion, Loss as _, MapError, Measure, Metric, PrivacyMap, SymmetricDistance};
use queryable::guarded;

use crate::{
    account::identity::Identity, account::recorded::Recorded, account::remembered::Remembered,
    account::shared::SharedCurves, error::LaunchError, journal::Place, measurement::Description,
    transformation::Stability,
};

/// Above this number of units, splits over the parts of a partition are bounded, not enumerated.
pub(crate) const MAX_UNITS: u32 = 64;

/// The name of an entry that stands for several measurements, in a list that is full.
const MERGED: &str = "measurements beyond the quota";

/// Identifies a partition. Whoever stores an address of an id also stores the id.
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
/// Above it, changes of the data are told apart by their size: one size at the top, then the
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
    /// Losses are rounded for tallies here and nowhere else: whatever is charged, read, written or
    /// restored has gone through this rounding.
    ///
    /// # Errors
    /// [`LaunchError::Map`] and [`LaunchError::MapPanicked`] if the map fails: it is user-supplied,
    /// so nothing may be locked.
    #[inline]
    pub(crate) fn charged_at(&self, d_in: &MI::Distance) -> Result<CostAt<M::Loss>, LaunchError> {
        if let Some(known) = self.0.remembered.get(d_in) {
            return Ok(known.clone());
        }
        let cost = self.ask(d_in, &mut SharedCurves::default())?;
        // Another thread may have been faster: all launches are charged what was remembered first.
        let remembered = self.0.remembered.keep(d_in, &cost);
        Ok(remembered.cloned().unwrap_or(cost))
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

    /// A cost that bounds every cost of the same [identity](Self::identity): maps of one form may
    /// be different functions, and none is above the form. Runs user-supplied code.
    pub(super) fn by_form(&self) -> Self {
        let source = match self.source() {
            Source::Direct(map) => Source::Direct(by_form(map)),
            Source::Part(part) => Source::Part(PartCost {
                inner: part.inner.by_form(),
                ..part.clone()
            }),
            Source::Recorded(_) => return self.clone(),
        };
        Self::new(Arc::clone(self.description()), source)
    }

    /// A cost that stands for this launch and others in a list that is full. Costs of equal symbolic
    /// form are one, and keep their form. Of another cost only the value at the cap's distance is
    /// known: it is infinite beyond. `None` if there is neither a form nor a cap.
    pub(super) fn merged(&self, at_cap: Option<(&MI::Distance, &CostAt<M::Loss>)>) -> Option<Self> {
        let merge = || {
            let source = match (self.source(), at_cap) {
                (Source::Direct(map), _) if self.identity().is_symbolic() => {
                    Source::Direct(map.clone())
                }
                (Source::Part(part), _) if self.identity().is_symbolic() => {
                    Source::Part(part.clone())
                }
                (_, Some((d_in, cost))) => {
                    let (d_in, cost) = (d_in.clone(), cost.clone());
                    Source::Recorded(Recorded::at_one(self.measure(), d_in, cost)?)
                }
                (_, None) => return None,
            };
            let description = Description {
                name: MERGED.into(),
                parameters: Vec::new(),
            };
            let merged = Self::new(Arc::new(description), source);
            merged.identity();
            Some(merged)
        };
        guarded(merge).ok().flatten()
    }

    fn measure(&self) -> &M {
        match self.source() {
            Source::Direct(map) => map.measure(),
            Source::Part(part) => part.inner.measure(),
            Source::Recorded(recorded) => recorded.measure(),
        }
    }

    /// The cost of the same launch in another measure.
    pub(crate) fn converted<C: Conversion<From = M>>(&self, conversion: &C) -> Cost<MI, C::To> {
        let source = match &self.0.source {
            Source::Direct(map) => Source::Direct(map.convert(conversion.clone())),
            Source::Part(part) => Source::Part(PartCost {
                group: part.group.clone(),
                part: part.part,
                units: Arc::clone(&part.units),
                factor: part.factor,
                inner: part.inner.converted(conversion),
            }),
            Source::Recorded(_) => Source::Direct(infinite(conversion.to())),
        };
        Cost::new(Arc::clone(self.description()), source)
    }

    /// The cost of the same launch, as the data before a stable transformation see it. The
    /// stability map multiplies distances by the factor, if there is one.
    pub(crate) fn after<M0: Metric>(
        &self,
        stability: &Arc<Stability<M0::Distance, MI::Distance>>,
        factor: Option<u32>,
    ) -> Cost<M0, M> {
        let stability = Arc::clone(stability);
        let source = match &self.0.source {
            Source::Direct(map) => {
                Source::Direct(map.after_known(factor, move |d_in| stability(d_in)))
            }
            Source::Part(part) => {
                let units = Arc::clone(&part.units);
                Source::Part(PartCost {
                    group: part.group.clone(),
                    part: part.part,
                    units: Arc::new(move |d_in: &M0::Distance| units(&stability(d_in)?)),
                    factor: (part.factor.zip(factor))
                        .and_then(|(units, factor)| units.checked_mul(factor)),
                    inner: part.inner.clone(),
                })
            }
            Source::Recorded(recorded) => Source::Direct(infinite(recorded.measure().clone())),
        };
        Cost::new(Arc::clone(self.description()), source)
    }
}

/// The map of the form of this map, or this map if it is that of its form.
fn by_form<MI: Metric, M: Measure>(map: &PrivacyMap<MI, M>) -> PrivacyMap<MI, M> {
    if map.is_its_form() {
        return map.clone();
    }
    let of_form = PrivacyMap::of_form(map.measure().clone(), map.form().clone());
    of_form.unwrap_or_else(|| infinite(map.measure().clone()))
}

/// The map of a record that is charged to another account: records are charged to one account only.
#[cold]
fn infinite<MI: Metric, M: Measure>(measure: M) -> PrivacyMap<MI, M> {
    let infinity = measure.infinity();
    PrivacyMap::new(measure, move |_| Ok(infinity.clone()))
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
