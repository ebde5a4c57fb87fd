//! Any mechanism on a Poisson sample: never below exact sums in either direction, and near them.

use accountant::{Accountant, Mechanism};
use dashu_ratio::RBig;
use exact::interval::{Float, Interval, exp};
use exact::{Exact, Round};

use crate::joint::{Cases, Pairs, delta, nothing, with};

fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

/// Two to four answers; now and then one that only one side gives.
fn pair(cases: &mut Cases) -> Vec<(u64, u64)> {
    let level = [3, 20, 1000][cases.below(3) as usize];
    let mut weight = || {
        (
            level + cases.below(3 * level),
            level + cases.below(3 * level),
        )
    };
    let mut weights: Vec<(u64, u64)> = (0..2).map(|_| weight()).collect();
    if cases.below(2) == 0 {
        weights.push((cases.below(3), cases.below(3)));
    }
    weights
}

fn shares(weights: &[(u64, u64)]) -> Pairs {
    let sums = weights
        .iter()
        .fold((0, 0), |sum, w| (sum.0 + w.0, sum.1 + w.1));
    let share = |n: u64, d: u64| RBig::from_parts(n.into(), d.into());
    weights
        .iter()
        .map(|w| (share(w.0, sums.0), share(w.1, sums.1)))
        .collect()
}

/// The record is in the first data set, and in the sample with probability q.
fn with_sampling(pairs: &Pairs, q: &RBig) -> Pairs {
    let mixed = |(p, without): &(RBig, RBig)| (q * p + (RBig::ONE - q) * without, without.clone());
    pairs.iter().map(mixed).collect()
}

#[test]
fn never_below_exact_sums() {
    let mut cases = Cases(0xa11ce);
    let mut worst = 0.0f64;
    for _ in 0..150 {
        let weights = pair(&mut cases);
        let rate = Exact::ratio(u128::from(1 + cases.below(99)), 100).unwrap();
        let count = 1 + cases.below(5);
        let numbers: Vec<_> = weights
            .iter()
            .map(|w| (Exact::from(w.0), Exact::from(w.1)))
            .collect();
        let sampled = Mechanism::finite(&numbers)
            .unwrap()
            .poisson_sampled(rate.clone())
            .unwrap();
        let one = with_sampling(&shares(&weights), &rate.to_rational().unwrap());
        let joint = with(nothing(), &one, count);
        let all = Accountant::new().add(sampled, count);
        let epsilons: Vec<Exact> = (0..6)
            .map(|i| Exact::ratio(u128::from(cases.below(80) + i), 100).unwrap())
            .collect();
        for (epsilon, found) in all.curve(epsilons).unwrap() {
            let odds = exp(&epsilon, Round::Up).to_rational().unwrap();
            let truth = delta(&joint, &odds);
            assert!(
                found.to_rational().unwrap() >= truth,
                "{all:?} at {epsilon}: {found}"
            );
            let truth = Exact::from_rational(&truth, Round::Down)
                .unwrap()
                .to_f64(Round::Down);
            if truth > 1e-3 {
                worst = worst.max(found.to_f64(Round::Up) / truth);
            }
        }
    }
    assert!(worst < 1.05, "{worst}");
}

/// At δ = 0 the largest loss is `ln(1 + q(e^ε − 1))`, however the law is given; with δ it is `qδ`.
#[test]
fn responses_and_failures() {
    let (rate, epsilon) = (exact("0.01"), exact("0.7"));
    let claimed = (0.01 * 0.7f64.exp_m1()).ln_1p();
    for mechanism in [
        Mechanism::randomized_response(epsilon.clone()).unwrap(),
        Mechanism::discrete_laplace(1, exact("1").div(&epsilon, Round::Down)).unwrap(),
        Mechanism::laplace(epsilon.clone(), exact("1")).unwrap(),
        Mechanism::mixture([(
            exact("1"),
            Mechanism::randomized_response(epsilon.clone()).unwrap(),
        )])
        .unwrap(),
    ] {
        let sampled = mechanism.poisson_sampled(rate.clone()).unwrap();
        let found = Accountant::new()
            .add(sampled, 1)
            .epsilon(&Exact::ZERO)
            .unwrap()
            .to_f64(Round::Up);
        assert!(
            found >= claimed && found < claimed * (1.0 + 1e-9),
            "{mechanism:?}: {found} {claimed}"
        );
    }
    let leaky = Mechanism::approximate(epsilon, exact("1e-4"))
        .unwrap()
        .poisson_sampled(rate)
        .unwrap();
    let all = Accountant::new().add(leaky, 1);
    let found = all
        .epsilon(&exact("1.0000001e-6"))
        .unwrap()
        .to_f64(Round::Up);
    assert!(
        found >= claimed * 0.999 && found < claimed * (1.0 + 1e-3),
        "{found} {claimed}"
    );
    assert_eq!(all.epsilon(&exact("0.9999999e-6")), Ok(Exact::INFINITY));
}

const BITS: usize = 128;

fn rational(x: &RBig) -> Interval {
    Interval::rational(x, BITS)
}

/// The weights of 0 to `most`, and all weights of the integers together. They fall by more than half from one integer to the
/// next beyond `most`.
struct Weights {
    weights: Vec<Interval>,
    total: Interval,
}

impl Weights {
    const MOST: i64 = 1000;

    fn new(exponent: impl Fn(i64) -> RBig) -> Self {
        let weight = |x: i64| rational(&exponent(x)).exp().unwrap();
        let weights: Vec<Interval> = (0..=Self::MOST).map(weight).collect();
        let beyond = &weights[weights.len() - 1] * &Interval::int(100u8, BITS);
        let beyond = Interval {
            lo: Float::from_rational(&RBig::ZERO, BITS, Round::Down),
            ..beyond
        };
        let sum = weights[1..]
            .iter()
            .fold(beyond, |sum, weight| &sum + weight);
        let total = &weights[0] + &(&sum + &sum);
        Self { weights, total }
    }

    fn at(&self, x: i64) -> Interval {
        let weight = &self.weights[x.unsigned_abs() as usize];
        weight.div(&self.total).unwrap()
    }
}

/// A lower bound on δ for one run of noise on the integers, summed answer by answer.
fn summed(law: &Weights, distance: i64, rate: &RBig, epsilon: &RBig) -> RBig {
    let (rate, odds) = (rational(rate), rational(epsilon).exp().unwrap());
    let rest = &Interval::int(1u8, BITS) - &rate;
    let (mut removed, mut added) = (RBig::ZERO, RBig::ZERO);
    let above_zero = |x: Interval| x.lo.to_rational().max(RBig::ZERO);
    for x in -400..=400 {
        let (with, without) = (law.at(x - distance), law.at(x));
        let mixed = &(&rate * &with) + &(&rest * &without);
        removed += above_zero(&mixed - &(&odds * &without));
        added += above_zero(&without - &(&odds * &mixed));
    }
    removed.max(added)
}

#[test]
fn noise_on_the_integers() {
    let number = |x: &Exact| x.to_rational().unwrap();
    for (distance, scale) in [(1u64, 2u64), (5, 3), (40, 20)] {
        let over = |x: i64, by: u64| RBig::from_parts((-x).into(), by.into());
        let noises = [
            (
                Mechanism::discrete_laplace(distance, Exact::from(scale)),
                Weights::new(|x| over(x, scale)),
            ),
            (
                Mechanism::discrete_gaussian(distance, Exact::from(scale)),
                Weights::new(|x| over(x * x, 2 * scale * scale)),
            ),
        ];
        for (mechanism, law) in noises {
            let mechanism = mechanism.unwrap();
            for (rate, epsilon) in ["0.05", "0.6"]
                .into_iter()
                .flat_map(|rate| ["0.01", "0.1", "0.4"].map(|epsilon| (rate, epsilon)))
            {
                let sampled = mechanism.poisson_sampled(exact(rate)).unwrap();
                let found = Accountant::new().add(sampled, 1).delta(&exact(epsilon));
                let found = number(&found.unwrap());
                let truth = summed(
                    &law,
                    distance as i64,
                    &number(&exact(rate)),
                    &number(&exact(epsilon)),
                );
                let what = format!("{mechanism:?} {rate} {epsilon}");
                assert!(found >= truth, "{what}: below");
                let most = truth * RBig::from_parts(102.into(), 100u8.into())
                    + RBig::from_parts(1.into(), 10_000_000u32.into());
                assert!(found <= most, "{what}: far above");
            }
        }
    }
}

/// Discrete noise with a large σ is nearly the continuous one, composed a thousand times; a sample of a sample is a sample.
#[test]
fn many_runs() {
    let known = 2.124_515_171_120;
    let epsilon = |mechanism: Mechanism| {
        let all = Accountant::new().add(mechanism, 1000);
        all.epsilon(&exact("1e-6")).unwrap().to_f64(Round::Up)
    };
    let closed = Mechanism::gaussian(exact("1"), exact("1")).unwrap();
    let found = epsilon(closed.poisson_sampled(exact("0.01")).unwrap());
    assert!(found >= known && found < known * (1.0 + 1e-6), "{found}");
    let twice = closed
        .poisson_sampled(exact("0.1"))
        .unwrap()
        .poisson_sampled(exact("0.1"))
        .unwrap();
    let found = epsilon(twice);
    assert!(found >= known && found < known * (1.0 + 1e-6), "{found}");
    // Another law: near the continuous one, on either side of it.
    let discrete = Mechanism::discrete_gaussian(200, exact("200")).unwrap();
    let found = epsilon(discrete.poisson_sampled(exact("0.01")).unwrap());
    assert!(
        found > known * (1.0 - 1e-4) && found < known * 1.005,
        "{found}"
    );
    // Too wide to be summed: as without sampling.
    let wide = Mechanism::discrete_gaussian(1, exact("5000")).unwrap();
    assert_eq!(wide.poisson_sampled(exact("0.5")), Ok(wide.clone()));
}

#[test]
fn rates_at_the_ends() {
    let noise = Mechanism::laplace(exact("1"), exact("3")).unwrap();
    assert!(noise.poisson_sampled(exact("1.001")).is_err());
    assert_eq!(noise.poisson_sampled(exact("1")), Ok(noise.clone()));
    let none = Accountant::new().add(noise.poisson_sampled(Exact::ZERO).unwrap(), 1 << 40);
    assert_eq!(none.delta(&Exact::ZERO), Ok(Exact::ZERO));
    let tiny = noise.poisson_sampled(exact("1e-30")).unwrap();
    assert!(
        Accountant::new()
            .add(tiny, 1000)
            .epsilon(&exact("1e-9"))
            .unwrap()
            < exact("1e-20")
    );
    let open = Mechanism::randomized_response(Exact::INFINITY)
        .unwrap()
        .poisson_sampled(exact("0.25"))
        .unwrap();
    let delta = Accountant::new()
        .add(open, 1)
        .delta(&exact("3"))
        .unwrap()
        .to_f64(Round::Up);
    assert!((0.25..0.25000001).contains(&delta), "{delta}");
}
