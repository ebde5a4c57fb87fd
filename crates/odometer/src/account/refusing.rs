//! Why an account does not admit a launch, in words. Nothing is locked when they are found.

use std::sync::Arc;

use measures::{ChildLoss, Loss as _, Measure as _, Metric, Tallied, Total, TotalLoss};

use crate::{
    account::Account,
    account::bill::Quote,
    account::settling::{Demand, Payer as _},
    account::tallies::Contradiction,
    error::LaunchError,
    measurement::Description,
    refusal::{Refusal, RefusedLosses, Typed},
};

/// Why an account does not admit a launch.
pub(crate) enum Refused<T> {
    /// Too little is left; this much was spent.
    Over(T),
    Halted,
    Contradiction,
    /// The account has moved on since the question was prepared.
    Moved,
    /// There is no room for another measurement.
    Full,
}

/// What was to be launched, and its price if it has one.
type Asking<'a, R> = (&'a Arc<Description>, Option<&'a Quote<ChildLoss<R>>>);

impl<T> Refused<T> {
    #[cold]
    pub(super) fn boxed(self) -> Box<Self> {
        Box::new(self)
    }
}

impl From<Contradiction> for LaunchError {
    fn from(Contradiction: Contradiction) -> Self {
        Self::Contradiction
    }
}

impl<MI: Metric, R: Tallied> Account<MI, R> {
    /// Asks the rule, so it may panic.
    #[cold]
    pub(super) fn explain(
        &self,
        refused: Refused<R::Tally>,
        demand: &Demand<'_, '_, MI, R>,
    ) -> Box<LaunchError> {
        let account = self.label.to_string();
        Box::new(match (refused, &self.cap) {
            (Refused::Over(spent), Some(cap)) => {
                let remaining = cap.gate.remaining(&spent);
                let spent = cap.gate.spent(&spent);
                let launch = (demand.bill.description(), demand.quote);
                let budget = (&cap.d_in, &cap.budget);
                LaunchError::Refused(Box::new(self.refusal(launch, budget, remaining, spent)))
            }
            (Refused::Full, _) => LaunchError::LedgerFull {
                account,
                quota: self.quota,
            },
            (Refused::Moved, _) => LaunchError::Contended,
            (Refused::Contradiction, _) => Contradiction.into(),
            (Refused::Halted | Refused::Over(_), _) => LaunchError::Halted { account },
        })
    }

    /// A launch, with what it costs, over a budget at a distance.
    pub(crate) fn refusal(
        &self,
        (launch, quote): Asking<'_, R>,
        (d_in, budget): (&MI::Distance, &TotalLoss<R>),
        remaining: Option<ChildLoss<R>>,
        spent: Total<TotalLoss<R>>,
    ) -> Refusal {
        let asked = quote.and_then(Quote::leaf);
        Refusal {
            account: self.label.to_string(),
            path: self.path(),
            measure: format!("{:?}", self.rule.total()),
            launch: launch.to_string(),
            d_in: d_in.to_string(),
            asked: asked.map_or_else(String::new, ToString::to_string),
            spent: spent.to_string(),
            remaining: remaining.as_ref().map(|loss| loss.shown_down()),
            budget: budget.shown_down(),
            typed: Typed::new(RefusedLosses {
                asked: asked.map_or_else(|| self.measure.infinity(), Clone::clone),
                spent,
                remaining,
                budget: budget.clone(),
            }),
        }
    }
}
