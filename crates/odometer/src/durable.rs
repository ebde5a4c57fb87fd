//! Roots of sessions on a ledger: opened by name, with all that was charged to them before.

use std::sync::Arc;

use measures::{Adaptive, FilterRule, IntoLoss, RuleError, TotalLoss};

use crate::{
    account::Cap,
    account::journaled::{Made, Spot},
    error::OpenError,
    journal::{Books, Relation, Segment},
    odometer::Odometer,
    session::Session,
    session::data::Data,
    session::watch::Fused,
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

    fn root_on(
        &self,
        books: &Books,
        d_in: S::Distance,
        cap: Option<Cap<S::Metric, R>>,
        data: S::Data,
    ) -> Result<Session<S, R>, OpenError> {
        let label = self.label();
        let root = books.root().map_err(OpenError::Unusable)?;
        let place = Fused::below(&root, &label, self.watch()).map_err(OpenError::Unusable)?;
        check_contains(self.space(), &data)?;
        let made = Made {
            label: Arc::clone(&label),
            rule: self.rule().clone(),
            cap,
            quota: self.most_measurements(),
            messages: self.most_messages(),
            parent: None,
        };
        let account = made.account_on(Spot {
            books,
            parent: None,
            segment: Segment::name(&*label),
            relation: Relation::Root,
            metric: self.space().metric(),
            distances: vec![d_in],
        })?;
        let data = Data::Here(Arc::new(data));
        Ok(Session::new(self.space().clone(), data, place, account))
    }
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
