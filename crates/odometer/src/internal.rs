//! The interface for the workspace's bridges to other libraries. It may change with every version, and it is not for analysts: a
//! failure that is recorded here stops everything on the data, as that of a transformation does.

use std::{borrow::Cow, sync::Arc};

use measures::{Measure, PrivacyMap};
use queryable::{AskError, Scope};

use crate::{failure::FirstFailure, measurement::Measurement, space::Space};

/// A measurement of another library, as [`Measurement::new`] makes one of ours. Its map does not cover failures on data: the
/// function records them.
pub fn imported<S, M, A, F>(
    name: impl Into<Cow<'static, str>>,
    space: S,
    map: PrivacyMap<S::Metric, M>,
    function: F,
) -> Measurement<S, M, A>
where
    S: Space,
    M: Measure,
    A: 'static,
    F: Fn(&Arc<S::Data>, &mut Scope<'_>, &Failures) -> Result<A, AskError> + Send + Sync + 'static,
{
    Measurement::new(name, space, map, move |data, scope| {
        let failures = Failures(scope.carried().cloned());
        function(data, scope, &failures)
    })
}

/// The measurement on other data, which `make` makes inside the step; its post-processing runs after the step. The caller vouches
/// for the map.
pub fn on_other_data<S, M, M2, A, F>(
    measurement: &Measurement<S, M, A>,
    map: PrivacyMap<S::Metric, M2>,
    make: F,
) -> Measurement<S, M2, A>
where
    S: Space,
    M: Measure,
    M2: Measure,
    A: 'static,
    F: Fn(&S::Data, &mut Scope<'_>) -> Result<S::Data, AskError> + Send + Sync + 'static,
{
    measurement.on_other_data(map, make)
}

/// Whether the measurement has post-processing, which sees the answer of every run. A function that drops answers of some runs
/// takes no such measurement.
pub fn is_postprocessed<S: Space, M: Measure, A: 'static>(
    measurement: &Measurement<S, M, A>,
) -> bool {
    measurement.is_postprocessed()
}

/// Where an [imported] measurement reports that it has failed on data, and reads whether something has.
#[derive(Clone)]
pub struct Failures(Option<FirstFailure>);

impl Failures {
    /// Failures that stop nothing: of data that no session has opened.
    pub const fn of_no_session() -> Self {
        Self(None)
    }

    /// May code run on these data now? Asked right before it reads them, and again before it answers.
    ///
    /// # Errors
    /// [`AskError::Halted`] once something has failed on them.
    pub fn check(&self) -> Result<(), AskError> {
        self.0.as_ref().map_or(Ok(()), FirstFailure::check)
    }

    /// Records that code which was called `by` has failed on these data: from now on, nothing runs on them.
    pub fn record(&self, by: &str, error: &AskError) {
        if let Some(first) = &self.0 {
            first.record(by, error);
        }
    }
}
