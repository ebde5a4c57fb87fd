//! Products of trade-off functions: never below the exact composition, and close to it.

use exact::{Exact, Round};
use measures::convert::{GaussianToTradeoff, gaussian_delta, tradeoff_to_profile};
use measures::fixed::{TradeoffProduct, optimal_delta};
use measures::{Conversion, EpsilonDelta, FixedRule, Measure, Tradeoff, TradeoffDp};

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
