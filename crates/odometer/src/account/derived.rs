//! Costs that are made of others: translated by links, counted by their form, or merged in a list
//! that is full.

use std::sync::Arc;

use measures::{Conversion, Measure, Metric, PrivacyMap};
use queryable::guarded;

use crate::{
    account::cost::{Cost, CostAt, PartCost, Source},
    account::recorded::Recorded,
    measurement::Description,
    transformation::Stability,
};

/// The name of an entry that stands for several measurements, in a list that is full.
const MERGED: &str = "measurements beyond the quota";

/// The name of the entry that stands for any past launch.
const PAST: &str = "launches that were charged before";

impl<MI: Metric, M: Measure> Cost<MI, M> {
    /// The cost of the same launch in another measure.
    pub(crate) fn converted<C: Conversion<From = M>>(&self, conversion: &C) -> Cost<MI, C::To> {
        let source = match self.source() {
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
        let source = match self.source() {
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
    /// form are one, and keep their form; those of records are one if they were written alike. Of
    /// another cost only the value at the cap's distance is known: it is infinite at larger
    /// distances, and for a launch in a part at every other distance. `None` if there is neither a
    /// form nor a cap.
    pub(super) fn merged(&self, at_cap: Option<(&MI::Distance, &CostAt<M::Loss>)>) -> Option<Self> {
        let merge = || {
            let description = described(MERGED);
            let source = match (self.source(), at_cap) {
                (Source::Direct(map), _) if self.identity().is_symbolic() => {
                    Source::Direct(map.clone())
                }
                (Source::Part(part), _) if self.identity().is_symbolic() => {
                    Source::Part(part.clone())
                }
                (Source::Recorded(recorded), _) => Source::Recorded(recorded.called(&description)),
                (_, Some((d_in, cost))) => {
                    let (d_in, cost) = (d_in.clone(), cost.clone());
                    Source::Recorded(Recorded::at_one(self.measure(), d_in, cost)?)
                }
                (_, None) => return None,
            };
            let merged = Self::new(Arc::new(description), source);
            merged.identity();
            Some(merged)
        };
        guarded(merge).ok().flatten()
    }

    /// A cost that stands for any launch: it is infinite at every distance. `None` if a measure
    /// panics.
    pub(super) fn unknown(&self) -> Option<Self> {
        let unknown = || {
            let source = Source::Recorded(Recorded::unknown(self.measure()));
            let unknown = Self::new(Arc::new(described(PAST)), source);
            unknown.identity();
            unknown
        };
        guarded(unknown).ok()
    }

    fn measure(&self) -> &M {
        match self.source() {
            Source::Direct(map) => map.measure(),
            Source::Part(part) => part.inner.measure(),
            Source::Recorded(recorded) => recorded.measure(),
        }
    }
}

fn described(name: &'static str) -> Description {
    Description {
        name: name.into(),
        parameters: Vec::new(),
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

/// A map that is infinite at every distance: that of a record above a link, and of a form that has no
/// map.
#[cold]
fn infinite<MI: Metric, M: Measure>(measure: M) -> PrivacyMap<MI, M> {
    let infinity = measure.infinity();
    PrivacyMap::new(measure, move |_| Ok(infinity.clone()))
}
