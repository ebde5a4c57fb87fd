//! A cap: a budget at a distance.

use std::sync::Arc;

use measures::{ChildLoss, FilterRule, Metric, Tallied, Total, TotalLoss};
use queryable::guarded;

use crate::error::OpenError;

pub(crate) struct Cap<MI: Metric, R: Tallied> {
    pub(crate) d_in: MI::Distance,
    pub(crate) budget: TotalLoss<R>,
    pub(super) solved: Arc<dyn SolvedBudget<R>>,
    /// The halting form of the papers: no launch after a refusal.
    pub(crate) halting: bool,
}

impl<MI: Metric, R: FilterRule> Cap<MI, R> {
    pub(crate) fn new(
        account: &str,
        rule: &R,
        d_in: MI::Distance,
        budget: TotalLoss<R>,
        halting: bool,
    ) -> Result<Self, OpenError> {
        let open = guarded(|| Ok(Opened(rule.clone(), rule.open(&budget)?)));
        let panicked = |_| OpenError::RulePanicked {
            account: account.into(),
        };
        let solved: Result<_, OpenError> = open.map_err(panicked)?;
        Ok(Self {
            d_in,
            budget,
            solved: Arc::new(solved?),
            halting,
        })
    }
}

impl<MI: Metric, R: Tallied> Clone for Cap<MI, R> {
    fn clone(&self) -> Self {
        Self {
            d_in: self.d_in.clone(),
            budget: self.budget.clone(),
            solved: Arc::clone(&self.solved),
            halting: self.halting,
        }
    }
}

/// A rule with a budget, as [`FilterRule`]. An account without a cap needs none, so its rule may be
/// of another kind.
pub(super) trait SolvedBudget<R: Tallied>: Send + Sync {
    fn fits(&self, tally: &R::Tally) -> bool;
    fn remaining(&self, tally: &R::Tally) -> Option<ChildLoss<R>>;
    fn spent(&self, tally: &R::Tally) -> Total<TotalLoss<R>>;
}

struct Opened<R: FilterRule>(R, R::Gate);

impl<R: FilterRule> SolvedBudget<R> for Opened<R> {
    #[inline]
    fn fits(&self, tally: &R::Tally) -> bool {
        self.0.fits(&self.1, tally)
    }

    fn remaining(&self, tally: &R::Tally) -> Option<ChildLoss<R>> {
        self.0.remaining(&self.1, tally)
    }

    fn spent(&self, tally: &R::Tally) -> Total<TotalLoss<R>> {
        self.0.spent(&self.1, tally)
    }
}
