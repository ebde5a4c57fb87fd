//! Whoever launches measurements, without its rule: a session in a struct field, a rule that is chosen at run time.

use std::sync::Arc;

use measures::{FilterRule, FixedRule, Measure};
use queryable::{AskError, Scope};

use crate::{
    account::admission::Kind,
    compositor::Composition,
    error::LaunchError,
    failure::withhold,
    measurement::{Above, Head, Measurement, Unprocessed},
    session::Session,
    space::Space,
};

/// What runs once a launch is charged. It leaves its answer with whoever made it.
pub(crate) type Run<'a, S> =
    dyn FnMut(&Arc<<S as Space>::Data>, &mut Scope<'_>, Above<'_>) -> Result<(), AskError> + 'a;

mod sealed {
    use super::{Head, LaunchError, Measure, Run, Space};

    /// Sells data for a head. Nobody outside may call it: the function would be anybody's, and the price of another.
    pub trait Desk<S: Space, M: Measure>: Send + Sync {
        fn sell(&self, head: &Head<S, M>, run: &mut Run<'_, S>) -> Result<(), LaunchError>;
    }
}

use sealed::Desk;

/// Whoever launches measurements of one space in one measure: a [`Session`] or a [`Composition`], whatever its rule.
///
/// ```
/// use odometry::measures::fixed::OptimalPure;
/// use odometry::measures::{Basic, PrivacyMap, PureDp};
/// use odometry::odometer::{Compositor, Launcher, Measurement, Odometer, Records};
///
/// struct Service {
///     books: Box<dyn Launcher<Records<i64>, PureDp>>, // the rule is a matter of configuration
/// }
///
/// let records = Records::<i64>::new();
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// let query = Measurement::new("query", records, map, |data, _| Ok(data.len())); // yours adds noise
///
/// let filter = Odometer::new(records, Basic::new(PureDp)).filter(1, "1")?;
/// let optimal = OptimalPure::new("1e-6")?;
/// let slots = Compositor::new(records, optimal, 1, vec!["0.1"; 3]).measurement()?;
/// let services = [
///     Service { books: Box::new(filter.invoke(vec![3, 1, 4])?) },
///     Service { books: Box::new(slots.invoke(vec![3, 1, 4])?) },
/// ];
/// for service in &services {
///     assert_eq!(service.books.launch(&query)?, 3);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Launcher<S: Space, M: Measure>: Desk<S, M> {}

impl<S: Space, M: Measure> dyn Launcher<S, M> {
    /// As [`Session::launch`] or [`Composition::launch`].
    ///
    /// # Errors
    /// As there.
    pub fn launch<A: 'static>(&self, measurement: &Measurement<S, M, A>) -> Result<A, LaunchError> {
        launch(self, measurement)
    }
}

fn launch<S: Space, M: Measure, A: 'static>(
    desk: &(impl Desk<S, M> + ?Sized),
    measurement: &Measurement<S, M, A>,
) -> Result<A, LaunchError> {
    answered(measurement, |run| desk.sell(measurement.head(), run))
}

/// The answer of a measurement whose function `sell` runs.
pub(crate) fn answered<S: Space, M: Measure, A: 'static>(
    measurement: &Measurement<S, M, A>,
    sell: impl FnOnce(&mut Run<'_, S>) -> Result<(), LaunchError>,
) -> Result<A, LaunchError> {
    let mut answer = None;
    let sold = sell(&mut |data, scope, above| {
        answer = Some(measurement.run_at(data, scope, above)?);
        Ok(())
    });
    if let Err(error) = sold {
        withhold(answer);
        return Err(error);
    }
    // Whoever sells runs what it has charged before it says so.
    let answer: Unprocessed<A> = answer.ok_or(LaunchError::Failed(AskError::Halted))?;
    answer.processed().map_err(LaunchError::Failed)
}

impl<S: Space, R: FilterRule> Desk<S, R::Child> for Session<S, R> {
    fn sell(&self, head: &Head<S, R::Child>, run: &mut Run<'_, S>) -> Result<(), LaunchError> {
        self.launch_and_run(Kind::Plain, head, run)
    }
}

impl<S: Space, R: FixedRule> Desk<S, R::Child> for Composition<S, R> {
    fn sell(&self, head: &Head<S, R::Child>, run: &mut Run<'_, S>) -> Result<(), LaunchError> {
        self.launch_and_run(head, run)
    }
}

impl<S: Space, R: FilterRule> Launcher<S, R::Child> for Session<S, R> {}
impl<S: Space, R: FixedRule> Launcher<S, R::Child> for Composition<S, R> {}
