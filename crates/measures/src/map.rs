//! Privacy maps: from a distance between inputs to a bound on the loss (\[HST+23\] §5.1). A map is shared and never
//! changes; its author vouches that it is right and monotone ([`laws::check_map`](crate::laws::check_map) tests the
//! latter).

use crate::metric::{ChangeOneDistance, CountsRecords, Number, SymmetricDistance};
use crate::{
    Conversion, Distance, Form, GroupPrivacy, IntoLoss, Loss as _, MapError, Measure, Metric,
    Scale, ScaleSquared,
};
use exact::Exact;
use std::any::type_name;
use std::fmt;
use std::sync::Arc;

/// A bound on the privacy loss between inputs at a given distance: `d_in -> loss`.
///
/// A clone is the same map, which [`ptr_eq`](PrivacyMap::ptr_eq) tells: an account stores repeated launches of one
/// measurement as one run. Maps are somebody's code: they may panic, and they should not be called under a lock.
///
/// The metric is part of its type, and nothing more: a map has no metric of its own to disagree with that of the data.
/// Where the metric is not named, it is that of the space for which the map is used first. A number that is right for one
/// metric only should name it, so that it fits no other: [`per_record`](Self::per_record),
/// [`per_replacement`](Self::per_replacement), or `PrivacyMap::<L2Distance, _>::linear`.
///
/// ```
/// use odometry::measures::{Epsilon, PrivacyMap, PureDp};
/// let laplace = PrivacyMap::per_record(PureDp, "0.1")?;
/// assert_eq!(laplace.loss(&3)?, "0.3".parse::<Epsilon>()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0308
/// use odometry::measures::{ChangeOneDistance, PrivacyMap, PureDp};
/// // What an added record costs is not what a replaced one does.
/// let map: PrivacyMap<ChangeOneDistance, _> = PrivacyMap::per_record(PureDp, "0.1").unwrap();
/// ```
pub struct PrivacyMap<MI: Metric, M: Measure>(Arc<Shared<MI, M>>);

type Function<MI, M> =
    dyn Fn(&<MI as Metric>::Distance) -> Result<<M as Measure>::Loss, MapError> + Send + Sync;

struct Shared<MI: Metric, M: Measure> {
    measure: M,
    /// How many combinators it is made of.
    links: u16,
    form: FormOf<MI, M>,
    evaluate: Evaluate<MI, M>,
}

type FormOf<MI, M> = Form<<MI as Metric>::Distance, <M as Measure>::Loss>;

/// How the loss is found from the form.
enum Evaluate<MI: Metric, M: Measure> {
    /// There is no form.
    Function(Box<Function<MI, M>>),
    /// The form's loss, scaled by the distance; `None` if the distance, or the loss, is not of that kind.
    Scaled(fn(&M::Loss, &MI::Distance) -> Option<M::Loss>),
    /// The form's loss, or this one beyond its distance.
    UpTo(M::Loss),
}

/// How many combinators may be nested: of maps here, and of measurements and transformations in `odometer`. One more gives
/// something that holds nothing of what it was made from, and whose every use is a typed error: whatever is evaluated or
/// dropped link by link is at most this deep, however many combinators an analyst applies.
pub const MAX_LINKS: u16 = 256;

impl<MI: Metric, M: Measure> PrivacyMap<MI, M> {
    /// The map that a function computes.
    ///
    /// ```
    /// use odometry::exact::{Exact, Round};
    /// use odometry::measures::{L2Distance, PrivacyMap, Rho, Zcdp};
    /// let gaussian = PrivacyMap::<L2Distance, _>::new(Zcdp, |d_in| {
    ///     Ok(Rho::new(d_in.pow(2, Round::Up).div(&Exact::from(2u32), Round::Up)))
    /// });
    /// assert_eq!(gaussian.loss(&Exact::from(3u32))?, "4.5".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        measure: M,
        function: impl Fn(&MI::Distance) -> Result<M::Loss, MapError> + Send + Sync + 'static,
    ) -> Self {
        Self::linked(measure, 0, function)
    }

    fn linked(
        measure: M,
        links: u16,
        function: impl Fn(&MI::Distance) -> Result<M::Loss, MapError> + Send + Sync + 'static,
    ) -> Self {
        Self::from_parts(
            measure,
            links,
            Form::Function,
            Evaluate::Function(Box::new(function)),
        )
    }

    fn from_parts(measure: M, links: u16, form: FormOf<MI, M>, evaluate: Evaluate<MI, M>) -> Self {
        PrivacyMap(Arc::new(Shared {
            measure,
            links,
            form,
            evaluate,
        }))
    }

    /// The map of this form, if the measure's losses and the metric's distances allow it: a map that was written down.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp, SymmetricDistance, Zcdp};
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let again = PrivacyMap::<SymmetricDistance, _>::of_form(PureDp, map.form().clone()).unwrap();
    /// assert_eq!(again.loss(&3)?, map.loss(&3)?);
    /// assert!(PrivacyMap::<SymmetricDistance, _>::of_form(Zcdp, Form::Linear("0.1".parse()?)).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_form(measure: M, form: FormOf<MI, M>) -> Option<Self> {
        let evaluate = match &form {
            Form::Function => return None,
            Form::Linear(loss) => {
                loss.linear(&Exact::ONE)?;
                Evaluate::Scaled(|loss: &M::Loss, d_in: &MI::Distance| {
                    loss.linear(&d_in.as_number()?)
                })
            }
            Form::Quadratic(loss) => {
                loss.quadratic(&Exact::ONE)?;
                Evaluate::Scaled(|loss: &M::Loss, d_in: &MI::Distance| {
                    loss.quadratic(&d_in.as_number()?)
                })
            }
            Form::ConstantUpTo(..) => Evaluate::UpTo(measure.infinity()),
        };
        Some(Self::from_parts(measure, 0, form, evaluate))
    }

    /// What it is, if it is more than a function.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp};
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// assert_eq!(*map.form(), Form::Linear("0.1".parse()?));
    /// assert_eq!(*map.group().form(), Form::Function);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn form(&self) -> &Form<MI::Distance, M::Loss> {
        &self.0.form
    }

    /// The map that one more combinator makes of this one.
    fn combined<M0: Metric, M2: Measure>(
        &self,
        measure: M2,
        function: impl Fn(&M0::Distance) -> Result<M2::Loss, MapError> + Send + Sync + 'static,
    ) -> PrivacyMap<M0, M2> {
        if self.0.links < MAX_LINKS {
            return PrivacyMap::linked(measure, self.0.links + 1, function);
        }
        PrivacyMap::linked(measure, MAX_LINKS + 1, |_| {
            Err(MapError::TooDeep { limit: MAX_LINKS })
        })
    }

    /// Was it made by more combinators than may be nested ([`MAX_LINKS`])? Then it knows no loss at any distance.
    ///
    /// ```
    /// use odometry::measures::{MAX_LINKS, PrivacyMap, PureDp};
    /// let mut map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// for _ in 0..MAX_LINKS {
    ///     map = map.group();
    /// }
    /// assert_eq!(map.loss(&3)?, "0.3".parse()?);
    /// assert!(map.group().is_too_deep() && map.group().loss(&3).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_too_deep(&self) -> bool {
        self.0.links > MAX_LINKS
    }

    /// The map that gives `loss` up to a distance and infinity beyond it: what a filter has.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, PrivacyMap, PureDp, SymmetricDistance};
    /// let filter = PrivacyMap::<SymmetricDistance, _>::constant_up_to(PureDp, 2, "1")?;
    /// assert_eq!(filter.loss(&1)?, "1".parse()?);
    /// assert_eq!(filter.loss(&3)?, Epsilon::INFINITY);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn constant_up_to<L: IntoLoss<M::Loss>>(
        measure: M,
        bound: MI::Distance,
        loss: L,
    ) -> L::Made<Self> {
        loss.make(|loss| {
            let evaluate = Evaluate::UpTo(measure.infinity());
            Self::from_parts(measure, 0, Form::ConstantUpTo(bound, loss), evaluate)
        })
    }

    /// The loss between inputs at this distance. What the function gives is checked against the measure.
    pub fn loss(&self, d_in: &MI::Distance) -> Result<M::Loss, MapError> {
        // Nothing else in this frame: maps of maps call one another, as deep as they are nested.
        let loss = match &self.0.evaluate {
            Evaluate::Function(function) => function(d_in),
            _ => self.of_its_form(d_in),
        };
        loss.and_then(|loss| self.checked(d_in, loss))
    }

    fn of_its_form(&self, d_in: &MI::Distance) -> Result<M::Loss, MapError> {
        let loss = match (&self.0.form, &self.0.evaluate) {
            (Form::Linear(loss) | Form::Quadratic(loss), Evaluate::Scaled(scaled)) => {
                scaled(loss, d_in)
            }
            (Form::ConstantUpTo(bound, loss), Evaluate::UpTo(infinity)) => {
                let within = d_in.at_most(bound);
                Some(if within { loss } else { infinity }.clone())
            }
            _ => None,
        };
        loss.ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
    }

    fn checked(&self, d_in: &MI::Distance, loss: M::Loss) -> Result<M::Loss, MapError> {
        match self.0.measure.check(&loss) {
            Ok(()) => Ok(loss),
            Err(source) => Err(MapError::Senseless {
                distance: d_in.to_string(),
                source,
            }),
        }
    }

    /// The measure of the losses.
    pub fn measure(&self) -> &M {
        &self.0.measure
    }

    /// Whether both are the same map, and not only equal ones.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// This map after a transformation of the inputs that is stable: inputs at distance `d` become inputs at distance
    /// at most `stability(d)`. Exact; the transformation's author vouches for the stability map.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, PureDp, SymmetricDistance, times};
    /// let sum = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let duplicated = sum.after::<SymmetricDistance>(times(2));
    /// assert_eq!(duplicated.loss(&1)?, "0.2".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after<M0: Metric>(
        &self,
        stability: impl Fn(&M0::Distance) -> Result<MI::Distance, MapError> + Send + Sync + 'static,
    ) -> PrivacyMap<M0, M> {
        let inner = self.clone();
        self.combined(self.measure().clone(), move |d_in| {
            inner.loss(&stability(d_in)?)
        })
    }

    /// This map in another measure. Valid because the losses of a map are those of one measurement; the direction of
    /// rounding is the conversion's.
    pub fn convert<C: Conversion<From = M>>(&self, conversion: C) -> PrivacyMap<MI, C::To> {
        let inner = self.clone();
        self.combined(conversion.to(), move |d_in| {
            inner.loss(d_in).and_then(|loss| {
                let failed = |error: crate::RuleError| MapError::failed(d_in, error.to_string());
                conversion.convert(&loss).map_err(failed)
            })
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
    /// use odometry::measures::{PrivacyMap, SymmetricDistance, Zcdp};
    /// PrivacyMap::<SymmetricDistance, _>::linear(Zcdp, "0.5").unwrap();
    /// ```
    pub fn linear<L: IntoLoss<M::Loss>>(measure: M, per_unit: L) -> L::Made<Self> {
        per_unit.make(|per_unit| {
            let scaled = Evaluate::Scaled(|loss: &M::Loss, d_in: &MI::Distance| {
                Some(loss.scaled(&d_in.number()))
            });
            Self::from_parts(measure, 0, Form::Linear(per_unit), scaled)
        })
    }
}

impl<M: Measure<Loss: Scale>> PrivacyMap<SymmetricDistance, M> {
    /// The [linear](Self::linear) map with this loss for every record that is added or removed. It fits no other metric.
    pub fn per_record<L: IntoLoss<M::Loss>>(measure: M, loss: L) -> L::Made<Self> {
        Self::linear(measure, loss)
    }
}

impl<M: Measure<Loss: Scale>> PrivacyMap<ChangeOneDistance, M> {
    /// The [linear](Self::linear) map with this loss for every record that is replaced. It fits no other metric.
    pub fn per_replacement<L: IntoLoss<M::Loss>>(measure: M, loss: L) -> L::Made<Self> {
        Self::linear(measure, loss)
    }
}

impl<MI: Metric, M: Measure> PrivacyMap<MI, M>
where
    MI::Distance: Number,
    M::Loss: ScaleSquared,
{
    /// The map `d_in -> d_in²·at_one`, rounded up. Right for Gaussian noise in zCDP and Rényi privacy (\[BS16\] Prop
    /// 1.6; \[Mir17\] Cor 3); in zCDP also for groups of `d_in` steps (Prop 1.9), and hence for everything whose loss
    /// at distance 1 is `at_one`, if the distance has [unit steps](CountsRecords). In Rényi privacy it is not the rule for
    /// groups: only for a mechanism known to behave like that.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, SymmetricDistance, Zcdp};
    /// let gaussian = PrivacyMap::<SymmetricDistance, _>::quadratic(Zcdp, "0.5")?;
    /// assert_eq!(gaussian.loss(&2)?, "2".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// use odometry::measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// PrivacyMap::<SymmetricDistance, _>::quadratic(PureDp, "0.5").unwrap();
    /// ```
    pub fn quadratic<L: IntoLoss<M::Loss>>(measure: M, at_one: L) -> L::Made<Self> {
        at_one.make(|at_one| {
            let scaled =
                |loss: &M::Loss, d_in: &MI::Distance| Some(loss.scaled_squared(&d_in.number()));
            Self::from_parts(
                measure,
                0,
                Form::Quadratic(at_one),
                Evaluate::Scaled(scaled),
            )
        })
    }
}

impl<MI: CountsRecords, M: GroupPrivacy> PrivacyMap<MI, M> {
    /// The map that asks this one only at distance 1 and gets the rest by [group privacy](GroupPrivacy), rounded up.
    /// At distance 0 the loss is zero.
    ///
    /// Hypothesis: any two inputs at distance `n` are linked by `n` steps of distance 1 *through inputs that the
    /// measurement takes*. [`CountsRecords`] says so of the metric on all data sets; a map does not know the space, so
    /// whoever calls this vouches for the space.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, SymmetricDistance, Zcdp};
    /// let one = PrivacyMap::<SymmetricDistance, _>::constant_up_to(Zcdp, 1, "0.5")?;
    /// assert_eq!(one.group().loss(&3)?, "4.5".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn group(&self) -> Self {
        let inner = self.clone();
        self.combined(self.measure().clone(), move |&n| match n {
            0 => Ok(inner.measure().zero()),
            _ => inner.loss(&1).map(|one| inner.measure().group(&one, n)),
        })
    }
}

impl<MI: Metric, M: Measure> Clone for PrivacyMap<MI, M> {
    fn clone(&self) -> Self {
        PrivacyMap(Arc::clone(&self.0))
    }
}

impl<MI: Metric, M: Measure> fmt::Debug for PrivacyMap<MI, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivacyMap({} -> {:?})", name::<MI>(), self.measure())
    }
}

/// The name of a type, without the modules that it and its parameters are in.
fn name<T>() -> String {
    let pieces = type_name::<T>().split_inclusive(|c: char| "<>(), ".contains(c));
    pieces
        .filter_map(|piece| piece.rsplit("::").next())
        .collect()
}
