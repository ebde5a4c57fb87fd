//! What a histogram is built from: a counter of rows, monitors, and Laplace comparisons, each with its loss.

use std::sync::Arc;

use continual::{ApproximateParallel, Catalogue, Certified, EventLevel};
use dashu_int::IBig;
use exact::Exact;
use measures::{Epsilon, EpsilonDelta, MapError};
use queryable::{AskError, Fixed, Machine, Scope, machine, once};

use super::{CountingNoise, Statistic, counting::Counting};
use crate::{
    integers::saturate,
    monitor::{Monitor, RowUpdate},
    samplers::DiscreteLaplace,
    sparse::{Sensitivity, SparseVector},
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Name {
    Counter,
    /// A monitor whose totals begin here.
    Monitor(Vec<i64>),
    Comparison,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Query {
    Row(Vec<i64>),
    Watch(RowUpdate),
    Value(i64),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Totals(Vec<i64>),
    Above(bool),
    Value(i64),
}

impl Fixed for Name {}
impl Fixed for Query {}
impl Fixed for Answer {}

/// The noise of all parts.
pub(super) struct Noises<N: CountingNoise> {
    pub(super) counter: Counting<N>,
    pub(super) monitor: SparseVector,
    pub(super) comparison: DiscreteLaplace,
}

impl<N: CountingNoise> Noises<N> {
    pub(super) fn of(
        counter: Counting<N>,
        monitor: SparseVector,
        comparison: DiscreteLaplace,
    ) -> Self {
        Self {
            counter,
            monitor,
            comparison,
        }
    }
}

/// What one row can cost in each part.
pub(super) struct Losses {
    pub(super) counter: EpsilonDelta,
    pub(super) monitor: EpsilonDelta,
    pub(super) comparison: EpsilonDelta,
}

impl Losses {
    /// Of all parts together.
    pub(super) fn whole(&self) -> EpsilonDelta {
        self.allowance().basic()
    }

    /// A slot for each kind of part; only the counter has δ, and there is one.
    pub(super) fn allowance(&self) -> ApproximateParallel {
        let slots = [&self.counter, &self.monitor, &self.comparison];
        let slots = slots.map(|slot| Epsilon::new(slot.epsilon().clone()));
        ApproximateParallel::new(slots.into(), self.counter.delta().clone())
    }
}

impl<N: CountingNoise> Noises<N> {
    /// A row moves every column by one at the most, and the statistic, too. The counter may have this δ.
    pub(super) fn losses(&self, dimensions: usize, delta: &Exact) -> Result<Losses, MapError> {
        Ok(Losses {
            counter: N::row(&self.counter.map(), dimensions, delta)?,
            monitor: self.monitor.loss(Sensitivity::UNIT).into(),
            comparison: Epsilon::new(self.comparison.loss_per_unit()).into(),
        })
    }

    pub(super) fn catalogue(
        self: &Arc<Self>,
        losses: &Arc<Losses>,
        dimensions: usize,
        statistic: Statistic,
    ) -> Catalogue<Name, Query, Answer, EpsilonDelta> {
        let (noises, losses) = (Arc::clone(self), Arc::clone(losses));
        Catalogue::new(move |name: &Name| match name {
            Name::Counter => {
                let loss = losses.counter.clone();
                Some(match &noises.counter {
                    Counting::Until(one) => counting(loss, one.vector_machine(dimensions).ok()?),
                    Counting::Endless(one) => counting(loss, one.vector_machine(dimensions).ok()?),
                })
            }
            Name::Monitor(start) => {
                let (monitor, start) = (Monitor::new(noises.monitor.clone()), start.clone());
                Some(Certified::swap_symmetric(
                    losses.monitor.clone(),
                    EventLevel::between(one_apart),
                    move || {
                        let monitor = monitor.row_machine(statistic, start.clone());
                        understanding(monitor, watch, Answer::Above)
                    },
                ))
            }
            Name::Comparison => {
                let noise = noises.comparison.clone();
                Some(Certified::swap_symmetric(
                    losses.comparison.clone(),
                    EventLevel::between(one_apart).up_to(1),
                    move || understanding(noisy(noise.clone()), value, Answer::Value),
                ))
            }
        })
    }
}

/// A counter of rows.
fn counting<M>(loss: EpsilonDelta, counter: M) -> Certified<Query, Answer, EpsilonDelta>
where
    M: Machine<Query = Vec<i64>, Answer = Vec<i64>> + Clone + Send + Sync + 'static,
{
    Certified::swap_symmetric(loss, EventLevel::between(one_apart), move || {
        understanding(counter.clone(), row, Answer::Totals)
    })
}

/// A value with noise, once.
fn noisy(noise: DiscreteLaplace) -> impl Machine<Query = i64, Answer = i64> {
    once(move |value: i64, scope: &mut Scope<'_>| {
        Ok(saturate(IBig::from(value) + scope.draw(&noise)?))
    })
}

/// Messages that one row can make of one another: all columns differ by at most one, and the rest is the same.
fn one_apart(zero: &Query, one: &Query) -> bool {
    let near = |x: &[i64], y: &[i64]| {
        x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.abs_diff(*y) <= 1)
    };
    match (zero, one) {
        (Query::Row(x), Query::Row(y)) => near(x, y),
        (Query::Watch(x), Query::Watch(y)) => x.threshold == y.threshold && near(&x.by, &y.by),
        (Query::Value(x), Query::Value(y)) => x.abs_diff(*y) <= 1,
        _ => false,
    }
}

/// A machine that takes its own kind of messages out of all kinds.
fn understanding<M: Machine>(
    mut inner: M,
    take: fn(Query) -> Option<M::Query>,
    answer: fn(M::Answer) -> Answer,
) -> impl Machine<Query = Query, Answer = Answer> {
    machine(move |query: Query, scope: &mut Scope<'_>| {
        let query = take(query).ok_or_else(|| AskError::invalid("another part's message"))?;
        inner.step(query, scope).map(answer)
    })
}

fn row(query: Query) -> Option<Vec<i64>> {
    match query {
        Query::Row(row) => Some(row),
        _ => None,
    }
}

fn watch(query: Query) -> Option<RowUpdate> {
    match query {
        Query::Watch(update) => Some(update),
        _ => None,
    }
}

fn value(query: Query) -> Option<i64> {
    match query {
        Query::Value(value) => Some(value),
        _ => None,
    }
}
