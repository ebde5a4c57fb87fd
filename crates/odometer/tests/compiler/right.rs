//! What is right compiles: if this does not, the others fail for a reason that has nothing to do with them.

use odometry::mechanisms::{additive::count_spending, spend::epsilon};
use odometry::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let people = Records::<i64>::new();
    let adults = count_spending(people, epsilon("0.5"), |age| *age >= 18)?;
    let organisation = Odometer::new(people, Basic::new(PureDp));
    organisation.filter(1, "3")?.invoke(vec![31])?.launch(&adults)?;
    Ok(())
}
