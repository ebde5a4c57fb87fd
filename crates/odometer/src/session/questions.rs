//! Questions to a session: what was launched, what it costs, what remains. Nothing is charged, halted or run.

use std::borrow::Borrow;

use measures::{Adaptive, ChildLoss, FilterRule, Measure as _, Tallied, Total, TotalLoss};
use serde::{Deserialize, Serialize};

use super::{Session, plan::Plan};
use crate::{
    account::Payer,
    account::plan::Copies,
    account::questions::{Bookmark, Charged, Listed},
    error::LaunchError,
    measurement::{Description, Measurement},
    remaining::Remaining,
    space::Space,
};

/// The launches of one measurement, and what each was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge<L> {
    /// What was launched.
    pub description: Description,
    /// The loss of one launch.
    pub loss: L,
    /// How many launches.
    pub count: u64,
}

impl<S: Space, R: Tallied> Session<S, R> {
    /// Every different measurement that was launched here and live below, in the order of first launches, with its count.
    /// For outside accountants. It is read a little at a time, so that launches go on meanwhile; very long lists are
    /// better taken in [pages](Self::launches_after).
    ///
    /// # Errors
    /// [`LaunchError::Unusable`].
    pub fn launches(&self) -> Result<Vec<Listed>, LaunchError> {
        self.usable()?;
        Ok(self.account.launches())
    }

    /// The names of the accounts from the root, or from a filter that was launched in full, to this session's: what tells
    /// lists of launches apart that were read in different sessions.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PureDp};
    /// # use odometry::odometer::{Odometer, Records};
    /// let session = Odometer::new(Records::<i64>::new(), Basic::new(PureDp)).named("all").open(vec![1, 2, 3])?;
    /// assert_eq!(session.nested("team red").open()?.path(), ["all", "team red"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path(&self) -> Vec<String> {
        Payer::path(&*self.account)
    }

    /// A page of what was [launched](Self::launches): up to `most` measurements after those that were read before, with
    /// their counts, and a bookmark from which to read on. There are none left when the page is empty. A measurement is
    /// listed where it was launched first: to see that its count has grown, read from the beginning again.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let map = PrivacyMap::per_record(PureDp, "0.1")?;
    /// # let query = Measurement::new("query", records, map, |_, _| Ok(42));
    /// use odometry::odometer::Bookmark;
    /// let session = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
    /// (0..2).try_for_each(|_| session.launch(&query).map(drop))?;
    /// let (page, read) = session.launches_after(Bookmark::default(), 100)?;
    /// assert_eq!(page[0].1, 2);
    /// session.launch(&query.clone().named("another"))?;
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
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
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
}

impl<S: Space, R: FilterRule> Session<S, R> {
    /// A dry run of several launches, from what was charged up to now. See [`Plan`].
    ///
    /// # Errors
    /// [`LaunchError::Unusable`], [`LaunchError::RulePanicked`].
    pub fn plan(&self) -> Result<Plan<S, R>, LaunchError> {
        Plan::new(self, &Copies::default())
    }

    /// Everything that was [launched](Self::launches) here and live below, with what each launch costs at this
    /// distance. It serializes, so that an outside accountant can compose it again; what was launched in a part of the data
    /// is listed with its loss in that part.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{Measurement, Odometer, Records};
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
        let charged = |(description, cost, count): Charged<ChildLoss<R>>| Charge {
            description: (*description).clone(),
            loss: match cost.largest() {
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
    /// # use odometry::measures::adaptive::WhitehouseFilter;
    /// # use odometry::odometer::{Odometer, Records};
    /// let rule = WhitehouseFilter::new("5e-7").unwrap();
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
}
