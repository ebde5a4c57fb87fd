//! What a list of launches would cost, without launching it.

use std::{any::Any, fmt, sync::Arc};

use measures::{AnyLoss, ChildLoss, FilterRule, Known, Measure, Total, TotalLoss};

use crate::{
    account::Account,
    account::admission::Kind,
    account::plan::Copies,
    error::LaunchError,
    measurement::{Head, Measurement},
    session::Session,
    session::any::{AnySession, any_total, known_head},
    space::Space,
};

/// A dry run of a list of launches in order, made by [`Session::plan`]. It starts from what all accounts on the way to the
/// root were charged when it was made, and charges copies of them. A list over several sessions is planned by plans [beside](Self::beside)
/// each other. Nothing runs, and nobody else notices. Quotas and turns
/// are not looked at, and a refusal halts nothing.
///
/// ```
/// # use odometry::measures::{Basic, PrivacyMap, PureDp};
/// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
/// # let records = Records::<i64>::new();
/// # let costs = |loss: &str| Ok::<_, odometry::measures::LossError>(Measurement::new("query", records, PrivacyMap::per_record(PureDp, loss)?, |_, _| Ok(42)));
/// let session = Odometer::new(records, Basic::new(PureDp)).filter(1, "1")?.invoke(vec![1, 2, 3])?;
/// let (cheap, dear) = (costs("0.25")?, costs("0.6")?);
/// let mut plan = session.plan()?;
/// assert_eq!(plan.launch(&cheap)?, Some("0.25".parse()?));
/// plan.launch(&dear)?;
/// assert!(matches!(plan.launch(&dear), Err(LaunchError::Refused(_)))); // and the plan goes on without it
/// assert_eq!(plan.spent()?.unwrap().to_string(), "0.85");
/// assert_eq!(session.spent()?.unwrap().to_string(), "0"); // nothing has happened
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<S: Space, R: FilterRule> {
    session: Session<S, R>,
    copied: Arc<Account<S::Metric, R>>,
    copies: Copies,
}

impl<S: Space, R: FilterRule> Plan<S, R> {
    pub(crate) fn new(session: &Session<S, R>, copies: &Copies) -> Result<Self, LaunchError> {
        session.usable()?;
        Ok(Self {
            copied: session.account().copy(copies)?,
            session: session.clone(),
            copies: copies.clone(),
        })
    }

    /// A plan for another session, that counts together with this one: what is planned in either is charged to all accounts
    /// that they share.
    ///
    /// ```
    /// # use odometry::measures::{Basic, PrivacyMap, PureDp};
    /// # use odometry::odometer::{LaunchError, Measurement, Odometer, Records};
    /// # let records = Records::<i64>::new();
    /// # let query = Measurement::new("query", records, PrivacyMap::per_record(PureDp, "0.6")?, |_, _| Ok(42));
    /// let all = Odometer::new(records, Basic::new(PureDp)).filter(1, "1")?.invoke(vec![1, 2, 3])?;
    /// let (red, blue) = (all.nested("red").open()?, all.nested("blue").open()?);
    /// let mut plan = red.plan()?;
    /// let mut beside = plan.beside(&blue)?;
    /// plan.launch(&query)?;
    /// assert!(matches!(beside.launch(&query), Err(LaunchError::Refused(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::plan`].
    pub fn beside<T: Space, Q: FilterRule>(
        &self,
        session: &Session<T, Q>,
    ) -> Result<Plan<T, Q>, LaunchError> {
        Plan::new(session, &self.copies)
    }

    /// Would this be admitted next? Then it counts for what follows. The answer is what the session's own cap would charge,
    /// if it has one.
    ///
    /// # Errors
    /// As [`Session::launch`] before it charges. What is refused does not count.
    pub fn launch<A: 'static>(
        &mut self,
        measurement: &Measurement<S, R::Child, A>,
    ) -> Result<Option<ChildLoss<R>>, LaunchError> {
        self.launch_head(measurement.head())
    }

    fn launch_head(
        &mut self,
        head: &Head<S, R::Child>,
    ) -> Result<Option<ChildLoss<R>>, LaunchError> {
        self.session.check(head)?;
        let cost = match self.copied.cap() {
            Some(cap) => head.cost().charged_at(&cap.d_in)?.largest().cloned(),
            None => None,
        };
        self.copied.launch(head.cost(), Kind::Planned)?;
        Ok(cost)
    }

    /// How much of the session's own cap would be spent; `None` if it has none.
    ///
    /// # Errors
    /// As [`Session::spent`].
    pub fn spent(&self) -> Result<Option<Total<TotalLoss<R>>>, LaunchError> {
        self.session.usable()?;
        self.copied.spent()
    }
}

/// A [`Plan`] without its rule and its measure, made by [`AnySession::plan`].
pub struct AnyPlan<S: Space> {
    plan: Box<dyn Erased<S>>,
    copies: Copies,
}

/// The plans of a space, whatever their rules.
trait Erased<S: Space>: Send {
    /// Plans what has this head, a [`Head<S, M>`] of whatever measure.
    fn launch(
        &mut self,
        head: &dyn Any,
        measure: &dyn fmt::Debug,
    ) -> Result<Option<AnyLoss>, LaunchError>;
    fn spent(&self) -> Result<Option<Total<AnyLoss>>, LaunchError>;
}

impl<S: Space, R: FilterRule<Child: Known, Total: Known>> Erased<S> for Plan<S, R> {
    fn launch(
        &mut self,
        head: &dyn Any,
        measure: &dyn fmt::Debug,
    ) -> Result<Option<AnyLoss>, LaunchError> {
        let head = known_head(head, measure, self.session.rule())?;
        Ok(self.launch_head(head)?.map(R::Child::any_loss))
    }

    fn spent(&self) -> Result<Option<Total<AnyLoss>>, LaunchError> {
        Ok(self.spent()?.map(any_total::<R::Total>))
    }
}

impl<S: Space> AnyPlan<S> {
    pub(super) fn new<R: FilterRule<Child: Known, Total: Known>>(
        session: &Session<S, R>,
        copies: &Copies,
    ) -> Result<Self, LaunchError> {
        Ok(Self {
            plan: Box::new(Plan::new(session, copies)?),
            copies: copies.clone(),
        })
    }

    /// As [`Plan::beside`].
    ///
    /// # Errors
    /// As there.
    pub fn beside<T: Space>(&self, session: &AnySession<T>) -> Result<AnyPlan<T>, LaunchError> {
        session.plan_with(&self.copies)
    }

    /// As [`Plan::launch`].
    ///
    /// # Errors
    /// As there, and [`LaunchError::Measure`] for a measurement in another measure.
    pub fn launch<M: Measure, A: 'static>(
        &mut self,
        measurement: &Measurement<S, M, A>,
    ) -> Result<Option<AnyLoss>, LaunchError> {
        let head = measurement.head();
        self.plan.launch(head, head.measure())
    }

    /// As [`Plan::spent`].
    ///
    /// # Errors
    /// As there.
    pub fn spent(&self) -> Result<Option<Total<AnyLoss>>, LaunchError> {
        self.plan.spent()
    }
}
