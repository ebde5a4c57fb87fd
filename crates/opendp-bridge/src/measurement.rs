//! OpenDP's noninteractive measurements as ours.

use std::borrow::Cow;

use measures::{MapError, Measure, PrivacyMap};
use odometer::{Measurement, Space as _, internal::imported};
use opendp::core::{Measure as TheirMeasure, Measurement as TheirMeasurement};
use queryable::AskError;

use crate::{
    constructor::{Build, Constructor},
    correspondence::{Correspondence, Counterpart},
    distance::ask_map,
    error::{BridgeError, at_release},
    pinned::Pinned,
    space::{OpendpMetric, OpendpSpace, OursOf, SharedDomain, SharedMetric, space_of},
};

/// What measurements are called.
pub(crate) type Name = Cow<'static, str>;

/// An OpenDP measurement in the measure that corresponds to the measure `C` of ours.
pub type TheirsIn<DI, MI, C, TO> = TheirMeasurement<DI, MI, <C as Correspondence>::Theirs, TO>;

/// A measurement of ours on OpenDP's data.
pub type Imported<DI, MI, C, A> = Measurement<OpendpSpace<DI, MI>, C, A>;

/// An OpenDP measurement as a measurement of ours, in the measure of ours that corresponds to OpenDP's.
///
/// The constructor is called now, and once on each thread that runs the measurement or asks its map. Its domain, metric
/// and measure are kept and compared, and so is its map at the first 256 distances at which it was asked: an object that
/// differs does not run. OpenDP's maps bound the loss; NaN, negative and failing ones are errors.
///
/// OpenDP's maps say nothing about errors: a pipeline with a transformation that fails iff some value is in the data, and a
/// measurement of loss zero behind it, tells that value for free. So in a session a failure or panic of an imported
/// measurement on data stops everything on those data, as that of a [transformation](crate::total_transformation) does:
/// import what fails on no data of its domain.
///
/// The noise comes from *OpenDP's* generator, not from our coins: seeds and scripts have no effect, and the auditor cannot
/// enumerate it. Enable the feature `use-openssl` in the final binary; without it OpenDP calls its generator non-secure.
///
/// ```
/// use odometry::measures::{Basic, PureDp};
/// use odometry::odometer::Odometer;
/// use opendp::{domains::AtomDomain, measurements::make_laplace, metrics::AbsoluteDistance};
/// use odometry::opendp_bridge::{measurement, theirs};
/// let laplace = measurement("laplace", || {
///     make_laplace::<_, _, theirs::Pure>(AtomDomain::<i32>::default(), AbsoluteDistance::<i32>::default(), 2.0, None)
/// })?;
/// let session = Odometer::new(laplace.space().clone(), Basic::new(PureDp)).open(42)?;
/// let answer: i32 = session.launch(&laplace)?;
/// assert_eq!(session.privacy_loss(&"1".parse()?)?.to_string(), "0.5");
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The answer must be able to cross threads. OpenDP's queryables cannot: for those there is
/// [`interactive`](crate::interactive).
///
/// # Errors
/// [`BridgeError::Construction`] with OpenDP's text, if the constructor fails.
pub fn measurement<DI, MI, MO, TO>(
    name: impl Into<Name>,
    constructor: impl Build<TheirMeasurement<DI, MI, MO, TO>>,
) -> Result<Imported<DI, MI, MO::Ours, TO>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    MO: Counterpart + 'static,
    TO: Send + 'static,
{
    let constructor = Constructor::new(constructor);
    let measure = constructor.build()?.output_measure.ours();
    import(name.into(), measure, constructor)
}

/// As [`measurement`], in a measure of ours of your choice: for Rényi privacy, whose orders OpenDP does not name, and for
/// measures of your own.
///
/// ```
/// use odometry::measures::RenyiDp;
/// # use opendp::{core::{Function, Measurement, PrivacyMap}, domains::AtomDomain, metrics::AbsoluteDistance};
/// use odometry::opendp_bridge::{measurement_in, theirs};
/// # let build = || Measurement::new(AtomDomain::<i32>::default(), AbsoluteDistance::<i32>::default(), theirs::Renyi,
/// #     Function::new(|x: &i32| *x), PrivacyMap::new(|_| Function::new(|alpha: &f64| alpha / 2.0)));
/// let at_two = measurement_in("rényi", RenyiDp::new(2)?, build)?;
/// assert_eq!(at_two.map().loss(&"1".parse()?)?.to_string(), "1 at order 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`measurement`], and [`BridgeError::Unstable`] if OpenDP's measure is another than the measure corresponds to.
pub fn measurement_in<DI, MI, C, TO>(
    name: impl Into<Name>,
    measure: C,
    constructor: impl Build<TheirsIn<DI, MI, C, TO>>,
) -> Result<Imported<DI, MI, C, TO>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: Send + 'static,
{
    import(name.into(), measure, Constructor::new(constructor))
}

fn import<DI, MI, C, TO>(
    name: Name,
    measure: C,
    constructor: Constructor<TheirsIn<DI, MI, C, TO>>,
) -> Result<Imported<DI, MI, C, TO>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: Send + 'static,
{
    let Parts { space, map, pinned } = parts(measure, constructor)?;
    let by = format!("the OpenDP measurement `{name}`");
    Ok(imported(name, space, map, move |data, _, failures| {
        // Building it may have taken its time.
        let invoked = pinned.with(|theirs| failures.check().map(|()| theirs.invoke(data)));
        let failed = match invoked {
            Ok(Ok(Ok(answer))) => return Ok(answer),
            Ok(Ok(Err(error))) => at_release(&error),
            Ok(Err(stopped)) => return Err(stopped),
            Err(BridgeError::Panicked) => AskError::Panicked,
            // It has not come to the data.
            Err(unbuilt) => return Err(unbuilt.into()),
        };
        failures.record(&by, &failed);
        Err(failed)
    }))
}

/// An OpenDP measurement that is held to its promises.
pub(crate) type PinnedMeasurement<DI, MI, C, TO> =
    Pinned<TheirsIn<DI, MI, C, TO>, OursOf<MI>, <C as Measure>::Loss>;

/// What every import of a measurement starts with.
pub(crate) struct Parts<DI, MI, C, TO>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
{
    pub(crate) space: OpendpSpace<DI, MI>,
    pub(crate) map: PrivacyMap<OpendpMetric<MI>, C>,
    /// Builds the same as the first time, or fails.
    pub(crate) pinned: PinnedMeasurement<DI, MI, C, TO>,
}

pub(crate) fn parts<DI, MI, C, TO>(
    measure: C,
    constructor: Constructor<TheirsIn<DI, MI, C, TO>>,
) -> Result<Parts<DI, MI, C, TO>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
{
    let first = constructor.build()?;
    let (domain, metric) = (first.input_domain.clone(), first.input_metric.clone());
    let expected = (domain.clone(), metric.clone(), measure.theirs());
    check(&expected, &first)?;
    let counted_in = measure.clone();
    let pinned: PinnedMeasurement<DI, MI, C, TO> = Pinned::new(
        constructor,
        move |now| check(&expected, now),
        move |theirs, d_in| ask(theirs, &counted_in, d_in),
    );
    let asked = pinned.clone();
    let space = space_of(&domain, &metric);
    let map = space.map(measure, move |d_in| asked.map(d_in));
    Ok(Parts { space, map, pinned })
}

/// Is it on the same data and in the same measure?
fn check<DI: SharedDomain, MI: SharedMetric, MO: TheirMeasure, TO>(
    first: &(DI, MI, MO),
    now: &TheirMeasurement<DI, MI, MO, TO>,
) -> Result<(), BridgeError> {
    let (domain, metric, measure) = first;
    if *domain == now.input_domain && *metric == now.input_metric && *measure == now.output_measure
    {
        return Ok(());
    }
    Err(BridgeError::Unstable {
        first: format!("{domain:?}, {metric:?}, {measure:?}"),
        now: format!("{now:?}"),
    })
}

/// Asks OpenDP's privacy map.
fn ask<DI, MI, C, TO>(
    theirs: &TheirsIn<DI, MI, C, TO>,
    measure: &C,
    d_in: &OursOf<MI>,
) -> Result<C::Loss, MapError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
{
    let d_out = ask_map(d_in, |d_in: &MI::Distance| theirs.map(d_in))?;
    measure.loss(&d_out).map_err(|no| no.at(d_in))
}
