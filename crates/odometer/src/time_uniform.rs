//! Time-uniform odometers (\[RRUV16\] Def 3.1): another guarantee than that of [`Odometer`](crate::Odometer), and so
//! other types, which cannot be nested, capped or charged to accounts of the first kind.

use std::{fmt, sync::Arc};

use measures::{PureDp, TimeUniform, Total, TotalLoss};
use queryable::{DEFAULT_MESSAGES, Root};

use crate::{
    account::opening::{Made, Spot},
    account::questions::{Bookmark, Listed},
    account::{Account, DEFAULT_QUOTA},
    durable::check_names,
    error::{LaunchError, OpenError},
    journal::{Books, Relation, Segment},
    measurement::Measurement,
    session::Data,
    session::Session,
    session::durable::{KeyedLaunch, Receipted},
    session::watch::{DataRoot, Watch},
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
    label: Arc<str>,
    watch: Option<Watch>,
    quota: u32,
}

impl<S: Space, R: TimeUniform> TimeUniformOdometer<S, R> {
    /// An odometer on these data with this rule.
    pub fn new(space: S, rule: R) -> Self {
        Self {
            space,
            rule,
            label: "the session".into(),
            watch: None,
            quota: DEFAULT_QUOTA,
        }
    }

    /// Names its sessions: see [`Odometer::named`](crate::Odometer::named). On a ledger they are found by it.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.label = name.into();
        self
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
        let place = self.data_root(root)?;
        check_contains(&self.space, &data)?;
        let account = self.made().account()?;
        Ok(self.session(data, place, Arc::new(account)))
    }

    /// Opens a session on a ledger, under this odometer's [name](Self::named): the one that is there, with all that it was charged,
    /// or a new one. As [`Odometer::open_on`](crate::Odometer::open_on). Its launches are sequential, so nobody else may write
    /// to the ledger meanwhile.
    ///
    /// ```
    /// use odometry::measures::{PrivacyMap, PureDp, adaptive::TimeUniformBasic};
    /// use odometry::odometer::journal::{Books, Memory};
    /// use odometry::odometer::{Measurement, Records, TimeUniformOdometer};
    /// let records = Records::<i64>::new();
    /// let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.1")?, |_, _| Ok(42));
    /// let odometer = TimeUniformOdometer::new(records, TimeUniformBasic).named("the organisation");
    /// let journal = Memory::new(); // yours is on disk
    /// odometer.open_on(&Books::new(journal.clone()), 1, vec![1, 2, 3])?.launch(&query)?;
    ///
    /// let again = Books::new(Memory::replaying(&journal.records())?);
    /// let session = odometer.open_on(&again, 1, vec![1, 2, 3])?;
    /// assert_eq!(session.bound(&1)?.to_string(), "0.1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Odometer::open_on`](crate::Odometer::open_on).
    pub fn open_on(
        &self,
        books: &Books,
        d_in: S::Distance,
        data: S::Data,
    ) -> Result<TimeUniformSession<S, R>, OpenError> {
        let root = books.root().map_err(OpenError::Unusable)?;
        let place = self.data_root(&root)?;
        let spot = || Spot {
            books,
            parent: None,
            segment: Segment::name(&*self.label),
            relation: Relation::Root,
            metric: self.space.metric(),
            distances: vec![d_in.clone()],
            messages: None,
        };
        check_names(self.made(), &spot())?;
        check_contains(&self.space, &data)?;
        let account = self.made().account_on(spot())?;
        Ok(self.session(Arc::new(data), place, account))
    }

    fn data_root(&self, root: &Root) -> Result<DataRoot, OpenError> {
        DataRoot::below(root, &self.label, self.watch.as_ref()).map_err(OpenError::Unusable)
    }

    fn made(&self) -> Made<S::Metric, R> {
        Made {
            label: Arc::clone(&self.label),
            rule: self.rule.clone(),
            cap: None,
            quota: self.quota,
            share: None,
            messages: DEFAULT_MESSAGES,
            parent: None,
            through: None,
            placed: None,
            sequential: true,
        }
    }

    fn session(
        &self,
        data: Arc<S::Data>,
        place: DataRoot,
        account: Arc<Account<S::Metric, R>>,
    ) -> TimeUniformSession<S, R> {
        let (space, data) = (self.space.clone(), Data::Here(data));
        TimeUniformSession(Session::new(space, data, place, account))
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

    /// A launch with a key: see [`Session::request`].
    pub fn request(&self, key: impl Into<String>) -> KeyedLaunch<'_, S, R> {
        self.0.request(key)
    }

    /// As [`launch`](Self::launch), with the record of the charge: see [`Session::launch_receipted`].
    ///
    /// # Errors
    /// As there.
    pub fn launch_receipted<A: 'static>(
        &self,
        measurement: &Measurement<S, PureDp, A>,
    ) -> Result<Receipted<A>, LaunchError> {
        self.0.launch_receipted(measurement)
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
