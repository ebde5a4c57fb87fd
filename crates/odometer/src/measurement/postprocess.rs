//! Post-processing of measurements, and answers that it is still to be done with.
//!
//! Post-processing is the analyst's code. It runs when the step of the measurement's function is over, and only if nothing
//! has failed on the data by then: otherwise it could reveal which of several launches ended.

use std::{
    borrow::Borrow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use measures::Measure;
use queryable::{AskError, PostProcessor, Queryable, discard};

use super::Measurement;
use crate::{space::Space, transformation::linked};

impl<S: Space, M: Measure, A: 'static> Measurement<S, M, A> {
    /// The same measurement with its answer post-processed. The privacy loss stays the same (\[HST+23\] Thm 2.17).
    ///
    /// `process` is the analyst's code. It runs once the measurement's function has ended, outside of its step, and only if
    /// nothing [has failed](crate::LaunchError::Stopped) on the data by then. Its panic is caught:
    /// [`LaunchError::Failed`](crate::LaunchError::Failed) with [`AskError::Panicked`], charged.
    pub fn postprocess<B: 'static>(
        &self,
        process: impl Fn(A) -> B + Send + Sync + 'static,
    ) -> Measurement<S, M, B> {
        let process = Arc::new(move |answer| Ok(process(answer)));
        let reserved = self.reserved();
        let reserved = reserved.map(|reserved| reserved.then(Arc::clone(&process)));
        let function = self.function();
        self.derived(
            linked(self.links(), 0),
            self.space().clone(),
            self.map().clone(),
            move |data, scope| {
                let process = Arc::clone(&process);
                Ok(function(data, scope)?.then(move |answer| process(answer)))
            },
        )
        .reserved_by(reserved)
        .knowing_as(self)
        .marked_as_postprocessed()
    }

    /// The same measurement with its queryable post-processed: every launch gets a post-processor of its own, which `make`
    /// makes and which may talk to the queryable as often as it likes. The privacy loss stays the same (\[HST+23\] Thm 2.17):
    /// `make` sees no data, and the post-processor only what the analyst could ask. `make` is called as
    /// [`postprocess`](Self::postprocess) calls its function.
    ///
    /// ```
    /// # use odometry::measures::{PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Records};
    /// use odometry::queryable::{machine, translate};
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let counter = Measurement::new("counter", Records::<i64>::new(), map, |_, scope| {
    ///     scope.spawn(machine(|x: i64, _| Ok(x + 1))) // yours adds noise
    /// });
    /// let texts = counter.postprocess_with(|| translate(|x: i64| 2 * x, |x: i64| format!("{x} people")));
    /// assert_eq!(texts.invoke(vec![])?.ask(20)?, "41 people");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn postprocess_with<P>(
        &self,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Measurement<S, M, Queryable<P::Query, P::Answer>>
    where
        P: PostProcessor + 'static,
        A: Borrow<Queryable<P::InnerQuery, P::InnerAnswer>>,
    {
        let (function, make) = (self.function(), Arc::new(make));
        self.derived(
            linked(self.links(), 0),
            self.space().clone(),
            self.map().clone(),
            move |data, scope| {
                let inner = function(data, scope)?;
                let (root, make) = (scope.root()?, Arc::clone(&make));
                Ok(inner.then(move |inner| root.postprocess(inner.borrow(), make())))
            },
        )
        .knowing_as(self)
        .marked_as_postprocessed()
    }

    fn marked_as_postprocessed(self) -> Self {
        let mut head = self.head().described((**self.description()).clone());
        head.is_postprocessed = true;
        self.with_head(head)
    }

    /// Whether there is post-processing in it, or in a measurement that it was made from.
    pub(crate) fn is_postprocessed(&self) -> bool {
        self.head().is_postprocessed
    }
}

/// The answer of a measurement's function, with the post-processing that it still needs.
pub(crate) enum Unprocessed<A> {
    /// None.
    Done(A),
    Pending(Box<dyn FnOnce() -> Result<A, AskError>>),
}

impl<A: 'static> Unprocessed<A> {
    /// With one more step of post-processing.
    pub(crate) fn then<B>(
        self,
        process: impl FnOnce(A) -> Result<B, AskError> + 'static,
    ) -> Unprocessed<B> {
        Unprocessed::Pending(Box::new(move || match self {
            Self::Done(answer) => process(answer),
            Self::Pending(before) => process(before()?),
        }))
    }

    /// Runs the post-processing. Its panic is caught, as an error of the launch: its author need not be the caller.
    #[inline]
    pub(crate) fn processed(self) -> Result<A, AskError> {
        match self {
            Self::Done(answer) => Ok(answer),
            Self::Pending(process) => {
                catch_unwind(AssertUnwindSafe(process)).unwrap_or_else(|payload| {
                    discard(payload);
                    Err(AskError::Panicked)
                })
            }
        }
    }
}
