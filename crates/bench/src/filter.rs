//! `bench filter`: launches of a null mechanism under a filter. Is a launch cheap, and does it stay cheap?

use std::{hint::black_box, time::Instant};

use crate::{
    measure::{Contestant, Effort, busy_time, compare, print_table},
    ours, theirs,
};

const FEW: usize = 1_000;
const MANY: usize = 1_000_000;

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    let (rounds, their_k) = match effort {
        Effort::Full => (9, 10_000),
        Effort::Quick => (3, 1_000),
    };
    let [single, in_turns] = single_launches(effort);
    let [few, many] = least(rounds, [&|| repeated(FEW), &|| repeated(MANY)]);
    let [fresh_few, fresh_many] = least(rounds, [&|| fresh(FEW), &|| fresh(MANY)]);
    println!(
        "\n{:<44}{FEW:>10}{MANY:>10}{:>8}",
        "ns per launch, for k launches", "ratio"
    );
    for (name, few, many) in [
        ("one measurement again and again", few, many),
        ("a fresh measurement each time", fresh_few, fresh_many),
    ] {
        println!("{name:<44}{few:>10.1}{many:>10.1}{:>8.2}", many / few);
    }
    let ours = least(100 * rounds, [&|| total_of_ours(their_k)])[0];
    let theirs = total_of_theirs(their_k);
    println!(
        "\n{their_k} launches under a filter: ours {:.1} µs, OpenDP {:.1} ms",
        ours / 1e3,
        theirs / 1e6
    );
    format!(
        "bar: filter_ratio={:.0} launch_ns={single:.0} in_turns_ns={in_turns:.0} fresh_ns={fresh_few:.0} growth={:.2}",
        theirs / ours,
        many / few
    )
}

/// One launch: ours under a filter, OpenDP's under a bare odometer. Returns ours: of one measurement again and again, and of two
/// in turns, of which no two are in a row.
fn single_launches(effort: Effort) -> [f64; 2] {
    const BATCH: usize = 1_000;
    let (query, session, bare) = (ours::null(), ours::filter(), ours::odometer());
    let (queries, turns) = ([ours::null(), ours::null().named("other")], ours::filter());
    let timings = compare(
        effort,
        [
            Contestant::new("launch under a filter", BATCH, || {
                (0..BATCH).for_each(|_| ours::launch(black_box(&session), black_box(&query)));
            }),
            Contestant::new("launch under a filter, two in turns", BATCH, || {
                (0..BATCH).for_each(|i| ours::launch(black_box(&turns), &queries[i % 2]));
            }),
            Contestant::new("launch under an odometer", BATCH, || {
                (0..BATCH).for_each(|_| ours::launch(black_box(&bare), black_box(&query)));
            }),
            Contestant::new("OpenDP odometer invoke", BATCH, theirs::launches(BATCH)),
        ],
    );
    print_table(&timings);
    [timings[0].best, timings[1].best]
}

/// The least of a few measurements of each, taken in turns.
fn least<const N: usize>(rounds: usize, measured: [&dyn Fn() -> f64; N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (least, measure) in least.iter_mut().zip(measured) {
            *least = least.min(measure());
        }
    }
    least
}

/// Nanoseconds per launch, for `k` launches of one measurement; as often as it takes to make a million of them.
fn repeated(k: usize) -> f64 {
    let (query, start) = (ours::null(), Instant::now());
    let before = busy_time(start);
    for _ in 0..MANY / k {
        let session = ours::filter();
        (0..k).for_each(|_| ours::launch(black_box(&session), black_box(&query)));
    }
    (busy_time(start) - before).as_nanos() as f64 / MANY as f64
}

/// Nanoseconds per launch, for `k` launches of measurements that were never launched before. Making them is not counted,
/// nor is the slowest fifth of all thousands of launches: these were interrupted.
fn fresh(k: usize) -> f64 {
    const CHUNK: usize = 1_000;
    let mut times = Vec::new();
    for _ in 0..MANY / k {
        let session = ours::filter();
        for chunk in 0..k / CHUNK {
            let different = |number| ours::null().named(format!("{chunk}, {number}"));
            let queries: Vec<_> = (0..CHUNK).map(different).collect();
            let start = Instant::now();
            queries
                .iter()
                .for_each(|query| ours::launch(black_box(&session), query));
            times.push(start.elapsed().as_nanos() as f64);
        }
    }
    times.sort_by(f64::total_cmp);
    times.truncate(times.len() * 4 / 5);
    times.iter().sum::<f64>() / (times.len() * CHUNK) as f64
}

/// Nanoseconds in total, for `k` launches under our filter.
fn total_of_ours(k: usize) -> f64 {
    let (session, query) = (ours::filter(), ours::null());
    let start = Instant::now();
    (0..k).for_each(|_| ours::launch(black_box(&session), black_box(&query)));
    start.elapsed().as_nanos() as f64
}

/// Nanoseconds in total, for `k` launches under OpenDP's filter.
fn total_of_theirs(k: usize) -> f64 {
    let (mut filter, query) = (theirs::filter(), theirs::null());
    let start = Instant::now();
    (0..k).for_each(|_| theirs::launch(&mut filter, black_box(&query)));
    start.elapsed().as_nanos() as f64
}
