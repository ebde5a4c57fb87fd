//! Choosing a scale for a budget, over a whole pipeline: whatever lies between the data and the noise, the pipeline's own
//! map tells what a scale costs.

use std::borrow::Borrow;

use exact::{Exact, search::Least};
use measures::{IntoLoss, Loss, Measure};
use odometer::{Measurement, Space};

use crate::error::BuildError;

/// A scale found has so many significant bits: it is above the least one by a relative `2^-39` at the most.
pub const SCALE_BITS: u32 = 40;

/// The measurement with the least scale whose loss at `d_in` is within the budget, among scales of [`SCALE_BITS`]
/// significant bits from `2^-1024` to `2^1024`.
///
/// `with_scale` builds the measurement, and is called some fifty times; no data are touched. Its loss should fall as the
/// scale grows. Whether it does or not, the result was asked and is within the budget, and the scale just before it is
/// not. A scale at which it cannot be built, or at which its map fails, counts as one that is not.
///
/// ```
/// use odometry::measures::AbsoluteDistance;
/// use odometry::mechanisms::{additive::add_noise, calibrate::calibrate, samplers::DiscreteLaplace};
/// use odometry::odometer::{Any, Records, Transformation};
/// // Each of a person's visits takes up to 90 minutes, and there are at most three.
/// let minutes = Transformation::new(
///     Records::<i64>::new(),
///     Any::<i64, _>::with(AbsoluteDistance),
///     |d_in: &u32| Ok(odometry::exact::Exact::from(3 * 90 * *d_in)),
///     |visits: &Vec<i64>| Ok(visits.iter().map(|minutes| (*minutes).clamp(0, 90)).sum()),
/// );
/// let total = calibrate(1, "0.25", |scale| {
///     Ok(minutes.measure(&add_noise(DiscreteLaplace::new(scale)?))?)
/// })?;
/// assert_eq!(total.map().loss(&1)?.to_string(), "0.25");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError::Loss`] for a budget that is no loss, before anything is built; [`BuildError::NoScale`] if no scale is within the budget, with what `with_scale` said at the largest one;
/// [`BuildError::AnyScale`] if every scale is.
pub fn calibrate<S: Space, M: Measure, A: 'static, F>(
    d_in: impl Borrow<S::Distance>,
    budget: impl IntoLoss<M::Loss>,
    with_scale: F,
) -> Result<Measurement<S, M, A>, BuildError>
where
    F: Fn(Exact) -> Result<Measurement<S, M, A>, BuildError>,
{
    let (d_in, budget) = (d_in.borrow(), &budget.into_loss()?);
    let build = |scale: &Exact| {
        let measurement = with_scale(scale.clone())?;
        let loss = measurement.map().loss(d_in).map_err(BuildError::failed)?;
        match loss.at_most(budget) {
            true => Ok(measurement),
            false => Err(BuildError::failed(format_args!("there it is {loss}"))),
        }
    };
    let mut refused = None;
    let found = Exact::least(SCALE_BITS, 0, |scale| match build(scale) {
        Ok(_) => true,
        Err(error) => {
            refused = Some(error);
            false
        }
    });
    match found {
        Least::Found(scale) => build(&scale),
        Least::All => Err(BuildError::AnyScale {
            d_in: exact::excerpt(d_in),
            budget: exact::excerpt(budget),
        }),
        Least::None => Err(BuildError::NoScale {
            d_in: exact::excerpt(d_in),
            budget: exact::excerpt(budget),
            reason: refused.map_or_else(String::new, |error| error.to_string()),
        }),
    }
}
