//! What an exact audit costs: its growth with depth, and three two-round machines composed concurrently, binary queries
//! and answers, without and with a hidden coin in each. Memory is the largest that the process ever had.

use std::{hint::black_box, sync::Arc, time::Duration};

use auditor::{Factor, Input, Part, Report, audit};
use queryable::{
    AskError, Root, Scope,
    coins::{Bit, Probability},
    compose::{BoxedMachine, ConComp, Routed, Unparsable},
    machine,
};

use crate::measure::Effort;

/// The coins of all machines on one input, made once: biases of n/20. Not of both inputs, or the two threads would wait for
/// one another wherever a machine is built, at the count of who holds them.
struct Coins {
    hidden: Bit,
    biased: Vec<Bit>,
}

impl Coins {
    fn both() -> [Arc<Self>; 2] {
        [Self::new(), Self::new()]
    }

    fn new() -> Arc<Self> {
        let bit = |n: u64, d: u64| Probability::new(n, d).map_or_else(|_| Bit::fair(), Bit::new);
        Arc::new(Self {
            hidden: bit(1, 3),
            biased: (0..=20).map(|n| bit(n, 20)).collect(),
        })
    }
}

/// A machine of some rounds: the law of an answer depends on the input, the query, the last answer, and the hidden coin.
fn rounds(
    coins: &[Arc<Coins>; 2],
    input: Input,
    kind: usize,
    rounds: usize,
    hidden: bool,
) -> BoxedMachine<bool, bool> {
    let coins = Arc::clone(&coins[input.index()]);
    let (mut coin, mut asked, mut last) = (None, 0, false);
    Box::new(machine(move |query: bool, scope: &mut Scope<'_>| {
        let coin = match coin {
            Some(coin) => coin,
            None if hidden => *coin.insert(scope.draw(&coins.hidden)?),
            None => false,
        };
        asked += 1;
        if asked == rounds {
            scope.halt();
        }
        let place = 3
            + kind
            + input.index()
            + 2 * usize::from(query)
            + 3 * usize::from(last)
            + 4 * usize::from(coin);
        last = scope.draw(&coins.biased[place])?;
        Ok(last)
    }))
}

fn three(
    coins: &[Arc<Coins>; 2],
    hidden: bool,
) -> Result<Report<Routed<bool>, bool>, Box<dyn std::error::Error>> {
    let build = |input: Input, root: &Root| {
        let parts = (0..3).map(|kind| rounds(coins, input, kind, 2, hidden));
        root.spawn(ConComp::new(parts.collect(), Unparsable::Refuse))
    };
    let part = |to| {
        Part::new(2, move |_: &[_]| {
            [false, true].map(|query| Routed { to, query }).to_vec()
        })
    };
    Ok(audit(build).concurrently(&[part(0), part(1), part(2)])?)
}

fn deep(
    coins: &[Arc<Coins>; 2],
    depth: usize,
) -> Result<Report<bool, bool>, Box<dyn std::error::Error>> {
    let build = |input: Input, root: &Root| -> Result<_, AskError> {
        root.spawn(rounds(coins, input, 0, depth, true))
    };
    Ok(audit(build).asking(depth, |_| vec![false, true])?)
}

/// The largest memory of this process, in MiB, where the system tells.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| {
        line.trim()
            .trim_end_matches(" kB")
            .trim()
            .parse::<f64>()
            .ok()
    });
    kib.map_or_else(|| "?".into(), |kib| format!("{:.1}", kib / 1024.0))
}

fn best<R>(times: usize, mut run: impl FnMut() -> Option<(R, Duration)>) -> Option<(R, f64)> {
    let runs = (0..times).filter_map(|_| run());
    let fastest = runs.min_by_key(|(_, time)| *time)?;
    Some((fastest.0, fastest.1.as_secs_f64() * 1e3))
}

/// Runs the benchmark.
pub fn run(effort: Effort) -> String {
    let (deepest, times) = match effort {
        Effort::Full => (8, 5),
        Effort::Quick => (5, 1),
    };
    let mut bar = Vec::new();
    let coins = Coins::both();
    println!(
        "{:<28}{:>12}{:>12}{:>12}{:>12}",
        "system", "histories", "runs", "ms", "peak, MiB"
    );
    let row = |name: &str, histories: usize, runs: u64, ms: f64| {
        println!(
            "{name:<28}{histories:>12}{runs:>12}{ms:>12.1}{:>12}",
            peak()
        );
    };
    for depth in 1..=deepest {
        let timed = || {
            let report = deep(&coins, depth).ok()?;
            let time = report.stats().time;
            Some((report, time))
        };
        if let Some((report, ms)) = best(if depth < 6 { times } else { 1 }, timed) {
            let stats = report.stats();
            black_box(report.delta(&Factor::ONE));
            row(
                &format!("one machine, depth {depth}"),
                stats.histories,
                stats.runs,
                ms,
            );
            if depth == deepest {
                bar.push(format!("depth{depth}_ms={ms:.0}"));
            }
        }
    }
    for (name, hidden) in [("plain", false), ("hidden", true)] {
        let timed = || {
            let report = three(&coins, hidden).ok()?;
            let time = report.stats().time;
            Some((report, time))
        };
        if let Some((report, ms)) = best(times, timed) {
            let stats = report.stats();
            black_box(report.delta(&Factor::ONE));
            row(
                &format!("three machines, {name}"),
                stats.histories,
                stats.runs,
                ms,
            );
            bar.push(format!("three_{name}_ms={ms:.0}"));
        }
    }
    format!("bar: {}", bar.join(" "))
}
