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
        })
    }

    /// Is it only a function? Then there is nothing to write down.
    pub fn is_function(&self) -> bool {
        matches!(self, Self::Function)
    }

    /// Of how many pieces it is made.
    fn pieces(&self) -> usize {
        match self {
            Self::Times(_, form) => 1 + form.pieces(),
            Self::Sum(forms) => 1 + forms.iter().map(Self::pieces).sum::<usize>(),
            Self::Converted { from, .. } => 1 + from.pieces(),
            _ => 1,
        }
    }

    /// This form, or only a function if it has too many pieces, or one that is a function.
    pub(crate) fn within_limits(self) -> Self {
        match self.pieces() > MAX_FORM || self.has_a_function() {
            true => Self::Function,
            false => self,
        }
    }

    fn has_a_function(&self) -> bool {
        match self {
            Self::Function => true,
            Self::Times(_, form) => form.has_a_function(),
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
        let short = |form: &Form<String, String>| form.length() <= LONGEST;
        written.filter(short).unwrap_or(Form::Function)
    }

    /// What it gives at so many times the distance: the same kind of form where there is one, rounded up.
    pub(crate) fn at_times(&self, factor: u32) -> Self {
        let by = Exact::from(factor);
        let scaled = match self {
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
    /// How long its numbers and names are together.
    fn length(&self) -> usize {
        match self {
            Self::Function => 0,
            Self::Linear(loss) | Self::Quadratic(loss) | Self::Group(loss) => loss.len(),
            Self::ConstantUpTo(bound, loss) => bound.len() + loss.len(),
            Self::Times(_, form) => form.length(),
            Self::Sum(forms) => forms.iter().map(Self::length).sum(),
            Self::Converted { by, from } => by.as_str().len() + from.length(),
        }
    }
}
