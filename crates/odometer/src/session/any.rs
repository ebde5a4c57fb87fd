//! A session without its rule and its measure: for services that read both from a configuration.

use std::{any::Any, borrow::Borrow, fmt, sync::Arc};

use measures::{
    Adaptive, AnyLoss, AnyMeasure, FilterRule, Known, LossError, Measure, Rule, RuleError, Total,
    TotalLoss,
};

use crate::{
    account::admission::Kind,
    account::plan::Copies,
    account::questions::{Bookmark, Listed},
    error::{LaunchError, OpenError},
    launcher::{Run, answered},
    measurement::{Head, Measurement},
    remaining::Remaining,
    session::Session,
    session::plan::AnyPlan,
    space::Space,
};

/// A session whose measure and rule were chosen at run time. A clone is the same session. Everything is checked and charged as
/// by the [`Session`] that it was made from; a measurement in another measure is [`LaunchError::Measure`], uncharged.
///
/// ```
/// use odometry::measures::{AnyMeasure, Basic, PrivacyMap, PureDp, Zcdp};
/// use odometry::odometer::{AnySession, LaunchError, Measurement, Odometer, Records};
///
/// let records = Records::<i64>::new();
/// let configured: AnyMeasure = "pure".parse()?;
/// let session: AnySession<_> = match &configured {
///     AnyMeasure::Pure(measure) => Odometer::new(records, Basic::new(*measure)).open(vec![3, 1, 4])?.any(),
///     AnyMeasure::Zcdp(measure) => Odometer::new(records, Basic::new(*measure)).open(vec![3, 1, 4])?.any(),
///     other => return Err(format!("no rule for {other}").into()),
/// };
/// let team = session.nested("team red").capped(1, "0.15").open()?;
///
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// let query = Measurement::new("query", records, map, |data, _| Ok(data.len())); // yours adds noise
/// assert_eq!(team.launch(&query)?, 3);
/// assert!(matches!(team.launch(&query), Err(LaunchError::Refused(_))));
/// assert_eq!(session.privacy_loss(&1)?.to_string(), "0.1");
///
/// let other = Measurement::new("other", records, PrivacyMap::quadratic(Zcdp, "0.1")?, |_, _| Ok(()));
/// assert!(matches!(team.launch(&other), Err(LaunchError::Measure { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AnySession<S: Space>(Arc<dyn Erased<S>>);

/// The sessions of a space, whatever their rules.
trait Erased<S: Space>: Send + Sync {
    /// Launches what has this head, a [`Head<S, M>`] of whatever measure.
    fn sell(
        &self,
        head: &dyn Any,
        measure: &dyn fmt::Debug,
        run: &mut Run<'_, S>,
    ) -> Result<(), LaunchError>;
    fn measure(&self) -> AnyMeasure;
    fn loss(&self, d_in: &S::Distance) -> Result<Total<AnyLoss>, LaunchError>;
    fn spent(&self) -> Result<Option<Total<AnyLoss>>, LaunchError>;
    fn remaining(&self, d_in: &S::Distance) -> Result<Remaining<AnyLoss>, LaunchError>;
    fn page(&self, read: Bookmark, most: usize) -> Result<Page, LaunchError>;
    fn plan(&self, copies: &Copies) -> Result<AnyPlan<S>, LaunchError>;
    fn nest(&self, nested: AnyNested<'_, S>) -> Result<AnySession<S>, OpenError>;
    fn space(&self) -> &S;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

type Page = (Vec<Listed>, Bookmark);
type Loss<S, R> =
    fn(&Session<S, R>, &<S as Space>::Distance) -> Result<Total<TotalLoss<R>>, LaunchError>;

struct Desk<S: Space, R: FilterRule> {
    session: Session<S, R>,
    /// How to ask for the running loss, if the rule is more than a filter.
    loss: Option<Loss<S, R>>,
}

impl<S: Space, R: Adaptive<Child: Known, Total: Known>> Session<S, R> {
    /// This session without its measure and its rule.
    pub fn any(&self) -> AnySession<S> {
        AnySession::of(
            self.clone(),
            Some(|session, d_in| session.privacy_loss(d_in)),
        )
    }
}

impl<S: Space, R: FilterRule<Child: Known, Total: Known>> Session<S, R> {
    /// This session without its measure and its rule, which may be one that is only a filter's: it has
    /// [spent](AnySession::spent) something, but no running loss.
    pub fn any_filter(&self) -> AnySession<S> {
        AnySession::of(self.clone(), None)
    }
}

impl<S: Space> AnySession<S> {
    fn of<R: FilterRule<Child: Known, Total: Known>>(
        session: Session<S, R>,
        loss: Option<Loss<S, R>>,
    ) -> Self {
        Self(Arc::new(Desk { session, loss }))
    }

    /// As [`Session::launch`].
    ///
    /// # Errors
    /// As there, and [`LaunchError::Measure`] for a measurement in another measure.
    pub fn launch<M: Measure, A: 'static>(
        &self,
        measurement: &Measurement<S, M, A>,
    ) -> Result<A, LaunchError> {
        let head = measurement.head();
        answered(measurement, |run| self.0.sell(head, head.measure(), run))
    }

    /// The measure of what is launched here.
    pub fn measure(&self) -> AnyMeasure {
        self.0.measure()
    }

    /// As [`Session::privacy_loss`].
    ///
    /// # Errors
    /// As there, and [`LaunchError::OnlyFilter`] if the rule is only a filter's: ask what it has [spent](Self::spent).
    pub fn privacy_loss(
        &self,
        d_in: impl Borrow<S::Distance>,
    ) -> Result<Total<AnyLoss>, LaunchError> {
        self.0.loss(d_in.borrow())
    }

    /// As [`Session::spent`].
    ///
    /// # Errors
    /// As there.
    pub fn spent(&self) -> Result<Option<Total<AnyLoss>>, LaunchError> {
        self.0.spent()
    }

    /// As [`Session::remaining`].
    ///
    /// # Errors
    /// As there.
    pub fn remaining(
        &self,
        d_in: impl Borrow<S::Distance>,
    ) -> Result<Remaining<AnyLoss>, LaunchError> {
        self.0.remaining(d_in.borrow())
    }

    /// As [`Session::launches_after`].
    ///
    /// # Errors
    /// As there.
    pub fn launches_after(&self, read: Bookmark, most: usize) -> Result<Page, LaunchError> {
        self.0.page(read, most)
    }

    /// As [`Session::plan`].
    ///
    /// # Errors
    /// As there.
    pub fn plan(&self) -> Result<AnyPlan<S>, LaunchError> {
        self.plan_with(&Copies::default())
    }

    pub(super) fn plan_with(&self, copies: &Copies) -> Result<AnyPlan<S>, LaunchError> {
        self.0.plan(copies)
    }

    /// As [`Session::nested`].
    pub fn nested(&self, name: impl Into<Arc<str>>) -> AnyNested<'_, S> {
        AnyNested {
            session: self,
            name: name.into(),
            cap: None,
            halting: false,
            quota: None,
        }
    }

    /// The space of the data.
    pub fn space(&self) -> &S {
        self.0.space()
    }
}

/// The budget of an [`AnyNested`] session: a loss or its text, whose measure only the session knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Budget {
    /// A loss, of the measure of the session's totals.
    Loss(AnyLoss),
    /// The text of one.
    Text(String),
}

impl From<AnyLoss> for Budget {
    fn from(loss: AnyLoss) -> Self {
        Self::Loss(loss)
    }
}

impl From<&str> for Budget {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Budget {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Budget {
    /// The budget as a loss of this measure.
    fn read<M: Known>(self, measure: &M) -> Result<M::Loss, LossError> {
        let loss = match self {
            Self::Loss(loss) => loss,
            Self::Text(text) => measure.any().loss(&text)?,
        };
        measure.known_loss(&loss)
    }
}

/// A session below an [`AnySession`], to be opened: as [`Nested`](crate::Nested).
#[must_use = "it is opened by `open`"]
pub struct AnyNested<'a, S: Space> {
    session: &'a AnySession<S>,
    name: Arc<str>,
    cap: Option<(S::Distance, Budget)>,
    halting: bool,
    quota: Option<u32>,
}

impl<S: Space> AnyNested<'_, S> {
    /// It may spend at most `budget` at distance `d_in`: a loss, or text that is read in the measure of the session's totals.
    pub fn capped(mut self, d_in: S::Distance, budget: impl Into<Budget>) -> Self {
        self.cap = Some((d_in, budget.into()));
        self
    }

    /// After its cap's first refusal it refuses everything: the papers' halting form.
    pub fn halting(mut self) -> Self {
        self.halting = true;
        self
    }

    /// It lists at most so many different measurements.
    pub fn quota(mut self, measurements: u32) -> Self {
        self.quota = Some(measurements);
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// As [`Nested::open`](crate::Nested::open), and [`OpenError::Rule`] for a budget in another measure, or text that is none.
    pub fn open(self) -> Result<AnySession<S>, OpenError> {
        let session = self.session;
        session.0.nest(self)
    }
}

impl<S: Space, R: FilterRule<Child: Known, Total: Known>> Erased<S> for Desk<S, R> {
    fn sell(
        &self,
        head: &dyn Any,
        measure: &dyn fmt::Debug,
        run: &mut Run<'_, S>,
    ) -> Result<(), LaunchError> {
        let head = known_head(head, measure, self.session.rule())?;
        self.session.launch_and_run(Kind::Plain, head, run)
    }

    fn measure(&self) -> AnyMeasure {
        self.session.rule().child().any()
    }

    fn loss(&self, d_in: &S::Distance) -> Result<Total<AnyLoss>, LaunchError> {
        let only_filter = || LaunchError::OnlyFilter {
            account: self.session.label().to_string(),
        };
        let loss = self.loss.ok_or_else(only_filter)?;
        loss(&self.session, d_in).map(any_total::<R::Total>)
    }

    fn spent(&self) -> Result<Option<Total<AnyLoss>>, LaunchError> {
        Ok(self.session.spent()?.map(any_total::<R::Total>))
    }

    fn remaining(&self, d_in: &S::Distance) -> Result<Remaining<AnyLoss>, LaunchError> {
        Ok(self.session.remaining(d_in)?.map(R::Child::any_loss))
    }

    fn page(&self, read: Bookmark, most: usize) -> Result<Page, LaunchError> {
        self.session.launches_after(read, most)
    }

    fn plan(&self, copies: &Copies) -> Result<AnyPlan<S>, LaunchError> {
        AnyPlan::new(&self.session, copies)
    }

    fn nest(&self, nested: AnyNested<'_, S>) -> Result<AnySession<S>, OpenError> {
        let mut below = self.session.nested(nested.name);
        if let Some((d_in, budget)) = nested.cap {
            let budget = budget.read(&self.session.rule().total());
            below = below.capped(d_in, budget.map_err(RuleError::Loss)?);
        }
        if nested.halting {
            below = below.halting();
        }
        if let Some(quota) = nested.quota {
            below = below.quota(quota);
        }
        Ok(AnySession::of(below.open()?, self.loss))
    }

    fn space(&self) -> &S {
        self.session.space()
    }

    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.session, f)
    }
}

/// What is sold by a session with this rule, if it is in its measure.
pub(super) fn known_head<'a, S: Space, R: Rule>(
    head: &'a dyn Any,
    measure: &dyn fmt::Debug,
    rule: &R,
) -> Result<&'a Head<S, R::Child>, LaunchError> {
    let foreign = || LaunchError::Measure {
        ours: format!("{:?}", rule.child()),
        theirs: format!("{measure:?}"),
    };
    head.downcast_ref().ok_or_else(foreign)
}

pub(super) fn any_total<M: Known>(total: Total<M::Loss>) -> Total<AnyLoss> {
    Total::new(M::any_loss(total.bound().clone()))
}

impl<S: Space> Clone for AnySession<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Shows the name and the rule: never data, nor what was charged.
impl<S: Space> fmt::Debug for AnySession<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(f)
    }
}
