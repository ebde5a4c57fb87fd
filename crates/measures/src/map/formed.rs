//! Maps that were written down: what a form says, without any closure.

use super::{Evaluate, FormOf, Map, PrivacyMap};
use crate::convert::{WithConversion, with_conversion};
use crate::{Conversion, Distance, Form, Loss as _, MapError, Measure, Metric, Name};
use dashu_int::ops::BitTest as _;
use exact::Exact;
use std::any::Any;
use std::marker::PhantomData;

/// No ratio with longer numbers is read: rates of noise have at most half as many bits, and the changes that they are multiplied with far fewer.
const RATIO_BITS: usize = 8192;

impl<MI: Metric, M: Measure> PrivacyMap<MI, M> {
    /// The map of this form, if the measure's losses and the metric's distances allow it: a map that was written down. Of
    /// conversions, those of this crate are known by their names.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp, SymmetricDistance, Zcdp};
    /// let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let again = PrivacyMap::<SymmetricDistance, _>::of_form(PureDp, map.form().clone()).unwrap();
    /// assert_eq!(again.loss(&3)?, map.loss(&3)?);
    /// assert!(PrivacyMap::<SymmetricDistance, _>::of_form(Zcdp, Form::Linear("0.1".parse()?)).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_form(measure: M, form: Form<MI::Distance, M::Loss>) -> Option<Self> {
        Map::of_form(measure, form).map(Self::from)
    }
}

impl<D: Distance, M: Measure> Map<D, M> {
    pub(super) fn of_form(measure: M, form: FormOf<D, M>) -> Option<Self> {
        match form.within_limits() {
            Form::Function => None,
            form => Self::of_short_form(measure, form),
        }
    }

    fn of_short_form(measure: M, form: FormOf<D, M>) -> Option<Self> {
        let evaluate = match &form {
            Form::Function => return None,
            Form::Linear(loss) => {
                loss.linear(&Exact::ONE)?;
                Evaluate::Scaled(|loss: &M::Loss, d_in: &D| loss.linear(&d_in.as_number()?))
            }
            Form::Quadratic(loss) => {
                loss.quadratic(&Exact::ONE)?;
                Evaluate::Scaled(|loss: &M::Loss, d_in: &D| loss.quadratic(&d_in.as_number()?))
            }
            Form::ConstantUpTo(..) => Evaluate::UpTo(measure.infinity()),
            Form::Group(one) => grouped(measure.clone(), one.clone())?,
            Form::Times(factor, form) => multiplied(measure.clone(), *factor, form)?,
            Form::Sum(forms) => summed(measure.clone(), forms)?,
            Form::Ratio { times, over, of } => in_ratio(measure.clone(), (times, over), of)?,
            Form::Converted { by, from } => {
                let map: Box<dyn Any> = D::read_converted(by, from)?;
                let map: Self = *map.downcast().ok()?;
                return (*map.measure() == measure).then_some(map);
            }
        };
        Some(Self::from_parts(measure, form, evaluate))
    }
}

fn function<D: Distance, M: Measure>(
    loss: impl Fn(&D) -> Option<M::Loss> + Send + Sync + 'static,
) -> Evaluate<D, M> {
    Evaluate::Function(Box::new(move |d_in| {
        loss(d_in).ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
    }))
}

fn grouped<D: Distance, M: Measure>(measure: M, one: M::Loss) -> Option<Evaluate<D, M>> {
    measure.grouped(&one, 1)?;
    Some(function(move |d_in: &D| {
        match *(d_in as &dyn Any).downcast_ref::<u32>()? {
            0 => Some(measure.zero()),
            1 => Some(one.clone()),
            n => measure.grouped(&one, n),
        }
    }))
}

fn multiplied<D: Distance, M: Measure>(
    measure: M,
    factor: u32,
    form: &FormOf<D, M>,
) -> Option<Evaluate<D, M>> {
    let inner = Map::<D, M>::of_form(measure, form.clone())?;
    Some(Evaluate::Function(Box::new(move |d_in: &D| {
        let overflow = || MapError::Overflow {
            distance: d_in.to_string(),
            factor,
        };
        inner.loss(&d_in.multiple(factor).ok_or_else(overflow)?)
    })))
}

fn summed<D: Distance, M: Measure>(measure: M, forms: &[FormOf<D, M>]) -> Option<Evaluate<D, M>> {
    measure.added(&measure.zero(), &measure.zero())?;
    let maps = forms.iter().cloned();
    let maps = maps.map(|form| Map::<D, M>::of_form(measure.clone(), form));
    let maps: Vec<_> = maps.collect::<Option<_>>()?;
    Some(Evaluate::Function(Box::new(move |d_in: &D| {
        maps.iter().try_fold(measure.zero(), |sum, map| {
            let sum = measure.added(&sum, &map.loss(d_in)?);
            sum.ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
        })
    })))
}

/// Is it as every number that ratios are written with: whole, and of not too many digits? With others, dividing takes long.
fn is_short(number: &Exact) -> bool {
    let number = number.to_rational();
    number.is_some_and(|number| {
        number.denominator().is_one() && number.numerator().bit_len() <= RATIO_BITS
    })
}

fn in_ratio<D: Distance, M: Measure>(
    measure: M,
    (times, over): (&Exact, &Exact),
    form: &FormOf<D, M>,
) -> Option<Evaluate<D, M>> {
    measure.zero().in_ratio(&Exact::ONE, &Exact::ONE)?;
    (is_short(times) && is_short(over) && !over.is_zero()).then_some(())?;
    let inner = Map::<D, M>::of_form(measure, form.clone())?;
    let (times, over) = (times.clone(), over.clone());
    Some(Evaluate::Function(Box::new(move |d_in: &D| {
        let loss = inner.loss(d_in)?.in_ratio(&times, &over);
        loss.ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
    })))
}

/// Reads a map of the measure that is converted from, and converts it: a [`Map`] in the measure that is converted to, whichever it
/// is.
pub(crate) fn read_converted<D: Distance>(
    by: &Name,
    from: &Form<String, String>,
) -> Option<Box<dyn Any>> {
    let distance = PhantomData::<fn() -> D>;
    with_conversion(by, Reading { from, distance })?
}

struct Reading<'a, D> {
    from: &'a Form<String, String>,
    distance: PhantomData<fn() -> D>,
}

impl<D: Distance> WithConversion for Reading<'_, D> {
    type Out = Option<Box<dyn Any>>;

    fn conversion<C: Conversion>(self, conversion: C) -> Self::Out {
        let map = Map::<D, C::From>::of_form(conversion.from(), self.from.read()?)?;
        Some(Box::new(map.convert(conversion)))
    }
}
