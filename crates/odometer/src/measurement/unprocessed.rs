//! Answers that are still to be post-processed.
//!
//! Post-processing is the analyst's code. It runs when the step of the measurement's function is over, and only if nothing
//! has failed on the data by then: otherwise it could tell which of several launches came to an end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use queryable::{AskError, discard};

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

    /// Runs the post-processing. Its panic is caught, as an error of the launch: whoever launches need not be its author.
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
