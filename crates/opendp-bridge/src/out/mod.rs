//! Our measurements in OpenDP: noninteractive ones, compositors, filters and interactive mechanisms. The documentation of the
//! module `interactive` explains both directions, with a diagram.

mod lease_token;

#[cfg(test)]
pub(crate) use lease_token::TurnProbe;

use std::sync::Arc;

use odometer::Space;
use opendp::{
    core::{Function, Measurement as TheirMeasurement, MetricSpace, PrivacyMap as TheirMap},
    error::{Error as OpendpError, ErrorVariant, Fallible},
};
use queryable::{AskError, Root, Scope, guarded};

use lease_token::LeaseToken;

use crate::{
    correspondence::Correspondence,
    distance::OpendpDistance,
    measurement::Imported,
    space::{SharedDomain, SharedMetric},
};

/// What an exported measurement answers: what the function gave, or why it gave nothing. OpenDP charges both.
pub type Answered<A> = Result<A, AskError>;

/// A measurement of ours as an OpenDP measurement, for `>>`, `make_composition`, `make_adaptive_composition` and all the
/// others.
///
/// Distances come in exactly, losses go out rounded up. The data are cloned once per invocation; the coins come from the
/// operating system.
///
/// An answer that can be asked (a queryable, a session, a composition) keeps to the turns of OpenDP's sequential
/// compositors, from its birth, with everything below it, and whoever got hold of a handle: each step asks the compositors
/// above, and OpenDP's queryables that are made in a step ask them, too. OpenDP's compositors are bound to their thread,
/// so on other threads the answer is [`AskError::WrongThread`].
///
/// OpenDP's compositors run a child before they charge it, and charge no child that fails. So a failure is an answer: the
/// OpenDP measurement gives `Ok(Err(..))` if the function fails or panics, or if the data are not in the domain. OpenDP's
/// own `Err` is left for what goes wrong before data are read: no entropy, a compositor above that refuses, or a use inside
/// of a step of ours (a measurement that went out does not come back in).
///
/// ```
/// use odometry::measures::{Basic, PureDp};
/// use odometry::odometer::Odometer;
/// use opendp::{domains::{AtomDomain, VectorDomain}, metrics::SymmetricDistance, transformations::make_clamp};
/// use odometry::opendp_bridge::{export, space};
/// let bounded = VectorDomain::new(AtomDomain::new_closed((0, 100))?);
/// let filter = Odometer::new(space(bounded, SymmetricDistance)?, Basic::new(PureDp)).filter(1, "1")?;
///
/// let clamp = make_clamp(VectorDomain::new(AtomDomain::<i32>::default()), SymmetricDistance, (0, 100))?;
/// let pipeline = (clamp >> export(&filter)?)?;
/// assert_eq!(pipeline.map(&1)?, 1.0);
/// let session = pipeline.invoke(&vec![31, 147])??;
/// assert_eq!(session.remaining(&1)?, Some("1".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// OpenDP's own, if domain and metric do not go together.
pub fn export<DI, MI, C, A>(
    measurement: &Imported<DI, MI, C, A>,
) -> Fallible<TheirMeasurement<DI, MI, C::Theirs, Answered<A>>>
where
    DI: SharedDomain<Carrier: Clone>,
    MI: SharedMetric,
    (DI, MI): MetricSpace,
    C: Correspondence,
    A: 'static,
{
    let (ours, map) = (measurement.clone(), measurement.map().clone());
    let function = move |data: &DI::Carrier| {
        let unread = |error| theirs(ErrorVariant::FailedFunction, &error);
        let token = Arc::new(LeaseToken::new()?);
        let root = Root::from_os().and_then(|root| root.under(token));
        let mut started = false;
        let answer = root.map_err(unread)?.run([], |scope| {
            started = true;
            answer(&ours, data, scope)
        });
        match answer {
            Err(error) if !started => Err(unread(error)),
            answer => Ok(answer),
        }
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
        space.domain().clone(),
        space.metric().0.clone(),
        measurement.map().measure().theirs(),
        Function::new_fallible(function),
        TheirMap::new_fallible(privacy_map),
    )
}

/// Everything that sees data. It runs in a step, so a panic is an answer, too.
fn answer<DI, MI, C, A>(
    ours: &Imported<DI, MI, C, A>,
    data: &DI::Carrier,
    scope: &mut Scope<'_>,
) -> Answered<A>
where
    DI: SharedDomain<Carrier: Clone>,
    MI: SharedMetric,
    C: Correspondence,
    A: 'static,
{
    if !guarded(|| ours.space().contains(data))? {
        return Err(AskError::failed("the data are not in the domain"));
    }
    ours.run(&Arc::new(data.clone()), scope)
}

fn theirs(variant: ErrorVariant, error: &dyn std::error::Error) -> OpendpError {
    OpendpError {
        message: Some(error.to_string()),
        ..variant.into()
    }
}
