//! Accuracy against published bounds, each with an error probability below 1e-9.

use crate::common::*;
use mechanisms::{
    additive::add_noise,
    selection::best_of_many,
    sparse::{Sensitivity, SparseVector},
    spend::epsilon,
    statistics::{Quantile, clamping_bound, count_distinct_spending},
};
use odometer::Records;
use queryable::Root;

/// No bound is chosen that is too small by more than the margin of the comparisons, and one that is large enough by the margin is not passed
/// over: with probability `1 − 20·1e-11`, over 20 seeds.
#[test]
fn clamping_bounds_are_as_accurate_as_their_comparisons() {
    let (part, of) = (9i64, 10i64);
    let quantile = Quantile::new(part as u32, of as u32).unwrap();
    let bound = clamping_bound(Records::new(), quantile, 1, |x| *x).unwrap();
    // One record moves a comparison by 9 at the most.
    let sensitivity = Sensitivity::free(9).unwrap();
    let comparisons = SparseVector::for_comparisons(1, sensitivity, 1, (63, 0.05)).unwrap();
    assert_eq!(comparisons.loss(sensitivity), bound.map().loss(&1).unwrap());
    let margin = comparisons.margin(63, 1e-11);
    let data: Vec<i64> = (0..3000).map(|i| (i % 300) * (i % 7) - 500).collect();
    let ahead = |bound: i64| {
        let within = data.iter().filter(|x| x.abs() <= bound).count() as i64;
        (of * within - part * data.len() as i64) as f64
    };
    let powers = || (0..63).map(|power| 1i64 << power);
    let large_enough = powers().find(|bound| ahead(*bound) >= margin).unwrap();
    let too_small: Vec<i64> = powers().filter(|bound| ahead(*bound) <= -margin).collect();
    assert!(too_small.len() > 5 && large_enough <= 1 << 11);
    for seed in 0..20 {
        let found = bound.invoke_in(&Root::seeded([seed; 32]), &data.clone().into());
        let found = found.unwrap();
        assert!(
            found <= large_enough && !too_small.contains(&found),
            "{found}"
        );
    }
}

/// \[LT19\]: what a run reaches with probability γ, the best of many reaches but for `stop/γ`; in closed form but for
/// `stop·(1 − γ)/(1 − (1 − stop)(1 − γ))`. A mean of 2000 runs is off by 0.08 with probability `2e^(−2·2000·0.08²)`, below 2e-11.
#[test]
fn the_best_of_many_is_as_good_as_published() {
    let (stop, runs) = (0.01, 2000u32);
    let best = best_of_many(&add_noise(geometric(1, 2, 9)), "0.01").unwrap();
    let gamma = 0.125 / 1.5; // three or more
    let root = Root::seeded([6; 32]);
    let missed = (0..runs).filter(|_| best.invoke_in(&root, &0.into()).unwrap() < 3);
    let missed = missed.count() as f64 / f64::from(runs);
    let exact = stop * (1.0 - gamma) / (1.0 - (1.0 - stop) * (1.0 - gamma));
    assert!(exact <= stop / gamma);
    assert!((missed - exact).abs() < 0.08, "{missed} {exact}");
}

/// Laplace noise of scale 1 is off by 27 or more with probability `2e^-27/(1 + e^-1)`, below 3e-12: 20 times.
#[test]
fn distinct_keys_are_counted_within_the_noise() {
    let distinct = count_distinct_spending(Records::new(), epsilon("1"), |x: &i64| *x % 321);
    let distinct = distinct.unwrap();
    let data: Vec<i64> = (0..5000).map(|i| i * i % 10_007).collect();
    let truth = data
        .iter()
        .map(|x| x % 321)
        .collect::<std::collections::BTreeSet<_>>();
    for seed in 0..20 {
        let found = distinct.invoke_in(&Root::seeded([seed; 32]), &data.clone().into());
        assert!((found.unwrap() - truth.len() as i64).abs() < 27);
    }
}
