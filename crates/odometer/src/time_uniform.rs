//! Time-uniform odometers (seed 004 Def 3.1): another guarantee than that of [`Odometer`](crate::Odometer), and so other
//! types, which cannot be nested, capped or charged to accounts of the first kind.

use std::{fmt, sync::Arc};

use measures::{
    FilterRule, Metric, PureDp, Rule, RuleError, Tallied, TimeUniform, Total, TotalLoss,
};
use queryable::Root;

use crate::{
    account::Account,
    data::Data,
    error::LaunchError,
    measurement::{Description, Measurement},
    session::Session,
    space::{Domain, Space},
};

/// An odometer whose bound on the *realized* loss holds at all rounds at once, with the probability that its rule states.
///
/// Its launches are purely private (004 Lemma 3.5 is wrong otherwise) and sequential.
///
/// ```
/// use measures::adaptive::{RogersOdometer, TimeUniformRogers};
/// use measures::{PrivacyMap, PureDp, SymmetricDistance};
/// use odometer::{Measurement, Space, TimeUniformOdometer};
/// let records = Space::any::<Vec<i64>>(SymmetricDistance);
/// let map = PrivacyMap::linear(SymmetricDistance, PureDp, "0.01".parse()?);
/// let query = Measurement::new("query", records, map, |_, _| Ok(42));
///
/// let rule = TimeUniformRogers::new(RogersOdometer::new("1e-6".parse()?, 1 << 20)?);
/// let session = TimeUniformOdometer::new(records, rule).open(vec![1, 2, 3])?;
/// for _ in 0..1000 {
///     session.launch(&query)?;
/// }
/// assert!(session.bound(&1)?.at_most(&"(3.5, 1e-6)".parse()?)); // basic composition: 10
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TimeUniformOdometer<D: Domain, MI: Metric, R: TimeUniform> {
    space: Space<D, MI>,
    rule: R,
}

impl<D: Domain, MI: Metric, R: TimeUniform> TimeUniformOdometer<D, MI, R> {
    /// An odometer on these data with this rule.
    pub fn new(space: Space<D, MI>, rule: R) -> Self {
        Self { space, rule }
    }

    /// Opens a session on data, with coins from the operating system.
    ///
    /// # Errors
    /// [`LaunchError::NotInDomain`]; [`LaunchError::Unusable`] without entropy, or inside a step.
    pub fn open(&self, data: D::Carrier) -> Result<TimeUniformSession<D, MI, R>, LaunchError> {
        self.open_in(
            &Root::from_os().map_err(LaunchError::Unusable)?,
            Arc::new(data),
        )
    }

    /// Opens a session on data, with coins of your choice.
    ///
    /// # Errors
    /// [`LaunchError::NotInDomain`]; [`LaunchError::Unusable`] if the root is somebody else's.
    pub fn open_in(
        &self,
        root: &Root,
        data: Arc<D::Carrier>,
    ) -> Result<TimeUniformSession<D, MI, R>, LaunchError> {
        let root = root.branch().map_err(LaunchError::Unusable)?;
        self.space.check_contains(&data)?;
        let account = Account::new(
            "the session".into(),
            Realized(self.rule.clone()),
            None,
            None,
        )?;
        Ok(TimeUniformSession(Session::new(
            self.space.clone(),
            Data::Here(data),
            root,
            account,
        )))
    }
}

/// Data under a time-uniform account.
pub struct TimeUniformSession<D: Domain, MI: Metric, R: TimeUniform>(Session<D, MI, Realized<R>>);

impl<D: Domain, MI: Metric, R: TimeUniform> TimeUniformSession<D, MI, R> {
    /// Charges and runs a measurement.
    ///
    /// # Errors
    /// As [`Session::launch`].
    pub fn launch<A: 'static>(
        &self,
        measurement: &Measurement<D, MI, PureDp, A>,
    ) -> Result<A, LaunchError> {
        self.0.launch(measurement)
    }

    /// A bound on the realized loss between data at this distance, that held at every round so far with the probability
    /// that the rule states. Rounded up.
    ///
    /// # Errors
    /// As [`Session::privacy_loss`].
    pub fn bound(&self, d_in: &MI::Distance) -> Result<Total<TotalLoss<R>>, LaunchError> {
        let tally = self.0.tally(d_in)?;
        self.0.ruled(|| self.0.rule().0.bound(&tally))
    }

    /// Everything that was launched, in order.
    ///
    /// # Errors
    /// As [`Session::launches`].
    pub fn launches(&self) -> Result<Vec<(Arc<Description>, u64)>, LaunchError> {
        self.0.launches()
    }
}

impl<D: Domain, MI: Metric, R: TimeUniform> Clone for TimeUniformSession<D, MI, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D: Domain, MI: Metric, R: TimeUniform> fmt::Debug for TimeUniformSession<D, MI, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeUniform{:?}", self.0)
    }
}

/// Lets a time-uniform rule keep an account. It admits no budget, so it makes no filter.
#[derive(Clone, Debug)]
struct Realized<R>(R);

impl<R: TimeUniform> Rule for Realized<R> {
    type Child = PureDp;
    type Total = R::Total;

    fn child(&self) -> PureDp {
        self.0.child()
    }

    fn total(&self) -> R::Total {
        self.0.total()
    }
}

impl<R: TimeUniform> Tallied for Realized<R> {
    type Tally = R::Tally;

    fn start(&self) -> R::Tally {
        self.0.start()
    }
}

impl<R: TimeUniform> FilterRule for Realized<R> {
    type Gate = ();

    fn open(&self, budget: &TotalLoss<Self>) -> Result<(), RuleError> {
        Err(RuleError::budget(
            budget,
            "a time-uniform rule makes no filter",
        ))
    }

    fn fits(&self, (): &(), _: &R::Tally) -> bool {
        false
    }

    fn remaining(&self, (): &(), _: &R::Tally) -> Option<measures::ChildLoss<Self>> {
        None
    }

    fn spent(&self, (): &(), tally: &R::Tally) -> Total<TotalLoss<Self>> {
        self.0.bound(tally)
    }
}
