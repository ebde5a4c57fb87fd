//! Compositors: losses fixed up front, taken in order or in any order.

use crate::common::*;
use measures::fixed::{Advanced, Optimal, OptimalPure};
use measures::{
    ApproxDp, ApproxZcdp, Basic, EpsilonDelta, FixedRule, PrivacyMap, PureDp, RhoDelta, Rule,
    RuleError,
};
use odometer::{Compositor, LaunchError, Measurement, Odometer, OpenError};
use queryable::AskError;

fn slots(losses: &[&str]) -> Vec<EpsilonDelta> {
    losses.iter().map(|text| loss(text)).collect()
}

fn optimal() -> Optimal {
    Optimal::new("1e-6").unwrap()
}

#[test]
fn in_order_each_launch_takes_the_next_slot() {
    let compositor = Compositor::new(
        records(),
        optimal(),
        1,
        slots(&["(0.1, 0)", "(0.5, 1e-8)", "(0.2, 0)"]),
    );
    let compositor = compositor.measurement().unwrap();
    let map = compositor.map().loss(&1).unwrap();
    assert!(
        *map.epsilon() < "0.8".parse().unwrap() && *map.delta() == "1e-6".parse().unwrap(),
        "{map}"
    );
    assert_eq!(compositor.map().loss(&2), Ok(EpsilonDelta::INFINITY));
    let composition = compositor.invoke(vec![1, 2]).unwrap();
    let refused = composition.launch(&flat(ApproxDp, "(0.2, 0)")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`flat` asks for (0.2, 0), and no slot that is left has room for that: (0.1, 0), (0.5, 1e-8), (0.2, 0)"
    );
    composition.launch(&flat(ApproxDp, "(0.05, 0)")).unwrap();
    composition.launch(&flat(ApproxDp, "(0.5, 0)")).unwrap();
    assert_eq!(composition.left(), slots(&["(0.2, 0)"]));
    composition.launch(&flat(ApproxDp, "(0, 0)")).unwrap();
    let empty = composition.launch(&flat(ApproxDp, "(0, 0)")).unwrap_err();
    assert!(empty.to_string().ends_with("none is left"), "{empty}");
}

#[test]
fn in_any_order_the_tightest_slot_is_taken() {
    let losses = slots(&["(0.5, 0)", "(0.1, 0)", "(0.3, 1e-9)", "(0.3, 0)"]);
    let composition = Compositor::new(records(), optimal(), 1, losses).in_any_order();
    let composition = composition.measurement().unwrap().invoke(vec![]).unwrap();
    composition.launch(&flat(ApproxDp, "(0.2, 0)")).unwrap();
    assert_eq!(
        composition.left(),
        slots(&["(0.5, 0)", "(0.1, 0)", "(0.3, 1e-9)"])
    );
    composition.launch(&flat(ApproxDp, "(0.05, 0)")).unwrap();
    composition.launch(&flat(ApproxDp, "(0.4, 0)")).unwrap();
    assert!(matches!(
        composition.launch(&flat(ApproxDp, "(0.1, 1e-8)")),
        Err(LaunchError::NoSlot { .. })
    ));
    composition.launch(&flat(ApproxDp, "(0.1, 1e-9)")).unwrap();
    assert_eq!(composition.left(), []);
}

#[test]
fn interactive_children_interleave_and_a_compositor_is_a_measurement() {
    let rule = OptimalPure::new("1e-6").unwrap();
    let compositor = Compositor::new(records(), rule, 1, vec!["0.1"; 100])
        .measurement()
        .unwrap();
    assert!(
        *compositor.map().loss(&1).unwrap().epsilon() < "5".parse().unwrap(),
        "10 by the plain sum, not {}",
        compositor.map().loss(&1).unwrap()
    );
    let session = filtered_with(Basic::new(ApproxDp), "(5, 1e-5)");
    let composition = session.launch(&compositor).unwrap();
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let query = Measurement::new("interactive", records(), map, |_, scope| {
        let mut sum = 0;
        scope.spawn(queryable::machine(
            move |x: u64, _: &mut queryable::Scope<'_>| {
                sum += x;
                Ok(sum)
            },
        ))
    });
    let (one, other) = (
        composition.launch(&query).unwrap(),
        composition.launch(&query).unwrap(),
    );
    assert_eq!(
        (one.ask(1), other.ask(1), one.ask(1)),
        (Ok(1), Ok(1), Ok(2))
    );
    assert_eq!(composition.left().len(), 98);
    assert_eq!(
        session.privacy_loss(&1).unwrap().bound(),
        &compositor.map().loss(&1).unwrap(),
        "reserved in full"
    );
    // A child may be a filter: its losses inside are nobody else's business.
    let filter = Odometer::new(records(), BASIC).filter(1, "0.1").unwrap();
    composition
        .launch(&filter)
        .unwrap()
        .launch(&pure("0.1"))
        .unwrap();
}

/// Sums of approximate zCDP, in turn.
#[derive(Clone, Debug)]
struct InTurn;

impl Rule for InTurn {
    type Child = ApproxZcdp;
    type Total = ApproxZcdp;
    fn child(&self) -> ApproxZcdp {
        ApproxZcdp
    }
    fn total(&self) -> ApproxZcdp {
        ApproxZcdp
    }
}

impl FixedRule for InTurn {
    fn compose(&self, losses: &[RhoDelta]) -> Result<RhoDelta, RuleError> {
        let sum = |part: fn(&RhoDelta) -> &exact::Exact| {
            losses
                .iter()
                .fold(exact::Exact::ZERO, |sum, loss| sum + part(loss).clone())
        };
        Ok(RhoDelta::new(sum(RhoDelta::rho), sum(RhoDelta::delta))?)
    }
}

#[test]
fn a_sequential_rule_imposes_turns_and_an_order() {
    let losses = || ["(0.1, 0)", "(0.2, 1e-9)"];
    let any = Compositor::new(records(), InTurn, 1, losses())
        .in_any_order()
        .measurement();
    assert!(matches!(any, Err(OpenError::Sequential)));
    let compositor = Compositor::new(records(), InTurn, 1, losses())
        .measurement()
        .unwrap();
    let composition = compositor.invoke(vec![]).unwrap();
    let map = PrivacyMap::new(ApproxZcdp, |_| Ok(loss("(0.1, 0)")));
    let query = Measurement::new("interactive", records(), map, |_, scope| {
        scope.spawn(queryable::machine(
            |x: u64, _: &mut queryable::Scope<'_>| Ok(x),
        ))
    });
    let first = composition.launch(&query).unwrap();
    assert_eq!(first.ask(1), Ok(1));
    let second = composition.launch(&query).unwrap();
    assert!(
        composition.launch(&query).is_err(),
        "refused: the turn stays"
    );
    assert_eq!(
        (first.ask(1), second.ask(1)),
        (Err(AskError::OutOfTurn), Ok(1))
    );
}

#[test]
fn what_fails_keeps_its_slot_and_what_is_unknown_takes_none() {
    let rule = Advanced::new("1e-6").unwrap();
    let composition = Compositor::new(records(), rule, 2, slots(&["(0.1, 0)", "(0.1, 0)"]));
    let composition = composition.measurement().unwrap().invoke(vec![]).unwrap();
    let map = |cost: &'static str| {
        PrivacyMap::new(ApproxDp, move |d: &u32| match d {
            2 => Err(measures::MapError::failed(d, cost)),
            _ => Ok(loss("(0.1, 0)")),
        })
    };
    let unknown: On<ApproxDp, ()> =
        Measurement::new("unknown", records(), map("unknown"), |_, _| Ok(()));
    assert!(matches!(
        composition.launch(&unknown),
        Err(LaunchError::Map { .. })
    ));
    assert_eq!(composition.left().len(), 2);
    let fails = flat(ApproxDp, "(0.1, 0)");
    let fails: On<ApproxDp, ()> =
        Measurement::new("fails", records(), fails.map().clone(), |_, _| {
            panic!("careless")
        });
    assert!(composition.launch(&fails).unwrap_err().was_charged());
    assert_eq!(composition.left().len(), 1);
}

#[test]
fn senseless_slots_are_refused() {
    let order = |text: &str| measures::RenyiDp::new(text).unwrap();
    #[derive(Clone, Debug)]
    struct AtTwo(measures::RenyiDp);
    impl Rule for AtTwo {
        type Child = measures::RenyiDp;
        type Total = measures::RenyiDp;
        fn child(&self) -> measures::RenyiDp {
            self.0.clone()
        }
        fn total(&self) -> measures::RenyiDp {
            self.0.clone()
        }
    }
    impl FixedRule for AtTwo {
        fn compose(
            &self,
            _: &[measures::RenyiEpsilon],
        ) -> Result<measures::RenyiEpsilon, RuleError> {
            Ok(self.0.loss("1".parse().unwrap()))
        }
    }
    let foreign = vec![order("3").loss("0.1".parse().unwrap())];
    let refused = Compositor::new(records(), AtTwo(order("2")), 1, foreign).measurement();
    assert!(matches!(refused, Err(OpenError::Rule(RuleError::Loss(_)))));
}

#[test]
fn a_measurement_with_the_loss_of_a_slot_fits_whatever_its_digits() {
    let extremes = ["(1e-4096, 0)", "(1e-70, 1e-300)", "(0.1, 0)"];
    for extreme in extremes {
        let compositor = Compositor::new(records(), optimal(), 1, slots(&[extreme]));
        let session = compositor.measurement().unwrap().invoke(vec![]).unwrap();
        session.launch(&flat(ApproxDp, extreme)).unwrap();
    }
}
