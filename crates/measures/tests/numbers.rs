//! The numbers of the specification, and each rule's total against its formula in floating point.

use exact::{Exact, Round};
use measures::adaptive::{
    ConcentratedFilter, ConcentratedOdometer, GaussianComposition, ImprovedBasic,
    RogersLeastBudget, RogersOdometer, TimeUniformBasic, TimeUniformRogers, Union,
    WhitehouseFilter, WhitehouseOdometer,
};
use measures::{
    Adaptive, ApproxDp, ApproxZcdp, Basic, ChildLoss, Epsilon, EpsilonDelta, FilterRule,
    Interleaving, Loss, Mu, Orders, PureDp, RenyiCurve, RenyiCurveDp, RenyiDp, Rho, Rule,
    RuleError, Tallied, Tally, TimeUniform, TotalLoss, Zcdp,
};

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

fn pair(text: &str) -> EpsilonDelta {
    text.parse().unwrap()
}

/// `value` is at least `reference` and at most a relative 1e-12 above it, where `reference` has an error of 1e-14.
fn just_above(value: &Exact, reference: f64) {
    let value = value.to_f64(Round::Up);
    assert!(
        value >= reference * (1.0 - 1e-14),
        "{value} is below {reference}"
    );
    assert!(
        value <= reference * (1.0 + 1e-12),
        "{value} is far above {reference}"
    );
}

/// Lists of pure losses, as `(ε, times)`.
const LISTS: [&[(f64, u64)]; 4] = [
    &[(0.1, 1)],
    &[(0.01, 300)],
    &[(0.3, 2), (1.5, 1), (1e-5, 1_000_000)],
    &[(2.0, 3), (0.25, 7)],
];

fn tally_of<R: Tallied<Child = ApproxDp>>(rule: &R, list: &[(f64, u64)]) -> R::Tally {
    let mut tally = rule.start();
    for &(epsilon, n) in list {
        let epsilon = Exact::try_from(epsilon).unwrap();
        tally.absorb(&EpsilonDelta::new(epsilon, Exact::ZERO).unwrap(), n);
    }
    tally
}

fn sum(list: &[(f64, u64)], f: impl Fn(f64) -> f64) -> f64 {
    list.iter().map(|&(epsilon, n)| n as f64 * f(epsilon)).sum()
}

#[test]
fn ten_tenths_spend_one_to_zero() {
    let rule = Basic::new(PureDp);
    let gate = rule.open(&Epsilon::new(Exact::ONE)).unwrap();
    let mut tally = rule.start();
    for _ in 0..10 {
        let next = tally.after(&Epsilon::new(exact("0.1")), 1);
        assert!(rule.fits(&gate, &next));
        tally = next;
    }
    assert_eq!(rule.remaining(&gate, &tally), Some(Epsilon::ZERO));
    assert_eq!(rule.spent(&gate, &tally).bound(), &Epsilon::new(Exact::ONE));
    assert!(!rule.fits(&gate, &tally.after(&Epsilon::new(exact("1e-300")), 1)));
    // Ten times the float closest to 0.1 is a little more than 1.
    let floats = rule
        .start()
        .after(&Epsilon::new(Exact::try_from(0.1).unwrap()), 10);
    assert!(!rule.fits(&gate, &floats));
}

#[test]
fn whitehouse_is_its_formula() {
    let (slack, delta) = (5e-7f64, exact("1e-6"));
    let rule = WhitehouseOdometer::new(Exact::try_from(slack).unwrap(), delta.clone()).unwrap();
    for list in LISTS {
        let total = rule.loss(&tally_of(&rule, list));
        let v = sum(list, |e| e * e);
        just_above(
            total.bound().epsilon(),
            (2.0 * (1.0 / slack).ln() * v).sqrt() + v / 2.0,
        );
        assert_eq!(*total.bound().delta(), delta);
    }
}

#[test]
fn the_threshold_of_whitehouse_is_sharp() {
    let odometer = WhitehouseOdometer::new(exact("1e-6"), exact("1e-6")).unwrap();
    let filter = WhitehouseFilter::new(exact("1e-6")).unwrap();
    for budget in [
        "(1e-9, 1e-6)",
        "(0.01, 1e-6)",
        "(1, 1e-6)",
        "(30, 1e-6)",
        "(1000, 1e-6)",
    ] {
        let budget = pair(budget);
        let gate = filter.open(&budget).unwrap();
        let rest = filter.remaining(&gate, &filter.start()).unwrap();
        assert!(filter.fits(&gate, &filter.start().after(&rest, 1)));
        // At the threshold the odometer reads the budget; a little more is above it.
        let at = odometer.loss(&odometer.start().after(&rest, 1));
        just_above(
            at.bound().epsilon(),
            budget.epsilon().to_f64(Round::Down) * (1.0 - 1e-14),
        );
        let more = rest.epsilon().mul(&exact("1.000000000001"), Round::Up);
        let more = EpsilonDelta::new(more, Exact::ZERO).unwrap();
        assert!(!filter.fits(&gate, &filter.start().after(&more, 1)));
        assert!(!odometer.within(&odometer.start().after(&more, 1), &budget));
    }
}

#[test]
fn whitehouse_pays_for_deltas() {
    let filter = WhitehouseFilter::new(exact("4e-7")).unwrap();
    let gate = filter.open(&pair("(1, 1e-6)")).unwrap();
    let six = filter.start().after(&pair("(0.01, 1e-7)"), 6);
    assert!(filter.fits(&gate, &six));
    assert_eq!(*filter.remaining(&gate, &six).unwrap().delta(), Exact::ZERO);
    assert!(!filter.fits(&gate, &six.after(&pair("(0, 1e-30)"), 1)));
    assert!(filter.fits(&gate, &six.after(&pair("(0.01, 0)"), 1)));
    assert_eq!(*filter.spent(&gate, &six).bound().delta(), exact("1e-6"));

    let odometer = WhitehouseOdometer::new(exact("4e-7"), exact("1e-6")).unwrap();
    let seven = odometer.start().after(&pair("(0.01, 1e-7)"), 7);
    assert_eq!(odometer.loss(&seven).bound(), &EpsilonDelta::INFINITY);
    assert_eq!(
        odometer.loss(&odometer.start()).bound(),
        &EpsilonDelta::ZERO
    );
}

#[test]
fn the_bound_through_zcdp_is_its_formula_and_beats_whitehouse() {
    let (slack, delta) = (exact("1e-6"), exact("1e-5"));
    let concentrated = ConcentratedOdometer::new(slack.clone(), delta.clone()).unwrap();
    let whitehouse = WhitehouseOdometer::new(slack, delta).unwrap();
    for list in LISTS {
        let total = concentrated.loss(&tally_of(&concentrated, list));
        let (rho, log) = (sum(list, |e| e * (e / 2.0).tanh()), 1e6f64.ln());
        // A fine grid of orders is the reference.
        let bound = |t: f64| {
            let alpha = 1.0 + t.exp();
            alpha * rho + (log - alpha.ln()) / (alpha - 1.0) + (-1.0 / alpha).ln_1p()
        };
        let grid = (-80_000..400_000).map(|i| bound(f64::from(i) / 10_000.0));
        let best = grid.fold(f64::INFINITY, f64::min);
        let epsilon = total.bound().epsilon().to_f64(Round::Up);
        assert!((epsilon / best - 1.0).abs() < 1e-8, "{epsilon} {best}");
        let older = whitehouse.loss(&tally_of(&whitehouse, list));
        assert!(total.bound().epsilon() < older.bound().epsilon());
    }
}

#[test]
fn the_bound_through_zcdp_agrees_with_the_conversions() {
    let rule = ConcentratedOdometer::new(exact("1e-6"), exact("1e-5")).unwrap();
    for list in LISTS {
        let total = rule.loss(&tally_of(&rule, list));
        let rho = list.iter().map(|&(epsilon, n)| {
            let pure = Epsilon::new(Exact::try_from(epsilon).unwrap());
            measures::convert::pure_to_zcdp(&pure).value().times(n)
        });
        let converted = measures::convert::zcdp_epsilon(&Rho::new(rho.sum()), &exact("1e-6"));
        let ratio = total
            .bound()
            .epsilon()
            .div(&converted, Round::Up)
            .to_f64(Round::Up);
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    }
}

#[test]
fn the_threshold_through_zcdp_is_sharp() {
    let odometer = ConcentratedOdometer::new(exact("1e-6"), exact("1e-6")).unwrap();
    let filter = ConcentratedFilter::new(exact("1e-6")).unwrap();
    for budget in ["(0.01, 1e-6)", "(1, 1e-6)", "(8, 1e-6)", "(100, 1e-6)"] {
        let budget = pair(budget);
        let gate = filter.open(&budget).unwrap();
        let rest = filter.remaining(&gate, &filter.start()).unwrap();
        assert!(filter.fits(&gate, &filter.start().after(&rest, 1)));
        let at = odometer.loss(&odometer.start().after(&rest, 1));
        let expected = budget.epsilon().to_f64(Round::Down);
        let ratio = at.bound().epsilon().to_f64(Round::Up) / expected;
        assert!((ratio - 1.0).abs() < 1e-10, "{ratio}");
    }
}

#[test]
fn rogers_least_budget_is_its_formula() {
    let delta = 1e-5f64;
    let rule = RogersLeastBudget::new(Exact::try_from(delta).unwrap()).unwrap();
    let limit = |x: f64| {
        EpsilonDelta::new(Exact::try_from(x).unwrap(), Exact::try_from(delta).unwrap()).unwrap()
    };
    for list in LISTS {
        let tally = tally_of(&rule, list);
        let (m, v) = (sum(list, |e| e * e.exp_m1() / 2.0), sum(list, |e| e * e));
        let k = |x: f64| {
            let beta = x * x / (28.04 * (1.0 / delta).ln());
            let inner = 2.0 * (v + beta) * (1.0 + 0.5 * (v / beta + 1.0).ln());
            m + (inner * (2.0 / delta).ln()).sqrt()
        };
        let least = rule.loss(&tally).bound().epsilon().to_f64(Round::Up);
        assert!(
            (k(least) / least - 1.0).abs() < 1e-12,
            "{} {least}",
            k(least)
        );
        assert!(rule.within(&tally, &limit(least)));
        assert!(rule.within(&tally, &limit(least * 1.5)));
        assert!(!rule.within(&tally, &limit(least * (1.0 - 1e-9))));
    }
    let free = rule.start().after(&pair("(0, 1e-6)"), 3);
    assert_eq!(*rule.loss(&free).bound().epsilon(), Exact::ZERO);
    assert!(!rule.within(&rule.start().after(&pair("(0, 1e-6)"), 6), &limit(9.0)));
}

#[test]
fn rogers_odometer_is_its_formula() {
    let delta = 0.01f64;
    let exact_delta = Exact::try_from(delta).unwrap();
    let rule = RogersOdometer::new(exact_delta.clone(), 1024).unwrap();
    let one_beta = RogersOdometer::with_beta(exact_delta, exact("0.25")).unwrap();
    for list in LISTS {
        let (m, v) = (sum(list, |e| e * e.exp_m1() / 2.0), sum(list, |e| e * e));
        let bound = |beta: f64, count: f64| {
            let inner = 2.0 * (v + beta) * (1.0 + 0.5 * (1.0 + v / beta).ln());
            m + (inner * (2.0 * count / delta).ln()).sqrt()
        };
        let betas = (0..20).map(|i| f64::from(1 << i) / 1048576.0);
        let best = betas
            .map(|beta| bound(beta, 20.0))
            .fold(f64::INFINITY, f64::min);
        just_above(rule.loss(&tally_of(&rule, list)).bound().epsilon(), best);
        let expected = bound(0.25, 1.0);
        just_above(
            one_beta.loss(&tally_of(&one_beta, list)).bound().epsilon(),
            expected,
        );
    }
}

#[test]
fn a_child_without_epsilon_costs_what_the_refutation_says() {
    // Against [RRUV16] Lemma 3.5: Thm 6.5 (n = 1024, δ_g = 0.01) reports 0.003977, and Thm 3.6 reports 0.
    let rule = RogersOdometer::new(exact("0.01"), 1024).unwrap();
    let total = rule.loss(&rule.start().after(&pair("(0, 0.005)"), 1));
    assert_eq!(
        format!("{:.6}", total.bound().epsilon().to_f64(Round::Up)),
        "0.003977"
    );
    // So it is no time-uniform bound for children with δ > 0: one (0, 0.005)-DP bit with the laws (.5025, .4975) and
    // (.4975, .5025) has a larger realized loss with certainty.
    let ratio = Exact::ratio_rounded(5025, 4975, Round::Down).unwrap();
    let realized = ratio.ln(Round::Down).unwrap();
    assert!(realized > exact("0.01") && realized > *total.bound().epsilon());
    let above = rule.start().after(&pair("(0, 0.0051)"), 1);
    assert_eq!(rule.loss(&above).bound(), &EpsilonDelta::INFINITY);

    let timed = TimeUniformRogers::new(rule);
    assert_eq!(timed.bound(&timed.start().after(&Epsilon::ZERO, 1)), total);
    assert_eq!(timed.bound(&timed.start()).bound(), &EpsilonDelta::ZERO);
    let basic = TimeUniformBasic;
    assert_eq!(
        basic.bound(&basic.start().after(&Epsilon::ZERO, 1)).bound(),
        &Epsilon::ZERO
    );
}

#[test]
fn the_odometer_of_rogers_is_monotone_where_the_printed_form_is_not() {
    // Just above Σε² = 1, for small n, the two cases of [RRUV16] Thm 6.5 jump down.
    let rule = RogersOdometer::new(exact("0.01"), 2).unwrap();
    let at = |squares: f64| {
        let epsilon = Exact::try_from(squares.sqrt()).unwrap();
        let loss = EpsilonDelta::new(epsilon, Exact::ZERO).unwrap();
        rule.loss(&rule.start().after(&loss, 1))
            .bound()
            .epsilon()
            .clone()
    };
    let values: Vec<Exact> = (90..110).map(|i| at(f64::from(i) / 100.0)).collect();
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn the_improved_bound_is_its_formula() {
    let deltas = [1e-3f64, 0.2, 0.01, 0.0];
    let mut tally = ImprovedBasic.start();
    for delta in deltas {
        let loss = EpsilonDelta::new(exact("0.1"), Exact::try_from(delta).unwrap()).unwrap();
        tally.absorb(&loss, 3);
    }
    let survival: f64 = deltas.iter().map(|delta| (1.0 - delta).powi(3)).product();
    let total = ImprovedBasic.loss(&tally);
    assert_eq!(*total.bound().epsilon(), exact("1.2"));
    just_above(total.bound().delta(), 1.0 - survival);
    // One launch is exact, so one launch can spend a budget.
    let once = ImprovedBasic.start().after(&pair("(1, 1e-6)"), 1);
    assert_eq!(ImprovedBasic.loss(&once).bound(), &pair("(1, 1e-6)"));
    // [HSV25] Lemma 5.9: with every ε = 0 the total is 1 − Π(1−δ).
    let twice = ImprovedBasic.start().after(&pair("(0, 0.5)"), 2);
    just_above(ImprovedBasic.loss(&twice).bound().delta(), 0.75);
}

#[test]
fn gaussian_budgets_are_spent_exactly() {
    let rule = GaussianComposition;
    let gate = rule.open(&Mu::new(exact("0.5"))).unwrap();
    let tally = rule.start().after(&Mu::new(exact("0.1")), 25);
    assert!(rule.fits(&gate, &tally));
    assert_eq!(rule.remaining(&gate, &tally), Some(Mu::ZERO));
    assert!(!rule.fits(&gate, &tally.after(&Mu::new(exact("1e-20")), 1)));
    assert_eq!(rule.spent(&gate, &tally).bound(), &Mu::new(exact("0.5")));
}

#[test]
fn a_curve_fits_only_if_every_order_does() {
    let orders = Orders::new([16u32, 64].map(Exact::from)).unwrap();
    let curve = |a: &str, b: &str| RenyiCurve::new(&orders, [exact(a), exact(b)]).unwrap();
    let rule = Basic::new(RenyiCurveDp::new(orders.clone()));
    let gate = rule.open(&curve("0.328344", "0.862469")).unwrap();
    assert!(rule.fits(&gate, &rule.start().after(&curve("0.3", "0.8"), 1)));
    assert!(!rule.fits(&gate, &rule.start().after(&curve("0.3", "0.9"), 1)));
    assert!(!rule.fits(&gate, &rule.start().after(&curve("0.4", "0.8"), 1)));
    let rest = rule.remaining(&gate, &rule.start().after(&curve("0.3", "0.8"), 1));
    assert_eq!(rest, Some(curve("0.028344", "0.062469")));
    // A curve on other orders is foreign: it counts as infinite.
    let others = Orders::new([2u32, 64].map(Exact::from)).unwrap();
    let foreign = RenyiCurve::new(&others, [Exact::ZERO, Exact::ZERO]).unwrap();
    assert!(!rule.fits(&gate, &rule.start().after(&foreign, 1)));
    assert!(rule.fits(&gate, &rule.start().after(&foreign, 0)));
}

#[test]
fn the_union_pays_for_both_and_takes_the_better() {
    let rule = |share: &str| {
        let whitehouse = WhitehouseFilter::new(exact("1e-6")).unwrap();
        Union::new(
            (Basic::new(ApproxDp), exact(share)),
            (whitehouse, exact("1e-6")),
        )
    };
    let free = rule("0");
    let gate = free.open(&pair("(1, 1e-6)")).unwrap();
    let one = free.start().after(&pair("(1, 0)"), 1);
    let many = free.start().after(&pair("(0.01, 0)"), 300);
    assert!(free.fits(&gate, &one) && free.fits(&gate, &many));
    assert_eq!(free.spent(&gate, &one).bound(), &pair("(1, 1e-6)"));
    assert_eq!(
        free.spent(&gate, &free.start()).bound(),
        &EpsilonDelta::ZERO
    );
    // Neither rule holds for both together.
    assert!(!free.fits(&gate, &one.after(&pair("(0.01, 0)"), 300)));
    // A share of δ for the first rule has to be paid, too.
    let shared = rule("1e-7");
    assert!(matches!(
        shared.open(&pair("(1, 1e-6)")),
        Err(RuleError::Budget { .. })
    ));
    assert!(shared.open(&pair("(1, 1.1e-6)")).is_ok());
}

#[test]
fn interleaving_is_what_the_theorems_say() {
    fn of<R: Rule>(_: &R) -> Interleaving {
        R::INTERLEAVING
    }
    assert_eq!(of(&Basic::new(PureDp)), Interleaving::Concurrent);
    assert_eq!(of(&Basic::new(Zcdp)), Interleaving::Concurrent);
    assert_eq!(
        of(&Basic::new(RenyiDp::new(exact("2")).unwrap())),
        Interleaving::Concurrent
    );
    assert_eq!(of(&Basic::new(ApproxDp)), Interleaving::ConcurrentFinite);
    assert_eq!(of(&GaussianComposition), Interleaving::ConcurrentFinite);
    assert_eq!(
        of(&measures::adaptive::ApproxGaussianComposition),
        Interleaving::ConcurrentFinite
    );
    assert_eq!(of(&Basic::new(ApproxZcdp)), Interleaving::Sequential);
    assert_eq!(of(&TimeUniformBasic), Interleaving::Sequential);
    let rogers = RogersOdometer::new(exact("0.01"), 2).unwrap();
    assert_eq!(of(&rogers), Interleaving::ConcurrentFinite);
    assert_eq!(
        of(&TimeUniformRogers::new(rogers)),
        Interleaving::Sequential
    );
}

#[test]
fn parameters_outside_of_the_theorems_are_refused() {
    let refused = |result: Result<(), RuleError>| {
        assert!(
            matches!(result, Err(RuleError::Parameter { .. })),
            "{result:?}"
        );
    };
    for slack in ["0", "1", "2", "inf"] {
        refused(WhitehouseFilter::new(exact(slack)).map(drop));
        refused(WhitehouseOdometer::new(exact(slack), exact("0.5")).map(drop));
    }
    refused(WhitehouseOdometer::new(exact("1e-6"), exact("1e-7")).map(drop));
    for delta in ["0", "0.3679", "0.5", "1"] {
        refused(RogersLeastBudget::new(exact(delta)).map(drop));
        refused(RogersOdometer::new(exact(delta), 10).map(drop));
    }
    assert!(RogersLeastBudget::new(exact("0.3678")).is_ok());
    for n in [0, 1] {
        refused(RogersOdometer::new(exact("0.1"), n).map(drop));
    }
    assert!(RogersOdometer::new(exact("0.1"), u64::MAX).is_ok());
    for granularity in ["0", "1", "1e-300", "inf"] {
        refused(RogersOdometer::with_granularity(exact("0.1"), exact(granularity)).map(drop));
    }
    for beta in ["0", "inf"] {
        refused(RogersOdometer::with_beta(exact("0.1"), exact(beta)).map(drop));
    }
}

#[test]
fn budgets_that_cannot_work_are_refused() {
    let filter = WhitehouseFilter::new(exact("1e-6")).unwrap();
    assert!(matches!(
        filter.open(&pair("(1, 1e-7)")),
        Err(RuleError::Budget { .. })
    ));
    assert!(matches!(
        filter.open(&EpsilonDelta::INFINITY),
        Err(RuleError::Budget { .. })
    ));
    let basic = Basic::new(PureDp);
    assert!(matches!(
        basic.open(&Epsilon::INFINITY),
        Err(RuleError::Budget { .. })
    ));
    let order = Basic::new(RenyiDp::new(exact("2")).unwrap());
    let foreign = "1 at order 3".parse().unwrap();
    assert!(matches!(order.open(&foreign), Err(RuleError::Loss(_))));
}

/// The ends of the range of losses, for a rule with δ = 1e-9.
fn check_extremes<R: Adaptive<Child = ApproxDp, Total = ApproxDp>>(rule: &R) {
    let huge = pair("(1e4000, 0)");
    for loss in [&huge, &EpsilonDelta::INFINITY] {
        for n in [1, u64::MAX] {
            let total = rule.loss(&rule.start().after(loss, n));
            assert!(
                *total.bound().epsilon() >= exact("1e4000"),
                "{rule:?}: {total}"
            );
        }
    }
    let tiny = rule.start().after(&pair("(1e-4000, 1e-300)"), u64::MAX);
    assert!(rule.within(&tiny, &pair("(1, 1e-8)")), "{rule:?}");
}

/// What a rule remembers of extreme losses is short, they are never counted as less, and what remains is admitted.
fn check_short<R: FilterRule>(rule: &R, losses: &[ChildLoss<R>], budgets: &[TotalLoss<R>]) {
    let mut all = rule.start();
    for loss in losses {
        assert!(loss.at_most(&loss.clone().on_grid()), "{loss}");
        for n in [1, 3, u64::MAX] {
            let tally = rule.start().after(loss, n);
            let text = format!("{tally:?}");
            assert!(text.len() < 2_000, "{rule:?} remembers {text}");
            all.merge(&tally);
        }
        for budget in budgets {
            let Ok(gate) = rule.open(budget) else {
                continue;
            };
            let tally = rule.start().after(loss, 1);
            let Some(rest) = rule.remaining(&gate, &tally) else {
                continue;
            };
            assert_eq!(
                rest.clone().on_grid(),
                rest,
                "{rule:?}, {budget} after {loss}"
            );
            assert!(
                rule.fits(&gate, &tally.after(&rest, 1)),
                "{rule:?}, {budget} after {loss}"
            );
        }
    }
    let text = format!("{all:?}");
    assert!(text.len() < 2_000, "{rule:?} remembers {text}");
}

#[test]
fn extreme_losses_leave_short_tallies() {
    let digits = "7".repeat(4_000);
    let (long, longer) = (format!("0.{digits}"), format!("{digits}.{digits}"));
    let values = [
        "1e-4096",
        "1e-300",
        "1*2^-16384*5^-4096",
        &long,
        &longer,
        "0.1",
        "1e70",
        "1e100",
        "1e4096",
    ];
    let values: Vec<Exact> = values.iter().map(|text| exact(text)).collect();
    let all = |losses: Vec<Epsilon>| check_short(&Basic::new(PureDp), &losses, &losses);
    all(values.iter().cloned().map(Epsilon::new).collect());
    let mus: Vec<Mu> = values.iter().cloned().map(Mu::new).collect();
    check_short(&GaussianComposition, &mus, &mus);
    let order = RenyiDp::new(exact("2")).unwrap();
    let at_two: Vec<_> = values.iter().map(|x| order.loss(x.clone())).collect();
    check_short(&Basic::new(order), &at_two, &at_two);
    let curve = RenyiCurveDp::new(Orders::new([exact("2"), exact("3")]).unwrap());
    let curves: Vec<_> = values
        .iter()
        .map(|x| curve.loss(|order| order.mul(x, Round::Up)))
        .collect();
    check_short(&Basic::new(curve), &curves, &curves);

    let deltas = ["0", "1e-4096", "1e-9"].map(exact);
    let pairs: Vec<EpsilonDelta> = values
        .iter()
        .flat_map(|x| {
            deltas
                .iter()
                .map(|d| EpsilonDelta::new(x.clone(), d.clone()).unwrap())
        })
        .collect();
    let budgets: Vec<EpsilonDelta> = values
        .iter()
        .flat_map(|x| {
            ["0", "1e-4096", "1e-6"].map(|d| EpsilonDelta::new(x.clone(), exact(d)).unwrap())
        })
        .collect();
    check_short(&Basic::new(ApproxDp), &pairs, &budgets);
    check_short(&ImprovedBasic, &pairs, &budgets);
    check_short(
        &WhitehouseFilter::new(exact("5e-7")).unwrap(),
        &pairs,
        &budgets,
    );
    check_short(
        &WhitehouseOdometer::new(exact("5e-7"), exact("1e-6")).unwrap(),
        &pairs,
        &budgets,
    );
    check_short(
        &ConcentratedFilter::new(exact("5e-7")).unwrap(),
        &pairs,
        &budgets,
    );
    check_short(
        &RogersLeastBudget::new(exact("1e-6")).unwrap(),
        &pairs,
        &budgets,
    );
    check_short(
        &RogersOdometer::new(exact("1e-6"), 1000).unwrap(),
        &pairs,
        &budgets,
    );
}

#[test]
fn a_budget_below_the_grid_admits_what_is_free_and_a_huge_one_what_is_finite() {
    let rule = Basic::new(PureDp);
    let tiny = rule.open(&Epsilon::new(exact("1e-4096"))).unwrap();
    let free = rule.start().after(&Epsilon::ZERO, 1);
    assert!(rule.fits(&tiny, &free));
    assert_eq!(rule.remaining(&tiny, &free), Some(Epsilon::ZERO));
    assert!(!rule.fits(&tiny, &free.after(&Epsilon::new(exact("1e-4096")), 1)));

    let huge = rule.open(&Epsilon::new(exact("1e4096"))).unwrap();
    let one = rule.start().after(&Epsilon::new(Exact::ONE), 1);
    assert!(
        !rule.fits(&huge, &one.after(&Epsilon::new(exact("1e4095")), 1)),
        "it counts as infinite"
    );
    let rest = rule.remaining(&huge, &one).unwrap();
    assert!(rest.value() > &exact("1e77"));
    assert!(rule.fits(&huge, &one.after(&rest, 1)));
    assert_eq!(
        rule.remaining(&huge, &one.after(&rest, 1)),
        Some(Epsilon::ZERO)
    );
}

#[test]
fn long_decimals_add_up_exactly() {
    let rule = Basic::new(PureDp);
    let gate = rule.open(&Epsilon::new(Exact::ONE)).unwrap();
    let place = exact("1e-64");
    let rest = Exact::ONE.checked_sub(&place.times(10)).unwrap();
    let mut tally = rule.start().after(&Epsilon::new(exact("0.1")), 9);
    tally.absorb(&Epsilon::new(rest.checked_sub(&exact("0.9")).unwrap()), 1);
    tally.absorb(&Epsilon::new(place.clone()), 10);
    assert!(rule.fits(&gate, &tally));
    assert_eq!(rule.loss(&tally).bound(), &Epsilon::new(Exact::ONE));
    assert!(!rule.fits(&gate, &tally.after(&Epsilon::new(place), 1)));
}

#[test]
fn losses_of_extreme_size_are_handled() {
    check_extremes(&RogersLeastBudget::new(exact("1e-9")).unwrap());
    check_extremes(&RogersOdometer::new(exact("1e-9"), 1000).unwrap());
    check_extremes(&WhitehouseOdometer::new(exact("1e-9"), exact("2e-9")).unwrap());
    check_extremes(&ConcentratedOdometer::new(exact("1e-9"), exact("2e-9")).unwrap());
    check_extremes(&ImprovedBasic);
    check_extremes(&Basic::new(ApproxDp));
}
