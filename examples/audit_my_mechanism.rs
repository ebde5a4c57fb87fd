//! A mechanism of one's own, audited in one call: its author claims too little, and the auditor shows how to tell two
//! neighbours apart. With the right map, the claim holds.

use odometry::auditor::audit_measurement;
use odometry::prelude::*;

type Drinks = Records<u64, ChangeOneDistance>;

/// Everybody's drink, one of three. Each is told as it is half of the time, and otherwise drawn anew.
fn drinks(
    epsilon: &str,
) -> Result<Measurement<Drinks, PureDp, Vec<u64>>, Box<dyn std::error::Error>> {
    let map = PrivacyMap::per_replacement(PureDp, epsilon)?;
    let any = Uniform::below(3)?;
    let tell = move |data: &std::sync::Arc<Vec<u64>>, scope: &mut Scope<'_>| {
        let mut told = Vec::new();
        for drink in data.iter() {
            let drawn = scope.draw(&any)?;
            told.push(if scope.draw(&Bit::fair())? {
                *drink
            } else {
                drawn
            });
        }
        Ok(told)
    };
    Ok(Measurement::new("drinks", Records::replaced(), map, tell))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // "The truth half of the time, so twice as likely": ε = ln 2. It forgets that the truth may be drawn, too.
    let wrong = audit_measurement(&drinks("0.6932")?, vec![0, 1], vec![0, 2]).answer()?;
    println!("{wrong}\n");
    assert!(wrong.attack().is_some());

    // (1/2 + 1/6) / (1/6) = 4, and ln 4 < 1.3863.
    let right = audit_measurement(&drinks("1.3863")?, vec![0, 1], vec![0, 2]).answer()?;
    println!("{right}");
    assert!(right.holds());
    Ok(())
}
