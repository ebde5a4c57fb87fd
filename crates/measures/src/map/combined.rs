//! Maps that are made of others. They are evaluated through those, and have a form if those have one.

use super::{Evaluate, FormOf, MAX_LINKS, Map, PrivacyMap};
use crate::metric::{CountsRecords, Number};
use crate::{
    Additive, Conversion, Distance, Form, GroupPrivacy, Loss as _, MapError, Measure, Metric, Name,
    RuleError, Scale, times,
};
use exact::Exact;
use std::any::Any;

/// What a combinator makes of other maps.
pub(super) trait Combined<D: Distance, M: Measure>: Send + Sync {
    fn loss(&self, d_in: &D) -> Result<M::Loss, MapError>;

    fn form(&self) -> FormOf<D, M>;
}

impl<D: Distance, M: Measure> Map<D, M> {
    /// The map that one more combinator makes of maps with so many.
    fn combined(measure: M, links: u16, combined: impl Combined<D, M> + 'static) -> Self {
        if links < MAX_LINKS {
            return Self::linked(measure, links + 1, Evaluate::Combined(Box::new(combined)));
        }
        let too_deep = |_: &D| Err(MapError::TooDeep { limit: MAX_LINKS });
        Self::linked(
            measure,
            MAX_LINKS + 1,
            Evaluate::Function(Box::new(too_deep)),
        )
    }

    pub(super) fn convert<C: Conversion<From = M>>(&self, conversion: C) -> Map<D, C::To> {
        let (measure, inner) = (conversion.to(), self.clone());
        Map::combined(measure, self.0.links, Converted { inner, conversion })
    }
}

impl<MI: Metric, M: Measure> PrivacyMap<MI, M> {
    /// The map that a function computes, and that is data as well: `form` says what, once somebody wants to write it down. Whoever
    /// calls it vouches that the form gives what the function gives, or more. A form that the measure does not have is none.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Form, PrivacyMap, PureDp, SymmetricDistance};
    /// let twice = |d: &u32| Ok(Epsilon::new((2 * u64::from(*d)).into()));
    /// let map = PrivacyMap::<SymmetricDistance, _>::known_as(PureDp, twice, || Form::Linear(Epsilon::new(2u32.into())));
    /// assert_eq!(map.loss(&3)?, "6".parse()?);
    /// assert_eq!(*map.form(), Form::Linear("2".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn known_as(
        measure: M,
        function: impl Fn(&MI::Distance) -> Result<M::Loss, MapError> + Send + Sync + 'static,
        form: impl Fn() -> Form<MI::Distance, M::Loss> + Send + Sync + 'static,
    ) -> Self {
        let known = Known {
            measure: measure.clone(),
            function,
            form,
        };
        Map::linked(measure, 0, Evaluate::Combined(Box::new(known))).into()
    }

    /// This map after a transformation of the inputs that is stable: inputs at distance `d` become inputs at distance
    /// at most `stability(d)`. Exact; the transformation's author vouches for the stability map. Where it is a multiple of the
    /// distance, [`after_times`](Self::after_times) keeps the form.
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
        self.after_known(None, stability)
    }

    /// As [`after`](Self::after), where the stability map multiplies the distance by `factor`, if that is known: then the map has
    /// a [form](Self::form) if this one has. For whoever holds stability maps of both kinds; whoever calls it vouches for the
    /// factor.
    pub fn after_known<M0: Metric>(
        &self,
        factor: Option<u32>,
        stability: impl Fn(&M0::Distance) -> Result<MI::Distance, MapError> + Send + Sync + 'static,
    ) -> PrivacyMap<M0, M> {
        let (measure, inner) = (self.measure().clone(), self.map.clone());
        let after = After {
            inner,
            stability,
            factor,
        };
        Map::combined(measure, self.map.0.links, after).into()
    }

    /// This map after a transformation that turns inputs at distance `d` into inputs at distance at most `factor·d`. It keeps its
    /// form, rounded up.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, PureDp, SymmetricDistance};
    /// let sum = PrivacyMap::per_record(PureDp, "0.1")?;
    /// assert_eq!(sum.after_times::<SymmetricDistance>(2).loss(&1)?, "0.2".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after_times<M0>(&self, factor: u32) -> PrivacyMap<M0, M>
    where
        M0: Metric<Distance = MI::Distance>,
        MI::Distance: Number,
    {
        self.after_known(Some(factor), times(factor))
    }

    /// This map in another measure. Valid because the losses of a map are those of one measurement; the direction of
    /// rounding is the conversion's. It has a form if this one has, and the conversion has a [name](Conversion::name).
    pub fn convert<C: Conversion<From = M>>(&self, conversion: C) -> PrivacyMap<MI, C::To> {
        self.map.convert(conversion).into()
    }
}

impl<MI: Metric, M: Measure<Loss: Scale>> PrivacyMap<MI, M> {
    /// The map of what costs `n` times as much at every distance. Exact, for the losses of this crate.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, PureDp};
    /// let tenth = PrivacyMap::per_record(PureDp, "0.1")?;
    /// assert_eq!(tenth.loss_times(3).loss(&2)?, "0.6".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loss_times(&self, n: u32) -> Self {
        let (measure, inner) = (self.measure().clone(), self.map.clone());
        let times = Exact::from(n);
        Map::combined(measure, self.map.0.links, LossTimes { inner, times }).into()
    }
}

impl<MI: Metric, M: Additive> PrivacyMap<MI, M> {
    /// What two measurements of the same data cost together, in a measure in which losses add up: for a measurement that runs
    /// both. Exact, but for losses off the grid, which are rounded up to it. Its author vouches that both are asked as [`Additive::INTERLEAVING`] says.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp};
    /// let (one, other) = (PrivacyMap::per_record(PureDp, "0.1")?, PrivacyMap::per_record(PureDp, "0.2")?);
    /// assert_eq!(*one.plus(&other).form(), Form::Linear("0.3".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plus(&self, other: &Self) -> Self {
        // The sum, and not the longer one: a map added to itself again and again would do exponential work at little depth.
        let (one, other) = (&self.map, &other.map);
        let links = one.0.links.saturating_add(other.0.links);
        let plus = Plus(one.clone(), other.clone());
        Map::combined(one.measure().clone(), links, plus).into()
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
    /// use odometry::measures::{Form, PrivacyMap, SymmetricDistance, Zcdp};
    /// let one = PrivacyMap::<SymmetricDistance, _>::constant_up_to(Zcdp, 1, "0.5")?;
    /// assert_eq!(one.group().loss(&3)?, "4.5".parse()?);
    /// assert_eq!(*one.group().form(), Form::Quadratic("0.5".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn group(&self) -> Self {
        let (measure, inner) = (self.measure().clone(), self.map.clone());
        Map::combined(measure, self.map.0.links, Group(inner)).into()
    }
}

struct Known<M, F, G> {
    measure: M,
    function: F,
    form: G,
}

impl<D, M, F, G> Combined<D, M> for Known<M, F, G>
where
    D: Distance,
    M: Measure,
    F: Fn(&D) -> Result<M::Loss, MapError> + Send + Sync,
    G: Fn() -> FormOf<D, M> + Send + Sync,
{
    fn loss(&self, d_in: &D) -> Result<M::Loss, MapError> {
        (self.function)(d_in)
    }

    fn form(&self) -> FormOf<D, M> {
        // A linear form in zCDP would say too little.
        let map = Map::<D, M>::of_form(self.measure.clone(), (self.form)());
        map.map_or(Form::Function, |map| map.form().clone())
    }
}

struct After<D: Distance, M: Measure, F> {
    inner: Map<D, M>,
    stability: F,
    /// What it multiplies the distance by, if it does.
    factor: Option<u32>,
}

impl<D0, D, M, F> Combined<D0, M> for After<D, M, F>
where
    D0: Distance,
    D: Distance,
    M: Measure,
    F: Fn(&D0) -> Result<D, MapError> + Send + Sync,
{
    fn loss(&self, d_in: &D0) -> Result<M::Loss, MapError> {
        self.inner.loss(&(self.stability)(d_in)?)
    }

    fn form(&self) -> FormOf<D0, M> {
        let multiplied = |factor| {
            let form: Box<dyn Any> = Box::new(self.inner.form().at_times(factor));
            form.downcast().ok()
        };
        let form: Option<Box<FormOf<D0, M>>> = self.factor.and_then(multiplied);
        form.map_or(Form::Function, |form| *form)
    }
}

struct Converted<D: Distance, C: Conversion> {
    inner: Map<D, C::From>,
    conversion: C,
}

impl<D: Distance, C: Conversion> Combined<D, C::To> for Converted<D, C> {
    fn loss(&self, d_in: &D) -> Result<<C::To as Measure>::Loss, MapError> {
        let failed = |error: RuleError| MapError::failed(d_in, error.to_string());
        let loss = self.inner.loss(d_in)?;
        self.conversion.convert(&loss).map_err(failed)
    }

    fn form(&self) -> FormOf<D, C::To> {
        let steps = self.conversion.steps().unwrap_or_default();
        let Some((last, before)) = steps.split_last() else {
            return Form::Function;
        };
        let converted = |from, by: &Name| Form::Converted {
            by: by.clone(),
            from: Box::new(from),
        };
        let from = before.iter().fold(self.inner.form().written(), converted);
        let converted: FormOf<D, C::To> = Form::Converted {
            by: last.clone(),
            from: Box::new(from),
        };
        converted.within_limits()
    }
}

struct Group<M: Measure>(Map<u32, M>);

impl<M: GroupPrivacy> Combined<u32, M> for Group<M> {
    fn loss(&self, n: &u32) -> Result<M::Loss, MapError> {
        match n {
            0 => Ok(self.0.measure().zero()),
            // One step is what was given, to the last digit.
            1 => self.0.loss(&1),
            _ => (self.0.loss(&1)).map(|one| self.0.measure().group(&one, *n)),
        }
    }

    fn form(&self) -> FormOf<u32, M> {
        // What is only a function is somebody's code, and nobody wants a loss of it now.
        if self.0.form().is_function() {
            return Form::Function;
        }
        let one = self.0.loss(&1);
        one.map_or(Form::Function, |one| self.0.measure().group_form(one))
    }
}

struct LossTimes<D: Distance, M: Measure> {
    inner: Map<D, M>,
    times: Exact,
}

impl<D: Distance, M: Measure<Loss: Scale>> Combined<D, M> for LossTimes<D, M> {
    fn loss(&self, d_in: &D) -> Result<M::Loss, MapError> {
        let loss = self.inner.loss(d_in)?;
        let times = loss.in_ratio(&self.times, &Exact::ONE);
        Ok(times.unwrap_or_else(|| loss.scaled(&self.times)))
    }

    fn form(&self) -> FormOf<D, M> {
        let (times, over) = (self.times.clone(), Exact::ONE);
        let zero = self.inner.measure().zero();
        if zero.in_ratio(&times, &over).is_none() {
            return Form::Function;
        }
        let of = Box::new(self.inner.form().clone());
        Form::Ratio { times, over, of }.within_limits()
    }
}

struct Plus<D: Distance, M: Measure>(Map<D, M>, Map<D, M>);

impl<D: Distance, M: Additive> Combined<D, M> for Plus<D, M> {
    fn loss(&self, d_in: &D) -> Result<M::Loss, MapError> {
        let Self(one, other) = self;
        let sum = one.loss(d_in)?.on_grid();
        Ok(one.measure().plus(&sum, &other.loss(d_in)?, 1))
    }

    fn form(&self) -> FormOf<D, M> {
        let measure = self.0.measure();
        let plus = |one: &M::Loss, other: &M::Loss| measure.plus(&one.clone().on_grid(), other, 1);
        let sum = match (self.0.form(), self.1.form()) {
            (Form::Linear(one), Form::Linear(other)) => Form::Linear(plus(one, other)),
            (Form::Quadratic(one), Form::Quadratic(other)) => Form::Quadratic(plus(one, other)),
            (Form::Sum(some), other) => Form::Sum(some.iter().chain([other]).cloned().collect()),
            (one, other) => Form::Sum(vec![one.clone(), other.clone()]),
        };
        sum.within_limits()
    }
}
