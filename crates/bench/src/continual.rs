//! `bench continual`: updates through a live group-by of 10,000 parts: how many per second, how that grows with the number
//! of units, what a unit takes in memory, two threads, and many updates sent together.

use std::{hint::black_box, thread, time::Instant};

use ::continual::{
    StreamMessage,
    live::{ContributionBounds, GroupBy, Handles, Live, LivePart},
};
use measures::Epsilon;
use queryable::{Root, Scope, machine};

use crate::measure::{Effort, resident};

const PARTS: u32 = 10_000;
const SLOTS: usize = 3;

type Sums = Handles<u32, u64, i64, (), i64>;

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    let (many, rounds) = match effort {
        Effort::Full => (1_000_000u64, 5),
        Effort::Quick => (200_000, 2),
    };
    let few = open();
    fill(&few, 10_000);
    let before = resident();
    let crowd = open();
    let parts = resident();
    fill(&crowd, many);
    let bytes = (resident() - parts) / many as f64;
    let best = |stream: &Sums, units: u64, threads: u64| {
        let times = (0..rounds).map(|_| per_update(stream, units, threads));
        times.fold(f64::INFINITY, f64::min)
    };
    let (small, large) = (best(&few, 10_000, 1), best(&crowd, many, 1));
    let two = best(&crowd, many, 2);
    let batched = |stream: &Sums, units: u64| {
        let times = (0..rounds).map(|_| per_update_of_many(stream, units));
        times.fold(f64::INFINITY, f64::min)
    };
    let (small_batched, large_batched) = (batched(&few, 10_000), batched(&crowd, many));
    println!("{:<40}{:>12}", "an update, no noise", "ns");
    println!("{:<40}{small:>12.1}", "10,000 units");
    println!("{:<40}{large:>12.1}", format!("{many} units"));
    println!("{:<40}{two:>12.1}", format!("{many} units, two threads"));
    println!("{:<40}{small_batched:>12.1}", "10,000 units, `update_all`");
    let name = format!("{many} units, `update_all`");
    println!("{name:<40}{large_batched:>12.1}");
    println!(
        "`update_all`: {:.0} updates per second, growth {:.2}; the bar is about `update`",
        1e9 / large_batched,
        large_batched / small_batched
    );
    println!(
        "a part takes {:.0} bytes, a unit {bytes:.1} ({SLOTS} slots)",
        (parts - before) / f64::from(PARTS)
    );
    format!(
        "bar: updates_per_s={:.0} growth={:.2} bytes_per_unit={bytes:.1} threads2={:.2}",
        1e9 / large,
        large / small,
        large / two
    )
}

/// Parts that add up, without noise; a unit touches three of them, as often as it likes.
fn open() -> Sums {
    let tenth: Epsilon = "0.1".parse().expect("a number");
    let price = tenth.clone();
    let part = move |_: &u32| {
        let mut sum = 0i64;
        let add = machine(move |message: Live<i64, ()>, _: &mut Scope<'_>| {
            if let StreamMessage::Update(Some(update)) = message {
                sum += update;
            }
            Ok(sum)
        });
        Some(LivePart::new(price.clone(), add))
    };
    let bounds = ContributionBounds::equal(SLOTS, tenth, u32::MAX).expect("bounds");
    let live = GroupBy::new(bounds, part);
    let handles = live.open(&Root::seeded([1; 32])).expect("a root");
    handles.1.create(0..PARTS).expect("parts");
    handles
}

/// One update of every unit.
fn fill((writer, _): &Sums, units: u64) {
    for unit in 0..units {
        let _ = writer.update(&unit, &home(unit), 1);
    }
}

/// The part that a unit goes to first.
fn home(unit: u64) -> u32 {
    (unit.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u32 % PARTS
}

/// Nanoseconds for an update, over all threads: units in a scattered order, each to its home.
fn per_update((writer, _): &Sums, units: u64, threads: u64) -> f64 {
    const UPDATES: u64 = 500_000;
    let start = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for step in 0..UPDATES {
                    let unit = (step * threads + thread).wrapping_mul(0x9E37_79B1) % units;
                    let recorded = writer.update(black_box(&unit), &home(unit), 1);
                    let _ = black_box(recorded);
                }
            });
        }
    });
    start.elapsed().as_nanos() as f64 / (UPDATES * threads) as f64
}

/// The same updates, one thread, sent together.
fn per_update_of_many((writer, _): &Sums, units: u64) -> f64 {
    const UPDATES: u64 = 500_000;
    let start = Instant::now();
    let updates = (0..UPDATES).map(|step| {
        let unit = step.wrapping_mul(0x9E37_79B1) % units;
        (unit, home(unit), 1)
    });
    black_box(writer.update_all(black_box(updates)));
    start.elapsed().as_nanos() as f64 / UPDATES as f64
}
