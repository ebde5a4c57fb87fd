//! The rules of this crate by their stable names: for programs that read what was written down, and know no types.

use super::adaptive::{
    ApproxGaussianComposition, ConcentratedFilter, ConcentratedOdometer, GaussianComposition,
    ImprovedBasic, RogersLeastBudget, RogersOdometer, WhitehouseFilter, WhitehouseOdometer,
};
use crate::name::{number, numbers, parameter};
use crate::{
    Adaptive, ApproxDp, ApproxZcdp, Basic, FilterRule, Name, Orders, PureDp, RenyiCurveDp, RenyiDp,
    Zcdp,
};
use exact::Exact;

/// What to do with a rule that was found by its name: see [`with_rule`].
pub trait WithRule {
    /// What comes of it.
    type Out;

    /// The rule has a running loss.
    fn adaptive<R: Adaptive>(self, rule: R) -> Self::Out;

    /// The rule is only a filter's: its gate is solved from the budget. Whatever fits a budget fits every larger one.
    fn filter_only<R: FilterRule>(self, rule: R) -> Self::Out;
}

/// Finds one of this crate's rules for sessions by its [name](crate::Rule::name), and hands it over. `None` for every other
/// name: rules of one's own, unions of rules, and rules that are no session's.
///
/// ```
/// use odometry::measures::{Adaptive, FilterRule, Name, Rule, WithRule, adaptive::WhitehouseOdometer, with_rule};
/// struct IsAdaptive;
/// impl WithRule for IsAdaptive {
///     type Out = bool;
///     fn adaptive<R: Adaptive>(self, _: R) -> bool { true }
///     fn filter_only<R: FilterRule>(self, _: R) -> bool { false }
/// }
/// let name = WhitehouseOdometer::new("1e-7", "1e-6")?.name().unwrap();
/// assert_eq!(with_rule(&name, IsAdaptive), Some(true));
/// assert_eq!(with_rule(&Name::new("mine"), IsAdaptive), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_rule<V: WithRule>(name: &Name, with: V) -> Option<V::Out> {
    let (head, inside) = name.split()?;
    let number = |parameter: &str| number(inside, parameter);
    let found = Found { name, with };
    match (head, inside) {
        ("basic", "pure") => found.adaptive(Basic::new(PureDp)),
        ("basic", "approximate") => found.adaptive(Basic::new(ApproxDp)),
        ("basic", "zcdp") => found.adaptive(Basic::new(Zcdp)),
        ("basic", "approximate-zcdp") => found.adaptive(Basic::new(ApproxZcdp)),
        ("basic", measure) => basic(measure, found),
        ("improved-basic", "") => found.adaptive(ImprovedBasic),
        ("gaussian", "") => found.adaptive(GaussianComposition),
        ("approximate-gaussian", "") => found.adaptive(ApproxGaussianComposition),
        ("rogers-least-budget", _) => {
            found.adaptive(RogersLeastBudget::new(number("delta")?).ok()?)
        }
        ("rogers-odometer", _) => found.adaptive(rogers_odometer(inside)?),
        ("whitehouse", _) => match number("slack") {
            Some(slack) => found.filter_only(WhitehouseFilter::new(slack).ok()?),
            None => {
                let (slack, delta) = slack(inside)?;
                found.adaptive(WhitehouseOdometer::new(slack, delta).ok()?)
            }
        },
        ("concentrated", _) => match number("slack") {
            Some(slack) => found.filter_only(ConcentratedFilter::new(slack).ok()?),
            None => {
                let (slack, delta) = slack(inside)?;
                found.adaptive(ConcentratedOdometer::new(slack, delta).ok()?)
            }
        },
        _ => None,
    }
}

/// A rule, and the name that it must have: what was read back wrongly is not handed over.
struct Found<'a, V> {
    name: &'a Name,
    with: V,
}

impl<V: WithRule> Found<'_, V> {
    fn adaptive<R: Adaptive>(self, rule: R) -> Option<V::Out> {
        (rule.name().as_ref() == Some(self.name)).then(|| self.with.adaptive(rule))
    }

    fn filter_only<R: FilterRule>(self, rule: R) -> Option<V::Out> {
        (rule.name().as_ref() == Some(self.name)).then(|| self.with.filter_only(rule))
    }
}

fn basic<V: WithRule>(measure: &str, found: Found<'_, V>) -> Option<V::Out> {
    let (head, inside) = measure.strip_suffix('}')?.split_once('{')?;
    match head {
        "renyi" => found.adaptive(Basic::new(RenyiDp::new(number(inside, "order")?).ok()?)),
        "renyi-curve" => {
            let orders = numbers(parameter(inside, "orders")?)?;
            found.adaptive(Basic::new(RenyiCurveDp::new(Orders::new(orders).ok()?)))
        }
        _ => None,
    }
}

fn rogers_odometer(inside: &str) -> Option<RogersOdometer> {
    let delta = number(inside, "delta")?;
    let betas = numbers(parameter(inside, "betas")?)?;
    match betas.as_slice() {
        [beta] => RogersOdometer::with_beta(delta, beta.clone()).ok(),
        [least, ..] => RogersOdometer::with_granularity(delta, least.clone()).ok(),
        [] => None,
    }
}

/// δ′ and δ of an odometer with a slack.
fn slack(inside: &str) -> Option<(Exact, Exact)> {
    let (delta, children) = (number(inside, "delta")?, number(inside, "children")?);
    Some((delta.checked_sub(&children)?, delta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use crate::adaptive::{TimeUniformBasic, Union};

    /// The name that the rule has that was found, and whether it is adaptive.
    struct Again;

    impl WithRule for Again {
        type Out = (Option<Name>, bool);

        fn adaptive<R: Adaptive>(self, rule: R) -> Self::Out {
            (rule.name(), true)
        }

        fn filter_only<R: FilterRule>(self, rule: R) -> Self::Out {
            (rule.name(), false)
        }
    }

    fn found(rule: &impl Rule, adaptive: bool) {
        let name = rule.name().unwrap();
        assert_eq!(with_rule(&name, Again), Some((Some(name), adaptive)));
    }

    #[test]
    fn every_rule_is_found_by_its_name() {
        found(&Basic::new(PureDp), true);
        found(&Basic::new(ApproxDp), true);
        found(&Basic::new(Zcdp), true);
        found(&Basic::new(ApproxZcdp), true);
        let third = Exact::ratio(7, 3).unwrap();
        found(&Basic::new(RenyiDp::new(third.clone()).unwrap()), true);
        let orders = Orders::new([third, Exact::from(4u32)]).unwrap();
        found(&Basic::new(RenyiCurveDp::new(orders)), true);
        found(&ImprovedBasic, true);
        found(&GaussianComposition, true);
        found(&ApproxGaussianComposition, true);
        found(&RogersLeastBudget::new("1e-6").unwrap(), true);
        found(&RogersOdometer::new("1e-6", 1000).unwrap(), true);
        found(&RogersOdometer::with_beta("1e-6", "0.3").unwrap(), true);
        found(&WhitehouseFilter::new("1e-7").unwrap(), false);
        found(&WhitehouseOdometer::new("1e-7", "1e-6").unwrap(), true);
        found(&ConcentratedFilter::new("1e-7").unwrap(), false);
        found(&ConcentratedOdometer::new("1e-7", "1e-6").unwrap(), true);
    }

    #[test]
    fn other_names_are_not() {
        assert_eq!(with_rule(&TimeUniformBasic.name().unwrap(), Again), None);
        let filter = || WhitehouseFilter::new("1e-7").unwrap();
        let share: Exact = "1e-6".parse().unwrap();
        let union = Union::new((filter(), share.clone()), (filter(), share));
        assert_eq!(with_rule(&union.name().unwrap(), Again), None);
        for other in [
            "",
            "basic",
            "basic{",
            "basic{mine}",
            "whitehouse",
            "whitehouse{slack=2}",
        ] {
            let json = format!("{other:?}");
            let name: Name = serde_json::from_str(&json).unwrap();
            assert_eq!(with_rule(&name, Again), None, "{other}");
        }
    }

    #[test]
    fn a_number_in_another_form_is_another_name() {
        let name: Name = serde_json::from_str("\"whitehouse{slack=1e-07}\"").unwrap();
        assert_eq!(with_rule(&name, Again), None);
    }
}
