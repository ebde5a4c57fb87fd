//! Privacy maps: from a distance between inputs to a bound on the loss (\[HST+23\] §5.1). A map is shared and never
//! changes; its author vouches that it is right and monotone ([`laws::check_map`](crate::laws::check_map) tests the
//! latter).

mod combined;
mod formed;
mod shared;

use self::combined::Combined;
pub(crate) use self::formed::read_converted;
use crate::metric::{ChangeOneDistance, Number, SymmetricDistance};
use crate::{Distance, Form, IntoLoss, MapError, Measure, Metric, Scale, ScaleSquared};
use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

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
pub struct PrivacyMap<MI: Metric, M: Measure> {
    map: Map<MI::Distance, M>,
    metric: PhantomData<fn() -> MI>,
}

/// A map over the distances of any metric: what it does depends on no more, and so it is compiled once for all of them.
struct Map<D: Distance, M: Measure>(Arc<Shared<D, M>>);

type Function<D, M> = dyn Fn(&D) -> Result<<M as Measure>::Loss, MapError> + Send + Sync;

struct Shared<D: Distance, M: Measure> {
    measure: M,
    /// How many combinators it is made of.
    links: u16,
    /// Of a map that is made of others, found when it is asked for: at a launch without a ledger nobody does.
    form: OnceLock<FormOf<D, M>>,
    evaluate: Evaluate<D, M>,
}

type FormOf<D, M> = Form<D, <M as Measure>::Loss>;

/// How the loss is found from the form.
enum Evaluate<D: Distance, M: Measure> {
    /// There is no form.
    Function(Box<Function<D, M>>),
    /// It is made of other maps, and has a form if they have.
    Combined(Box<dyn Combined<D, M>>),
    /// The form's loss, scaled by the distance; `None` if the distance, or the loss, is not of that kind.
    Scaled(fn(&M::Loss, &D) -> Option<M::Loss>),
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
        Map::linked(measure, 0, Evaluate::Function(Box::new(function))).into()
    }

    /// What it is, if it is more than a function: what it can be written down as. Maps that are made of others have one if those
    /// have, and if they are made of few; whoever asks first may run the code of their measures and conversions.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp, SymmetricDistance};
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// assert_eq!(*map.form(), Form::Linear("0.1".parse()?));
    /// assert_eq!(*map.after_times::<SymmetricDistance>(3).form(), Form::Linear("0.3".parse()?));
    /// assert_eq!(*map.after::<SymmetricDistance>(|d| Ok(d / 2)).form(), Form::Function);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn form(&self) -> &Form<MI::Distance, M::Loss> {
        self.map.form()
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
        self.map.0.links > MAX_LINKS
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
            Map::from_parts(measure, Form::ConstantUpTo(bound, loss), evaluate).into()
        })
    }

    /// The loss between inputs at this distance. What the function gives is checked against the measure.
    pub fn loss(&self, d_in: &MI::Distance) -> Result<M::Loss, MapError> {
        self.map.loss(d_in)
    }

    /// The measure of the losses.
    pub fn measure(&self) -> &M {
        self.map.measure()
    }

    /// Whether the loss is found from the [form](Self::form) alone: then maps of equal form are
    /// equal. A map that is made of others may be a little below its form.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// assert!(map.is_its_form() && !map.after_times::<SymmetricDistance>(2).is_its_form());
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    pub fn is_its_form(&self) -> bool {
        self.map.is_its_form()
    }

    /// Whether both are the same map, and not only equal ones.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.map.0, &other.map.0)
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
            Map::from_parts(measure, Form::Linear(per_unit), scaled).into()
        })
    }
}

impl<M: Measure<Loss: Scale>> PrivacyMap<SymmetricDistance, M> {
    /// The [linear](Self::linear) map with this loss for every record that is added or removed, in every order of the records. It
    /// fits no other metric.
    pub fn per_record<L: IntoLoss<M::Loss>>(measure: M, loss: L) -> L::Made<Self> {
        Self::linear(measure, loss)
    }
}

impl<M: Measure<Loss: Scale>> PrivacyMap<ChangeOneDistance, M> {
    /// The [linear](Self::linear) map with this loss for every record that is replaced, in every order of the records. It fits no
    /// other metric.
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
    /// at distance 1 is `at_one`, if the distance has [unit steps](crate::CountsRecords). In Rényi privacy it is not the rule for
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
            Map::from_parts(measure, Form::Quadratic(at_one), Evaluate::Scaled(scaled)).into()
        })
    }
}

impl<MI: Metric, M: Measure> Clone for PrivacyMap<MI, M> {
    fn clone(&self) -> Self {
        self.map.clone().into()
    }
}

impl<MI: Metric, M: Measure> From<Map<MI::Distance, M>> for PrivacyMap<MI, M> {
    fn from(map: Map<MI::Distance, M>) -> Self {
        let metric = PhantomData;
        Self { map, metric }
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
