//! Statistics of column totals that one row moves by at most one.

use queryable::Fixed;

/// A statistic of the totals of columns. Each grows with every total, and moves by at most one if all totals move by at
/// most one: that is what [`Histogram`](super::Histogram) needs. (The sum of all totals does not.)
///
/// ```
/// use odometry::mechanisms::histogram::Statistic;
/// let totals = [3, 9, 5];
/// assert_eq!(Statistic::Largest.of(&totals), 9);
/// assert_eq!(Statistic::Smallest.of(&totals), 3);
/// assert_eq!(Statistic::Rank(1).of(&totals), 5); // counted from zero, the largest first
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// The largest total.
    Largest,
    /// The smallest total.
    Smallest,
    /// The total with this many larger ones; the smallest, if there are not so many.
    Rank(usize),
}

impl Fixed for Statistic {}

impl Statistic {
    /// Its value; zero without totals.
    pub fn of(self, totals: &[i64]) -> i64 {
        let rank = match self {
            Self::Largest => 0,
            Self::Smallest => usize::MAX,
            Self::Rank(rank) => rank,
        };
        let mut sorted = totals.to_vec();
        sorted.sort_unstable_by_key(|total| std::cmp::Reverse(*total));
        let last = sorted.len().saturating_sub(1);
        sorted.get(rank.min(last)).copied().unwrap_or(0)
    }
}
