//! Odometers, and the filters made from them.

use std::{fmt, sync::Arc};

use measures::{Adaptive, FilterRule, IntoLoss, PrivacyMap, Rule, RuleError, TotalLoss};
use queryable::{DEFAULT_MESSAGES, Root};

use crate::{
    account::{Account, Cap, DEFAULT_QUOTA},
    error::OpenError,
    measurement::Measurement,
    session::Data,
    session::Session,
    session::watch::{DataRoot, Watch},
    space::{Space, check_contains},
};

/// A way to keep account of everything that is launched on some data (\[HST+23\] Alg 4 and 6).
///
/// ```
/// use odometry::measures::{Basic, PrivacyMap, PureDp};
/// use odometry::odometer::{Measurement, Odometer, Records};
/// let records = Records::<i64>::new();
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// let query = Measurement::new("query", records, map, |_, _| Ok(42));
///
/// let session = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
/// for _ in 0..10 {
///     session.launch(&query)?;
/// }
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "1");
/// assert_eq!(session.privacy_loss(&2)?.to_string(), "2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A rule for losses fixed in advance makes no odometer and no filter:
///
/// ```compile_fail,E0277
/// use odometry::measures::{fixed::Optimal};
/// use odometry::odometer::{Odometer, Records};
/// let records = Records::<i64>::new();
/// Odometer::new(records, Optimal::new("1e-6").unwrap()); // error: `Optimal` is not valid as a filter
/// ```
pub struct Odometer<S: Space, R: FilterRule> {
    space: S,
    rule: R,
    label: Arc<str>,
    halting: bool,
    watch: Option<Watch>,
    quota: u32,
    messages: u64,
}

/// A filter: a measurement whose answer is a session with a budget.
pub type Filter<S, R> = Measurement<S, <R as Rule>::Total, Session<S, R>>;

impl<S: Space, R: FilterRule> Odometer<S, R> {
    /// An odometer on these data that composes with this rule. A rule that is only a filter's makes only
    /// [filters](Self::filter).
    pub fn new(space: S, rule: R) -> Self {
        Self {
            space,
            rule,
            label: "the session".into(),
            halting: false,
            watch: None,
            quota: DEFAULT_QUOTA,
            messages: DEFAULT_MESSAGES,
        }
    }

    /// Gives its sessions a name, for refusals.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.label = name.into();
        self
    }

    /// Its sessions and filters tell this watch which transformation has failed on their data. See [`Watch`].
    pub fn watched(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
    }

    /// The same odometer of other data.
    pub(crate) fn on<T: Space>(&self, space: T) -> Odometer<T, R> {
        Odometer {
            space,
            rule: self.rule.clone(),
            label: Arc::clone(&self.label),
            halting: self.halting,
            watch: self.watch.clone(),
            quota: self.quota,
            messages: self.messages,
        }
    }

    pub(crate) fn label(&self) -> Arc<str> {
        Arc::clone(&self.label)
    }

    pub(crate) fn is_halting(&self) -> bool {
        self.halting
    }

    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    pub(crate) fn most_messages(&self) -> u64 {
        self.messages
    }

    pub(crate) fn most_measurements(&self) -> u32 {
        self.quota
    }

    pub(crate) fn space(&self) -> &S {
        &self.space
    }

    pub(crate) fn rule(&self) -> &R {
        &self.rule
    }

    /// Its filters refuse everything after their first refusal: the papers' halting form.
    pub fn halting(mut self) -> Self {
        self.halting = true;
        self
    }

    /// Its sessions list this number of different measurements. Without this, [`DEFAULT_QUOTA`]: about a million. Equal
    /// measurements (with the same description and the same symbolic map) are one entry, however often they are made.
    /// Each child of a session (nested, linked, or a part) may use a sixteenth of the session's list with everything below
    /// it (at least 16 entries, but at most half of the list), or what [`Nested::quota`](crate::Nested::quota) states.
    ///
    /// Beyond the quota, measurements with the same map are one entry, and others are merged if the session has a cap: a
    /// merged entry counts as infinite beyond the cap's distance. A launch that cannot be merged is refused, uncharged,
    /// with [`LaunchError::LedgerFull`](crate::LaunchError::LedgerFull).
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let free = || Measurement::new("free", records, PrivacyMap::new(PureDp, |_| Ok("0".parse().unwrap())), |_, _| Ok(()));
    /// let session = Odometer::new(records, Basic::new(PureDp)).quota(2).open(vec![1, 2, 3])?;
    /// let (one, other, third) = (free(), free(), free());
    /// session.launch(&one)?;
    /// session.launch(&other)?;
    /// assert!(session.launch(&third).is_err());
    /// session.launch(&one)?; // it is listed already
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn quota(mut self, measurements: u32) -> Self {
        self.quota = measurements;
        self
    }

    /// Every launch in its sessions and filters, with everything it spawns, answers at most so many messages, and then
    /// [`AskError::TooManyMessages`](queryable::AskError::TooManyMessages): *finite communication*, which the theorems on
    /// concurrent composition in (ε, δ), Gaussian and f-DP ask for. Asks between the machines of a launch are not
    /// counted. Without this, [`DEFAULT_MESSAGES`], which is never
    /// reached. It counts only where the rule is for
    /// [finite communication](measures::Interleaving::ConcurrentFinite): under others it changes nothing.
    ///
    /// ```
    /// # use odometry::measures::{ApproxDp, Basic, PrivacyMap};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # use odometry::queryable::{AskError, machine};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 0)")?;
    /// # let counter = Measurement::new("echo", records, map, |_, scope| scope.spawn(machine(|x: u8, _| Ok(x))));
    /// let session = Odometer::new(records, Basic::new(ApproxDp)).answering_at_most(1).open(vec![1, 2, 3])?;
    /// let (first, other) = (session.launch(&counter)?, session.launch(&counter)?);
    /// assert_eq!((first.ask(7), other.ask(8)), (Ok(7), Ok(8))); // each has its own
    /// assert_eq!(first.ask(9), Err(AskError::TooManyMessages { limit: 1 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answering_at_most(mut self, messages: u64) -> Self {
        self.messages = messages;
        self
    }

    /// A filter: a measurement whose answer is a session that refuses what would pass the budget at distance `d_in`
    /// (\[HST+23\] Alg 2 and 3).
    ///
    /// Launched in another session it is charged in full, and what happens inside is nobody else's business. Its privacy
    /// map is the budget up to `d_in` and infinity beyond ([`Measurement::by_group_privacy`] may know more).
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.4")?;
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// let filter = Odometer::new(records, Basic::new(PureDp)).named("team red").filter(1, "1")?;
    /// let session = filter.invoke(vec![1, 2, 3])?;
    /// session.launch(&query)?;
    /// session.launch(&query)?;
    /// let refusal = session.launch(&query).unwrap_err();
    /// assert_eq!(
    ///     refusal.to_string(),
    ///     "refused by team red: `query` asks for 0.4, but only 0.2 is left of 1 (0.8 spent; PureDp at distance 1)"
    /// );
    /// assert_eq!(session.privacy_loss(&1)?.to_string(), "0.8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OpenError::Rule`] if the rule cannot be opened with this budget, or its text is not a loss.
    pub fn filter(
        &self,
        d_in: S::Distance,
        budget: impl IntoLoss<TotalLoss<R>>,
    ) -> Result<Filter<S, R>, OpenError> {
        let budget = budget.into_loss().map_err(RuleError::Loss)?;
        let cap = Cap::new(
            &self.label,
            &self.rule,
            d_in.clone(),
            budget.clone(),
            self.halting,
        )?;
        let on_ledger = cap.clone();
        let map = PrivacyMap::constant_up_to(self.rule.total(), d_in.clone(), budget.clone());
        let (space, rule, label) = (
            self.space.clone(),
            self.rule.clone(),
            Arc::clone(&self.label),
        );
        let (quota, messages) = (self.quota, self.messages);
        let watch = self.watch.clone();
        let open = move |data: &Arc<S::Data>, scope: &mut queryable::Scope<'_>| {
            let place = DataRoot::below(&scope.root()?, &label, watch.as_ref())?;
            let (label, cap) = (Arc::clone(&label), Some(cap.clone()));
            let account = Account::new(label, rule.clone(), cap, (quota, None), None)
                .map_err(|error| queryable::AskError::failed(error.to_string()))?
                .answering_at_most(messages);
            Ok(Session::new(
                space.clone(),
                Data::Here(Arc::clone(data)),
                place,
                Arc::new(account),
            ))
        };
        let filter = Measurement::new(
            format!("filter of {}", self.label),
            self.space.clone(),
            map,
            open,
        );
        let filter = filter
            .with_parameter("d_in", d_in.clone())
            .with_parameter("budget", budget);
        Ok(filter.reserved_by(Some(self.reserved(d_in, on_ledger))))
    }
}

impl<S: Space, R: Adaptive> Odometer<S, R> {
    /// Opens a session on data, with coins from the operating system.
    ///
    /// # Errors
    /// [`OpenError::NotInSpace`]; [`OpenError::Unusable`] without entropy, or inside a step.
    pub fn open(&self, data: S::Data) -> Result<Session<S, R>, OpenError> {
        self.open_in(
            &Root::from_os().map_err(OpenError::Unusable)?,
            Arc::new(data),
        )
    }

    /// Opens a session on data, with coins of your choice. Inside a measurement's function, take the root from its scope
    /// ([`queryable::Scope::root`]): that measurement's own map covers whatever the session launches.
    ///
    /// # Errors
    /// [`OpenError::NotInSpace`]; [`OpenError::Unusable`] if the root is somebody else's.
    pub fn open_in(&self, root: &Root, data: Arc<S::Data>) -> Result<Session<S, R>, OpenError> {
        let place =
            DataRoot::below(root, &self.label, self.watch.as_ref()).map_err(OpenError::Unusable)?;
        check_contains(&self.space, &data)?;
        let (label, rule) = (Arc::clone(&self.label), self.rule.clone());
        let account = Account::new(label, rule, None, (self.quota, None), None)?
            .answering_at_most(self.messages);
        Ok(Session::new(
            self.space.clone(),
            Data::Here(data),
            place,
            Arc::new(account),
        ))
    }
}

impl<S: Space, R: FilterRule> Clone for Odometer<S, R> {
    fn clone(&self) -> Self {
        self.on(self.space.clone())
    }
}

impl<S: Space, R: FilterRule> fmt::Debug for Odometer<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Odometer({}, {:?}, {:?})",
            self.label, self.space, self.rule
        )
    }
}
