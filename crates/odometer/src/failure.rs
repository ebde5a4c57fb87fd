//! The first failure on a data set: of code that reads data and whose failures no privacy map covers, for example a
//! transformation. No charge pays for such a failure, so it happens once: afterwards no function, transformation, imported
//! measurement or post-processing begins to run on those data. Machines of our own that were handed out before go on answering,
//! covered by their maps, until they run one of these.

use std::sync::{Arc, OnceLock};

use queryable::{AskError, Scope, guarded};

use crate::{
    error::LaunchError,
    session::watch::{Failure, Watch},
};

/// The first failure on one data set, shared by everything that comes from the data: a root
/// [carries](queryable::Root::branch_carrying) it. Only this crate can name the type, so no other code finds it there.
#[derive(Clone)]
pub(crate) struct FirstFailure(Arc<Inner>);

struct Inner {
    happened: OnceLock<()>,
    /// The name of the session that opened the data.
    session: String,
    watch: Option<Watch>,
}

impl FirstFailure {
    /// Nothing has failed yet on the data that this session opens.
    pub(crate) fn new(session: &str, watch: Option<&Watch>) -> Self {
        Self(Arc::new(Inner {
            happened: OnceLock::new(),
            session: session.into(),
            watch: watch.cloned(),
        }))
    }

    /// Records that something has failed. Only the first failure is reported, and the watch lists it as soon as anything is
    /// stopped.
    pub(crate) fn record(&self, by: &str, error: &AskError) {
        let Inner {
            happened,
            session,
            watch,
        } = &*self.0;
        let is_first = || happened.set(()).is_ok();
        match watch {
            None => {
                is_first();
            }
            Some(watch) => watch.add_if(
                is_first,
                Failure {
                    session: session.clone(),
                    by: by.into(),
                    error: error.clone(),
                },
            ),
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
