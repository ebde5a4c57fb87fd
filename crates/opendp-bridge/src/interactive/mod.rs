//! OpenDP's interactive measurements and odometers as queryables of ours.
//!
//! OpenDP's queryables are bound to one thread. Each one gets a thread of its own behind a channel, with everything that
//! it spawns; dropping the last handle ends the thread, and an error or a panic inside halts only what lives there. The
//! handles are queryables of ours: they cross threads, and they keep to the turns of the session that launched them.
//!
//! OpenDP runs a child before it charges, and does not charge one that fails. So the first error, refusal or panic ends
//! the thread, and is always [`AskError::Halted`]; only questions for the loss may fail and be asked again.

mod carry;
mod host;

pub use carry::{Built, Carry, Interactive, Metered, Plain, Pose};
pub use host::{Host, Shelf};

use std::{borrow::Cow, sync::Arc};

use measures::Measure;
use odometer::Measurement;
use opendp::{
    core::{
        Measure as TheirMeasure, Measurement as TheirMeasurement, Metric as TheirMetric,
        Odometer as TheirOdometer, OdometerAnswer, OdometerQuery, OdometerQueryable,
    },
    error::Fallible,
    interactive::Queryable as TheirQueryable,
};
use queryable::{AskError, Queryable, Root, Scope};

use crate::{
    constructor::Constructor,
    correspondence::{Correspondence, Counterpart},
    distance::OpendpDistance,
    error::{BridgeError, at_release},
    measurement::{Imported, Parts, parts},
    space::{SharedDomain, SharedMetric},
};

/// An OpenDP measurement whose answer is a queryable, with queries and answers that may cross threads.
///
/// OpenDP makes few of those by itself; its compositors and filters take measurements as queries: see [`compositor`],
/// [`privacy_filter`], and [`interactive_with`] for everything else.
///
/// # Errors
/// As [`measurement`](crate::measurement).
pub fn interactive<DI, MI, MO, Q, A>(
    name: impl Into<Cow<'static, str>>,
    constructor: impl Fn() -> Fallible<TheirMeasurement<DI, MI, MO, TheirQueryable<Q, A>>>
    + Send
    + Sync
    + 'static,
) -> Result<Imported<DI, MI, MO::Ours, Queryable<Q, A>>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    MO: Counterpart + 'static,
    Q: Send + 'static,
    A: Send + 'static,
{
    let constructor = Constructor::new(constructor);
    let measure = constructor.build()?.output_measure.ours();
    import(name.into(), measure, Interactive(Plain, Plain), constructor)
}

/// An OpenDP compositor (`make_adaptive_composition`) with answers that may cross threads. Its queries are
/// [`Constructor`]s of measurements.
///
/// ```
/// use measures::{Basic, PureDp};
/// use odometer::Odometer;
/// use opendp::{combinators::make_adaptive_composition, domains::AtomDomain, metrics::DiscreteDistance};
/// use opendp::measurements::make_randomized_response_bool;
/// use opendp_bridge::{Constructor, compositor, theirs};
/// let two = compositor("two questions", || {
///     make_adaptive_composition(AtomDomain::<bool>::default(), DiscreteDistance, theirs::Pure, 1, vec![1.1, 1.1])
/// })?;
/// let coin = Constructor::new(|| make_randomized_response_bool(0.75, false));
/// let session = Odometer::new(two.space().clone(), Basic::new(PureDp)).open(true)?;
/// let child = session.launch(&two)?;
/// let answer: bool = child.ask(coin.clone())?;
/// std::thread::scope(|s| s.spawn(|| child.ask(coin.clone())).join().unwrap())?;
/// assert!(child.ask(coin).is_err()); // "out of queries", and halted
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`measurement`](crate::measurement).
#[allow(clippy::type_complexity, reason = "the types are OpenDP's")]
pub fn compositor<DI, MI, MO, TO>(
    name: impl Into<Cow<'static, str>>,
    constructor: impl Fn() -> Fallible<
        TheirMeasurement<DI, MI, MO, TheirQueryable<TheirMeasurement<DI, MI, MO, TO>, TO>>,
    > + Send
    + Sync
    + 'static,
) -> Result<
    Imported<DI, MI, MO::Ours, Queryable<Constructor<TheirMeasurement<DI, MI, MO, TO>>, TO>>,
    BridgeError,
>
where
    DI: SharedDomain,
    MI: SharedMetric,
    MO: Counterpart + 'static,
    TO: Send + 'static,
{
    let constructor = Constructor::new(constructor);
    let measure = constructor.build()?.output_measure.ours();
    import(name.into(), measure, Interactive(Built, Plain), constructor)
}

/// What is asked of an OpenDP odometer: a launch, or the loss at an exact distance.
pub type MeteredQuery<DI, MI, MO, TO> = OdometerQuery<
    Constructor<TheirMeasurement<DI, MI, MO, TO>>,
    <<MI as TheirMetric>::Distance as OpendpDistance>::Ours,
>;

/// What an OpenDP odometer answers: what was launched, or an exact loss.
pub type MeteredAnswer<C, A> = OdometerAnswer<A, <C as Measure>::Loss>;

/// An OpenDP privacy filter (`make_privacy_filter` of `make_fully_adaptive_composition`) with answers that may cross
/// threads.
///
/// It is OpenDP's own filter, with OpenDP's own ways: it runs a query before it checks, and its first refusal is its
/// death. [`Odometer::filter`](odometer::Odometer::filter) does neither.
///
/// # Errors
/// As [`measurement`](crate::measurement).
#[allow(clippy::type_complexity, reason = "the types are OpenDP's")]
pub fn privacy_filter<DI, MI, MO, TO>(
    name: impl Into<Cow<'static, str>>,
    constructor: impl Fn() -> Fallible<
        TheirMeasurement<
            DI,
            MI,
            MO,
            OdometerQueryable<
                TheirMeasurement<DI, MI, MO, TO>,
                TO,
                MI::Distance,
                <MO as TheirMeasure>::Distance,
            >,
        >,
    > + Send
    + Sync
    + 'static,
) -> Result<
    Imported<
        DI,
        MI,
        MO::Ours,
        Queryable<MeteredQuery<DI, MI, MO, TO>, MeteredAnswer<MO::Ours, TO>>,
    >,
    BridgeError,
>
where
    DI: SharedDomain,
    MI: SharedMetric,
    MO: Counterpart + 'static,
    TO: Send + 'static,
{
    let constructor = Constructor::new(constructor);
    let measure = constructor.build()?.output_measure.ours();
    let metered = Metered::<MI, _, _>::new(measure.clone(), Plain);
    import(
        name.into(),
        measure,
        Interactive(metered.clone(), metered),
        constructor,
    )
}

/// Any interactive OpenDP measurement: `how` says how queries and answers cross. In a measure of ours of your choice.
///
/// A compositor whose children are compositors: `Interactive(Built, Interactive(Built, Plain))`.
///
/// # Errors
/// As [`measurement_in`](crate::measurement_in).
pub fn interactive_with<DI, MI, C, TO, W>(
    name: impl Into<Cow<'static, str>>,
    measure: C,
    how: W,
    constructor: impl Fn() -> Fallible<TheirMeasurement<DI, MI, C::Theirs, TO>> + Send + Sync + 'static,
) -> Result<Imported<DI, MI, C, W::Ours>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
    W: Carry<TO>,
{
    import(name.into(), measure, how, Constructor::new(constructor))
}

fn import<DI, MI, C, TO, W>(
    name: Cow<'static, str>,
    measure: C,
    how: W,
    constructor: Constructor<TheirMeasurement<DI, MI, C::Theirs, TO>>,
) -> Result<Imported<DI, MI, C, W::Ours>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
    W: Carry<TO>,
{
    let Parts {
        space,
        map,
        constructor,
    } = parts(measure, constructor)?;
    Ok(Measurement::new(name, space, map, move |data, scope| {
        let (constructor, data) = (constructor.clone(), Arc::clone(data));
        start(scope, &how, move || {
            let theirs = constructor.build()?;
            theirs.invoke(&data).map_err(|error| at_release(&error))
        })
    }))
}

/// Starts a thread for what `open` makes.
fn start<TO, W: Carry<TO>>(
    scope: &mut Scope<'_>,
    how: &W,
    open: impl FnOnce() -> Result<TO, AskError> + Send + 'static,
) -> Result<W::Ours, AskError> {
    let host = Host::start()?;
    let there = how.clone();
    let crossed = host.call(move |shelf| there.cross(open()?, shelf))??;
    how.land(crossed, &host, scope)
}

/// Opens an OpenDP odometer on data, as a queryable of ours with answers that may cross threads. It has no privacy map, so
/// it is no measurement: nothing above it keeps account. A launch that fails ends it, and is not in the
/// loss that it told last.
///
/// ```
/// use measures::PureDp;
/// use opendp::{combinators::make_fully_adaptive_composition, domains::AtomDomain, metrics::DiscreteDistance};
/// use opendp::{core::{OdometerAnswer, OdometerQuery}, measurements::make_randomized_response_bool};
/// use opendp_bridge::{Constructor, Plain, open_odometer, theirs};
/// use queryable::Root;
/// let odometer = open_odometer(&Root::from_os()?, PureDp, Plain, true, || {
///     make_fully_adaptive_composition::<_, _, _, bool>(AtomDomain::<bool>::default(), DiscreteDistance, theirs::Pure)
/// })?;
/// odometer.ask(OdometerQuery::Invoke(Constructor::new(|| make_randomized_response_bool(0.75, false))))?;
/// let OdometerAnswer::PrivacyLoss(loss) = odometer.ask(OdometerQuery::PrivacyLoss(1))? else { panic!() };
/// assert!(loss.to_string().starts_with("1.0986"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The constructor's own, with its text; of an error at opening, its kind.
#[allow(clippy::type_complexity, reason = "the types are OpenDP's")]
pub fn open_odometer<DI, MI, C, TO, W>(
    root: &Root,
    measure: C,
    answers: W,
    data: DI::Carrier,
    constructor: impl Fn() -> Fallible<
        TheirOdometer<DI, MI, C::Theirs, TheirMeasurement<DI, MI, C::Theirs, TO>, TO>,
    > + Send
    + Sync
    + 'static,
) -> Result<Queryable<MeteredQuery<DI, MI, C::Theirs, TO>, MeteredAnswer<C, W::Ours>>, AskError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
    W: Carry<TO>,
{
    let metered = Metered::<MI, _, _>::new(measure, answers);
    let how = Interactive(metered.clone(), metered);
    let constructor = Constructor::new(constructor);
    root.run([], |scope| {
        start(scope, &how, move || {
            let theirs = constructor.build()?;
            match theirs.input_domain.member(&data) {
                Ok(true) => theirs.invoke(&data).map_err(|error| at_release(&error)),
                _ => Err(AskError::failed("the data are not in the domain")),
            }
        })
    })
}
