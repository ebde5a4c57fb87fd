//! Example1 and Example2 of \[RRUV16\] §1. The first asks a fixed number of noisy queries; the second asks until an
//! answer is above a threshold, so no loss can be stated in advance: it runs under an odometer, and the loss grows
//! until it stops.

use std::{error::Error, sync::Arc};

use measures::{Basic, PrivacyMap, PureDp};
use odometer::{Measurement, Odometer, Records};
use queryable::{
    Root,
    coins::{Bit, Probability},
};

/// What a run of Example2 looked like: each answer, and the loss after it.
pub type Rounds = Vec<(i64, String)>;

/// Runs Example1 with `k` queries of ε = 0.1, then Example2 with the threshold τ.
pub fn run(k: usize, threshold: i64, seed: u8) -> Result<(String, Rounds), Box<dyn Error>> {
    let records = Records::<i64>::new();
    let map = PrivacyMap::per_record(PureDp, "0.1")?;
    // Two-sided geometric noise, P(n) ∝ (10/11)^|n|, and 11/10 < e^0.1: a difference of two geometric counts.
    let go_on = Bit::new(Probability::new(10, 11)?);
    let count = Measurement::new(
        "noisy count",
        records,
        map,
        move |data: &Arc<Vec<i64>>, scope| {
            let mut noisy = data.len() as i64;
            for sign in [1, -1] {
                while scope.draw(&go_on)? {
                    noisy += sign;
                }
            }
            Ok(noisy)
        },
    );
    let data = Arc::new((0..20).collect::<Vec<i64>>());
    let open = |seed| {
        Odometer::new(records, Basic::new(PureDp))
            .open_in(&Root::seeded([seed; 32]), Arc::clone(&data))
    };

    let first = open(seed)?;
    for _ in 0..k {
        first.launch(&count)?;
    }
    let fixed = first.privacy_loss(&1)?.to_string();

    let second = open(seed.wrapping_add(1))?;
    let mut rounds = vec![];
    loop {
        let answer = second.launch(&count)?;
        rounds.push((answer, second.privacy_loss(&1)?.to_string()));
        if answer > threshold {
            return Ok((fixed, rounds));
        }
    }
}
