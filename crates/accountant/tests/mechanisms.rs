//! Mechanisms by their own sums: noise on the integers, pairs, profiles, mixtures, samples, both directions.

use accountant::{Accountant, CertifiedProfile, CertifiedPure, Mechanism};
use exact::{Exact, Round};
use measures::convert::GaussianToProfile;
use measures::fixed::{Optimal, optimal_delta};
use measures::{Conversion, Epsilon, EpsilonDelta, FixedRule, Measure, Profile, ProfileDp};

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

fn number(x: f64) -> Exact {
    Exact::try_from(x).unwrap()
}

fn delta(mechanism: &Mechanism, count: u64, epsilon: f64) -> f64 {
    let all = Accountant::new().add(mechanism.clone(), count);
    all.delta(&number(epsilon)).unwrap().to_f64(Round::Up)
}

/// At least the sum, which is exact up to a relative `1e-11`, and not far above.
fn assert_above(found: f64, sum: f64, excess: f64) {
    assert!(found >= sum * (1.0 - 1e-11), "{found} is below {sum}");
    assert!(
        found <= sum * (1.0 + excess) + 1e-300,
        "{found} is far above {sum}"
    );
}

/// `count` copies of a law on the integers, and of the same law moved: δ by convolution.
fn by_convolution(
    law: &dyn Fn(i64) -> f64,
    reach: i64,
    distance: i64,
    count: usize,
    epsilon: f64,
) -> f64 {
    let at = |shift: i64| -> Vec<f64> {
        (-reach..=reach + distance)
            .map(|x| law(x - shift))
            .collect()
    };
    let (one, moved) = (at(0), at(distance));
    // Losses repeat, so answers with the same odds are joined: by their loss, in units of the finest.
    let mut joint = vec![(1.0, 1.0, 0i64)];
    for _ in 0..count {
        let mut next = std::collections::BTreeMap::<i64, (f64, f64)>::new();
        for (p, q, place) in &joint {
            for (i, (a, b)) in one.iter().zip(&moved).enumerate() {
                let x = (i as i64 - reach).clamp(0, distance);
                let entry = next.entry(place + x).or_default();
                entry.0 += p * a;
                entry.1 += q * b;
            }
        }
        joint = next
            .into_iter()
            .map(|(place, (p, q))| (p, q, place))
            .collect();
    }
    joint
        .iter()
        .map(|(p, q, _)| (p - epsilon.exp() * q).max(0.0))
        .sum()
}

#[test]
fn discrete_laplace_noise() {
    for (distance, scale, count) in [(1, 2.0f64, 5), (3, 4.0, 6), (7, 30.0, 20)] {
        let q = (-1.0 / scale).exp();
        let law = |x: i64| (1.0 - q) / (1.0 + q) * q.powi(x.unsigned_abs() as i32);
        let mechanism = Mechanism::discrete_laplace(distance as u64, number(scale)).unwrap();
        for epsilon in [0.0, 0.3, 1.0, 1.7] {
            let sum = by_convolution(&law, (60.0 * scale) as i64, distance, count, epsilon);
            assert_above(delta(&mechanism, count as u64, epsilon), sum, 0.02);
        }
    }
    // Distance 1 is randomized response.
    let one = Mechanism::discrete_laplace(1, exact("10")).unwrap();
    let response = Mechanism::randomized_response(exact("0.1")).unwrap();
    for epsilon in [0.5, 2.0] {
        assert_above(
            delta(&one, 100, epsilon),
            delta(&response, 100, epsilon),
            1e-3,
        );
    }
    // Wide noise at a large distance is almost continuous.
    let wide = Mechanism::discrete_laplace(1_000_000, exact("10000000")).unwrap();
    let smooth = Mechanism::laplace(exact("1"), exact("10")).unwrap();
    let (a, b) = (delta(&wide, 1000, 20.0), delta(&smooth, 1000, 20.0));
    assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
}

/// The losses of discrete Gaussian noise depend on the sum of all draws alone.
fn discrete_gaussian(sigma: f64, distance: i64, count: usize, epsilon: f64) -> f64 {
    let reach = (12.0 * sigma) as i64 + 2;
    let law = |x: i64| (-(x * x) as f64 / (2.0 * sigma * sigma)).exp();
    let normal: f64 = (-reach..=reach).map(law).sum();
    let table: Vec<f64> = (-reach..=reach).map(|x| law(x) / normal).collect();
    let mut sums = vec![1.0];
    for _ in 0..count {
        let mut next = vec![0.0; sums.len() + 2 * reach as usize];
        for (i, p) in sums.iter().enumerate() {
            for (sum, q) in next[i..].iter_mut().zip(&table) {
                *sum += p * q;
            }
        }
        sums = next;
    }
    let (d, k) = (distance as f64, count as f64);
    let term = |(i, p): (usize, &f64)| {
        let sum = i as f64 - k * reach as f64;
        let loss = d * (k * d - 2.0 * sum) / (2.0 * sigma * sigma);
        p * -(epsilon - loss).min(0.0).exp_m1()
    };
    sums.iter().enumerate().map(term).sum()
}

#[test]
fn discrete_gaussian_noise() {
    for (sigma, distance, count) in [(1.0, 1, 10), (0.5, 1, 3), (3.0, 2, 12), (20.0, 1, 20)] {
        let mechanism = Mechanism::discrete_gaussian(distance as u64, number(sigma)).unwrap();
        for epsilon in [0.0, 0.5, 2.0, 6.0] {
            let sum = discrete_gaussian(sigma, distance, count, epsilon);
            if sum > 1e-25 {
                assert_above(delta(&mechanism, count as u64, epsilon), sum, 0.01);
            }
        }
    }
}

/// Laplace noise on a sample: one run by its closed form, both ways.
#[test]
fn sampled_laplace_noise() {
    let (q, e) = (0.25f64, 1.5f64);
    let mechanism = Mechanism::poisson_laplace(number(q), number(e), exact("1")).unwrap();
    let full = |odds: f64| match odds.ln() {
        x if x >= e => 0.0,
        x if x <= -e => 1.0 - odds,
        x => 1.0 - ((x - e) / 2.0).exp(),
    };
    for epsilon in [0.0f64, 0.1, 0.2, 0.5] {
        let odds = epsilon.exp();
        let removed = q * full((odds - (1.0 - q)) / q);
        let kept = 1.0 - odds * (1.0 - q);
        let added = if kept > 0.0 {
            kept * full(odds * q / kept)
        } else {
            0.0
        };
        assert_above(delta(&mechanism, 1, epsilon), removed.max(added), 0.01);
    }
    // Many runs: below noise on everything, above the same at a smaller rate.
    let at = |rate: &str| {
        let sampled = Mechanism::poisson_laplace(exact(rate), exact("1"), exact("1")).unwrap();
        Accountant::new()
            .add(sampled, 200)
            .epsilon(&exact("1e-6"))
            .unwrap()
    };
    let (small, large, all) = (at("0.01"), at("0.1"), at("1"));
    assert!(small < large && large < all, "{small} {large} {all}");
    assert_eq!(at("0"), Exact::ZERO);
}

#[test]
fn a_mixture_of_finite_pairs_is_a_finite_pair() {
    let weights = |pairs: &[(u32, u32)]| {
        pairs
            .iter()
            .map(|(p, q)| (Exact::from(*p), Exact::from(*q)))
            .collect::<Vec<_>>()
    };
    let a = Mechanism::finite(&weights(&[(3, 1), (1, 3)])).unwrap();
    let b = Mechanism::finite(&weights(&[(5, 4), (4, 5), (1, 1)])).unwrap();
    let mixed = Mechanism::mixture([(exact("1"), a), (exact("3"), b)]).unwrap();
    // Of 40: a quarter of the first, three quarters of the second.
    let joint = Mechanism::finite(&weights(&[
        (30, 10),
        (10, 30),
        (60, 48),
        (48, 60),
        (12, 12),
    ]))
    .unwrap();
    for epsilon in [0.0, 0.4, 1.0] {
        let (found, known) = (delta(&mixed, 9, epsilon), delta(&joint, 9, epsilon));
        assert!(
            (found / known - 1.0).abs() < 1e-3,
            "{epsilon}: {found} {known}"
        );
    }
    // A part without loss, and one without any guarantee.
    let silent = Mechanism::gaussian(exact("0"), exact("1")).unwrap();
    let open = Mechanism::randomized_response(Exact::INFINITY).unwrap();
    let leaky = Mechanism::mixture([(exact("9"), silent), (exact("1"), open)]).unwrap();
    assert_above(delta(&leaky, 2, 3.0), 0.19, 1e-9);
}

/// In each direction alone, (0.1, 0.9) against (0, 1) and its mirror have δ = 0.1; one after the other they have 0.19.
#[test]
fn directions_that_may_turn() {
    let weights = [("1", "0"), ("9", "1")].map(|(p, q)| (exact(p), exact(q)));
    let leaky = Mechanism::finite(&weights).unwrap();
    let mirror = Mechanism::finite(&weights.clone().map(|(p, q)| (q, p))).unwrap();
    let apart = Accountant::new()
        .add(leaky.clone(), 1)
        .add(mirror.clone(), 1);
    let apart = apart.delta(&Exact::ZERO).unwrap().to_f64(Round::Up);
    // Right, if both see the same change …
    assert!((0.1..0.1000001).contains(&apart), "{apart}");
    // … and far too little where either may turn.
    let turned = Accountant::new()
        .add(leaky.either_way().unwrap(), 1)
        .add(mirror.either_way().unwrap(), 1);
    assert!(turned.delta(&Exact::ZERO).unwrap() >= exact("0.19"));
    let step = Mechanism::poisson_gaussian(exact("0.1"), exact("1")).unwrap();
    let both = step.clone().either_way().unwrap();
    // One run, by its closed form: δ_q(e^ε) = q·δ((e^ε − (1−q))/q).
    for epsilon in [0.1f64, 0.5] {
        let inner = ((epsilon.exp() - 0.9) / 0.1).ln();
        let known = 0.1
            * measures::convert::gaussian_delta(&"1".parse().unwrap(), &number(inner))
                .to_f64(Round::Up);
        assert_above(delta(&step, 1, epsilon), known, 5e-3);
        assert_above(delta(&both, 1, epsilon), known, 5e-3);
    }
    for epsilon in [0.5, 2.0] {
        let (one, two) = (delta(&step, 20, epsilon), delta(&both, 20, epsilon));
        assert!(
            two >= one * (1.0 - 1e-3) && two < 2.0 * one,
            "{epsilon}: {one} {two}"
        );
    }
    let mixed = Mechanism::mixture([(exact("1"), step)]).unwrap();
    let mixed = mixed.either_way().unwrap();
    assert_above(delta(&mixed, 1, 0.5), delta(&both, 1, 0.5), 1e-9);
}

#[test]
fn profiles_compose_like_what_they_stand_for() {
    let losses: Vec<EpsilonDelta> = [vec!["(0.1, 0)"; 20], vec!["(0.25, 1e-7)"; 3]]
        .concat()
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    let profiles: Vec<Profile> = losses
        .iter()
        .map(|loss| Profile::new([loss.clone()]))
        .collect();
    let epsilons = ["0", "0.5", "1", "1.5"].map(exact);
    let total = CertifiedProfile::new(epsilons.clone())
        .unwrap()
        .compose(&profiles)
        .unwrap();
    for epsilon in epsilons {
        let known = optimal_delta(&losses, &epsilon).unwrap().to_f64(Round::Up);
        assert_above(total.delta_at(&epsilon).to_f64(Round::Up), known, 2e-3);
    }
}

#[test]
fn profiles_of_gaussians() {
    // 25 times μ = 0.2 is exactly μ = 1; the profiles with 65 points add a little.
    let child = GaussianToProfile { points: 65 }
        .convert(&"0.2".parse().unwrap())
        .unwrap();
    let rule = CertifiedProfile::new(["0.5", "1", "2", "4"].map(exact)).unwrap();
    let total = rule.compose(&vec![child; 25]).unwrap();
    for epsilon in ["0.5", "1", "2", "4"].map(exact) {
        let known =
            measures::convert::gaussian_delta(&"1".parse().unwrap(), &epsilon).to_f64(Round::Up);
        let found = total.delta_at(&epsilon).to_f64(Round::Up);
        assert!(
            found >= known && found < known + 0.01,
            "{epsilon}: {found} {known}"
        );
    }
}

#[test]
fn edges_of_the_rules() {
    let rule = CertifiedProfile::new([exact("1")]).unwrap();
    assert_eq!(rule.compose(&[]), Ok(ProfileDp.zero()));
    let nothing = rule.compose(&[ProfileDp.infinity()]).unwrap();
    assert_eq!(nothing.delta_at(&exact("1")), Exact::ONE);
    let zero = rule.compose(&vec![ProfileDp.zero(); 9]).unwrap();
    assert!(zero.delta_at(&exact("1")) < exact("1e-30"));
    assert!(
        CertifiedProfile::new([0u32; 0]).is_err()
            && CertifiedProfile::new([Exact::INFINITY]).is_err()
    );
    assert!(CertifiedPure::new(exact("1.5")).is_err());
    // Where `Optimal` is exact, the same number.
    let losses: Vec<Epsilon> = ["0.3", "0.5", "0.25"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let pairs: Vec<EpsilonDelta> = losses.iter().cloned().map(EpsilonDelta::from).collect();
    let ours = CertifiedPure::new(exact("1e-3"))
        .unwrap()
        .compose(&losses)
        .unwrap();
    let theirs = Optimal::new(exact("1e-3"))
        .unwrap()
        .compose(&pairs)
        .unwrap();
    let (ours, theirs) = (
        ours.epsilon().to_f64(Round::Up),
        theirs.epsilon().to_f64(Round::Up),
    );
    assert!((ours / theirs - 1.0).abs() < 1e-11, "{ours} {theirs}");
}
