//! All laws, on all rules and measures of this crate, on random samples.

use exact::Exact;
use measures::adaptive::{
    ApproxGaussianComposition, ConcentratedFilter, ConcentratedOdometer, GaussianComposition,
    ImprovedBasic, RogersLeastBudget, RogersOdometer, TimeUniformBasic, TimeUniformRogers, Union,
    WhitehouseFilter, WhitehouseOdometer,
};
use measures::{
    Additive, ApproxDp, ApproxGaussianDp, ApproxZcdp, Basic, Epsilon, EpsilonDelta, FilterRule,
    GaussianDp, Loss, Mu, MuDelta, Orders, PureDp, RenyiCurveDp, RenyiDp, Rho, RhoDelta, Tallied,
    Tally, Zcdp, laws,
};
use proptest::prelude::*;

/// A decimal with few digits, or a float with a full mantissa, or an end of the range.
fn value() -> impl Strategy<Value = Exact> {
    prop_oneof![
        4 => (0u32..2000, 0u32..6).prop_map(|(digits, e)| format!("{digits}e-{e}").parse().unwrap()),
        3 => (1e-9f64..4.0).prop_map(|x| Exact::try_from(x).unwrap()),
        1 => Just(Exact::ZERO),
        1 => Just(Exact::INFINITY),
        1 => Just("1e-30".parse().unwrap()),
        1 => Just("1e-4096".parse().unwrap()),
        1 => Just("1e4000".parse().unwrap()),
        1 => Just("1*2^255".parse().unwrap()),
        1 => "0\\.[0-9]{300}1".prop_map(|text| text.parse().unwrap()),
    ]
}

/// A value below 3, so that the rules' budgets matter.
fn small() -> impl Strategy<Value = Exact> {
    prop_oneof![
        3 => (0u32..300).prop_map(|digits| format!("{digits}e-2").parse().unwrap()),
        2 => (1e-6f64..3.0).prop_map(|x| Exact::try_from(x).unwrap()),
    ]
}

fn delta() -> impl Strategy<Value = Exact> {
    prop_oneof![
        2 => Just(Exact::ZERO),
        3 => (0u32..=1000, 3u32..12).prop_map(|(d, e)| format!("{d}e-{e}").parse().unwrap()),
        1 => (0f64..1e-3).prop_map(|x| Exact::try_from(x).unwrap()),
    ]
}

fn pairs(epsilon: impl Strategy<Value = Exact>) -> impl Strategy<Value = Vec<EpsilonDelta>> {
    let pair = (epsilon, delta()).prop_map(|(e, d)| EpsilonDelta::new(e, d).unwrap());
    prop::collection::vec(pair, 1..4)
}

fn sums<M: Additive>(measure: M, losses: &[M::Loss]) {
    laws::check_measure(&measure, losses).unwrap();
    let rule = Basic::new(measure);
    laws::check_adaptive(&rule, losses, losses).unwrap();
    laws::check_filter(&rule, losses, losses).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn scalar_sums(values in prop::collection::vec(value(), 1..5)) {
        sums(PureDp, &values.iter().cloned().map(Epsilon::new).collect::<Vec<_>>());
        sums(Zcdp, &values.iter().cloned().map(Rho::new).collect::<Vec<_>>());
        let order = RenyiDp::new("2.5").unwrap();
        sums(order.clone(), &values.iter().cloned().map(|e| order.loss(e)).collect::<Vec<_>>());
    }

    #[test]
    fn pair_sums(values in prop::collection::vec((value(), delta()), 1..5)) {
        let approximate = |(e, d): &(Exact, Exact)| EpsilonDelta::new(e.clone(), d.clone()).unwrap();
        sums(ApproxDp, &values.iter().map(approximate).collect::<Vec<_>>());
        let concentrated = |(e, d): &(Exact, Exact)| RhoDelta::new(e.clone(), d.clone()).unwrap();
        sums(ApproxZcdp, &values.iter().map(concentrated).collect::<Vec<_>>());
    }

    #[test]
    fn curves(values in prop::collection::vec((value(), value(), value()), 1..5)) {
        let orders = Orders::new([2u32, 8, 32].map(Exact::from)).unwrap();
        let curve = |(a, b, c): &(Exact, Exact, Exact)| {
            measures::RenyiCurve::new(&orders, [a.clone(), b.clone(), c.clone()]).unwrap()
        };
        sums(RenyiCurveDp::new(orders.clone()), &values.iter().map(curve).collect::<Vec<_>>());
    }

    #[test]
    fn gaussian(values in prop::collection::vec(value(), 1..5)) {
        let losses: Vec<Mu> = values.into_iter().map(Mu::new).collect();
        laws::check_measure(&GaussianDp, &losses).unwrap();
        laws::check_adaptive(&GaussianComposition, &losses, &losses).unwrap();
        laws::check_filter(&GaussianComposition, &losses, &losses).unwrap();
    }

    #[test]
    fn approximate_gaussian(values in prop::collection::vec((value(), delta()), 1..5)) {
        let loss = |(m, d): &(Exact, Exact)| MuDelta::new(m.clone(), d.clone()).unwrap();
        let losses: Vec<MuDelta> = values.iter().map(loss).collect();
        laws::check_measure(&ApproxGaussianDp, &losses).unwrap();
        laws::check_adaptive(&ApproxGaussianComposition, &losses, &losses).unwrap();
        laws::check_filter(&ApproxGaussianComposition, &losses, &losses).unwrap();
        // Both budgets count, and each is compared exactly.
        let gate = "(0.5, 0.01)".parse().unwrap();
        let fits = |losses: &[MuDelta]| {
            let tally = losses.iter().fold(ApproxGaussianComposition.start(), |tally, loss| tally.after(loss, 1));
            ApproxGaussianComposition.fits(&gate, &tally)
        };
        let two = |a: &str, b: &str| [a, b].map(|text| text.parse().unwrap());
        prop_assert!(fits(&two("(0.3, 0.004)", "(0.4, 0.006)")));
        prop_assert!(!fits(&two("(0.3, 0.004)", "(0.4, 0.0060000001)")));
        prop_assert!(!fits(&two("(0.3, 0.004)", "(0.4000000001, 0.006)")));
    }

    #[test]
    fn time_uniform(values in prop::collection::vec(value(), 1..5)) {
        let losses: Vec<Epsilon> = values.into_iter().map(Epsilon::new).collect();
        laws::check_time_uniform(&TimeUniformBasic, &losses).unwrap();
        let rogers = RogersOdometer::new("1e-6", 1000).unwrap();
        laws::check_time_uniform(&TimeUniformRogers::new(rogers), &losses).unwrap();
    }
}

proptest! {
    // These take roots and logarithms.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn improved_basic(losses in pairs(value()), budgets in pairs(small())) {
        laws::check_adaptive(&ImprovedBasic, &losses, &budgets).unwrap();
        laws::check_filter(&ImprovedBasic, &losses, &budgets).unwrap();
    }

    #[test]
    fn slack_rules(losses in pairs(small()), budgets in pairs(small()), slack in 3u32..20) {
        let slack: Exact = format!("1e-{slack}").parse().unwrap();
        let filter = WhitehouseFilter::new(slack.clone()).unwrap();
        laws::check_filter(&filter, &losses, &budgets).unwrap();
        let odometer = WhitehouseOdometer::new(slack.clone(), "1e-2").unwrap();
        laws::check_adaptive(&odometer, &losses, &budgets).unwrap();
        let filter = ConcentratedFilter::new(slack.clone()).unwrap();
        laws::check_filter(&filter, &losses, &budgets).unwrap();
        let odometer = ConcentratedOdometer::new(slack, "1e-2").unwrap();
        laws::check_adaptive(&odometer, &losses, &budgets).unwrap();
    }

    #[test]
    fn rogers_rules(losses in pairs(small()), budgets in pairs(small())) {
        let delta: Exact = "1e-4".parse().unwrap();
        let budgets = [&budgets[..], &["(5, 1e-4)".parse().unwrap()]].concat();
        let filter = RogersLeastBudget::new(delta.clone()).unwrap();
        laws::check_adaptive(&filter, &losses, &budgets).unwrap();
        laws::check_filter(&filter, &losses, &budgets).unwrap();
        let odometer = RogersOdometer::new(delta.clone(), 1000).unwrap();
        laws::check_adaptive(&odometer, &losses, &budgets).unwrap();
        let odometer = RogersOdometer::with_beta(delta, "0.01").unwrap();
        laws::check_adaptive(&odometer, &losses, &budgets).unwrap();
    }

    #[test]
    fn unions(losses in pairs(small()), budgets in pairs(small())) {
        let (slack, zero): (Exact, Exact) = ("1e-7".parse().unwrap(), Exact::ZERO);
        let whitehouse = WhitehouseFilter::new(slack.clone()).unwrap();
        let both = Union::new((Basic::new(ApproxDp), zero), (whitehouse, "1e-6".parse().unwrap()));
        laws::check_filter(&both, &losses, &budgets).unwrap();
        let third = ConcentratedFilter::new(slack.clone()).unwrap();
        let three = Union::new((both, "1e-6".parse().unwrap()), (third, slack));
        laws::check_filter(&three, &losses, &budgets).unwrap();
    }

    #[test]
    fn whitehouse_admits_whatever_rogers_does(
        epsilons in prop::collection::vec(1e-4f64..1.0, 1..6), n in 1u64..2000, budget in 0.05f64..8.0,
    ) {
        let delta: Exact = "1e-5".parse().unwrap();
        let budget = EpsilonDelta::new(Exact::try_from(budget).unwrap(), delta.clone()).unwrap();
        let rogers = RogersLeastBudget::new(delta).unwrap();
        let whitehouse = WhitehouseFilter::new("5e-6").unwrap();
        let (mut a, mut b) = (rogers.start(), whitehouse.start());
        for epsilon in epsilons {
            let loss = EpsilonDelta::new(Exact::try_from(epsilon).unwrap(), Exact::ZERO).unwrap();
            a.absorb(&loss, n);
            b.absorb(&loss, n);
        }
        let (old, new) = (rogers.open(&budget).unwrap(), whitehouse.open(&budget).unwrap());
        prop_assert!(!rogers.fits(&old, &a) || whitehouse.fits(&new, &b));
    }

    #[test]
    fn losses_compare_coordinate_wise(losses in pairs(value())) {
        for a in &losses {
            for b in &losses {
                let both = a.epsilon() <= b.epsilon() && a.delta() <= b.delta();
                prop_assert_eq!(a.at_most(b), both);
            }
        }
    }
}
