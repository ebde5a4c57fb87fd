//! The experiments of the papers: `cargo run --release -p odometry-auditor --example experiments [--full]`.
//! With `--full`, 10,000 linear programs are solved.

mod adjacency;
mod filters;
mod linear_programs;
mod reduction;
mod separation;
mod shared;
mod simulation;
mod stopping;
mod totals;
mod universal;

use std::error::Error;

use auditor::Factor;
use dashu_ratio::RBig;

fn main() -> Result<(), Box<dyn Error>> {
    let full = std::env::args().any(|argument| argument == "--full");
    let equal = simulation::run(100, 1)?;
    println!("Simulation: views exactly equal for {equal} of 100 random pure mechanisms");

    let found = linear_programs::run(
        if full { 10_000 } else { 300 },
        if full { 10 } else { 3 },
        2,
    )?;
    println!(
        "Linear programs: {} of {} feasible (largest deviation {:.1e}), {} certified exactly",
        found.feasible, found.trials, found.deviation, found.certified
    );

    print_separation();

    let (fixed, rounds) = stopping::run(10, 25, 5)?;
    println!(
        "Stopping: Example1 with ten queries: loss {fixed}; Example2 until an answer above 25:"
    );
    for (answer, loss) in rounds {
        println!("      answer {answer}, loss {loss}");
    }

    let found = universal::run(4, 3)?;
    println!(
        "Universal mechanism: same views of F_3 and the post-processed F_2: {} ({} histories); of F_2 and a universal mechanism: {}",
        found.reduction,
        found.report.stats().histories,
        found.universal
    );

    let (same, budget, report) = reduction::run(4, 4)?;
    let verdict = report.claims(&budget)?;
    println!(
        "Reduction: filter of mechanisms and filter of randomized responses have the same views: {same}"
    );
    println!("      budget {budget} {verdict}");

    let (budget, report) = adjacency::run(3)?;
    println!(
        "Adjacent datasets: budget {budget} over three pairs of datasets {}",
        report.claims(&budget)?
    );
    let attained = report
        .factor(&RBig::ZERO)
        .map(|factor: Factor| factor.to_string());
    println!(
        "      the largest ratio of probabilities is {}",
        attained.unwrap_or("infinite".into())
    );
    let found = totals::run(300, 0.26805, 1e-5);
    println!(
        "A running total converted at 1e-5 and charged to a parent with ε = 1, stopped adaptively: δ(1) ≥ {found:.2e}"
    );
    Ok(())
}

fn print_separation() {
    let rounds = [100, 300, 1000, 3000];
    let show = |what: &str, values: Vec<f64>| {
        let texts: Vec<String> = values.iter().map(|value| format!("{value:.5}")).collect();
        println!("      {what:<40} {}", texts.join("  "));
    };
    println!("Separation: P(the loss has passed the curve by round t), δ = 0.1, t = {rounds:?}");
    let (one, both) = (separation::Side::One, separation::Side::Both);
    show(
        "ε = 0.1, tight drift, one-sided",
        separation::crossed(0.1, one, &rounds, separation::tight(0.1, 0.1)),
    );
    show(
        "ε = 0.1, tight drift, two-sided",
        separation::crossed(0.1, both, &rounds, separation::tight(0.1, 0.1)),
    );
    show(
        "ε = 0.02, as printed, one-sided",
        separation::crossed(0.02, one, &rounds, separation::printed(0.02, 0.1)),
    );
    show(
        "ε = 0.02, as printed, two-sided",
        separation::crossed(0.02, both, &rounds, separation::printed(0.02, 0.1)),
    );
    show(
        "ε = 0.1, Whitehouse odometer, two-sided",
        separation::crossed(0.1, both, &rounds, separation::whitehouse(0.1, 0.1)),
    );
    show(
        "ε = 0.1, Rogers odometer, two-sided",
        separation::crossed(0.1, both, &rounds, separation::rogers(0.1, 0.1, 1024)),
    );
}
