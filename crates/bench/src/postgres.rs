//! Part of `bench ledger`: charges on a PostgreSQL server of its own, written together and one by one.

use std::thread;

use ledger::Ledger;

use crate::{
    ledger::{seconds, session},
    measure::Effort,
    ours::{self, expect},
};

#[path = "../../ledger/tests/server/mod.rs"]
mod server;

const TOGETHER: usize = 100;
const THREADS: usize = 64;

/// How many times as many charges a second are written in groups as one by one; 0 without a server.
pub fn run(effort: Effort) -> f64 {
    let rounds = match effort {
        Effort::Full => 20,
        Effort::Quick => 5,
    };
    let Some(server) = server::server("bench") else {
        println!("PostgreSQL: no server is installed, so its gain is 0");
        return 0.0;
    };
    let ledger = expect(Ledger::connect(&server.address("writer")));
    let (session, query) = (session(&ledger), ours::null());
    let queries: Vec<_> = (0..TOGETHER).map(|_| ours::null()).collect();
    let (mut gains, mut by_threads, mut singles) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let one = seconds(|| (0..TOGETHER).for_each(|_| ours::launch(&session, &query)));
        let all = seconds(|| session.launch_all(&queries).into_iter().for_each(expect));
        let threads = seconds(|| {
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| (0..8).for_each(|_| ours::launch(&session, &query)));
                }
            });
        });
        singles.push(TOGETHER as f64 / one);
        gains.push(one / all);
        by_threads.push(one / TOGETHER as f64 / (threads / (8 * THREADS) as f64));
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let gain = median(gains);
    println!(
        "{:<48}{:>12.0}",
        "PostgreSQL: charges/s, one transaction each",
        median(singles)
    );
    println!("{:<48}{gain:>12.1}", "  launch_all of 100, times as many");
    println!(
        "{:<48}{:>12.1}",
        "  64 threads, times as many",
        median(by_threads)
    );
    gain
}
