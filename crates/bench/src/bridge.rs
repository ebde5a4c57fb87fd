//! `bench bridge`: OpenDP's own Laplace mechanism, bare, through our filter, and through OpenDP's filter.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use measures::{Basic, PureDp};
use odometer::{Filter, Odometer};
use opendp::{
    combinators::{make_fully_adaptive_composition, make_privacy_filter},
    core::Measurement,
    domains::AtomDomain,
    error::Fallible,
    measurements::make_laplace,
    metrics::AbsoluteDistance,
};
use opendp_bridge::{Imported, OpendpSpace, measurement, theirs::Pure};

use crate::measure::{Effort, not_measured};

type Number = AtomDomain<f64>;
type Change = AbsoluteDistance<f64>;
type Laplace = Measurement<Number, Change, Pure, f64>;
type OurLaplace = Imported<Number, Change, PureDp, f64>;
type OurFilter = Filter<OpendpSpace<Number, Change>, Basic<PureDp>>;

/// The data: one number.
const DATA: f64 = 42.0;

/// More than anybody can spend here.
const BUDGET: f64 = 1e12;

fn laplace() -> Fallible<Laplace> {
    make_laplace(Number::new_non_nan(), Change::default(), 10.0, None)
}

/// Launches per batch when the overhead is measured: short, so that most batches are not interrupted by whatever else
/// the machine does.
const BATCH: u32 = 20;

/// How often our filter is run; OpenDP's only once.
const REPEATS: usize = 5;

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    measure(effort).unwrap_or_else(|error| not_measured(&error))
}

fn measure(effort: Effort) -> Result<String, Box<dyn std::error::Error>> {
    let launches = match effort {
        Effort::Full => 10_000,
        Effort::Quick => 1_000,
    };
    let bare = laplace()?;
    let ours = measurement("laplace", laplace)?;
    let filter = Odometer::new(ours.space().clone(), Basic::new(PureDp))
        .filter("1".parse()?, BUDGET.to_string())?;

    let session = filter.invoke(DATA)?;
    let [bare_time, launch_time] = medians(
        launches / 5,
        || drop(black_box(bare.invoke(black_box(&DATA)))),
        || drop(black_box(session.launch(black_box(&ours)))),
    );
    let overhead = launch_time / bare_time - 1.0;
    println!("one launch, median: bare {bare_time:.0} ns, through our filter {launch_time:.0} ns");

    let (our_time, their_time) = (
        our_filter(&filter, &ours, launches)?,
        their_filter(launches)?,
    );
    println!(
        "{launches} launches through one filter: ours {our_time:.2?}, OpenDP's {their_time:.2?}"
    );
    let ratio = their_time.as_secs_f64() / our_time.as_secs_f64();
    Ok(format!(
        "bar: bridge_ratio={ratio:.1} overhead={:.1}%",
        100.0 * overhead
    ))
}

/// The median time of a call in nanoseconds, of both, in batches that take turns.
fn medians(batches: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..batches {
        times[0].push(batch(&mut one));
        times[1].push(batch(&mut other));
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

fn batch(call: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..BATCH).for_each(|_| call());
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

/// The median of a few runs: one takes a fraction of a second, and the machine may have been busy.
fn our_filter(
    filter: &OurFilter,
    laplace: &OurLaplace,
    launches: usize,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let session = filter.invoke(DATA)?;
        let start = Instant::now();
        for _ in 0..launches {
            black_box(session.launch(laplace)?);
        }
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[REPEATS / 2])
}

fn their_filter(launches: usize) -> Fallible<Duration> {
    let odometer = make_fully_adaptive_composition(Number::new_non_nan(), Change::default(), Pure)?;
    let mut filter = make_privacy_filter(odometer, 1.0, BUDGET)?.invoke(&DATA)?;
    let laplace = laplace()?;
    let start = Instant::now();
    for _ in 0..launches {
        black_box(filter.invoke(laplace.clone())?);
    }
    Ok(start.elapsed())
}
