//! A session in a struct, with no bound on its rule: the hint must not be `Adaptive`, which would exclude filters.

use odometry::prelude::*;

struct Service<R> {
    session: Session<Records<i64>, R>,
}

fn main() {}
