//! Gaussian noise on several numbers with its own (ε, δ), staircase noise, and noise for vectors in the L2 norm: audits,
//! promises that are not kept, and how close they are to the best.

use crate::common::*;
use exact::{Exact, Round};
use measures::{L1Distance, L2Distance, convert::gaussian_delta};
use mechanisms::{
    additive::{Clamp, Vectors, add_noise, add_noise_to_vector, sum_spending},
    decimal::{FloatVectors, Grid, add_noise_to_floats, add_noise_to_floats_spending},
    noise::{ApproxGaussian, Change, Noise},
    samplers::{DiscreteGaussian, DiscreteLaplace, Staircase},
    spend::{Spend, epsilon, epsilon_delta, rho, staircase},
};
use odometer::Records;
use proptest::prelude::*;
use queryable::coins::{Distribution, laws::check_by_drawing};

fn approx(scale: u32, epsilon: &str) -> ApproxGaussian {
    let noise = DiscreteGaussian::with_scale(scale)
        .unwrap()
        .enumerating(8 * scale);
    ApproxGaussian::new(noise, epsilon).unwrap()
}

/// Two numbers change by one each, and one of two by two: the exact δ is within what is claimed, and what is claimed is near.
#[test]
fn several_coordinates_are_as_private_as_claimed() {
    for (scale, loss) in [(3, "0.5"), (3, "1"), (4, "0.8")] {
        let noise = approx(scale, loss);
        let space = Vectors::of_length(2, L2Distance).unwrap();
        let noisy = add_noise_to_vector(space, noise.clone());
        for (other, squared) in [(vec![1, 1], 2), (vec![2, 0], 4), (vec![2, 1], 5)] {
            let change = Change {
                l1: exact("3"),
                l2_squared: Exact::from(squared as u64),
                one_coordinate: false,
            };
            let claimed = noise.loss(&change);
            let report = audit_answer(&noisy, vec![0, 0], other.clone());
            let (least, most) = delta(&report, &exact(loss));
            let claim = claimed.delta().to_f64(Round::Up);
            assert!(most <= claim, "{scale} {loss} {other:?}: {most} {claim}");
            // Rounding costs some of the variance, which shows where it is small.
            assert!(
                claim < 1.6 * least,
                "{scale} {loss} {other:?}: {least} {claim}"
            );
            // Counted as one number that changes by one, it is refuted.
            let wrong = noise.loss(&Change::one(&Exact::ONE));
            assert!(least > wrong.delta().to_f64(Round::Up));
        }
    }
}

/// One number, where the sums of the exact theorem are too long: the same bound, close to that of continuous noise.
#[test]
fn wide_noise_is_near_the_continuous_one() {
    for scale in [4095u32, 4096, 4097, 1 << 20] {
        let noise = ApproxGaussian::new(DiscreteGaussian::with_scale(scale).unwrap(), "1").unwrap();
        let by = Exact::from(scale).div(&exact("4.3"), Round::Down).ceil();
        let claimed = noise.loss(&Change::one(&by)).delta().to_f64(Round::Up);
        let mu = measures::Mu::new(by.div(&Exact::from(scale), Round::Up));
        let continuous = gaussian_delta(&mu, &Exact::ONE).to_f64(Round::Up);
        assert!(
            (0.999..1.01).contains(&(claimed / continuous)),
            "{scale}: {claimed} {continuous}"
        );
    }
}

/// σ over the L2 sensitivity at (1, 1e-6) is 4.2247 for continuous noise.
#[test]
fn sigma_is_near_the_analytic_one() {
    let one = Exact::ONE;
    for (change, most) in [
        (Change::one(&one), 4.24),
        (Change::one(&exact("1e6")), 4.23),
        (Change::repeated(&one, 2), 4.27),
        (Change::repeated(&one, 15), 4.24),
        (Change::repeated(&exact("1e4"), 3), 4.23),
    ] {
        let noise = epsilon_delta(1, "1e-6").noise_for(&change).unwrap();
        assert!(noise.loss(&change).delta() <= &exact("1e-6"));
        let variance = noise.gaussian().variance().to_f64().value();
        let sigma = (variance / change.l2_squared.to_f64(Round::Down)).sqrt();
        assert!((4.2..most).contains(&sigma), "{change:?}: {sigma}");
    }
}

#[test]
fn the_staircase_is_tight() {
    for (width, step) in [(1, 1), (3, 1), (3, 2), (3, 3), (4, 2)] {
        let noise = Staircase::with_ratio(width, step, ratio(1, 3)).unwrap();
        let noisy = add_noise(noise.enumerating(40));
        for by in 1..=2 * width as i64 {
            let claimed = noisy.map().loss(&Exact::from(by as u64)).unwrap();
            let report = audit_answer(&noisy, 0, by);
            holds(&report, claimed.value(), 1e-4);
        }
        let whole = noisy.map().loss(&Exact::from(width)).unwrap();
        is_tight(&audit_answer(&noisy, 0, width as i64), whole.value(), 1e-4);
        // One more than the width costs twice as much, and a claim of once is refuted.
        let report = audit_answer(&noisy, 0, width as i64 + 1);
        assert!(delta(&report, whole.value()).0 > 0.0);
    }
    // Two numbers that change by one each cost ε each, within one width as they are.
    let noise = Staircase::with_ratio(3, 1, ratio(1, 3))
        .unwrap()
        .enumerating(14);
    let noisy = add_noise_to_vector(Vectors::of_length(2, L1Distance).unwrap(), noise);
    let claimed = noisy.map().loss(&exact("2")).unwrap();
    let report = audit_answer(&noisy, vec![0, 0], vec![1, 1]);
    holds(&report, claimed.value(), 0.05);
    assert!(delta(&report, &claimed.value().split(2)).0 > 0.0);
}

#[test]
fn the_staircase_is_drawn_as_it_is_enumerated() {
    for (width, step) in [(1, 1), (2, 1), (4, 3)] {
        let law = Staircase::with_ratio(width, step, ratio(1, 4)).unwrap();
        let found = check_by_drawing(&law.enumerating(60), 100_000, [9; 32]);
        assert!(found.is_ok(), "{width} {step}: {found:?}");
    }
    for law in [
        Staircase::new(1000, 3).unwrap(),
        Staircase::new(7, "0.5").unwrap(),
    ] {
        let found = check_by_drawing(&law.enumerating(6000), 20_000, [8; 32]);
        assert!(found.is_ok(), "{found:?}");
    }
}

/// \[GV16\]: the mean error of continuous noise is `Δ·e^(ε/2)/(e^ε − 1)` and cannot be less.
#[test]
fn the_staircase_is_as_accurate_as_published() {
    let mean = |law: &dyn Fn(usize) -> (f64, f64), arity: usize| -> f64 {
        (0..arity).map(law).map(|(x, p)| x.abs() * p).sum()
    };
    for loss in [1.0f64, 3.0, 5.0] {
        let noise = Staircase::new(200, loss.to_string())
            .unwrap()
            .enumerating(6000);
        let law = |i| {
            let (x, p) = noise.outcome(i);
            (x.to_f64().value(), p.to_rational().to_f64().value())
        };
        let best = 200.0 * (loss / 2.0).exp() / (loss.exp() - 1.0);
        let ratio = mean(&law, noise.arity()) / best;
        assert!((0.98..1.02).contains(&ratio), "{loss}: {ratio}");
        assert!(best < 200.0 / loss);
    }
    let sum = sum_spending(
        Records::new(),
        staircase("3"),
        Clamp::new(-10, 500).unwrap(),
        |x| *x,
    );
    assert_eq!(sum.unwrap().map().loss(&1).unwrap().to_string(), "3");
    for bad in [
        Change::repeated(&Exact::ONE, 2),
        Change::one(&Exact::ZERO),
        Change::one(&exact("1e30")),
    ] {
        assert!(staircase("3").noise_for(&bad).is_err());
    }
    assert!(Staircase::new(3, 0).is_err());
    assert!(Staircase::with_ratio(3, 4, ratio(1, 2)).is_err());
    assert!(Staircase::with_ratio(3, 0, ratio(1, 2)).is_err());
}

/// Short vectors: √n·d is less than d².
#[test]
fn laplace_noise_for_an_l2_bound_takes_the_smaller_norm() {
    let noise = DiscreteLaplace::new(10).unwrap();
    let vectors =
        |n| add_noise_to_vector(Vectors::of_length(n, L2Distance).unwrap(), noise.clone());
    let loss = |n, d: &str| vectors(n).map().loss(&exact(d)).unwrap().to_string();
    assert_eq!(loss(1, "5"), "0.5");
    assert_eq!(loss(4, "5"), "1");
    assert_eq!(loss(400, "5"), "2.5");
    // (3, 4) is at L2 distance 5 and costs 0.7; what is claimed is √2·5/10.
    let small = geometric(1, 2, 30);
    let noisy = add_noise_to_vector(Vectors::of_length(2, L2Distance).unwrap(), small);
    let claimed = noisy.map().loss(&exact("5")).unwrap();
    let report = audit_answer(&noisy, vec![0, 0], vec![3, 4]);
    holds(&report, claimed.value(), 1e-5);
    assert!(
        delta(
            &report,
            &geometric(1, 2, 30)
                .loss(&Change::one(&exact("5")))
                .value()
                .clone()
        )
        .0 > 0.0
    );
    let noise = epsilon(1).noise_for(&Change::one(&exact("5"))).unwrap();
    assert_eq!(noise.loss_per_unit().to_string(), "0.2");
}

/// Two numbers, each on one side of where it is rounded: both change by a step, however close they are.
#[test]
fn vectors_of_floats_are_as_private_as_claimed() {
    let (space, tenths) = (FloatVectors::of_length(2).unwrap(), Grid::new(1).unwrap());
    let noisy = add_noise_to_floats(space, tenths, geometric(1, 2, 24));
    for (zero, one, apart) in [
        ([0.04, 0.04], [0.06, 0.06], "0.03"),
        ([0.04, 0.0], [0.06, 0.0], "0.02"),
        ([0.0, 0.0], [0.3, 0.4], "0.51"),
    ] {
        let claimed = noisy.map().loss(&exact(apart)).unwrap();
        let report = audit_answer(&noisy, zero.into(), one.into());
        holds(&report, claimed.value(), 1e-5);
    }
    // As if rounding changed nothing: a third of a step is refuted, and so is one step.
    let report = audit_answer(&noisy, vec![0.04, 0.04], vec![0.06, 0.06]);
    let step = geometric(1, 2, 24).loss(&Change::one(&Exact::ONE));
    assert!(delta(&report, step.value()).0 > 0.0);
    assert_eq!(noisy.map().loss(&Exact::ZERO).unwrap().to_string(), "0");
    let fine = Grid::new(6).unwrap();
    let spent = add_noise_to_floats_spending(space, fine, rho("0.1"), "2.5").unwrap();
    assert_eq!(
        spent.map().loss(&exact("2.5")).unwrap(),
        "0.1".parse().unwrap()
    );
    assert!(FloatVectors::of_length(0).is_err());
    assert!(noisy.invoke(vec![f64::NAN, 0.0]).is_err());
    assert!(noisy.invoke(vec![0.0]).is_err());
}

proptest! {
    /// The norms of rounded vectors are within what the map uses.
    #[test]
    fn rounded_vectors_are_as_close_as_the_map_says(
        pairs in prop::collection::vec((-5.0f64..5.0, -0.3f64..0.3), 1..5),
        digits in 0u32..4,
    ) {
        let space = FloatVectors::of_length(pairs.len()).unwrap();
        let grid = Grid::new(digits).unwrap();
        let tiny = DiscreteGaussian::new(ratio(1, 1_000_000)).unwrap();
        let rounded = |data: Vec<f64>| -> Vec<i64> {
            let noisy = add_noise_to_floats(space, grid, tiny.clone());
            noisy.invoke(data).unwrap().iter().map(|x| x.steps).collect()
        };
        let (zero, one): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(x, by)| (*x, x + by)).unzip();
        let apart: f64 = zero.iter().zip(&one).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
        let steps: f64 = rounded(zero).iter().zip(rounded(one)).map(|(x, y)| ((x - y) as f64).powi(2)).sum();
        let rho = add_noise_to_floats(space, grid, DiscreteGaussian::new(ratio(1, 2)).unwrap());
        let claimed = rho.map().loss(&Exact::try_from(apart * 1.000001).unwrap()).unwrap();
        prop_assert!(steps <= claimed.value().to_f64(Round::Up) + 1e-9);
    }

    /// More change never costs less, and what the two theorems say of one number agrees.
    #[test]
    fn delta_grows_with_the_change(by in 1u64..6, numbers in 1u64..6, scale in 4u32..40) {
        let noise = ApproxGaussian::new(DiscreteGaussian::with_scale(scale).unwrap(), "1").unwrap();
        let at = |by: u64, numbers| noise.loss(&Change::repeated(&Exact::from(by), numbers)).delta().clone();
        prop_assert!(at(by, numbers) <= at(by + 1, numbers));
        prop_assert!(at(by, numbers) <= at(by, numbers + 1));
        let one = Change::one(&Exact::from(by));
        let several = Change { one_coordinate: false, ..one.clone() };
        prop_assert!(noise.loss(&one).delta() <= noise.loss(&several).delta());
    }
}
