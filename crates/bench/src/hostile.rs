//! `bench hostile`: what an analyst can do to others under the same root, with nothing but launches and questions.

use std::{hint::black_box, panic, thread};

use measures::{Basic, PrivacyMap, PureDp};
use odometer::{Measurement, Odometer};
use opendp::{
    core::{Function, Measurement as TheirMeasurement, PrivacyMap as TheirMap},
    domains::AtomDomain,
    error::Fallible,
    metrics::DiscreteDistance,
};
use opendp_bridge::{Imported, measurement, theirs::Pure};

use crate::{
    measure::{Contestant, Effort, compare, print_table, resident},
    ours::{self, expect},
    partition,
};

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    // Memory first: what the others free would be used again, and would not show.
    let leak = leaked_by_panics(effort);
    let (bytes, launches) = free_launches(effort);
    println!();
    let slowdown = tiny_loss(effort);
    let question = question_at_64(effort);
    let panicked = thread::scope(|scope| {
        let alone = scope.spawn(|| thread_with_a_panic(effort));
        alone.join().unwrap_or(f64::INFINITY)
    });
    format!(
        "bar: tiny_loss_slowdown={slowdown:.1} leak_bytes_per_panic={leak:.0} question_64_s={question:.2} \
         thread_panic_slowdown={panicked:.1} free_launch_bytes={bytes:.0} free_launches={launches}"
    )
}

/// How much slower a launch is after somebody has launched at ε = 1e-4096.
fn tiny_loss(effort: Effort) -> f64 {
    const BATCH: usize = 100;
    let query = ours::null();
    let (quiet, disturbed) = (ours::filter(), ours::filter());
    // Whether it is admitted does not matter here.
    drop(disturbed.launch(&ours::priced("1e-4096", || ())));
    let launches = |session: &ours::PureSession| {
        (0..BATCH).for_each(|_| ours::launch(black_box(session), black_box(&query)));
    };
    let timings = compare(
        effort,
        [
            Contestant::new("launch", BATCH, || launches(&quiet)),
            Contestant::new("launch after one at 1e-4096", BATCH, || {
                launches(&disturbed);
            }),
        ],
    );
    print_table(&timings);
    timings[1].best / timings[0].best
}

/// Memory that one launch leaves behind whose mechanism, or map, panics with a message of a megabyte: the least of a few
/// rounds, because memory that was freed may not have been given back yet.
fn leaked_by_panics(effort: Effort) -> f64 {
    const MESSAGE: usize = 1 << 20;
    let (rounds, panics) = match effort {
        Effort::Full => (4, 32),
        Effort::Quick => (3, 16),
    };
    // Resumed, so that the process's hook prints nothing.
    fn shout<T>() -> T {
        panic::resume_unwind(Box::new(vec![1_u8; MESSAGE]))
    }
    let mechanism = ours::query(shout);
    let map = PrivacyMap::new(PureDp, |_| shout());
    let map = Measurement::new("shout", ours::space(), map, |_, _| Ok(()));
    let session = ours::filter();
    let leaks = [&mechanism, &map].map(|query| {
        let round = || {
            let before = resident();
            (0..panics).for_each(|_| drop(black_box(session.launch(query)).unwrap_err()));
            (resident() - before).max(0.0) / f64::from(panics)
        };
        (0..=rounds).map(|_| round()).fold(f64::INFINITY, f64::min)
    });
    println!(
        "bytes left behind by a panic with a message of {MESSAGE}: {:.0} of a mechanism, {:.0} of a map",
        leaks[0], leaks[1]
    );
    leaks[0].max(leaks[1])
}

/// Seconds for one question about 64 changed records, over many parts.
fn question_at_64(effort: Effort) -> f64 {
    let parts: u32 = match effort {
        Effort::Full => 100_000,
        Effort::Quick => 2_000,
    };
    let seconds = partition::question_at_64(parts);
    println!("\nthe loss at distance 64 over {parts} parts: {seconds:.2} s");
    seconds
}

type Flag = AtomDomain<bool>;
type Given = Imported<Flag, DiscreteDistance, PureDp, bool>;

/// How much slower OpenDP's launches are on a thread on which one has panicked.
fn thread_with_a_panic(effort: Effort) -> f64 {
    let given = |function: fn(&bool) -> Fallible<bool>| -> Given {
        expect(measurement("given", move || {
            TheirMeasurement::new(
                Flag::default(),
                DiscreteDistance,
                Pure,
                Function::new_fallible(function),
                TheirMap::new(|d_in: &u32| f64::from(*d_in) * 0.1),
            )
        }))
    };
    let (query, careless) = (
        given(|x| Ok(*x)),
        given(|_| panic::resume_unwind(Box::new("careless"))),
    );
    // The panic stops everything on the data that it happened on, so those are others.
    let odometer = Odometer::new(query.space().clone(), Basic::new(PureDp));
    let (session, others) = (expect(odometer.open(true)), expect(odometer.open(true)));
    let launches = || {
        let launch = Contestant::new("OpenDP's launch", 1, || {
            black_box(expect(session.launch(black_box(&query))));
        });
        compare(effort, [launch])[0].best
    };
    let before = launches();
    assert!(others.launch(&careless).is_err());
    let after = launches();
    println!("\nan OpenDP launch: {before:.0} ns, and {after:.0} ns after a panic on its thread");
    after / before
}

/// Bytes per launch that costs nothing, of measurements that are all different, and after how many the account refuses.
fn free_launches(effort: Effort) -> (f64, String) {
    let most: u32 = match effort {
        Effort::Full => 2_000_000,
        Effort::Quick => 200_000,
    };
    let session = ours::filter();
    let before = resident();
    let launched = (0..most)
        .find(|_| session.launch(&ours::priced("0", || ())).is_err())
        .unwrap_or(most);
    let bytes = (resident() - before).max(0.0) / f64::from(launched.max(1));
    let refused = match launched < most {
        true => launched.to_string(),
        false => format!("{most}+"),
    };
    println!("launches for free: {bytes:.0} bytes each, {refused} until refused");
    (bytes, refused)
}
