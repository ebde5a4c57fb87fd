//! Which hours of the day are crowded? Sparse vector answers "is it above the threshold?" for all 24 hours and charges only
//! once; the few crowded hours are then counted. Run with `cargo run --example sparse_vector`.

use odometry::measures::{Basic, PureDp, SymmetricDistance};
use odometry::mechanisms::additive::count;
use odometry::mechanisms::samplers::DiscreteLaplace;
use odometry::mechanisms::sparse::{Above, Sensitivity, SparseVector};
use odometry::odometer::{Odometer, Records};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The minute of the day at which each visitor came: most around 9:00 and 17:00.
    let visits: Vec<i64> = (0..20_000).map(minute_of_visit).collect();

    // Whoever holds the data opens a session that will spend at most ε = 1 on anybody's visit.
    let space = Records::<i64>::new();
    let odometer = Odometer::new(space, Basic::new(PureDp));
    let session = odometer.filter(1, "1")?.invoke(visits)?;

    // The analyst launches sparse vector: ε = 0.4 for any number of questions, until six answers were "above".
    let sensitivity = Sensitivity::of_counts::<SymmetricDistance>();
    let crowded = SparseVector::for_epsilon("0.4", sensitivity, 6)?.of_counts(space);
    let crowded = session.launch(&crowded)?;

    for hour in 0..24 {
        let minutes = hour * 60..=hour * 60 + 59;
        let question = Above {
            query: minutes.clone(),
            threshold: 1_500,
        };
        if !crowded.ask(question)? {
            continue;
        }
        // Only now is it worth ε = 0.1 to count.
        let noise = DiscreteLaplace::for_epsilon(1, "0.1")?;
        let visitors = count(space, noise, move |minute| minutes.contains(minute));
        match session.launch(&visitors) {
            Ok(visitors) => println!("{hour:>2}:00 is crowded: about {visitors} visitors"),
            Err(refusal) => println!("{hour:>2}:00 is crowded; {refusal}"),
        }
    }
    println!("spent: ε = {}", session.privacy_loss(&1)?);
    Ok(())
}

/// Two peaks, without a random number.
fn minute_of_visit(i: i64) -> i64 {
    let spread = (i * 37 % 97) + (i * 53 % 89) + (i * 71 % 83) - 133;
    let peak = if i % 5 < 3 { 9 * 60 } else { 17 * 60 };
    (peak + spread).rem_euclid(24 * 60)
}
