//! The best of what a measurement says when it is run again and again, with random stopping (\[LT19\]): hyperparameters, models, seeds.

use std::sync::Arc;

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::Exact;
use measures::PureDp;
use odometer::{Measurement, Space, internal::is_postprocessed};
use queryable::{AskError, Canonical};

use crate::{
    error::BuildError,
    parameter::{self, Parameter, positive},
    samplers::Geometric,
};

/// [`best_of_many`] that costs this ε, if what `build` makes of a third of it costs that third.
///
/// ```
/// use odometry::mechanisms::{additive::count_spending, selection::best_of_many_for_epsilon, spend::epsilon};
/// use odometry::odometer::Records;
/// let most = best_of_many_for_epsilon("0.3", "0.1", |third| {
///     count_spending(Records::<u8>::new(), epsilon(third), |_| true)
/// })?;
/// assert_eq!(most.map().loss(&1)?.to_string(), "0.3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`best_of_many`], and as `build`.
pub fn best_of_many_for_epsilon<S, A, B>(
    epsilon: impl Parameter,
    stop: impl Parameter,
    build: B,
) -> Result<Measurement<S, PureDp, A>, BuildError>
where
    S: Space,
    A: Canonical,
    B: FnOnce(Exact) -> Result<Measurement<S, PureDp, A>, BuildError>,
{
    let third = parameter::loss("ε", epsilon)?.split(3);
    best_of_many(&build(third)?, stop)
}

/// The largest answer of a random number of runs: after each run it stops with probability `stop`, so that there are `1/stop` runs on
/// average. Put the score first in the answer, and what to choose after it.
///
/// Only the largest answer is paid for, so no code of the analyst may see the others. A measurement with post-processing is refused:
/// post-process the result. The order is that of a [`Canonical`] type.
///
/// *Loss:* three times that of one run, however many there are. *Proof* (as in \[LT19\], for answers in any total order). Let `p` be the probability
/// of an answer in one run, and `a`, `b` those of a larger one, and of one at least as large. The largest of a geometric number of runs is this
/// answer with probability `stop·p/((stop + (1 − stop)·a)·(stop + (1 − stop)·b))`; each of `p`, `a` and `b` changes by a factor of `e^ε` at the most.
///
/// ```
/// use odometry::mechanisms::{additive::count_spending, selection::best_of_many, spend::epsilon};
/// use odometry::odometer::Records;
/// let noisy = count_spending(Records::<u8>::new(), epsilon("0.1"), |_| true)?;
/// let most = best_of_many(&noisy, "0.1")?; // ten runs, about
/// assert_eq!(most.map().loss(&1)?.to_string(), "0.3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An order of the caller's would be called with the answers of all runs:
///
/// ```compile_fail,E0277
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::mechanisms::selection::best_of_many;
/// use odometry::odometer::{Measurement, Records};
/// #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// struct Logged(i64); // or an `Ord` that writes down what it compares
/// let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
/// let one = Measurement::new("one", Records::<i64>::new(), map, |_, _| Ok(Logged(42)));
/// best_of_many(&one, "0.1").unwrap();
/// ```
///
/// # Errors
/// [`BuildError::NotANumber`], [`BuildError::NotPositive`], [`BuildError::TooLong`], [`BuildError::OutOfRange`] for a probability that is not between
/// 0 and 1. [`BuildError::Postprocessed`] for a measurement with post-processing, and for one that is made from such a measurement.
pub fn best_of_many<S, A>(
    measurement: &Measurement<S, PureDp, A>,
    stop: impl Parameter,
) -> Result<Measurement<S, PureDp, A>, BuildError>
where
    S: Space,
    A: Canonical,
{
    if is_postprocessed(measurement) {
        let what = "best_of_many";
        return Err(BuildError::Postprocessed { what });
    }
    let stop = positive("the probability to stop", stop)?;
    if stop >= RBig::ONE {
        let what = "the probability to stop";
        return Err(BuildError::out_of_range(what, "below 1", stop));
    }
    let more = Geometric::with_ratio(RBig::ONE - &stop)?;
    let (inner, space) = (measurement.clone(), measurement.space().clone());
    let map = measurement.map().loss_times(3);
    let (name, ratio) = more.parameter();
    let best = Measurement::new("best of many", space, map, move |data: &Arc<_>, scope| {
        // Drawn first: what was seen does not decide when to stop.
        let mut left = scope.draw(&more)?;
        let mut best = inner.run(data, scope)?;
        while !left.is_zero() {
            left -= UBig::ONE;
            best = inner.run(data, scope)?.max(best);
        }
        Ok::<A, AskError>(best)
    });
    Ok(best.with_parameter(name, ratio))
}
