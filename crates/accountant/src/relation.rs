//! Which data sets are neighbours, for the measurements of an accountant.

use std::any::{Any, type_name};
use std::sync::Arc;

use exact::excerpt;
use measures::Promise;

use crate::AccountantError;

/// Data at distance 1 of a metric.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// The metric, in an `Option`: a map by itself knows only its type.
    metric: Arc<dyn Any + Send + Sync>,
    shown: String,
}

impl Relation {
    /// The relation of a measurement, if it is that of the measurements before it.
    pub(crate) fn with<P: Promise>(
        before: Option<&Relation>,
        promise: &P,
    ) -> Result<Relation, AccountantError> {
        let metric: Option<P::Metric> = promise.metric().cloned();
        let shown = match &metric {
            Some(metric) => excerpt(&format_args!("{metric:?}")),
            None => excerpt(&type_name::<P::Metric>()),
        };
        let Some(before) = before else {
            let metric = Arc::new(metric);
            return Ok(Relation { metric, shown });
        };
        match before.metric.downcast_ref::<Option<P::Metric>>() {
            Some(None) => Ok(Relation {
                metric: Arc::new(metric),
                shown,
            }),
            Some(known) if metric.is_none() || *known == metric => Ok(before.clone()),
            _ => Err(AccountantError::Metrics {
                mechanism: excerpt(&promise.title()),
                metric: shown,
                known: before.shown.clone(),
            }),
        }
    }
}
