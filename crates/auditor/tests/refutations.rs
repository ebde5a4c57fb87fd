//! Wrong ways to account, with the attacks that refute them and their numbers (docs/experiments.md lists them).

#[path = "../examples/experiments/totals.rs"]
mod totals;

use crate::common::lab::{Ask, Kind, Seen, Shelf, audit_filter_by};
use crate::common::{always, probability};
use auditor::{Factor, Input, Tail, audit};
use exact::{Exact, Round};
use measures::{
    Adaptive, Basic, EpsilonDelta, FilterRule, Measure, Orders, RenyiCurve, RenyiCurveDp, Rule,
    RuleError, Tallied, Tally, Total, adaptive::RogersOdometer, convert::gaussian_epsilon,
};
use queryable::{Root, Scope, coins::Bit, machine};

/// A Rényi curve used wrongly: launches fit while some order does.
#[derive(Clone, Debug)]
struct SomeOrder(RenyiCurveDp);

#[derive(Clone, Debug, PartialEq)]
struct Sums(Vec<Exact>);

impl Tally for Sums {
    type Loss = RenyiCurve;
    fn absorb(&mut self, loss: &RenyiCurve, n: u64) {
        for (sum, epsilon) in self.0.iter_mut().zip(loss.epsilons()) {
            *sum += epsilon.times(n);
        }
    }
    fn merge(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(&other.0) {
            *sum += more;
        }
    }
    fn join(&mut self, other: &Self) {
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.clone().max(other.clone());
        }
    }
}

impl Rule for SomeOrder {
    type Child = RenyiCurveDp;
    type Total = RenyiCurveDp;
    fn child(&self) -> RenyiCurveDp {
        self.0.clone()
    }
    fn total(&self) -> RenyiCurveDp {
        self.0.clone()
    }
}

impl Tallied for SomeOrder {
    type Tally = Sums;
    fn start(&self) -> Sums {
        Sums(vec![Exact::ZERO; self.0.orders().as_slice().len()])
    }
}

impl FilterRule for SomeOrder {
    type Gate = RenyiCurve;
    fn open(&self, budget: &RenyiCurve) -> Result<RenyiCurve, RuleError> {
        Ok(budget.clone())
    }
    fn fits(&self, gate: &RenyiCurve, tally: &Sums) -> bool {
        tally
            .0
            .iter()
            .zip(gate.epsilons())
            .any(|(sum, budget)| sum <= budget)
    }
    fn remaining(&self, _: &RenyiCurve, _: &Sums) -> Option<RenyiCurve> {
        None
    }
    fn spent(&self, _: &RenyiCurve, _: &Sums) -> Total<RenyiCurve> {
        Total::new(self.0.infinity())
    }
}

#[test]
fn some_order_still_fits_is_refuted() {
    let orders = Orders::new([16, 64]).unwrap();
    let measure = RenyiCurveDp::new(orders.clone());
    // (1, 1e-6) by either order alone.
    let budget = RenyiCurve::new(
        &orders,
        ["0.328344".parse().unwrap(), "0.862469".parse().unwrap()],
    )
    .unwrap();
    // RR_0.02, and the two-point mechanisms that are extremal at one order for what is left.
    let trillion = 1_000_000_000_000;
    let kinds = [
        Kind::Response(
            Factor::new(1_020_201, 1_000_000).unwrap(),
            dashu_ratio::RBig::ZERO,
        ),
        Kind::TwoPoint(
            probability(117_289_000, trillion),
            probability(43_331_128, trillion),
        ),
        Kind::TwoPoint(
            probability(11_225_200, trillion),
            probability(3_794_897, trillion),
        ),
    ];
    let curve = |kind: &Kind| {
        let report = kind.alone();
        let at = |order: u32| {
            let bound = |direction| report.renyi(&order.into(), direction).unwrap().most;
            let [zero, one] = auditor::Direction::BOTH;
            bound(zero).max(bound(one))
        };
        RenyiCurve::new(&orders, [at(16), at(64)]).unwrap()
    };
    let entries = kinds
        .iter()
        .map(|kind| (kind.clone(), curve(kind)))
        .collect();
    let shelf = Shelf {
        measure: measure.clone(),
        entries,
    };
    let offer = |history: &[queryable::Exchange<Ask, Seen>]| match history.len() {
        0 => vec![Ask::Launch(0)],
        _ => vec![Ask::Launch(1), Ask::Launch(2)],
    };
    let claim: EpsilonDelta = "(1, 1e-6)".parse().unwrap();
    let report = audit_filter_by(&SomeOrder(measure.clone()), &budget, &shelf, 2, offer);
    let verdict = report.claims(&claim).unwrap();
    println!("some order still fits: {verdict}");
    assert!(verdict.attack().is_some());
    let high = Factor::of_epsilon(claim.epsilon(), Round::Up).unwrap();
    let delta = report.delta(&high).least.to_f64().value();
    assert!((delta - 1.274e-6).abs() < 1e-9, "{delta}");
    // All orders must fit: then the claim holds.
    let report = audit_filter_by(&Basic::new(measure), &budget, &shelf, 2, offer);
    assert!(report.claims(&claim).unwrap().holds());
}

#[test]
fn time_uniform_odometers_need_pure_children() {
    // A (0, 0.005)-private bit: 0.5025 against 0.4975.
    let build = |input: Input, root: &Root| {
        let one = Bit::new(probability(input.pick(5025, 4975), 10_000));
        root.spawn(machine(move |(), scope: &mut Scope<'_>| scope.draw(&one)))
    };
    let report = audit(build).asking(1, always(vec![()])).unwrap();
    let loss: EpsilonDelta = "(0, 0.005)".parse().unwrap();
    assert!(report.claims(&loss).unwrap().holds());
    // [RRUV16] Thm 6.5 and 3.6 read for such a child as printed. (Our time-uniform types take pure children only.)
    let rogers = RogersOdometer::new("0.01", 1024).unwrap();
    let bound = rogers
        .loss(&rogers.start().after(&loss, 1))
        .bound()
        .epsilon()
        .clone();
    assert!(bound <= "0.003978".parse().unwrap(), "{bound}");
    for bound in [bound, Exact::ZERO] {
        let (probability, attack) = report
            .ever_passes(Input::Zero, Tail::Both, |history| match history.len() {
                0 => Exact::ZERO,
                _ => bound.clone(),
            })
            .unwrap();
        println!("a time-uniform odometer over a (0, 0.005)-private child: {attack}");
        // Always, although at most 0.01 was promised.
        assert_eq!(probability.value(), Some(&dashu_ratio::RBig::ONE));
    }
    assert!(
        report
            .factor(&dashu_ratio::RBig::ZERO)
            .unwrap()
            .epsilon()
            .least
            > "0.01".parse().unwrap()
    );
}

#[test]
fn advanced_composition_as_an_odometer_crosses_with_a_readable_attack() {
    // The separation of [RRUV16] Thm 6.1, small and exact: randomized response with e^ε = 3/2, twelve rounds, δ = 0.2.
    let build = |input: Input, root: &Root| {
        let lie = Bit::new(probability(2, 5));
        root.spawn(machine(move |(), scope: &mut Scope<'_>| {
            Ok(scope.draw(&lie)? ^ (input == Input::One))
        }))
    };
    let report = audit(build).asking(12, always(vec![()])).unwrap();
    let epsilon = 1.5f64.ln();
    let curve = move |t: usize| {
        let t = t as f64;
        let bound = t * epsilon * (epsilon / 2.0).tanh() + epsilon * (2.0 * t * 5f64.ln()).sqrt();
        Exact::try_from(bound).unwrap()
    };
    let (probability, attack) = report
        .ever_passes(Input::Zero, Tail::Both, |history| curve(history.len()))
        .unwrap();
    let last = report
        .ever_passes(Input::Zero, Tail::Both, |history| match history.len() {
            12 => curve(12),
            _ => Exact::INFINITY,
        })
        .unwrap();
    println!("advanced composition as an odometer: {}", attack.claim);
    // At a fixed round it passes rarely; at some round, more often than at any fixed one.
    assert!(last.0.most < probability.least);
    assert!(attack.to_string().contains("accept"));
}

#[test]
fn a_converted_running_total_charged_onwards_is_refuted() {
    // The conversion is the certified one, to the precision of floating point.
    let delta: Exact = "1e-5".parse().unwrap();
    for mu in [0.05, 0.2, 0.26805] {
        let certified =
            gaussian_epsilon(&Exact::try_from(mu).unwrap().into(), &delta).to_f64(Round::Up);
        let found = totals::epsilon(mu, 1e-5);
        assert!(
            found >= certified && found < certified + 1e-8,
            "{found} {certified}"
        );
    }
    assert!(totals::epsilon(0.26805, 1e-5) <= 1.0);
    let found = totals::run(300, 0.26805, 1e-5);
    println!(
        "a running total converted and charged as (1, 1e-5), stopped adaptively: δ(1) ≥ {found:.3e}"
    );
    assert!(found >= 7.4e-5, "{found:e}");
}
