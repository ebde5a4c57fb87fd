//! Parts of a budget: all of them fit it, under the rule that adds them up, and hardly anything is lost.

use exact::{Exact, Round};
use measures::adaptive::{ApproxGaussianComposition, GaussianComposition};
use measures::{
    ApproxDp, ApproxZcdp, Basic, Epsilon, EpsilonDelta, FilterRule, Measure, Mu, MuDelta, Orders,
    PureDp, RenyiCurveDp, RenyiDp, Rho, RhoDelta, Split, Tally, TotalLoss, Zcdp,
};
use proptest::prelude::*;

/// `n` parts fit the budget.
fn fit<R>(rule: R, budget: &TotalLoss<R>, n: u64)
where
    R: FilterRule + measures::Rule<Child = <R as measures::Rule>::Total>,
    TotalLoss<R>: Split,
{
    let gate = rule.open(budget).unwrap();
    let spent = rule.start().after(&budget.split(n), n);
    assert!(rule.fits(&gate, &spent), "{n} parts of {budget:?}");
}

fn value() -> impl Strategy<Value = Exact> {
    prop_oneof![
        (1..u64::MAX, 0u32..30).prop_map(|(digits, e)| format!("{digits}e-{e}").parse().unwrap()),
        (1e-9f64..1e6).prop_map(|x| Exact::try_from(x).unwrap()),
        (1..1000u128, 1..1000u128).prop_map(|(a, b)| Exact::ratio(a, b).unwrap()),
    ]
}

proptest! {
    #[test]
    fn parts_fit_the_budget(a in value(), delta in 1e-12f64..0.9, n in 0..50u64, many: u32) {
        let delta = Exact::try_from(delta).unwrap();
        for n in [0, 1, 3, n, many.into()] {
            fit(Basic::new(PureDp), &Epsilon::new(a.clone()), n);
            fit(Basic::new(Zcdp), &Rho::new(a.clone()), n);
            fit(Basic::new(ApproxDp), &EpsilonDelta::new(a.clone(), delta.clone()).unwrap(), n);
            fit(Basic::new(ApproxZcdp), &RhoDelta::new(a.clone(), delta.clone()).unwrap(), n);
            let at_two = RenyiDp::new(2).unwrap();
            fit(Basic::new(at_two.clone()), &at_two.loss(a.clone()), n);
            let orders = RenyiCurveDp::new(Orders::new([2u32, 3].map(Exact::from)).unwrap());
            fit(Basic::new(orders.clone()), &orders.loss(|order| order + &a), n);
        }
    }

    #[test]
    fn gaussian_parts_fit_the_budget(digits in 1..u64::MAX, e in 0u32..30, n in 1..50u64, many: u32) {
        let mu: Mu = format!("{digits}e-{e}").parse().unwrap();
        for n in [0, 1, 3, 4, n, many.into()] {
            fit(GaussianComposition, &mu, n);
            let both = MuDelta::new(mu.value().clone(), "1e-6".parse().unwrap()).unwrap();
            fit(ApproxGaussianComposition, &both, n);
        }
        // And hardly anything is lost: n times the square of a part.
        let part = mu.split(n);
        let all = part.value().pow(2, Round::Down).times(n).sqrt(Round::Down);
        let least = mu.value().mul(&"0.999999999999999999".parse().unwrap(), Round::Down);
        prop_assert!(all >= least, "{n} parts of {mu} make {all}");
    }
}

#[test]
fn no_parts_one_part_and_thirds() {
    let one: Epsilon = "1".parse().unwrap();
    assert_eq!(one.split(0), Epsilon::ZERO);
    assert_eq!(one.split(1), one);
    assert!(one.split(3).value() < &Exact::ratio(1, 3).unwrap());
    assert_eq!(one.split(3).to_string(), "0.33333333333333334"); // as shown, rounded up
    let pair: EpsilonDelta = "(1, 1e-6)".parse().unwrap();
    assert_eq!(pair.split(0), EpsilonDelta::ZERO);
    assert_eq!(pair.split(4), "(0.25, 2.5e-7)".parse().unwrap());
    assert_eq!(EpsilonDelta::INFINITY.split(3), EpsilonDelta::INFINITY);
    assert_eq!(EpsilonDelta::INFINITY.split(0), EpsilonDelta::ZERO);
    assert_eq!(RhoDelta::INFINITY.split(7), RhoDelta::INFINITY);
    let mu: Mu = "0.6".parse().unwrap();
    assert_eq!(mu.split(9), "0.2".parse().unwrap());
    assert_eq!(mu.split(1), mu);
    assert_eq!(mu.split(0), Mu::ZERO);
    assert_eq!(Mu::INFINITY.split(2), Mu::INFINITY);
    let both: MuDelta = "(0.6, 9e-6)".parse().unwrap();
    assert_eq!(both.split(9), "(0.2, 1e-6)".parse().unwrap());
    assert_eq!(both.split(0), MuDelta::ZERO);
    assert_eq!(MuDelta::INFINITY.split(2), MuDelta::INFINITY);
    let at_two = RenyiDp::new(2).unwrap();
    assert_eq!(at_two.infinity().split(2), at_two.infinity());
    assert_eq!(at_two.loss(Exact::ONE).split(0), at_two.zero());
}
