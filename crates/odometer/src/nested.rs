//! Sessions below sessions, on the same data and with the same rule.

use std::sync::Arc;

use measures::{FilterRule, Metric, TotalLoss};

use crate::{account::Cap, error::LaunchError, session::Session, space::Domain};

/// A session to be opened below another.
///
/// ```
/// # use measures::{Basic, PureDp, SymmetricDistance};
/// # use odometer::{Odometer, Space};
/// # let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// let organisation = Odometer::new(records, Basic::new(PureDp)).open(vec![1, 2, 3])?;
/// let team = organisation.nested("team red").capped(1, "0.5".parse()?).open()?;
/// assert_eq!(team.remaining(&1)?, Some("0.5".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a session is opened by `open`"]
pub struct Nested<'a, D: Domain, MI: Metric, R: FilterRule> {
    session: &'a Session<D, MI, R>,
    label: Arc<str>,
    cap: Option<(MI::Distance, TotalLoss<R>)>,
    halting: bool,
}

impl<'a, D: Domain, MI: Metric, R: FilterRule> Nested<'a, D, MI, R> {
    pub(crate) fn new(session: &'a Session<D, MI, R>, label: Arc<str>) -> Self {
        Self {
            session,
            label,
            cap: None,
            halting: false,
        }
    }

    /// It may spend at most `limit` at distance `d_in`.
    pub fn capped(mut self, d_in: MI::Distance, limit: TotalLoss<R>) -> Self {
        self.cap = Some((d_in, limit));
        self
    }

    /// After its cap's first refusal it refuses everything: the papers' halting form.
    pub fn halting(mut self) -> Self {
        self.halting = true;
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// [`LaunchError::Rule`] if the limit makes no budget; [`LaunchError::TooDeep`], [`LaunchError::Unusable`].
    pub fn open(self) -> Result<Session<D, MI, R>, LaunchError> {
        let Self {
            session,
            label,
            cap,
            halting,
        } = self;
        let rule = session.rule().clone();
        let cap = cap
            .map(|(d_in, limit)| Cap::new(&label, &rule, d_in, limit, halting))
            .transpose()?;
        session.child(
            session.space().clone(),
            session.data().clone(),
            label,
            rule,
            cap,
            session.payer(),
        )
    }
}
