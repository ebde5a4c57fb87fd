//! Sessions: data under an account. A session launches measurements, of any answer type and any number, and every launch
//! is admitted and charged by all accounts above it before it runs.

pub(crate) mod any;
pub(crate) mod data;
pub(crate) mod nested;
pub(crate) mod plan;
pub(crate) mod watch;

use std::{borrow::Borrow, fmt, sync::Arc};

use measures::{
    Adaptive, ChildLoss, Conversion, FilterRule, IntoLoss, MAX_LINKS, Measure as _, RuleError,
    Tallied, Total, TotalLoss,
};
use queryable::{AskError, Fuse, Root, Scope};

use crate::{
    account::Account,
    account::bill::Bill,
    account::link::Link,
    account::questions::{Bookmark, Charged, Listed},
    account::settling::{Kind, Parent, Payer},
    error::{LaunchError, OpenError},
    measurement::{Head, Measurement},
    remaining::Remaining,
    session::data::Data,
    session::nested::Nested,
    session::plan::Plan,
    session::watch::Fused,
    snapshot::Charge,
    space::{Space, check_same},
    transformation::Transformation,
};

/// How often an operation that depends on the total tries again when other launches come in between.
const TRIES: usize = 1000;

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
    fuse: Fuse,
    account: Arc<Account<S::Metric, R>>,
}

impl<S: Space, R: Tallied> Session<S, R> {
    pub(crate) fn new(
        space: S,
        data: Data<S::Data>,
        Fused { root, fuse }: Fused,
        account: Account<S::Metric, R>,
    ) -> Self {
        Self {
            space,
            data,
            root,
            fuse,
            account: Arc::new(account),
        }
    }

    /// Launches a measurement: every account from here to the root, or to the filter that was launched in full, admits
    /// it; then all charge it; then it runs.
    ///
    /// A measurement of other data does not fit:
    ///
    /// ```compile_fail,E0308
    /// # use measures::{Basic, PrivacyMap, PureDp};
    /// # use odometer::{Measurement, Odometer, Records};
    /// # let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    /// let query = Measurement::new("query", Records::<i64>::new(), map, |_, _| Ok(42));
    /// let session = Odometer::new(Records::<bool>::new(), Basic::new(PureDp)).open(vec![true]).unwrap();
    /// session.launch(&query); // error: expected `bool`, found `i64`
    /// ```
    ///
    /// # Errors
    /// [`LaunchError`]. Unless it [was charged](LaunchError::was_charged), everything is as it was and no data was read.
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
        let run = |data: &_, scope: &mut Scope<'_>| measurement.run(data, scope);
        self.launch_and_run(kind, measurement.head(), run)
    }

    /// Launches what has this head: `run` is its function.
    pub(crate) fn launch_and_run<A>(
        &self,
        kind: Kind,
        head: &Head<S, R::Child>,
        run: impl FnOnce(&Arc<S::Data>, &mut Scope<'_>) -> Result<A, AskError>,
    ) -> Result<A, LaunchError> {
        self.check(head)?;
        let turns = self.account.settle(head.bill(), kind)?;
        let run = |scope: &mut Scope<'_>| run(self.data.get()?, scope);
        let answer = self.root.run(turns, run);
        // Whatever it answers: a function may not have passed the failure on.
        if self.fuse.is_blown() {
            return Err(LaunchError::Stopped { charged: true });
        }
        answer.map_err(LaunchError::Failed)
    }

    /// May this be launched here at all? Says nothing about the budget.
    pub(crate) fn check(&self, head: &Head<S, R::Child>) -> Result<(), LaunchError> {
        if self.fuse.is_blown() {
            return Err(LaunchError::Stopped { charged: false });
        }
        head.check_fits(&self.root, &self.space, &self.account.measure)
    }

    /// Would this be launched now? Every account on the way to the root is asked, and nothing happens: nothing is charged,
    /// halted or run. Stale as soon as another thread launches; [`plan`](Self::plan) asks about several in order.
    ///
    /// ```
    /// # use measures::{Basic, PrivacyMap, PureDp};
    /// # use odometer::{Measurement, Odometer, Records};
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
        let bill = measurement.head().bill();
        self.account.settle(bill, Kind::Asked).map(drop)
    }

    pub(crate) fn account(&self) -> &Arc<Account<S::Metric, R>> {
        &self.account
    }

    /// Everything that was launched here and live below, in order: runs of one measurement with their length. For
    /// outside accountants. It is read a little at a time, so that launches go on meanwhile; very long lists are better
    /// taken in [pages](Self::launches_after).
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn launches(&self) -> Result<Vec<Listed>, LaunchError> {
        self.usable()?;
        Ok(self.account.launches())
    }

    /// A page of what was [launched](Self::launches): at most `most` runs after those that were read before, and a mark
    /// behind them, from which to read on. No runs are left when there are none. If the last run that was read has become
    /// longer since, the next page begins with the rest of it.
    ///
    /// ```
    /// # use measures::{Basic, PrivacyMap, PureDp};
    /// # use odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// use odometer::Bookmark;
    /// let session = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
    /// (0..2).try_for_each(|_| session.launch(&query).map(drop))?;
    /// let (page, read) = session.launches_after(Bookmark::default(), 100)?;
    /// assert_eq!(page[0].1, 2);
    /// session.launch(&query)?;
    /// let (page, read) = session.launches_after(read, 100)?;
    /// assert_eq!(page[0].1, 1);
    /// assert!(session.launches_after(read, 100)?.0.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn launches_after(
        &self,
        read: Bookmark,
        most: usize,
    ) -> Result<(Vec<Listed>, Bookmark), LaunchError> {
        self.usable()?;
        Ok(self.account.launches_after(read, most))
    }

    /// The largest loss that one more launch could have at this distance, and which account says so: within this session's
    /// own cap and those above it that charge a launch its loss at this distance. Above a transformation, those are the caps
    /// at distances that its stability map takes to this one; above a part, the caps at which one unit changes. Rounded
    /// down. Where two caps leave losses that cannot be compared, the one closer to this session. Accounts that count
    /// differently are only [named](Remaining::others).
    ///
    /// ```
    /// # use measures::{Basic, PrivacyMap, PureDp};
    /// # use odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.4")?, |_, _| Ok(42));
    /// let session = Odometer::new(records, Basic::new(PureDp)).named("all").filter(1, "1")?.invoke(vec![1, 2, 3])?;
    /// let parity = session.partition(|x| x % 2)?;
    /// parity.part(0)?.launch(&query)?;
    /// assert_eq!(parity.part(0)?.remaining(1)?.to_string(), "0.6 is left in all");
    /// assert_eq!(parity.part(1)?.remaining(1)?.to_string(), "1 is left in all");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Advice only, stale as soon as another thread launches: [`spend_rest`](Self::spend_rest) acts on it.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn remaining(
        &self,
        d_in: impl Borrow<S::Distance>,
    ) -> Result<Remaining<ChildLoss<R>>, LaunchError> {
        self.usable()?;
        let asked = |capped: &S::Distance| (capped == d_in.borrow()).then(Vec::new);
        Payer::remaining(&*self.account, &asked, Remaining::unlimited())
    }

    /// How much of this session's cap has been spent; `None` if it has none. Rounded up.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        self.usable()?;
        self.account.spent()
    }

    /// The distance and the budget of this session's cap; `None` if it has none.
    pub fn cap(&self) -> Option<(&S::Distance, &TotalLoss<R>)> {
        self.account.cap().map(|cap| (&cap.d_in, &cap.budget))
    }

    /// Launches the measurement that `make` makes for all that [remains](Self::remaining) at this distance. One
    /// operation: if other launches come in between, `make` is asked again for what is left then.
    ///
    /// ```
    /// # use measures::{Basic, Epsilon, PrivacyMap, PureDp};
    /// # use odometer::{Measurement, Odometer, Records};
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

    /// Opens a session below this one in another measure. Every launch there is charged here with its own loss,
    /// converted.
    ///
    /// ```
    /// # use measures::{ApproxDp, Basic, PrivacyMap, PureDp, convert::PureToApprox};
    /// # use odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// let session = Odometer::new(records, Basic::new(ApproxDp)).open(vec![1, 2, 3])?;
    /// let pure = session.nest_in(Basic::new(PureDp), PureToApprox)?;
    /// pure.launch(&query)?;
    /// assert_eq!(session.privacy_loss(&1)?.to_string(), "(0.1, 0)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// What a session has come to is a total, and a total is not the loss of a measurement: it cannot be charged onwards,
    /// converted or not.
    ///
    /// ```compile_fail,E0277
    /// # use measures::{Basic, GaussianDp, PrivacyMap, adaptive::GaussianComposition};
    /// # use odometer::{Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// let session = Odometer::new(records, GaussianComposition).open(vec![1, 2, 3]).unwrap();
    /// let total = session.privacy_loss(&1).unwrap();
    /// PrivacyMap::per_record(GaussianDp, total); // error: a `Total` is not the loss of a measurement
    /// ```
    ///
    /// # Errors
    /// [`OpenError::TooDeep`], [`OpenError::Unusable`], [`OpenError::Measure`] if the conversion is for other
    /// parameters.
    pub fn nest_in<R2, C>(&self, rule: R2, conversion: C) -> Result<Session<S, R2>, OpenError>
    where
        R2: Adaptive,
        C: Conversion<From = R2::Child, To = R::Child>,
    {
        if conversion.to() != self.account.measure || conversion.from() != rule.child() {
            return Err(OpenError::Measure {
                ours: format!("{:?} from {:?}", self.account.measure, rule.child()),
                theirs: format!("{:?} from {:?}", conversion.to(), conversion.from()),
            });
        }
        let parent: Parent<S::Metric, R::Child> = self.account.clone();
        let link = Link::new(parent, move |bill: &Bill<S::Metric, R2::Child>| {
            bill.converted(&conversion)
        });
        self.child(
            self.space.clone(),
            self.data.clone(),
            self.label(),
            rule,
            Arc::new(link),
        )
    }

    /// Opens a session below this one on transformed data. Every launch there is charged here with its own loss at the
    /// distance that the stability map gives. The data are transformed when the first launch needs them; if that fails,
    /// everything on the data [stops](LaunchError::Stopped).
    ///
    /// # Errors
    /// [`OpenError::Space`] if the transformation is for other data; [`OpenError::TooDeep`],
    /// [`OpenError::Unusable`].
    pub fn nest_after<T: Space>(
        &self,
        transformation: &Transformation<S, T>,
    ) -> Result<Session<T, R>, OpenError> {
        check_same(&self.space, transformation.input())?;
        if transformation.links() > MAX_LINKS {
            return Err(OpenError::TooDeep { limit: MAX_LINKS });
        }
        let stable = transformation.clone();
        let stability: Arc<dyn Fn(&S::Distance) -> _ + Send + Sync> =
            Arc::new(move |d_in: &_| stable.stability(d_in));
        let pulled = Arc::clone(&stability);
        let link = Link::new(self.payer(), move |bill: &Bill<T::Metric, R::Child>| {
            bill.after(&stability)
        });
        let link = link.pulling(move |above, asked| asked(&pulled(above).ok()?));
        let (before, transform) = (self.data.clone(), transformation.clone());
        let fuse = self.fuse.clone();
        let data = Data::derived(move || transform.apply_under(Some(&fuse), before.get()?));
        let space = transformation.output().clone();
        self.child(
            space,
            data,
            self.label(),
            self.account.rule.clone(),
            Arc::new(link),
        )
    }

    /// Charges launches that happened before, from a snapshot.
    pub(crate) fn charge_again(
        &self,
        bill: &Bill<S::Metric, R::Child>,
        count: u64,
    ) -> Result<(), LaunchError> {
        self.account.settle(bill, Kind::Restored(count)).map(drop)
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

    /// Has the halting form refused?
    pub(crate) fn is_halting(&self) -> bool {
        self.account.cap().is_some_and(|cap| cap.halting)
    }

    pub(crate) fn has_halted(&self) -> bool {
        self.account.has_halted()
    }

    pub(crate) fn halt(&self) {
        self.account.halt();
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

    pub(crate) fn fuse(&self) -> &Fuse {
        &self.fuse
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

    /// Opens a session whose launches are paid for by `payer`, with the same quota.
    pub(crate) fn child<T: Space, R2: Tallied>(
        &self,
        space: T,
        data: Data<T::Data>,
        label: Arc<str>,
        rule: R2,
        payer: Parent<T::Metric, R2::Child>,
    ) -> Result<Session<T, R2>, OpenError> {
        let account = Account::new(label, rule, None, self.quota(), Some(payer))?;
        self.child_of(space, data, account)
    }

    /// Opens a session with this account.
    pub(crate) fn child_of<T: Space, R2: Tallied>(
        &self,
        space: T,
        data: Data<T::Data>,
        account: Account<T::Metric, R2>,
    ) -> Result<Session<T, R2>, OpenError> {
        self.openable()?;
        let place = Fused {
            root: self.root.branch().map_err(OpenError::Unusable)?,
            fuse: self.fuse.clone(),
        };
        Ok(Session::new(space, data, place, account))
    }
}

impl<S: Space, R: FilterRule> Session<S, R> {
    /// A dry run of several launches, from what was charged up to now. See [`Plan`].
    ///
    /// # Errors
    /// [`LaunchError::Unusable`], [`LaunchError::RulePanicked`].
    pub fn plan(&self) -> Result<Plan<S, R>, LaunchError> {
        Plan::new(self)
    }

    /// Describes a session below this one, on the same data and with the same rule: [`Nested::open`] opens it.
    pub fn nested(&self, name: impl Into<Arc<str>>) -> Nested<'_, S, R> {
        Nested::new(self, name.into())
    }

    /// Everything that was [launched](Self::launches) here and live below, in order, with what each launch costs at this
    /// distance. It serializes, so that an outside accountant can compose it again; what was launched in a part of the data
    /// is listed with its loss in that part.
    ///
    /// ```
    /// # use measures::{Basic, PrivacyMap, PureDp};
    /// # use odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// let query = Measurement::new("query", records, map, |_, _| Ok(42)).with_parameter("scale", 10);
    /// let session = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
    /// (0..2).try_for_each(|_| session.launch(&query).map(drop))?;
    /// assert_eq!(
    ///     serde_json::to_string(&session.ledger(1)?)?,
    ///     r#"[{"description":{"name":"query","parameters":[["scale","10"]]},"loss":"0.1","count":2}]"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::Map`] names a launch whose map does not know its loss at this distance; [`LaunchError::Unusable`].
    pub fn ledger(
        &self,
        d_in: impl Borrow<S::Distance>,
    ) -> Result<Vec<Charge<ChildLoss<R>>>, LaunchError> {
        self.usable()?;
        let charged = |(description, quote, count): Charged<ChildLoss<R>>| Charge {
            description: (*description).clone(),
            loss: match quote.leaf() {
                Some(loss) => loss.clone(),
                None => self.account.measure.zero(),
            },
            count,
        };
        Ok(self
            .charges(d_in.borrow())?
            .into_iter()
            .map(charged)
            .collect())
    }

    /// The loss of everything launched here and live below, between data sets at this distance: every child map is
    /// asked, and the losses are composed. Rounded up. It changes nothing, and stays the same between launches.
    ///
    /// A rule that is only a filter's has no running loss; ask what was [spent](Self::spent) of its budget:
    ///
    /// ```compile_fail,E0277
    /// # use measures::adaptive::WhitehouseFilter;
    /// # use odometer::{Odometer, Records};
    /// let rule = WhitehouseFilter::new("5e-7".parse().unwrap()).unwrap();
    /// let filter = Odometer::new(Records::<i64>::new(), rule).filter(1, "(1, 1e-6)").unwrap();
    /// filter.invoke(vec![]).unwrap().privacy_loss(1); // error: … use `spent()`
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::Map`] names a launch whose map does not know its loss at this distance (it may know others);
    /// [`LaunchError::Unusable`].
    pub fn privacy_loss(
        &self,
        d_in: impl Borrow<S::Distance>,
    ) -> Result<Total<TotalLoss<R>>, LaunchError>
    where
        R: Adaptive,
    {
        self.usable()?;
        self.account.loss(d_in.borrow())
    }
}

impl<S: Space, R: Adaptive> Session<S, R> {
    /// What [`privacy_loss`](Self::privacy_loss) would be after this launch: the cost before running.
    ///
    /// # Errors
    /// As [`privacy_loss`](Self::privacy_loss), and if the measurement does not fit the session.
    pub fn loss_after<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
        d_in: impl Borrow<S::Distance>,
    ) -> Result<Total<TotalLoss<R>>, LaunchError> {
        self.check(measurement.head())?;
        let (after, _) = self.after(measurement, d_in.borrow())?;
        self.account.ruled(move || self.account.rule.loss(&after))
    }

    fn after<A: 'static>(
        &self,
        measurement: &Measurement<S, R::Child, A>,
        d_in: &S::Distance,
    ) -> Result<(R::Tally, u64), LaunchError> {
        self.account.after(measurement.head().bill(), d_in)
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
        match self.account.over(measurement.head().bill(), d_in, budget) {
            Ok(refusal) => LaunchError::Refused(Box::new(refusal)),
            Err(error) => error,
        }
    }
}

impl<S: Space, R: Tallied> Clone for Session<S, R> {
    fn clone(&self) -> Self {
        Self {
            space: self.space.clone(),
            data: self.data.clone(),
            root: self.root.clone(),
            fuse: self.fuse.clone(),
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
