//! The same for somebody's own file: how many records, and where the middle and the bulk of one column lies. Nothing about
//! the numbers is assumed: the bounds for the mean are found privately, too.

use std::{path::Path, time::Instant};

use odometry::exact::{Exact, Round};
use odometry::measures::{Basic, Epsilon, PureDp};
use odometry::odometer::Odometer;
use odometry::opendp_bridge::{BridgeError, calibrated, measurement, space, theirs::Pure};
use opendp::{
    domains::{AtomDomain, VectorDomain},
    measurements::{make_laplace, make_private_quantile},
    metrics::{AbsoluteDistance, SymmetricDistance},
    transformations::{make_clamp, make_count, make_sum},
};

use crate::{
    Problem, csv,
    questions::{Column, Question},
    table::Table,
};

fn column() -> Column<f64> {
    VectorDomain::new(AtomDomain::new_non_nan())
}

/// Runs it.
pub fn run(file: &str, name: &str, budget: &Epsilon) -> Result<(), Problem> {
    let start = Instant::now();
    let numbers = csv::numbers(Path::new(file), name)?;
    let session = Odometer::new(space(column(), SymmetricDistance)?, Basic::new(PureDp))
        .named("your budget")
        .filter(1, budget.clone())?
        .invoke(numbers)?;
    println!("column {name:?} of {file}; budget ε = {budget} per record");
    let table = Table::begin(&session)?;
    let part = |eighths: u64| share(budget.value(), eighths);

    let asked = "how many records";
    let count = table.ask("you", &session, asked, &count(part(1))?, |n| n.to_string())?;
    let asked = "where the lowest twentieth ends";
    let low = table.ask("you", &session, asked, &quantile(0.05, part(1))?, |x| {
        x.to_string()
    })?;
    let asked = "where the highest twentieth begins";
    let high = table.ask("you", &session, asked, &quantile(0.95, part(1))?, |x| {
        x.to_string()
    })?;
    if let (Some(count), Some(low), Some(high)) = (count, low, high) {
        // Bounds must differ, and the sum's sensitivity is the larger of their sizes.
        let bounds = if low < high {
            (low, high)
        } else {
            (high - 1.0, low + 1.0)
        };
        let shown = |sum: &f64| format!("{sum:.3} (mean {:.5})", sum / f64::from(count.max(1)));
        let asked = format!("sum between {} and {}", bounds.0, bounds.1);
        table.ask("you", &session, &asked, &sum(bounds, part(4))?, shown)?;
        // What is left is too little for the same again: refused before it runs.
        table.ask("you", &session, &asked, &sum(bounds, part(4))?, shown)?;
    }
    println!();
    for d_in in [1, 2] {
        let loss = session
            .privacy_loss(&d_in)?
            .bound()
            .value()
            .to_f64(Round::Up);
        println!("loss between files that differ in {d_in} record(s): ε ≤ {loss}");
    }
    println!("took {:.1?}", start.elapsed());
    Ok(())
}

/// Some eighths of the budget, rounded down.
fn share(budget: &Exact, eighths: u64) -> Exact {
    budget.split(8).times(eighths)
}

fn count(epsilon: Exact) -> Result<Question<f64, i32>, BridgeError> {
    measurement("count", move || {
        calibrated(1, &epsilon, |scale| {
            let change = AbsoluteDistance::<i32>::default();
            make_count(column(), SymmetricDistance)?
                >> make_laplace::<_, _, Pure>(AtomDomain::default(), change, scale, None)?
        })
    })
}

/// A quantile among numbers that do not depend on the data: zero, and some digits times powers of ten.
fn quantile(alpha: f64, epsilon: Exact) -> Result<Question<f64, f64>, BridgeError> {
    measurement("quantile", move || {
        let digits = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];
        let sizes = (-3..10).flat_map(|power| digits.map(|digit| digit * 10f64.powi(power)));
        let mut candidates: Vec<f64> = sizes.flat_map(|size| [-size, size]).chain([0.0]).collect();
        candidates.sort_by(f64::total_cmp);
        calibrated(1, &epsilon, |scale| {
            let candidates = candidates.clone();
            make_private_quantile(column(), SymmetricDistance, Pure, candidates, alpha, scale)
        })
    })
}

fn sum(bounds: (f64, f64), epsilon: Exact) -> Result<Question<f64, f64>, BridgeError> {
    measurement("sum", move || {
        calibrated(1, &epsilon, |scale| {
            let clamp = make_clamp(column(), SymmetricDistance, bounds)?;
            let sum = make_sum(clamp.output_domain.clone(), SymmetricDistance)?;
            let change = AbsoluteDistance::<f64>::default();
            (clamp >> sum)?
                >> make_laplace::<_, _, Pure>(AtomDomain::new_non_nan(), change, scale, None)?
        })
    })
}
