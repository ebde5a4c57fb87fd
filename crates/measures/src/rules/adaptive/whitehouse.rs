//! The concentration bound of \[WRRW23\], as \[HST+23\] Thm 3.7 and 3.8 quote it.

use super::search::{half, root_within};
use super::slack::{Concentration, SlackFilter, SlackOdometer, sealed};
use super::tally::square;
use exact::{Exact, Round};

/// `ε ≤ √(2 ln(1/δ′) Σε²) + ½ Σε²`. The squares are exact while they have at most 128 bits (every `f64`, every decimal of
/// up to 19 digits), otherwise each is rounded up when it enters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Whitehouse;

/// The filter of \[WRRW23\]: launches fit a budget `(ε, δ)` while `√(2 ln(1/δ′) Σε²) + ½ Σε² ≤ ε` and
/// `δ′ + Σδ ≤ δ` (\[HST+23\] Thm 3.7, which prints the first inequality backwards).
///
/// Valid as a filter for adaptively chosen `(ε_j, δ_j)`, δ′ and budget fixed in advance, concurrently under finite
/// communication (\[HST+23\] Thm 1.19). Not an odometer: see [`WhitehouseOdometer`]. The threshold for Σε² is solved
/// once, rounded down; the sums are exact.
///
/// ```
/// use odometry::measures::adaptive::WhitehouseFilter;
/// use odometry::measures::{FilterRule, Tallied, Tally};
/// let rule = WhitehouseFilter::new("5e-7")?;
/// let gate = rule.open(&"(1, 1e-6)".parse()?)?;
/// let tally = rule.start().after(&"(0.01, 0)".parse()?, 300);
/// assert!(rule.fits(&gate, &tally)); // basic composition would have ended at 100
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type WhitehouseFilter = SlackFilter<Whitehouse>;

/// The odometer of \[WRRW23\]: the total is `(√(2 ln(1/δ′) Σε²) + ½ Σε², δ)` while `δ′ + Σδ ≤ δ`, and infinite
/// beyond (\[HST+23\] Thm 3.8).
///
/// Valid as an accumulator (truncated view) and a filter for adaptively chosen `(ε_j, δ_j)`, concurrently under finite
/// communication (\[HST+23\] Thm 1.19); **not** time-uniform (the separation of \[RRUV16\] Thm 6.1: see
/// `docs/experiments.md`). The sums are exact; the total is rounded up.
///
/// ```
/// use odometry::measures::adaptive::WhitehouseOdometer;
/// use odometry::measures::{Adaptive, Tallied, Tally};
/// let rule = WhitehouseOdometer::new("5e-7", "1e-6")?;
/// let tally = rule.start().after(&"(0.01, 0)".parse()?, 300);
/// assert!(rule.within(&tally, &"(1, 1e-6)".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type WhitehouseOdometer = SlackOdometer<Whitehouse>;

impl sealed::Sealed for Whitehouse {}

impl Concentration for Whitehouse {
    const NAME: &'static str = "whitehouse";

    #[inline]
    fn entry(epsilon: &Exact) -> Exact {
        square(epsilon)
    }

    fn epsilon(log: &Exact, sum: &Exact) -> Exact {
        let root = log.times(2).mul(sum, Round::Up).sqrt(Round::Up);
        root + half(sum, Round::Up)
    }

    /// `(√(2L+2ε) − √(2L))²`, without the cancellation.
    fn threshold(log: &Exact, epsilon: &Exact) -> Exact {
        let (log, epsilon) = (log.times(2), epsilon.times(2));
        let roots = (&log + &epsilon).sqrt(Round::Up) + log.sqrt(Round::Up);
        let root = epsilon.div(&roots, Round::Down);
        root.mul(&root, Round::Down)
    }

    fn largest(rest: &Exact) -> Exact {
        root_within(rest)
    }
}
