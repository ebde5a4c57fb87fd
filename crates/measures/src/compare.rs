//! What a list of losses amounts to under each of this crate's rules, side by side: for choosing one.

use crate::adaptive::{
    ConcentratedOdometer, GaussianComposition, ImprovedBasic, RogersLeastBudget, WhitehouseOdometer,
};
use crate::convert::{GaussianToApprox, PureToGaussian, PureToZcdp, ZcdpToApprox};
use crate::fixed::{Advanced, Hybrid, Optimal};
use crate::{
    Adaptive, ApproxDp, Basic, ChildLoss, Conversion, ConvertsTotals, Epsilon, EpsilonDelta,
    FixedRule, Measure, PureDp, RuleError, Zcdp,
};
use exact::Exact;
use std::fmt;

/// What a rule makes of a list of losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What the rule is called.
    pub rule: &'static str,
    /// May the losses be chosen adaptively? Otherwise they have to be fixed before the first launch.
    pub adaptive: bool,
    /// The total, rounded up; or why the rule does not take these losses with this δ.
    pub total: Result<EpsilonDelta, RuleError>,
}

/// The rules side by side. Shown, it is a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison(Vec<Compared>);

impl Comparison {
    /// All rules, in the order of the table.
    pub fn rows(&self) -> &[Compared] {
        &self.0
    }

    /// The rule with the least ε among those whose δ is at most this, and which are adaptive if that is asked for. It is
    /// for information: the rule that is used has to be chosen before the first launch.
    pub fn least(&self, delta: &Exact, adaptive: bool) -> Option<&Compared> {
        let epsilon = |row: &&Compared| row.total.as_ref().ok().map(|loss| loss.epsilon().clone());
        let usable = |row: &&Compared| {
            let within = |loss: &EpsilonDelta| loss.delta() <= delta;
            (row.adaptive || !adaptive) && row.total.as_ref().is_ok_and(within)
        };
        self.0.iter().filter(usable).min_by_key(epsilon)
    }
}

/// What these losses amount to under every rule that takes them, with `delta` as the δ of the total, or what is left of it
/// beside the children's as slack. Rules in other measures (zCDP, Gaussian) are listed if all losses are pure.
///
/// ```
/// use odometry::measures::compare;
/// let table = compare(&vec!["(0.1, 0)".parse()?; 100], &"1e-6".parse()?);
/// println!("{table}");
/// assert_eq!(table.rows()[0].total, Ok("(10, 0)".parse()?)); // the sum
/// let best = table.least(&"1e-6".parse()?, true).unwrap();
/// assert!(best.total.as_ref().unwrap().epsilon() < &"7".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(losses: &[EpsilonDelta], delta: &Exact) -> Comparison {
    let children = Basic::new(ApproxDp).total_of(losses);
    let slack = delta.checked_sub(children.bound().delta());
    let slack = slack
        .filter(|slack| *slack > Exact::ZERO)
        .ok_or_else(|| RuleError::parameter("δ", delta, "above the sum of the children's δ"));
    let with_slack =
        |compose: fn(Exact, &Exact, &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError>| {
            compose(slack.clone()?, delta, losses)
        };
    let mut rows = vec![
        adaptive("basic", Ok(total(&Basic::new(ApproxDp), losses))),
        adaptive("improved basic", Ok(total(&ImprovedBasic, losses))),
        adaptive(
            "Whitehouse",
            with_slack(|slack, delta, losses| {
                Ok(total(
                    &WhitehouseOdometer::new(slack, delta.clone())?,
                    losses,
                ))
            }),
        ),
        adaptive(
            "concentrated",
            with_slack(|slack, delta, losses| {
                Ok(total(
                    &ConcentratedOdometer::new(slack, delta.clone())?,
                    losses,
                ))
            }),
        ),
        adaptive(
            "Rogers",
            with_slack(|_, delta, losses| {
                Ok(total(&RogersLeastBudget::new(delta.clone())?, losses))
            }),
        ),
        fixed(
            "advanced",
            with_slack(|slack, _, losses| Advanced::new(slack)?.compose(losses)),
        ),
        fixed("hybrid", Hybrid.compose(losses)),
        fixed(
            "optimal",
            Optimal::new(delta.clone()).and_then(|optimal| optimal.compose(losses)),
        ),
    ];
    let pure = |loss: &EpsilonDelta| *loss.delta() == Exact::ZERO;
    if losses.iter().all(pure) {
        let pure: Vec<_> = losses
            .iter()
            .map(|loss| Epsilon::new(loss.epsilon().clone()))
            .collect();
        rows.push(adaptive("zCDP", through_zcdp(&pure, delta)));
        rows.push(adaptive("Gaussian", through_gaussian(&pure, delta)));
    }
    Comparison(rows)
}

fn adaptive(rule: &'static str, total: Result<EpsilonDelta, RuleError>) -> Compared {
    Compared {
        rule,
        adaptive: true,
        total,
    }
}

fn fixed(rule: &'static str, total: Result<EpsilonDelta, RuleError>) -> Compared {
    Compared {
        rule,
        adaptive: false,
        total,
    }
}

fn total<R>(rule: &R, losses: &[ChildLoss<R>]) -> EpsilonDelta
where
    R: Adaptive<Total = ApproxDp>,
{
    rule.total_of(losses).bound().clone()
}

fn through_zcdp(losses: &[Epsilon], delta: &Exact) -> Result<EpsilonDelta, RuleError> {
    let rule = Basic::new(Zcdp);
    through(
        &rule,
        PureToZcdp,
        &ZcdpToApprox::new(delta.clone())?,
        losses,
    )
}

fn through_gaussian(losses: &[Epsilon], delta: &Exact) -> Result<EpsilonDelta, RuleError> {
    let back = GaussianToApprox::new(delta.clone())?;
    through(&GaussianComposition, PureToGaussian, &back, losses)
}

/// Every loss converted, then composed, then the total converted back.
fn through<R, C, B>(
    rule: &R,
    there: C,
    back: &B,
    losses: &[Epsilon],
) -> Result<EpsilonDelta, RuleError>
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
        writeln!(f, "{:<16}{:<10}total", "rule", "losses")?;
        for Compared {
            rule,
            adaptive,
            total,
        } in &self.0
        {
            let losses = if *adaptive { "adaptive" } else { "fixed" };
            match total {
                Ok(total) => writeln!(f, "{rule:<16}{losses:<10}{total}")?,
                Err(error) => writeln!(f, "{rule:<16}{losses:<10}none: {error}")?,
            }
        }
        Ok(())
    }
}
