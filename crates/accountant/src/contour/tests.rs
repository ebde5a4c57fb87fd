//! Each of the error terms is needed, and enough; and random lists of responses against their exact sums.

use dashu_ratio::RBig;
use exact::interval::{Float, Interval};
use exact::{Exact, Round};
use measures::convert::gaussian_delta;
use measures::fixed::optimal_delta_counted;
use measures::{EpsilonDelta, Mu};

use super::factors::Factors;
use super::nodes::Contour;
use super::plan::Plan;
use super::saddle::Saddle;
use super::*;
use crate::directed::{rational, to_f64};
use crate::laws::{Laplace, Law};
use crate::reference::Cases;

fn responses(list: &[(f64, u64)]) -> List {
    let mut responses = list.to_vec();
    responses.sort_by(|a, b| b.0.total_cmp(&a.0));
    List {
        responses,
        ..List::default()
    }
}

fn gaussian(square: f64) -> List {
    List {
        gaussian: square,
        ..List::default()
    }
}

/// The δ of responses from `measures`: exact sums, rounded up by less than a relative 2^-64.
fn exactly(list: &[(f64, u64)], epsilon: f64) -> RBig {
    let pure =
        |epsilon: f64| EpsilonDelta::saturating(Exact::try_from(epsilon).unwrap(), Exact::ZERO);
    let losses: Vec<_> = list
        .iter()
        .map(|(epsilon, count)| (pure(*epsilon), *count))
        .collect();
    let delta = optimal_delta_counted(&losses, &Exact::try_from(epsilon).unwrap());
    delta.unwrap().to_rational().unwrap()
}

fn value(bound: Option<Float>) -> RBig {
    bound.unwrap().to_rational()
}

/// By which factor the bound is above the truth. Soundness has no tolerance: both are rationals.
fn excess(bound: &RBig, truth: &RBig) -> f64 {
    assert!(bound >= truth, "{bound} is below {truth}");
    match truth.is_zero() {
        true => f64::INFINITY,
        false => to_f64(&(bound / truth), Round::Up),
    }
}

/// What is left of a bound without this share of it.
fn without(bound: &RBig, share: f64) -> RBig {
    bound * (RBig::ONE - rational(share))
}

/// A contour with a plan of our own.
fn contour(list: &List, saddle: Saddle, plan: Plan) -> Contour {
    let factors = Factors::new(list, &plan).unwrap();
    Contour::on(list, saddle, plan, factors)
}

/// A thousand equal responses are a lattice: their Φ comes back to 1 at every multiple of π/ε, long after it looked small.
#[test]
fn the_truncation_is_needed_and_enough() {
    let list = responses(&[(0.1, 1000)]);
    let saddle = Saddle::for_delta(&list, 1e-6f64.ln());
    let plan = Plan::new(&list, &saddle, 1e-6f64.ln());
    // Where terms have become small: 10 standard deviations, with nothing added.
    let nodes = (10.0 / saddle.deviation / plan.step) as u32;
    let short = Plan {
        nodes,
        gaussian: 0.0,
        ..plan
    };
    let truth = exactly(&[(0.1, 1000)], 19.344);
    let contour = contour(&list, saddle, short);
    let inner = contour.inner(&rational(19.344));
    let bound = value(contour.delta(inner));
    excess(&bound, &truth);
    let less = without(
        &bound,
        contour.parts.truncation / contour.sum(inner).unwrap(),
    );
    assert!(
        less < without(&truth, 1e-6),
        "{less} {truth}: the test shows nothing"
    );
    // The whole method is above the truth of 19.34467…, and near.
    let target = Float::from_rational(&(RBig::ONE / RBig::from(1_000_000u32)), 128, Round::Down);
    let found = to_f64(&epsilon(&list, &target, 1e-6f64.ln()).unwrap(), Round::Up);
    assert!(
        found > 19.34467 && found < 19.34467 * (1.0 + 1e-4),
        "{found}"
    );
}

/// Far from its saddle a contour's sum cancels, and what is left is rounding.
#[test]
fn the_rounding_is_needed_and_enough() {
    let list = gaussian(1.0);
    let saddle = Saddle::for_epsilon(&list, 5.0);
    // Nothing is truncated and nothing is left, as far as rounding can tell.
    let plan = Plan::new(&list, &saddle, -30.0);
    let plan = Plan {
        nodes: 3 * plan.nodes,
        negligible: 0.0,
        ..plan
    };
    let contour = contour(&list, saddle, plan);
    let one = Mu::new(Exact::ONE);
    let mut short = 0;
    for i in 0..80 {
        let epsilon = 12.0 + 0.05 * f64::from(i);
        let truth = gaussian_delta(&one, &Exact::try_from(epsilon).unwrap());
        let truth = truth.to_rational().unwrap();
        let inner = contour.inner(&rational(epsilon));
        let bound = value(contour.delta(inner));
        excess(&bound, &truth);
        let share = contour.parts.rounding / contour.sum(inner).unwrap();
        short += usize::from(without(&bound, share) < truth);
    }
    assert!(short > 5, "{short}: the test shows nothing");
}

/// Nodes that are left early count by their modulus.
#[test]
fn what_is_left_is_needed_and_enough() {
    let terms = [(0.1, 300)];
    let list = responses(&terms);
    let saddle = Saddle::for_epsilon(&list, 6.0);
    let plan = Plan::new(&list, &saddle, saddle.log_delta);
    let contour = contour(
        &list,
        saddle,
        Plan {
            negligible: 0.5,
            ..plan
        },
    );
    let mut short = 0;
    for i in 0..40 {
        let epsilon = 4.0 + 0.1 * f64::from(i);
        let truth = exactly(&terms, epsilon);
        let inner = contour.inner(&rational(epsilon));
        let bound = value(contour.delta(inner));
        excess(&bound, &truth);
        let share = contour.parts.left / contour.sum(inner).unwrap();
        short += usize::from(without(&bound, share) < truth);
    }
    assert!(short > 5, "{short}: the test shows nothing");
}

/// The Gaussian that is added counts in the mass, too: at a tilt of 30 the factor `e^{μ²(λ²+λ)/2}` is 10^8.
#[test]
fn a_gaussian_that_is_added_only_adds() {
    let terms = [(0.01, 900)];
    let list = responses(&terms);
    let saddle = Saddle::at(&list, 30.0);
    let plan = Plan::new(&list, &saddle, saddle.log_delta);
    for square in [1e-4, 0.01, 0.04] {
        let contour = contour(
            &list,
            saddle,
            Plan {
                gaussian: square,
                ..plan
            },
        );
        for epsilon in [0.5, 1.0, 2.0, 3.0] {
            let bound = value(contour.delta(contour.inner(&rational(epsilon))));
            let truth = exactly(&terms, epsilon);
            excess(&bound, &truth);
        }
    }
}

/// Every tilt and every step give an upper bound, however bad the choice.
#[test]
fn every_choice_is_sound() {
    let mut cases = Cases::new(21);
    let terms = [(0.3, 7), (0.11, 30)];
    let list = responses(&terms);
    for _ in 0..150 {
        let saddle = Saddle::at(&list, cases.spread(1e-3, 100.0));
        let plan = Plan::new(&list, &saddle, saddle.log_delta);
        let step =
            f64::from_bits((plan.step * cases.spread(0.2, 30.0)).to_bits() & !((1u64 << 43) - 1));
        let nodes = 1 + cases.below(3000) as u32;
        let gaussian = plan.gaussian * cases.spread(1e-3, 1e3);
        let contour = contour(
            &list,
            saddle,
            Plan {
                step,
                nodes,
                gaussian,
                ..plan
            },
        );
        let epsilon = cases.between(0.0, 5.0);
        if let Some(bound) = contour.delta(contour.inner(&rational(epsilon))) {
            let truth = exactly(&terms, epsilon);
            assert!(bound.to_rational() >= truth, "{plan:?} {epsilon}");
        }
    }
}

/// Random lists with counts, at three thousand points: never below the exact sums, and near them.
#[test]
fn random_lists_of_responses() {
    let mut cases = Cases::new(22);
    let mut worst = 1.0f64;
    for _ in 0..150 {
        let kinds = 1 + cases.below(5);
        let scale = cases.spread(1e-3, 2.0);
        let terms: Vec<(f64, u64)> = (0..kinds)
            .map(|_| (scale * cases.spread(0.1, 1.0), 1 + cases.below(12)))
            .collect();
        let list = responses(&terms);
        let sum: f64 = terms
            .iter()
            .map(|(epsilon, count)| epsilon * *count as f64)
            .sum();
        let mut epsilons: Vec<f64> = (0..20).map(|_| cases.between(0.0, sum)).collect();
        epsilons.sort_by(f64::total_cmp);
        let points: Vec<RBig> = epsilons.iter().map(|epsilon| rational(*epsilon)).collect();
        for (epsilon, bound) in epsilons.iter().zip(deltas(&list, &points)) {
            let truth = exactly(&terms, *epsilon);
            assert!(bound.is_some(), "{terms:?} at {epsilon} of {sum}: {truth}");
            let bound = value(bound);
            let excess = excess(&bound, &truth);
            if *epsilon < 0.5 * sum && to_f64(&truth, Round::Down) > 1e-30 {
                worst = worst.max(excess);
            }
        }
    }
    assert!(worst < 1.2, "{worst}");
}

#[test]
fn near_the_pure_limit_the_formula_is_exact() {
    let terms = [(0.5, 3), (0.2, 2)];
    let list = responses(&terms);
    for epsilon in [1.6, 1.75, 1.899] {
        let bound = value(top_delta(&list, &rational(epsilon)));
        let truth = exactly(&terms, epsilon);
        assert!(excess(&bound, &truth) <= 1.0 + 1e-12);
        // A δ below the truth takes more than ε.
        let target = Float::from_rational(&without(&truth, 1e-18), 128, Round::Down);
        let found = top_epsilon(&list, &target).unwrap();
        assert!(excess(&found, &rational(epsilon)) <= 1.0 + 1e-9);
    }
    assert!(top_delta(&list, &rational(1.4)).is_none());
    assert!(top_delta(&list, &rational(1.91)).unwrap().is_zero());
    let laplace = List {
        laws: vec![(Law::Laplace(Laplace { epsilon: 0.1 }), 1)],
        ..list
    };
    assert!(top_delta(&laplace, &rational(1.8)).is_none());
}

/// Chernoff's constant: `(1 − e^−x)₊ ≤ λ^λ/(1+λ)^{1+λ}·e^{λx}`, with equality at `x = ln(1 + 1/λ)`.
#[test]
fn chernoff_is_above_the_contour() {
    for list in [responses(&[(0.1, 400)]), gaussian(0.7)] {
        let saddle = Saddle::for_delta(&list, 1e-9f64.ln());
        let contour = Contour::new(&list, saddle, 1e-9f64.ln()).unwrap();
        let target = crate::directed::float(1e-9);
        let cheap = super::bounds::chernoff_epsilon(&contour, &list, &target).unwrap();
        let found = epsilon(&list, &target, 1e-9f64.ln()).unwrap();
        let (cheap, found) = (to_f64(&cheap, Round::Up), to_f64(&found, Round::Up));
        assert!(cheap > found && cheap < 1.2 * found, "{cheap} {found}");
    }
    let lambda = Interval::int(3u8, 128);
    let x = Interval::int(4u8, 128).div_int(3).ln().unwrap();
    let left = &Interval::int(1u8, 128) - &(-&x).exp().unwrap();
    let right = &(&lambda * &x).exp().unwrap() * &Interval::int(27u8, 128).div_int(256);
    assert!((left.hi.approximate() - right.hi.approximate()).abs() < 1e-15);
}
