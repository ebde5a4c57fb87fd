//! The forms of privacy maps: maps that are data, so that they can be written down, and evaluated again elsewhere.

use serde::{Deserialize, Serialize};

/// What a privacy map is, if it is more than a function: over distances `D` and losses `L`, or over their texts.
///
/// ```
/// use odometry::measures::{Form, PrivacyMap, PureDp};
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// assert_eq!(*map.form(), Form::Linear("0.1".parse()?));
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
}

impl<D, L> Form<D, L> {
    /// The same form over other distances and losses: their texts, for one. `None` if one of them has none.
    pub fn map<D2, L2>(
        &self,
        distance: impl FnOnce(&D) -> Option<D2>,
        loss: impl FnOnce(&L) -> Option<L2>,
    ) -> Option<Form<D2, L2>> {
        Some(match self {
            Self::Function => Form::Function,
            Self::Linear(at_one) => Form::Linear(loss(at_one)?),
            Self::Quadratic(at_one) => Form::Quadratic(loss(at_one)?),
            Self::ConstantUpTo(bound, constant) => {
                Form::ConstantUpTo(distance(bound)?, loss(constant)?)
            }
        })
    }
}
