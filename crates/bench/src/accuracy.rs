//! `bench accuracy`: how much noise our mechanisms add for the same loss, against the best formulas with a proof under the same
//! conditions, and OpenDP's where it has one. Seeded: the same numbers every time, but for OpenDP's.

use std::{error::Error, sync::Arc};

use exact::{Exact, Round};
use measures::{L2Distance, Mu, SymmetricDistance, convert::gaussian_delta};
use mechanisms::{
    additive::{Vectors, add_noise_to_vector},
    counter::{Counter, EndlessCounter, SquareRootBlocks, SquareRootCounter, SubtractingCounter},
    monitor::Monitor,
    noise::Change,
    samplers::{DiscreteLaplace, Geometric, Staircase},
    selection::{Scores, exponential, report_noisy_max},
    sparse::{Sensitivity, SparseVector},
    spend::{Spend, epsilon, epsilon_delta, rho},
    weights::{MultiplicativeWeights, Subset},
};
use odometer::{Measurement, Records};
use opendp::{
    domains::{AtomDomain, VectorDomain},
    measurements::make_noisy_max,
    measures::MaxDivergence,
    metrics::LInfDistance,
};
use queryable::{Machine, Root, coins::Distribution};

use crate::measure::Effort;

type Ratio = Result<f64, Box<dyn Error>>;

/// What is measured, and how, in so many runs.
type Row = (&'static str, fn(usize) -> Ratio);

/// Prints the tables and the bar: ours over the best, so that less is better.
pub fn run(effort: Effort) -> String {
    let rows: [Row; 9] = [
        ("select", select),
        ("counter_pure", counter_pure),
        ("counter_zcdp", counter_zcdp),
        ("threshold", threshold),
        ("gaussian", gaussian),
        ("staircase", staircase),
        ("monitor", monitor),
        ("l2", l2),
        ("weights", weights),
    ];
    let runs = match effort {
        Effort::Full => 10,
        Effort::Quick => 1,
    };
    let mut bar = String::from("bar:");
    for (name, row) in rows {
        match row(runs) {
            Ok(ratio) => bar += &format!(" {name}={ratio:.3}"),
            Err(error) => println!("{name}: not measured: {error}"),
        }
    }
    bar
}

fn root(run: usize) -> Root {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&(run as u64).to_le_bytes());
    Root::seeded(seed)
}

/// The counts 0 to 99, mixed.
fn counts() -> Vec<i64> {
    (0..100i64).map(|i| i * 37 % 100).collect()
}

/// The mean distance from the best count over so many choices.
fn gap(choices: usize, choose: impl Fn(usize) -> Result<usize, Box<dyn Error>>) -> Ratio {
    let counts = counts();
    let best = counts.iter().max().copied().unwrap_or(0);
    let mut sum = 0.0;
    for run in 0..choices {
        sum += (best - counts[choose(run)?]) as f64;
    }
    Ok(sum / choices as f64)
}

/// The same for permute-and-flip with coins `e^(−rate·behind)`, in closed form: `p_i·∫ Π (1 − t·p_j) dt` over the others.
fn flip_gap(rate: f64) -> f64 {
    let counts = counts();
    let best = counts.iter().max().copied().unwrap_or(0);
    let behind: Vec<f64> = counts.iter().map(|count| (best - count) as f64).collect();
    let coins: Vec<f64> = behind.iter().map(|gap| (-rate * gap).exp()).collect();
    const STEPS: usize = 4000;
    let mut sum = 0.0;
    for step in 0..STEPS {
        let t = (step as f64 + 0.5) / STEPS as f64;
        let none: f64 = coins.iter().map(|p| 1.0 - t * p).product();
        let win = |(p, gap): (&f64, &f64)| p * gap / (1.0 - t * p);
        sum += none * coins.iter().zip(&behind).map(win).sum::<f64>() / STEPS as f64;
    }
    sum
}

/// Their mechanism on the counts, with scores that move together.
fn their_gap(rate: f64, choices: usize) -> Ratio {
    let domain = VectorDomain::new(AtomDomain::<i64>::default());
    let noisy = make_noisy_max(
        domain,
        LInfDistance::new(true),
        MaxDivergence,
        1.0 / rate,
        false,
    );
    let noisy = noisy.map_err(|error| format!("{error:?}"))?;
    gap(choices, |_| {
        let chosen = noisy
            .invoke(&counts())
            .map_err(|error| format!("{error:?}"))?;
        Ok(chosen)
    })
}

fn select(runs: usize) -> Ratio {
    println!("## choosing the largest of 100 counts: mean distance from it");
    println!("  ε      ours   free scores  exponential  best known  OpenDP");
    // The counts themselves stand for the records that were counted.
    let (space, data) = (Records::<i64>::new(), Arc::new(counts()));
    let score = |counts: &Vec<i64>, i: usize| counts[i];
    let moving = || Scores::moving(100, Sensitivity::of_counts::<SymmetricDistance>(), score);
    let choices = runs * 20_000;
    let mut worst = 0.0f64;
    for loss in ["0.05", "0.1", "0.5"] {
        let sampled = |choice: Measurement<_, _, usize>| {
            gap(choices, |run| Ok(choice.invoke_in(&root(run), &data)?))
        };
        let ours = sampled(report_noisy_max(space, moving()?, loss)?)?;
        let free = sampled(report_noisy_max(space, Scores::new(100, 1, score)?, loss)?)?;
        let weighed = sampled(exponential(space, moving()?, loss)?)?;
        let rate: f64 = loss.parse()?;
        let (best, theirs) = (flip_gap(rate), their_gap(rate, choices)?);
        println!("  {loss:<5} {ours:>6.2} {free:>12.2} {weighed:>12.2} {best:>11.2} {theirs:>7.2}");
        worst = worst.max(ours / best);
    }
    Ok(worst)
}

/// The root of the mean squared error over all steps.
fn error<M>(machine: impl Fn() -> M, steps: usize, runs: usize) -> Ratio
where
    M: Machine<Query = i64, Answer = i64> + 'static,
{
    let mut squares = 0.0;
    for run in 0..runs {
        let (counter, mut truth) = (root(run).spawn(machine())?, 0);
        for time in 0..steps {
            let update = i64::from(time % 7 < 3);
            truth += update;
            squares += ((counter.ask(update)? - truth) as f64).powi(2);
        }
    }
    Ok((squares / (runs * steps) as f64).sqrt())
}

fn counter_pure(runs: usize) -> Ratio {
    println!("## continual count, ε = 1, adaptive streams: root mean square error");
    println!(
        "  steps  ours   finished blocks  no horizon  blocks of two  smooth binary  best known (k-ary, subtracting)"
    );
    let mut worst = 0.0f64;
    for (bits, smooth, best, runs) in [
        (14, 38.2, 21.1, runs * 4),
        (20, 58.8, 34.4, runs.div_ceil(5)),
    ] {
        let steps = 1usize << bits;
        let levels = bits + 1u8;
        let binary = Counter::new(steps as u64, DiscreteLaplace::new(levels)?)?;
        let blocks = Counter::spending(steps as u64, epsilon(1))?;
        let endless = EndlessCounter::spending(epsilon(1))?;
        let taken_away = SubtractingCounter::spending(steps as u64, epsilon(1))?;
        // Blocks are few, so that a run says little: the ratio is of the closed form.
        let predicted = taken_away.deviation(2f64.sqrt() * f64::from(taken_away.levels()));
        let ours = error(|| taken_away.machine(), steps, runs)?;
        let finished = error(|| blocks.machine(), steps, runs)?;
        let unbounded = error(|| endless.machine(), steps, runs)?;
        let two = error(|| binary.machine(), steps, runs)?;
        println!(
            "  2^{bits} {ours:>6.1} (in closed form {predicted:.1}) {finished:>8.1} {unbounded:>11.1} {two:>14.1} {smooth:>14.1} {best:>12.1}"
        );
        worst = worst.max(predicted / best);
    }
    Ok(worst)
}

fn counter_zcdp(runs: usize) -> Ratio {
    let steps = 1usize << 14;
    let blocks = Counter::spending(steps as u64, rho("0.5"))?;
    let square_root = SquareRootCounter::spending(steps as u64, rho("0.5"))?;
    let ours = error(|| square_root.machine(), steps, runs.div_ceil(2))?;
    let short = error(|| blocks.machine(), steps, runs)?;
    // The factorization itself: √(Σ f² · mean of the partial Σ f²).
    let (mut f, mut sum, mut sums) = (1.0f64, 0.0, 0.0);
    for j in 1..=steps {
        sum += f * f;
        sums += sum;
        f *= (2 * j - 1) as f64 / (2 * j) as f64;
    }
    let best = (sum * sums / steps as f64).sqrt();
    let scale = square_root.noise().variance().to_f64().value().sqrt();
    let predicted = (1..=steps as u64).step_by(37);
    let squares: Vec<f64> = predicted
        .map(|time| square_root.deviation(time, scale).powi(2))
        .collect();
    let exact = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    println!("## continual count, ρ = 1/2, 2^14 steps: root mean square error");
    let in_blocks = SquareRootBlocks::spending(steps as u64, rho("0.5"))?;
    let root_of_steps = error(|| in_blocks.machine(), steps, runs.div_ceil(2))?;
    println!(
        "  ours {ours:.2} (in closed form {exact:.3}), in 256 numbers {root_of_steps:.2}, in a few numbers {short:.2}; best known {best:.3}"
    );
    for (name, each) in [
        ("square root", time_of(|| square_root.machine(), steps)?),
        ("in blocks", time_of(|| in_blocks.machine(), steps)?),
        ("finished blocks", time_of(|| blocks.machine(), steps)?),
    ] {
        println!("  an update on average, {name}: {each:.2} µs");
    }
    Ok(exact / best)
}

/// Microseconds for an update, on average over a stream of so many.
fn time_of<M>(machine: impl Fn() -> M, steps: usize) -> Ratio
where
    M: Machine<Query = i64, Answer = i64> + 'static,
{
    let counter = root(0).spawn(machine())?;
    let start = std::time::Instant::now();
    for _ in 0..steps {
        counter.ask(1)?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / steps as f64)
}

fn threshold(_: usize) -> Ratio {
    println!("## 1000 comparisons, ε = 1: margin for 95 %");
    let together = Sensitivity::together(1)?;
    let ours = SparseVector::for_comparisons(1, together, 1, (1000, 0.05))?.margin(1000, 0.05);
    let plain = SparseVector::for_epsilon(1, together, 1)?.margin(1000, 0.05);
    println!("  ours {ours:.2}, for an unknown number {plain:.2}; best known 12.5");
    Ok(ours / 12.5)
}

fn gaussian(_: usize) -> Ratio {
    println!("## Gaussian noise, ε = 1, δ = 1e-6: σ over the L2 sensitivity");
    let (one, delta): (Exact, Exact) = ("1".parse()?, "1e-6".parse()?);
    let (mut low, mut high) = (1.0f64, 10.0f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let mu = Mu::new(Exact::try_from(1.0 / middle)?);
        match gaussian_delta(&mu, &one) <= delta {
            true => high = middle,
            false => low = middle,
        }
    }
    let mut worst = 0.0f64;
    let changes = [
        ("one number, by 1", Change::one(&one)),
        ("one number, by 10^6", Change::one(&"1e6".parse()?)),
        ("2 numbers, by 1", Change::repeated(&one, 2)),
        ("15 numbers, by 1", Change::repeated(&one, 15)),
        ("1000 numbers, by 1", Change::repeated(&one, 1000)),
        ("3 numbers, by 10^4", Change::repeated(&"1e4".parse()?, 3)),
    ];
    for (name, change) in changes {
        let noise = epsilon_delta(1, "1e-6").noise_for(&change)?;
        let variance = noise.gaussian().variance().to_f64().value();
        let ratio = (variance / change.l2_squared.to_f64(Round::Down)).sqrt();
        println!("  {name:<20} {ratio:.4}; analytic, continuous {high:.4}");
        worst = worst.max(ratio / high);
    }
    Ok(worst)
}

fn staircase(runs: usize) -> Ratio {
    println!("## a sum that changes by 1000: mean absolute error");
    let mut worst = 0.0f64;
    for (text, loss) in [("1", 1.0f64), ("3", 3.0), ("5", 5.0)] {
        let noise = Staircase::new(1000, text)?;
        let draws = root(0).spawn(queryable::machine({
            let noise = noise.clone();
            move |(), scope| scope.draw(&noise)
        }))?;
        let mut sum = 0.0;
        for _ in 0..runs * 2000 {
            sum += draws.ask(())?.to_f64().value().abs();
        }
        let sampled = sum / (runs * 2000) as f64;
        // What is enumerated goes far enough for all but e^-25.
        let wide = noise.clone().enumerating(30_000);
        let outcomes = (0..wide.arity()).map(|i| wide.outcome(i));
        let mean: f64 = outcomes
            .map(|(x, p)| x.to_f64().value().abs() * p.to_rational().to_f64().value())
            .sum();
        let best = 1000.0 * (loss / 2.0).exp() / (loss.exp() - 1.0);
        let laplace = 1000.0 / loss;
        println!(
            "  ε = {text}: {mean:.1} (sampled {sampled:.1}), Laplace {laplace:.1}; best known {best:.1}"
        );
        worst = worst.max(mean / best);
    }
    Ok(worst)
}

/// What a monitor of running totals costs at scales t₁ and t₂, over 1/t₁ + c/t₂.
fn monitor(_: usize) -> Ratio {
    println!("## a monitor of running totals: the loss of a unit at scales 10 and 40");
    let mut worst = 0.0f64;
    for positives in [1u32, 10] {
        let noises = SparseVector::new(positives, Geometric::new(10)?, Geometric::new(40)?)?;
        let monitor = Monitor::new(noises);
        let ours = monitor.map().loss(&Exact::ONE)?.value().to_f64(Round::Up);
        let (best, free) = (
            0.1 + f64::from(positives) / 40.0,
            0.1 + 2.0 * f64::from(positives) / 40.0,
        );
        println!(
            "  {positives:>2} positives: {ours:.4}; best known {best:.4}, for any statistic {free:.4}"
        );
        worst = worst.max(ours / best);
    }
    Ok(worst)
}

/// What Laplace noise of scale 1 costs for a vector that changes by d in the L2 norm, over min(d², √n·d).
fn l2(_: usize) -> Ratio {
    println!("## Laplace noise of scale 1 on 100 integers that change by d in the L2 norm: ε");
    let mut worst = 0.0f64;
    for distance in [1u32, 3, 10, 40] {
        let space = Vectors::of_length(100, L2Distance)?;
        let noisy = add_noise_to_vector(space, DiscreteLaplace::new(1)?);
        let ours = noisy.map().loss(&distance.into())?;
        let ours = ours.value().to_f64(Round::Up);
        let d = f64::from(distance);
        let best = (d * d).min(10.0 * d);
        println!(
            "  d = {distance}: {ours:.2}; best known {best:.2}, by d² {:.0}",
            d * d
        );
        worst = worst.max(ours / best);
    }
    Ok(worst)
}

/// A kind of questions: is this element in the subset of this question?
type Kind = (&'static str, fn(usize, usize) -> bool);

/// The records of two bumps.
fn bumps(universe: usize, size: usize) -> Vec<usize> {
    let bump = |i: f64, at: f64, width: f64| (-((i - at) / width).powi(2)).exp();
    let weight = |i: usize| bump(i as f64, 300.0, 80.0) + 0.5 * bump(i as f64, 700.0, 40.0);
    let total: f64 = (0..universe).map(weight).sum();
    let count = |i: usize| (weight(i) / total * size as f64) as usize;
    let mut records: Vec<usize> = (0..universe).flat_map(|i| vec![i; count(i)]).collect();
    records.resize(size, 300);
    records
}

fn weights(_: usize) -> Ratio {
    const QUESTIONS: usize = 500;
    println!("## multiplicative weights, 1024 elements, 50,000 records, 500 questions, ε = 1");
    let (universe, size) = (1024, 50_000);
    let kinds: [Kind; 2] = [
        ("ranges", |k, i| {
            (k * 331 % 1024..=k * 331 % 1024 + k * 97 % 700).contains(&i)
        }),
        ("marginals", |k, i| {
            let digits = [k % 10, k * 3 % 10, k * 7 % 10];
            digits.iter().all(|digit| i >> digit & 1 == k >> digit & 1)
        }),
    ];
    let data = Arc::new(bumps(universe, size));
    let pmw = MultiplicativeWeights::for_questions(1, (universe, size), 48, QUESTIONS as u32)?;
    let histogram = epsilon(1).noise_for(&Change::repeated(&Exact::ONE, 2))?;
    let mut worst = 1.0f64;
    for (name, contains) in kinds {
        let answers = pmw.measurement().invoke_in(&root(0), &data)?;
        let bins = root(1).spawn(queryable::machine({
            let histogram = histogram.clone();
            move |(), scope| scope.draw(&histogram)
        }))?;
        let mut noises = Vec::with_capacity(universe);
        for _ in 0..universe {
            noises.push(bins.ask(())?.to_f64().value());
        }
        let (mut answered, mut measured, mut squares, mut by_bins) = (0, 0, 0.0, 0.0);
        for k in 0..QUESTIONS {
            let truth = data.iter().filter(|i| contains(k, **i)).count() as i64;
            let Ok(answer) = answers.ask(Subset::new(universe, |i| contains(k, i))) else {
                break;
            };
            answered += 1;
            measured += usize::from(answer.measured);
            squares += ((answer.count - truth) as f64).powi(2);
            let noise: f64 = (0..universe)
                .filter(|i| contains(k, *i))
                .map(|i| noises[i])
                .sum();
            by_bins += noise.powi(2);
        }
        let [ours, bins] = [squares, by_bins].map(|sum| (sum / answered as f64).sqrt());
        println!(
            "  {name}: {answered} answered, {measured} of them measured; root mean square error {ours:.0}, of a plain histogram {bins:.0}"
        );
        worst = worst.max(QUESTIONS as f64 / answered as f64);
    }
    Ok(worst)
}
