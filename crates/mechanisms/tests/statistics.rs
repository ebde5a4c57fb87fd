//! Quantiles, means, variances, distinct keys, and what a person contributes: exact audits, and promises that are not kept.

mod common;

use common::*;
use measures::times;
use mechanisms::{
    additive::{Clamp, count, count_spending},
    persons::{groups_per_person, rows_per_person},
    selection::{Scores, report_noisy_max},
    sparse::SparseVector,
    spend::epsilon,
    statistics::{
        Quantile, clamping_bound, count_distinct_spending, first_bound, mean, quantile, variance,
    },
};
use odometer::{Records, Transformation};
use proptest::prelude::*;
use queryable::Root;

const DATA: [&[i64]; 5] = [&[], &[0], &[1, 2], &[0, 0, 1, 2], &[2, 2, 2, 2, 0]];

#[test]
fn quantiles_are_as_private_as_claimed() {
    for part in [
        Quantile::MEDIAN,
        Quantile::new(3, 4).unwrap(),
        Quantile::new(1, 1).unwrap(),
    ] {
        let chosen = quantile(Records::new(), part, vec![0, 1, 2], "0.5", |x| *x).unwrap();
        let replaced = quantile(Records::replaced(), part, vec![0, 1, 2], "0.5", |x| *x).unwrap();
        assert_eq!(chosen.map().loss(&1).unwrap().to_string(), "0.5");
        for data in DATA {
            for new in 0..3 {
                let more = [data, &[new]].concat();
                let report = audit_answer(&chosen, data.to_vec(), more.clone());
                holds(&report, &exact("0.5"), 1e-14);
                let other = [data, &[2 - new]].concat();
                let report = audit_answer(&replaced, more, other);
                holds(&report, &exact("0.5"), 1e-14);
            }
        }
    }
    // As if one record moved the scores of a quartile by one: refuted.
    let score = |data: &Vec<i64>, at: usize| {
        let below = data.iter().filter(|x| **x < at as i64).count() as i64;
        let above = data.iter().filter(|x| **x > at as i64).count() as i64;
        -(below - 3 * above).abs()
    };
    let wrong = report_noisy_max(Records::new(), Scores::new(3, 1, score).unwrap(), "0.5").unwrap();
    let report = audit_answer(&wrong, vec![0; 20], [vec![0; 20], vec![2]].concat());
    assert!(delta(&report, &exact("0.5")).0 > 0.0);
    assert!(quantile(Records::<i64>::new(), Quantile::MEDIAN, vec![], 1, |x| *x).is_err());
    assert!(Quantile::new(3, 2).is_err() && Quantile::new(0, 0).is_err());
}

#[test]
fn quantiles_are_as_accurate_as_published() {
    // [MS20]: on average within 2·Δ·ln(n)/ε of the best score, in ranks twice as far for the median of 101 candidates.
    let data: Vec<i64> = (0..2000).map(|i| i * i % 101).collect();
    let median = quantile(
        Records::new(),
        Quantile::MEDIAN,
        (0..=100).collect(),
        1,
        |x| *x,
    )
    .unwrap();
    let off = |seed: u8| {
        let found = median
            .invoke_in(&Root::seeded([seed; 32]), data.clone().into())
            .unwrap();
        let below = data.iter().filter(|x| **x < found).count() as f64;
        let above = data.iter().filter(|x| **x > found).count() as f64;
        (below - above).abs()
    };
    let best = (0..=100i64).map(|at| {
        let below = data.iter().filter(|x| **x < at).count() as f64;
        (below - data.iter().filter(|x| **x > at).count() as f64).abs()
    });
    let best = best.fold(f64::INFINITY, f64::min);
    let mean = (0..50).map(off).sum::<f64>() / 50.0 - best;
    assert!(mean <= 2.0 * 101f64.ln(), "{mean}");
    let bound = clamping_bound(Records::new(), Quantile::new(9, 10).unwrap(), 1, |x| *x).unwrap();
    for seed in 0..20 {
        let bound = bound.invoke_in(&Root::seeded([seed; 32]), data.clone().into());
        assert_eq!(bound.unwrap(), 128);
    }
}

#[test]
fn clamping_bounds_are_as_private_as_claimed() {
    let comparisons = || SparseVector::new(1, one_sided(1, 6, 9), one_sided(1, 6, 9)).unwrap();
    let part = Quantile::MEDIAN;
    let bound = first_bound(Records::new(), part, vec![1, 2], comparisons(), |x| *x).unwrap();
    let claimed = bound.map().loss(&1).unwrap();
    for data in DATA {
        for new in 0..4 {
            let more = [data, &[new]].concat();
            holds(
                &audit_answer(&bound, data.to_vec(), more),
                claimed.value(),
                1e-3,
            );
        }
    }
    // A record below both bounds: a quarter of it is refuted.
    let report = audit_answer(&bound, vec![2, 2], vec![2, 2, 1]);
    assert!(delta(&report, &claimed.value().split(4)).0 > 0.0);
    assert!(first_bound(Records::<i64>::new(), part, vec![], comparisons(), |x| *x).is_err());
}

#[test]
fn means_and_variances_are_as_private_as_claimed() {
    let clamp = Clamp::new(0, 2).unwrap();
    let mean = mean(Records::new(), clamp, "4", |x| *x).unwrap();
    let variance = variance(Records::new(), clamp, "6", |x| *x).unwrap();
    for (measurement, loss) in [(mean, "4"), (variance, "6")] {
        assert_eq!(measurement.map().loss(&1).unwrap().to_string(), loss);
        let bits = measurement.postprocess(|x: f64| x.to_bits());
        for (zero, one) in [
            (vec![], vec![1]),
            (vec![1], vec![1, 2]),
            (vec![0], vec![0, -7]),
        ] {
            holds(&audit_answer(&bits, zero, one), &exact(loss), 1e-6);
        }
        // As if the count were free.
        let report = audit_answer(&bits, vec![], vec![1]);
        assert!(delta(&report, &exact("1")).0 > 0.0);
    }
    let wide = Clamp::new(i64::MIN, i64::MAX).unwrap();
    assert!(mechanisms::statistics::mean(Records::<i64>::new(), wide, 1, |x| *x).is_err());
}

#[test]
fn means_and_variances_are_near() {
    let data: Vec<i64> = (0..20_000).map(|i| i % 61).collect();
    let (clamp, root) = (Clamp::new(0, 100).unwrap(), Root::seeded([2; 32]));
    let mean = mean(Records::new(), clamp, 1, |x| *x).unwrap();
    let found = mean.invoke_in(&root, data.clone().into()).unwrap();
    // Laplace noise of scale 100 on a sum that is divided by 20,000.
    assert!((found - 30.0).abs() < 0.2, "{found}");
    let variance = variance(Records::new(), clamp, 1, |x| *x).unwrap();
    let found = variance.invoke_in(&root, data.into()).unwrap();
    assert!((found - 310.0).abs() < 10.0, "{found}");
    let nothing = mean.invoke_in(&root, vec![].into()).unwrap();
    assert!((0.0..=100.0).contains(&nothing));
}

#[test]
fn distinct_keys_are_tight() {
    let distinct =
        count_distinct_spending(Records::new(), epsilon("1"), |x: &i64| *x % 10).unwrap();
    let report = audit_answer(&distinct, vec![1, 11], vec![1, 11, 2]);
    is_tight(&report, distinct.map().loss(&1).unwrap().value(), 1e-9);
    let replaced =
        count_distinct_spending(Records::replaced(), epsilon("1"), |x: &i64| *x % 10).unwrap();
    for other in [[1, 2], [2, 2], [3, 2]] {
        let report = audit_answer(&replaced, vec![1, 1], other.into());
        let apart = other.iter().filter(|x| **x != 1).count() as u32;
        holds(&report, replaced.map().loss(&apart).unwrap().value(), 1e-9);
    }
}

#[test]
fn a_person_costs_what_its_rows_may() {
    let rows = count(Records::<u8>::new(), geometric(1, 2, 30), |_| true);
    let persons = rows_per_person(2).unwrap().measure(&rows).unwrap();
    let claimed = persons.map().loss(&1).unwrap();
    let (few, more) = (vec![vec![1]], vec![vec![1], vec![4, 5, 6, 7]]);
    let report = audit_answer(&persons, few.clone(), more.clone());
    is_tight(&report, claimed.value(), 1e-6);
    // Without the bound, under the same promise: refuted.
    let all = Transformation::new(
        Records::new(),
        Records::new(),
        times(2),
        |persons: &Vec<Vec<u8>>| Ok(persons.concat()),
    );
    let report = audit_answer(&all.measure(&rows).unwrap(), few, more);
    assert!(delta(&report, claimed.value()).0 > 0.0);
    let grouped = groups_per_person(3, 2, |row: &u8| row / 10).unwrap();
    assert_eq!(grouped.stability(&2).unwrap(), 12);
    assert!(rows_per_person::<u8>(0).is_err());
    assert!(groups_per_person(1 << 20, 1 << 20, |row: &u8| *row).is_err());
    let adults = count_spending(Records::<u8>::new(), epsilon("0.1"), |_| true).unwrap();
    let adults = grouped.measure(&adults).unwrap();
    assert_eq!(adults.map().loss(&1).unwrap().to_string(), "0.6");
}

/// In any order, as they are counted.
fn sorted<T: Ord>(mut rows: Vec<T>) -> Vec<T> {
    rows.sort();
    rows
}

proptest! {
    /// What one person more brings is at most what the stability says, and nothing that was there changes; and the order of rows
    /// and persons does not matter.
    #[test]
    fn contributions_are_bounded_and_orderless(
        mut persons in prop::collection::vec(prop::collection::vec(0u8..40, 0..7), 1..6),
        groups in 1u32..4,
        rows in 1u32..4,
    ) {
        let kept = groups_per_person(groups, rows, |row: &u8| row / 10).unwrap();
        let plain = rows_per_person(rows).unwrap();
        for (kept, most) in [(kept, groups * rows), (plain, rows)] {
            let whole = sorted(kept.apply(&persons).unwrap());
            let mut fewer = persons.clone();
            let last = fewer.pop().unwrap();
            let own = kept.apply(&vec![last]).unwrap();
            prop_assert!(own.len() <= most as usize);
            let before = kept.apply(&fewer).unwrap();
            prop_assert_eq!(&whole, &sorted([before, own].concat()));
            let mut mixed = persons.clone();
            mixed.reverse();
            mixed.iter_mut().for_each(|rows| rows.reverse());
            prop_assert_eq!(&whole, &sorted(kept.apply(&mixed).unwrap()));
        }
        persons.clear();
    }
}
