//! Launches that depend on what was launched before: for all that remains, or only within a budget. Each is one operation.

use std::borrow::Borrow;

use measures::{Adaptive, ChildLoss, IntoLoss, RuleError, Tallied, TotalLoss};

use super::Session;
use crate::{
    account::admission::Kind,
    error::{LaunchError, OpenError},
    measurement::Measurement,
    space::Space,
};

/// How often an operation that depends on the total tries again when other launches come in between.
const TRIES: usize = 1000;

impl<S: Space, R: Tallied> Session<S, R> {
    /// Launches the measurement that `make` makes for all that [remains](Self::remaining) at this distance. One
    /// operation: if other launches come in between, `make` is asked again for what is left then.
    ///
    /// ```
    /// # use odometry::measures::{Basic, Epsilon, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let noop = move |epsilon: Epsilon| Measurement::new("noop", records, PrivacyMap::per_record(PureDp, epsilon), |_, _| Ok(()));
    /// let session = Odometer::new(records, Basic::new(PureDp)).filter(1, "1")?.invoke(vec![])?;
    /// session.launch(&noop("0.7".parse()?))?;
    /// session.spend_rest(&1, |rest| noop(rest.clone()))?;
    /// assert_eq!(session.remaining(&1)?, Some("0".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`launch`](Self::launch), and [`LaunchError::NothingRemains`] if nothing is known to remain.
    pub fn spend_rest<A: 'static>(
        &self,
        d_in: impl Borrow<S::Distance>,
        mut make: impl FnMut(&ChildLoss<R>) -> Measurement<S, R::Child, A>,
    ) -> Result<A, LaunchError> {
        let d_in = d_in.borrow();
        let mut rest = self.rest(d_in)?;
        for _ in 0..TRIES {
            let measurement = make(&rest);
            match self.launch_as(Kind::Tentative, &measurement) {
                Err(LaunchError::Refused(_)) => {}
                other => return other,
            }
            let left = self.rest(d_in)?;
            if left == rest {
                // Nobody came in between: it asks for more than there is, and is refused like any other launch.
                return self.launch(&measurement);
            }
            rest = left;
        }
        Err(LaunchError::Contended)
    }

    fn rest(&self, d_in: &S::Distance) -> Result<ChildLoss<R>, LaunchError> {
        let unknown = || LaunchError::NothingRemains {
            d_in: d_in.to_string(),
        };
        self.remaining(d_in)?.into_loss().ok_or_else(unknown)
    }
}

impl<S: Space, R: Adaptive> Session<S, R> {
    pub(super) fn after<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
        d_in: &S::Distance,
    ) -> Result<(R::Tally, u64), LaunchError> {
        self.account.after(measurement.head().cost(), d_in)
    }

    /// Launches if the loss at `d_in` stays within `budget` (and all caps admit it, as always). One operation: nothing can
    /// come in between.
    ///
    /// # Errors
    /// [`LaunchError::Refused`] if not; [`LaunchError::Contended`] if other launches came in between all the while;
    /// otherwise as [`launch`](Self::launch).
    pub fn launch_within<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
        d_in: impl Borrow<S::Distance>,
        budget: impl IntoLoss<TotalLoss<R>>,
    ) -> Result<A, LaunchError> {
        let budget = budget.into_loss().map_err(RuleError::Loss);
        let (d_in, budget) = (d_in.borrow(), &budget.map_err(OpenError::Rule)?);
        self.check(measurement.head())?;
        for _ in 0..TRIES {
            let (after, launched) = self.after(measurement, d_in)?;
            let within = move || self.account.rule.within(&after, budget);
            if !self.account.ruled(within)? {
                return Err(self.over(measurement, d_in, budget));
            }
            match self.launch_as(Kind::After(launched), measurement) {
                Err(LaunchError::Contended) => {}
                other => return other,
            }
        }
        Err(LaunchError::Contended)
    }

    fn over<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
        d_in: &S::Distance,
        budget: &TotalLoss<R>,
    ) -> LaunchError {
        match self.account.over(measurement.head().cost(), d_in, budget) {
            Ok(refusal) => LaunchError::Refused(Box::new(refusal)),
            Err(error) => error,
        }
    }
}
