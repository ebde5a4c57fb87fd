//! Trade-off functions with fewer corners, from below: segments are left out and their neighbours prolonged until they
//! meet. The greatest of fewer tangents is a lower bound, whichever are left out; which ones is chosen in floating point.

use exact::{Exact, Round};

use crate::Tradeoff;
use crate::hull::{Corner, Line};

/// The function itself, or one below it with at most `most` corners.
pub(super) fn coarsened(function: Tradeoff, most: usize) -> Tradeoff {
    let mut function = function;
    while function.as_slice().len() > most.max(4) {
        let corners = function.as_slice();
        let leave_out = least_costly(corners, corners.len() - most.max(4));
        let fewer = without(corners, &leave_out);
        let before = corners.len();
        function = Tradeoff::below(&fewer);
        if function.as_slice().len() >= before {
            break;
        }
    }
    function
}

/// Up to `count` segments, no two of them neighbours and neither the first nor the last, that cost least. Segment `i`
/// goes from corner `i` to the next.
fn least_costly(corners: &[Corner], count: usize) -> Vec<bool> {
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

fn approximate(corner: &Corner) -> (f64, f64) {
    let value = |number| Exact::from_rational(number, Round::Down).unwrap_or(Exact::ZERO);
    (
        value(&corner.x).to_f64(Round::Down),
        value(&corner.y).to_f64(Round::Down),
    )
}

/// The area that leaving out the middle segment gives away, relative to the box between the segment and the nearer end
/// of the curve, so that both tails keep their shape.
fn cost(points: &[(f64, f64)]) -> f64 {
    let [a, b, c, d] = points else {
        return f64::INFINITY;
    };
    let before = ((b.0 - a.0), (b.1 - a.1));
    let across = ((c.0 - b.0), (c.1 - b.1));
    let after = ((d.0 - c.0), (d.1 - c.1));
    let cross = |u: (f64, f64), v: (f64, f64)| u.0 * v.1 - u.1 * v.0;
    let area = cross(before, across) * cross(across, after) / cross(before, after).max(1e-300);
    let scale = (c.0 * (1.0 - c.1)).min(b.1 * (1.0 - b.0));
    area.abs() / scale.max(1e-300)
}

fn without(corners: &[Corner], leave_out: &[bool]) -> Vec<Corner> {
    let mut result = Vec::with_capacity(corners.len());
    let mut i = 0;
    while i < corners.len() {
        if leave_out[i] {
            let before = Line::through(&corners[i - 1], &corners[i]);
            let after = Line::through(&corners[i + 1], &corners[i + 2]);
            result.push(before.meets(&after));
            i += 2;
        } else {
            result.push(corners[i].clone());
            i += 1;
        }
    }
    result
}
