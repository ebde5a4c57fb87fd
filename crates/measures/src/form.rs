//! The forms of privacy maps: maps that are data, so that they can be written down, and evaluated again elsewhere.

use crate::{Distance, Loss, Name};
use exact::Exact;
use serde::{Deserialize, Serialize};

/// Of how many pieces a form may be made. A map that would have more is only a function: whatever an analyst combines, what is
/// written down of it stays short, and no reader has to go deeper.
pub const MAX_FORM: usize = 16;

/// How long all numbers and names of a form that is written down may be together, in bytes.
const LONGEST: usize = 4096;

/// What a privacy map is, if it is more than a function: over distances `D` and losses `L`, or over their texts.
///
/// ```
/// use odometry::measures::convert::PureToZcdp;
/// use odometry::measures::{Form, Name, PrivacyMap, PureDp};
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// assert_eq!(*map.form(), Form::Linear("0.1".parse()?));
/// let from = Box::new(Form::Linear("0.1".into()));
/// assert_eq!(*map.convert(PureToZcdp).form(), Form::Converted { by: Name::new("pure-to-zcdp"), from });
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Form<D, L> {
    /// Only its author's function.
    Function,
    /// The distance times this loss.
    Linear(L),
    /// The square of the distance times this loss.
    Quadratic(L),
    /// This loss up to this distance, and infinity beyond.
    ConstantUpTo(D, L),
    /// What [group privacy](crate::GroupPrivacy) makes of this loss at distance 1.
    Group(L),
    /// What this form gives at so many times the distance.
    Times(u32, Box<Self>),
    /// All of these together, in a measure in which losses add up.
    Sum(Vec<Self>),
    /// What a conversion makes of the losses of another measure. Their texts, because that measure is another type.
    Converted {
        /// The [name](crate::Conversion::name) of the conversion.
        by: Name,
        /// The form in the other measure.
        from: Box<Form<String, String>>,
    },
    /// The losses of this form, so many times, divided by so much: rounded up once, so that a third of three is one.
    Ratio {
        /// What they are multiplied by.
        times: Exact,
        /// What they are divided by.
        over: Exact,
        /// The form.
        of: Box<Self>,
    },
}

impl<D, L> Form<D, L> {
    /// The same form over other distances and losses: their texts, for one. `None` if one of them has none.
    pub fn map<D2, L2>(
        &self,
        distance: impl Fn(&D) -> Option<D2>,
        loss: impl Fn(&L) -> Option<L2>,
    ) -> Option<Form<D2, L2>> {
        self.mapped(&distance, &loss)
    }

    fn mapped<D2, L2>(
        &self,
        distance: &dyn Fn(&D) -> Option<D2>,
        loss: &dyn Fn(&L) -> Option<L2>,
    ) -> Option<Form<D2, L2>> {
        Some(match self {
            Self::Function => Form::Function,
            Self::Linear(at_one) => Form::Linear(loss(at_one)?),
            Self::Quadratic(at_one) => Form::Quadratic(loss(at_one)?),
            Self::ConstantUpTo(bound, constant) => {
                Form::ConstantUpTo(distance(bound)?, loss(constant)?)
            }
            Self::Group(one) => Form::Group(loss(one)?),
            Self::Times(factor, form) => {
                Form::Times(*factor, Box::new(form.mapped(distance, loss)?))
            }
            Self::Sum(forms) => {
                let forms = forms.iter().map(|form| form.mapped(distance, loss));
                Form::Sum(forms.collect::<Option<_>>()?)
            }
            Self::Converted { by, from } => Form::Converted {
                by: by.clone(),
                from: from.clone(),
            },
            Self::Ratio { times, over, of } => Form::Ratio {
                times: times.clone(),
                over: over.clone(),
                of: Box::new(of.mapped(distance, loss)?),
            },
        })
    }

    /// Is it only a function? Then there is nothing to write down.
    pub fn is_function(&self) -> bool {
        matches!(self, Self::Function)
    }

    /// How many pieces of so many are left when this form has taken its own; `None` if it has more. It looks no deeper than that.
    fn take(&self, left: usize) -> Option<usize> {
        let left = left.checked_sub(1)?;
        match self {
            Self::Times(_, form) | Self::Ratio { of: form, .. } => form.take(left),
            Self::Sum(forms) => forms.iter().try_fold(left, |left, form| form.take(left)),
            Self::Converted { from, .. } => from.take(left),
            _ => Some(left),
        }
    }

    fn has_few_pieces(&self) -> bool {
        self.take(MAX_FORM).is_some()
    }

    /// This form, or only a function if it has too many pieces, or one that is a function.
    pub(crate) fn within_limits(self) -> Self {
        match self.has_few_pieces() && !self.has_a_function() {
            true => self,
            false => Self::Function,
        }
    }

    fn has_a_function(&self) -> bool {
        match self {
            Self::Function => true,
            Self::Times(_, form) | Self::Ratio { of: form, .. } => form.has_a_function(),
            Self::Sum(forms) => forms.iter().any(Self::has_a_function),
            Self::Converted { from, .. } => from.has_a_function(),
            _ => false,
        }
    }
}

impl<D: Distance, L: Loss> Form<D, L> {
    /// The form as it is written down: only a function where something in it has no text, or all texts together are too long.
    ///
    /// ```
    /// use odometry::measures::{Form, PrivacyMap, PureDp};
    /// let map = PrivacyMap::per_record(PureDp, "0.10")?;
    /// assert_eq!(map.form().written(), Form::Linear("0.1".into()));
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    pub fn written(&self) -> Form<String, String> {
        let written = self.map(Distance::written, Loss::written);
        let written = written.filter(Form::is_within_limits);
        written.unwrap_or(Form::Function)
    }

    /// What it gives at so many times the distance: the same kind of form where there is one, rounded up.
    pub(crate) fn at_times(&self, factor: u32) -> Self {
        let by = Exact::from(factor);
        let scaled = match self {
            same if factor == 1 => Some(same.clone()),
            Self::Linear(at_one) => at_one.linear(&by).map(Self::Linear),
            Self::Quadratic(at_one) => at_one.quadratic(&by).map(Self::Quadratic),
            Self::Times(inner, form) => {
                let both = inner.checked_mul(factor);
                both.map(|both| Self::Times(both, form.clone()))
            }
            _ => None,
        };
        let times = || Self::Times(factor, Box::new(self.clone()));
        scaled.unwrap_or_else(times).within_limits()
    }
}

impl Form<String, String> {
    /// Is it as short as everything that is [written](Form::written)? Whoever reads forms asks this first: it looks at no more
    /// than that, and at no number.
    ///
    /// ```
    /// use odometry::measures::{Form, MAX_FORM};
    /// let forged = Form::Sum(vec![Form::Linear("0.1".to_owned()); MAX_FORM]);
    /// assert!(!forged.is_within_limits());
    /// ```
    pub fn is_within_limits(&self) -> bool {
        self.has_few_pieces() && self.length() <= LONGEST
    }

    /// The form that was [written](Form::written) like this. `None` if it is too long, or if something in it is no distance or
    /// loss.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Form};
    /// assert_eq!(Form::Linear("0.1".into()).read::<u32, Epsilon>(), Some(Form::Linear("0.1".parse()?)));
    /// assert_eq!(Form::Linear("much".into()).read::<u32, Epsilon>(), None);
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    pub fn read<D: Distance, L: Loss>(&self) -> Option<Form<D, L>> {
        let read = |form: &Self| form.map(|d_in| D::read(d_in), |loss| L::read(loss));
        self.is_within_limits().then_some(self).and_then(read)
    }

    /// How long its numbers and names are together.
    fn length(&self) -> usize {
        match self {
            Self::Function => 0,
            Self::Linear(loss) | Self::Quadratic(loss) | Self::Group(loss) => loss.len(),
            Self::ConstantUpTo(bound, loss) => bound.len() + loss.len(),
            Self::Times(_, form) => form.length(),
            Self::Sum(forms) => forms.iter().map(Self::length).sum(),
            Self::Converted { by, from } => by.as_str().len() + from.length(),
            Self::Ratio { times, over, of } => times.text().len() + over.text().len() + of.length(),
        }
    }
}
