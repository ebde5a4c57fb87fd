//! Interactive objects across the bridge, in both directions.
//!
//! OpenDP's objects are bound to one thread, and OpenDP knows nothing about our turns. Our queryables can be asked on any
//! thread, and keep to the turns of the session that launched them. So each direction has its own bridge.
//!
//! # OpenDP's objects as our queryables: this module
//!
//! ```text
//!    thread of the caller                        thread of the OpenDP object
//!
//!    Queryable ── ask ──> Remote                 ObjectTable: id -> OpenDP's queryable
//!                           │
//!                           │ our query
//!                           ├───── Channel ────> QueryAdapter::decode_query
//!                           │                              │ OpenDP's query
//!                           │                    OpenDP's queryable: eval
//!                           │                              │ OpenDP's answer
//!                           │<──── message ───── AnswerAdapter::encode_answer
//!                           │
//!             AnswerAdapter::decode_answer
//!                           │
//!    our answer <───────────┘
//! ```
//!
//! - `interactive_with` makes the measurement. A launch starts a thread (`Channel::start`), which builds the OpenDP object from
//!   its constructor and runs it on the data.
//! - OpenDP's queryables stay on that thread, in its `ObjectTable`. If an answer contains a queryable, the adapter adds it to the
//!   table and sends its id. The caller gets one of our queryables, whose machine `Remote` sends each query to that id.
//! - The adapters are [`Plain`] (a value that is `Send`), [`Built`] (a measurement, sent as its [`Constructor`]),
//!   [`Interactive`] (a queryable) and `Metered` (an odometer).
//! - The thread ends when the last handle is dropped. It also ends at the first error, refusal or panic: OpenDP's
//!   compositors check a child before they run it, and charge it afterwards, unless it fails. The answer is then always
//!   [`AskError::Halted`]. Only a question for the loss may fail and be asked again.
//! - A child that fails after it began to read data stops all launches on those data: `Reads` records that it began.
//!
//! # Our measurements in OpenDP: the module `out`
//!
//! ```text
//!    OpenDP's compositor ── invoke ──> exported function
//!          │                             │ makes        │ spawns
//!          │ its check                   ▼              ▼
//!          └─────────────────────> TurnProbe         our machine, with a LeaseToken in its lease
//!                                        ▲              │
//!                                        └── asks ──────┘ before each step
//! ```
//!
//! - `export` makes an OpenDP measurement that runs ours, on the thread of OpenDP's `invoke`.
//! - OpenDP's sequential compositors cannot lock our queryables, but they lock an OpenDP queryable. So each export makes one, the
//!   `TurnProbe`, and our machine asks it before each step. Machines below inherit the `LeaseToken`, which names the probe.
//! - The probe is bound to its thread. On other threads a step is refused: [`AskError::WrongThread`].
//! - A failure is an answer (`Answered`), because OpenDP does not charge a child that fails.

mod adapters;
mod channel;

use adapters::Metered;
pub use adapters::{AnswerAdapter, Built, Interactive, Plain, QueryAdapter};
use channel::{Channel, ObjectTable};

use std::sync::Arc;

use measures::Measure;
use odometer::internal::{Failures, imported};
use opendp::{
    core::{
        Measurement as TheirMeasurement, MetricSpace, Odometer as TheirOdometer, OdometerAnswer,
        OdometerQuery,
    },
    interactive::Queryable as TheirQueryable,
};
use queryable::{AskError, Queryable, Root, Scope, Tenant};

use crate::{
    constructor::{Build, Constructor},
    correspondence::{Correspondence, Counterpart},
    error::{BridgeError, at_release},
    measurement::{Imported, Name, Parts, TheirsIn, parts},
    space::{OursOf, SharedDomain, SharedMetric},
};

/// An OpenDP measurement whose answer is a queryable.
pub type TheirInteractive<DI, MI, MO, Q, A> = TheirMeasurement<DI, MI, MO, TheirQueryable<Q, A>>;

/// An OpenDP measurement whose answer is a queryable, as a measurement of ours.
pub type ImportedInteractive<DI, MI, C, Q, A> = Imported<DI, MI, C, Queryable<Q, A>>;

/// An OpenDP compositor: its queries are measurements, and its answers are theirs.
pub type TheirCompositor<DI, MI, MO, TO> =
    TheirInteractive<DI, MI, MO, TheirMeasurement<DI, MI, MO, TO>, TO>;

/// An OpenDP compositor as a measurement of ours: its queries are constructors.
pub type ImportedCompositor<DI, MI, MO, TO> = ImportedInteractive<
    DI,
    MI,
    <MO as Counterpart>::Ours,
    Constructor<TheirMeasurement<DI, MI, MO, TO>>,
    TO,
>;

/// An OpenDP measurement whose answer is a queryable, with queries and answers that may cross threads.
///
/// OpenDP makes few of those by itself; its compositors take measurements as queries: see [`compositor`], and
/// [`interactive_with`] for everything else.
///
/// # Errors
/// As [`measurement`](crate::measurement).
pub fn interactive<DI, MI, MO, Q, A>(
    name: impl Into<Name>,
    constructor: impl Build<TheirInteractive<DI, MI, MO, Q, A>>,
) -> Result<ImportedInteractive<DI, MI, MO::Ours, Q, A>, BridgeError>
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
/// use odometry::measures::{Basic, PureDp};
/// use odometry::odometer::Odometer;
/// use opendp::{combinators::make_adaptive_composition, domains::AtomDomain, metrics::DiscreteDistance};
/// use opendp::measurements::make_randomized_response_bool;
/// use odometry::opendp_bridge::{Constructor, compositor, theirs};
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
pub fn compositor<DI, MI, MO, TO>(
    name: impl Into<Name>,
    constructor: impl Build<TheirCompositor<DI, MI, MO, TO>>,
) -> Result<ImportedCompositor<DI, MI, MO, TO>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    MO: Counterpart + 'static,
    TO: Send + 'static,
    (DI, MI): MetricSpace,
{
    let constructor = Constructor::new(constructor);
    let measure = constructor.build()?.output_measure.ours();
    import(name.into(), measure, Interactive(Built, Plain), constructor)
}

/// What is asked of an OpenDP odometer: a launch, or the loss at an exact distance.
pub type MeteredQuery<DI, MI, MO, TO> =
    OdometerQuery<Constructor<TheirMeasurement<DI, MI, MO, TO>>, OursOf<MI>>;

/// What an OpenDP odometer answers: what was launched, or an exact loss.
pub type MeteredAnswer<C, A> = OdometerAnswer<A, <C as Measure>::Loss>;

/// An OpenDP odometer whose losses are those of the measure `C` of ours.
pub type TheirMeter<DI, MI, C, TO> =
    TheirOdometer<DI, MI, <C as Correspondence>::Theirs, TheirsIn<DI, MI, C, TO>, TO>;

/// An OpenDP odometer that was opened, as a queryable of ours with answers of the type `A`.
pub type Meter<DI, MI, C, TO, A> =
    Queryable<MeteredQuery<DI, MI, <C as Correspondence>::Theirs, TO>, MeteredAnswer<C, A>>;

/// Any interactive OpenDP measurement, in one of our measures. The adapter `how` translates queries and answers.
///
/// A compositor whose children are compositors: `Interactive(Built, Interactive(Built, Plain))`.
///
/// OpenDP's privacy filters do not come over, nor compositors of them: a filter runs a child before it checks what the
/// child costs, so whatever a child that is refused does besides answering has been done.
/// [`Odometer::filter`](odometer::Odometer::filter) checks first.
///
/// ```compile_fail,E0277
/// use odometry::measures::PureDp;
/// use opendp::{combinators::{make_fully_adaptive_composition, make_privacy_filter}, domains::AtomDomain, metrics::DiscreteDistance};
/// use odometry::opendp_bridge::{Built, Interactive, Plain, interactive_with, theirs};
/// interactive_with("filter", PureDp, Interactive(Built, Plain), || {
///     let (domain, metric) = (AtomDomain::<bool>::default(), DiscreteDistance);
///     make_privacy_filter(make_fully_adaptive_composition::<_, _, _, bool>(domain, metric, theirs::Pure)?, 1, 1.0)
/// }); // error: `Built` is not `QueryAdapter<OdometerQuery<…>>`
/// ```
///
/// # Errors
/// As [`measurement_in`](crate::measurement_in).
pub fn interactive_with<DI, MI, C, TO, W>(
    name: impl Into<Name>,
    measure: C,
    how: W,
    constructor: impl Build<TheirsIn<DI, MI, C, TO>>,
) -> Result<Imported<DI, MI, C, W::Ours>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
    W: AnswerAdapter<TO>,
{
    import(name.into(), measure, how, Constructor::new(constructor))
}

fn import<DI, MI, C, TO, W>(
    name: Name,
    measure: C,
    how: W,
    constructor: Constructor<TheirsIn<DI, MI, C, TO>>,
) -> Result<Imported<DI, MI, C, W::Ours>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
    W: AnswerAdapter<TO>,
{
    let patience = constructor.patience();
    let Parts { space, map, pinned } = parts(measure, constructor)?;
    let by = format!("the OpenDP measurement `{name}`");
    let interactive = imported(name, space, map, move |data, scope, failures| {
        let (pinned, data) = (pinned.clone(), Arc::clone(data));
        start(scope, failures, &how, &by, move |objects| {
            let theirs = objects.patiently(patience, || pinned.build())?;
            objects.reads().begin()?;
            theirs.invoke(&data).map_err(|error| at_release(&error))
        })
    });
    Ok(interactive.ready_when(Tenant::check_thread))
}

/// Starts a thread for what `open` makes, which is called `by`.
fn start<TO, W>(
    scope: &mut Scope<'_>,
    failures: &Failures,
    how: &W,
    by: &str,
    open: impl FnOnce(&ObjectTable) -> Result<TO, AskError> + Send + 'static,
) -> Result<W::Ours, AskError>
where
    W: AnswerAdapter<TO>,
{
    let channel = Channel::start(failures, &scope.tenant())?;
    let reads = channel.reads();
    let there = how.clone();
    let message = channel.call(&reads, move |objects| {
        there.encode_answer(open(objects)?, objects)
    });
    let message = message.flatten().inspect_err(|error| {
        if reads.have_begun() {
            failures.record(by, error);
        }
    })?;
    how.decode_answer(message, &channel, scope)
}

/// Opens an OpenDP odometer on data, as a queryable of ours with answers that may cross threads. It has no privacy map, so
/// it is no measurement: nothing above it keeps account, and a failure on data stops nothing but the odometer.
///
/// It tells losses, and promises no limit. It runs a launch before anybody can look at what it costs, so whoever stops when
/// the loss is too large has let the last launch happen: ask the measurement's own map first, or use
/// [`Odometer`](odometer::Odometer), which does ([`loss_after`](odometer::Session::loss_after), caps, filters). A launch
/// that fails ends it, and is not in the loss that it told last.
///
/// ```
/// use odometry::measures::PureDp;
/// use opendp::{combinators::make_fully_adaptive_composition, domains::AtomDomain, metrics::DiscreteDistance};
/// use opendp::{core::{OdometerAnswer, OdometerQuery}, measurements::make_randomized_response_bool};
/// use odometry::opendp_bridge::{Constructor, Plain, open_odometer, theirs};
/// use odometry::queryable::Root;
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
pub fn open_odometer<DI, MI, C, TO, W>(
    root: &Root,
    measure: C,
    answers: W,
    data: DI::Carrier,
    constructor: impl Build<TheirMeter<DI, MI, C, TO>>,
) -> Result<Meter<DI, MI, C, TO, W::Ours>, AskError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    C: Correspondence,
    TO: 'static,
    W: AnswerAdapter<TO>,
    (DI, MI): MetricSpace,
{
    let metered = Metered::<MI, _, _>::new(measure, answers);
    let how = Interactive(metered.clone(), metered);
    let constructor = Constructor::new(constructor);
    root.tenant().check_thread()?;
    root.run([], |scope| {
        let failures = Failures::of_no_session();
        start(
            scope,
            &failures,
            &how,
            "an OpenDP odometer",
            move |objects| {
                let theirs = objects.build(&constructor)?;
                objects.reads().begin()?;
                match theirs.input_domain.member(&data) {
                    Ok(true) => theirs.invoke(&data).map_err(|error| at_release(&error)),
                    _ => Err(AskError::failed("the data are not in the domain")),
                }
            },
        )
    })
}
