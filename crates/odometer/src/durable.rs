//! Roots of sessions on a ledger: opened by name, with all that was charged to them before.

use std::sync::Arc;

use measures::{Adaptive, FilterRule, IntoLoss, Metric, RuleError, Tallied, TotalLoss};
use queryable::{AskError, guarded};

use crate::{
    account::Cap,
    account::opening::{Made, Spot},
    error::OpenError,
    journal::{Books, Place, Relation, Segment},
    measurement::Reserved,
    odometer::Odometer,
    session::Data,
    session::Session,
    session::watch::DataRoot,
    space::{Space, check_contains},
};

impl<S: Space, R: FilterRule> Odometer<S, R> {
    /// Opens a session with a budget on a ledger, under this odometer's [name](Self::named): the one that is there, with all
    /// that it was charged, or a new one. Every launch in it and below is written down before it runs. Whoever opens it again
    /// vouches that the data are the same.
    ///
    /// Coins are the operating system's: a seeded root would give the same noise again after a restart. See [`Books`].
    ///
    /// # Errors
    /// [`OpenError::Journal`] if it is there with other terms, or cannot be written down; otherwise as
    /// [`filter`](Self::filter) and [`open`](Self::open).
    pub fn filter_on(
        &self,
        books: &Books,
        d_in: S::Distance,
        budget: impl IntoLoss<TotalLoss<R>>,
        data: S::Data,
    ) -> Result<Session<S, R>, OpenError> {
        let budget = budget.into_loss().map_err(RuleError::Loss)?;
        let (label, rule) = (self.label(), self.rule());
        let cap = Cap::new(&label, rule, d_in.clone(), budget, self.is_halting())?;
        self.root_on(books, d_in, Some(cap), data)
    }

    /// What its filter does on a ledger.
    pub(crate) fn reserved(
        &self,
        d_in: S::Distance,
        cap: Cap<S::Metric, R>,
    ) -> Reserved<S::Data, Session<S, R>> {
        let (odometer, opened) = (self.clone(), self.clone());
        let (at, capped) = (d_in.clone(), cap.clone());
        Reserved::new(
            move |books: &Books, above| {
                let account = odometer.made(Some(cap.clone())).account()?;
                account.opening(&odometer.spot(books, Some(above), d_in.clone()))
            },
            move |data: &Arc<S::Data>, scope, (books, above)| {
                let place = DataRoot::below(&scope.root()?, &opened.label(), opened.watch())?;
                let spot = opened.spot(books, Some(above), at.clone());
                let account = opened.made(Some(capped.clone())).account_on(spot);
                let account = account.map_err(|error| AskError::failed(error.to_string()))?;
                let root = account.root_below(&place.root)?;
                let place = DataRoot { root, ..place };
                let data = Data::Here(Arc::clone(data));
                Ok(Session::new(opened.space().clone(), data, place, account))
            },
        )
    }

    fn made(&self, cap: Option<Cap<S::Metric, R>>) -> Made<S::Metric, R> {
        Made {
            label: self.label(),
            rule: self.rule().clone(),
            cap,
            quota: self.most_measurements(),
            share: None,
            messages: self.most_messages(),
            parent: None,
            through: None,
            placed: None,
            sequential: false,
        }
    }

    /// A root, or a filter that was launched in the account above.
    fn spot<'a>(
        &'a self,
        books: &'a Books,
        above: Option<Place>,
        d_in: S::Distance,
    ) -> Spot<'a, S::Metric> {
        Spot {
            books,
            parent: above,
            segment: Segment::name(&*self.label()),
            relation: match above {
                None => Relation::Root,
                Some(_) => Relation::Reserved,
            },
            metric: self.space().metric(),
            distances: vec![d_in],
            messages: None,
        }
    }

    fn root_on(
        &self,
        books: &Books,
        d_in: S::Distance,
        cap: Option<Cap<S::Metric, R>>,
        data: S::Data,
    ) -> Result<Session<S, R>, OpenError> {
        let label = self.label();
        let root = books.root().map_err(OpenError::Unusable)?;
        let place = DataRoot::below(&root, &label, self.watch()).map_err(OpenError::Unusable)?;
        let spot = || self.spot(books, None, d_in.clone());
        check_names(self.made(cap.clone()), &spot())?;
        check_contains(self.space(), &data)?;
        let account = self.made(cap).account_on(spot())?;
        let data = Data::Here(Arc::new(data));
        Ok(Session::new(self.space().clone(), data, place, account))
    }
}

/// Could an account be opened here? That depends on no data, so it is asked before data are looked at; and then they are, before
/// it is opened.
pub(crate) fn check_names<MI: Metric, R: Tallied>(
    made: Made<MI, R>,
    spot: &Spot<'_, MI>,
) -> Result<(), OpenError> {
    let account = made.account()?;
    let checked = account.opening(spot).map(drop);
    // Its tally is somebody's.
    let _ = guarded(|| drop(account));
    checked
}

impl<S: Space, R: Adaptive> Odometer<S, R> {
    /// Opens a session without a budget on a ledger, as [`filter_on`](Self::filter_on). Charges are written down at the
    /// distance `d_in`, and with the forms of their maps: after a restart the loss is exact there, and everywhere else where
    /// maps have a [form](measures::Form); what is only a function counts as infinite beyond `d_in`.
    ///
    /// # Errors
    /// As [`filter_on`](Self::filter_on).
    pub fn open_on(
        &self,
        books: &Books,
        d_in: S::Distance,
        data: S::Data,
    ) -> Result<Session<S, R>, OpenError> {
        self.root_on(books, d_in, None, data)
    }
}
