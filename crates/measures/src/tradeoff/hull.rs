//! Convex, falling, piecewise linear curves with rational corners: what trade-off functions and
//! privacy profiles share. All comparisons are exact.

use dashu_ratio::RBig;
use exact::convex::{Coordinate, lower_hull};
use exact::{Exact, Round};

pub(crate) type Corner<T = RBig> = exact::convex::Corner<T>;

/// Moved down and to the left, to numbers that [`Exact`] holds; for coordinates at or above zero.
pub(crate) fn rounded_down(corner: &Corner<RBig>) -> Corner<RBig> {
    let down = |value: &RBig| {
        let value = Exact::from_rational(value, Round::Down).unwrap_or(Exact::ZERO);
        value.to_rational().unwrap_or(RBig::ZERO)
    };
    Corner::new(down(&corner.x), down(&corner.y))
}

/// The corners of the greatest convex, falling curve at or below all of these points, in any order.
pub(crate) fn hull_of(mut points: Vec<Corner<RBig>>) -> Vec<Corner<RBig>> {
    points.sort();
    lower_hull(points)
}

/// The two laws of a trade-off function with these corners, as pairs of masses: each segment is an outcome, and so are the
/// jump at `x = 0` and the flat end. Both masses add up to `one`.
pub(crate) fn atoms<T: Coordinate + Default>(corners: &[Corner<T>], one: T) -> Vec<(T, T)> {
    let start = Corner::new(T::default(), one.clone());
    let end = Corner::new(one, T::default());
    let path: Vec<&Corner<T>> = [&start].into_iter().chain(corners).chain([&end]).collect();
    let masses = path.windows(2).map(|pair| {
        (
            pair[0].x.distance(&pair[1].x),
            pair[0].y.distance(&pair[1].y),
        )
    });
    let zero = (T::default(), T::default());
    masses.filter(|masses| *masses != zero).collect()
}

/// The value at `x` of the curve through these corners, flat to the right of the last; `None` left of the first.
pub(crate) fn value_at(corners: &[Corner], x: &RBig) -> Option<RBig> {
    let after = corners.partition_point(|corner| corner.x <= *x);
    let left = corners.get(after.checked_sub(1)?)?;
    let right = match corners.get(after) {
        Some(right) if left.x != *x => right,
        // Nothing to divide at a corner, which is where curves are mostly compared.
        _ => return Some(left.y.clone()),
    };
    let share = (x - &left.x) / (&right.x - &left.x);
    Some(&left.y + (&right.y - &left.y) * share)
}

/// Whether the first curve is nowhere below the second, from `start` on.
pub(crate) fn nowhere_below(upper: &[Corner], lower: &[Corner], start: &RBig) -> bool {
    let corners = upper
        .iter()
        .chain(lower)
        .map(|corner| &corner.x)
        .filter(|x| *x >= start);
    let mut all = corners.chain([start]);
    // A curve that is compared with itself, as a loss with the budget that it was taken from, takes no arithmetic.
    upper == lower || all.all(|x| value_at(upper, x) >= value_at(lower, x))
}

/// A line `y = height − slope·x`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: RBig,
    pub(crate) height: RBig,
}

impl Line {
    /// The line through two corners, `a` to the left of `b`.
    pub(crate) fn through(a: &Corner, b: &Corner) -> Line {
        let slope = (&a.y - &b.y) / (&b.x - &a.x);
        let height = &a.y + &slope * &a.x;
        Line { slope, height }
    }

    pub(crate) fn at(&self, x: &RBig) -> RBig {
        &self.height - &self.slope * x
    }

    /// Where this line meets a flatter one.
    pub(crate) fn meets(&self, flatter: &Line) -> Corner {
        let x = (&self.height - &flatter.height) / (&self.slope - &flatter.slope);
        let y = self.at(&x);
        Corner::new(x, y)
    }
}

/// The corners of the greatest of these lines, the zero line among them, from `x = 0` on.
pub(crate) fn envelope(mut lines: Vec<Line>) -> Vec<Corner> {
    lines.retain(|line| line.height > RBig::ZERO);
    lines.push(Line {
        slope: RBig::ZERO,
        height: RBig::ZERO,
    });
    lines.sort_by(|a, b| (&b.slope, &b.height).cmp(&(&a.slope, &a.height)));
    lines.dedup_by(|b, a| a.slope == b.slope);
    let mut kept: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines {
        // A line as high as a steeper one at x = 0 hides it; so does one that meets its
        // predecessor before that one has left its own.
        while let Some(last) = kept.last() {
            let hidden = match kept.len().checked_sub(2) {
                None => line.height >= last.height,
                Some(before) => last.meets(&line).x <= kept[before].meets(last).x,
            };
            if !hidden {
                break;
            }
            kept.pop();
        }
        kept.push(line);
    }
    let start = kept
        .first()
        .map(|first| Corner::new(RBig::ZERO, first.height.clone()));
    let meetings = kept.windows(2).map(|pair| pair[0].meets(&pair[1]));
    start.into_iter().chain(meetings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: i32, y: i32) -> Corner {
        Corner::new(RBig::from(x), RBig::from(y))
    }

    fn line(slope: i32, height: i32) -> Line {
        Line {
            slope: RBig::from(slope),
            height: RBig::from(height),
        }
    }

    #[test]
    fn hull_keeps_only_corners() {
        let points = vec![
            corner(0, 10),
            corner(1, 8),
            corner(2, 3),
            corner(3, 9),
            corner(5, 0),
            corner(9, 0),
        ];
        assert_eq!(
            hull_of(points),
            vec![corner(0, 10), corner(2, 3), corner(5, 0)]
        );
    }

    #[test]
    fn envelope_of_lines() {
        // 10 − 5x, 6 − x, and one that never shows.
        let corners = envelope(vec![line(1, 6), line(5, 10), line(2, 6)]);
        assert_eq!(corners, vec![corner(0, 10), corner(1, 5), corner(6, 0)]);
        assert_eq!(
            envelope(vec![line(3, 1), line(1, 1)]),
            vec![corner(0, 1), corner(1, 0)]
        );
        assert_eq!(envelope(vec![]), vec![corner(0, 0)]);
    }

    #[test]
    fn comparing_looks_between_corners() {
        let chord = [corner(0, 4), corner(4, 0)];
        let bent = [corner(0, 4), corner(1, 1), corner(4, 0)];
        assert!(nowhere_below(&chord, &bent, &RBig::ZERO));
        assert!(!nowhere_below(&bent, &chord, &RBig::ZERO));
        assert_eq!(value_at(&bent, &RBig::from(7)), Some(RBig::ZERO));
        assert_eq!(value_at(&bent, &RBig::from(-1)), None);
    }
}
