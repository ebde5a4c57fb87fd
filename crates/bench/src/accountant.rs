//! `bench accountant`: certified ε of whole compositions, from exact parameters to the answer, with nothing prepared.

use std::hint::black_box;
use std::time::{Duration, Instant};

use accountant::{Accountant, AccountantError, Mechanism};
use exact::{Exact, Round};

use crate::measure::{Effort, busy_time, not_measured};

/// A composition: its name in the bar, what it is, and how it is built.
struct Work {
    name: &'static str,
    about: &'static str,
    build: fn() -> Result<Accountant, AccountantError>,
}

const WORKS: [Work; 5] = [
    Work {
        name: "w1_ms",
        about: "1,000 different randomized responses",
        build: different,
    },
    Work {
        name: "laplace_ms",
        about: "Laplace b = 10, 1,000 times",
        build: laplace,
    },
    Work {
        name: "mix_ms",
        about: "100 Laplace, 100 Gaussian, 100 responses",
        build: mix,
    },
    Work {
        name: "hundred_thousand_ms",
        about: "100,000 different randomized responses",
        build: hundred_thousand,
    },
    Work {
        name: "subsampled_ms",
        about: "sampled Gaussian q = 0.01, σ = 1, 1,000 times",
        build: subsampled,
    },
];

/// Measures, and prints the table and the bar.
pub fn run(effort: Effort) -> String {
    table(effort).unwrap_or_else(|error| not_measured(&error))
}

fn table(effort: Effort) -> Result<String, AccountantError> {
    println!(
        "{:<48}{:>12}{:>12}{:>12}{:>14}",
        "best, ms, at δ =", "1e-6", "1e-10", "1e-30", "ε at 1e-6"
    );
    let mut bar = String::from("bar:");
    for work in WORKS {
        let mut row = format!("{:<48}", work.about);
        let mut worst = 0f64;
        let mut epsilons = Vec::new();
        for delta in ["1e-6", "1e-10", "1e-30"] {
            let (best, epsilon) = best_of(effort, &work, &decimal(delta))?;
            row += &format!("{best:>12.3}");
            worst = worst.max(best);
            epsilons.push(epsilon.to_f64(Round::Up));
        }
        println!("{row}{:>14.6}", epsilons[0]);
        bar += &format!(" {}={worst:.3}", work.name);
    }
    Ok(bar)
}

/// Runs longer than this are interrupted by others on a busy machine.
const LONG: Duration = Duration::from_millis(40);

/// The best of several runs, in milliseconds: each builds everything anew.
fn best_of(effort: Effort, work: &Work, delta: &Exact) -> Result<(f64, Exact), AccountantError> {
    let rounds = match effort {
        Effort::Full => 9,
        Effort::Quick => 3,
    };
    let (mut best, mut epsilon) = (f64::INFINITY, Exact::INFINITY);
    for _ in 0..rounds {
        let start = Instant::now();
        let before = busy_time(start);
        epsilon = black_box((work.build)()?).epsilon(black_box(delta))?;
        // The system counts a thread's own time in ticks: for long runs only.
        let spent = match start.elapsed() {
            long if long > LONG => busy_time(start) - before,
            short => short,
        };
        best = best.min(spent.as_secs_f64() * 1e3);
    }
    Ok((best, epsilon))
}

fn different() -> Result<Accountant, AccountantError> {
    responses((0..1000).map(|i| ratio(17_000 + 33 * i, 1_000_000)))
}

fn hundred_thousand() -> Result<Accountant, AccountantError> {
    responses((0..100_000).map(|i| ratio(1_700_000 + 33 * i, 1_000_000_000)))
}

fn responses(epsilons: impl Iterator<Item = Exact>) -> Result<Accountant, AccountantError> {
    epsilons
        .into_iter()
        .try_fold(Accountant::new(), |all, epsilon| {
            Ok(all.add(Mechanism::randomized_response(epsilon)?, 1))
        })
}

fn laplace() -> Result<Accountant, AccountantError> {
    let noise = Mechanism::laplace(Exact::ONE, Exact::from(10u8))?;
    Ok(Accountant::new().add(noise, 1000))
}

fn mix() -> Result<Accountant, AccountantError> {
    let mut all = Accountant::new();
    for i in 0..100 {
        all = all
            .add(Mechanism::laplace(Exact::ONE, ratio(20 + i, 1))?, 1)
            .add(Mechanism::gaussian(Exact::ONE, ratio(30 + i, 1))?, 1)
            .add(Mechanism::randomized_response(ratio(20 + i, 1000))?, 1);
    }
    Ok(all)
}

fn subsampled() -> Result<Accountant, AccountantError> {
    let step = Mechanism::poisson_gaussian(ratio(1, 100), Exact::ONE)?;
    Ok(Accountant::new().add(step, 1000))
}

fn ratio(numerator: u128, denominator: u128) -> Exact {
    Exact::ratio(numerator, denominator).unwrap_or(Exact::INFINITY)
}

/// A number of this file.
fn decimal(text: &str) -> Exact {
    text.parse().unwrap_or(Exact::INFINITY)
}
