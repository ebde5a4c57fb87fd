//! What an author says of a measurement beside its map.

use std::{any::Any, sync::Arc};

use measures::{Measure, PrivacyMap, Promise};

use super::Measurement;
use crate::space::Space;

/// Values of different types.
pub(super) type Facts = Vec<Arc<dyn Any + Send + Sync>>;

impl<S: Space, M: Measure, A: 'static> Measurement<S, M, A> {
    /// The same measurement, of which something more is known: its loss distribution, for one. The author vouches for it as
    /// for the map, at the distances of this space. A fact of the same type is replaced.
    ///
    /// What keeps the function of the data keeps what is known: names, post-processing, conversions. A transformation in
    /// front does not, since distances are others there.
    ///
    /// ```
    /// use odometry::prelude::*;
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let query = Measurement::new("query", Records::<i64>::new(), map, |_, _| Ok(42)).knowing("checked by Ada");
    /// assert_eq!(query.postprocess(|x: i32| x + 1).known::<&str>(), Some(&"checked by Ada"));
    /// assert_eq!(query.known::<String>(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn knowing<T: Any + Send + Sync>(self, fact: T) -> Self {
        let mut head = self.head().described((**self.description()).clone());
        head.known.retain(|known| !known.is::<T>());
        head.known.push(Arc::new(fact));
        self.with_head(head)
    }

    /// What is known beside the map, if a fact of this type is.
    pub fn known<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0
            .head
            .known
            .iter()
            .find_map(|fact| fact.downcast_ref())
    }

    /// With all that is known of another one, whose function of the data it has.
    pub(super) fn knowing_as<M2: Measure, B>(self, other: &Measurement<S, M2, B>) -> Self {
        let mut head = self.head().described((**self.description()).clone());
        head.known.clone_from(&other.0.head.known);
        self.with_head(head)
    }
}

/// For accountants.
impl<S: Space, M: Measure, A: 'static> Promise for Measurement<S, M, A> {
    type Metric = S::Metric;
    type Measure = M;

    fn promised(&self) -> &PrivacyMap<S::Metric, M> {
        self.map()
    }

    fn metric(&self) -> Option<&S::Metric> {
        Some(self.space().metric())
    }

    fn known<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.known()
    }

    fn title(&self) -> String {
        self.description().to_string()
    }
}
