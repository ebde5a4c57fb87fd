//! What a measure is: a set of losses, partially ordered, with a least and a greatest one (\[HST+23\] Def 2.1). How
//! losses compose is left to the [rules](crate::rules), because one measure has many.

use crate::LossError;
use std::fmt::{Debug, Display};

/// A privacy loss: a value in a partially ordered set.
///
/// The order is the method [`at_most`](Loss::at_most) and not `PartialOrd`, because the derived order of a tuple is
/// lexicographic and would call `(1, 0.9)` smaller than `(2, 0)`. `a.at_most(b)` means that a mechanism with loss `a`
/// certainly has loss `b`. Two losses may be incomparable.
pub trait Loss: Clone + PartialEq + Debug + Display + Send + Sync + 'static {
    /// Whether every mechanism with this loss has the loss `other` as well.
    fn at_most(&self, other: &Self) -> bool;

    /// The loss as text, rounded down: for what remains of a budget, which may not look like more than it is. (`Display`
    /// rounds up: what was spent may not look like less.)
    ///
    /// The default is right where `Display` rounds nothing.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Loss};
    /// let third = Epsilon::new(odometry::exact::Exact::ratio(1, 3)?);
    /// assert_eq!(third.shown_down(), "0.33333333333333333");
    /// assert_eq!(third.to_string(), "0.33333333333333334");
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    fn shown_down(&self) -> String {
        self.to_string()
    }

    /// The loss as tallies count it: rounded up, if need be, to one of those whose sums stay short. Accounts charge this
    /// loss, so that one extreme loss does not make every later launch slow.
    ///
    /// The losses of this crate are rounded up to the [grid](exact::Exact::on_grid) of multiples of `2^-256 · 5^-64`, on
    /// which decimals of up to 64 places are exact, and are infinite from `2^256` on. The default changes nothing: right
    /// where losses are short by themselves. It must be monotone, leave zero as it is, and change nothing the second time.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Loss};
    /// let tenth: Epsilon = "0.1".parse()?;
    /// assert_eq!(tenth.clone().on_grid(), tenth);
    /// let tiny: Epsilon = "1e-4096".parse()?;
    /// assert!(tiny.at_most(&tiny.clone().on_grid()) && tiny.on_grid().at_most(&"1e-121".parse()?));
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    #[must_use]
    fn on_grid(self) -> Self {
        self
    }

    /// The loss as it is written down for good: exact, and the same text for ever. [`read`](Self::read) reads it. Without
    /// it (the default), sessions on a ledger refuse the measure.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Loss};
    /// let tenth: Epsilon = "0.10".parse()?;
    /// assert_eq!(tenth.written().as_deref(), Some("0.1"));
    /// assert_eq!(Epsilon::read("0.1"), Some(tenth));
    /// # Ok::<(), odometry::measures::LossError>(())
    /// ```
    fn written(&self) -> Option<String> {
        None
    }

    /// The loss that was [written](Self::written) like this.
    fn read(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    /// This loss times `by`, rounded up, where losses grow in proportion to the distance: see [`Scale`]. For maps that were
    /// written down.
    fn linear(&self, by: &exact::Exact) -> Option<Self> {
        let _ = by;
        None
    }

    /// This loss times `by²`, rounded up, where losses grow with the square of the distance: see [`ScaleSquared`]. For maps
    /// that were written down.
    fn quadratic(&self, by: &exact::Exact) -> Option<Self> {
        let _ = by;
        None
    }

    /// This loss times `times`, divided by `over`, and rounded up once, where losses are numbers. `None` if one of them is infinite,
    /// or `over` is zero. For maps that are written down, whose rate may be a third.
    ///
    /// ```
    /// use odometry::measures::{Epsilon, Loss};
    /// let third = Epsilon::new("3".parse()?).in_ratio(&"1".parse()?, &"3".parse()?);
    /// assert_eq!(third, Some("1".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn in_ratio(&self, times: &exact::Exact, over: &exact::Exact) -> Option<Self> {
        let (_, _) = (times, over);
        None
    }
}

/// A way to measure privacy loss (\[HST+23\] Def 2.1). A measure is a value, because it may have parameters: an order,
/// a set of orders.
///
/// ```
/// use odometry::measures::{ApproxDp, Loss, Measure, PureDp};
/// assert!(PureDp.zero().at_most(&"0.1".parse()?));
/// assert!(ApproxDp.check(&"(1, 1e-6)".parse()?).is_ok());
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
pub trait Measure: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The losses of this measure.
    type Loss: Loss;

    /// The least loss: the answers do not depend on the data at all.
    fn zero(&self) -> Self::Loss;

    /// The greatest loss: no guarantee.
    fn infinity(&self) -> Self::Loss;

    /// Whether this is a loss of this measure, with its parameters. What a privacy map returns is checked with this.
    ///
    /// The default accepts everything: right where the loss type cannot hold a senseless value.
    fn check(&self, loss: &Self::Loss) -> Result<(), LossError> {
        let _ = loss;
        Ok(())
    }

    /// What it is written down as, with its parameters: the same for ever. Without it (the default), sessions on a ledger
    /// refuse the measure.
    fn name(&self) -> Option<crate::Name> {
        None
    }

    /// What group privacy makes of this loss for `n` steps, rounded up, if the measure has [such a rule](crate::GroupPrivacy): for
    /// maps that were written down.
    fn grouped(&self, one: &Self::Loss, n: u32) -> Option<Self::Loss> {
        let _ = (one, n);
        None
    }

    /// Two losses together, if losses [add up](crate::Additive) in this measure: for maps that were written down.
    fn added(&self, one: &Self::Loss, other: &Self::Loss) -> Option<Self::Loss> {
        let _ = (one, other);
        None
    }
}

/// A loss in proportion to the distance, for [linear maps](crate::PrivacyMap::linear). Only for measures in which that is
/// the rule for groups: of this crate's losses, [`Epsilon`](crate::Epsilon) and [`Mu`](crate::Mu).
#[diagnostic::on_unimplemented(
    message = "a loss `{Self}` does not grow in proportion to the distance",
    note = "for zCDP and Rényi losses use `PrivacyMap::quadratic`, otherwise `PrivacyMap::new` or `PrivacyMap::group`"
)]
pub trait Scale: Loss {
    /// This loss times `by`, rounded up.
    fn scaled(&self, by: &exact::Exact) -> Self;
}

/// A loss in proportion to the square of the distance, for [quadratic maps](crate::PrivacyMap::quadratic).
#[diagnostic::on_unimplemented(
    message = "a loss `{Self}` does not grow in proportion to the square of the distance",
    note = "for pure and Gaussian losses use `PrivacyMap::linear`, otherwise `PrivacyMap::new` or `PrivacyMap::group`"
)]
pub trait ScaleSquared: Loss {
    /// This loss times `by²`, rounded up.
    fn scaled_squared(&self, by: &exact::Exact) -> Self;
}
