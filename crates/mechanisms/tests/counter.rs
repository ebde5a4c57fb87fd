//! Exact audits of the counters, also against adversaries who choose the stream, and their accuracy.

use crate::common::*;
use auditor::{Input, audit};
use continual::{Identifier, Pair, Verifier, streams::Continual};
use exact::Exact;
use measures::convert::zcdp_delta;
use mechanisms::{
    counter::{Counter, EndlessCounter, SquareRootBlocks, SquareRootCounter, SubtractingCounter},
    noise::{ApproxGaussian, Change, Noise},
    samplers::{DiscreteGaussian, DiscreteLaplace},
    spend,
};
use queryable::{AskError, Chain, Exchange, Root};

/// The claim holds, and so much as that of one level is refuted (what is put together of two levels hides a part of the second).
fn is_of_two_levels<Q, A>(report: &auditor::Report<Q, A>, claimed: &Exact) {
    holds(report, claimed, 5e-3);
    assert!(delta(report, &claimed.split(2)).0 > 0.0);
}

#[test]
fn the_counter_is_as_private_as_claimed() {
    // Two levels: the first update is in the block {1} and in the block {1, 2}.
    let counter = Counter::new(3, geometric(1, 3, 7)).unwrap();
    assert_eq!(counter.levels(), 2);
    let count = counter.measurement().unwrap();
    let claimed = count.map().loss(&Exact::ONE).unwrap();
    for other in [[1, 1, 0], [0, 0, 0], [0, 1, 1]] {
        let report = audit_queryable(&count, vec![0, 1, 0], other.into(), 3, &[()]);
        holds(&report, claimed.value(), 5e-3);
    }
    let report = audit_queryable(&count, vec![0, 1, 0], vec![1, 1, 0], 3, &[()]);
    is_of_two_levels(&report, claimed.value());
    // One level: nothing is put together, and the whole loss is there.
    let flat = Counter::with_arities(2, vec![2], geometric(1, 3, 9)).unwrap();
    let count = flat.measurement().unwrap();
    let claimed = count.map().loss(&Exact::ONE).unwrap();
    let report = audit_queryable(&count, vec![0, 1], vec![1, 1], 2, &[()]);
    is_tight(&report, claimed.value(), 1e-3);
}

/// Asks a continual count for streams that are chosen by what was seen: at distance 1, so one step differs, by one.
fn audit_adaptively<M: measures::Measure>(
    continual: &Continual<measures::L1Distance, M, i64, i64>,
    steps: usize,
) -> auditor::Report<Pair<i64>, i64> {
    let build = |input: Input, root: &Root| {
        let running = continual.invoke_in(root, &().into());
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
    audit(build).asking(steps, offer).unwrap()
}

#[test]
fn the_counter_withstands_adaptive_streams() {
    let counter = Counter::new(3, geometric(1, 4, 5)).unwrap();
    let claimed = counter.map().loss(&Exact::ONE).unwrap();
    is_of_two_levels(&audit_adaptively(&counter.continual(), 3), claimed.value());
}

#[test]
fn epochs_share_the_loss_of_the_worst() {
    let epoch = |steps, arities| {
        SubtractingCounter::with_arities(steps, arities, geometric(1, 4, 5)).unwrap()
    };
    let longer = epoch(2, vec![2]);
    let epochs = vec![epoch(1, vec![]), longer.clone()];
    let counter = EndlessCounter::<DiscreteLaplace>::of_epochs(epochs).unwrap();
    let claimed = |distance| counter.map().loss(&exact(distance)).unwrap();
    // The second epoch has two levels, the first has one.
    assert_eq!(claimed("1"), longer.map().loss(&Exact::ONE).unwrap());
    let continual = counter.continual();
    is_of_two_levels(&audit_adaptively(&continual, 3), claimed("1").value());
    let streams = [[0, 0, 0], [1, 1, 0]];
    let build = |input: Input, root: &Root| {
        let running = continual.invoke_in(root, &().into());
        let running = running.map_err(|error| AskError::failed(error.to_string()))?;
        let (stream, mut time) = (streams[input.index()], 0);
        Ok(auditor::player(move |()| {
            time += 1;
            running.ask(stream[time - 1])
        }))
    };
    let report = audit(build).asking(3, |_| vec![()]).unwrap();
    holds(&report, claimed("2").value(), 5e-3);
    assert!(delta(&report, claimed("1").value()).0 > 0.0);
    assert!(EndlessCounter::<DiscreteLaplace>::of_epochs(vec![]).is_err());
}

/// The second answer counts a block of three that has not ended, without the step that is yet to come: the noise of both
/// looks ahead, and a stream that is chosen by that answer gains nothing.
#[test]
fn blocks_that_are_taken_away_are_as_private_as_claimed() {
    let counter = SubtractingCounter::with_arities(3, vec![3], geometric(1, 4, 5)).unwrap();
    assert_eq!(counter.levels(), 2);
    let claimed = counter.map().loss(&Exact::ONE).unwrap();
    is_of_two_levels(&audit_adaptively(&counter.continual(), 3), claimed.value());
    let count = counter.measurement().unwrap();
    for other in [[1, 1, 0], [0, 0, 0], [0, 1, 1]] {
        let report = audit_queryable(&count, vec![0, 1, 0], other.into(), 3, &[()]);
        holds(&report, claimed.value(), 5e-3);
    }
    // Four steps, blocks of two: nothing is taken away, and the third answer has both levels.
    let binary = SubtractingCounter::with_arities(4, vec![2], geometric(1, 4, 4)).unwrap();
    let claimed = binary.map().loss(&Exact::ONE).unwrap();
    holds(
        &audit_adaptively(&binary.continual(), 4),
        claimed.value(),
        2e-2,
    );
}

/// In the L1 norm: the first release changes by 4 steps of the lattice, and that of the block by 4 and then 2. And as if one of the two counted: refuted.
#[test]
fn square_roots_of_blocks_are_as_private_as_claimed() {
    let noise = || geometric(1, 2, 20);
    let counter = SquareRootBlocks::on_lattice(2, 2, 2, noise()).unwrap();
    let claimed = counter.map().loss(&Exact::ONE).unwrap();
    assert_eq!(claimed, noise().loss(&Change::one(&exact("8"))));
    let report = audit_adaptively(&counter.continual(), 2);
    holds(&report, claimed.value(), 1e-5);
    let one = noise().loss(&Change::one(&exact("4")));
    assert!(delta(&report, one.value()).0 > 0.0);
    let longer = SquareRootBlocks::on_lattice(4, 2, 2, noise()).unwrap();
    let claimed = longer.map().loss(&Exact::ONE).unwrap();
    assert_eq!(claimed, noise().loss(&Change::one(&exact("10"))));
    for (horizon, block) in [(0, 2), (4, 1), (1 << 22, 2), (1 << 41, 1 << 20)] {
        assert!(SquareRootBlocks::on_lattice(horizon, block, 2, noise()).is_err());
    }
    assert!(SquareRootBlocks::on_lattice(4, 2, 1, noise()).is_err());
}

/// In the L1 norm, where noise with rational probabilities makes the audit exact: the releases of two steps change by 4 and 2
/// steps of the lattice. And as if only the first counted: refuted.
#[test]
fn the_square_root_is_as_private_as_claimed() {
    let counter = SquareRootCounter::on_lattice(2, 2, geometric(1, 2, 24)).unwrap();
    let claimed = counter.map().loss(&Exact::ONE).unwrap();
    assert_eq!(claimed, geometric(1, 2, 24).loss(&Change::one(&exact("6"))));
    let report = audit_adaptively(&counter.continual(), 2);
    holds(&report, claimed.value(), 1e-5);
    let count = counter.measurement().unwrap();
    let report = audit_queryable(&count, vec![0, 0], vec![1, 0], 2, &[()]);
    holds(&report, claimed.value(), 1e-5);
    let first = geometric(1, 2, 24).loss(&Change::one(&exact("4")));
    assert!(delta(&report, first.value()).0 > 0.0);
    // Two units, one in each step: the sum of the two columns, and no more than twice the first.
    let report = audit_queryable(&count, vec![0, 0], vec![1, 1], 2, &[()]);
    let claimed = counter.map().loss(&exact("2")).unwrap();
    holds(&report, claimed.value(), 1e-4);
}

/// In zCDP, through what it implies at several ε; and as if the lattice were forgotten: refuted.
#[test]
fn the_square_root_has_the_zcdp_that_it_claims() {
    let noise = DiscreteGaussian::with_scale(5).unwrap().enumerating(30);
    let counter = SquareRootCounter::on_lattice(2, 2, noise).unwrap();
    let claimed = counter.map().loss(&Exact::ONE).unwrap();
    assert_eq!(claimed, "0.4".parse().unwrap()); // (4² + 2²)/(2·5²)
    let count = counter.measurement().unwrap();
    let report = audit_queryable(&count, vec![0, 0], vec![1, 0], 2, &[()]);
    for epsilon in ["0.5", "1", "2"].map(exact) {
        let implied = |rho| zcdp_delta(&rho, &epsilon).to_f64(::exact::Round::Up);
        let (least, most) = delta(&report, &epsilon);
        assert!(most <= implied(claimed.clone()), "{epsilon}: {most}");
        assert!(
            least > implied("0.02".parse().unwrap()),
            "{epsilon}: {least}"
        );
    }
    let noise = || DiscreteGaussian::with_scale(5).unwrap();
    assert!(SquareRootCounter::on_lattice(2, 1, noise()).is_err());
    assert!(SquareRootCounter::on_lattice(0, 2, noise()).is_err());
    assert!(SquareRootCounter::on_lattice(1 << 21, 2, noise()).is_err());
}

/// In (ε, δ), for streams that are chosen by what was seen; and as if only the first release changed: refuted.
#[test]
fn counters_have_the_epsilon_and_delta_that_they_claim() {
    let gaussian = || DiscreteGaussian::with_scale(5).unwrap().enumerating(30);
    let noise = || ApproxGaussian::new(gaussian(), "0.5").unwrap();
    let square_root = SquareRootCounter::on_lattice(2, 2, noise()).unwrap();
    let claimed = square_root.map().loss(&Exact::ONE).unwrap();
    let report = audit_adaptively(&square_root.continual(), 2);
    let (least, most) = delta(&report, claimed.epsilon());
    let first = noise().loss(&Change::one(&exact("2")));
    let number = |exact: &Exact| exact.to_f64(::exact::Round::Up);
    assert!(most <= number(claimed.delta()), "{most} {claimed}");
    assert!(least > number(first.delta()), "{least} {first}");
    // Spent: less noise than by way of zCDP.
    let spent = SquareRootCounter::spending(100, spend::epsilon_delta(1, "1e-6")).unwrap();
    let loss = spent.map().loss(&Exact::ONE).unwrap();
    assert!(*loss.epsilon() == Exact::ONE && *loss.delta() <= exact("1e-6"));
    let blocks = Counter::spending(100, spend::epsilon_delta(1, "1e-6")).unwrap();
    assert!(*blocks.map().loss(&Exact::ONE).unwrap().delta() <= exact("1e-6"));
}

/// The root of the mean squared error over all steps and so many seeded runs.
fn error(machine: impl Fn() -> queryable::Queryable<i64, i64>, steps: i64, runs: u32) -> f64 {
    let mut squares = 0.0;
    for _ in 0..runs {
        let (running, mut truth) = (machine(), 0);
        for t in 0..steps {
            truth += t % 3;
            squares += ((running.ask(t % 3).unwrap() - truth) as f64).powi(2);
        }
    }
    (squares / f64::from(runs) / steps as f64).sqrt()
}

#[test]
fn better_blocks_show() {
    let roots = || Root::seeded([9; 32]);
    let root = roots();
    let binary = Counter::new(2000, DiscreteLaplace::new(11).unwrap()).unwrap();
    let best = Counter::spending(2000, spend::epsilon(1)).unwrap();
    let endless = EndlessCounter::spending(spend::epsilon(1)).unwrap();
    let losses = [binary.map(), best.map(), endless.map()];
    assert!(
        losses
            .iter()
            .all(|map| map.loss(&Exact::ONE).unwrap().to_string() == "1")
    );
    let binary = error(|| root.spawn(binary.machine()).unwrap(), 2000, 10);
    let best = error(|| root.spawn(best.machine()).unwrap(), 2000, 10);
    let endless = error(|| root.spawn(endless.machine()).unwrap(), 2000, 10);
    // Predicted: 26.5, 16.6 and 20.1.
    assert!(best < 0.75 * binary && best < 20.0, "{best} {binary}");
    assert!(endless < 25.0, "{endless}");
    // Predicted: 12.7. Neither 20 % more nor less, over some 20,000 answers of noises that are fresh every few steps.
    let taken_away = SubtractingCounter::spending(2000, spend::epsilon(1)).unwrap();
    assert_eq!(taken_away.map().loss(&Exact::ONE).unwrap().to_string(), "1");
    let predicted = taken_away.deviation(2f64.sqrt() * f64::from(taken_away.levels()));
    let taken_away = error(|| root.spawn(taken_away.machine()).unwrap(), 2000, 10);
    assert!(taken_away < best, "{taken_away} {best}");
    assert!(
        (0.8..1.2).contains(&(taken_away / predicted)),
        "{taken_away} {predicted}"
    );
    let root = roots();
    let blocks = Counter::spending(500, spend::rho("0.5")).unwrap();
    let square_root = SquareRootCounter::spending(500, spend::rho("0.5")).unwrap();
    assert_eq!(
        square_root.map().loss(&Exact::ONE).unwrap(),
        "0.5".parse().unwrap()
    );
    let scale = square_root.noise().variance().to_f64().value().sqrt();
    let predicted = (1..=500).map(|t| square_root.deviation(t, scale).powi(2));
    let predicted = (predicted.sum::<f64>() / 500.0).sqrt();
    let short = SquareRootBlocks::spending(500, spend::rho("0.5")).unwrap();
    assert_eq!(
        short.map().loss(&Exact::ONE).unwrap(),
        "0.5".parse().unwrap()
    );
    let scale = short.noise().variance().to_f64().value().sqrt();
    let in_short = (1..=500).map(|t| short.deviation(t, scale).powi(2));
    let in_short = (in_short.sum::<f64>() / 500.0).sqrt();
    assert!(
        (1.15..1.35).contains(&(in_short / predicted)),
        "{in_short} {predicted}"
    );
    let short = error(|| root.spawn(short.machine()).unwrap(), 500, 20);
    assert!(
        (0.85..1.15).contains(&(short / in_short)),
        "{short} {in_short}"
    );
    let blocks = error(|| root.spawn(blocks.machine()).unwrap(), 500, 20);
    let square_root = error(|| root.spawn(square_root.machine()).unwrap(), 500, 20);
    assert!(square_root < 0.75 * blocks, "{square_root} {blocks}");
    assert!(
        (0.85..1.15).contains(&(square_root / predicted)),
        "{square_root} {predicted}"
    );
}

#[test]
fn several_dimensions_are_tight() {
    let counter = Counter::new(1, geometric(1, 3, 10)).unwrap();
    let count = counter.vector_measurement(2).unwrap();
    let claimed = count.map().loss(&exact("2")).unwrap();
    let report = audit_queryable(&count, vec![vec![0, 1]], vec![vec![1, 0]], 1, &[()]);
    is_tight(&report, claimed.value(), 1e-3);

    // Live, for every counter: the map is that of one column.
    let taken_away = SubtractingCounter::spending(5, spend::epsilon(1)).unwrap();
    let live = taken_away.continual_vector(3).unwrap();
    assert_eq!(live.map().loss(&Exact::ONE).unwrap().to_string(), "1");
    let counts = live.invoke_in(&Root::seeded([1; 32]), &().into()).unwrap();
    for _ in 0..5 {
        assert_eq!(counts.ask(vec![0, 0, 0]).unwrap().len(), 3);
    }
    assert_eq!(counts.ask(vec![0, 0, 0]), Err(AskError::Halted));
    let root = SquareRootCounter::spending(5, spend::rho(1)).unwrap();
    let short = SquareRootBlocks::spending(5, spend::rho(1)).unwrap();
    for live in [root.continual_vector(2), short.continual_vector(2)] {
        assert_eq!(
            live.unwrap().map().loss(&Exact::ONE).unwrap().to_string(),
            "1"
        );
    }
    assert!(root.continual_vector(0).is_err() && taken_away.continual_vector(0).is_err());

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
            .invoke_in(&Root::seeded([seed; 32]), &stream.clone().into())
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
    // On average a step has levels/2 blocks, each with variance 2b², of which about 0.55 is left when blocks and their parts are put
    // together ([Hon15]).
    let rms = (squares / 10.0 / steps as f64).sqrt();
    let expected = levels * (0.55 * levels).sqrt();
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
    let root = SquareRootCounter::spending(4, spend::rho("0.5")).unwrap();
    let running = Root::seeded([1; 32]).spawn(root.machine()).unwrap();
    assert!(running.ask(i64::MAX).unwrap() > i64::MAX - (1 << 20));
    for _ in 0..3 {
        assert_eq!(running.ask(i64::MAX), Ok(i64::MAX));
    }
    assert_eq!(running.ask(1), Err(AskError::Halted));
    let short = SquareRootBlocks::spending(5, spend::rho("0.5")).unwrap();
    let running = Root::seeded([1; 32]).spawn(short.machine()).unwrap();
    assert!(running.ask(i64::MAX).unwrap() > i64::MAX - (1 << 20));
    for _ in 0..4 {
        assert_eq!(running.ask(i64::MAX), Ok(i64::MAX));
    }
    assert_eq!(running.ask(1), Err(AskError::Halted));
    let taken_away = SubtractingCounter::spending(5, spend::epsilon(1)).unwrap();
    let running = Root::seeded([1; 32]).spawn(taken_away.machine()).unwrap();
    for _ in 0..5 {
        assert!(running.ask(i64::MAX).unwrap() > i64::MAX - 1000);
    }
    assert_eq!(running.ask(1), Err(AskError::Halted));
}
