//! The five compositions whose ε is known to 20 digits: by the contour formula itself, in arithmetic of 34 digits, with
//! nothing added and five times the digits of every tolerance here (mpmath). Never below, and at most a relative `1e-4` above.

use accountant::{Accountant, CertifiedApprox, Mechanism};
use exact::{Exact, Round};
use measures::convert::gaussian_epsilon;
use measures::{EpsilonDelta, FixedRule, Mu};

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

fn ratio(numerator: u128, denominator: u128) -> Exact {
    Exact::ratio(numerator, denominator).unwrap()
}

/// At least the known ε, and at most a relative `excess` above it.
fn assert_near(accountant: &Accountant, delta: &str, known: &str, excess: f64) {
    let found = accountant.epsilon(&exact(delta)).unwrap();
    // The known digits are rounded in the twentieth place.
    let below = exact(known).mul(&exact("0.9999999999999999999"), Round::Down);
    assert!(found >= below, "at {delta}: {found} is below {known}");
    let above = found.to_f64(Round::Up) / exact(known).to_f64(Round::Down) - 1.0;
    assert!(
        above <= excess,
        "at {delta}: {found} is {above:e} above {known}"
    );
}

fn responses(epsilons: impl Iterator<Item = Exact>) -> Accountant {
    epsilons.fold(Accountant::new(), |all, epsilon| {
        all.add(Mechanism::randomized_response(epsilon).unwrap(), 1)
    })
}

#[test]
fn a_thousand_different_responses() {
    let all = responses((0..1000).map(|i| ratio(17_000 + 33 * i, 1_000_000)));
    assert_near(&all, "1e-6", "5.4373027491810941921", 1e-5);
    assert_near(&all, "1e-10", "7.2412253346391916377", 1e-5);
    assert_near(&all, "1e-30", "12.78772326370645313", 1e-5);
}

#[test]
fn a_thousand_different_approximate_losses() {
    let losses: Vec<EpsilonDelta> = (0..1000)
        .map(|i| EpsilonDelta::new(ratio(17_000 + 33 * i, 1_000_000), exact("1e-10")).unwrap())
        .collect();
    let total = CertifiedApprox::new(exact("1e-6"))
        .unwrap()
        .compose(&losses)
        .unwrap();
    let found = total.epsilon().to_f64(Round::Up);
    assert!(
        (5.4613539520891..5.4613539520891 * (1.0 + 1e-5)).contains(&found),
        "{found}"
    );
    // At 1e-10 the children's own δ have more.
    let total = CertifiedApprox::new(exact("1e-10"))
        .unwrap()
        .compose(&losses)
        .unwrap();
    assert_eq!(total, EpsilonDelta::INFINITY);
}

#[test]
fn laplace_noise() {
    let all = Accountant::new().add(Mechanism::laplace(exact("1"), exact("10")).unwrap(), 1000);
    assert_near(&all, "1e-6", "18.950287367539558198", 1e-6);
    assert_near(&all, "1e-10", "23.944424850204617736", 1e-6);
    assert_near(&all, "1e-30", "39.46521437829664335", 1e-6);
}

#[test]
fn a_mix() {
    let mut all = Accountant::new();
    for i in 0..100 {
        all = all
            .add(Mechanism::laplace(exact("1"), ratio(20 + i, 1)).unwrap(), 1)
            .add(
                Mechanism::gaussian(exact("1"), ratio(30 + i, 1)).unwrap(),
                1,
            )
            .add(
                Mechanism::randomized_response(ratio(20 + i, 1000)).unwrap(),
                1,
            );
    }
    assert_near(&all, "1e-6", "3.6869292142169433939", 1e-6);
    assert_near(&all, "1e-10", "4.8831472639264833124", 1e-6);
    assert_near(&all, "1e-30", "7.9355942211984086518", 1e-6);
}

#[test]
fn a_hundred_thousand_different_responses() {
    let all = responses((0..100_000).map(|i| ratio(1_700_000 + 33 * i, 1_000_000_000)));
    assert_near(&all, "1e-6", "5.4558922105592116304", 1e-5);
    assert_near(&all, "1e-10", "7.2814789207179014294", 1e-5);
    assert_near(&all, "1e-30", "12.996541389087376828", 1e-5);
}

#[test]
fn sampled_gaussian_noise() {
    let step = Mechanism::poisson_gaussian(exact("0.01"), exact("1")).unwrap();
    let all = Accountant::new().add(step, 1000);
    assert_near(&all, "1e-6", "2.1245151711201212824", 1e-6);
    assert_near(&all, "1e-10", "3.2904437508952983617", 1e-6);
    assert_near(&all, "1e-30", "9.3418956327051485746", 1e-6);
    let step = Mechanism::poisson_gaussian(exact("0.2"), exact("0.8")).unwrap();
    let all = Accountant::new().add(step, 50);
    assert_near(&all, "1e-6", "17.138233693220831009", 1e-6);
    assert_near(&all, "1e-10", "24.185444511462475529", 1e-6);
    assert_near(&all, "1e-30", "51.75371701959540079", 1e-6);
}

#[test]
fn gaussian_noise_is_that_of_the_closed_form() {
    for (sigma, count) in [("100", 10_000), ("1", 1), ("0.3", 4), ("50", 1u64 << 40)] {
        let noise = Mechanism::gaussian(exact("1"), exact(sigma)).unwrap();
        let all = Accountant::new().add(noise, count);
        for delta in ["0.1", "1e-6", "1e-30", "1e-200"] {
            let mu = Exact::from(count)
                .sqrt(Round::Down)
                .div(&exact(sigma), Round::Down);
            let known = gaussian_epsilon(&Mu::new(mu), &exact(delta));
            let found = all.epsilon(&exact(delta)).unwrap();
            assert!(found >= known, "{sigma} {delta}: {found} {known}");
            let (found, known) = (found.to_f64(Round::Up), known.to_f64(Round::Up));
            assert!(
                found <= known * (1.0 + 1e-6) + 1e-9,
                "{sigma} {delta}: {found} {known}"
            );
        }
    }
}

/// 2^40 responses of 2^-20 are as good as one Gaussian with μ = 1, a little more: in sums of two.
#[test]
fn very_many_equal_responses() {
    let epsilon = Exact::try_from(1.0 / (1u64 << 20) as f64).unwrap();
    let all = Accountant::new().add(Mechanism::randomized_response(epsilon).unwrap(), 1 << 40);
    for (delta, known) in [("1e-6", 4.886_554_1), ("1e-30", 11.743_883_0)] {
        let found = all.epsilon(&exact(delta)).unwrap().to_f64(Round::Up);
        assert!(
            found >= known && found < known * (1.0 + 1e-5),
            "{found} {known}"
        );
    }
}

#[test]
fn equal_responses_are_summed_exactly() {
    let all = Accountant::new().add(Mechanism::randomized_response(exact("0.1")).unwrap(), 1000);
    let found = all.epsilon(&exact("1e-6")).unwrap().to_f64(Round::Up);
    assert!((19.344_671..19.344_672).contains(&found), "{found}");
    // google's accountant says 2.8565e-11, below the truth.
    let found = all.delta(&exact("25")).unwrap().to_f64(Round::Up);
    assert!((2.857_55e-11..2.857_65e-11).contains(&found), "{found}");
}

/// Curves and single questions agree, wherever contours are shared.
#[test]
fn curves_are_as_good_as_single_questions() {
    let step = Mechanism::poisson_gaussian(exact("0.01"), exact("1")).unwrap();
    let all = Accountant::new().add(step, 1000);
    let epsilons: Vec<Exact> = (0..60).map(|i| ratio(i, 10)).collect();
    let curve = all.curve(epsilons.into_iter().rev()).unwrap();
    assert!(
        curve.windows(2).all(|pair| pair[0].1 <= pair[1].1),
        "δ falls with ε"
    );
    for (epsilon, delta) in curve.iter().step_by(7) {
        let alone = all.delta(epsilon).unwrap().to_f64(Round::Up);
        let shared = delta.to_f64(Round::Up);
        assert!(
            (shared / alone - 1.0).abs() < 1e-4,
            "{epsilon}: {shared} {alone}"
        );
        let back = all.epsilon(delta).unwrap().to_f64(Round::Up);
        assert!(
            (back - epsilon.to_f64(Round::Up)).abs() < 1e-4,
            "{epsilon}: {back}"
        );
    }
}
