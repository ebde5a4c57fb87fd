//! Asking what a launch costs. Maps are foreign code: they run with no lock held, may panic, and may use no session.

use measures::{Measure, Metric};
use queryable::guarded;

use crate::{
    bill::{Bill, Quote},
    error::LaunchError,
    measurement::Description,
};

pub(crate) fn quote<MI: Metric, M: Measure>(
    bill: &Bill<MI, M>,
    description: &Description,
    d_in: &MI::Distance,
) -> Result<Quote<M::Loss>, LaunchError> {
    match guarded(|| bill.quote(d_in)) {
        Ok(Ok(quote)) => Ok(quote),
        Ok(Err(source)) => Err(LaunchError::Map {
            launch: description.to_string(),
            source,
        }),
        Err(_) => Err(LaunchError::MapPanicked {
            launch: description.to_string(),
        }),
    }
}
