//! Exact audits of sparse vector and of what is built on it, how tight its loss is, and the published variants that are
//! wrong (catalogue of \[LSL17\] Fig. 1).

use std::sync::Arc;

use crate::common::*;
use auditor::{Factor, Input, Report, audit};
use continual::{Identifier, Pair, Verifier};
use dashu_int::IBig;
use exact::{Exact, Round};
use measures::SymmetricDistance;
use mechanisms::{
    monitor::{Monitor, Update},
    samplers::DiscreteLaplace,
    sparse::{Above, KnownOn, Sensitivity, SparseVector},
    weights::{MultiplicativeWeights, Subset},
};
use odometer::{Odometer, Records};
use queryable::{
    AskError, Chain, Machine, Root, Scope,
    coins::{Distribution, Probability},
    machine,
};

fn above<Q>(query: Q, threshold: i64) -> Above<Q> {
    Above { query, threshold }
}

/// Queries by index, values given by the data: every pattern of changes by one is possible.
fn by_index<K>(
    parameters: &SparseVector,
    sensitivity: Sensitivity<K>,
) -> odometer::Measurement<Records<i64>, measures::PureDp, queryable::Queryable<Above<usize>, bool>>
where
    K: KnownOn<Records<i64>>,
{
    let space = Records::<i64>::new();
    parameters.measurement(space, sensitivity, |data: &Vec<i64>, i: &usize| data[*i])
}

#[test]
fn sparse_vector_is_as_private_as_claimed() {
    let queries = [above(0, 0), above(1, 0), above(0, 1), above(1, 1)];
    for (positives, depth, percent) in [(1, 2, 95), (2, 2, 55)] {
        let svt = SparseVector::new(positives, one_sided(1, 6, 5), one_sided(1, 6, 5)).unwrap();
        let svt = by_index(&svt, Sensitivity::free(1).unwrap());
        let claimed = svt.map().loss(&1).unwrap();
        let report = audit_queryable(&svt, vec![0, 1], vec![1, 0], depth, &queries);
        bites(&report, claimed.value(), 1e-3, percent);
    }
    // A "below" that pins the threshold, and two positives: all five shares.
    let svt = SparseVector::new(2, one_sided(1, 6, 7), one_sided(1, 6, 7)).unwrap();
    let svt = by_index(&svt, Sensitivity::free(1).unwrap());
    let claimed = svt.map().loss(&1).unwrap();
    let script = [above(0, 1), above(1, 1), above(1, 1)];
    let report = audit_script(&svt, vec![0, 1], vec![1, 0], &script);
    bites(&report, claimed.value(), 1e-3, 95);
}

#[test]
fn queries_that_move_together_cost_less() {
    let svt = SparseVector::new(1, one_sided(1, 6, 5), one_sided(1, 6, 5)).unwrap();
    let svt = by_index(&svt, Sensitivity::together(1).unwrap());
    let claimed = svt.map().loss(&1).unwrap();
    let queries = [above(0, 0), above(1, 0), above(0, 1), above(1, 1)];
    for (zero, one, percent) in [([0, 0], [1, 1], 45), ([0, 0], [1, 0], 90)] {
        let report = audit_queryable(&svt, zero.into(), one.into(), 2, &queries);
        bites(&report, claimed.value(), 1e-3, percent);
    }
    // Declared so, but moving apart: the audit tells.
    let script = [above(0, 1), above(0, 1), above(1, 1)];
    let report = audit_script(&svt, vec![0, 1], vec![1, 0], &script);
    assert!(delta(&report, claimed.value()).0 > 0.0);
}

/// Outcomes and their probabilities.
type Law = [(i64, f64)];

/// The enumerated law, in floating point.
fn law<D: Distribution<Outcome: Into<IBig>>>(noise: &D) -> Vec<(i64, f64)> {
    let float = |(x, p): (D::Outcome, Probability)| {
        let x: IBig = x.into();
        (i64::try_from(&x).unwrap(), p.to_rational().to_f64().value())
    };
    (0..noise.arity())
        .map(|i| float(noise.outcome(i)))
        .collect()
}

/// The probability of "below" to so many queries of one value, then "above" to so many of another, against threshold
/// zero, in closed form: given the threshold's noise, the answers are independent.
fn view(
    (threshold, query): (&Law, &Law),
    (below, times_below): (i64, i32),
    (above, times_above): (i64, i32),
) -> f64 {
    let probability = |holds: &dyn Fn(i64) -> bool| -> f64 {
        query
            .iter()
            .filter(|(x, _)| holds(*x))
            .map(|(_, p)| p)
            .sum()
    };
    let mut sum = 0.0;
    for &(shift, p) in threshold {
        let is_below = probability(&|x| below + x < shift);
        let is_above = probability(&|x| above + x >= shift);
        sum += p * is_below.powi(times_below) * is_above.powi(times_above);
    }
    sum
}

#[test]
fn the_loss_of_sparse_vector_is_tight() {
    // Many answers "below" pin the noisy threshold from below, so that the adversary gains from its shift as well as from
    // both shifts of the last query (or the only one, if it moves as the others do): the whole loss is spent.
    let half = one_sided(1, 2, 60);
    let noise = (&law(&half)[..], &law(&half)[..]);
    let parameters = SparseVector::new(1, half.clone(), half).unwrap();
    let free = parameters.loss(Sensitivity::free(1).unwrap());
    let together = parameters.loss(Sensitivity::together(1).unwrap());
    for (claimed, last) in [(free, 1), (together, 0)] {
        let claimed = claimed.value().to_f64(Round::Up);
        let odds = view(noise, (0, 3000), (last, 1)) / view(noise, (1, 3000), (0, 1));
        let attained = odds.ln();
        assert!(attained <= claimed + 1e-9 && attained > 0.99 * claimed);
    }
}

#[test]
fn epsilon_is_spent_exactly() {
    for (epsilon, positives, by) in [("1", 1, 1), ("0.3", 7, 2), ("2.5", 40, 3)] {
        let (free, together) = (Sensitivity::free(by), Sensitivity::together(by));
        let (free, together) = (free.unwrap(), together.unwrap());
        let svt = SparseVector::for_epsilon(exact(epsilon), free, positives).unwrap();
        assert_eq!(*svt.loss(free).value(), exact(epsilon));
        let svt = SparseVector::for_epsilon(exact(epsilon), together, positives).unwrap();
        assert_eq!(*svt.loss(together).value(), exact(epsilon));
    }
    let unit = Sensitivity::UNIT;
    assert!(SparseVector::for_epsilon(&Exact::ZERO, unit, 1).is_err());
    assert!(SparseVector::for_epsilon(&Exact::INFINITY, unit, 1).is_err());
    assert!(SparseVector::for_epsilon(&Exact::ONE, unit, 0).is_err());
    assert!(SparseVector::new(0, one_sided(1, 2, 3), one_sided(1, 2, 3)).is_err());
    assert!(Sensitivity::free(0).is_err());
}

#[test]
fn it_is_charged_once_and_never_per_query() {
    let records = Records::<i64>::new();
    let sensitivity = Sensitivity::of_counts::<SymmetricDistance>();
    let svt = SparseVector::for_epsilon(exact("0.5"), sensitivity, 1)
        .unwrap()
        .of_counts(records);
    let odometer = Odometer::new(records, measures::Basic::new(measures::PureDp));
    let session = odometer
        .open_in(&Root::seeded([2; 32]), vec![5; 10].into())
        .unwrap();
    let queryable = session.launch(&svt).unwrap();
    for _ in 0..200 {
        assert!(!queryable.ask(above(0..=9, 10_000)).unwrap());
    }
    assert!(queryable.ask(above(0..=9, -10_000)).unwrap());
    assert_eq!(queryable.ask(above(0..=9, 0)), Err(AskError::Halted));
    assert_eq!(session.privacy_loss(&1).unwrap().to_string(), "0.5");
}

#[test]
fn counts_cost_more_when_records_are_replaced() {
    let svt = SparseVector::for_epsilon(exact("1"), Sensitivity::UNIT, 3).unwrap();
    let replaced = svt.of_counts::<_, std::ops::RangeInclusive<i64>>(Records::<i64>::replaced());
    let added = svt.of_counts::<_, std::ops::RangeInclusive<i64>>(Records::<i64>::new());
    assert_eq!(*replaced.map().loss(&1).unwrap().value(), exact("1"));
    assert!(*added.map().loss(&1).unwrap().value() < exact("1"));
}

#[test]
fn comparisons_are_as_accurate_as_published() {
    // [DR14] Thm 3.24: with k queries, ε split in halves and α = 8(ln k + ln(2/β))/ε, all answers are right
    // outside of α with probability 1 − β. Ours splits better, so its error is smaller.
    let (k, beta, epsilon) = (500, 0.01f64, 1.0);
    let alpha = (8.0 * ((k as f64).ln() + (2.0 / beta).ln()) / epsilon) as i64;
    let svt = SparseVector::above_threshold(exact("1"), Sensitivity::free(1).unwrap()).unwrap();
    let svt = by_index(&svt, Sensitivity::free(1).unwrap());
    let mut failures = 0;
    for seed in 0..100 {
        let svt = svt
            .invoke_in(&Root::seeded([seed; 32]), &vec![0].into())
            .unwrap();
        let all_below = (1..k).all(|_| svt.ask(above(0, alpha)) == Ok(false));
        let last_above = svt.ask(above(0, -alpha)) == Ok(true);
        failures += u32::from(!(all_below && last_above));
    }
    assert!(
        failures <= 5,
        "{failures} of 100 runs failed, with β = 0.01"
    );
}

#[test]
fn margins_are_kept() {
    // 200 comparisons a margin below their thresholds, then one a margin above: at most one run in twenty fails, about.
    let together = Sensitivity::together(1).unwrap();
    let plan = (200, 0.05);
    let svt = SparseVector::for_comparisons(1, together, 1, plan).unwrap();
    let plain = SparseVector::for_epsilon(1, together, 1).unwrap();
    assert_eq!(svt.loss(together), plain.loss(together));
    assert!(svt.margin(200, 0.05) < plain.margin(200, 0.05));
    let margin = svt.margin(200, 0.05).ceil() as i64;
    let svt = by_index(&svt, together);
    let fails = |seed: u16| {
        let mut key = [0; 32];
        key[..2].copy_from_slice(&seed.to_le_bytes());
        let svt = svt.invoke_in(&Root::seeded(key), &vec![0].into()).unwrap();
        let all_below = (0..200).all(|_| svt.ask(above(0, margin)) == Ok(false));
        !(all_below && svt.ask(above(0, -margin)) == Ok(true))
    };
    let failures = (0..200).filter(|seed| fails(*seed)).count();
    // Above 30 of 200 with probability below 1e-9, if each fails with probability 0.05.
    assert!((1..=30).contains(&failures), "{failures}");
    for bad in [(0, 0.05), (10, 0.0), (10, 1.0), (10, f64::NAN)] {
        assert!(SparseVector::for_comparisons(1, together, 1, bad).is_err());
    }
}

/// Comparisons whose loss is nearly all the threshold's, or nearly all the query's: with one positive answer a monitor's totals
/// spend one of the two shares, and not both.
fn one_share_each(small: u64, largest: u32) -> [SparseVector; 2] {
    let (large, small) = (one_sided(1, 100, 4), one_sided(1, small, largest));
    let noises = [(large.clone(), small.clone()), (small, large)];
    noises.map(|(threshold, query)| SparseVector::new(1, threshold, query).unwrap())
}

#[test]
fn the_monitor_is_as_private_as_claimed() {
    for svt in one_share_each(2, 18) {
        let monitor = Monitor::new(svt.clone()).measurement(2).unwrap();
        let claimed = monitor.map().loss(&Exact::ONE).unwrap();
        assert_eq!(claimed, svt.loss(Sensitivity::together(1).unwrap()));
        for (zero, one) in [([0, 1], [1, 1]), ([0, 1], [0, 2]), ([1, 0], [0, 0])] {
            let report = audit_queryable(&monitor, zero.into(), one.into(), 2, &[0, 1, 2]);
            bites(&report, claimed.value(), 1e-3, 85);
        }
        let far = monitor.map().loss(&exact("2")).unwrap();
        let report = audit_queryable(&monitor, vec![1, 0], vec![0, 1], 2, &[0, 1]);
        bites(&report, far.value(), 1e-3, 45);
    }
    let svt = SparseVector::new(1, one_sided(1, 6, 5), one_sided(1, 6, 5)).unwrap();
    assert!(Monitor::new(svt).measurement(0).is_err());
}

/// Streams that are chosen by what was seen, at distance 1: one step differs, by one, in a direction that is chosen then.
#[test]
fn the_monitor_withstands_adaptive_streams() {
    for svt in one_share_each(3, 9) {
        let monitor = Monitor::new(svt);
        let claimed = monitor.map().loss(&Exact::ONE).unwrap();
        bites(&adaptive_streams(&monitor), claimed.value(), 1e-3, 80);
    }
}

fn adaptive_streams(monitor: &Monitor) -> Report<Pair<Update>, bool> {
    let continual = monitor.continual();
    let build = |input: Input, root: &Root| {
        let running = continual.invoke_in(root, &().into());
        let running = running.map_err(|error| AskError::failed(error.to_string()))?;
        let function = continual.space().function(&Exact::ONE);
        let game = Chain::new(Verifier::new(function), Identifier::new(input));
        root.postprocess(&running, game)
    };
    let step = |by| Update { by, threshold: 1 };
    let offer = |history: &[queryable::Exchange<Pair<Update>, bool>]| {
        let differed = history.iter().any(|round| !round.query.is_identical());
        let same = vec![Pair::same(step(0))];
        match differed {
            true => same,
            false => [
                same,
                vec![Pair::new(step(0), step(1)), Pair::new(step(1), step(0))],
            ]
            .concat(),
        }
    };
    audit(build).asking(3, offer).unwrap()
}

/// Rows that fall in one column and rise in another move the largest total down and then up: half of the loss is refuted.
#[test]
fn statistics_of_rows_do_not_move_one_way() {
    let noise = (
        &law(&one_sided(1, 2, 60))[..],
        &law(&one_sided(1, 2, 60))[..],
    );
    let svt = SparseVector::new(1, one_sided(1, 2, 60), one_sided(1, 2, 60)).unwrap();
    let monitor = Monitor::new(svt);
    let one_way = monitor.map().loss(&Exact::ONE).unwrap();
    let odds = view(noise, (0, 3000), (1, 1)) / view(noise, (1, 3000), (0, 1));
    assert!(odds.ln() > one_way.value().to_f64(Round::Up));
    assert!(odds.ln() <= monitor.row_loss().value().to_f64(Round::Up) + 1e-9);
}

/// The proof needs tails that fall by a bounded factor to the right, and noise below zero has none: no guarantee at all.
#[test]
fn one_sided_query_noise_of_the_wrong_sign_has_no_guarantee() {
    let noise = one_sided(1, 2, 40);
    let wrong = |value: i64| {
        let noise = noise.clone();
        machine(move |(): (), scope: &mut Scope<'_>| {
            let threshold = IBig::ONE + scope.draw(&noise)?;
            Ok(IBig::from(value) - scope.draw(&noise)? >= threshold)
        })
    };
    let build = |input: Input, root: &Root| root.spawn(wrong(input.pick(0, 1)));
    let report = audit(build).asking(1, |_| vec![()]).unwrap();
    assert!(report.delta(&Factor::new(1000, 1).unwrap()).least > ratio(1, 5));
}

#[test]
fn multiplicative_weights_are_as_private_as_claimed() {
    let comparisons = SparseVector::new(1, one_sided(1, 8, 3), one_sided(1, 8, 3)).unwrap();
    let pmw = MultiplicativeWeights::new((2, 2), comparisons, geometric(1, 8, 3), 1).unwrap();
    let pmw = pmw.measurement();
    let claimed = pmw.map().loss(&1).unwrap();
    let queries = [Subset::new(2, |i| i == 0), Subset::new(2, |i| i == 1)];
    let report = audit_queryable(&pmw, vec![0, 0], vec![0, 1], 2, &queries);
    bites(&report, claimed.value(), 5e-3, 35);
    // Two corrections: the second question meets a hypothesis that was made of the first answer.
    let comparisons = SparseVector::new(2, one_sided(1, 8, 3), one_sided(1, 8, 3)).unwrap();
    let pmw = MultiplicativeWeights::new((2, 2), comparisons, geometric(1, 8, 3), 1).unwrap();
    let pmw = pmw.measurement();
    let claimed = pmw.map().loss(&1).unwrap();
    let report = audit_script(&pmw, vec![0, 0], vec![0, 1], &queries);
    bites(&report, claimed.value(), 5e-3, 35);
    let of_one = claimed.value().split(2);
    assert!(delta(&report, &of_one.split(2)).0 > 0.0);
}

#[test]
fn multiplicative_weights_are_as_accurate_as_published() {
    // [DR14] Thm 4.10 and 4.14: at most 4·ln|X|/α² corrections, and every answer within α of the truth as long
    // as the noise stays below a fraction of α.
    let (universe, size, threshold) = (16, 40_000, 10_000);
    let corrections = MultiplicativeWeights::corrections_for(universe, size, threshold);
    let pmw =
        MultiplicativeWeights::for_epsilon(exact("2"), universe, size, corrections, threshold)
            .unwrap();
    assert_eq!(*pmw.loss().value(), exact("2"));
    let data: Arc<Vec<usize>> = Arc::new((0..size).map(|i| (i * i) % 5).collect());
    let answers = pmw
        .measurement()
        .invoke_in(&Root::seeded([8; 32]), &data)
        .unwrap();
    let (mut measured, mut worst) = (0, 0);
    for round in 0..150usize {
        let subset = |i: usize| (i * 7 + round * round) % 11 < 1 + round % 9;
        let truth = data.iter().filter(|&&x| subset(x)).count() as i64;
        let answer = answers.ask(Subset::new(universe, subset)).unwrap();
        measured += u32::from(answer.measured);
        worst = worst.max((answer.count - truth).abs());
    }
    assert!(
        measured > 0 && measured < corrections,
        "{measured} of {corrections}"
    );
    assert!(worst < threshold * 3 / 2, "{worst}");
    assert!(answers.ask(Subset::new(3, |_| true)).is_err());
}

/// 1024 elements, 50,000 records, ε = 1: all of 500 questions are answered, within what the noise allows (with probability 95 %; seeded),
/// and the noise on counts is not what is seen. The fixed step had used up its corrections by question 130.
#[test]
fn five_hundred_questions_are_answered() {
    let (universe, size) = (1024usize, 50_000usize);
    let bump = |i: f64| {
        (-((i - 300.0) / 80.0).powi(2)).exp() + 0.5 * (-((i - 700.0) / 40.0).powi(2)).exp()
    };
    let weights: Vec<f64> = (0..universe).map(|i| bump(i as f64)).collect();
    let total: f64 = weights.iter().sum();
    let counts = weights.iter().map(|w| (w / total * size as f64) as usize);
    let mut data: Vec<usize> = counts.enumerate().flat_map(|(i, n)| vec![i; n]).collect();
    data.resize(size, 300);
    let data = Arc::new(data);
    let pmw = MultiplicativeWeights::for_questions(1, (universe, size), 48, 500).unwrap();
    assert_eq!(*pmw.loss().value(), exact("1"));
    // Ranges, and marginals of the ten digits of an element.
    let range = |k: usize, i: usize| (k * 331 % 1024..=k * 331 % 1024 + k * 97 % 700).contains(&i);
    let marginal = |k: usize, i: usize| {
        [k % 10, k * 3 % 10, k * 7 % 10]
            .iter()
            .all(|digit| i >> digit & 1 == k >> digit & 1)
    };
    let kinds: [&dyn Fn(usize, usize) -> bool; 2] = [&range, &marginal];
    for (seed, question) in kinds.into_iter().enumerate() {
        let answers = pmw.measurement();
        let answers = answers
            .invoke_in(&Root::seeded([seed as u8; 32]), &data)
            .unwrap();
        let mut worst = 0;
        for k in 0..500 {
            let truth = data.iter().filter(|x| question(k, **x)).count() as i64;
            let answer = answers.ask(Subset::new(universe, |i| question(k, i)));
            let answer = answer.unwrap_or_else(|error| panic!("question {k}: {error}"));
            worst = worst.max((answer.count - truth).abs());
        }
        assert!(worst <= 2 * pmw.threshold(), "{worst}");
    }
}

#[test]
fn senseless_weights_are_refused() {
    let one = exact("1");
    assert!(MultiplicativeWeights::for_epsilon(&one, 0, 10, 1, 1).is_err());
    assert!(MultiplicativeWeights::for_epsilon(&one, 2, 0, 1, 1).is_err());
    assert!(MultiplicativeWeights::for_epsilon(&one, 2, 10, 0, 1).is_err());
    assert!(MultiplicativeWeights::for_epsilon(&one, 2, 10, 1, 0).is_err());
    assert!(MultiplicativeWeights::for_epsilon(&Exact::ZERO, 2, 10, 1, 1).is_err());
    let pmw = MultiplicativeWeights::for_epsilon(&one, 2, 3, 1, 1)
        .unwrap()
        .measurement();
    assert!(pmw.invoke(vec![0, 1]).is_err());
    assert!(pmw.invoke(vec![0, 1, 2]).is_err());
}

// The published variants. Each takes pairs of query values, one for either input; thresholds are 0, as in the catalogue.

/// What a variant does.
#[derive(Clone)]
struct Variant {
    threshold: DiscreteLaplace,
    /// None for Algorithm 5: no noise on queries at all.
    query: Option<DiscreteLaplace>,
    /// How many positives before it halts; none means never.
    positives: Option<u32>,
    /// Shows the noisy value of a positive, as Algorithm 3 does.
    shows: bool,
    /// Draws new threshold noise after a positive, as Algorithm 2 does.
    redraws: bool,
}

/// An answer: below, or above with the value if it is shown.
type Answer = Option<Option<i64>>;

impl Variant {
    fn machine(&self, input: Input) -> impl Machine<Query = (i64, i64), Answer = Answer> + 'static {
        let variant = self.clone();
        let mut drawn: Option<IBig> = None;
        let mut left = self.positives;
        machine(move |values: (i64, i64), scope: &mut Scope<'_>| {
            let threshold = match drawn.take() {
                Some(drawn) => drawn,
                None => scope.draw(&variant.threshold)?,
            };
            let mut value = IBig::from(input.pick(values.0, values.1));
            if let Some(noise) = &variant.query {
                value += scope.draw(noise)?;
            }
            let above = value >= threshold;
            if !(above && variant.redraws) {
                drawn = Some(threshold);
            }
            if !above {
                return Ok(None);
            }
            if let Some(left) = &mut left {
                *left -= 1;
                if *left == 0 {
                    scope.halt();
                }
            }
            Ok(Some(variant.shows.then(|| i64::try_from(&value).unwrap())))
        })
    }

    /// Asks these pairs of values, in this order.
    fn audit(&self, queries: &[(i64, i64)]) -> Report<(i64, i64), Answer> {
        let build = |input: Input, root: &Root| root.spawn(self.machine(input));
        let next = |history: &[queryable::Exchange<_, _>]| vec![queries[history.len()]];
        audit(build).asking(queries.len(), next).unwrap()
    }
}

/// δ is above zero at `e^ε = factor`.
fn is_refuted(report: &Report<(i64, i64), Answer>, factor: u64) {
    let delta = report.delta(&Factor::new(factor, 1).unwrap());
    assert!(delta.least > ratio(0, 1), "{delta} at e^ε = {factor}");
}

#[test]
fn algorithm_2_is_right() {
    // [DR14]: threshold noise c/ε₁, drawn anew after each positive; query noise 2c/ε₂. With c = 2 and all
    // ratios 1/6: ε = 2 ln 6 + 4 ln 6.
    let variant = Variant {
        threshold: geometric(1, 6, 4),
        query: Some(geometric(1, 6, 4)),
        positives: Some(2),
        shows: false,
        redraws: true,
    };
    let report = variant.audit(&[(0, 1), (1, 0)]);
    let delta = report.delta(&Factor::new(6u64.pow(6), 1).unwrap());
    assert!(delta.most < ratio(1, 500), "{delta}");
}

#[test]
fn algorithm_3_leaks_by_its_numeric_answers() {
    // [Rot11]: noise 1/ε₁ and c/ε₂, and the same query noise shown. With c = 1 and ratios 1/5 it claims e^ε = 25.
    let variant = Variant {
        threshold: geometric(1, 5, 6),
        query: Some(geometric(1, 5, 6)),
        positives: Some(1),
        shows: true,
        redraws: false,
    };
    is_refuted(&variant.audit(&[(0, 1), (0, 1), (1, 0)]), 25);
}

#[test]
fn algorithm_4_forgets_the_number_of_positives() {
    // [LC14]: ε₁ = ε/4, ε₂ = 3ε/4, query noise 1/ε₂ for any c. With ratios 1/2 and 1/8 it claims e^ε = 16.
    let variant = Variant {
        threshold: geometric(1, 2, 16),
        query: Some(geometric(1, 8, 5)),
        positives: Some(2),
        shows: false,
        redraws: false,
    };
    let report = variant.audit(&[(-1, 0), (0, -1)]);
    is_refuted(&report, 16);
    // What it has instead is (1 + 6c)/4·ε: 2^13 here.
    let delta = report.delta(&Factor::new(1 << 13, 1).unwrap());
    assert!(delta.most < ratio(1, 5000), "{delta}");
}

#[test]
fn algorithm_5_without_query_noise_has_no_guarantee() {
    // [SCM14]: "below" for (0 | 1) and "above" for (1 | 0) is impossible under one input.
    let variant = Variant {
        threshold: geometric(1, 2, 50),
        query: None,
        positives: None,
        shows: false,
        redraws: false,
    };
    let report = variant.audit(&[(0, 1), (1, 0)]);
    for factor in [4, 1000, 1_000_000, 1_000_000_000] {
        is_refuted(&report, factor);
    }
}

#[test]
fn algorithm_6_without_a_cutoff_has_no_guarantee() {
    // [CXZX15]: noise 1/ε₁ and 1/ε₂, and no end. With ratios 1/5 it claims e^ε = 25.
    let variant = Variant {
        threshold: geometric(1, 5, 5),
        query: Some(geometric(1, 5, 5)),
        positives: None,
        shows: false,
        redraws: false,
    };
    is_refuted(&variant.audit(&[(-1, 0), (0, -1), (-1, 0)]), 25);
    // In closed form, with n answers of either kind: the loss grows with n without end.
    let fifth = law(&geometric(1, 5, 30));
    let noise = (&fifth[..], &fifth[..]);
    let loss = |n| (view(noise, (0, n), (1, n)) / view(noise, (1, n), (0, n))).ln();
    assert!(loss(2) < loss(10) && loss(10) < loss(50) && loss(50) > 20.0 * 25f64.ln());
}
