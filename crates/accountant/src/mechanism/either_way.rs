//! One pair for both directions: the pointwise maximum of both profiles over all real ε, above which a piecewise linear
//! profile is laid.

use dashu_ratio::RBig;

use super::curve::{BITS, Curve, corners, height_at, sorted};
use super::{Mechanism, Side, pairs};
use crate::AccountantError;
use crate::directed::{interval, rational};

impl Mechanism {
    /// The same mechanism, dominated by one pair in both directions: for where an addition upstream may arrive here as a
    /// removal. Composing the directions apart is not valid there: of P = (0.1, 0.9), Q = (0, 1) and its mirror, each
    /// direction alone has δ = 0.1, and the two together 0.19.
    ///
    /// Symmetric mechanisms stay as they are. Sampled noise keeps its profile up to about a relative `1e-3` of the loss's variance;
    /// losses of a probability below `1e-40` count as infinite.
    ///
    /// ```
    /// use odometry::accountant::{Accountant, Mechanism};
    /// let weights = [("1", "0"), ("9", "1")].map(|(p, q)| (p.parse().unwrap(), q.parse().unwrap()));
    /// let leaky = Mechanism::finite(&weights)?.either_way()?;
    /// let delta = Accountant::new().add(leaky, 2).delta("0")?;
    /// assert!(delta >= "0.19".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// For a mixture with noise on the integers that is too wide to be summed (σ above 1000): mix what this gives for the
    /// parts.
    pub fn either_way(self) -> Result<Mechanism, AccountantError> {
        let Some(backward) = &self.backward else {
            return Ok(self);
        };
        let curve = larger(&self.forward, backward).ok_or_else(|| {
            AccountantError::parameter(
                "mechanism",
                &"a mixture",
                "mixed of parts after `either_way`",
            )
        })?;
        Ok(Mechanism::symmetric(pairs::of_curve(curve)))
    }
}

/// Points of the larger of both profiles, rounded up.
fn larger(a: &Side, b: &Side) -> Option<Vec<(RBig, RBig)>> {
    let odds = sorted(corners(a)?.into_iter().chain(corners(b)?).collect());
    let (a, b) = (Curve::of(a)?, Curve::of(b)?);
    let point = |odds: f64| {
        let gamma = interval(odds, BITS);
        let height = a.at(&gamma)?.hi.max(b.at(&gamma)?.hi);
        Some((rational(odds), height_at(odds, height)))
    };
    odds.into_iter().map(point).collect()
}
