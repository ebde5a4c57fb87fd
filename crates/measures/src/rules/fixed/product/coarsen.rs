//! Paths with fewer corners, from below: segments are left out and their neighbours prolonged until they meet. The
//! greatest of fewer tangents is a lower bound, whichever are left out; which ones is chosen in floating point.

use dashu_int::IBig;
use dashu_int::ops::DivEuclid;

use exact::convex::lower_hull;

use super::path::{Path, Point};

/// The path itself, or one below it with at most `most` corners.
pub(super) fn coarsened(path: Path, most: usize) -> Path {
    let most = most.max(4);
    let mut path = path;
    while path.0.len() > most {
        let leave_out = least_costly(&path.0, path.0.len() - most);
        path = Path(lower_hull(without(&path.0, &leave_out)));
    }
    path
}

/// Up to `count` segments, no two of them neighbours and neither the first nor the last, that cost least. Segment `i`
/// goes from corner `i` to the next.
fn least_costly(corners: &[Point], count: usize) -> Vec<bool> {
    let points: Vec<(f64, f64)> = corners.iter().map(approximate).collect();
    let mut costs: Vec<(f64, usize)> = (1..corners.len() - 2)
        .map(|i| (cost(&points[i - 1..i + 3]), i))
        .collect();
    costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut chosen = vec![false; corners.len()];
    let mut left = count;
    for (_, i) in costs {
        if left > 0 && !chosen[i - 1] && !chosen[i + 1] {
            chosen[i] = true;
            left -= 1;
        }
    }
    chosen
}

fn approximate(point: &Point) -> (f64, f64) {
    let unit = 2f64.powi(-256);
    (
        point.x.to_f64().value() * unit,
        point.y.to_f64().value() * unit,
    )
}

/// The area that leaving out the middle segment gives away, relative to the box between the segment and the nearer end
/// of the curve, so that both tails keep their shape.
fn cost(points: &[(f64, f64)]) -> f64 {
    let [a, b, c, d] = points else {
        return f64::INFINITY;
    };
    let side = |u: &(f64, f64), v: &(f64, f64)| (v.0 - u.0, v.1 - u.1);
    let cross = |u: (f64, f64), v: (f64, f64)| u.0 * v.1 - u.1 * v.0;
    let (before, across, after) = (side(a, b), side(b, c), side(c, d));
    let area = cross(before, across) * cross(across, after) / cross(before, after).max(1e-300);
    let scale = (c.0 * (1.0 - c.1)).min(b.1 * (1.0 - b.0));
    area.abs() / scale.max(1e-300)
}

fn without(corners: &[Point], leave_out: &[bool]) -> Vec<Point> {
    let mut result = Vec::with_capacity(corners.len());
    let mut i = 0;
    while i < corners.len() {
        if leave_out[i] {
            result.push(meeting(&corners[i - 1..i + 3]));
            i += 2;
        } else {
            result.push(corners[i].clone());
            i += 1;
        }
    }
    result
}

/// Where the line through the first two corners meets the line through the last two, rounded down.
fn meeting(corners: &[Point]) -> Point {
    let [a, b, c, d] = corners else {
        return Point::default();
    };
    let (ux, uy) = (&b.x - &a.x, &b.y - &a.y);
    let (vx, vy) = (&d.x - &c.x, &d.y - &c.y);
    let turn = &ux * &vy - &uy * &vx;
    if turn <= IBig::ZERO {
        // Parallel after rounding: the lower left of both is below the path.
        return Point::new(b.x.clone(), c.y.clone());
    }
    let along = (&c.x - &a.x) * &vy - (&c.y - &a.y) * &vx;
    Point {
        x: &a.x + (along.clone() * ux).div_euclid(turn.clone()),
        y: &a.y + (along * uy).div_euclid(turn),
    }
}
