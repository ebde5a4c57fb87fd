//! Several columns: an independent counter for each.

use continual::streams::Streams;
use measures::{L1Distance, Measure, PrivacyMap};
use queryable::{AskError, Machine, Scope};

use super::LiveRows;
use crate::error::BuildError;

/// Counts the coordinates of a stream that arrives in its queries, each with a counter of its own. A row of the wrong length is an invalid query.
///
/// Its map is that of one, with distances summed over the coordinates, too: a unit of distance is in one of them.
#[derive(Clone)]
pub struct Columns<M>(Vec<M>);

impl<M: Machine<Query = i64, Answer = i64> + Clone> Columns<M> {
    /// # Errors
    /// [`BuildError::Empty`] without columns.
    pub(super) fn new(machine: M, columns: usize) -> Result<Self, BuildError> {
        match columns {
            0 => Err(BuildError::Empty {
                what: "the dimensions",
            }),
            _ => Ok(Self(vec![machine; columns])),
        }
    }

    /// As a measurement of rows that arrive.
    pub(super) fn continual<D: Measure>(self, map: PrivacyMap<L1Distance, D>) -> LiveRows<D>
    where
        M: Send + Sync + 'static,
    {
        let columns = self.0.len();
        Streams::with(L1Distance)
            .measurement("continual counts", map, move || self.clone())
            .with_parameter("dimensions", columns)
    }
}

impl<M: Machine<Query = i64, Answer = i64>> Machine for Columns<M> {
    type Query = Vec<i64>;
    type Answer = Vec<i64>;

    fn step(&mut self, row: Vec<i64>, scope: &mut Scope<'_>) -> Result<Vec<i64>, AskError> {
        if row.len() != self.0.len() {
            return Err(AskError::invalid("the row has the wrong length"));
        }
        let columns = self.0.iter_mut().zip(row);
        columns
            .map(|(counter, update)| counter.step(update, scope))
            .collect()
    }
}
