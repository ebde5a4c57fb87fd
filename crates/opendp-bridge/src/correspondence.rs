//! What it means that a measure of OpenDP's and a measure of ours are the same: their distances are our losses.

use std::fmt;

use exact::{Exact, Round};
use measures::{LossError, MapError, Measure};
use opendp::core::Measure as TheirMeasure;
use thiserror::Error;

/// A measure of ours that means the same as a measure of OpenDP's.
///
/// Whoever implements it vouches for that. Into ours, a float is its exact binary value; back into theirs, a loss is
/// rounded up.
pub trait Correspondence: Measure {
    /// OpenDP's measure.
    type Theirs: TheirMeasure + Send + Sync + 'static;

    /// OpenDP's measure, with its parameters.
    fn theirs(&self) -> Self::Theirs;

    /// OpenDP's distance as a loss.
    ///
    /// # Errors
    /// [`NoLoss`] if it is NaN, negative, or cannot be computed.
    fn loss(
        &self,
        distance: &<Self::Theirs as TheirMeasure>::Distance,
    ) -> Result<Self::Loss, NoLoss>;

    /// The loss as OpenDP's distance, rounded up.
    ///
    /// # Errors
    /// [`NoLoss::Failed`] if OpenDP has no distance that is large enough.
    fn distance(
        &self,
        loss: &Self::Loss,
    ) -> Result<<Self::Theirs as TheirMeasure>::Distance, NoLoss>;
}

/// A measure of OpenDP's that means the same as one particular measure of ours, without further parameters.
pub trait Counterpart: TheirMeasure + Sized {
    /// The measure of ours.
    type Ours: Correspondence<Theirs = Self>;

    /// The measure of ours, with its parameters.
    fn ours(&self) -> Self::Ours;
}

/// Why OpenDP's distance is not a loss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum NoLoss {
    /// It is NaN or negative.
    #[error(transparent)]
    Senseless(#[from] LossError),
    /// It cannot be computed, or there is none.
    #[error("{0}")]
    Failed(String),
}

impl NoLoss {
    /// The privacy map that gave it has failed.
    pub(crate) fn at(self, distance: &impl fmt::Display) -> MapError {
        match self {
            Self::Senseless(source) => MapError::Senseless {
                distance: distance.to_string(),
                source,
            },
            Self::Failed(reason) => MapError::failed(distance, reason),
        }
    }
}

/// A float of OpenDP's as an exact number; NaN and negative ones are refused.
///
/// ```
/// use odometry::opendp_bridge::exact_loss;
/// assert_eq!(exact_loss(0.5)?.to_string(), "0.5");
/// assert!(exact_loss(f64::NAN).is_err() && exact_loss(-0.1).is_err());
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
///
/// # Errors
/// [`LossError::Text`].
pub fn exact_loss(distance: f64) -> Result<Exact, LossError> {
    Exact::try_from(distance).map_err(|_| LossError::Text {
        text: distance.to_string(),
        expected: "a non-negative number".into(),
    })
}

/// An exact number as a float of OpenDP's, rounded up.
pub fn float_loss(loss: &Exact) -> f64 {
    loss.to_f64(Round::Up)
}
