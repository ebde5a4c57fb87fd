//! A rule that is only a filter's has no running loss: the hint is `spent()`.

use odometry::measures::adaptive::WhitehouseFilter;
use odometry::prelude::*;

fn loss(session: &Session<Records<i64>, WhitehouseFilter>) {
    session.privacy_loss(1).unwrap();
}

fn main() {}
