//! Sessions below sessions, on the same data and with the same rule.

use std::sync::Arc;

use measures::{FilterRule, IntoLoss, LossError, RuleError, TotalLoss};
use queryable::DEFAULT_MESSAGES;

use crate::{
    account::Cap,
    account::opening::Made,
    error::OpenError,
    journal::{Relation, Segment},
    session::Session,
    session::below::NamedSpot,
    space::Space,
};

/// A budget, or why its text was none.
type ParsedBudget<R> = Result<TotalLoss<R>, LossError>;

/// A session to be opened below another.
///
/// ```
/// # use odometry::measures::{Basic, PureDp};
/// # use odometry::odometer::{Odometer, Records};
/// # let records = Records::<i64>::new();
/// let organisation = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
/// let team = organisation.nested("team red").capped(1, "0.5").open()?;
/// assert_eq!(team.remaining(&1)?, Some("0.5".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a session is opened by `open`"]
pub struct Nested<'a, S: Space, R: FilterRule> {
    session: &'a Session<S, R>,
    label: Arc<str>,
    cap: Option<(S::Distance, ParsedBudget<R>)>,
    halting: bool,
    quota: Option<u32>,
}

impl<'a, S: Space, R: FilterRule> Nested<'a, S, R> {
    pub(crate) fn new(session: &'a Session<S, R>, label: Arc<str>) -> Self {
        Self {
            session,
            label,
            cap: None,
            halting: false,
            quota: None,
        }
    }

    /// It may spend at most `budget` at distance `d_in`. Text that is no loss is an error of [`open`](Self::open).
    pub fn capped(mut self, d_in: S::Distance, budget: impl IntoLoss<TotalLoss<R>>) -> Self {
        self.cap = Some((d_in, budget.into_loss()));
        self
    }

    /// After its cap's first refusal it refuses everything: the papers' halting form.
    pub fn halting(mut self) -> Self {
        self.halting = true;
        self
    }

    /// It lists this number of different measurements, and may use as many entries of the list above it: see
    /// [`Odometer::quota`](crate::Odometer::quota). Otherwise it lists as many as the session above, and may use a
    /// sixteenth of that session's list.
    pub fn quota(mut self, measurements: u32) -> Self {
        self.quota = Some(measurements);
        self
    }

    /// Opens it. On a ledger, a name that is open or was opened before is the same account, with all that it was charged.
    ///
    /// # Errors
    /// [`OpenError::Rule`] if the loss makes no budget; [`OpenError::TooDeep`], [`OpenError::Unusable`];
    /// [`OpenError::Journal`] on a ledger, if it was opened with other terms before.
    pub fn open(self) -> Result<Session<S, R>, OpenError> {
        let Self {
            session,
            label,
            cap,
            halting,
            quota,
        } = self;
        let rule = session.rule().clone();
        let cap: Option<Cap<S::Metric, R>> = match cap {
            Some((d_in, budget)) => {
                let budget = budget.map_err(RuleError::Loss)?;
                Some(Cap::new(&label, &rule, d_in, budget, halting)?)
            }
            None => None,
        };
        let spot = session.account().journaled().map(|above| NamedSpot {
            parent: above.place,
            segment: Segment::name(&*label),
            relation: Relation::Nested,
            distances: match &cap {
                Some(cap) => vec![cap.d_in.clone()],
                None => above.distances.clone(),
            },
        });
        let made = Made {
            label,
            rule,
            cap,
            quota: quota.unwrap_or_else(|| session.quota()),
            share: quota,
            messages: DEFAULT_MESSAGES,
            parent: Some(session.payer()),
            through: None,
            placed: None,
            sequential: false,
        };
        session.child_as_tenant(session.space().clone(), session.data().clone(), made, spot)
    }
}
