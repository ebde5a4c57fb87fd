//! Selection by scores that move together: exact audits, a promise that is not kept, and how much is gained.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::common::*;
use measures::{PureDp, SymmetricDistance};
use mechanisms::{
    BuildError,
    additive::{add_noise, count},
    response::randomized_response,
    samplers::ExponentialChoice,
    sampling::PoissonSampled,
    selection::{
        Scores, best_of_many, exponential, exponential_for_epsilon, exponential_zcdp,
        report_noisy_max, report_noisy_max_for_epsilon, top_k, top_k_zcdp,
    },
    sparse::{KnownOn, Sensitivity},
};
use odometer::{Measurement, OfRecords, Records, Transformation};
use queryable::{Root, coins::Distribution};

type Choice<S> = Measurement<S, PureDp, usize>;

/// Both mechanisms, with the data as scores.
fn choices<K: KnownOn<Records<i64>> + Copy>(
    candidates: usize,
    sensitivity: Sensitivity<K>,
) -> [Choice<Records<i64>>; 2] {
    let scores = || Scores::moving(candidates, sensitivity, |data: &Vec<i64>, i| data[i]).unwrap();
    let space = Records::<i64>::new();
    [
        exponential(space, scores(), "0.5").unwrap(),
        report_noisy_max(space, scores(), "0.5").unwrap(),
    ]
}

fn together() -> Sensitivity<mechanisms::sparse::Together> {
    Sensitivity::together(1).unwrap()
}

#[test]
fn scores_that_move_together_cost_what_is_claimed() {
    let choices = choices(3, together());
    for base in [[2, 0, 1], [0, 0, 0], [0, 5, 4]] {
        for change in 0..8i64 {
            let moved = [change % 2, change / 2 % 2, change / 4];
            let other: Vec<i64> = (0..3).map(|i| base[i] + moved[i]).collect();
            for choice in &choices {
                let report = audit_answer(choice, base.to_vec(), other.clone());
                holds(&report, &exact("0.5"), 1e-14);
            }
        }
    }
    // One candidate, far behind, gains a point: the whole of ε.
    for choice in &choices {
        let report = audit_answer(choice, vec![0, 40, 0], vec![1, 40, 0]);
        is_tight(&report, &exact("0.5"), 1e-14);
    }
}

#[test]
fn scores_that_are_said_to_move_together_and_do_not_are_found_out() {
    for choice in choices(2, together()) {
        let report = audit_answer(&choice, vec![0, 40], vec![1, 39]);
        assert!(delta(&report, &exact("0.5")).0 > 0.0);
    }
}

/// A count for each of three candidates.
fn counted<S>(space: S) -> [Choice<S>; 2]
where
    S: OfRecords<Record = usize, Data = Vec<usize>> + odometer::Connected + Clone,
{
    let count = |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64;
    let kind = Sensitivity::of_counts::<S::Metric>;
    let scores = || Scores::moving(3, kind(), count).unwrap();
    [
        exponential_for_epsilon(space.clone(), scores(), "0.7").unwrap(),
        report_noisy_max_for_epsilon(space, scores(), "0.7").unwrap(),
    ]
}

#[test]
fn counts_of_records_are_as_private_as_claimed() {
    // A record comes; two come; and where records are replaced one count falls as another rises.
    let votes = || [vec![0; 30], vec![1, 2]].concat();
    let more = |more: &[usize]| [&votes()[..], more].concat();
    for choice in counted(Records::new()) {
        for new in [&[0][..], &[1], &[1, 2], &[0, 1]] {
            let claimed = choice.map().loss(&(new.len() as u32)).unwrap();
            let report = audit_answer(&choice, votes(), more(new));
            holds(&report, claimed.value(), 1e-14);
        }
    }
    for choice in counted(Records::replaced()) {
        let claimed = choice.map().loss(&1).unwrap();
        assert_eq!(claimed.to_string(), "0.7");
        let report = audit_answer(&choice, more(&[0]), more(&[1]));
        is_tight(&report, claimed.value(), 1e-14);
    }
}

#[test]
fn zcdp_of_scores_that_move_together_is_that_of_their_range() {
    let scores = Scores::moving(3, together(), |data: &Vec<i64>, i| data[i]).unwrap();
    let choice = exponential_zcdp(Records::new(), scores, "1").unwrap();
    assert_eq!(choice.map().loss(&2).unwrap(), "0.5".parse().unwrap());
    // The Rényi divergences of the enumerated laws, with weights e^(ε·score/Δ).
    let law = |scores: [i64; 3]| {
        let best = *scores.iter().max().unwrap();
        let choice = ExponentialChoice::new(scores.map(|s| ratio(best - s, 1)).to_vec()).unwrap();
        [0, 1, 2].map(|i| choice.outcome(i).1.to_rational().to_f64().value())
    };
    let p = law([2, 0, 1]);
    for other in [[3, 0, 1], [3, 1, 1], [2, 1, 2], [2, 1, 1]] {
        let q = law(other);
        for order in [1.5f64, 2.0, 8.0, 40.0] {
            for (p, q) in [(p, q), (q, p)] {
                let moment = |i: usize| p[i].powf(order) * q[i].powf(1.0 - order);
                let divergence = (0..3).map(moment).sum::<f64>().ln() / (order - 1.0);
                assert!(
                    divergence <= order / 8.0 + 1e-9,
                    "{other:?} {order}: {divergence}"
                );
            }
        }
    }
}

/// The mean distance from the best count, over seeded runs.
fn mean_gap(choice: &Choice<Records<usize>>, counts: &[i64], runs: u64) -> f64 {
    let votes = counts.iter().enumerate();
    let votes: Vec<usize> = votes
        .flat_map(|(i, n)| std::iter::repeat_n(i, *n as usize))
        .collect();
    let (votes, best) = (std::sync::Arc::new(votes), counts.iter().max().unwrap());
    let gap = |run: u64| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&run.to_le_bytes());
        let chosen = choice.invoke_in(&Root::seeded(seed), &votes);
        (best - counts[chosen.unwrap()]) as f64
    };
    (0..runs).map(gap).sum::<f64>() / runs as f64
}

#[test]
fn half_of_the_noise_shows() {
    // Counts 0, 2, …, 58. [MS20] Prop 1: permute-and-flip and the exponential mechanism are within ln(n)·scale on average,
    // where the scale is Δ/ε for scores that move together and 2Δ/ε otherwise.
    let counts: Vec<i64> = (0..30).map(|i| 2 * i).collect();
    let count = |votes: &Vec<usize>, i| votes.iter().filter(|v| **v == i).count() as i64;
    let counted = Sensitivity::of_counts::<SymmetricDistance>();
    let scores = || Scores::moving(30, counted, count).unwrap();
    let free = || Scores::new(30, 1, count).unwrap();
    let space = Records::<usize>::new;
    let gap = |choice: Choice<Records<usize>>| mean_gap(&choice, &counts, 400);
    let flip = gap(report_noisy_max(space(), scores(), "0.2").unwrap());
    let weigh = gap(exponential(space(), scores(), "0.2").unwrap());
    let free_flip = gap(report_noisy_max(space(), free(), "0.2").unwrap());
    assert!(
        flip < weigh && 1.5 * flip < free_flip,
        "{flip} {weigh} {free_flip}"
    );
    assert!(weigh < 30f64.ln() / 0.2, "{weigh}");
}

/// The best two of three, in order: all patterns of scores that rise together, and as if only the first choice cost: refuted.
#[test]
fn the_best_few_cost_what_is_claimed() {
    let scores = || Scores::moving(3, together(), |data: &Vec<i64>, i| data[i]).unwrap();
    let best = top_k(Records::new(), scores(), 2, "1").unwrap();
    assert_eq!(best.map().loss(&1).unwrap().to_string(), "1");
    for base in [[2, 0, 1], [0, 0, 0]] {
        for change in 0..8i64 {
            let moved = [change % 2, change / 2 % 2, change / 4];
            let other: Vec<i64> = (0..3).map(|i| base[i] + moved[i]).collect();
            let report = audit_answer(&best, base.to_vec(), other);
            holds(&report, &exact("1"), 1e-12);
        }
    }
    // Two candidates far behind gain a point each.
    let report = audit_answer(&best, vec![40, 0, 0], vec![40, 1, 0]);
    assert!(delta(&report, &exact("0.25")).0 > 0.0);
    let all = top_k(Records::new(), scores(), 3, "1").unwrap();
    assert_eq!(all.invoke(vec![900, 1800, 0]).unwrap(), [1, 0, 2]);
    let rho = top_k_zcdp(Records::new(), scores(), 2, "0.1").unwrap();
    let spent = rho.map().loss(&1).unwrap();
    assert!(*spent.value() <= exact("0.1") && *spent.value() > exact("0.09999999"));
    for wrong in [0, 4] {
        assert!(top_k(Records::new(), scores(), wrong, "1").is_err());
        assert!(top_k_zcdp(Records::new(), scores(), wrong, "1").is_err());
    }
}

/// Peeling by permute-and-flip finds more of the best ten counts than by the exponential mechanism at the same ε, and both find most.
#[test]
fn the_best_few_are_found() {
    let counts: Vec<i64> = (0..40).map(|i| 12 * (i * 7 % 40)).collect();
    let scores = || Scores::moving(40, together(), |data: &Vec<i64>, i| data[i]).unwrap();
    let best = top_k(Records::new(), scores(), 10, "1").unwrap();
    let found = |seed: u8| {
        let chosen = best
            .invoke_in(&Root::seeded([seed; 32]), &counts.clone().into())
            .unwrap();
        chosen.iter().filter(|i| counts[**i] >= 12 * 30).count()
    };
    let mean = (0..20).map(found).sum::<usize>() as f64 / 20.0;
    assert!(mean > 7.5, "{mean}");
}

/// The best of a random number of runs costs three times as much as one, and not as much as one.
#[test]
fn the_best_of_many_costs_three_times_one() {
    let one = randomized_response(probability(3, 4)).unwrap();
    let best = best_of_many(&one, "0.9").unwrap();
    let claimed = best.map().loss(&measures::Neighbouring).unwrap();
    let single = one.map().loss(&measures::Neighbouring).unwrap();
    assert_eq!(*claimed.value(), single.value().times(3));
    // Cut off after 13 runs or so.
    let report = audit_answer(&best, false, true);
    holds(&report, claimed.value(), 1e-9);
    assert!(delta(&report, single.value()).0 > 0.0);
    for bad in ["0", "1", "2", "x"] {
        assert!(best_of_many(&one, bad).is_err());
    }
    // Ten runs of a noisy zero: the largest noise.
    let noisy = best_of_many(&add_noise(geometric(1, 2, 9)), "0.1").unwrap();
    let largest = |seed: u8| {
        noisy
            .invoke_in(&Root::seeded([seed; 32]), &0.into())
            .unwrap()
    };
    let mean = (0..40).map(largest).sum::<i64>() as f64 / 40.0;
    assert!((1.0..4.0).contains(&mean), "{mean}");
}

/// Post-processing would see every run, and only the best one is paid for.
#[test]
fn post_processing_sees_no_run_of_the_best_of_many() {
    let seen = Arc::new(AtomicUsize::new(0));
    let noting = |seen: &Arc<AtomicUsize>| {
        let seen = Arc::clone(seen);
        move |answer: i64| {
            seen.fetch_add(1, Ordering::SeqCst);
            answer
        }
    };
    let count = count(Records::<i64>::new(), geometric(1, 2, 9), |_| true);
    let noted = count.postprocess(noting(&seen));
    let same = Transformation::new(
        Records::new(),
        Records::new(),
        measures::times(1),
        |data: &Vec<i64>| Ok(data.clone()),
    );
    let around = noted.around(noted.map().clone(), |noted, data, scope| {
        noted.run(data, scope)
    });
    let hidden = [
        around,
        noted.by_group_privacy(),
        noted.poisson_sampled("1").unwrap(),
        (&same >> &noted).unwrap(),
        noted
            .clone()
            .named("another")
            .with_parameter("x", 1)
            .knowing(1),
        noted,
    ];
    for noted in &hidden {
        let best = best_of_many(noted, "0.01");
        if let Ok(best) = &best {
            best.invoke_in(&Root::seeded([1; 32]), &vec![3].into())
                .unwrap();
        }
        assert_eq!(seen.load(Ordering::SeqCst), 0, "runs that were seen");
        let refused = BuildError::Postprocessed {
            what: "best_of_many",
        };
        assert_eq!(best.unwrap_err(), refused);
        assert!(refused.to_string().contains("the result of best_of_many"));
    }
    // The answer that is paid for is seen once.
    let best = best_of_many(&count, "0.01").unwrap();
    best.postprocess(noting(&seen)).invoke(vec![3]).unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}
