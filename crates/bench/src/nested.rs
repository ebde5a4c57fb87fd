//! `bench nested`: sessions under sessions, from one thread and from two, and what a launch leaves behind in memory.

use std::{
    hint::black_box,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use crate::{
    measure::{Contestant, Effort, compare, print_table, resident},
    ours::{self, expect},
    theirs,
};

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    // First, before long lists were freed: what an allocator keeps for later counts as resident.
    let bytes = bytes_per_child(effort);
    let three = levels(effort);
    let [threads, null_threads, lock_threads] = two_threads(effort);
    format!(
        "bar: threads2={threads:.2} null_threads2={null_threads:.2} lock_threads2={lock_threads:.2} three_ns={three:.0} \
         bytes_per_child={bytes:.1}"
    )
}

/// Nanoseconds for a launch under three capped levels.
fn levels(effort: Effort) -> f64 {
    const BATCH: usize = 1_000;
    let query = ours::null();
    let one = ours::filter();
    let two = ours::capped(&one);
    let three = ours::capped(&two);
    let queries = [ours::null(), ours::null().named("other")];
    let turns = ours::capped(&ours::capped(&ours::filter()));
    let launches = |session: &ours::PureSession| {
        (0..BATCH).for_each(|_| ours::launch(black_box(session), black_box(&query)));
    };
    let timings = compare(
        effort,
        [
            Contestant::new("launch, one capped level", BATCH, || launches(&one)),
            Contestant::new("launch, two capped levels", BATCH, || launches(&two)),
            Contestant::new("launch, three capped levels", BATCH, || launches(&three)),
            Contestant::new("three levels, two measurements in turns", BATCH, || {
                (0..BATCH).for_each(|i| ours::launch(black_box(&turns), &queries[i % 2]));
            }),
            Contestant::new(
                "OpenDP odometer invoke, one level",
                BATCH,
                theirs::launches(BATCH),
            ),
        ],
    );
    print_table(&timings);
    timings[2].best
}

/// How much faster two threads are than one, in two sessions under one filter: when each mechanism takes 1 µs, and when it
/// takes nothing; and when there is nothing but one lock, and as much other work as such a launch is. That is what the machine
/// allows whoever shares one account.
fn two_threads(effort: Effort) -> [f64; 3] {
    let (rounds, launches) = match effort {
        Effort::Full => (100, 3_000),
        Effort::Quick => (20, 3_000),
    };
    let busy = ours::query(|| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(1) {}
    });
    let null = ours::null();
    let mut best = [[f64::INFINITY; 2]; 3];
    for _ in 0..rounds {
        for (at, threads) in [1, 2].into_iter().enumerate() {
            let keep = |row: &mut [f64; 2], taken: f64| row[at] = row[at].min(taken);
            keep(&mut best[0], per_launch(&busy, threads, launches));
            keep(&mut best[1], per_launch(&null, threads, launches * 10));
        }
    }
    let steps = steps_within(best[1][0]);
    for _ in 0..rounds {
        for (at, threads) in [1, 2].into_iter().enumerate() {
            best[2][at] = best[2][at].min(per_lock(steps, threads, launches * 10));
        }
    }
    println!(
        "\n{:<32}{:>12}{:>12}{:>12}",
        "throughput, launches per µs", "one thread", "two", "ratio"
    );
    let names = [
        "mechanisms of 1 µs",
        "null mechanisms",
        "a lock and as much other work",
    ];
    for (name, [one, two]) in names.into_iter().zip(best) {
        println!(
            "{name:<32}{:>12.2}{:>12.2}{:>12.2}",
            1e3 / one,
            1e3 / two,
            one / two
        );
    }
    best.map(|[one, two]| one / two)
}

/// How many steps of work take so many nanoseconds.
fn steps_within(nanoseconds: f64) -> usize {
    const MANY: usize = 10_000;
    let once = || {
        let start = Instant::now();
        black_box(work(MANY));
        start.elapsed().as_nanos() as f64 / MANY as f64
    };
    let step = (0..20).map(|_| once()).fold(f64::INFINITY, f64::min);
    (nanoseconds / step) as usize
}

fn work(steps: usize) -> u64 {
    (0..steps).fold(1, |x, _| black_box(x * 3 % 7))
}

/// Nanoseconds for some work and an addition under one lock, over all threads.
fn per_lock(steps: usize, threads: usize, times: usize) -> f64 {
    let sum = Mutex::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..times {
                    let done = work(steps);
                    *expect(sum.lock()) += done;
                }
            });
        }
    });
    start.elapsed().as_nanos() as f64 / (threads * times) as f64
}

/// Nanoseconds per launch over all threads.
fn per_launch(query: &ours::Query, threads: usize, launches: usize) -> f64 {
    let filter = ours::filter();
    let sessions: Vec<_> = (0..threads).map(|_| ours::capped(&filter)).collect();
    let start = Instant::now();
    thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(move || (0..launches).for_each(|_| ours::launch(session, query)));
        }
    });
    start.elapsed().as_nanos() as f64 / (threads * launches) as f64
}

/// Resident memory per launch when two measurements alternate, so that no two launches are one run.
fn bytes_per_child(effort: Effort) -> f64 {
    let k: usize = match effort {
        Effort::Full => 5_000_000,
        Effort::Quick => 2_000_000,
    };
    let (session, queries) = (ours::filter(), [ours::null(), ours::null().named("other")]);
    let before = resident();
    (0..k).for_each(|i| ours::launch(&session, &queries[i % 2]));
    let alternating = (resident() - before) / k as f64;
    let (session, before) = (ours::filter(), resident());
    (0..k).for_each(|_| ours::launch(&session, &queries[0]));
    let repeated = (resident() - before) / k as f64;
    println!(
        "\nbytes per child: {alternating:.1} when two measurements alternate, {repeated:.1} when one is repeated"
    );
    alternating
}
