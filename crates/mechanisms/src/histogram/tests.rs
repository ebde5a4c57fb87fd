//! The claim of three slots, hunted; the whole, audited; and its accuracy.

use auditor::{Factor, Input, Report, audit, player};
use continual::{
    Catalogue, EventLevel, ExtConComp, Identifier, Mixed, Pair, Request, StreamMessage, Suitable,
    Verifier,
    composite::{Composite, Fault, Found, Parts, Tainted, hunt},
    streams::Streams,
};
use exact::Exact;
use measures::EpsilonDelta;
use queryable::{AskError, Chain, Root};

use crate::{counter::SubtractingCounter, monitor::RowUpdate, samplers::Geometric};

use super::{
    parts::{Answer, Name, Noises, Query},
    *,
};

/// With a horizon of three rows and noise of these ratios, enumerated to a radius.
fn small(dimensions: usize, ratios: [u64; 2], radius: u32) -> Histogram {
    small_until(3, dimensions, ratios, radius)
}

fn small_until(
    horizon: u64,
    dimensions: usize,
    [counter, other]: [u64; 2],
    radius: u32,
) -> Histogram {
    let noise = |d: u64| {
        let ratio = RBig::from_parts(1.into(), d.into());
        DiscreteLaplace::with_ratio(ratio)
            .unwrap()
            .enumerating(radius)
    };
    let counter = Counter::new(horizon, noise(counter)).unwrap();
    let one_sided = || {
        let ratio = RBig::from_parts(1.into(), other.into());
        let noise = Geometric::with_ratio(ratio).unwrap();
        noise.enumerating(radius as usize + 1)
    };
    let monitor = SparseVector::new(1, one_sided(), one_sided()).unwrap();
    let small = Histogram::with_noise(
        counter,
        monitor,
        noise(other),
        dimensions,
        Statistic::Largest,
    );
    small.unwrap().with_margins(Margins { step: 1, check: 0 })
}

/// The same without a horizon: the counter's epochs have one step, two steps and two hundred.
fn small_endless(ratios: [u64; 2], radius: u32) -> Histogram {
    let until = small(1, ratios, radius);
    let Noises {
        counter: Counting::Until(counter),
        monitor,
        comparison,
    } = &*until.noises
    else {
        panic!("it has a horizon");
    };
    let epoch = |steps| SubtractingCounter::with_arities(steps, vec![2], counter.noise().clone());
    let epochs = [1, 2, 200].map(|steps| epoch(steps).unwrap());
    let counter = EndlessCounter::of_epochs(epochs.into()).unwrap();
    let (monitor, comparison) = (monitor.clone(), comparison.clone());
    let small = Histogram::endless_with_noise(counter, monitor, comparison, 1, Statistic::Largest);
    small.unwrap().with_margins(Margins { step: 1, check: 0 })
}

fn rows(columns: usize) -> Vec<Pair<RowMessage>> {
    let all = |bits: usize| {
        (0..columns)
            .map(|at| bits >> at & 1 == 1)
            .collect::<Vec<_>>()
    };
    let each = 1usize << columns;
    let pair = |at: usize| Pair::new(all(at / each), all(at % each)).map(StreamMessage::Update);
    (0..each * each).map(pair).collect()
}

/// What parts could answer, errors among them.
fn forced(query: &Query) -> Vec<Result<Answer, AskError>> {
    match query {
        Query::Row(row) => [0, 2]
            .map(|by| Ok(Answer::Totals(vec![by; row.len()])))
            .into(),
        Query::Watch(_) => vec![Ok(Answer::Above(false)), Ok(Answer::Above(true))],
        Query::Value(_) => vec![
            Ok(Answer::Value(-3)),
            Ok(Answer::Value(9)),
            Err(AskError::Halted),
        ],
    }
}

fn catalogue<N: CountingNoise>(
    histogram: &Histogram<N>,
) -> Catalogue<Name, Query, Answer, EpsilonDelta> {
    let Histogram { noises, losses, .. } = histogram;
    noises.catalogue(losses, histogram.dimensions, histogram.statistic)
}

fn suitable<N: CountingNoise>(
    histogram: &Histogram<N>,
) -> Suitable<Name, Query, Answer, ApproximateParallel> {
    Suitable::new(catalogue(histogram), histogram.slots())
}

#[test]
fn a_row_reaches_three_slots_and_no_more() {
    for columns in [1, 2] {
        let histogram = small(columns, [2, 3], 1);
        let event = Mixed::new(EventLevel::new());
        let length = if columns == 1 { 3 } else { 2 };
        let ways = hunt(
            &histogram.running(),
            &event,
            suitable(&histogram),
            &rows(columns),
            forced,
            length,
        );
        assert!(ways.unwrap() > 100);
    }
}

/// Shows every row to two monitors.
#[derive(Clone)]
struct Twice;

impl Composite for Twice {
    type Update = Vec<bool>;
    type Question = ();
    type Answer = i64;
    type Name = Name;
    type PartQuery = Query;
    type PartAnswer = Answer;

    fn update(
        &mut self,
        row: Tainted<Vec<bool>>,
        parts: &mut Parts<'_, Self>,
    ) -> Result<i64, AskError> {
        for _ in 0..2 {
            let monitor = parts.create(Name::Monitor(vec![0]))?;
            let watched = row.clone().map(|row| {
                let by = row.into_iter().map(i64::from).collect();
                Query::Watch(RowUpdate { by, threshold: 0 })
            });
            parts.ask(monitor, watched)?;
        }
        Ok(0)
    }

    fn question(&mut self, (): (), _: &mut Parts<'_, Self>) -> Result<i64, AskError> {
        Ok(0)
    }
}

#[test]
fn a_row_that_two_monitors_see_is_found() {
    let event = Mixed::new(EventLevel::new());
    let parts = suitable(&small(1, [2, 3], 1));
    let found = hunt(&Twice, &event, parts, &rows(1), forced, 1);
    assert_eq!(
        found.map_err(|Found { fault, .. }| fault),
        Err(Fault::Invalid)
    );
}

/// One column, with Gaussian noise of variance 1/8 in the counter, and noise of this ratio in the other parts.
fn small_gaussian(other: u64, radius: u32) -> Histogram<DiscreteGaussian> {
    small_gaussian_with(RBig::from_parts(1.into(), 8u8.into()), other, radius)
}

fn small_gaussian_with(variance: RBig, other: u64, radius: u32) -> Histogram<DiscreteGaussian> {
    let laplace = small(1, [50, other], radius);
    let noise = DiscreteGaussian::new(variance).unwrap();
    let counter = Counter::new(3, noise.enumerating(radius + 1)).unwrap();
    let Noises {
        monitor,
        comparison,
        ..
    } = &*laplace.noises;
    let delta: Exact = "0.001".parse().unwrap();
    let (monitor, comparison) = (monitor.clone(), comparison.clone());
    let small =
        Histogram::with_gaussian_noise(counter, &delta, monitor, comparison, 1, Statistic::Largest);
    small.unwrap().with_margins(Margins { step: 1, check: 0 })
}

/// The bounds on δ at this ε: no more than the first, and no less than the second.
fn delta<Q, A>(report: &Report<Q, A>, epsilon: &Exact) -> (f64, f64) {
    let at = |round| report.delta(&Factor::of_epsilon(epsilon, round).unwrap());
    let most = at(Round::Down).most.to_f64().value();
    (most, at(Round::Up).least.to_f64().value())
}

type Asked = Pair<Request<Name, Query>>;

/// The game with the histogram's own parts, in which the adversary sees every answer of a part. The histogram is a
/// post-processing of it, so that a row costs no more than this.
fn parts_audited<N: CountingNoise>(
    histogram: &Histogram<N>,
    script: &[Asked],
) -> Report<Asked, String> {
    let build = |input: Input, root: &Root| {
        let parts = root.spawn(ExtConComp::new(catalogue(histogram)))?;
        let referee = Chain::new(Verifier::new(suitable(histogram)), Identifier::new(input));
        let game = root.postprocess(&parts, referee)?;
        Ok(player(move |message: Asked| {
            Ok(format!("{:?}", game.ask(message)?))
        }))
    };
    let next = |history: &[queryable::Exchange<Asked, String>]| vec![script[history.len()].clone()];
    audit(build).asking(script.len(), next).unwrap()
}

/// Asks the part with this number.
fn to(part: usize, zero: Query, one: Query) -> Asked {
    Pair::new(Request::ask(part, zero), Request::ask(part, one))
}

fn create(name: Name) -> Asked {
    Pair::same(Request::Create(name))
}

/// This ε holds at δ, up to what truncated draws leave open, and this share of it (in per cent) is refuted.
fn is_tight<Q, A>(report: &Report<Q, A>, epsilon: &Exact, claimed: f64, percent: u64) {
    let (most, least) = delta(report, epsilon);
    assert!(least <= claimed && most <= claimed + 1e-6, "{least} {most}");
    let less = epsilon.times(percent).split(100);
    let (_, least) = delta(report, &less);
    assert!(least > claimed, "{percent} % of {epsilon}: {least}");
}

/// The counter's row, in one column.
fn counted(zero: i64, one: i64) -> Asked {
    to(0, Query::Row(vec![zero]), Query::Row(vec![one]))
}

fn watched(zero: [i64; 2], one: [i64; 2], threshold: i64) -> Asked {
    let row = |by: [i64; 2]| RowUpdate {
        by: by.to_vec(),
        threshold,
    };
    to(0, Query::Watch(row(zero)), Query::Watch(row(one)))
}

/// No slot is larger than what a row costs in its part: 98 % of it is refuted.
#[test]
fn every_part_spends_its_slot() {
    let histogram = small(1, [50, 50], 4);
    // Both blocks of the first row are seen.
    let counter = [create(Name::Counter), counted(0, 1), counted(0, 0)];
    let report = parts_audited(&histogram, &counter);
    is_tight(&report, histogram.losses.counter.epsilon(), 0.0, 98);

    let comparison = [
        create(Name::Comparison),
        to(0, Query::Value(0), Query::Value(1)),
    ];
    let report = parts_audited(&histogram, &comparison);
    is_tight(&report, histogram.losses.comparison.epsilon(), 0.0, 98);

    // The largest total is 0 or 1, and then 0 or -1: it rises with the row that differs, and falls with the next.
    let monitor = [
        create(Name::Monitor(vec![0, -1])),
        watched([0, 1], [1, 0], 1),
        watched([-2, 0], [-2, 0], 0),
    ];
    let histogram = small(2, [50, 50], 5);
    let report = parts_audited(&histogram, &monitor);
    is_tight(&report, histogram.losses.monitor.epsilon(), 0.0, 98);

    // The second row is in both blocks of the second epoch.
    let histogram = small_endless([50, 50], 4);
    let counter = [
        create(Name::Counter),
        counted(0, 0),
        counted(0, 1),
        counted(0, 0),
    ];
    let report = parts_audited(&histogram, &counter);
    is_tight(&report, histogram.losses.counter.epsilon(), 0.0, 98);
}

/// The slots of a row add up: with its step of the counter and its comparison it costs what both cost.
#[test]
fn slots_of_a_row_add_up() {
    let histogram = small_until(1, 1, [50, 50], 4);
    let both = [
        create(Name::Counter),
        create(Name::Comparison),
        counted(0, 1),
        to(1, Query::Value(0), Query::Value(1)),
    ];
    let report = parts_audited(&histogram, &both);
    let losses = &histogram.losses;
    let sum = losses.counter.epsilon() + losses.comparison.epsilon();
    is_tight(&report, &sum, 0.0, 98);
}

/// The slot of a Gaussian counter is its loss in zCDP, converted: four fifths of it are refuted.
#[test]
fn a_gaussian_counter_spends_its_slot() {
    let variance = RBig::from_parts(2.into(), 1u8.into());
    let histogram = small_gaussian_with(variance, 50, 8);
    let counter = [create(Name::Counter), counted(0, 1), counted(0, 0)];
    let report = parts_audited(&histogram, &counter);
    let slot = &histogram.losses.counter;
    let delta = slot.delta().to_f64(Round::Up);
    is_tight(&report, slot.epsilon(), delta, 80);
}

/// The whole holds its claim. Truncated draws are counted against the claim on either input: that is the slack, and δ is
/// shown up to it. The published values hide some answers of the parts, so that only some tenths of the claim are refuted here.
fn audited<N: CountingNoise>(histogram: &Histogram<N>, steps: usize, slack: f64, tenths: u64) {
    let build = |input: Input, root: &Root| {
        let running = root.spawn(histogram.machine())?;
        let function = Streams::with(Updates).function::<RowMessage>(&1);
        root.postprocess(
            &running,
            Chain::new(Verifier::new(function), Identifier::new(input)),
        )
    };
    let bits = [(false, false), (false, true), (true, true)];
    let pair = |(zero, one)| Pair::new(vec![zero], vec![one]).map(StreamMessage::Update);
    let report = audit(build).asking(steps, |_: &[_]| bits.map(pair).to_vec());
    let report = report.unwrap();
    let whole = histogram.losses.whole();
    let claimed = whole.delta().to_f64(Round::Up);
    let (most, least) = delta(&report, whole.epsilon());
    assert!(least <= claimed && most < claimed + slack, "{least} {most}");
    let less = whole.epsilon().times(tenths).split(10);
    assert!(delta(&report, &less).1 > claimed);
}

#[test]
fn it_is_as_private_as_claimed() {
    audited(&small(1, [50, 50], 3), 1, 1e-5, 3);
    audited(&small(1, [100_000, 100_000], 1), 2, 3e-5, 2);
}

#[test]
fn without_a_horizon_it_is_as_private_as_claimed() {
    let small = small_endless([50, 50], 3);
    // Two levels of blocks in every epoch: a row costs what it costs in one of them.
    let levels = small.losses.counter.epsilon().to_f64(Round::Up);
    assert!((levels - 2.0 * 50f64.ln()).abs() < 1e-9, "{levels}");
    audited(&small, 1, 1e-5, 3);
    audited(&small_endless([100_000, 100_000], 1), 2, 3e-5, 2);
}

/// However long it goes on, a row costs thirds of ε: in the counter, in one monitor and in one comparison.
#[test]
fn endless_thirds_add_up() {
    for (text, columns) in [("1", 3), ("0.7", 1), ("3", 10)] {
        let epsilon: Exact = text.parse().unwrap();
        let endless = Histogram::endless(&epsilon, columns, Statistic::Largest).unwrap();
        assert!(*endless.loss().value() <= epsilon);
        assert!(endless.loss().value().times(1000) > epsilon.times(999));
        assert!(endless.horizon() >= 1 << 62);
        let delta: Exact = "1e-6".parse().unwrap();
        let approx = Histogram::endless_approx(&epsilon, &delta, columns, Statistic::Largest);
        let approx = approx.unwrap();
        assert!(*approx.loss().epsilon() <= epsilon && *approx.loss().delta() == delta);
        assert!(approx.loss().epsilon().times(1000) > epsilon.times(999));
    }
    let build = |epsilon: u8, columns| Histogram::endless(epsilon, columns, Statistic::Largest);
    assert!(build(0, 1).is_err() && build(1, 0).is_err());
    let build = |delta: &str| Histogram::endless_approx("1", delta, 1, Statistic::Largest);
    assert!(build("0").is_err() && build("1").is_err());
}

/// All shares of a failure probability are at most one together, and the bounds grow.
#[test]
fn margins_grow_for_ever() {
    let endless = Histogram::endless("1", 2, Statistic::Largest).unwrap();
    let shares = (0..=62).map(|i| endless.period(1 << i).1).sum::<f64>();
    assert!((0.9..=1.0).contains(&shares), "{shares}");
    for i in 0..62 {
        let [now, next] = [1u64 << i, 2 << i].map(|time| endless.noise_until(time, 0.05));
        assert!(now.iter().zip(next).all(|(now, next)| *now <= next));
        assert_eq!(endless.period(1 << i), endless.period((2 << i) - 1));
        let margins = endless.margins_until(1 << i, 0.05);
        assert_eq!(endless.margins[i as usize], margins);
    }
}

#[test]
fn with_gaussian_noise_it_is_as_private_as_claimed() {
    audited(&small_gaussian(50, 3), 1, 1e-5, 2);
    audited(&small_gaussian(100_000, 1), 2, 3e-5, 2);
}

#[test]
fn gaussian_noise_has_all_of_delta() {
    let [epsilon, delta] = ["1", "1e-6"].map(|text| text.parse::<Exact>().unwrap());
    let build = |columns: usize, horizon: u64, delta: &Exact| {
        Histogram::for_approx(&epsilon, delta, columns, horizon, Statistic::Largest)
    };
    for columns in [1, 30] {
        let loss = build(columns, 1000, &delta).unwrap().loss();
        assert!(*loss.epsilon() <= epsilon && *loss.delta() == delta);
        assert!(loss.epsilon().times(1000) > epsilon.times(999));
    }
    let histogram = build(2, 1000, &delta).unwrap();
    let map = histogram.continual();
    assert_eq!(map.map().loss(&1).unwrap(), histogram.loss());
    assert!(map.map().loss(&2).unwrap().is_infinite());
    assert!(build(0, 1000, &delta).is_err() && build(1, 0, &delta).is_err());
    assert!(build(1, 1000, &Exact::ZERO).is_err() && build(1, 1000, &Exact::ONE).is_err());
}

#[test]
fn thirds_add_up() {
    for (epsilon, columns) in [("1", 3), ("0.7", 1), ("3", 10)] {
        let epsilon: Exact = epsilon.parse().unwrap();
        let histogram =
            Histogram::for_epsilon(&epsilon, columns, 1000, Statistic::Largest).unwrap();
        assert!(*histogram.loss().value() <= epsilon);
        assert!(histogram.loss().value().times(1000) > epsilon.times(999));
    }
    assert!(Histogram::for_epsilon(&Exact::ZERO, 1, 10, Statistic::Largest).is_err());
    assert!(Histogram::for_epsilon(&Exact::ONE, 0, 10, Statistic::Largest).is_err());
    assert!(Histogram::for_epsilon(&Exact::ONE, 1, 0, Statistic::Largest).is_err());
}

/// A seeded run of 4000 rows is within the stated error at every step; with a horizon, 4000 rows are all.
fn accurate<N: CountingNoise>(histogram: &Histogram<N>) {
    let (steps, statistic) = (4000, histogram.statistic);
    let bound = |time| histogram.accuracy_until(time, 0.05);
    assert!(bound(steps) < 2000.0, "{}", bound(steps));
    let running = Root::seeded([5; 32]).spawn(histogram.machine()).unwrap();
    let (mut totals, mut last) = ([0i64; 2], 0);
    for step in 0..steps {
        let row = vec![step % 4 != 0, step % 2 == 0];
        totals = [totals[0] + i64::from(row[0]), totals[1] + i64::from(row[1])];
        last = running.ask(StreamMessage::Update(row)).unwrap();
        let error = last.abs_diff(statistic.of(&totals)) as f64;
        let bound = bound(step + 1);
        assert!(error <= bound, "{step}: {error} {bound}");
    }
    assert!(last > 0); // something was published
    assert_eq!(running.ask(StreamMessage::Question(())), Ok(last));
    let more = running.ask(StreamMessage::Update(vec![]));
    assert_eq!(more == Err(AskError::Halted), histogram.horizon() == steps);
}

#[test]
fn it_is_as_accurate_as_stated() {
    for statistic in [Statistic::Largest, Statistic::Rank(1)] {
        accurate(&Histogram::for_epsilon("6", 2, 4000, statistic).unwrap());
        accurate(&Histogram::for_approx("6", "1e-6", 2, 4000, statistic).unwrap());
        accurate(&Histogram::endless("6", 2, statistic).unwrap());
        accurate(&Histogram::endless_approx("6", "1e-6", 2, statistic).unwrap());
    }
}
