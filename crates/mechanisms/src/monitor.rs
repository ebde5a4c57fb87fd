//! A noisy threshold monitor: watches a running total and says when it has passed a threshold (seed 003 Alg 3, the
//! sparse-vector machine of continual histograms).
//!
//! Each query is one step of time with a threshold of its own; the stream may be chosen adaptively. It is charged once
//! for the whole stream.

use std::sync::Arc;

use measures::{L1Distance, PrivacyMap, PureDp};
use odometer::{Measurement, Space};
use queryable::{AskError, Machine, Queryable, Scope};

use crate::{
    additive::Vectors,
    error::BuildError,
    sparse::{Gate, Sensitivity, SparseVector},
};

/// The parameters of a monitor: those of [`SparseVector`], over running totals.
///
/// Distances are L1 over the stream: a unit moves every running total by at most one, so the loss is
/// [`SparseVector::loss`] at free sensitivity 1, per unit.
///
/// ```
/// use mechanisms::{monitor::Monitor, sparse::{Sensitivity, SparseVector}};
/// let alarm = SparseVector::for_epsilon(&"1".parse()?, Sensitivity::free(1)?, 1)?;
/// let monitor = Monitor::new(alarm).measurement(100)?;
/// assert_eq!(monitor.map().loss(&1u32.into())?.to_string(), "1");
/// let monitor = monitor.invoke(vec![50; 100])?;
/// let passed = (1..=100).find(|_| monitor.ask(2500) == Ok(true));
/// assert!(passed.is_some_and(|t| (40..=60).contains(&t)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monitor(Arc<SparseVector>);

/// One step of time for a monitor: what arrives, and what to compare the total with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Update {
    /// What is added to the total.
    pub by: i64,
    /// The threshold at this time.
    pub threshold: i64,
}

impl Monitor {
    /// With these parameters.
    pub fn new(parameters: SparseVector) -> Self {
        Self(Arc::new(parameters))
    }

    /// The map between streams at an L1 distance. Rounded up.
    pub fn map(&self) -> PrivacyMap<L1Distance, PureDp> {
        PrivacyMap::linear(L1Distance, PureDp, self.0.loss(Sensitivity::UNIT))
    }

    /// A continual mechanism: every query is an update. It halts with its last positive answer.
    pub fn machine(&self) -> ContinualMonitor {
        ContinualMonitor {
            gate: Gate::new(&self.0),
            total: 0,
        }
    }

    /// A measurement of a whole stream of this length: each query is the threshold at the next step of time.
    ///
    /// # Errors
    /// [`BuildError::Empty`] without steps.
    pub fn measurement(
        &self,
        length: usize,
    ) -> Result<Measurement<Vectors, L1Distance, PureDp, Queryable<i64, bool>>, BuildError> {
        let space = Space::new(Vectors::of_length(length)?, L1Distance);
        let monitor = self.clone();
        let start = move |data: &Arc<Vec<i64>>, scope: &mut Scope<'_>| {
            scope.spawn(Watching {
                stream: Arc::clone(data),
                time: 0,
                monitor: monitor.machine(),
            })
        };
        Ok(Measurement::new(
            "threshold monitor",
            space,
            self.map(),
            start,
        ))
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
