//! The first failure on a data set: of code that reads data and whose failures no privacy map covers, a transformation for
//! one. No charge pays for such a failure, so it happens once: nothing runs on those data any more.

use std::sync::{Arc, OnceLock};

use queryable::{AskError, Scope, guarded};

use crate::error::LaunchError;

/// The first failure on one data set, shared by everything that comes from the data: a root
/// [carries](queryable::Root::branch_carrying) it. Only this crate can name the type, so no other code finds it there.
#[derive(Clone)]
pub(crate) struct FirstFailure(Arc<Inner>);

struct Inner {
    happened: OnceLock<()>,
    report: Box<Report>,
}

type Report = dyn Fn(&str, &AskError) + Send + Sync;

impl FirstFailure {
    /// Nothing has failed yet. `report` is called at most once, on the thread where something fails, perhaps inside a step.
    pub(crate) fn new(report: impl Fn(&str, &AskError) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            happened: OnceLock::new(),
            report: Box::new(report),
        }))
    }

    /// Records that something has failed. Only the first failure is reported.
    pub(crate) fn record(&self, by: &str, error: &AskError) {
        if self.0.happened.set(()).is_ok() {
            (self.0.report)(by, error);
        }
    }

    /// Has something failed?
    #[inline]
    pub(crate) fn has_happened(&self) -> bool {
        self.0.happened.get().is_some()
    }

    /// [`AskError::Halted`] once something has failed.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), AskError> {
        match self.has_happened() {
            false => Ok(()),
            true => Err(AskError::Halted),
        }
    }

    /// As [`check`](Self::check), for the data on which this step runs.
    #[inline]
    pub(crate) fn check_in(scope: &Scope<'_>) -> Result<(), AskError> {
        scope.carried().map_or(Ok(()), Self::check)
    }

    /// The outcome of a launch that was charged, unless something has failed by now, in this launch or in another one.
    #[inline]
    pub(crate) fn outcome<A>(&self, answer: Result<A, AskError>) -> Result<A, LaunchError> {
        if self.has_happened() {
            withhold(answer);
            return Err(LaunchError::Stopped { charged: true });
        }
        answer.map_err(LaunchError::Failed)
    }
}

/// Drops an answer that is not given. Its destructor is still the code of what answered, and asks nothing.
#[cold]
pub(crate) fn withhold<A>(answer: A) {
    let _ = guarded(|| drop(answer));
}
