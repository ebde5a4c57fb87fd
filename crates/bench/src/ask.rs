//! `bench ask`: what a queryable costs over the mutex inside it, and whether two threads that ask two different
//! children get in each other's way.

use std::{
    hint::black_box,
    sync::{Barrier, Mutex},
    thread,
    time::{Duration, Instant},
};

use queryable::{AskError, Machine, Queryable, Root, Scope, machine, translate};

use crate::measure::{Contestant, Effort, compare, not_measured, print_table};

const OPERATIONS: usize = 100;

/// The trivial machine: adds.
fn adder() -> impl Machine<Query = u64, Answer = u64> {
    let mut sum = 0_u64;
    machine(move |x: u64, _: &mut Scope<'_>| {
        sum = sum.wrapping_add(x);
        Ok(sum)
    })
}

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    measure(effort).unwrap_or_else(|error| not_measured(&error))
}

fn measure(effort: Effort) -> Result<String, AskError> {
    let root = Root::seeded([0; 32]);
    let mutex = Mutex::new(0_u64);
    let child = root.spawn(adder())?;
    let front = root.postprocess(&child, translate(|x: u64| x, |x: u64| x))?;
    let nursery = root.spawn(machine(|(), scope: &mut Scope<'_>| {
        for _ in 0..OPERATIONS {
            black_box(scope.spawn(adder())?);
        }
        Ok(())
    }))?;

    let timings = compare(
        effort,
        [
            Contestant::new("mutex: lock and unlock", OPERATIONS, || {
                for _ in 0..OPERATIONS {
                    if let Ok(mut sum) = black_box(&mutex).lock() {
                        *sum = sum.wrapping_add(black_box(1));
                    }
                }
            }),
            Contestant::new("ask", OPERATIONS, || ask_many(&child, OPERATIONS)),
            Contestant::new("ask through a post-processor", OPERATIONS, || {
                ask_many(&front, OPERATIONS);
            }),
            Contestant::new("spawn and drop, root", OPERATIONS, || {
                for _ in 0..OPERATIONS {
                    black_box(root.spawn(adder()).is_ok());
                }
            }),
            Contestant::new("spawn and drop, inside a step", OPERATIONS, || {
                black_box(nursery.ask(()).is_ok());
            }),
        ],
    );
    print_table(&timings);
    let threads2 = two_threads(effort, &root)?;
    println!("{:<32}{threads2:>12.2}", "two threads over one");
    if let Some(bytes) = resident_bytes_per_machine(&root) {
        println!("{:<32}{bytes:>12.0}", "resident bytes per machine");
    }
    let [_, ask, _, from_root, in_step] = timings.map(|timing| timing.best);
    let spawn = from_root.max(in_step);
    Ok(format!(
        "bar: ask_ns={ask:.1} spawn_ns={spawn:.1} threads2={threads2:.2}"
    ))
}

fn ask_many(q: &Queryable<u64, u64>, times: usize) {
    for _ in 0..times {
        black_box(q.ask(black_box(1)).is_ok());
    }
}

/// The throughput of two threads that ask a child each, relative to one thread. Rounds are short, and the best of one
/// thread is compared with the best of two: whatever else runs on the machine disturbs some rounds, not all.
fn two_threads(effort: Effort, root: &Root) -> Result<f64, AskError> {
    const ASKS: usize = 50_000;
    let rounds = match effort {
        Effort::Full => 400,
        Effort::Quick => 60,
    };
    // Neighbours in memory, as children spawned one after the other often are.
    let children = [root.spawn(adder())?, root.spawn(adder())?];
    let best = |children: &[Queryable<u64, u64>]| {
        let rounds = (0..rounds).map(|_| time_each(children, ASKS));
        rounds.min().unwrap_or_default().as_secs_f64()
    };
    Ok(2.0 * best(&children[..1]) / best(&children))
}

/// How long it takes until each child, on a thread of its own, has been asked so often: from the first to start to the
/// last to end.
fn time_each(children: &[Queryable<u64, u64>], asks: usize) -> Duration {
    let start_line = Barrier::new(children.len());
    let ask = |child: &Queryable<u64, u64>| {
        start_line.wait();
        let start = Instant::now();
        ask_many(child, asks);
        (start, Instant::now())
    };
    let times: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let ask = &ask;
        let spawn = |child| scope.spawn(move || ask(child));
        let threads: Vec<_> = children.iter().map(spawn).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.filter_map(Result::ok).collect()
    });
    let start = times.iter().map(|(start, _)| start).min();
    let end = times.iter().map(|(_, end)| end).max();
    start
        .zip(end)
        .map_or(Duration::MAX, |(start, end)| *end - *start)
}

/// How much the process grows by a machine, where the operating system says.
fn resident_bytes_per_machine(root: &Root) -> Option<f64> {
    const MACHINES: usize = 200_000;
    let before = resident_bytes()?;
    let machines: Result<Vec<_>, AskError> = (0..MACHINES).map(|_| root.spawn(adder())).collect();
    let after = resident_bytes()?;
    let handles = MACHINES * size_of::<Queryable<u64, u64>>();
    black_box(machines).ok()?;
    Some((after - before - handles as f64) / MACHINES as f64)
}

fn resident_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}
