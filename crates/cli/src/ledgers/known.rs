//! The rules that this program knows, by the names under which they are written down.

use exact::Exact;
use measures::adaptive::{
    Concentrated, Concentration, GaussianComposition, ImprovedBasic, RogersLeastBudget,
    RogersOdometer, SlackFilter, SlackOdometer, TimeUniformBasic, TimeUniformRogers, Whitehouse,
};
use measures::{
    Adaptive, ApproxDp, ApproxZcdp, Basic, FilterRule, Name, Orders, PureDp, RenyiCurveDp, RenyiDp,
    Rule, TimeUniform, Zcdp,
};

/// What is asked of a rule, whatever its type.
pub(super) trait Asks {
    type Answer;
    fn adaptive<R: Adaptive>(self, rule: R) -> Self::Answer;
    fn filter<R: FilterRule>(self, rule: R) -> Self::Answer;
    fn uniform<R: TimeUniform>(self, rule: R) -> Self::Answer;
}

/// Asks the rule of this name, if it is a built-in one: one that gives itself this very name.
pub(super) fn ask<A: Asks>(name: &Name, asks: A) -> Option<A::Answer> {
    let text = name.as_str();
    let (head, parameters) = split(text)?;
    let same = |found: Option<Name>| (found.as_ref() == Some(name)).then_some(());
    macro_rules! adaptive {
        ($rule:expr) => {{
            let rule = $rule;
            same(Rule::name(&rule))?;
            Some(asks.adaptive(rule))
        }};
    }
    match head {
        "basic" => match split(parameters)? {
            ("pure", "") => adaptive!(Basic::new(PureDp)),
            ("approximate", "") => adaptive!(Basic::new(ApproxDp)),
            ("zcdp", "") => adaptive!(Basic::new(Zcdp)),
            ("approximate-zcdp", "") => adaptive!(Basic::new(ApproxZcdp)),
            ("renyi", inner) => {
                let order = number(inner, "order")?;
                adaptive!(Basic::new(RenyiDp::new(order).ok()?))
            }
            ("renyi-curve", inner) => {
                let orders = Orders::new(numbers(inner, "orders")?).ok()?;
                adaptive!(Basic::new(RenyiCurveDp::new(orders)))
            }
            _ => None,
        },
        "gaussian" => adaptive!(GaussianComposition),
        "improved-basic" => adaptive!(ImprovedBasic),
        "rogers-odometer" => adaptive!(rogers(parameters)?),
        "rogers-least-budget" => {
            adaptive!(RogersLeastBudget::new(number(parameters, "delta")?).ok()?)
        }
        "whitehouse" => slack::<Whitehouse, A>(name, parameters, asks),
        "concentrated" => slack::<Concentrated, A>(name, parameters, asks),
        "time-uniform-basic" => {
            same(TimeUniformBasic.name())?;
            Some(asks.uniform(TimeUniformBasic))
        }
        "time-uniform" => {
            let ("rogers-odometer", inner) = split(parameters)? else {
                return None;
            };
            let rule = TimeUniformRogers::new(rogers(inner)?);
            same(rule.name())?;
            Some(asks.uniform(rule))
        }
        _ => None,
    }
}

fn slack<C: Concentration, A: Asks>(name: &Name, parameters: &str, asks: A) -> Option<A::Answer> {
    if let Some(slack) = number(parameters, "slack") {
        let rule = SlackFilter::<C>::new(slack).ok()?;
        return (rule.name().as_ref() == Some(name)).then(|| asks.filter(rule));
    }
    let delta = number(parameters, "delta")?;
    let slack = delta.checked_sub(&number(parameters, "children")?)?;
    let rule = SlackOdometer::<C>::new(slack, delta).ok()?;
    (rule.name().as_ref() == Some(name)).then(|| asks.adaptive(rule))
}

/// One β, or those that double.
fn rogers(parameters: &str) -> Option<RogersOdometer> {
    let delta = number(parameters, "delta")?;
    match numbers(parameters, "betas")?.as_slice() {
        [beta] => RogersOdometer::with_beta(delta, beta.clone()).ok(),
        [first, ..] => RogersOdometer::with_granularity(delta, first.clone()).ok(),
        [] => None,
    }
}

/// A name, and what is between its braces.
fn split(text: &str) -> Option<(&str, &str)> {
    match text.split_once('{') {
        None => Some((text, "")),
        Some((head, rest)) => Some((head, rest.strip_suffix('}')?)),
    }
}

fn numbers(parameters: &str, name: &str) -> Option<Vec<Exact>> {
    let value = parameters
        .split(", ")
        .find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('='))?;
    value.split(' ').map(|number| number.parse().ok()).collect()
}

fn number(parameters: &str, name: &str) -> Option<Exact> {
    match numbers(parameters, name)?.as_slice() {
        [number] => Some(number.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measures::adaptive::Union;

    struct IsKnown;

    impl Asks for IsKnown {
        type Answer = &'static str;

        fn adaptive<R: Adaptive>(self, _: R) -> &'static str {
            "adaptive"
        }

        fn filter<R: FilterRule>(self, _: R) -> &'static str {
            "filter"
        }

        fn uniform<R: TimeUniform>(self, _: R) -> &'static str {
            "uniform"
        }
    }

    fn known(rule: &impl Rule) -> Option<&'static str> {
        ask(&rule.name().unwrap(), IsKnown)
    }

    #[test]
    fn every_rule_is_found_by_its_name() {
        let third: Exact = "0.333".parse().unwrap();
        let adaptive = Some("adaptive");
        assert_eq!(known(&Basic::new(PureDp)), adaptive);
        assert_eq!(known(&Basic::new(ApproxDp)), adaptive);
        assert_eq!(known(&Basic::new(Zcdp)), adaptive);
        assert_eq!(known(&Basic::new(ApproxZcdp)), adaptive);
        assert_eq!(
            known(&Basic::new(RenyiDp::new("2.5".parse().unwrap()).unwrap())),
            adaptive
        );
        let orders = Orders::new(["2", "4", "8"].map(|order| order.parse().unwrap())).unwrap();
        assert_eq!(known(&Basic::new(RenyiCurveDp::new(orders))), adaptive);
        assert_eq!(known(&GaussianComposition), adaptive);
        assert_eq!(known(&ImprovedBasic), adaptive);
        assert_eq!(known(&RogersOdometer::new("1e-6", 1000).unwrap()), adaptive);
        assert_eq!(
            known(&RogersOdometer::with_beta("1e-6", third).unwrap()),
            adaptive
        );
        assert_eq!(known(&RogersLeastBudget::new("1e-6").unwrap()), adaptive);
        assert_eq!(
            known(&SlackOdometer::<Whitehouse>::new("1e-7", "1e-6").unwrap()),
            adaptive
        );
        assert_eq!(
            known(&SlackOdometer::<Concentrated>::new("1e-7", "1e-7").unwrap()),
            adaptive
        );
        assert_eq!(
            known(&SlackFilter::<Whitehouse>::new("1e-7").unwrap()),
            Some("filter")
        );
        assert_eq!(
            known(&SlackFilter::<Concentrated>::new("1e-7").unwrap()),
            Some("filter")
        );
        assert_eq!(known(&TimeUniformBasic), Some("uniform"));
        let rogers = RogersOdometer::new("1e-6", 1000).unwrap();
        assert_eq!(known(&TimeUniformRogers::new(rogers)), Some("uniform"));
    }

    #[test]
    fn nothing_else_is_taken_for_one() {
        for name in [
            "basic",
            "mine",
            "whitehouse",
            "rogers-odometer",
            "time-uniform",
            "renyi",
        ] {
            assert_eq!(ask(&Name::new(name), IsKnown), None, "{name}");
        }
        let odd = Name::new("basic").of(&Name::new("pure").with("x", 1));
        assert_eq!(ask(&odd, IsKnown), None);
        let (first, second) = (Basic::new(ApproxDp), SlackFilter::<Whitehouse>::new("1e-7"));
        let union = Union::new((first, Exact::ZERO), (second.unwrap(), Exact::ONE));
        assert_eq!(
            known(&union),
            None,
            "two rules at once are shown as they were recorded"
        );
    }
}
