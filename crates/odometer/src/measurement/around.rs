//! Measurements that run another one inside.

use std::sync::Arc;

use measures::{Measure, PrivacyMap};
use queryable::{AskError, Scope};

use super::{Measurement, Unprocessed};
use crate::{space::Space, transformation::linked};

impl<S: Space, M: Measure, A: 'static> Measurement<S, M, A> {
    /// A measurement that runs this one inside, on data that it makes: with its description, launched only when this one
    /// could be. The author vouches for the map.
    ///
    /// ```
    /// use odometry::prelude::*;
    /// use std::sync::Arc;
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let query = Measurement::new("query", Records::<i64>::new(), map, |data, _| Ok(data.len())); // yours adds noise
    /// // Of each record two copies: what one record changes there is a change of two.
    /// let twice = PrivacyMap::per_record(PureDp, "0.2")?;
    /// let doubled = query.around(twice, |query, data, scope| query.run(&Arc::new(data.repeat(2)), scope));
    /// assert_eq!(doubled.invoke(vec![3, 1])?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn around<M2, B, F>(
        &self,
        map: PrivacyMap<S::Metric, M2>,
        function: F,
    ) -> Measurement<S, M2, B>
    where
        M2: Measure,
        B: 'static,
        F: Fn(&Self, &Arc<S::Data>, &mut Scope<'_>) -> Result<B, AskError> + Send + Sync + 'static,
    {
        let inner = self.clone();
        let (links, space) = (linked(self.links(), 0), self.space().clone());
        self.derived(links, space, map, move |data, scope| {
            function(&inner, data, scope).map(Unprocessed::Done)
        })
    }

    /// As [`around`](Self::around), for a function that only makes other data: the answer is released as it is, so its
    /// post-processing runs after the step, as that of this measurement does.
    pub(crate) fn on_other_data<M2, F>(
        &self,
        map: PrivacyMap<S::Metric, M2>,
        make: F,
    ) -> Measurement<S, M2, A>
    where
        M2: Measure,
        F: Fn(&S::Data, &mut Scope<'_>) -> Result<S::Data, AskError> + Send + Sync + 'static,
    {
        let inner = self.clone();
        let (links, space) = (linked(self.links(), 0), self.space().clone());
        self.derived(links, space, map, move |data, scope| {
            inner.run_unprocessed(&Arc::new(make(data, scope)?), scope)
        })
    }
}
