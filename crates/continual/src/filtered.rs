//! Losses chosen adaptively, within a budget fixed in advance.

use measures::{ChildLoss, FilterRule, IntoLoss, Loss as _, RuleError, Tally as _, TotalLoss};

use crate::{
    allowance::Allowance,
    certified::Certificate,
    error::{AllowanceError, PriceError},
    slots::concurrent,
};

/// A filter over continual mechanisms: which are created, and at which loss, may depend on answers; one that would pass the
/// budget is refused (\[HSV25\] Def 12.2, Thm 12.4 for (ε, δ); Cor 13.8 for Rényi and zCDP; Cor 14.10 for Gaussian privacy).
/// The price is the budget.
///
/// The rule must be a filter's: one for losses fixed in advance is not accepted, nor one whose children must be asked one
/// after the other. Thm 12.4 asks for countable answers and ε > 0, or finite communication, which
/// [`ExtConComp`](crate::ExtConComp) keeps to.
///
/// ```
/// use odometry::continual::Filtered;
/// use odometry::measures::{Basic, PureDp};
/// let filter = Filtered::new(Basic::new(PureDp), "1")?;
/// assert_eq!(filter.price().to_string(), "1");
/// # Ok::<(), odometry::continual::PriceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filtered<R: FilterRule> {
    rule: R,
    gate: R::Gate,
    budget: TotalLoss<R>,
    tally: R::Tally,
}

impl<R: FilterRule> Filtered<R> {
    /// With this rule and budget.
    ///
    /// # Errors
    /// [`PriceError::Rule`] for a budget that is none; [`PriceError::Sequential`].
    pub fn new(rule: R, budget: impl IntoLoss<TotalLoss<R>>) -> Result<Self, PriceError> {
        concurrent::<R>()?;
        let budget = budget.into_loss().map_err(RuleError::Loss)?;
        Ok(Self {
            gate: rule.open(&budget)?,
            tally: rule.start(),
            rule,
            budget,
        })
    }

    /// What the composition costs: the budget.
    pub const fn price(&self) -> &TotalLoss<R> {
        &self.budget
    }
}

impl<R: FilterRule> Allowance for Filtered<R> {
    type Loss = ChildLoss<R>;

    fn create(&mut self, certificate: &Certificate<ChildLoss<R>>) -> Result<(), AllowanceError> {
        let loss = certificate.loss().clone().on_grid();
        let next = self.tally.after(&loss, 1);
        if !self.rule.fits(&self.gate, &next) {
            let left = self.rule.remaining(&self.gate, &self.tally);
            return Err(AllowanceError::Filter {
                asked: loss.to_string(),
                left: match left {
                    Some(left) => format!("{left} is left of {}", self.budget),
                    None => format!("the budget is {}", self.budget),
                },
            });
        }
        self.tally = next;
        Ok(())
    }

    fn differ(&mut self, _: &Certificate<ChildLoss<R>>) -> Result<(), AllowanceError> {
        Ok(())
    }
}
