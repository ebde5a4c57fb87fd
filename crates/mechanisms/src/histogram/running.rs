//! The histogram itself, as a mechanism built from mechanisms (\[HSV25\] Alg 4).

use std::{mem, sync::Arc};

use continual::composite::{Composite, Parts, Tainted};
use queryable::AskError;

use super::{
    Margins, Statistic,
    parts::{Answer, Name, Query},
};

/// Rows are collected until a monitor says that the statistic has passed a threshold. Then they go into the counter at
/// once, the statistic of the counter's answer is published, and the next interval begins with a new monitor.
///
/// A row is in one interval: it is seen by one monitor, in one comparison and in one step of the counter.
#[derive(Clone)]
pub(super) struct Running {
    dimensions: usize,
    horizon: u64,
    statistic: Statistic,
    margins: Arc<[Margins]>,
    /// The sum of the rows of this interval.
    collected: Tainted<Vec<i64>>,
    time: u64,
    /// The counter's last answer.
    totals: Vec<i64>,
    threshold: i64,
    /// The numbers of the counter and of this interval's monitor, once there are any.
    counter: Option<usize>,
    monitor: Option<usize>,
}

impl Running {
    pub(super) fn new(
        dimensions: usize,
        horizon: u64,
        statistic: Statistic,
        margins: Arc<[Margins]>,
    ) -> Self {
        Self {
            dimensions,
            horizon,
            statistic,
            threshold: margins.first().map_or(1, |first| first.step),
            margins,
            collected: Tainted::of(vec![0; dimensions]),
            time: 0,
            totals: vec![0; dimensions],
            counter: None,
            monitor: None,
        }
    }

    /// The margins at this time: the first from step 1 on, the next from step 2, from 4, and so on; the last for all that is left.
    fn margins(&self) -> Margins {
        let last = self.margins.len().saturating_sub(1);
        let at = self.time.max(1).ilog2() as usize;
        let none = Margins { step: 1, check: 0 };
        self.margins.get(at.min(last)).copied().unwrap_or(none)
    }

    fn published(&self) -> i64 {
        self.statistic.of(&self.totals)
    }

    /// Is the statistic really above? If so, the next threshold is higher.
    fn compare(&mut self, parts: &mut Parts<'_, Self>) -> Result<(), AskError> {
        let comparison = parts.create(Name::Comparison)?;
        let known = (self.totals.clone(), self.statistic);
        let value = self.collected.clone().map_with(&known, |rows, known| {
            let (totals, statistic) = known;
            Query::Value(statistic.of(&added(totals.clone(), rows)))
        });
        let Answer::Value(value) = parts.ask(comparison, value)? else {
            return Err(AskError::failed("a comparison answers with a value"));
        };
        let Margins { step, check } = self.margins();
        if value > self.threshold.saturating_sub(check) {
            self.threshold = self.threshold.saturating_add(step);
        }
        Ok(())
    }

    /// Ends the interval.
    fn close(&mut self, parts: &mut Parts<'_, Self>) -> Result<(), AskError> {
        let counter = match self.counter {
            Some(counter) => counter,
            None => *self.counter.insert(parts.create(Name::Counter)?),
        };
        let empty = Tainted::of(vec![0; self.dimensions]);
        let rows = mem::replace(&mut self.collected, empty);
        let Answer::Totals(totals) = parts.ask(counter, rows.map(Query::Row))? else {
            return Err(AskError::failed("a counter answers with totals"));
        };
        self.totals = totals;
        self.monitor = None;
        Ok(())
    }
}

/// The sum of two rows of one length.
fn added(mut sum: Vec<i64>, row: Vec<i64>) -> Vec<i64> {
    for (sum, by) in sum.iter_mut().zip(row) {
        *sum = sum.saturating_add(by);
    }
    sum
}

impl Composite for Running {
    type Update = Vec<bool>;
    type Question = ();
    type Answer = i64;
    type Name = Name;
    type PartQuery = Query;
    type PartAnswer = Answer;

    fn update(
        &mut self,
        update: Tainted<Vec<bool>>,
        parts: &mut Parts<'_, Self>,
    ) -> Result<i64, AskError> {
        if self.time == self.horizon {
            return Err(AskError::Halted);
        }
        self.time += 1;
        // A row of another length is cut or filled up: to refuse it would tell something about data.
        let row = update.map_with(&self.dimensions, |row, dimensions| {
            let column = |at| i64::from(row.get(at).copied().unwrap_or(false));
            (0..*dimensions).map(column).collect::<Vec<i64>>()
        });
        self.collected
            .absorb(row.clone(), |sum, row| *sum = added(mem::take(sum), row));
        let monitor = match self.monitor {
            Some(monitor) => monitor,
            None => *self
                .monitor
                .insert(parts.create(Name::Monitor(self.totals.clone()))?),
        };
        let watched = row.map_with(&self.threshold, |by, threshold| {
            let threshold = *threshold;
            Query::Watch(crate::monitor::RowUpdate { by, threshold })
        });
        let Answer::Above(above) = parts.ask(monitor, watched)? else {
            return Err(AskError::failed("a monitor answers yes or no"));
        };
        if above {
            // The interval ends whatever the comparison says, also if it fails: a second one would see the same rows.
            let compared = self.compare(parts);
            self.close(parts)?;
            compared?;
        }
        Ok(self.published())
    }

    fn question(&mut self, (): (), _: &mut Parts<'_, Self>) -> Result<i64, AskError> {
        Ok(self.published())
    }
}
