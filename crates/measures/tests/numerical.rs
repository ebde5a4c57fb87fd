//! Rule D5 in both forms: never below the exact composition, and close to it.

use exact::{Exact, Round};
use measures::convert::{
    GaussianToProfile, GaussianToTradeoff, gaussian_delta, tradeoff_to_profile,
};
use measures::fixed::{Numerical, TradeoffProduct, optimal_delta};
use measures::{
    Conversion, EpsilonDelta, FixedRule, Measure, Profile, ProfileDp, Tradeoff, TradeoffDp,
};

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

fn pair(text: &str) -> EpsilonDelta {
    text.parse().unwrap()
}

fn functions(losses: &[EpsilonDelta]) -> Vec<Tradeoff> {
    losses.iter().map(Tradeoff::from_approx).collect()
}

/// δ found is at least the exact one, and at most `slack` above.
fn assert_between(found: &Exact, exactly: &Exact, slack: &str) {
    let rounding = exact("1e-25");
    assert!(
        found.clone() + rounding >= *exactly,
        "{found} is below {exactly}"
    );
    assert!(
        *found <= exactly.clone() + exact(slack),
        "{found} is above {exactly}"
    );
}

#[test]
fn products_of_few_responses_are_exact() {
    let losses = [
        pair("(0.5, 0)"),
        pair("(0.25, 0.01)"),
        pair("(1, 0)"),
        pair("(0.5, 1e-6)"),
    ];
    let product = TradeoffProduct::default()
        .compose(&functions(&losses))
        .unwrap();
    let profile = tradeoff_to_profile(&product);
    for epsilon in ["0", "0.3", "0.75", "1", "1.9", "2.25", "3"] {
        let exactly = optimal_delta(&losses, &exact(epsilon)).unwrap();
        assert_between(&profile.delta_at(&exact(epsilon)), &exactly, "1e-13");
    }
}

#[test]
fn coarser_products_claim_less() {
    let losses = vec![pair("(0.3, 0)"); 32];
    let fine = TradeoffProduct::new(256)
        .unwrap()
        .compose(&functions(&losses))
        .unwrap();
    let coarse = TradeoffProduct::new(24)
        .unwrap()
        .compose(&functions(&losses))
        .unwrap();
    for i in 0..100 {
        let x = Exact::ratio(i, 100).unwrap();
        assert!(coarse.at(&x, Round::Down) <= fine.at(&x, Round::Up) + exact("1e-30"));
    }
    assert!(coarse.corners().count() <= 24);
    for epsilon in ["0.5", "1", "2", "3"] {
        let exactly = optimal_delta(&losses, &exact(epsilon)).unwrap();
        let at = |f: &Tradeoff| tradeoff_to_profile(f).delta_at(&exact(epsilon));
        assert_between(&at(&fine), &exactly, "1e-13");
        assert_between(&at(&coarse), &exactly, "0.1");
    }
}

#[test]
fn products_of_gaussians_follow_the_root_of_squares() {
    // μ = 0.6 and 0.8 compose to exactly 1.
    let tangents = GaussianToTradeoff { tangents: 33 };
    let parts = [
        tangents.convert(&"0.6".parse().unwrap()),
        tangents.convert(&"0.8".parse().unwrap()),
    ];
    let product = TradeoffProduct::default()
        .compose(&parts.map(Result::unwrap))
        .unwrap();
    let profile = tradeoff_to_profile(&product);
    for epsilon in ["0", "0.5", "1", "2", "3"] {
        let exactly = gaussian_delta(&"1".parse().unwrap(), &exact(epsilon));
        assert_between(&profile.delta_at(&exact(epsilon)), &exactly, "0.004");
    }
}

#[test]
fn product_edges() {
    let rule = TradeoffProduct::default();
    assert_eq!(rule.compose(&[]), Ok(TradeoffDp.zero()));
    let some = Tradeoff::from_approx(&pair("(1, 0.1)"));
    assert_eq!(
        rule.compose(&[TradeoffDp.zero(), some.clone()]),
        Ok(some.clone())
    );
    assert_eq!(
        rule.compose(&[some, TradeoffDp.infinity()]),
        Ok(TradeoffDp.infinity())
    );
    assert!(TradeoffProduct::new(3).is_err());
}

fn numerical(step: &str, tail: &str, epsilons: &[&str]) -> Numerical {
    Numerical::new(
        exact(step),
        exact(tail),
        epsilons.iter().map(|epsilon| exact(epsilon)),
    )
    .unwrap()
}

#[test]
fn numerical_is_above_the_exact_composition() {
    let losses = [vec![pair("(0.1, 0)"); 20], vec![pair("(0.25, 1e-7)"); 3]].concat();
    let profiles: Vec<_> = losses
        .iter()
        .map(|loss| Profile::new([loss.clone()]))
        .collect();
    let epsilons = ["0", "0.5", "1", "1.5", "2.5"];
    for (step, slack) in [("0.01", "0.05"), ("0.001", "0.005")] {
        let total = numerical(step, "1e-15", &epsilons)
            .compose(&profiles)
            .unwrap();
        for epsilon in epsilons {
            let exactly = optimal_delta(&losses, &exact(epsilon)).unwrap();
            assert_between(&total.delta_at(&exact(epsilon)), &exactly, slack);
        }
    }
}

#[test]
fn numerical_on_the_grid_is_tight() {
    // Losses that lie on the grid are not moved, except by the rounding of their corners.
    let losses = vec![pair("(0.5, 0)"); 40];
    let profiles: Vec<_> = losses
        .iter()
        .map(|loss| Profile::new([loss.clone()]))
        .collect();
    let epsilons = ["2", "5", "8"];
    let total = numerical("0.0078125", "1e-20", &epsilons)
        .compose(&profiles)
        .unwrap();
    for epsilon in epsilons {
        let exactly = optimal_delta(&losses, &exact(epsilon)).unwrap();
        let found = total.delta_at(&exact(epsilon));
        assert_between(
            &found,
            &exactly,
            &exactly.mul(&exact("0.1"), Round::Up).to_string(),
        );
    }
}

#[test]
fn numerical_gaussians() {
    // 25 times μ = 0.2 is exactly μ = 1.
    let child = GaussianToProfile { points: 65 }
        .convert(&"0.2".parse().unwrap())
        .unwrap();
    let epsilons = ["0.5", "1", "2", "4"];
    let total = numerical("0.004", "1e-12", &epsilons)
        .compose(&vec![child; 25])
        .unwrap();
    for epsilon in epsilons {
        let exactly = gaussian_delta(&"1".parse().unwrap(), &exact(epsilon));
        assert_between(&total.delta_at(&exact(epsilon)), &exactly, "0.01");
    }
}

#[test]
fn numerical_edges() {
    let rule = numerical("0.01", "0", &["1"]);
    assert_eq!(rule.compose(&[]), Ok(ProfileDp.zero()));
    let nothing = rule.compose(&[ProfileDp.infinity()]).unwrap();
    assert_eq!(nothing.delta_at(&exact("1")), Exact::ONE);
    let zero = rule.compose(&vec![ProfileDp.zero(); 9]).unwrap();
    assert!(zero.delta_at(&exact("1")) < exact("1e-12"));
    assert!(Numerical::new(Exact::ZERO, Exact::ZERO, [Exact::ONE]).is_err());
    assert!(Numerical::new(exact("0.1"), Exact::ONE, [Exact::ONE]).is_err());
    assert!(Numerical::new(exact("0.1"), Exact::ZERO, []).is_err());
    let fine = numerical("1e-12", "0", &["1"]);
    assert!(fine.compose(&[Profile::new([pair("(1, 0)")])]).is_err());
}
