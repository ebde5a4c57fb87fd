//! Costs that are written into records, and costs that come from records: known at the distances of
//! their account, and elsewhere by the form of their map.

use std::{
    any::Any,
    hash::{Hash, Hasher},
    sync::Arc,
};

use exact::excerpt;
use measures::{
    Distance as _, Form, Loss, MapError, Measure, Metric, PrivacyMap, SymmetricDistance,
};
use queryable::guarded;

use crate::{
    account::cost::{Cost, CostAt, GroupId, PartCost, PartCostAt, PartStep, Source},
    account::shared::SharedCurves,
    error::LaunchError,
    journal::{Books, JournalError, Place, Posted, Step as Stored},
    measurement::Description,
};

/// The cost of a launch that comes from a record.
pub(super) struct Recorded<MI: Metric, M: Measure> {
    known: Vec<(MI::Distance, CostAt<M::Loss>)>,
    /// The cost at other distances, if the map had a form.
    elsewhere: Option<Cost<MI, M>>,
    origin: Origin,
    measure: M,
}

/// Where a recorded cost comes from. Those of one account and one origin are equal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Origin {
    /// A record.
    Record(Arc<(Description, Posted)>),
    /// A list that was full: the value at the cap's distance, as text.
    Merged(String),
    /// Any launch.
    Unknown,
}

/// The description is part of every identity already.
impl Hash for Origin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Record(record) => record.1.hash(state),
            Self::Merged(value) => value.hash(state),
            Self::Unknown => {}
        }
    }
}

impl<MI: Metric, M: Measure> Recorded<MI, M> {
    /// The cost of a launch of which only the value at one distance is known; `None` if that cannot
    /// be written.
    pub(super) fn at_one(measure: &M, d_in: MI::Distance, cost: CostAt<M::Loss>) -> Option<Self> {
        let part =
            |step: &PartStep| format!("{}/{}:{:?} ", step.group.address(), step.part, step.units);
        let path = cost.path().iter().map(part);
        let losses = cost.losses().iter().map(|loss| Some(loss.written()? + " "));
        let text = path.map(Some).chain(losses).collect::<Option<String>>()?;
        Some(Self {
            known: vec![(d_in, cost)],
            elsewhere: None,
            origin: Origin::Merged(text),
            measure: measure.clone(),
        })
    }

    /// The cost of a launch that is not known at any distance.
    pub(super) fn unknown(measure: &M) -> Self {
        Self {
            known: Vec::new(),
            elsewhere: None,
            origin: Origin::Unknown,
            measure: measure.clone(),
        }
    }

    /// The same cost for a launch with this description. Costs that were written alike are equal.
    pub(super) fn called(&self, description: &Description) -> Self {
        let origin = match &self.origin {
            Origin::Record(record) => {
                Origin::Record(Arc::new((description.clone(), record.1.clone())))
            }
            other => other.clone(),
        };
        Self {
            known: self.known.clone(),
            elsewhere: self.elsewhere.clone(),
            origin,
            measure: self.measure.clone(),
        }
    }

    pub(super) fn measure(&self) -> &M {
        &self.measure
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(super) fn evaluate(
        &self,
        d_in: &MI::Distance,
        shared: &mut SharedCurves<M>,
    ) -> Result<CostAt<M::Loss>, MapError> {
        if let Some((_, cost)) = self.known.iter().find(|(at, _)| at == d_in) {
            return Ok(cost.clone());
        }
        if let Some(cost) = &self.elsewhere {
            return cost.evaluate(d_in, shared);
        }
        // Maps are monotone: a value at a larger distance is enough.
        let bounds = |(at, cost): &&(MI::Distance, CostAt<M::Loss>)| {
            matches!(cost, CostAt::Direct(_)) && d_in.at_most(at)
        };
        let bound = self.known.iter().find(bounds);
        Ok(bound.map_or_else(
            || CostAt::Direct(self.measure.infinity()),
            |(_, cost)| cost.clone(),
        ))
    }
}

fn written<L: Loss>(loss: &L) -> Result<String, LaunchError> {
    let not_storable = || JournalError::NotStorable {
        what: format!("the loss {loss}"),
        method: "`Loss::written`",
    };
    Ok(loss.written().ok_or_else(not_storable)?)
}

fn read<L: Loss>(text: &str) -> Result<L, JournalError> {
    L::read(text).ok_or_else(|| damaged(format!("`{}` is no loss", excerpt(text))))
}

pub(super) fn damaged(why: impl Into<String>) -> JournalError {
    JournalError::Damaged(why.into())
}

impl<MI: Metric, M: Measure> Cost<MI, M> {
    /// The record of this cost for an account with these distances. At the distance of a cap it
    /// states the cost that is charged: an inconsistent map could give another when asked again.
    pub(super) fn posted(
        &self,
        distances: &[MI::Distance],
        at_cap: Option<(&MI::Distance, &CostAt<M::Loss>)>,
    ) -> Result<Posted, LaunchError> {
        let (factors, form) = self.innermost();
        let at = |d_in: &MI::Distance| match at_cap {
            Some((cap, charged)) if cap == d_in => Ok(charged.clone()),
            _ => self.at(d_in),
        };
        let costs = distances.iter().map(at);
        let costs: Vec<CostAt<M::Loss>> = costs.collect::<Result<_, _>>()?;
        if factors.is_empty() {
            let losses = costs.iter().map(|cost| match cost {
                CostAt::Direct(loss) => written(loss),
                CostAt::Part(_) => Err(LaunchError::Contradiction),
            });
            let losses = losses.collect::<Result<_, _>>()?;
            return Ok(Posted::Direct { form, losses });
        }
        let costs = costs.iter().map(|cost| match cost {
            CostAt::Part(cost) => Ok(&**cost),
            CostAt::Direct(_) => Err(LaunchError::Contradiction),
        });
        let costs: Vec<&PartCostAt<M::Loss>> = costs.collect::<Result<_, _>>()?;
        let losses = costs
            .iter()
            .map(|cost| cost.losses.iter().map(written).collect());
        Ok(Posted::Part {
            losses: losses.collect::<Result<_, _>>()?,
            path: steps(&costs, &factors)?,
            form,
        })
    }

    /// The factors of the parts that it is in, the outermost first, and the form of its map in the
    /// innermost.
    fn innermost(&self) -> (Vec<Option<u32>>, Form<String, String>) {
        match self.source() {
            Source::Direct(map) => {
                // Losses, measures and conversions write their names: user-supplied code.
                let form = guarded(|| map.form().written());
                (Vec::new(), form.unwrap_or(Form::Function))
            }
            Source::Part(part) => {
                let (mut factors, form) = part.inner.innermost();
                factors.insert(0, part.factor);
                (factors, form)
            }
            Source::Recorded(_) => (Vec::new(), Form::Function),
        }
    }

    /// The cost from which this was written, by an account with these distances.
    pub(super) fn recorded(
        record: &Arc<(Description, Posted)>,
        measure: &M,
        (distances, books): (&[MI::Distance], &Books),
    ) -> Result<Self, JournalError> {
        let (description, posted) = &**record;
        let description = Arc::new(description.clone());
        let costs = read_posted(measure, posted, &mut |place| books.group(place))?;
        if costs.len() != distances.len() {
            return Err(other_distances());
        }
        let elsewhere = match posted {
            Posted::Direct { form, .. } => {
                let map = map_of_form(measure, form)?;
                map.map(|map| Self::direct(Arc::clone(&description), map))
            }
            Posted::Part { path, form, .. } => part_cost(&description, measure, path, form, books)?,
            Posted::Slot { .. } => return Err(slot()),
        };
        let recorded = Recorded {
            known: distances.iter().cloned().zip(costs).collect(),
            elsewhere,
            origin: Origin::Record(Arc::clone(record)),
            measure: measure.clone(),
        };
        Ok(Self::new(description, Source::Recorded(recorded)))
    }
}

/// What was written of a launch, at each distance.
pub(super) fn read_posted<M: Measure>(
    measure: &M,
    posted: &Posted,
    group: &mut dyn FnMut(Place) -> GroupId,
) -> Result<Vec<CostAt<M::Loss>>, JournalError> {
    let costs = match posted {
        Posted::Direct { losses, .. } => {
            let costs = losses.iter().map(|loss| Ok(CostAt::Direct(read(loss)?)));
            costs.collect::<Result<Vec<_>, JournalError>>()?
        }
        Posted::Part { path, losses, .. } => part_costs(path, losses, group)?,
        Posted::Slot { .. } => return Err(slot()),
    };
    let mut losses = costs.iter().flat_map(CostAt::losses);
    let checked = losses.try_for_each(|loss| measure.check(loss));
    checked.map_err(|error| damaged(error.to_string()))?;
    Ok(costs)
}

fn slot() -> JournalError {
    damaged("a slot was taken of what is no compositor")
}

pub(super) fn other_distances() -> JournalError {
    damaged("a charge is at other distances than its account")
}

/// The map of a form that was written down, if it is known here. What is longer than anything that is written is not read.
fn map_of_form<MI: Metric, M: Measure>(
    measure: &M,
    form: &Form<String, String>,
) -> Result<Option<PrivacyMap<MI, M>>, JournalError> {
    if !form.is_within_limits() {
        return Err(damaged(
            "the form of a map is longer than any that is written",
        ));
    }
    let of_form = |form| PrivacyMap::of_form(measure.clone(), form);
    Ok(form.read().and_then(of_form))
}

fn steps<L>(costs: &[&PartCostAt<L>], factors: &[Option<u32>]) -> Result<Vec<Stored>, LaunchError> {
    let unnamed = || JournalError::Unnamed {
        what: "a partition".into(),
    };
    let step = |(at, factor): (usize, &Option<u32>)| {
        let steps: Option<Vec<&PartStep>> = costs.iter().map(|cost| cost.path.get(at)).collect();
        let steps = steps.ok_or(LaunchError::Contradiction)?;
        let first = steps.first().ok_or(LaunchError::Contradiction)?;
        Ok(Stored {
            partition: first.group.place().ok_or_else(unnamed)?,
            part: Place(u32::try_from(first.part).map_err(|_| unnamed())?),
            units: steps.iter().map(|step| step.units.clone()).collect(),
            factor: *factor,
        })
    };
    factors.iter().enumerate().map(step).collect()
}

/// What was written down of a launch in a part, at each distance.
fn part_costs<L: Loss>(
    path: &[Stored],
    losses: &[Vec<String>],
    group: &mut dyn FnMut(Place) -> GroupId,
) -> Result<Vec<CostAt<L>>, JournalError> {
    let mut at = |(number, losses): (usize, &Vec<String>)| {
        let step = |step: &Stored| {
            let units = step.units.get(number);
            Ok(PartStep {
                group: group(step.partition),
                part: u64::from(step.part.0),
                units: units.ok_or_else(|| damaged("a part has no units"))?.clone(),
            })
        };
        let path: Result<Vec<PartStep>, JournalError> = path.iter().map(step).collect();
        let losses: Result<Arc<[L]>, _> = losses.iter().map(|loss| read(loss)).collect();
        let (path, losses) = (path?, losses?);
        Ok(CostAt::Part(Arc::new(PartCostAt { path, losses })))
    };
    losses.iter().enumerate().map(&mut at).collect()
}

/// The cost at any distance, if the numbers of units and the map all have a form.
fn part_cost<MI: Metric, M: Measure>(
    description: &Arc<Description>,
    measure: &M,
    path: &[Stored],
    form: &Form<String, String>,
    books: &Books,
) -> Result<Option<Cost<MI, M>>, JournalError> {
    let map = map_of_form::<SymmetricDistance, M>(measure, form)?;
    let cost = |map| {
        let innermost = Cost::direct(Arc::clone(description), map);
        let (outermost, inner) = path.split_first()?;
        let inner = inner.iter().rev().try_fold(innermost, |cost, step| {
            part_of::<SymmetricDistance, M>(step, cost, books)
        })?;
        part_of(outermost, inner, books)
    };
    Ok(map.and_then(cost))
}

fn part_of<MI: Metric, M: Measure>(
    step: &Stored,
    inner: Cost<SymmetricDistance, M>,
    books: &Books,
) -> Option<Cost<MI, M>> {
    let factor = step.factor?;
    let part = PartCost {
        group: books.group(step.partition),
        part: u64::from(step.part.0),
        units: Arc::new(move |d_in: &MI::Distance| {
            let records = (d_in as &dyn Any).downcast_ref::<u32>();
            let units = records.and_then(|records| records.checked_mul(factor));
            units.ok_or_else(|| MapError::failed(d_in, "too many changed records"))
        }),
        factor: Some(factor),
        inner,
    };
    Some(Cost::part(part, None))
}
