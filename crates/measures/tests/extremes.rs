//! Every conversion at the ends of the range: the answer is a valid one. (That it does not take thousands of digits is
//! how `exact::interval::refine` is made: it gives up at 2^12 bits, and a closed form takes over.)

use exact::{Exact, Round};
use measures::convert::*;
use measures::{Epsilon, Loss, Mu, RenyiDp, RenyiEpsilon, Rho};

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

/// From the smallest to the largest, and a number of thousands of digits.
fn numbers() -> Vec<Exact> {
    let texts = [
        "1*2^-16384",
        "1e-4096",
        "1e-1000",
        "1e-300",
        "1e-155",
        "1e-153",
        "1e-40",
        "1e-9",
        "0.5",
        "1",
        "3",
        "1000",
        "1e9",
        "1e15",
        "1e30",
        "1e100",
        "1e153",
        "1e155",
        "1e300",
        "1e1000",
        "1e4000",
        "1*2^16383",
    ];
    let long = Exact::ratio(1, 3).unwrap() + exact("1e-4096");
    texts.into_iter().map(exact).chain([long]).collect()
}

#[test]
fn every_conversion_answers_every_number() {
    let numbers = numbers();
    let probabilities: Vec<&Exact> = numbers.iter().filter(|x| **x < Exact::ONE).collect();
    let orders: Vec<RenyiDp> = numbers
        .iter()
        .map(|x| RenyiDp::new(Exact::ONE + x).unwrap())
        .collect();
    for a in &numbers {
        let (pure, rho, mu) = (
            Epsilon::new(a.clone()),
            Rho::new(a.clone()),
            Mu::new(a.clone()),
        );
        // t = √(2ε) always does, and μ = 2t.
        let enough = a.times(2).sqrt(Round::Up).times(2);
        assert!(
            *pure_to_gaussian(&pure).value() <= enough,
            "pure {a} to Gaussian"
        );
        for order in &orders {
            let renyi = pure_to_renyi(&pure, order);
            assert!(renyi.epsilon() <= a, "pure {a} to order {}", order.order());
        }
        for epsilon in &numbers {
            assert!(
                zcdp_delta(&rho, epsilon) <= Exact::ONE,
                "zCDP {a} at ε = {epsilon}"
            );
            assert!(
                gaussian_delta(&mu, epsilon) <= Exact::ONE,
                "Gaussian {a} at ε = {epsilon}"
            );
        }
        for delta in &probabilities {
            let epsilon = zcdp_epsilon(&rho, delta);
            // Beyond, no guarantee is a valid answer, too.
            let ordinary = *a < exact("1e150");
            assert!(epsilon.is_finite() || !ordinary, "zCDP {a} at δ = {delta}");
        }
    }
}

#[test]
fn every_order_answers_every_number() {
    let numbers: Vec<Exact> = numbers().into_iter().step_by(3).collect();
    for (order, tau) in numbers
        .iter()
        .flat_map(|a| numbers.iter().map(move |b| (a, b)))
    {
        let loss = RenyiEpsilon::new(Exact::ONE + order, tau.clone()).unwrap();
        for other in &numbers {
            let delta = renyi_delta(&loss, other);
            let _valid_and_soon = renyi_epsilon(&loss, other);
            assert!(delta <= Exact::ONE);
        }
    }
    // At ε = τ the bound is (α−1)^(α−1)/α^α, which comes close to 1/(eα).
    let loss = RenyiEpsilon::new(exact("1e4000"), exact("0.5")).unwrap();
    let delta = renyi_delta(&loss, &exact("0.5"));
    assert!(delta <= exact("1.0001e-4000") && delta >= exact("0.3678e-4000"));
}

#[test]
fn a_divergence_beyond_all_measure_is_one() {
    for rho in ["1e12", "1e30", "1e300", "1e4000"] {
        assert_eq!(zcdp_delta(&rho.parse().unwrap(), &exact("1")), Exact::ONE);
    }
}

/// On both sides of where the closed forms take over, bounds agree, and grow with the loss.
#[test]
fn closed_forms_meet_the_exact_ones() {
    let (low, high) = ("1*2^-512", "1*2^512");
    for at in [low, high] {
        let inside = exact(at);
        let [below, above] =
            ["0.999999999999", "1.000000000001"].map(|by| inside.mul(&exact(by), Round::Up));
        let near = |a: &Exact, b: &Exact, ratio: &str| {
            assert!(a <= b && *b <= a.mul(&exact(ratio), Round::Up), "{a} {b}");
        };
        let mu = |epsilon: &Exact| pure_to_gaussian(&Epsilon::new(epsilon.clone())).into_value();
        near(&mu(&below), &mu(&above), "1.0001");
        let two = RenyiDp::new(exact("2")).unwrap();
        let renyi = |epsilon: &Exact| {
            pure_to_renyi(&Epsilon::new(epsilon.clone()), &two)
                .epsilon()
                .clone()
        };
        near(&renyi(&below), &renyi(&above), "1.0001");
        // δ at ε = 0, at ε = μ, and beyond.
        for times in ["0", "1", "5"].map(exact) {
            let delta =
                |mu: &Exact| gaussian_delta(&Mu::new(mu.clone()), &mu.mul(&times, Round::Up));
            let (a, b) = (delta(&below), delta(&above));
            near(&a.clone().min(b.clone()), &a.max(b), "40");
        }
    }
}

/// What is claimed for extreme numbers is at least what is claimed for smaller ones that are computed exactly.
#[test]
fn closed_forms_are_upper_bounds() {
    let normal = Mu::new(exact("1*2^-511"));
    for times in ["0", "0.5", "1", "3"].map(exact) {
        // δ_μ(ε) grows with μ, and δ(tμ)/μ hardly changes at this size: compare per unit of μ.
        let scaled = |mu: &Mu| {
            gaussian_delta(mu, &mu.value().mul(&times, Round::Down)).div(mu.value(), Round::Up)
        };
        let tiny = Mu::new(exact("1*2^-600"));
        assert!(scaled(&tiny) >= scaled(&normal).mul(&exact("0.999999"), Round::Down));
    }
    let huge = Mu::new(exact("1*2^600"));
    assert_eq!(gaussian_delta(&huge, &exact("1*2^1000")), Exact::ONE);
    assert!(gaussian_delta(&huge, &exact("1*2^1300")) < exact("1e-1000"));
    assert!(gaussian_epsilon(&huge, &exact("1e-6")).is_finite());
    let tiny = Mu::new(exact("1*2^-600"));
    assert_eq!(gaussian_epsilon(&tiny, &exact("1e-6")), Exact::ZERO);
    let epsilon = gaussian_epsilon(&tiny, &exact("1*2^-700"));
    assert!(gaussian_delta(&tiny, &epsilon) <= exact("1*2^-700"));
    // Total variation: P(|Z| < μ/2) has to reach tanh(ε/2), and does with μ = ε·√(π/2).
    let mu = pure_to_gaussian(&"1*2^-600".parse().unwrap());
    assert!(mu.at_most(&Mu::new(
        exact("1.2533141373155004").mul(&exact("1*2^-600"), Round::Up)
    )));
}
