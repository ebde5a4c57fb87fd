//! Stable transformations: data sets at distance `d` become data sets at distance at most `stability(d)`.

use std::{fmt, ops::Shr, sync::Arc};

use measures::{MapError, Measure, Metric};
use queryable::AskError;

use crate::{
    measurement::Measurement,
    space::{Domain, Space},
};

type Function<X, Y> = dyn Fn(&X) -> Result<Y, AskError> + Send + Sync;
pub(crate) type Stability<D0, D1> = dyn Fn(&D0) -> Result<D1, MapError> + Send + Sync;

/// A deterministic, stable change of the data.
///
/// Its author vouches for the stability map, and that it fails on no data set of its domain.
///
/// ```
/// use measures::{PrivacyMap, PureDp, SymmetricDistance};
/// use odometer::{Measurement, Space, Transformation};
/// let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// let twice = Transformation::new(records, records, |d| Ok(2 * d), |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat()));
/// let noisy = Measurement::new("noisy", records, PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?), |_, _| Ok(0));
/// assert_eq!((&twice >> &noisy)?.map().loss(&1)?, "0.2".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Transformation<D0: Domain, M0: Metric, D1: Domain, M1: Metric>(
    Arc<Inner<D0, M0, D1, M1>>,
);

struct Inner<D0: Domain, M0: Metric, D1: Domain, M1: Metric> {
    input: Space<D0, M0>,
    output: Space<D1, M1>,
    stability: Box<Stability<M0::Distance, M1::Distance>>,
    function: Box<Function<D0::Carrier, D1::Carrier>>,
}

impl<D0: Domain, M0: Metric, D1: Domain, M1: Metric> Transformation<D0, M0, D1, M1> {
    /// A transformation from its parts.
    pub fn new(
        input: Space<D0, M0>,
        output: Space<D1, M1>,
        stability: impl Fn(&M0::Distance) -> Result<M1::Distance, MapError> + Send + Sync + 'static,
        function: impl Fn(&D0::Carrier) -> Result<D1::Carrier, AskError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            input,
            output,
            stability: Box::new(stability),
            function: Box::new(function),
        }))
    }

    /// The space of the data before.
    pub fn input(&self) -> &Space<D0, M0> {
        &self.0.input
    }

    /// The space of the data after.
    pub fn output(&self) -> &Space<D1, M1> {
        &self.0.output
    }

    /// How far apart data can be after, if they were `d_in` apart before.
    ///
    /// # Errors
    /// The stability map's own.
    pub fn stability(&self, d_in: &M0::Distance) -> Result<M1::Distance, MapError> {
        (self.0.stability)(d_in)
    }

    /// The data after.
    ///
    /// # Errors
    /// The function's own.
    pub fn apply(&self, data: &D0::Carrier) -> Result<D1::Carrier, AskError> {
        (self.0.function)(data)
    }

    /// This transformation, then another.
    ///
    /// # Errors
    /// [`Mismatch`] if the other is for other data.
    pub fn then<D2: Domain, M2: Metric>(
        &self,
        next: &Transformation<D1, M1, D2, M2>,
    ) -> Result<Transformation<D0, M0, D2, M2>, Mismatch> {
        Mismatch::check(self.output(), next.input())?;
        let (first, second) = (self.clone(), next.clone());
        let (stability_first, stability_second) = (self.clone(), next.clone());
        Ok(Transformation::new(
            self.input().clone(),
            next.output().clone(),
            move |d_in| stability_second.stability(&stability_first.stability(d_in)?),
            move |data| second.apply(&first.apply(data)?),
        ))
    }

    /// This transformation, then a measurement: a measurement of the data before.
    ///
    /// # Errors
    /// [`Mismatch`] if the measurement is for other data.
    pub fn measure<M: Measure, A: 'static>(
        &self,
        measurement: &Measurement<D1, M1, M, A>,
    ) -> Result<Measurement<D0, M0, M, A>, Mismatch> {
        let fits = *self.output() == *measurement.space();
        if !fits || *measurement.map().metric() != self.output().metric {
            return Err(Mismatch {
                first: format!("{:?}", self.output()),
                second: measurement.takes(),
            });
        }
        let stability = self.clone();
        let map = measurement
            .map()
            .after(self.input().metric.clone(), move |d_in| {
                stability.stability(d_in)
            });
        let (before, after) = (self.clone(), measurement.clone());
        Ok(
            measurement.derived(self.input().clone(), map, move |data, scope| {
                after.run(&Arc::new(before.apply(data)?), scope)
            }),
        )
    }
}

/// Two pieces that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("the first ends in {first}, but the second starts from {second}")]
pub struct Mismatch {
    /// The space in which the first ends.
    pub first: String,
    /// The space from which the second starts.
    pub second: String,
}

impl Mismatch {
    pub(crate) fn check<D: Domain, MI: Metric>(
        first: &Space<D, MI>,
        second: &Space<D, MI>,
    ) -> Result<(), Self> {
        if first == second {
            return Ok(());
        }
        Err(Self {
            first: format!("{first:?}"),
            second: format!("{second:?}"),
        })
    }
}

/// `(&transformation >> &measurement)?` is [`Transformation::measure`].
impl<D0, M0, D1, M1, M, A> Shr<&Measurement<D1, M1, M, A>> for &Transformation<D0, M0, D1, M1>
where
    D0: Domain,
    M0: Metric,
    D1: Domain,
    M1: Metric,
    M: Measure,
    A: 'static,
{
    type Output = Result<Measurement<D0, M0, M, A>, Mismatch>;

    fn shr(self, measurement: &Measurement<D1, M1, M, A>) -> Self::Output {
        self.measure(measurement)
    }
}

impl<D0: Domain, M0: Metric, D1: Domain, M1: Metric> Clone for Transformation<D0, M0, D1, M1> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D0: Domain, M0: Metric, D1: Domain, M1: Metric> fmt::Debug for Transformation<D0, M0, D1, M1> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Transformation from {:?} to {:?}",
            self.0.input, self.0.output
        )
    }
}
