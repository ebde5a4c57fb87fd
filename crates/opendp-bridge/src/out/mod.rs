//! Our measurements in OpenDP: noninteractive ones, compositors, filters and interactive mechanisms.

mod canary;
mod guard;

pub use canary::Canary;
pub use guard::{Guard, GuardedComposition, GuardedQueryable, GuardedSession};

use std::sync::Arc;

use opendp::{
    core::{Function, Measurement as TheirMeasurement, MetricSpace, PrivacyMap as TheirMap},
    error::{Error as OpendpError, ErrorVariant, Fallible},
};
use queryable::Root;

use crate::{
    correspondence::Correspondence,
    distance::OpendpDistance,
    measurement::Imported,
    space::{SharedDomain, SharedMetric},
};

/// A measurement of ours as an OpenDP measurement, for `>>`, `make_composition`, `make_adaptive_composition` and all the
/// others.
///
/// Distances come in exactly, losses go out rounded up. An answer that can be asked (a queryable, a session) keeps to the
/// turns of OpenDP's sequential compositors, with everything it answers ([`Guard`]). The data are cloned once per
/// invocation; the coins come from the operating system.
///
/// Inside of a step of ours it refuses: a measurement that went out does not come back in.
///
/// ```
/// use measures::{Basic, PureDp};
/// use odometer::Odometer;
/// use opendp::{domains::{AtomDomain, VectorDomain}, metrics::SymmetricDistance, transformations::make_clamp};
/// use opendp_bridge::{export, space};
/// let bounded = VectorDomain::new(AtomDomain::new_closed((0, 100))?);
/// let filter = Odometer::new(space(bounded, SymmetricDistance)?, Basic::new(PureDp)).filter(1, "1".parse()?)?;
///
/// let clamp = make_clamp(VectorDomain::new(AtomDomain::<i32>::default()), SymmetricDistance, (0, 100))?;
/// let pipeline = (clamp >> export(&filter)?)?;
/// assert_eq!(pipeline.map(&1)?, 1.0);
/// let session = pipeline.invoke(&vec![31, 147])?;
/// assert_eq!(session.remaining(&1)?, Some("1".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// OpenDP's own, if domain and metric do not go together.
pub fn export<DI, MI, C, A>(
    measurement: &Imported<DI, MI, C, A>,
) -> Fallible<TheirMeasurement<DI, MI, C::Theirs, A::Guarded>>
where
    DI: SharedDomain<Carrier: Clone>,
    MI: SharedMetric,
    (DI, MI): MetricSpace,
    C: Correspondence,
    A: Guard,
{
    let (ours, map) = (measurement.clone(), measurement.map().clone());
    let function = move |data: &DI::Carrier| {
        let canary = Canary::hatch()?;
        let answer = Root::from_os()
            .map_err(|error| theirs(ErrorVariant::FailedFunction, &error))
            .and_then(|root| {
                ours.invoke_in(&root, Arc::new(data.clone()))
                    .map_err(|error| theirs(ErrorVariant::FailedFunction, &error))
            })?;
        Ok(answer.guard(&canary))
    };
    let privacy_map = move |d_in: &MI::Distance| {
        let failed = ErrorVariant::FailedMap;
        let d_in = match d_in.exact() {
            Ok(d_in) => d_in,
            Err(error) => return Err(theirs(failed, &error)),
        };
        let loss = map.loss(&d_in);
        match loss.map(|loss| map.measure().distance(&loss)) {
            Ok(Ok(distance)) => Ok(distance),
            Ok(Err(error)) => Err(theirs(failed, &error)),
            Err(error) => Err(theirs(failed, &error)),
        }
    };
    let space = measurement.space();
    TheirMeasurement::new(
        space.domain.0.clone(),
        space.metric.0.clone(),
        measurement.map().measure().theirs(),
        Function::new_fallible(function),
        TheirMap::new_fallible(privacy_map),
    )
}

fn theirs(variant: ErrorVariant, error: &dyn std::error::Error) -> OpendpError {
    OpendpError {
        message: Some(error.to_string()),
        ..variant.into()
    }
}
