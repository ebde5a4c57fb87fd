//! Quantiles, means, variances, distinct keys, and what a person contributes: exact audits, and promises that are not kept.

use crate::common::*;
use measures::times;
use mechanisms::{
    additive::{Clamp, count, count_spending, histogram},
    decimal::Grid,
    persons::{
        groups_per_person, groups_per_replaced_person, rows_per_person, rows_per_replaced_person,
    },
    selection::{Scores, report_noisy_max},
    sparse::SparseVector,
    spend::{epsilon, epsilon_delta, rho},
    statistics::{
        Quantile, clamping_bound, count_distinct_spending, first_bound, mean, mean_on_grid,
        mean_spending, quantile, quantile_for_rho, variance, variance_on_grid, variance_spending,
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
    let concentrated = quantile_for_rho(
        Records::new(),
        Quantile::MEDIAN,
        vec![0, 1, 2],
        "0.02",
        |x| *x,
    );
    let concentrated = concentrated.unwrap();
    let claimed = concentrated.map().loss(&1).unwrap();
    assert!(*claimed.value() <= exact("0.02") && *claimed.value() > exact("0.0199999999"));
    for data in DATA {
        let report = audit_answer(&concentrated, data.to_vec(), [data, &[2]].concat());
        for epsilon in ["0.1", "0.2", "0.4"].map(exact) {
            let implied = measures::convert::zcdp_delta(&claimed, &epsilon);
            assert!(delta(&report, &epsilon).1 <= implied.to_f64(::exact::Round::Up));
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
            .invoke_in(&Root::seeded([seed; 32]), &data.clone().into())
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
        let bound = bound.invoke_in(&Root::seeded([seed; 32]), &data.clone().into());
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
    // Replaced: the sum moves by two, its square by one.
    let replaced =
        mechanisms::statistics::variance(Records::replaced(), clamp, "12", |x: &i64| *x).unwrap();
    assert_eq!(replaced.map().loss(&1).unwrap().to_string(), "12");
    let bits = replaced.postprocess(|x: f64| x.to_bits());
    for (zero, one) in [
        (vec![0], vec![2]),
        (vec![1], vec![2]),
        (vec![1, 1], vec![1, 0]),
    ] {
        holds(&audit_answer(&bits, zero, one), &exact("12"), 1e-6);
    }
    let wide = Clamp::new(i64::MIN, i64::MAX).unwrap();
    assert!(mechanisms::statistics::mean(Records::<i64>::new(), wide, 1, |x| *x).is_err());
}

#[test]
fn means_and_variances_are_near() {
    let data: Vec<i64> = (0..20_000).map(|i| i % 61).collect();
    let (clamp, root) = (Clamp::new(0, 100).unwrap(), Root::seeded([2; 32]));
    let mean = mean(Records::new(), clamp, 1, |x| *x).unwrap();
    let found = mean.invoke_in(&root, &data.clone().into()).unwrap();
    // Laplace noise of scale 100 on a sum that is divided by 20,000.
    assert!((found - 30.0).abs() < 0.2, "{found}");
    let variance = variance(Records::new(), clamp, 1, |x| *x).unwrap();
    let found = variance.invoke_in(&root, &data.into()).unwrap();
    assert!((found - 310.0).abs() < 10.0, "{found}");
    let nothing = mean.invoke_in(&root, &vec![].into()).unwrap();
    assert!((0.0..=100.0).contains(&nothing));
}

#[test]
fn means_and_variances_in_every_measure() {
    let (space, clamp, root) = (
        Records::<i64>::new,
        Clamp::new(0, 100).unwrap(),
        Root::seeded([4; 32]),
    );
    let data: Vec<i64> = (0..20_000).map(|i| i % 61).collect();
    let mean = mean_spending(space(), rho("0.5"), clamp, |x| *x).unwrap();
    assert_eq!(mean.map().loss(&1).unwrap(), "0.5".parse().unwrap());
    let found = mean.invoke_in(&root, &data.clone().into()).unwrap();
    // Gaussian noise of scale 50·√2 on a sum, and √2 on a count, of 20,000: 0.2 is 50 standard deviations.
    assert!((found - 30.0).abs() < 0.2, "{found}");
    let variance = variance_spending(space(), epsilon_delta(1, "1e-6"), clamp, |x| *x).unwrap();
    let loss = variance.map().loss(&1).unwrap();
    assert!(*loss.epsilon() == exact("1") && *loss.delta() <= exact("1e-6"));
    let found = variance.invoke_in(&root, &data.into()).unwrap();
    // Scale 4.3·√3·50² on the squares: 1 on the variance. 20 is 20 standard deviations.
    assert!((found - 310.0).abs() < 20.0, "{found}");
    // In zCDP, through what it implies at several ε.
    let small = mean_spending(space(), rho("0.5"), Clamp::new(0, 2).unwrap(), |x| *x).unwrap();
    let report = audit_answer(&small.postprocess(|x: f64| x.to_bits()), vec![], vec![2]);
    for epsilon in ["0.5", "1", "2"].map(exact) {
        let implied = measures::convert::zcdp_delta(&"0.5".parse().unwrap(), &epsilon);
        assert!(delta(&report, &epsilon).1 <= implied.to_f64(::exact::Round::Up));
    }
}

#[test]
fn means_and_variances_of_decimals() {
    let tenths = || (Grid::new(1).unwrap(), (-0.1, 0.1));
    let mean = mean_on_grid(Records::<f64>::new(), epsilon("4"), tenths(), |x| *x).unwrap();
    let variance = variance_on_grid(Records::<f64>::new(), epsilon("6"), tenths(), |x| *x).unwrap();
    for (measurement, loss) in [(mean, "4"), (variance, "6")] {
        assert_eq!(measurement.map().loss(&1).unwrap().to_string(), loss);
        let bits = measurement.postprocess(|x: f64| x.to_bits());
        for (zero, one) in [
            (vec![], vec![0.1]),
            (vec![0.0], vec![0.0, f64::NAN]),
            (vec![0.04], vec![0.04, 9.9]),
        ] {
            holds(&audit_answer(&bits, zero, one), &exact(loss), 1e-6);
        }
        let report = audit_answer(&bits, vec![], vec![0.1]);
        assert!(delta(&report, &exact("1")).0 > 0.0);
    }
    let cents = || (Grid::new(2).unwrap(), (0.0, 100.0));
    let data: Vec<f64> = (0..20_000).map(|i| f64::from(i % 61) + 0.125).collect();
    let root = Root::seeded([5; 32]);
    let found = mean_on_grid(Records::<f64>::new(), epsilon(1), cents(), |x| *x).unwrap();
    let found = found.invoke_in(&root, &data.clone().into()).unwrap();
    // As for integers, and 0.125 is rounded to 0.13: scales of 100 by 20,000, off by 0.2 with probability e^-40.
    assert!((found - 30.13).abs() < 0.2, "{found}");
    let found = variance_on_grid(Records::<f64>::new(), epsilon(1), cents(), |x| *x).unwrap();
    let found = found.invoke_in(&root, &data.into()).unwrap();
    assert!((found - 310.0).abs() < 20.0, "{found}");
    for bounds in [
        (0.0, f64::INFINITY),
        (1.0, 0.0),
        (0.0, 1e9),
        (f64::NAN, 1.0),
        (0.0, 0.0),
    ] {
        let grid = (Grid::new(2).unwrap(), bounds);
        assert!(mean_on_grid(Records::<f64>::new(), epsilon(1), grid, |x| *x).is_err());
    }
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

#[test]
fn a_replaced_person_costs_twice_what_its_rows_may() {
    let rows = histogram(Records::<u8>::new(), geometric(1, 2, 20), 2, |row| {
        usize::from(*row > 9)
    });
    let persons = rows_per_replaced_person(2).unwrap();
    let persons = persons.measure(&rows.unwrap()).unwrap();
    let claimed = persons.map().loss(&1).unwrap();
    let (one, other) = (
        vec![vec![1], vec![4, 5, 6]],
        vec![vec![1], vec![14, 15, 16]],
    );
    is_tight(&audit_answer(&persons, one, other), claimed.value(), 1e-3);
    let grouped = groups_per_replaced_person(3, 2, |row: &u8| row / 10).unwrap();
    assert_eq!(grouped.stability(&2).unwrap(), 24);
    let persons = vec![vec![35, 1, 2, 3, 15, 25], vec![7]];
    assert_eq!(grouped.apply(&persons).unwrap(), [1, 2, 15, 25, 7]);
    assert!(rows_per_replaced_person::<u8>(1 << 31).is_err());
    assert!(groups_per_replaced_person(1 << 16, 1 << 15, |row: &u8| *row).is_err());
    assert!(rows_per_replaced_person::<u8>(0).is_err());
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
