//! The data of a session.

use std::sync::{Arc, OnceLock};

use queryable::AskError;

/// The data, or how to get them from the data of a session above, when the first launch needs them.
pub(crate) enum Data<X> {
    Here(Arc<X>),
    Derived(Arc<Derived<X>>),
}

pub(crate) struct Derived<X> {
    made: OnceLock<Result<Arc<X>, AskError>>,
    make: Box<dyn Fn() -> Result<X, AskError> + Send + Sync>,
}

impl<X> Data<X> {
    pub(crate) fn derived(make: impl Fn() -> Result<X, AskError> + Send + Sync + 'static) -> Self {
        Self::Derived(Arc::new(Derived {
            made: OnceLock::new(),
            make: Box::new(make),
        }))
    }

    #[inline]
    pub(crate) fn get(&self) -> Result<&Arc<X>, AskError> {
        match self {
            Self::Here(data) => Ok(data),
            Self::Derived(derived) => derived
                .made
                .get_or_init(|| (derived.make)().map(Arc::new))
                .as_ref()
                .map_err(Clone::clone),
        }
    }
}

impl<X> Clone for Data<X> {
    fn clone(&self) -> Self {
        match self {
            Self::Here(data) => Self::Here(Arc::clone(data)),
            Self::Derived(derived) => Self::Derived(Arc::clone(derived)),
        }
    }
}
