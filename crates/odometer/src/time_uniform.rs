//! Time-uniform odometers (\[RRUV16\] Def 3.1): another guarantee than that of [`Odometer`](crate::Odometer), and so
//! other types, which cannot be nested, capped or charged to accounts of the first kind.

use std::{fmt, sync::Arc};

use measures::{PureDp, TimeUniform, Total, TotalLoss};
use queryable::Root;

use crate::{
    account::questions::{Bookmark, Listed},
    account::{Account, DEFAULT_QUOTA},
    error::{LaunchError, OpenError},
    measurement::Measurement,
    session::Data,
    session::Session,
    session::watch::{Fused, Watch},
    space::{Space, check_contains},
};

/// An odometer whose bound on the *realized* loss holds at all rounds at once, with the probability that its rule states.
///
/// Its launches are purely private (\[RRUV16\] Lemma 3.5 is wrong otherwise) and sequential.
///
/// ```
/// use odometry::measures::adaptive::{RogersOdometer, TimeUniformRogers};
/// use odometry::measures::{PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Records, TimeUniformOdometer};
/// let records = Records::<i64>::new();
/// let map = PrivacyMap::per_record(PureDp, "0.01")?;
/// let query = Measurement::new("query", records, map, |_, _| Ok(42));
///
/// let rule = TimeUniformRogers::new(RogersOdometer::new("1e-6", 1 << 20)?);
/// let session = TimeUniformOdometer::new(records, rule).open(vec![1, 2, 3])?;
/// for _ in 0..1000 {
///     session.launch(&query)?;
/// }
/// assert!(session.bound(&1)?.at_most(&"(3.5, 1e-6)".parse()?)); // basic composition: 10
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TimeUniformOdometer<S: Space, R: TimeUniform> {
    space: S,
    rule: R,
    watch: Option<Watch>,
    quota: u32,
}

impl<S: Space, R: TimeUniform> TimeUniformOdometer<S, R> {
    /// An odometer on these data with this rule.
    pub fn new(space: S, rule: R) -> Self {
        Self {
            space,
            rule,
            watch: None,
            quota: DEFAULT_QUOTA,
        }
    }

    /// Its sessions tell this watch which transformation has failed on their data. See [`Watch`].
    #[must_use]
    pub fn watched(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
    }

    /// Its sessions list at most so many different measurements: see [`Odometer::quota`](crate::Odometer::quota).
    #[must_use]
    pub fn quota(mut self, measurements: u32) -> Self {
        self.quota = measurements;
        self
    }

    /// Opens a session on data, with coins from the operating system.
    ///
    /// # Errors
    /// [`OpenError::NotInSpace`]; [`OpenError::Unusable`] without entropy, or inside a step.
    pub fn open(&self, data: S::Data) -> Result<TimeUniformSession<S, R>, OpenError> {
        self.open_in(
            &Root::from_os().map_err(OpenError::Unusable)?,
            Arc::new(data),
        )
    }

    /// Opens a session on data, with coins of your choice.
    ///
    /// # Errors
    /// [`OpenError::NotInSpace`]; [`OpenError::Unusable`] if the root is somebody else's.
    pub fn open_in(
        &self,
        root: &Root,
        data: Arc<S::Data>,
    ) -> Result<TimeUniformSession<S, R>, OpenError> {
        let place =
            Fused::below(root, "the session", self.watch.as_ref()).map_err(OpenError::Unusable)?;
        check_contains(&self.space, &data)?;
        let account = Account::new(
            "the session".into(),
            self.rule.clone(),
            None,
            self.quota,
            None,
        )?
        .sequential();
        Ok(TimeUniformSession(Session::new(
            self.space.clone(),
            Data::Here(data),
            place,
            Arc::new(account),
        )))
    }
}

/// Data under a time-uniform account.
pub struct TimeUniformSession<S: Space, R: TimeUniform>(Session<S, R>);

impl<S: Space, R: TimeUniform> TimeUniformSession<S, R> {
    /// Charges and runs a measurement.
    ///
    /// # Errors
    /// As [`Session::launch`].
    pub fn launch<A: 'static>(
        &self,
        measurement: &Measurement<S, PureDp, A>,
    ) -> Result<A, LaunchError> {
        self.0.launch(measurement)
    }

    /// A bound on the realized loss between data at this distance, that held at every round so far with the probability
    /// that the rule states. Rounded up.
    ///
    /// # Errors
    /// As [`Session::privacy_loss`].
    pub fn bound(&self, d_in: &S::Distance) -> Result<Total<TotalLoss<R>>, LaunchError> {
        let tally = self.0.tally(d_in)?;
        self.0.ruled(move || self.0.rule().bound(&tally))
    }

    /// Everything that was launched, in order.
    ///
    /// # Errors
    /// As [`Session::launches`].
    pub fn launches(&self) -> Result<Vec<Listed>, LaunchError> {
        self.0.launches()
    }

    /// A page of what was launched.
    ///
    /// # Errors
    /// As [`Session::launches_after`].
    pub fn launches_after(
        &self,
        read: Bookmark,
        most: usize,
    ) -> Result<(Vec<Listed>, Bookmark), LaunchError> {
        self.0.launches_after(read, most)
    }
}

impl<S: Space, R: TimeUniform> Clone for TimeUniformSession<S, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: Space, R: TimeUniform> fmt::Debug for TimeUniformSession<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeUniform{:?}", self.0)
    }
}
