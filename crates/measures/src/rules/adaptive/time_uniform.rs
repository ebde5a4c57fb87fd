//! Rules with the time-uniform guarantee of \[RRUV16\] Def 3.1: with probability `1 − δ` over the run, the realized
//! loss is below the bound at every round at once. Only for pure children, and only sequentially: \[RRUV16\] Lemma 3.5
//! is wrong for children with `δ_j > 0` (a (0, 0.005) bit has a realized loss of 0.01 with certainty), and no
//! concurrent theorem is known.

use super::basic::{Basic, Sum};
use super::rogers::RogersTally;
use super::rogers_odometer::RogersOdometer;
use crate::{Adaptive, Epsilon, EpsilonDelta, PureDp, Tallied, Tally, TimeUniform, Total};

/// Basic composition, time-uniformly: the realized loss is at most Σε at every round, with certainty (\[RRUV16\] Thm
/// 3.6 for `δ_j = 0`). Sequential; exact.
///
/// ```
/// use odometry::measures::adaptive::TimeUniformBasic;
/// use odometry::measures::{Tallied, Tally, TimeUniform};
/// let rule = TimeUniformBasic;
/// let tally = rule.start().after(&"0.1".parse()?, 10);
/// assert_eq!(rule.bound(&tally).bound(), &"1".parse()?);
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
///
/// A truncated-view rule is not accepted, even if its formula is the same:
///
/// ```compile_fail,E0277
/// use odometry::measures::{Basic, PureDp, TimeUniform};
/// fn time_uniform_odometer(_rule: impl TimeUniform) {}
/// time_uniform_odometer(Basic::new(PureDp));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeUniformBasic;

rule! { TimeUniformBasic, PureDp => PureDp, Sequential, |_rule| crate::Name::new("time-uniform-basic") }

impl Tallied for TimeUniformBasic {
    type Tally = Sum<PureDp>;

    fn start(&self) -> Sum<PureDp> {
        Basic::new(PureDp).start()
    }
}

impl TimeUniform for TimeUniformBasic {
    fn bound(&self, tally: &Sum<PureDp>) -> Total<Epsilon> {
        Basic::new(PureDp).loss(tally)
    }
}

/// The odometer of \[RRUV16\], time-uniformly: with probability `1 − δ_g`, at every round at once, the realized loss
/// is at most the ε of the total, whose formula is that of [`RogersOdometer`] (\[RRUV16\] Thm 6.5 and Lemma 6.4 for
/// `δ_j = 0`). Sequential; sums are exact, the bound is rounded up.
///
/// ```
/// use odometry::measures::adaptive::{RogersOdometer, TimeUniformRogers};
/// use odometry::measures::{Tallied, Tally, TimeUniform};
/// let rule = TimeUniformRogers::new(RogersOdometer::new("1e-6", 1 << 20)?);
/// let tally = rule.start().after(&"0.01".parse()?, 1000);
/// assert!(rule.bound(&tally).at_most(&"(3.5, 1e-6)".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUniformRogers(RogersOdometer);

impl TimeUniformRogers {
    /// The time-uniform form of this odometer.
    pub const fn new(odometer: RogersOdometer) -> Self {
        TimeUniformRogers(odometer)
    }
}

rule! { TimeUniformRogers, PureDp => ApproxDp, Sequential, |rule| {
    Some(crate::Name::new("time-uniform").of(&crate::Rule::name(&rule.0)?))
} }

impl Tallied for TimeUniformRogers {
    type Tally = PureTally<RogersTally>;

    fn start(&self) -> Self::Tally {
        PureTally(self.0.start())
    }
}

impl TimeUniform for TimeUniformRogers {
    fn bound(&self, tally: &Self::Tally) -> Total<EpsilonDelta> {
        self.0.loss(&tally.0)
    }
}

/// A tally of approximate losses that takes only pure ones.
#[derive(Clone, Debug, PartialEq)]
pub struct PureTally<T>(T);

impl<T: Tally<Loss = EpsilonDelta>> Tally for PureTally<T> {
    type Loss = Epsilon;

    fn absorb(&mut self, loss: &Epsilon, n: u64) {
        self.0.absorb(&EpsilonDelta::from(loss.clone()), n);
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    fn join(&mut self, other: &Self) {
        self.0.join(&other.0);
    }

    fn bends_up(before: &Self, middle: &Self, after: &Self) -> bool {
        T::bends_up(&before.0, &middle.0, &after.0)
    }
}
