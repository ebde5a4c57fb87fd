//! A float where an exact number is wanted: a scale, a loss to spend, a budget, a loss per record.

use odometry::mechanisms::{samplers::DiscreteLaplace, spend::epsilon};
use odometry::prelude::*;

fn main() {
    DiscreteLaplace::new(2.5).unwrap();
    epsilon(0.5);
    let people = Records::<i64>::new();
    let organisation = Odometer::new(people, Basic::new(PureDp));
    organisation.filter(1, 3.0).unwrap();
    PrivacyMap::per_record(PureDp, 0.1).unwrap();
}
