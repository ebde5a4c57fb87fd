//! The experiments E1 to E7 of the papers: `cargo run --release -p auditor --example experiments [--full]`.
//! With `--full`, E2 runs 10,000 trials.

mod e1;
mod e2;
mod e3;
mod e4;
mod e5;
mod e6;
mod e7;
mod filters;
mod shared;
mod totals;

use std::error::Error;

use auditor::Factor;
use dashu_ratio::RBig;

fn main() -> Result<(), Box<dyn Error>> {
    let full = std::env::args().any(|argument| argument == "--full");
    let equal = e1::run(100, 1)?;
    println!("E1: views exactly equal for {equal} of 100 random pure mechanisms");

    let found = e2::run(
        if full { 10_000 } else { 300 },
        if full { 10 } else { 3 },
        2,
    )?;
    println!(
        "E2: {} of {} linear programs feasible (largest deviation {:.1e}), {} certified exactly",
        found.feasible, found.trials, found.deviation, found.certified
    );

    separation();

    let (fixed, rounds) = e4::run(10, 25, 5)?;
    println!("E4: Example1 with ten queries: loss {fixed}; Example2 until an answer above 25:");
    for (answer, loss) in rounds {
        println!("      answer {answer}, loss {loss}");
    }

    let found = e5::run(4, 3)?;
    println!(
        "E5: same views of F_3 and the post-processed F_2: {} ({} histories); of F_2 and a universal mechanism: {}",
        found.reduction,
        found.report.stats().histories,
        found.universal
    );

    let (same, budget, report) = e6::run(4, 4)?;
    let verdict = report.claims(&budget)?;
    println!(
        "E6: filter of mechanisms and filter of randomized responses have the same views: {same}"
    );
    println!("      budget {budget} {verdict}");

    let (budget, report) = e7::run(3)?;
    println!(
        "E7: budget {budget} over three pairs of datasets {}",
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

fn separation() {
    let rounds = [100, 300, 1000, 3000];
    let show = |what: &str, values: Vec<f64>| {
        let texts: Vec<String> = values.iter().map(|value| format!("{value:.5}")).collect();
        println!("      {what:<40} {}", texts.join("  "));
    };
    println!("E3: P(the loss has passed the curve by round t), δ = 0.1, t = {rounds:?}");
    let (one, both) = (e3::Side::One, e3::Side::Both);
    show(
        "ε = 0.1, tight drift, one-sided",
        e3::crossed(0.1, one, &rounds, e3::tight(0.1, 0.1)),
    );
    show(
        "ε = 0.1, tight drift, two-sided",
        e3::crossed(0.1, both, &rounds, e3::tight(0.1, 0.1)),
    );
    show(
        "ε = 0.02, as printed, one-sided",
        e3::crossed(0.02, one, &rounds, e3::printed(0.02, 0.1)),
    );
    show(
        "ε = 0.02, as printed, two-sided",
        e3::crossed(0.02, both, &rounds, e3::printed(0.02, 0.1)),
    );
    show(
        "ε = 0.1, Whitehouse odometer, two-sided",
        e3::crossed(0.1, both, &rounds, e3::whitehouse(0.1, 0.1)),
    );
    show(
        "ε = 0.1, Rogers odometer, two-sided",
        e3::crossed(0.1, both, &rounds, e3::rogers(0.1, 0.1, 1024)),
    );
}
