//! Exact audits of the counters, also against adversaries who choose the stream, and their accuracy.

mod common;

use auditor::{Input, audit};
use common::*;
use continual::{Identifier, Pair, Verifier};
use exact::Exact;
use mechanisms::{
    counter::Counter,
    samplers::{DiscreteGaussian, DiscreteLaplace},
};
use queryable::{AskError, Chain, Exchange, Root};

#[test]
fn the_counter_is_tight() {
    // Two levels: the first update is in the block {1} and in the block {1, 2}.
    let counter = Counter::new(3, geometric(1, 3, 8)).unwrap();
    assert_eq!(counter.levels(), 2);
    let count = counter.measurement().unwrap();
    let claimed = count.map().loss(&Exact::ONE).unwrap();
    let report = audit_queryable(&count, vec![0, 1, 0], vec![1, 1, 0], 3, &[()]);
    is_tight(&report, claimed.value(), 1e-3);
}

#[test]
fn the_counter_withstands_adaptive_streams() {
    let counter = Counter::new(3, geometric(1, 4, 7)).unwrap();
    let claimed = counter.map().loss(&Exact::ONE).unwrap();
    let continual = counter.continual();
    // Streams that are chosen by what was seen: at distance 1, so one step differs, by one.
    let build = |input: Input, root: &Root| {
        let running = continual.invoke_in(root, ().into());
        let running = running.map_err(|error| AskError::failed(error.to_string()))?;
        let function = continual.space().function(&Exact::ONE);
        root.postprocess(
            &running,
            Chain::new(Verifier::new(function), Identifier::new(input)),
        )
    };
    let offer = |history: &[Exchange<Pair<i64>, i64>]| {
        let differed = history.iter().any(|round| !round.query.is_identical());
        match differed {
            true => vec![Pair::same(0)],
            false => vec![Pair::same(0), Pair::new(0, 1)],
        }
    };
    let report = audit(build).asking(3, offer).unwrap();
    is_tight(&report, claimed.value(), 1e-3);
}

#[test]
fn several_dimensions_are_tight() {
    let counter = Counter::new(1, geometric(1, 3, 10)).unwrap();
    let count = counter.vector_measurement(2).unwrap();
    let claimed = count.map().loss(&exact("2")).unwrap();
    let report = audit_queryable(&count, vec![vec![0, 1]], vec![vec![1, 0]], 1, &[()]);
    is_tight(&report, claimed.value(), 1e-3);

    let root = Root::seeded([1; 32]);
    let q = root.spawn(counter.vector_machine(2).unwrap()).unwrap();
    assert!(matches!(q.ask(vec![1]), Err(AskError::InvalidQuery(_))));
    assert_eq!(q.ask(vec![1, 2]).unwrap().len(), 2);
    assert_eq!(q.ask(vec![1, 2]), Err(AskError::Halted));
    assert!(counter.vector_machine(0).is_err());
}

#[test]
fn the_gaussian_counter_claims_its_levels() {
    let counter = Counter::new(1000, DiscreteGaussian::with_scale(ratio(10, 1)).unwrap()).unwrap();
    assert_eq!(
        counter.map().loss(&exact("2")).unwrap(),
        "0.2".parse().unwrap()
    ); // 10·4/200
    assert!(Counter::new(0, DiscreteGaussian::new(ratio(1, 1)).unwrap()).is_err());
}

#[test]
fn counts_are_as_accurate_as_published() {
    // [CSS11] Thm 3.5: with b = levels/ε, each answer is within b·√(8·levels)·ln(2/β) with probability
    // 1 − β; here for all steps at once, β = 0.01/steps.
    let steps = 1024u64;
    let levels = 11.0f64;
    let counter = Counter::new(steps, DiscreteLaplace::new(ratio(11, 1)).unwrap()).unwrap();
    assert_eq!(f64::from(counter.levels()), levels);
    assert_eq!(counter.map().loss(&Exact::ONE).unwrap().to_string(), "1");
    let count = counter.measurement().unwrap();
    let bound = levels * (8.0 * levels).sqrt() * (2.0 * steps as f64 / 0.01).ln();
    let (mut worst, mut squares) = (0.0f64, 0.0);
    for seed in 0..10 {
        let stream: Vec<i64> = (0..steps as i64).map(|t| t % 3).collect();
        let running = count
            .invoke_in(&Root::seeded([seed; 32]), stream.clone().into())
            .unwrap();
        let mut truth = 0;
        for x in stream {
            truth += x;
            let error = (running.ask(()).unwrap() - truth) as f64;
            worst = worst.max(error.abs());
            squares += error * error;
        }
        assert_eq!(running.ask(()), Err(AskError::Halted));
    }
    assert!(worst < bound, "{worst} {bound}");
    // On average a step has levels/2 blocks, each with variance 2b².
    let rms = (squares / 10.0 / steps as f64).sqrt();
    let expected = levels * levels.sqrt();
    assert!((0.7..1.4).contains(&(rms / expected)), "{rms} {expected}");
}

#[test]
fn sums_do_not_overflow() {
    let counter = Counter::new(4, DiscreteLaplace::new(ratio(1, 1)).unwrap()).unwrap();
    let running = Root::seeded([1; 32]).spawn(counter.machine()).unwrap();
    for _ in 0..3 {
        assert!(running.ask(i64::MAX).unwrap() > i64::MAX - 100);
    }
    assert_eq!(running.ask(i64::MAX), Ok(i64::MAX));
}
