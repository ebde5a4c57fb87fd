//! A rule for losses fixed in advance would leak in an odometer.

use odometry::measures::fixed::Optimal;
use odometry::prelude::*;

fn main() {
    let rule = Optimal::new("1e-6").unwrap();
    Odometer::new(Records::<i64>::new(), rule).open(vec![]).unwrap();
}
