//! Filters and compositors on a ledger: what they keep account of is there, too, and so are the launches inside.

use std::sync::Arc;

use measures::Measure;
use queryable::{AskError, Scope};

use super::{Measurement, Unprocessed};
use crate::{
    error::OpenError,
    journal::{Books, JournalError, Opening, Place},
    space::Space,
};

/// Where something is launched, on a ledger: below this place. Nowhere without one.
pub(crate) type Above<'a> = Option<(&'a Books, Place)>;

pub(crate) type OpeningBelow = dyn Fn(&Books, Place) -> Result<Opening, OpenError> + Send + Sync;
type OpenReserved<X, A> = dyn Fn(&Arc<X>, &mut Scope<'_>, (&Books, Place)) -> Result<Unprocessed<A>, AskError>
    + Send
    + Sync;

/// What a filter or a compositor is on a ledger.
pub(crate) struct Reserved<X, A> {
    /// How it is opened below the place in which it is launched.
    opening: Arc<OpeningBelow>,
    /// Its function, once it was charged.
    open: Arc<OpenReserved<X, A>>,
}

impl<X: 'static, A: 'static> Reserved<X, A> {
    pub(crate) fn new<O, F>(opening: O, open: F) -> Self
    where
        O: Fn(&Books, Place) -> Result<Opening, OpenError> + Send + Sync + 'static,
        F: Fn(&Arc<X>, &mut Scope<'_>, (&Books, Place)) -> Result<A, AskError>,
        F: Send + Sync + 'static,
    {
        Self {
            opening: Arc::new(opening),
            open: Arc::new(move |data, scope, above| {
                open(data, scope, above).map(Unprocessed::Done)
            }),
        }
    }

    pub(super) fn opening(&self) -> Arc<OpeningBelow> {
        Arc::clone(&self.opening)
    }

    /// The same, with post-processing.
    pub(crate) fn then<B: 'static>(
        &self,
        process: Arc<impl Fn(A) -> Result<B, AskError> + Send + Sync + 'static>,
    ) -> Reserved<X, B> {
        let open = Arc::clone(&self.open);
        Reserved {
            opening: self.opening(),
            open: Arc::new(move |data, scope, above| {
                let process = Arc::clone(&process);
                Ok(open(data, scope, above)?.then(move |answer| process(answer)))
            }),
        }
    }
}

/// What runs a filter or a compositor inside is not on a ledger: its launches would not be written down.
pub(super) fn hidden() -> Arc<OpeningBelow> {
    Arc::new(|_, _| {
        let why = "a filter or a compositor that another measurement runs inside cannot be launched on a ledger: launch it \
                   itself, and for a transformation in front use `Pipeline::filter`, or a link and a filter below it";
        Err(JournalError::Unsupported(why.into()).into())
    })
}

impl<S: Space, M: Measure, A: 'static> Measurement<S, M, A> {
    /// This filter, which is written down where it is launched on a ledger. Without one it stays as it is.
    pub(crate) fn reserved_by(&self, reserved: Option<Reserved<S::Data, A>>) -> Self {
        let head = self.head().described((**self.description()).clone());
        Self::reserving(head, self.function(), reserved.map(Arc::new))
    }

    pub(crate) fn reserved(&self) -> Option<&Reserved<S::Data, A>> {
        self.0.reserved.as_deref()
    }

    /// Its function, where it was launched. The caller reads before and after whether something has failed on the data, and
    /// runs the post-processing.
    #[inline]
    pub(crate) fn run_at(
        &self,
        data: &Arc<S::Data>,
        scope: &mut Scope<'_>,
        above: Above<'_>,
    ) -> Result<Unprocessed<A>, AskError> {
        match (above, self.reserved()) {
            (Some(above), Some(reserved)) => (reserved.open)(data, scope, above),
            _ => (self.0.function)(data, scope),
        }
    }
}
