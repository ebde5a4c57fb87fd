//! A constructor that is held to its promises. It is called on every thread, and its author vouches that it builds the
//! same object each time; what can be compared is compared, before an object is used: where it starts and ends (domains,
//! metrics, measure), and its map at every distance at which the map was asked before, on whatever thread.

use std::{cell::Cell, fmt, sync::Arc};

use measures::MapError;

use crate::{constructor::Constructor, error::BridgeError, frame::framed, memo::Memo};

/// A constructor of objects of the type `T`, whose maps take a `K` to a `V`.
pub(crate) struct Pinned<T, K, V>(Arc<Inner<T, K, V>>);

struct Inner<T, K, V> {
    constructor: Constructor<Compared<T>>,
    known: Memo<K, V>,
    map: Box<Map<T, K, V>>,
}

type Map<T, K, V> = dyn Fn(&T, &K) -> Result<V, MapError> + Send + Sync;

/// An object that starts and ends where it should.
struct Compared<T> {
    object: T,
    /// At how many of the known distances its map gives what is known.
    agrees: Cell<usize>,
}

impl<T, K, V> Pinned<T, K, V>
where
    T: 'static,
    K: Clone + PartialEq + fmt::Display + Send + Sync + 'static,
    V: Clone + PartialEq + fmt::Display + Send + Sync + 'static,
{
    /// Everything that is built passes `check`, or is not used; `map` asks its map.
    pub(crate) fn new(
        constructor: Constructor<T>,
        check: impl Fn(&T) -> Result<(), BridgeError> + Send + Sync + 'static,
        map: impl Fn(&T, &K) -> Result<V, MapError> + Send + Sync + 'static,
    ) -> Self {
        let compared = move |object| {
            check(&object)?;
            let agrees = Cell::new(0);
            Ok(Compared { object, agrees })
        };
        Self(Arc::new(Inner {
            constructor: constructor.then(compared),
            known: Memo::new(),
            map: Box::new(map),
        }))
    }

    /// What the map gives.
    ///
    /// # Errors
    /// The map's own, or why there is nothing to be asked.
    pub(crate) fn map(&self, d_in: &K) -> Result<V, MapError> {
        self.0.known.get_or(d_in, || {
            self.with(|object| (self.0.map)(object, d_in))
                .unwrap_or_else(|error| Err(MapError::failed(d_in, error.to_string())))
        })
    }

    /// Uses this thread's object.
    ///
    /// # Errors
    /// The constructor's own; [`BridgeError::Unstable`]; [`BridgeError::Panicked`].
    pub(crate) fn with<R>(&self, work: impl FnOnce(&T) -> R) -> Result<R, BridgeError> {
        self.0.constructor.with(|compared| {
            self.compare(compared)?;
            Ok(work(&compared.object))
        })?
    }

    /// Builds a new object on this thread.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub(crate) fn build(&self) -> Result<T, BridgeError> {
        let compared = self.0.constructor.build()?;
        framed(|| self.compare(&compared)).map_err(|_| BridgeError::Panicked)??;
        Ok(compared.object)
    }

    /// Does its map give what was given before?
    fn compare(&self, compared: &Compared<T>) -> Result<(), BridgeError> {
        let agrees = compared.agrees.get();
        if agrees == self.0.known.len() {
            return Ok(());
        }
        let promised = self.0.known.after(agrees);
        for (d_in, before) in &promised {
            let now = (self.0.map)(&compared.object, d_in);
            if now.as_ref() != Ok(before) {
                let now = now.map_or_else(|error| error.to_string(), |now| now.to_string());
                return Err(BridgeError::Unstable {
                    first: format!("{before} at distance {d_in}"),
                    now,
                });
            }
        }
        compared.agrees.set(agrees + promised.len());
        Ok(())
    }
}

impl<T, K, V> Clone for Pinned<T, K, V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
