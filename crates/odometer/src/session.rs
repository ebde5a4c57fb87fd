//! Sessions: data under an account. A session launches measurements, of any answer type and any number, and every launch
//! is admitted and charged by all accounts above it before it runs.

use std::{cell::RefCell, fmt, sync::Arc};

use measures::{Adaptive, Conversion, FilterRule, Loss as _, Metric, Total, TotalLoss};
use queryable::{Root, Scope};

use crate::{
    account::{Account, Cap},
    bill::Bill,
    data::Data,
    error::LaunchError,
    link::Link,
    measurement::{Description, Measurement},
    nested::Nested,
    payer::{Bottom, Launch, Parent, Payer},
    questions::Charged,
    space::{Domain, Space},
    transformation::{Mismatch, Transformation},
};

/// How often an operation that depends on the total tries again when other launches come in between.
const TRIES: usize = 1000;

type ChildLoss<R> = measures::ChildLoss<R>;

/// Data under an account: an odometer that has been opened, or the answer of a filter.
///
/// A clone is the same session; it may be used from many threads. What it launches runs outside all locks. Sessions nest:
/// [`nest`](Self::nest) and [`nest_capped`](Self::nest_capped) open sessions on the same data whose launches are charged
/// here, too, as they happen; launching a [filter](crate::Odometer::filter) reserves its whole budget instead.
///
/// Only the analyst's side launches. From inside a measurement's function, a session that was opened outside refuses
/// ([`LaunchError::Unusable`]).
pub struct Session<D: Domain, MI: Metric, R: FilterRule> {
    space: Space<D, MI>,
    data: Data<D::Carrier>,
    root: Root,
    account: Arc<Account<MI, R>>,
}

impl<D: Domain, MI: Metric, R: FilterRule> Session<D, MI, R> {
    pub(crate) fn new(
        space: Space<D, MI>,
        data: Data<D::Carrier>,
        root: Root,
        account: Account<MI, R>,
    ) -> Self {
        Self {
            space,
            data,
            root,
            account: Arc::new(account),
        }
    }

    /// Launches a measurement: every account from here to the root, or to the filter that was launched in full, admits
    /// it; then all charge it; then it runs.
    ///
    /// # Errors
    /// [`LaunchError`]. Unless it [was charged](LaunchError::was_charged), everything is as it was and no data was read.
    pub fn launch<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
    ) -> Result<A, LaunchError> {
        self.launch_if(measurement, None, false)
    }

    fn launch_if<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
        launched: Option<u64>,
        tentative: bool,
    ) -> Result<A, LaunchError> {
        self.check(measurement)?;
        let launch = Launch {
            turns: RefCell::default(),
            count: 1,
            tentative,
        };
        self.account
            .settle(measurement.bill(), &launch, &Bottom { launched })?;
        let turns = launch.turns.into_inner();
        let run = |scope: &mut Scope<'_>| measurement.run(self.data.get()?, scope);
        self.root.run(turns, run).map_err(LaunchError::Failed)
    }

    /// May this be launched here at all? Says nothing about the budget.
    fn check<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
    ) -> Result<(), LaunchError> {
        measurement.check_fits(&self.root, &self.space, &self.account.measure)
    }

    /// Everything that was launched here and live below, in order: runs of one measurement with their length. For
    /// outside accountants.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn launches(&self) -> Result<Vec<(Arc<Description>, u64)>, LaunchError> {
        self.usable()?;
        Ok(self.account.launches())
    }

    /// The largest loss that one more launch could have at this distance: within this session's own cap and those above
    /// it that count at the same distance in the same measure. Rounded down. `None` if there is no such cap, if one of them
    /// admits nothing any more, or if its rule cannot tell. Where two caps leave losses that cannot be compared, the one
    /// closer to this session. What is left above a conversion or a transformation is not known here.
    ///
    /// Advice only, stale as soon as another thread launches: [`spend_rest`](Self::spend_rest) acts on it.
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn remaining(&self, d_in: &MI::Distance) -> Result<Option<ChildLoss<R>>, LaunchError> {
        self.usable()?;
        let mut least: Option<Option<ChildLoss<R>>> = None;
        Payer::remaining(&*self.account, d_in, &mut |remaining| {
            let tighter = match (&least, &remaining) {
                (None, _) | (Some(Some(_)), None) => true,
                (Some(None), _) => false,
                (Some(Some(least)), Some(remaining)) => remaining.at_most(least),
            };
            if tighter {
                least = Some(remaining);
            }
        })?;
        Ok(least.flatten())
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
    pub fn cap(&self) -> Option<(&MI::Distance, &TotalLoss<R>)> {
        self.account.cap().map(|cap| (&cap.d_in, &cap.limit))
    }

    /// Launches the measurement that `make` makes for all that [remains](Self::remaining) at this distance. One
    /// operation: if other launches come in between, `make` is asked again for what is left then.
    ///
    /// ```
    /// # use measures::{Basic, Epsilon, PrivacyMap, PureDp, SymmetricDistance};
    /// # use odometer::{Measurement, Odometer, Space};
    /// # let records = Space::any::<Vec<i64>>(SymmetricDistance);
    /// # let noop = move |epsilon: Epsilon| Measurement::new("noop", records, PrivacyMap::linear(SymmetricDistance, PureDp, epsilon), |_, _| Ok(()));
    /// let session = Odometer::new(records, Basic::new(PureDp)).filter(1, "1".parse()?)?.invoke(vec![])?;
    /// session.launch(&noop("0.7".parse()?))?;
    /// session.spend_rest(&1, |rest| noop(rest.clone()))?;
    /// assert_eq!(session.remaining(&1)?, Some("0".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`launch`](Self::launch), and [`LaunchError::Unsupported`] if nothing is known to remain.
    pub fn spend_rest<A: 'static>(
        &self,
        d_in: &MI::Distance,
        mut make: impl FnMut(&ChildLoss<R>) -> Measurement<D, MI, R::Child, A>,
    ) -> Result<A, LaunchError> {
        let mut rest = self.rest(d_in)?;
        for _ in 0..TRIES {
            let measurement = make(&rest);
            match self.launch_if(&measurement, None, true) {
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

    fn rest(&self, d_in: &MI::Distance) -> Result<ChildLoss<R>, LaunchError> {
        let unknown =
            || LaunchError::Unsupported(format!("nothing is known to remain at distance {d_in}"));
        self.remaining(d_in)?.ok_or_else(unknown)
    }

    /// Opens a session below this one in another measure. Every launch there is charged here with its own loss,
    /// converted.
    ///
    /// ```
    /// # use measures::{ApproxDp, Basic, PrivacyMap, PureDp, SymmetricDistance, convert::PureToApprox};
    /// # use odometer::{Measurement, Odometer, Space};
    /// # let records = Space::any::<Vec<i64>>(SymmetricDistance);
    /// # let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.1".parse()?);
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
    /// ```compile_fail,E0308
    /// # use measures::{Basic, GaussianDp, PrivacyMap, SymmetricDistance, adaptive::GaussianComposition};
    /// # use odometer::{Odometer, Space};
    /// # let records = Space::any::<Vec<i64>>(SymmetricDistance);
    /// let session = Odometer::new(records, GaussianComposition).open(vec![1, 2, 3]).unwrap();
    /// let total = session.privacy_loss(&1).unwrap();
    /// PrivacyMap::linear(SymmetricDistance, GaussianDp, total); // error: expected `Mu`, found `Total<Mu>`
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::TooDeep`], [`LaunchError::Unusable`], [`LaunchError::Measure`] if the conversion is for other
    /// parameters.
    pub fn nest_in<R2, C>(&self, rule: R2, conversion: C) -> Result<Session<D, MI, R2>, LaunchError>
    where
        R2: Adaptive,
        C: Conversion<From = R2::Child, To = R::Child>,
    {
        if conversion.to() != self.account.measure || conversion.from() != rule.child() {
            return Err(LaunchError::Measure {
                ours: format!("{:?} from {:?}", self.account.measure, rule.child()),
                theirs: format!("{:?} from {:?}", conversion.to(), conversion.from()),
            });
        }
        let parent: Parent<MI, R::Child> = self.account.clone();
        let link = Link::new(parent, move |bill: &Bill<MI, R2::Child>| {
            bill.converted(&conversion)
        });
        self.child(
            self.space.clone(),
            self.data.clone(),
            self.label(),
            rule,
            None,
            Arc::new(link),
        )
    }

    /// Opens a session below this one on transformed data. Every launch there is charged here with its own loss at the
    /// distance that the stability map gives. The data are transformed when the first launch needs them.
    ///
    /// # Errors
    /// [`LaunchError::Space`] if the transformation is for other data; [`LaunchError::TooDeep`],
    /// [`LaunchError::Unusable`].
    pub fn nest_after<D1: Domain, M1: Metric>(
        &self,
        transformation: &Transformation<D, MI, D1, M1>,
    ) -> Result<Session<D1, M1, R>, LaunchError> {
        Mismatch::check(&self.space, transformation.input()).map_err(
            |Mismatch { first, second }| LaunchError::Space {
                ours: first,
                theirs: second,
            },
        )?;
        let stable = transformation.clone();
        let stability: Arc<dyn Fn(&MI::Distance) -> _ + Send + Sync> =
            Arc::new(move |d_in: &_| stable.stability(d_in));
        let metric = self.space.metric.clone();
        let link = Link::new(self.payer(), move |bill: &Bill<M1, R::Child>| {
            bill.after(&metric, &stability)
        });
        let (before, transform) = (self.data.clone(), transformation.clone());
        let data = Data::derived(move || transform.apply(before.get()?));
        let space = transformation.output().clone();
        self.child(
            space,
            data,
            self.label(),
            self.account.rule.clone(),
            None,
            Arc::new(link),
        )
    }

    /// Charges launches that happened before, from a snapshot.
    pub(crate) fn charge_again(
        &self,
        bill: &Bill<MI, R::Child>,
        count: u64,
    ) -> Result<(), LaunchError> {
        let launch = Launch {
            turns: RefCell::default(),
            count,
            tentative: false,
        };
        self.account
            .settle(bill, &launch, &Bottom { launched: None })
    }

    /// Everything that was charged, at this distance.
    pub(crate) fn charges(
        &self,
        d_in: &MI::Distance,
    ) -> Result<Vec<Charged<ChildLoss<R>>>, LaunchError> {
        self.account.charges(d_in)
    }

    /// What was charged here and live below at this distance, for the rule.
    pub(crate) fn tally(&self, d_in: &MI::Distance) -> Result<R::Tally, LaunchError> {
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

    pub(crate) fn payer(&self) -> Parent<MI, R::Child> {
        self.account.clone()
    }

    pub(crate) fn data(&self) -> &Data<D::Carrier> {
        &self.data
    }

    pub(crate) fn rule(&self) -> &R {
        &self.account.rule
    }

    /// The space of the data.
    pub fn space(&self) -> &Space<D, MI> {
        &self.space
    }

    pub(crate) fn usable(&self) -> Result<(), LaunchError> {
        self.root.check().map_err(LaunchError::Unusable)
    }

    /// Opens a session whose launches are paid for by `payer`.
    pub(crate) fn child<D2: Domain, MI2: Metric, R2: FilterRule>(
        &self,
        space: Space<D2, MI2>,
        data: Data<D2::Carrier>,
        label: Arc<str>,
        rule: R2,
        cap: Option<Cap<MI2, R2>>,
        payer: Parent<MI2, R2::Child>,
    ) -> Result<Session<D2, MI2, R2>, LaunchError> {
        self.usable()?;
        let root = self.root.branch().map_err(LaunchError::Unusable)?;
        Ok(Session::new(
            space,
            data,
            root,
            Account::new(label, rule, cap, Some(payer))?,
        ))
    }

    /// Describes a session below this one, on the same data and with the same rule: [`Nested::open`] opens it.
    pub fn nested(&self, name: impl Into<Arc<str>>) -> Nested<'_, D, MI, R> {
        Nested::new(self, name.into())
    }

    /// Opens a session below this one that may spend at most `limit` at distance `d_in`, live: what it does not use costs
    /// nothing.
    ///
    /// # Errors
    /// [`LaunchError::Rule`] if the limit makes no budget; [`LaunchError::TooDeep`], [`LaunchError::Unusable`].
    pub fn nest_capped(
        &self,
        d_in: MI::Distance,
        limit: TotalLoss<R>,
    ) -> Result<Self, LaunchError> {
        self.nested(self.label()).capped(d_in, limit).open()
    }
}

impl<D: Domain, MI: Metric, R: Adaptive> Session<D, MI, R> {
    /// The loss of everything launched here and live below, between data sets at this distance: every child map is
    /// asked, and the losses are composed. Rounded up. It changes nothing, and stays the same between launches.
    ///
    /// # Errors
    /// [`LaunchError::Map`] names a launch whose map does not know its loss at this distance (it may know others);
    /// [`LaunchError::Unusable`].
    pub fn privacy_loss(&self, d_in: &MI::Distance) -> Result<Total<TotalLoss<R>>, LaunchError> {
        self.usable()?;
        self.account.loss(d_in)
    }

    /// What [`privacy_loss`](Self::privacy_loss) would be after this launch: the cost before running.
    ///
    /// # Errors
    /// As [`privacy_loss`](Self::privacy_loss), and if the measurement does not fit the session.
    pub fn loss_after<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
        d_in: &MI::Distance,
    ) -> Result<Total<TotalLoss<R>>, LaunchError> {
        self.check(measurement)?;
        let (after, _) = self.after(measurement, d_in)?;
        self.account.ruled(|| self.account.rule.loss(&after))
    }

    fn after<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
        d_in: &MI::Distance,
    ) -> Result<(R::Tally, u64), LaunchError> {
        self.account.after(measurement.bill(), d_in)
    }

    /// Launches if the loss at `d_in` stays within `limit` (and all caps admit it, as always). One operation: nothing can
    /// come in between.
    ///
    /// # Errors
    /// [`LaunchError::Refused`] if not; [`LaunchError::Contended`] if other launches came in between all the while;
    /// otherwise as [`launch`](Self::launch).
    pub fn launch_within<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
        d_in: &MI::Distance,
        limit: &TotalLoss<R>,
    ) -> Result<A, LaunchError> {
        self.check(measurement)?;
        for _ in 0..TRIES {
            let (after, launched) = self.after(measurement, d_in)?;
            let within = || self.account.rule.within(&after, limit);
            if !self.account.ruled(within)? {
                return Err(self.over(measurement, d_in, limit));
            }
            match self.launch_if(measurement, Some(launched), false) {
                Err(LaunchError::Contended) => {}
                other => return other,
            }
        }
        Err(LaunchError::Contended)
    }

    fn over<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, R::Child, A>,
        d_in: &MI::Distance,
        limit: &TotalLoss<R>,
    ) -> LaunchError {
        match self.account.over(measurement.bill(), d_in, limit) {
            Ok(refusal) => LaunchError::Refused(Box::new(refusal)),
            Err(error) => error,
        }
    }

    /// Opens a session below this one, on the same data and with the same rule, live: each launch there is charged here.
    ///
    /// # Errors
    /// [`LaunchError::TooDeep`], [`LaunchError::Unusable`].
    pub fn nest(&self) -> Result<Self, LaunchError> {
        self.nested(self.label()).open()
    }
}

impl<D: Domain, MI: Metric, R: FilterRule> Clone for Session<D, MI, R> {
    fn clone(&self) -> Self {
        Self {
            space: self.space.clone(),
            data: self.data.clone(),
            root: self.root.clone(),
            account: Arc::clone(&self.account),
        }
    }
}

/// Shows the name and the rule: never data, nor what was charged.
impl<D: Domain, MI: Metric, R: FilterRule> fmt::Debug for Session<D, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Session({}, {:?}, {:?})",
            self.account.label, self.space, self.account.rule
        )
    }
}
