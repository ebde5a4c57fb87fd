//! Sessions: data under an account. A session launches measurements, of any answer type and any number, and every launch
//! is admitted and charged by all accounts above it before it runs.

pub(crate) mod any;
pub(crate) mod below;
mod dependent;
pub(crate) mod durable;
pub(crate) mod linked;
pub(crate) mod nested;
pub(crate) mod plan;
pub(crate) mod questions;
pub(crate) mod watch;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use measures::{ChildLoss, Tallied};
use queryable::{AskError, Root, Scope};

use crate::{
    account::Account,
    account::Parent,
    account::admission::Kind,
    account::questions::Charged,
    error::{LaunchError, OpenError},
    failure::FirstFailure,
    measurement::{Above, Head, Measurement},
    session::watch::DataRoot,
    space::Space,
};

/// Data under an account: an odometer that has been opened, or the answer of a filter.
///
/// A clone is the same session; it may be used from many threads. What it launches runs outside all locks. Sessions nest:
/// [`nested`](Self::nested) opens sessions on the same data whose launches are charged here, too, as they happen; launching a [filter](crate::Odometer::filter) reserves its whole budget instead.
///
/// Only the analyst's side launches. From inside a measurement's function, a session that was opened outside refuses
/// ([`LaunchError::Unusable`]).
pub struct Session<S: Space, R: Tallied> {
    space: S,
    data: Data<S::Data>,
    root: Root,
    /// Of the data, and of everything that comes from them.
    first: FirstFailure,
    account: Arc<Account<S::Metric, R>>,
}

impl<S: Space, R: Tallied> Session<S, R> {
    pub(crate) fn new(
        space: S,
        data: Data<S::Data>,
        DataRoot { root, first }: DataRoot,
        account: Arc<Account<S::Metric, R>>,
    ) -> Self {
        Self {
            space,
            data,
            root,
            first,
            account,
        }
    }

    /// Launches a measurement: every account from here to the root, or to the filter that was launched in full, admits
    /// it; then all charge it; then it runs.
    ///
    /// A measurement of other data does not fit:
    ///
    /// ```compile_fail,E0308
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    /// let query = Measurement::new("query", Records::<i64>::new(), map, |_, _| Ok(42));
    /// let session = Odometer::new(Records::<bool>::new(), Basic::new(PureDp)).open(vec![true]).unwrap();
    /// session.launch(&query); // error: expected `bool`, found `i64`
    /// ```
    ///
    /// # Errors
    /// [`LaunchError`]. Unless it [was charged](LaunchError::was_charged), it was not run and read no data. A refusal may halt
    /// an account of the halting form.
    pub fn launch<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<A, LaunchError> {
        self.launch_as(Kind::Plain, measurement)
    }

    fn launch_as<A: 'static>(
        &self,
        kind: Kind,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<A, LaunchError> {
        let run = |data: &_, scope: &mut Scope<'_>, above: Above<'_>| {
            measurement.run_at(data, scope, above)
        };
        self.launch_and_run(kind, measurement.head(), run)?
            .processed()
            .map_err(LaunchError::Failed)
    }

    /// Launches what has this head: `run` is its function.
    pub(crate) fn launch_and_run<A>(
        &self,
        kind: Kind,
        head: &Head<S, R::Child>,
        run: impl FnOnce(&Arc<S::Data>, &mut Scope<'_>, Above<'_>) -> Result<A, AskError>,
    ) -> Result<A, LaunchError> {
        if self.account.journaled().is_some() {
            let durable = self.launch_durably(kind, None, head, run);
            return durable.map(|(answer, _)| answer);
        }
        self.check(head)?;
        let admitted = self.account.launch(head.cost(), kind)?;
        let run = |scope: &mut Scope<'_>| run(self.ready_data()?, scope, None);
        // Whatever it answers: a function may not have passed the failure on.
        self.first.outcome(admitted.run(&self.root, run))
    }

    /// The data, for a function that is to run on them now, unless something has failed on them.
    #[inline]
    fn ready_data(&self) -> Result<&Arc<S::Data>, AskError> {
        let data = self.data.get()?;
        self.first.check()?;
        Ok(data)
    }

    /// May this be launched here at all? Says nothing about the budget.
    pub(crate) fn check(&self, head: &Head<S, R::Child>) -> Result<(), LaunchError> {
        if self.first.has_happened() {
            return Err(LaunchError::Stopped { charged: false });
        }
        head.check_fits(&self.root, &self.space, &self.account.measure)
    }

    /// Asks the accounts on the way to the root, up to the first refusal, whether they would admit this launch. Maps and rules
    /// run; no account is charged or halts, and the measurement does not run. The answer is stale as soon as another thread
    /// launches; [`plan`](Self::plan) asks about several launches in order.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.6")?;
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// let session = Odometer::new(records, Basic::new(PureDp)).filter(1, "1")?.invoke(vec![1, 2, 3])?;
    /// session.would_admit(&query)?;
    /// session.launch(&query)?;
    /// assert_eq!(session.would_admit(&query), session.launch(&query).map(drop));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What [`launch`](Self::launch) would say before it charges.
    pub fn would_admit<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<(), LaunchError> {
        self.check(measurement.head())?;
        let cost = measurement.head().cost();
        self.account.launch(cost, Kind::Asked).map(drop)
    }

    pub(crate) fn account(&self) -> &Arc<Account<S::Metric, R>> {
        &self.account
    }

    /// Everything that was charged, at this distance.
    pub(crate) fn charges(
        &self,
        d_in: &S::Distance,
    ) -> Result<Vec<Charged<ChildLoss<R>>>, LaunchError> {
        self.account.charges(d_in)
    }

    /// What was charged here and live below at this distance, for the rule.
    pub(crate) fn tally(&self, d_in: &S::Distance) -> Result<R::Tally, LaunchError> {
        self.usable()?;
        self.account.tally(d_in)
    }

    /// Asks the rule.
    pub(crate) fn ruled<X>(&self, ask: impl FnOnce() -> X) -> Result<X, LaunchError> {
        self.account.ruled(ask)
    }

    pub(crate) fn label(&self) -> Arc<str> {
        Arc::clone(&self.account.label)
    }

    pub(crate) fn payer(&self) -> Parent<S::Metric, R::Child> {
        self.account.clone()
    }

    pub(crate) fn data(&self) -> &Data<S::Data> {
        &self.data
    }

    pub(crate) fn first_failure(&self) -> &FirstFailure {
        &self.first
    }

    pub(crate) fn rule(&self) -> &R {
        &self.account.rule
    }

    /// The space of the data.
    pub fn space(&self) -> &S {
        &self.space
    }

    pub(crate) fn openable(&self) -> Result<(), OpenError> {
        self.root.check().map_err(OpenError::Unusable)
    }

    pub(crate) fn usable(&self) -> Result<(), LaunchError> {
        self.root.check().map_err(LaunchError::Unusable)
    }

    /// How many different measurements its account lists at the most.
    pub(crate) fn quota(&self) -> u32 {
        self.account.quota
    }
}

impl<S: Space, R: Tallied> Clone for Session<S, R> {
    fn clone(&self) -> Self {
        Self {
            space: self.space.clone(),
            data: self.data.clone(),
            root: self.root.clone(),
            first: self.first.clone(),
            account: Arc::clone(&self.account),
        }
    }
}

/// Shows the name and the rule: never data, nor what was charged.
impl<S: Space, R: Tallied> fmt::Debug for Session<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Session({}, {:?}, {:?})",
            self.account.label, self.space, self.account.rule
        )
    }
}

/// The data, or how to get them from the data of a session above, when the first launch needs them.
pub(crate) enum Data<X> {
    Here(Arc<X>),
    Derived(Arc<Derived<X>>),
}

pub(crate) struct Derived<X> {
    made: OnceLock<Result<Arc<X>, AskError>>,
    make: Box<dyn Fn() -> Result<X, AskError> + Send + Sync>,
}

impl<X> Data<X> {
    pub(crate) fn derived(make: impl Fn() -> Result<X, AskError> + Send + Sync + 'static) -> Self {
        Self::Derived(Arc::new(Derived {
            made: OnceLock::new(),
            make: Box::new(make),
        }))
    }

    #[inline]
    pub(crate) fn get(&self) -> Result<&Arc<X>, AskError> {
        match self {
            Self::Here(data) => Ok(data),
            Self::Derived(derived) => derived
                .made
                .get_or_init(|| (derived.make)().map(Arc::new))
                .as_ref()
                .map_err(Clone::clone),
        }
    }
}

impl<X> Clone for Data<X> {
    fn clone(&self) -> Self {
        match self {
            Self::Here(data) => Self::Here(Arc::clone(data)),
            Self::Derived(derived) => Self::Derived(Arc::clone(derived)),
        }
    }
}
