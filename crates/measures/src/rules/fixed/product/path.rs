//! Trade-off functions as paths of integers over `2^256`, for products with many corners: integers compare and multiply
//! much faster than reduced rationals. Every move to such integers is down and to the left, which claims less.

use std::cmp::Ordering;

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::convex::lower_hull;

use crate::Tradeoff;
use crate::tradeoff::hull::{Corner, atoms};

/// Coordinates are multiples of `2^-SCALE`.
const SCALE: usize = 256;

/// A corner.
pub(super) type Point = Corner<IBig>;

/// A convex path from `x = 0` to `y = 0`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path(pub(super) Vec<Point>);

impl Path {
    /// The function, rounded down.
    pub(super) fn of(function: &Tradeoff) -> Path {
        let scale = RBig::from(one());
        let down = |value: &RBig| (value * &scale).floor();
        let corners = function.as_slice().iter();
        Path(lower_hull(
            corners.map(|corner| Point::new(down(&corner.x), down(&corner.y))),
        ))
    }

    pub(super) fn to_tradeoff(&self) -> Tradeoff {
        let scale = RBig::from(one());
        let up = |value: &IBig| RBig::from(value.clone()) / &scale;
        let corners: Vec<_> = self
            .0
            .iter()
            .map(|point| Corner::new(up(&point.x), up(&point.y)))
            .collect();
        Tradeoff::below(&corners)
    }

    /// The path of the product laws: all pairs of outcomes, by falling ratio of detection to false alarm.
    pub(super) fn product(&self, other: &Path) -> Path {
        let others = atoms(&other.0, one());
        let mut pairs = Vec::new();
        for (alarm, detection) in atoms(&self.0, one()) {
            pairs.extend(
                others
                    .iter()
                    .map(|other| (&alarm * &other.0, &detection * &other.1)),
            );
        }
        let nothing = (IBig::ZERO, IBig::ZERO);
        pairs.retain(|masses| *masses != nothing);
        pairs.sort_by(by_falling_ratio);
        let (mut x, mut y) = (IBig::ZERO, one() << SCALE);
        let mut points = Vec::with_capacity(pairs.len() + 1);
        for (alarm, detection) in pairs {
            if !alarm.is_zero() {
                points.push(Point::new(&x >> SCALE, &y >> SCALE));
            }
            x += alarm;
            y -= detection;
        }
        points.push(Point::new(x >> SCALE, y >> SCALE));
        Path(lower_hull(points))
    }
}

fn one() -> IBig {
    IBig::ONE << SCALE
}

/// The best test rejects the outcome with the largest ratio of detection to false alarm first.
fn by_falling_ratio(a: &(IBig, IBig), b: &(IBig, IBig)) -> Ordering {
    (&b.1 * &a.0).cmp(&(&a.1 * &b.0))
}
