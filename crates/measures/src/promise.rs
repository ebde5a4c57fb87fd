//! Whatever comes with a privacy map: a measurement, for accountants that know nothing of machines.

use std::any::Any;

use crate::{Measure, Metric, PrivacyMap};

/// Something that promises privacy: a map, and what else its author says about it. Measurements are promises, and a map is
/// one by itself.
///
/// ```
/// use odometry::measures::{PrivacyMap, Promise, PureDp};
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// assert_eq!(map.promised().loss(&2)?, "0.2".parse()?);
/// assert!(map.known::<String>().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Promise {
    /// How distances are told.
    type Metric: Metric;
    /// How losses are measured.
    type Measure: Measure;

    /// The map.
    fn promised(&self) -> &PrivacyMap<Self::Metric, Self::Measure>;

    /// The metric with its parameters, where they are known. A map by itself knows only the type of its metric.
    fn metric(&self) -> Option<&Self::Metric> {
        None
    }

    /// What is known beside the map, if it is known: a finer description of the loss, for one. Whoever promises vouches for
    /// it as for the map.
    fn known<T: Any + Send + Sync>(&self) -> Option<&T> {
        None
    }

    /// What it is called.
    fn title(&self) -> String {
        "a mechanism".into()
    }
}

impl<MI: Metric, M: Measure> Promise for PrivacyMap<MI, M> {
    type Metric = MI;
    type Measure = M;

    fn promised(&self) -> &PrivacyMap<MI, M> {
        self
    }
}
