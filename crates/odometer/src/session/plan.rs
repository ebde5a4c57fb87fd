//! What a list of launches would cost, without launching it.

use measures::{ChildLoss, FilterRule, Total, TotalLoss};

use crate::{
    account::planning::{Copied, Planned as _},
    error::LaunchError,
    measurement::Measurement,
    session::Session,
    space::Space,
};

/// A dry run of a list of launches in order, made by [`Session::plan`]. It starts from what all accounts on the way to the
/// root were charged when it was made, and charges copies of them. Nothing runs, and nobody else notices. Quotas and turns
/// are not looked at, and a refusal halts nothing.
///
/// ```
/// # use measures::{Basic, PrivacyMap, PureDp};
/// # use odometer::{LaunchError, Measurement, Odometer, Records};
/// # let records = Records::<i64>::new();
/// # let costs = |loss: &str| Ok::<_, measures::LossError>(Measurement::new("query", records, PrivacyMap::per_record(PureDp, loss)?, |_, _| Ok(42)));
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
    copied: Copied<S::Metric, R>,
}

impl<S: Space, R: FilterRule> Plan<S, R> {
    pub(crate) fn new(session: &Session<S, R>) -> Result<Self, LaunchError> {
        session.usable()?;
        Ok(Self {
            copied: Copied::new(session.account())?,
            session: session.clone(),
        })
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
        let head = measurement.head();
        self.session.check(head)?;
        self.copied.check(head.bill())?;
        let cost = self.copied.cost(head.bill())?;
        self.copied.commit();
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
