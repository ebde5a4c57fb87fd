//! Continual mechanisms under accounts: a measurement on a space of streams, whose answer takes the stream message by
//! message. It is charged once, when it is launched, before any data arrive (\[HSV25\] §12).
//!
//! A space of streams holds no data; it names a distance between streams, and with it a verification function for every
//! distance. Two mechanisms that are launched on it may each get a stream that differs, so they are charged one after the
//! other like any two launches. They are never *parts*: an adversary could wait for one of them to fail and only then send
//! it the update that differs (\[HSV25\] Thm 5.2). So a space of streams cannot be partitioned, and what takes streams cannot
//! be launched in a part:
//!
//! ```compile_fail,E0277
//! use odometry::continual::streams::Streams;
//! use odometry::measures::{Basic, L1Distance, PureDp};
//! use odometry::odometer::Odometer;
//! let session = Odometer::new(Streams::with(L1Distance), Basic::new(PureDp)).open(()).unwrap();
//! session.partition(|_| 0);
//! ```
//! ```compile_fail,E0308
//! use odometry::continual::streams::Streams;
//! use odometry::measures::{Basic, L1Distance, PrivacyMap, PureDp};
//! use odometry::odometer::{Odometer, Records};
//! let map = PrivacyMap::linear(PureDp, "1").unwrap();
//! let echo = Streams::with(L1Distance).measurement("echo", map, || odometry::queryable::machine(|x: i64, _| Ok(x)));
//! let people = Odometer::new(Records::<u8>::new(), Basic::new(PureDp)).open(vec![]).unwrap();
//! let part = people.partition(|x| *x).unwrap().part(1).unwrap();
//! part.launch(&echo);
//! ```
//!
//! Parts over streams, at their own price, are in [`live`](crate::live).

mod arriving;
mod level;

use std::{borrow::Cow, fmt, sync::Arc};

use measures::{MapError, Measure, Metric, PrivacyMap};
use odometer::{Measurement, Space};
use queryable::{AskError, Machine, Queryable, Scope, machine};

pub use arriving::Arriving;
pub use level::{Events, Increment, StreamMetric, SumLevel, Updates};

use crate::{certified::Certified, verification::SwapSymmetric};

/// Streams, at distances of this metric. There are no data yet: they come in messages.
///
/// ```
/// use odometry::continual::streams::Streams;
/// use odometry::measures::{Basic, L1Distance, PrivacyMap, PureDp};
/// use odometry::odometer::Odometer;
/// use odometry::queryable::{Scope, machine};
///
/// let streams = Streams::with(L1Distance);
/// let map = PrivacyMap::linear(PureDp, "0.5")?;
/// let sums = streams.measurement("sums", map, || {
///     let mut sum = 0;
///     machine(move |x: i64, _: &mut Scope<'_>| { sum += x; Ok(sum) }) // yours adds noise
/// });
/// let session = Odometer::new(streams, Basic::new(PureDp)).filter(1u32.into(), "1")?.invoke(())?;
/// let (one, other) = (session.launch(&sums)?, session.launch(&sums)?);
/// one.ask(3)?;
/// assert_eq!((one.ask(4)?, other.ask(5)?), (7, 5)); // any number of updates, charged when launched
/// assert!(session.launch(&sums).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Streams<MI>(MI);

impl<MI: Metric> Streams<MI> {
    /// At distances of this metric.
    pub const fn with(metric: MI) -> Self {
        Self(metric)
    }

    /// A continual mechanism: `build` gives it in its initial state, and the map says its loss between streams that are
    /// at a distance. Its author vouches for the map with respect to the [function](Self::function) at that distance.
    pub fn measurement<M, B>(
        &self,
        name: impl Into<Cow<'static, str>>,
        map: PrivacyMap<MI, M>,
        build: impl Fn() -> B + Send + Sync + 'static,
    ) -> Continual<MI, M, B::Query, B::Answer>
    where
        M: Measure,
        B: Machine<Query: 'static, Answer: 'static> + 'static,
        MI: StreamMetric<B::Query>,
    {
        Measurement::new(name, self.clone(), map, move |_, scope: &mut Scope<'_>| {
            scope.spawn(build())
        })
    }

    /// Which streams are at this distance: for the privacy game.
    pub fn function<Q>(&self, distance: &MI::Distance) -> MI::Function
    where
        MI: StreamMetric<Q>,
    {
        self.0.at(distance)
    }
}

/// A continual mechanism as a measurement: its answer takes messages of type `Q`.
pub type Continual<MI, M, Q, A> = Measurement<Streams<MI>, M, Queryable<Q, A>>;

impl<MI: Metric> Space for Streams<MI> {
    type Data = ();
    type Distance = MI::Distance;
    type Metric = MI;

    fn metric(&self) -> &MI {
        &self.0
    }
}

impl<MI: fmt::Debug> fmt::Debug for Streams<MI> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "streams with {:?}", self.0)
    }
}

/// A continual measurement at a distance, for compositions of the privacy game and for composites: its loss there, its
/// function there, and the mechanism itself.
///
/// # Errors
/// What the map says.
pub fn certified<MI, M, Q, A>(
    measurement: &Continual<MI, M, Q, A>,
    distance: &MI::Distance,
) -> Result<Certified<Q, A, M::Loss>, MapError>
where
    MI: StreamMetric<Q, Function: SwapSymmetric>,
    M: Measure,
    Q: 'static,
    A: 'static,
{
    let loss = measurement.map().loss(distance)?;
    let function = measurement.space().function(distance);
    let measurement = measurement.clone();
    Ok(Certified::swap_symmetric(loss, function, move || {
        let (measurement, mut running) = (measurement.clone(), None);
        machine(move |query: Q, scope: &mut Scope<'_>| {
            let running: &Queryable<Q, A> = match &mut running {
                Some(running) => running,
                none => none.insert(measurement.run(&Arc::new(()), scope)?),
            };
            let answer = running.ask(query);
            if matches!(answer, Err(AskError::Halted)) {
                scope.halt();
            }
            answer
        })
    }))
}
