//! Choosing the scale of OpenDP's noise for a budget, over a whole pipeline: what OpenDP's `binary_search_param` does, with
//! a result that was checked.

use std::borrow::Borrow;

use exact::{Exact, Round, search::Least};
use measures::{IntoLoss, Loss as _};
use opendp::{
    core::{Domain, Measurement, Metric},
    err,
    error::Fallible,
    fallible,
};

use crate::correspondence::{Correspondence, Counterpart};

/// The losses of our measure that means the same as this one of theirs.
pub type LossIn<MO> = <<MO as Counterpart>::Ours as measures::Measure>::Loss;

/// A scale found has so many significant bits: it is above the least one by a relative `2^-39` at the most.
pub const SCALE_BITS: u32 = 40;

/// What somebody built, or why not.
type Built<DI, MI, MO, TO> = Fallible<Measurement<DI, MI, MO, TO>>;

/// The OpenDP measurement with the least scale whose map at `d_in` is at most the budget, among scales of [`SCALE_BITS`]
/// significant bits. The budget is a loss of ours, or its text: `"0.3"`, `"(1, 1e-6)"`; floats of the map are compared with it
/// exactly.
///
/// `with_scale` builds the measurement, and is called some fifty times; no data are touched. Its loss should fall as the
/// scale grows. Whether it does or not, the result's map was asked and is within the budget, and that of the scale just
/// before it is not. A scale at which it cannot be built, or at which its map fails or says NaN, counts as one that is not.
///
/// It is deterministic, so it may stand in the constructor of an imported [`measurement`](crate::measurement):
///
/// ```
/// use opendp::{
///     domains::{AtomDomain, VectorDomain}, measurements::make_laplace, metrics::{AbsoluteDistance, SymmetricDistance},
///     transformations::make_count,
/// };
/// use odometry::opendp_bridge::{calibrated, measurement, theirs::Pure};
/// let count = measurement("count", || calibrated(1, "0.3", |scale| {
///     let change = AbsoluteDistance::<i32>::default();
///     make_count(VectorDomain::new(AtomDomain::<i32>::default()), SymmetricDistance)?
///         >> make_laplace::<_, _, Pure>(AtomDomain::default(), change, scale, None)?
/// }))?;
/// let spent = count.map().loss(&1)?.into_value();
/// assert!(spent <= "0.3".parse()? && spent > "0.29999999999".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A `FailedMap` for a budget that is no loss, before anything is built; what `with_scale` or the map said at the largest scale that was tried, if no scale is within the
/// budget; a `FailedMap` if every scale is: then `d_in` is zero, the budget infinite, or the scale does not decide the loss.
pub fn calibrated<DI, MI, MO, TO>(
    d_in: impl Borrow<MI::Distance>,
    budget: impl IntoLoss<LossIn<MO>>,
    with_scale: impl Fn(f64) -> Built<DI, MI, MO, TO>,
) -> Built<DI, MI, MO, TO>
where
    DI: Domain,
    MI: Metric,
    MO: Counterpart,
{
    let d_in = d_in.borrow();
    let budget = match budget.into_loss() {
        Ok(budget) => budget,
        Err(error) => return fallible!(FailedMap, "{error}"),
    };
    let within = |measurement: &Measurement<DI, MI, MO, TO>| {
        let spent = measurement.map(d_in)?;
        match measurement.output_measure.ours().loss(&spent) {
            Ok(loss) => Ok(loss.at_most(&budget)),
            Err(error) => fallible!(FailedMap, "{error}"),
        }
    };
    let build = |scale: f64| {
        let measurement = with_scale(scale)?;
        match within(&measurement)? {
            true => Ok(measurement),
            false => fallible!(FailedMap, "no scale keeps the loss within the budget"),
        }
    };
    let mut refused = None;
    let found = Exact::least(SCALE_BITS, 0, |scale| match as_float(scale).map(build) {
        Some(Ok(_)) => true,
        Some(Err(error)) => {
            refused = Some(error);
            false
        }
        None => false,
    });
    let found = match found {
        Least::Found(scale) => as_float(&scale),
        Least::None => {
            return refused.map_or_else(|| fallible!(FailedMap, "no scale was tried"), Err);
        }
        Least::All => None,
    };
    match found {
        Some(scale) => build(scale),
        None => fallible!(
            FailedMap,
            "every scale keeps the loss within the budget: is d_in above zero, the budget finite, and does the scale decide the loss?"
        ),
    }
}

/// The scale as OpenDP takes it, if it is in the range of floats. Nothing is rounded: it has fewer digits.
fn as_float(scale: &Exact) -> Option<f64> {
    let float = scale.to_f64(Round::Up);
    (float.is_finite() && scale.to_f64(Round::Down) == float).then_some(float)
}
