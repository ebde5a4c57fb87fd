//! Convex hulls of points with exact coordinates, from one side: the greatest convex, falling curve below points, and the
//! least concave, rising curve above them. Trade-off functions, privacy profiles and the regions of adversaries are such
//! curves. All comparisons are exact.

use std::cmp::Ordering;

use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// A point, or a corner of a curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Corner<T> {
    /// The first coordinate.
    pub x: T,
    /// The second coordinate.
    pub y: T,
}

impl<T> Corner<T> {
    /// The point `(x, y)`.
    pub const fn new(x: T, y: T) -> Self {
        Self { x, y }
    }
}

/// A number that points are made of.
pub trait Coordinate: Clone + Ord {
    /// `|self − other|`.
    fn distance(&self, other: &Self) -> Self;

    /// Compares `a·b` with `c·d`, for numbers that are not negative.
    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering;
}

impl Coordinate for u64 {
    fn distance(&self, other: &Self) -> Self {
        self.abs_diff(*other)
    }

    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering {
        (u128::from(*a) * u128::from(*b)).cmp(&(u128::from(*c) * u128::from(*d)))
    }
}

impl Coordinate for UBig {
    fn distance(&self, other: &Self) -> Self {
        match self < other {
            true => other - self,
            false => self - other,
        }
    }

    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering {
        (a * b).cmp(&(c * d))
    }
}

impl Coordinate for IBig {
    fn distance(&self, other: &Self) -> Self {
        (self - other).unsigned_abs().into()
    }

    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering {
        (a * b).cmp(&(c * d))
    }
}

impl Coordinate for RBig {
    fn distance(&self, other: &Self) -> Self {
        let (numerator, denominator) = (self - other).into_parts();
        RBig::from_parts(numerator.unsigned_abs().into(), denominator)
    }

    fn compare_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Ordering {
        (a * b).cmp(&(c * d))
    }
}

/// The corners of the greatest convex, falling curve at or below points that come from left to right.
///
/// ```
/// use odometry::exact::convex::{Corner, lower_hull};
/// let points = [(0u64, 10), (1, 8), (2, 3), (3, 9), (5, 0), (9, 0)].map(|(x, y)| Corner::new(x, y));
/// let corners = [(0, 10), (2, 3), (5, 0)].map(|(x, y)| Corner::new(x, y));
/// assert_eq!(lower_hull(points), corners);
/// ```
pub fn lower_hull<T: Coordinate>(points: impl IntoIterator<Item = Corner<T>>) -> Vec<Corner<T>> {
    let mut hull: Vec<Corner<T>> = Vec::new();
    for point in points {
        // Of a falling curve that begins with a jump, the lower end.
        if let [only] = hull.as_slice()
            && only.x == point.x
            && point.y < only.y
        {
            hull.pop();
        }
        extend(&mut hull, point, Ordering::Less);
    }
    hull
}

/// The corners of the least concave, rising curve from `start` that is at or above points that come from left to right and
/// are nowhere left of `start`. It may begin with a vertical step.
///
/// ```
/// use odometry::exact::convex::{Corner, upper_hull};
/// let points = [(0u64, 3), (1, 4), (2, 9), (3, 8), (4, 10)].map(|(x, y)| Corner::new(x, y));
/// let corners = [(0, 0), (0, 3), (2, 9), (4, 10)].map(|(x, y)| Corner::new(x, y));
/// assert_eq!(upper_hull(Corner::default(), points), corners);
/// ```
pub fn upper_hull<T: Coordinate>(
    start: Corner<T>,
    points: impl IntoIterator<Item = Corner<T>>,
) -> Vec<Corner<T>> {
    let mut hull = vec![start];
    for point in points {
        extend(&mut hull, point, Ordering::Greater);
    }
    hull
}

/// The hull of one point more, which is nowhere left of the others. Only one that is `better` than the last changes a
/// monotone curve.
fn extend<T: Coordinate>(hull: &mut Vec<Corner<T>>, point: Corner<T>, better: Ordering) {
    if hull
        .last()
        .is_some_and(|last| point.y.cmp(&last.y) != better)
    {
        return;
    }
    while let [.., a, b] = hull.as_slice()
        && is_needless(a, b, &point)
    {
        hull.pop();
    }
    hull.push(point);
}

/// Whether the curve through `a` and `c` does without `b`: it is no steeper from `a` to `b` than from `a` to `c`.
fn is_needless<T: Coordinate>(a: &Corner<T>, b: &Corner<T>, c: &Corner<T>) -> bool {
    let to = |end: &Corner<T>| (a.x.distance(&end.x), a.y.distance(&end.y));
    let ((near, up), (far, top)) = (to(b), to(c));
    T::compare_products(&up, &far, &top, &near) != Ordering::Greater
}
