//! Trade-off functions as paths of integers over `2^256`, for products with many corners: integers compare and multiply
//! much faster than reduced rationals. Every move to such integers is down and to the left, which claims less.

use std::cmp::Ordering;

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::Tradeoff;
use crate::hull::Corner;

/// Coordinates are multiples of `2^-SCALE`.
const SCALE: usize = 256;

/// A corner.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: IBig,
    pub(super) y: IBig,
}

/// An outcome with its masses under both laws of a trade-off function.
struct Atom {
    false_alarm: IBig,
    detection: IBig,
}

/// A convex path from `x = 0` to `y = 0`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path(pub(super) Vec<Point>);

impl Path {
    /// The function, rounded down.
    pub(super) fn of(function: &Tradeoff) -> Path {
        let scale = RBig::from(IBig::ONE << SCALE);
        let down = |value: &RBig| (value * &scale).floor();
        let corners = function.as_slice().iter();
        Path(hull(corners.map(|corner| Point {
            x: down(&corner.x),
            y: down(&corner.y),
        })))
    }

    pub(super) fn to_tradeoff(&self) -> Tradeoff {
        let scale = RBig::from(IBig::ONE << SCALE);
        let up = |value: &IBig| RBig::from(value.clone()) / &scale;
        let corners: Vec<_> = self
            .0
            .iter()
            .map(|point| Corner::new(up(&point.x), up(&point.y)))
            .collect();
        Tradeoff::below(&corners)
    }

    /// The two laws: each segment is an outcome, and so are the jump at `x = 0` and the flat end.
    fn atoms(&self) -> Vec<Atom> {
        let start = Point {
            x: IBig::ZERO,
            y: IBig::ONE << SCALE,
        };
        let end = Point {
            x: IBig::ONE << SCALE,
            y: IBig::ZERO,
        };
        let path: Vec<&Point> = [&start].into_iter().chain(&self.0).chain([&end]).collect();
        let atom = |pair: &[&Point]| Atom {
            false_alarm: &pair[1].x - &pair[0].x,
            detection: &pair[0].y - &pair[1].y,
        };
        path.windows(2).map(atom).collect()
    }

    /// The path of the product laws: all pairs of outcomes, by falling ratio of detection to false alarm.
    pub(super) fn product(&self, other: &Path) -> Path {
        let others = other.atoms();
        let mut atoms = Vec::new();
        for a in self.atoms() {
            atoms.extend(others.iter().map(|b| Atom {
                false_alarm: &a.false_alarm * &b.false_alarm,
                detection: &a.detection * &b.detection,
            }));
        }
        atoms.retain(|atom| !atom.false_alarm.is_zero() || !atom.detection.is_zero());
        atoms.sort_by(by_falling_ratio);
        let (mut x, mut y) = (IBig::ZERO, IBig::ONE << (2 * SCALE));
        let mut points = Vec::with_capacity(atoms.len() + 1);
        for atom in atoms {
            if !atom.false_alarm.is_zero() {
                points.push(Point {
                    x: &x >> SCALE,
                    y: &y >> SCALE,
                });
            }
            x += atom.false_alarm;
            y -= atom.detection;
        }
        points.push(Point {
            x: x >> SCALE,
            y: y >> SCALE,
        });
        Path(hull(points.into_iter()))
    }
}

/// The best test rejects the outcome with the largest ratio first.
fn by_falling_ratio(a: &Atom, b: &Atom) -> Ordering {
    (&b.detection * &a.false_alarm).cmp(&(&a.detection * &b.false_alarm))
}

/// The corners of the greatest convex, falling path at or below points that come from left to right.
pub(super) fn hull(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut hull: Vec<Point> = Vec::new();
    for point in points {
        if let Some(last) = hull.last()
            && point.y >= last.y
        {
            continue;
        }
        while let Some(last) = hull.last()
            && last.x == point.x
        {
            hull.pop();
        }
        while let [.., a, b] = hull.as_slice()
            && (&b.y - &a.y) * (&point.x - &a.x) >= (&point.y - &a.y) * (&b.x - &a.x)
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull
}
