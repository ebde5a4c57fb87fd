//! OpenDP's domains and metrics as ours. They are kept as they are and compared with OpenDP's own `==`: parameters such
//! as bounds and sizes count.

use std::fmt;

use measures::{CountsRecords, Metric, Neighbouring, Neighbours, Number};
use odometer::{Any, Space, Transformation};
use opendp::{
    core::{Domain as TheirDomain, Metric as TheirMetric, MetricSpace},
    metrics,
};
use queryable::AskError;

use crate::{distance::OpendpDistance, error::BridgeError, written::name_of_metric};

/// A domain of OpenDP's that may cross threads, with its data. Implemented for all that can.
pub trait SharedDomain:
    TheirDomain<Carrier: Send + Sync + 'static> + Send + Sync + 'static
{
}

impl<D: TheirDomain<Carrier: Send + Sync + 'static> + Send + Sync + 'static> SharedDomain for D {}

/// A metric of OpenDP's with distances that we know. Implemented for all that have.
pub trait SharedMetric: TheirMetric<Distance: OpendpDistance> + Send + Sync + 'static {}

impl<MI: TheirMetric<Distance: OpendpDistance> + Send + Sync + 'static> SharedMetric for MI {}

/// A metric of OpenDP's.
#[derive(Clone, PartialEq)]
pub struct OpendpMetric<MI>(pub MI);

impl<MI: fmt::Debug> fmt::Debug for OpendpMetric<MI> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<MI: SharedMetric> Metric for OpendpMetric<MI> {
    type Distance = <MI::Distance as OpendpDistance>::Ours;

    /// For those of OpenDP itself.
    fn name(&self) -> Option<measures::Name> {
        name_of_metric(&self.0)
    }
}

/// The distances of a metric of OpenDP's, as ours.
pub(crate) type OursOf<MI> = <<MI as TheirMetric>::Distance as OpendpDistance>::Ours;

/// Replacing records one by one stays in every domain of OpenDP's, sized ones included. (Adding and removing does not,
/// so the symmetric distance is not listed here: OpenDP's maps know larger distances by themselves.)
impl CountsRecords for OpendpMetric<metrics::ChangeOneDistance> {
    const REPLACES: bool = true;
}

/// As for `ChangeOneDistance`.
impl CountsRecords for OpendpMetric<metrics::HammingDistance> {
    const REPLACES: bool = true;
}

/// A space of ours made of an OpenDP domain and an OpenDP metric: [`space`] makes one.
#[derive(Clone, PartialEq)]
pub struct OpendpSpace<DI, MI> {
    domain: DI,
    metric: OpendpMetric<MI>,
}

impl<DI, MI> OpendpSpace<DI, MI> {
    /// OpenDP's domain.
    pub fn domain(&self) -> &DI {
        &self.domain
    }
}

impl<DI: fmt::Debug, MI: fmt::Debug> fmt::Debug for OpendpSpace<DI, MI> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with {:?}", self.domain, self.metric)
    }
}

impl<DI: SharedDomain, MI: SharedMetric> Space for OpendpSpace<DI, MI> {
    type Data = DI::Carrier;
    type Distance = OursOf<MI>;
    type Metric = OpendpMetric<MI>;

    fn metric(&self) -> &OpendpMetric<MI> {
        &self.metric
    }

    /// OpenDP's `member`; where that fails, no.
    fn contains(&self, data: &DI::Carrier) -> bool {
        self.domain.member(data).unwrap_or(false)
    }
}

/// OpenDP's domain and metric as a space of ours, for odometers on the data that OpenDP's measurements take.
///
/// ```
/// use odometry::measures::{Basic, PureDp};
/// use odometry::odometer::Odometer;
/// use opendp::{domains::{AtomDomain, VectorDomain}, metrics::SymmetricDistance};
/// use odometry::opendp_bridge::space;
/// let ages = space(VectorDomain::new(AtomDomain::<i32>::default()), SymmetricDistance)?;
/// let session = Odometer::new(ages, Basic::new(PureDp)).open(vec![31, 47])?;
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BridgeError::Construction`] if OpenDP says that they do not go together.
pub fn space<DI, MI>(domain: DI, metric: MI) -> Result<OpendpSpace<DI, MI>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    (DI, MI): MetricSpace,
{
    (domain.clone(), metric.clone()).check_space()?;
    Ok(space_of(&domain, &metric))
}

pub(crate) fn space_of<DI: Clone, MI: Clone>(domain: &DI, metric: &MI) -> OpendpSpace<DI, MI> {
    OpendpSpace {
        domain: domain.clone(),
        metric: OpendpMetric(metric.clone()),
    }
}

/// A metric of OpenDP's that means the same as one of ours.
pub trait SameMetric: SharedMetric {
    /// The metric of ours.
    type Ours: Metric<Distance = OursOf<Self>> + Default;
}

/// Both are distances between multisets.
impl SameMetric for metrics::SymmetricDistance {
    type Ours = measures::SymmetricDistance;
}

/// Both are distances between multisets.
impl SameMetric for metrics::ChangeOneDistance {
    type Ours = measures::ChangeOneDistance;
}

/// Both are distances between lists.
impl SameMetric for metrics::InsertDeleteDistance {
    type Ours = measures::InsertDeleteDistance;
}

/// Both are distances between lists.
impl SameMetric for metrics::HammingDistance {
    type Ours = measures::HammingDistance;
}

impl<Q> SameMetric for metrics::AbsoluteDistance<Q>
where
    Q: OpendpDistance<Ours = exact::Exact> + Send + Sync,
{
    type Ours = measures::AbsoluteDistance;
}

impl<Q> SameMetric for metrics::L1Distance<Q>
where
    Q: OpendpDistance<Ours = exact::Exact> + Send + Sync,
{
    type Ours = measures::L1Distance;
}

impl<Q> SameMetric for metrics::L2Distance<Q>
where
    Q: OpendpDistance<Ours = exact::Exact> + Send + Sync,
{
    type Ours = measures::L2Distance;
}

/// From an OpenDP space to any values of ours with the same data and the same metric: `(&same_data(space) >> &mechanism)?`
/// brings a mechanism of ours, made for our own spaces, under an odometer on OpenDP's data.
///
/// Distances stay as they are. The data are cloned when the first launch needs them.
///
/// ```
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Records};
/// use opendp::{domains::{AtomDomain, VectorDomain}, metrics};
/// use odometry::opendp_bridge::{same_data, space};
/// let ages = space(VectorDomain::new(AtomDomain::<i32>::default()), metrics::SymmetricDistance)?;
/// let free = PrivacyMap::per_record(PureDp, "0")?;
/// let nothing = Measurement::new("nothing", Records::<i32>::new(), free, |_, _| Ok(()));
/// let on_ages = (&same_data(&ages) >> &nothing)?;
/// assert_eq!(on_ages.space(), &ages);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// OpenDP's `SymmetricDistance` and `ChangeOneDistance` are distances between multisets, as ours of these names are. A measurement that
/// looks at the order of records is for lists, and fits `InsertDeleteDistance` and `HammingDistance` only:
///
/// ```
/// # use odometry::measures::{PrivacyMap, PureDp};
/// # use odometry::odometer::{Measurement, Records};
/// # use opendp::{domains::{AtomDomain, VectorDomain}, metrics};
/// # use odometry::opendp_bridge::{same_data, space};
/// let ages = space(VectorDomain::new(AtomDomain::<i32>::default()), metrics::InsertDeleteDistance)?;
/// let map = PrivacyMap::linear(PureDp, "1")?;
/// let first = Measurement::new("first", Records::<i32>::ordered(), map, |_, _| Ok(0)); // yours adds noise
/// let on_ages = (&same_data(&ages) >> &first)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// # use odometry::measures::{PrivacyMap, PureDp};
/// # use odometry::odometer::{Measurement, Records};
/// # use opendp::{domains::{AtomDomain, VectorDomain}, metrics};
/// # use odometry::opendp_bridge::{same_data, space};
/// let ages = space(VectorDomain::new(AtomDomain::<i32>::default()), metrics::SymmetricDistance).unwrap();
/// let map = PrivacyMap::linear(PureDp, "1").unwrap();
/// let first = Measurement::new("first", Records::<i32>::ordered(), map, |_, _| Ok(0));
/// let on_ages = &same_data(&ages) >> &first;
/// ```
pub fn same_data<DI, MI>(
    space: &OpendpSpace<DI, MI>,
) -> Transformation<OpendpSpace<DI, MI>, Any<DI::Carrier, MI::Ours>>
where
    DI: SharedDomain<Carrier: Clone>,
    MI: SameMetric,
    OursOf<MI>: Number,
{
    Transformation::multiplying(space.clone(), Any::default(), 1, |data: &DI::Carrier| {
        Ok(data.clone())
    })
}

/// From an OpenDP space to a space of ours that has a form of its own, such as vectors of one length (counters, monitors, noise on vectors) or data sets
/// of one size (multiplicative weights), with the same data and the same metric.
///
/// Distances stay as they are. You vouch that every member of OpenDP's domain is in `ours`: that a `VectorDomain` has the size, and its elements the
/// bounds. Data that are not are a failure of the transformation, which stops everything on them, and nothing of ours is run.
///
/// ```
/// use odometry::mechanisms::{additive::Vectors, counter::SubtractingCounter, spend::epsilon};
/// use odometry::measures::L1Distance;
/// use odometry::opendp_bridge::{same_data_in, space};
/// use opendp::{domains::{AtomDomain, VectorDomain}, metrics};
/// let days = VectorDomain::new(AtomDomain::<i64>::default()).with_size(100);
/// let days = space(days, metrics::L1Distance::<i64>::default())?;
/// let counter = SubtractingCounter::spending(100, epsilon("0.5"))?.measurement()?;
/// let on_days = (&same_data_in(&days, Vectors::of_length(100, L1Distance)?) >> &counter)?;
/// assert_eq!(on_days.map().loss(&1u32.into())?.to_string(), "0.5");
/// let first: i64 = on_days.invoke(vec![1; 100])?.ask(())?;
/// # let _ = first;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn same_data_in<DI, MI, S>(
    space: &OpendpSpace<DI, MI>,
    ours: S,
) -> Transformation<OpendpSpace<DI, MI>, S>
where
    DI: SharedDomain<Carrier: Clone>,
    MI: SameMetric,
    S: Space<Data = DI::Carrier, Distance = OursOf<MI>, Metric = MI::Ours>,
    OursOf<MI>: Number,
{
    let held = ours.clone();
    Transformation::multiplying(space.clone(), ours, 1, move |data: &DI::Carrier| match held
        .contains(data)
    {
        true => Ok(data.clone()),
        false => Err(AskError::failed("the data are not in the space of ours")),
    })
}

/// From an OpenDP space of single values, any two of which are neighbours, to that of ours: for randomized response.
///
/// Every distance becomes that of neighbours, which is the largest there is.
///
/// ```
/// use odometry::mechanisms::response::randomized_response_for_epsilon;
/// use odometry::opendp_bridge::{same_value, space};
/// use opendp::{domains::AtomDomain, metrics::DiscreteDistance};
/// let bit = space(AtomDomain::<bool>::default(), DiscreteDistance)?;
/// let response = (&same_value(&bit) >> &randomized_response_for_epsilon("0.5")?)?;
/// assert!(*response.map().loss(&1)?.value() <= "0.5".parse()?);
/// let told: bool = response.invoke(true)?;
/// # let _ = told;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn same_value<DI>(
    space: &OpendpSpace<DI, metrics::DiscreteDistance>,
) -> Transformation<OpendpSpace<DI, metrics::DiscreteDistance>, Any<DI::Carrier, Neighbours>>
where
    DI: SharedDomain<Carrier: Clone>,
{
    Transformation::new(
        space.clone(),
        Any::default(),
        |_: &u32| Ok(Neighbouring),
        |data: &DI::Carrier| Ok(data.clone()),
    )
}
