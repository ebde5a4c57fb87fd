//! What a list of losses amounts to under each of this crate's rules, side by side: for choosing one.

use crate::adaptive::{
    ConcentratedOdometer, GaussianComposition, ImprovedBasic, RogersLeastBudget, RogersOdometer,
    WhitehouseFilter, WhitehouseOdometer,
};
use crate::convert::{GaussianToApprox, PureToGaussian, PureToZcdp, ZcdpToApprox};
use crate::fixed::{Advanced, Hybrid, Optimal};
use crate::{
    Adaptive, ApproxDp, Basic, Conversion, ConvertsTotals, Epsilon, EpsilonDelta, FilterRule,
    FixedRule, IntoLoss, Loss, LossError, Measure, PureDp, RuleError, Tally, Zcdp,
};
use exact::Exact;
use std::fmt;

/// What a rule can be used for. Whatever is good for an odometer is good for a filter, and both for a compositor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Use {
    /// Losses chosen adaptively, with a running total.
    Odometer,
    /// Losses chosen adaptively, under a budget set in advance.
    Filter,
    /// Losses fixed before the first launch.
    Compositor,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Odometer => "odometer",
            Self::Filter => "filter",
            Self::Compositor => "compositor",
        })
    }
}

/// What a rule makes of a list of losses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// What the rule is called.
    pub rule: &'static str,
    /// What it can be used for.
    pub good_for: Use,
    /// The total, rounded up; or why the rule does not take these losses within this δ.
    pub total: Result<EpsilonDelta, RuleError>,
}

/// The rules side by side. Shown, it is a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    losses: Vec<EpsilonDelta>,
    budget: EpsilonDelta,
    rows: Vec<Compared>,
}

impl Comparison {
    /// All rules, in the order of the table.
    pub fn rows(&self) -> &[Compared] {
        &self.rows
    }

    /// What was compared.
    pub fn losses(&self) -> &[EpsilonDelta] {
        &self.losses
    }

    /// The budget.
    pub fn budget(&self) -> &EpsilonDelta {
        &self.budget
    }

    /// The rule with the least ε among those that are good for this and stay within the budget's δ. It is for
    /// information: the rule that is used has to be chosen before the first launch.
    pub fn least(&self, wanted: Use) -> Option<&Compared> {
        let epsilon = |row: &&Compared| row.total.as_ref().ok().map(|loss| loss.epsilon().clone());
        let usable = |row: &&Compared| {
            let within = |loss: &EpsilonDelta| loss.delta() <= self.budget.delta();
            row.good_for <= wanted && row.total.as_ref().is_ok_and(within)
        };
        self.rows.iter().filter(usable).min_by_key(epsilon)
    }

    /// With one more row, of a rule of your own.
    #[must_use]
    pub fn and(
        mut self,
        rule: &'static str,
        good_for: Use,
        total: Result<EpsilonDelta, RuleError>,
    ) -> Self {
        self.rows.push(Compared {
            rule,
            good_for,
            total,
        });
        self
    }
}

type Row = Result<EpsilonDelta, RuleError>;

/// What these losses amount to under every rule that takes them, within the δ of the budget: what it leaves beside the
/// children's is the slack. A filter's row is what all of them take of the budget. Rules in other measures (zCDP, Gaussian)
/// are listed if all losses are pure. `accountant::compare` has a numerical row as well.
///
/// ```
/// use odometry::measures::{Use, compare};
/// let table = compare(vec!["(0.1, 0)"; 100], "(7, 1e-6)")?;
/// println!("{table}");
/// assert_eq!(table.rows()[0].total, Ok("(10, 0)".parse()?)); // the sum
/// let best = table.least(Use::Filter).ok_or("none is within")?;
/// assert!(best.total.clone()?.epsilon() < &7u32.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LossError`] for text that is no loss.
pub fn compare<L: IntoLoss<EpsilonDelta>>(
    losses: impl IntoIterator<Item = L>,
    budget: impl IntoLoss<EpsilonDelta>,
) -> Result<Comparison, LossError> {
    let budget = budget.into_loss()?;
    let losses = losses.into_iter().map(IntoLoss::into_loss);
    let losses: Vec<_> = losses.collect::<Result<_, _>>()?;
    Ok(compared(losses, budget))
}

fn compared(losses: Vec<EpsilonDelta>, budget: EpsilonDelta) -> Comparison {
    use Use::{Compositor, Filter, Odometer};
    let all = losses.clone();
    let losses = &losses[..];
    let delta = || budget.delta().clone();
    let children = Basic::new(ApproxDp).total_of(losses);
    let slack = delta()
        .checked_sub(children.bound().delta())
        .filter(|slack| *slack > Exact::ZERO)
        .ok_or_else(|| RuleError::parameter("δ", &delta(), "above the sum of the children's δ"));
    let slack = || slack.clone();
    let whitehouse = slack().and_then(|slack| WhitehouseOdometer::new(slack, delta()));
    let concentrated = slack().and_then(|slack| ConcentratedOdometer::new(slack, delta()));
    let rows = Comparison {
        losses: all,
        budget: budget.clone(),
        rows: Vec::new(),
    }
    .and(
        "basic",
        Odometer,
        composed(Ok(Basic::new(ApproxDp)), losses),
    )
    .and(
        "improved basic",
        Odometer,
        composed(Ok(ImprovedBasic), losses),
    )
    .and("Whitehouse", Odometer, composed(whitehouse, losses))
    .and("Whitehouse's filter", Filter, {
        let rule = slack().and_then(WhitehouseFilter::new);
        rule.and_then(|rule| taken(&rule, losses, &budget))
    })
    .and("concentrated", Odometer, composed(concentrated, losses))
    .and(
        "Rogers' filter",
        Odometer,
        composed(RogersLeastBudget::new(delta()), losses),
    )
    .and("Rogers' odometer", Odometer, {
        composed(RogersOdometer::new(delta(), PEOPLE), losses)
    })
    .and("advanced", Compositor, {
        let rule = slack().and_then(Advanced::new);
        rule.and_then(|rule| rule.compose(losses))
    })
    .and("hybrid", Compositor, Hybrid.compose(losses))
    .and("optimal", Compositor, {
        Optimal::new(delta()).and_then(|rule| rule.compose(losses))
    });
    match pure(losses) {
        Some(pure) => rows
            .and("zCDP", Odometer, through_zcdp(&pure, delta()))
            .and("Gaussian", Odometer, through_gaussian(&pure, delta())),
        None => rows,
    }
}

/// For about how many people the odometer of Rogers is tuned. Any number would be valid.
const PEOPLE: u64 = 1_000_000;

/// The ε of all of them, if they have no δ.
fn pure(losses: &[EpsilonDelta]) -> Option<Vec<Epsilon>> {
    let pure = |loss: &EpsilonDelta| {
        (*loss.delta() == Exact::ZERO).then(|| Epsilon::new(loss.epsilon().clone()))
    };
    losses.iter().map(pure).collect()
}

fn composed<R>(rule: Result<R, RuleError>, losses: &[EpsilonDelta]) -> Row
where
    R: Adaptive<Child = ApproxDp, Total = ApproxDp>,
{
    Ok(rule?.total_of(losses).bound().clone())
}

/// What the losses take of the budget.
fn taken<R>(rule: &R, losses: &[EpsilonDelta], budget: &EpsilonDelta) -> Row
where
    R: FilterRule<Child = ApproxDp, Total = ApproxDp>,
{
    let gate = rule.open(budget)?;
    let mut tally = rule.start();
    for loss in losses {
        tally.absorb(&loss.clone().on_grid(), 1);
    }
    Ok(rule.spent(&gate, &tally).bound().clone())
}

fn through_zcdp(losses: &[Epsilon], delta: Exact) -> Row {
    through(
        &Basic::new(Zcdp),
        PureToZcdp,
        &ZcdpToApprox::new(delta)?,
        losses,
    )
}

fn through_gaussian(losses: &[Epsilon], delta: Exact) -> Row {
    let back = GaussianToApprox::new(delta)?;
    through(&GaussianComposition, PureToGaussian, &back, losses)
}

/// Every loss converted, then composed, then the total converted back.
fn through<R, C, B>(rule: &R, there: C, back: &B, losses: &[Epsilon]) -> Row
where
    R: Adaptive,
    C: Conversion<From = PureDp, To = R::Child>,
    B: ConvertsTotals<From = R::Total, To = ApproxDp>,
{
    let converted: Vec<<R::Child as Measure>::Loss> = losses
        .iter()
        .map(|loss| there.convert(loss))
        .collect::<Result<_, _>>()?;
    Ok(rule.total_of(&converted).convert(back)?.bound().clone())
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = self.budget.shown_down();
        writeln!(f, "{:<22}{:<12}total, of {budget}", "rule", "good for")?;
        for Compared {
            rule,
            good_for,
            total,
        } in &self.rows
        {
            write!(f, "{rule:<22}{good_for:<12}")?;
            match total {
                Ok(total) if total.at_most(&self.budget) => writeln!(f, "{total}")?,
                Ok(total) => writeln!(f, "{total}: too much")?,
                Err(error) => writeln!(f, "none: {error}")?,
            }
        }
        Ok(())
    }
}
