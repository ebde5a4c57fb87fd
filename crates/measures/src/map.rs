//! Privacy maps: from a distance between inputs to a bound on the loss (000 §5.1). A map is shared and never changes;
//! its author vouches that it is right and monotone ([`laws::check_map`](crate::laws::check_map) tests the latter).

use crate::metric::Number;
use crate::{
    Conversion, Distance, GroupPrivacy, MapError, Measure, Metric, Scale, ScaleSquared, UnitSteps,
};
use std::fmt;
use std::sync::Arc;

/// A bound on the privacy loss between inputs at a given distance: `d_in -> loss`.
///
/// A clone is the same map, which [`ptr_eq`](PrivacyMap::ptr_eq) tells: an account stores repeated launches of one
/// measurement as one run. Maps are somebody's code: they may panic, and they should not be called under a lock.
///
/// ```
/// use measures::{Epsilon, PrivacyMap, PureDp, SymmetricDistance};
/// let laplace = PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?);
/// assert_eq!(laplace.loss(&3)?, "0.3".parse::<Epsilon>()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PrivacyMap<MI: Metric, M: Measure>(Arc<Shared<MI, M, Function<MI, M>>>);

type Function<MI, M> =
    dyn Fn(&<MI as Metric>::Distance) -> Result<<M as Measure>::Loss, MapError> + Send + Sync;

struct Shared<MI, M, F: ?Sized> {
    metric: MI,
    measure: M,
    function: F,
}

/// Tells maps apart, for tables keyed by maps. It may be given out again once all clones of the map are gone, so a
/// table keeps a clone of the map beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapId(usize);

impl<MI: Metric, M: Measure> PrivacyMap<MI, M> {
    /// The map that a function computes.
    ///
    /// ```
    /// use exact::{Exact, Round};
    /// use measures::{L2Distance, PrivacyMap, Rho, Zcdp};
    /// let gaussian = PrivacyMap::new(L2Distance, Zcdp, |d_in| {
    ///     Ok(Rho::new(d_in.pow(2, Round::Up).div(&Exact::from(2u32), Round::Up)))
    /// });
    /// assert_eq!(gaussian.loss(&Exact::from(3u32))?, "4.5".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        metric: MI,
        measure: M,
        function: impl Fn(&MI::Distance) -> Result<M::Loss, MapError> + Send + Sync + 'static,
    ) -> Self {
        PrivacyMap(Arc::new(Shared {
            metric,
            measure,
            function,
        }))
    }

    /// The map that gives `loss` up to a distance and infinity beyond it: what a filter has.
    ///
    /// ```
    /// use measures::{Epsilon, PrivacyMap, PureDp, SymmetricDistance};
    /// let filter = PrivacyMap::constant_up_to(SymmetricDistance, PureDp, 2, "1".parse()?);
    /// assert_eq!(filter.loss(&1)?, "1".parse()?);
    /// assert_eq!(filter.loss(&3)?, Epsilon::INFINITY);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn constant_up_to(metric: MI, measure: M, bound: MI::Distance, loss: M::Loss) -> Self {
        let infinity = measure.infinity();
        let function = move |d_in: &MI::Distance| {
            Ok(if d_in.at_most(&bound) {
                loss.clone()
            } else {
                infinity.clone()
            })
        };
        PrivacyMap::new(metric, measure, function)
    }

    /// The loss between inputs at this distance. What the function gives is checked against the measure.
    pub fn loss(&self, d_in: &MI::Distance) -> Result<M::Loss, MapError> {
        let loss = (self.0.function)(d_in)?;
        match self.0.measure.check(&loss) {
            Ok(()) => Ok(loss),
            Err(source) => Err(MapError::Senseless {
                distance: d_in.to_string(),
                source,
            }),
        }
    }

    /// The metric of the distances.
    pub fn metric(&self) -> &MI {
        &self.0.metric
    }

    /// The measure of the losses.
    pub fn measure(&self) -> &M {
        &self.0.measure
    }

    /// Whether both are the same map, and not only equal ones.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A key for tables of maps.
    pub fn id(&self) -> MapId {
        MapId(Arc::as_ptr(&self.0).cast::<()>() as usize)
    }

    /// This map after a transformation of the inputs that is stable: inputs at distance `d` become inputs at distance
    /// at most `stability(d)`. Exact; the transformation's author vouches for the stability map.
    ///
    /// ```
    /// use measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// let sum = PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?);
    /// let duplicated = sum.after(SymmetricDistance, |d_in| Ok(2 * d_in));
    /// assert_eq!(duplicated.loss(&1)?, "0.2".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after<M0: Metric>(
        &self,
        metric: M0,
        stability: impl Fn(&M0::Distance) -> Result<MI::Distance, MapError> + Send + Sync + 'static,
    ) -> PrivacyMap<M0, M> {
        let inner = self.clone();
        PrivacyMap::new(metric, self.measure().clone(), move |d_in| {
            inner.loss(&stability(d_in)?)
        })
    }

    /// This map in another measure. Valid because the losses of a map are those of one measurement; the direction of
    /// rounding is the conversion's.
    pub fn convert<C: Conversion<From = M>>(&self, conversion: C) -> PrivacyMap<MI, C::To> {
        let inner = self.clone();
        PrivacyMap::new(self.metric().clone(), conversion.to(), move |d_in| {
            let failed = |error: crate::RuleError| MapError::failed(d_in, error.to_string());
            conversion.convert(&inner.loss(d_in)?).map_err(failed)
        })
    }
}

impl<MI: Metric, M: Measure> PrivacyMap<MI, M>
where
    MI::Distance: Number,
    M::Loss: Scale,
{
    /// The map `d_in -> d_in·per_unit`, rounded up. Right where the loss is in proportion to the distance: in pure
    /// privacy for Laplace noise, in Gaussian privacy for Gaussian noise, and in both for groups of `d_in` steps.
    ///
    /// In zCDP and Rényi privacy it would claim too little, and does not compile; see
    /// [`quadratic`](PrivacyMap::quadratic).
    ///
    /// ```compile_fail,E0277
    /// use measures::{PrivacyMap, SymmetricDistance, Zcdp};
    /// PrivacyMap::linear(SymmetricDistance, Zcdp, "0.5".parse().unwrap());
    /// ```
    pub fn linear(metric: MI, measure: M, per_unit: M::Loss) -> Self {
        PrivacyMap::new(metric, measure, move |d_in| {
            Ok(per_unit.scaled(&d_in.number()))
        })
    }
}

impl<MI: Metric, M: Measure> PrivacyMap<MI, M>
where
    MI::Distance: Number,
    M::Loss: ScaleSquared,
{
    /// The map `d_in -> d_in²·at_one`, rounded up. Right for Gaussian noise in zCDP and Rényi privacy (Bun–Steinke 2016,
    /// Prop 1.6; Mironov 2017, Cor 3); in zCDP also for groups of `d_in` steps (Prop 1.9), and hence for everything
    /// whose loss at distance 1 is `at_one`, if the distance has [unit steps](UnitSteps). In Rényi privacy it is not the
    /// rule for groups: only for a mechanism known to behave like that.
    ///
    /// ```
    /// use measures::{PrivacyMap, SymmetricDistance, Zcdp};
    /// let gaussian = PrivacyMap::quadratic(SymmetricDistance, Zcdp, "0.5".parse()?);
    /// assert_eq!(gaussian.loss(&2)?, "2".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// use measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// PrivacyMap::quadratic(SymmetricDistance, PureDp, "0.5".parse().unwrap());
    /// ```
    pub fn quadratic(metric: MI, measure: M, at_one: M::Loss) -> Self {
        PrivacyMap::new(metric, measure, move |d_in| {
            Ok(at_one.scaled_squared(&d_in.number()))
        })
    }
}

impl<MI: UnitSteps, M: GroupPrivacy> PrivacyMap<MI, M> {
    /// The map that asks this one only at distance 1 and gets the rest by [group privacy](GroupPrivacy), rounded up.
    /// At distance 0 the loss is zero.
    ///
    /// Hypothesis: any two inputs at distance `n` are linked by `n` steps of distance 1 *through inputs that the
    /// measurement takes*. [`UnitSteps`] says so of the metric on all data sets; a map does not know the domain, so
    /// whoever calls this vouches for the domain.
    ///
    /// ```
    /// use measures::{PrivacyMap, SymmetricDistance, Zcdp};
    /// let one = PrivacyMap::constant_up_to(SymmetricDistance, Zcdp, 1, "0.5".parse()?);
    /// assert_eq!(one.group().loss(&3)?, "4.5".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn group(&self) -> Self {
        let inner = self.clone();
        PrivacyMap::new(
            self.metric().clone(),
            self.measure().clone(),
            move |&n| match n {
                0 => Ok(inner.measure().zero()),
                _ => Ok(inner.measure().group(&inner.loss(&1)?, n)),
            },
        )
    }
}

impl<MI: Metric, M: Measure> Clone for PrivacyMap<MI, M> {
    fn clone(&self) -> Self {
        PrivacyMap(Arc::clone(&self.0))
    }
}

impl<MI: Metric, M: Measure> fmt::Debug for PrivacyMap<MI, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivacyMap({:?} -> {:?})", self.metric(), self.measure())
    }
}
