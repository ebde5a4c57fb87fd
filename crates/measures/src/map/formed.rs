//! Maps that were written down: what a form says, without any closure.

use super::{Evaluate, FormOf, PrivacyMap};
use crate::convert::{WithConversion, with_conversion};
use crate::{Conversion, Distance as _, Form, Loss as _, MapError, Measure, Metric};
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
        match form.within_limits() {
            Form::Function => None,
            form => Self::of_short_form(measure, form),
        }
    }

    fn of_short_form(measure: M, form: FormOf<MI, M>) -> Option<Self> {
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
            Form::Group(one) => grouped(measure.clone(), one.clone())?,
            Form::Times(factor, form) => multiplied(measure.clone(), *factor, form)?,
            Form::Sum(forms) => summed(measure.clone(), forms)?,
            Form::Ratio { times, over, of } => in_ratio(measure.clone(), (times, over), of)?,
            Form::Converted { by, from } => {
                let map: Box<dyn Any> = with_conversion(by, Reading::<MI>::of(from))??;
                let map: Self = *map.downcast().ok()?;
                return (*map.measure() == measure).then_some(map);
            }
        };
        Some(Self::from_parts(measure, form, evaluate))
    }
}

fn function<MI: Metric, M: Measure>(
    loss: impl Fn(&MI::Distance) -> Option<M::Loss> + Send + Sync + 'static,
) -> Evaluate<MI, M> {
    Evaluate::Function(Box::new(move |d_in| {
        loss(d_in).ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
    }))
}

fn grouped<MI: Metric, M: Measure>(measure: M, one: M::Loss) -> Option<Evaluate<MI, M>> {
    measure.grouped(&one, 1)?;
    Some(function(move |d_in: &MI::Distance| {
        match *(d_in as &dyn Any).downcast_ref::<u32>()? {
            0 => Some(measure.zero()),
            1 => Some(one.clone()),
            n => measure.grouped(&one, n),
        }
    }))
}

fn multiplied<MI: Metric, M: Measure>(
    measure: M,
    factor: u32,
    form: &FormOf<MI, M>,
) -> Option<Evaluate<MI, M>> {
    let inner = PrivacyMap::<MI, M>::of_form(measure, form.clone())?;
    Some(Evaluate::Function(Box::new(move |d_in: &MI::Distance| {
        let overflow = || MapError::Overflow {
            distance: d_in.to_string(),
            factor,
        };
        inner.loss(&d_in.multiple(factor).ok_or_else(overflow)?)
    })))
}

fn summed<MI: Metric, M: Measure>(measure: M, forms: &[FormOf<MI, M>]) -> Option<Evaluate<MI, M>> {
    measure.added(&measure.zero(), &measure.zero())?;
    let maps = forms.iter().cloned();
    let maps = maps.map(|form| PrivacyMap::<MI, M>::of_form(measure.clone(), form));
    let maps: Vec<_> = maps.collect::<Option<_>>()?;
    Some(Evaluate::Function(Box::new(move |d_in: &MI::Distance| {
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

fn in_ratio<MI: Metric, M: Measure>(
    measure: M,
    (times, over): (&Exact, &Exact),
    form: &FormOf<MI, M>,
) -> Option<Evaluate<MI, M>> {
    measure.zero().in_ratio(&Exact::ONE, &Exact::ONE)?;
    (is_short(times) && is_short(over) && !over.is_zero()).then_some(())?;
    let inner = PrivacyMap::<MI, M>::of_form(measure, form.clone())?;
    let (times, over) = (times.clone(), over.clone());
    Some(Evaluate::Function(Box::new(move |d_in: &MI::Distance| {
        let loss = inner.loss(d_in)?.in_ratio(&times, &over);
        loss.ok_or_else(|| MapError::failed(d_in, "its form does not fit"))
    })))
}

/// Reads a map of the measure that is converted from, and converts it.
struct Reading<'a, MI> {
    from: &'a Form<String, String>,
    metric: PhantomData<MI>,
}

impl<'a, MI> Reading<'a, MI> {
    fn of(from: &'a Form<String, String>) -> Self {
        Self {
            from,
            metric: PhantomData,
        }
    }
}

impl<MI: Metric> WithConversion for Reading<'_, MI> {
    /// A map in the measure that is converted to, whichever it is.
    type Out = Option<Box<dyn Any>>;

    fn conversion<C: Conversion>(self, conversion: C) -> Self::Out {
        let map = PrivacyMap::<MI, C::From>::of_form(conversion.from(), self.from.read()?)?;
        Some(Box::new(map.convert(conversion)))
    }
}
