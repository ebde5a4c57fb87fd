//! A noisy threshold monitor: watches a running total and says when it has passed a threshold (\[HSV25\] Alg 3, the
//! sparse-vector machine of continual histograms).
//!
//! Each query is one step of time with a threshold of its own; the stream may be chosen adaptively. It is charged once
//! for the whole stream.

use std::sync::Arc;

use continual::streams::{Continual, Increment, Streams};
use exact::Exact;
use measures::{Epsilon, L1Distance, PrivacyMap, PureDp};
use odometer::Measurement;
use queryable::{AskError, Machine, Scope};

use crate::{
    additive::Vectors,
    counter::OfStream,
    error::BuildError,
    histogram::Statistic,
    parameter::Parameter,
    sensitivity::Together,
    sparse::{Gate, Sensitivity, SparseVector},
};

/// The parameters of a monitor: those of [`SparseVector`], over running totals.
///
/// Distances are L1 over the stream. A unit changes one update by one, so it moves all running totals from then on by one in the
/// same direction: the loss is [`SparseVector::loss`] of totals that move together, `1/t₁ + c/t₂`, per unit. *Proof* (derived here). The
/// loss compares probabilities of the same questions and answers, and these fix both streams, however adaptively they were
/// chosen. Two streams of integers at distance `d` are joined by `d` steps that change one update by one, since every integer
/// between two updates is an update: no stream is missing on the way. Each step costs one unit.
///
/// ```
/// use odometry::mechanisms::monitor::Monitor;
/// let monitor = Monitor::for_epsilon(1, 1)?.measurement(100)?;
/// assert_eq!(monitor.map().loss(&1u32.into())?.to_string(), "1");
/// let monitor = monitor.invoke(vec![50; 100])?;
/// let passed = (1..=100).find(|_| monitor.ask(2500) == Ok(true));
/// assert!(passed.is_some_and(|t| (40..=60).contains(&t)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monitor(Arc<SparseVector>);

/// Running totals, per unit of L1 distance.
const TOTALS: Sensitivity<Together> = Sensitivity::UNIT_TOGETHER;

/// One step of time for a monitor: what arrives, and what to compare the total with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Update {
    /// What is added to the total.
    pub by: i64,
    /// The threshold at this time.
    pub threshold: i64,
}

/// The threshold is the analyst's, and the same in neighbouring streams.
impl Increment for Update {
    fn change(&self, other: &Self) -> Option<Exact> {
        (self.threshold == other.threshold).then(|| Exact::from(self.by.abs_diff(other.by)))
    }
}

impl Monitor {
    /// With these parameters.
    pub fn new(parameters: SparseVector) -> Self {
        Self(Arc::new(parameters))
    }

    /// With a loss of exactly ε per unit, and so many answers "passed" before it halts: [`SparseVector::for_epsilon`].
    ///
    /// # Errors
    /// As there.
    pub fn for_epsilon(epsilon: impl Parameter, positives: u32) -> Result<Self, BuildError> {
        SparseVector::for_epsilon(epsilon, TOTALS, positives).map(Self::new)
    }

    /// The map between streams at an L1 distance. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, PureDp> {
        PrivacyMap::linear(PureDp, self.0.loss(TOTALS))
    }

    /// The loss of [`row_machine`](Self::row_machine) for one row: `1/t₁ + 2c/t₂`, because a statistic may move either way. Rounded up.
    pub fn row_loss(&self) -> Epsilon {
        self.0.loss(Sensitivity::UNIT)
    }

    /// A continual mechanism: every query is an update. It halts with its last positive answer.
    pub fn machine(&self) -> ContinualMonitor {
        ContinualMonitor {
            gate: Gate::new(&self.0),
            total: 0,
        }
    }

    /// The same over rows: watches a statistic of the running totals of the columns, which begin at `start`. Its loss
    /// between streams that differ in one row, by at most one in each column, is [`row_loss`](Self::row_loss): such a row moves the
    /// statistic by at most one at every time, but up at one time and down at another, if its columns differ in both directions.
    /// A row of another length is an invalid query.
    pub fn row_machine(&self, statistic: Statistic, start: Vec<i64>) -> ContinualRowMonitor {
        ContinualRowMonitor {
            gate: Gate::new(&self.0),
            totals: start,
            statistic,
        }
    }

    /// The same as a measurement, for accounts: charged when it is launched, for the whole stream that will arrive.
    ///
    /// ```
    /// use odometry::mechanisms::{monitor::{Monitor, Update}, sparse::{Sensitivity, SparseVector}};
    /// let alarm = SparseVector::for_comparisons("1", Sensitivity::together(1)?, 1, (100, 0.05))?;
    /// let alarm = Monitor::new(alarm).continual().invoke(())?;
    /// assert!(!alarm.ask(Update { by: 1, threshold: 1000 })?);
    /// assert!(alarm.ask(Update { by: 2000, threshold: 1000 })?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn continual(&self) -> Continual<L1Distance, PureDp, Update, bool> {
        let monitor = self.clone();
        Streams::with(L1Distance)
            .measurement("threshold monitor", self.map(), move || monitor.machine())
    }

    /// A measurement of a whole stream of this length: each query is the threshold at the next step of time.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without steps.
    pub fn measurement(&self, length: usize) -> Result<OfStream<PureDp, i64, bool>, BuildError> {
        let space = Vectors::of_length(length, L1Distance)?;
        let monitor = self.clone();
        let start = move |data: &Arc<Vec<i64>>, scope: &mut Scope<'_>| {
            scope.spawn(Watching {
                stream: Arc::clone(data),
                time: 0,
                monitor: monitor.machine(),
            })
        };
        let measurement = Measurement::new("threshold monitor", space, self.map(), start);
        Ok(self
            .0
            .describe(measurement.with_parameter("length", length)))
    }
}

/// Watches a stream that arrives in its queries.
pub struct ContinualMonitor {
    gate: Gate,
    total: i128,
}

impl Machine for ContinualMonitor {
    type Query = Update;
    type Answer = bool;

    fn step(&mut self, update: Update, scope: &mut Scope<'_>) -> Result<bool, AskError> {
        let total = self.total.saturating_add(i128::from(update.by));
        let above = self
            .gate
            .is_above(total, i128::from(update.threshold), scope)?;
        self.total = total;
        if self.gate.is_closed() {
            scope.halt();
        }
        Ok(above)
    }
}

/// One step of time for a monitor of rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowUpdate {
    /// What is added to the totals.
    pub by: Vec<i64>,
    /// The threshold at this time.
    pub threshold: i64,
}

/// Watches a statistic of a stream of rows that arrives in its queries.
pub struct ContinualRowMonitor {
    gate: Gate,
    totals: Vec<i64>,
    statistic: Statistic,
}

impl Machine for ContinualRowMonitor {
    type Query = RowUpdate;
    type Answer = bool;

    fn step(&mut self, update: RowUpdate, scope: &mut Scope<'_>) -> Result<bool, AskError> {
        if update.by.len() != self.totals.len() {
            return Err(AskError::invalid("the row has the wrong length"));
        }
        let columns = self.totals.iter().zip(&update.by);
        let totals: Vec<i64> = columns.map(|(sum, by)| sum.saturating_add(*by)).collect();
        let value = i128::from(self.statistic.of(&totals));
        let above = self
            .gate
            .is_above(value, i128::from(update.threshold), scope)?;
        self.totals = totals;
        if self.gate.is_closed() {
            scope.halt();
        }
        Ok(above)
    }
}

struct Watching {
    stream: Arc<Vec<i64>>,
    time: usize,
    monitor: ContinualMonitor,
}

impl Machine for Watching {
    type Query = i64;
    type Answer = bool;

    fn step(&mut self, threshold: i64, scope: &mut Scope<'_>) -> Result<bool, AskError> {
        let by = *self.stream.get(self.time).ok_or(AskError::Halted)?;
        let above = self.monitor.step(Update { by, threshold }, scope)?;
        self.time += 1;
        Ok(above)
    }
}
