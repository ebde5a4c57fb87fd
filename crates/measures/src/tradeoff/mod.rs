//! f-DP: trade-off functions as losses. A trade-off function says, for every probability `x` of a false alarm, the
//! least probability of a miss with which any test can tell the two views apart; larger is more private.
//!
//! Here they are piecewise linear with exact corners, so that two of them compare exactly. Functions that are not
//! piecewise linear, such as the Gaussian ones, enter as lower bounds, which is the weaker and thus safe claim.

mod conversions;
mod gaussian;
pub(crate) mod hull;

pub use conversions::{TradeoffToApprox, TradeoffToProfile, tradeoff_to_profile};
pub use gaussian::{TradeoffToGaussian, tradeoff_to_gaussian, tradeoff_to_gaussian_beyond};

use std::fmt;
use std::sync::Arc;

use dashu_ratio::RBig;
use exact::{Exact, Round};
use serde::{Deserialize, Serialize};

use self::hull::{Corner, Line, envelope, hull_of, nowhere_below, rounded_down, value_at};
use crate::loss::corners;
use crate::loss::scalar::down;
use crate::{EpsilonDelta, Loss, LossError, Measure};
use exact::interval::exp;

/// A trade-off function: convex, falling, at most `1 − x`, piecewise linear. As a loss, `f ⪯ g` iff `f ≥ g` everywhere.
///
/// ```
/// use odometry::measures::{Loss, Tradeoff};
/// let one = Tradeoff::from_approx(&"(1, 0)".parse()?);
/// let two = Tradeoff::from_approx(&"(2, 0)".parse()?);
/// assert!(one.at_most(&two) && !two.at_most(&one));
/// let leaky = Tradeoff::from_approx(&"(0, 0.3)".parse()?);
/// assert!(!one.at_most(&leaky) && !leaky.at_most(&one));
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(Exact, Exact)>", into = "Vec<(Exact, Exact)>")]
pub struct Tradeoff {
    /// From `x = 0` to the first zero; canonical, so that equal functions are equal lists.
    corners: Arc<[Corner]>,
}

impl Tradeoff {
    /// The function with these corners `(x, y)`: the first at `x = 0`, the last at `y = 0`, falling and convex in
    /// between, nowhere above `1 − x`.
    ///
    /// ```
    /// use odometry::measures::Tradeoff;
    /// let corners = ["0", "0.25", "1"].map(|x| x.parse().unwrap());
    /// let heights = ["1", "0.25", "0"].map(|y| y.parse().unwrap());
    /// assert!(Tradeoff::new(corners.into_iter().zip(heights)).is_ok());
    /// assert!(Tradeoff::new([("0.5".parse()?, "0.75".parse()?)]).is_err());
    /// # Ok::<(), odometry::exact::ExactError>(())
    /// ```
    pub fn new(corners: impl IntoIterator<Item = (Exact, Exact)>) -> Result<Self, LossError> {
        let mut given = Vec::new();
        for (x, y) in corners {
            match (x.to_rational(), y.to_rational()) {
                (Some(x_value), Some(y_value)) if &x_value + &y_value <= RBig::ONE => {
                    given.push(Corner::new(x_value, y_value));
                }
                _ => return Err(senseless(&x, &y, "it is above 1 − x")),
            }
        }
        let spans = given.first().is_some_and(|first| first.x == RBig::ZERO)
            && given.last().is_some_and(|last| last.y == RBig::ZERO)
            && given.windows(2).all(|pair| pair[0].x < pair[1].x);
        if !spans {
            let text = format!("{} corners", given.len());
            return Err(LossError::Tradeoff {
                corner: text,
                reason: "they must go from x = 0 to y = 0, x rising".into(),
            });
        }
        let hull = hull_of(given.clone());
        for corner in &given {
            if value_at(&hull, &corner.x).is_none_or(|y| y != corner.y) {
                let (x, y) = (report(&corner.x), report(&corner.y));
                return Err(senseless(&x, &y, "it breaks convexity"));
            }
        }
        Ok(Tradeoff {
            corners: hull.into(),
        })
    }

    /// `f_{ε,δ}(x) = max(0, 1−δ−e^ε x, e^−ε(1−δ−x))` (\[HST+23\] §3; \[DRS19\] Prop 2.5), its middle corner rounded
    /// down: a mechanism is (ε, δ)-private iff it is `f_{ε,δ}`-private.
    pub fn from_approx(loss: &EpsilonDelta) -> Tradeoff {
        let kept = Exact::ONE.saturating_sub(loss.delta());
        let sides = Exact::ONE + exp(loss.epsilon(), Round::Up);
        let middle = kept.div(&sides, Round::Down);
        let points = [
            (Exact::ZERO, kept.clone()),
            (middle.clone(), middle),
            (kept, Exact::ZERO),
        ];
        let corner = |(x, y): (Exact, Exact)| Some(Corner::new(x.to_rational()?, y.to_rational()?));
        Tradeoff {
            corners: hull_of(points.into_iter().filter_map(corner).collect()).into(),
        }
    }

    /// The greatest function representable here that is at or below all of these lines' maximum, rounded down.
    pub(crate) fn above_lines(lines: Vec<Line>) -> Tradeoff {
        Tradeoff::below(&envelope(lines))
    }

    /// The curve with these corners, rounded down: each corner moves down and to the left, and the convex hull of the
    /// moved corners is at or below the curve.
    pub(crate) fn below(corners: &[Corner]) -> Tradeoff {
        let corners = corners.iter().map(rounded_down).collect();
        Tradeoff {
            corners: hull_of(corners).into(),
        }
    }

    /// The value at `x`, rounded as stated. Zero for `x` past 1.
    pub fn at(&self, x: &Exact, round: Round) -> Exact {
        let value = x.to_rational().and_then(|x| value_at(&self.corners, &x));
        let value = value.map(|y| Exact::from_rational(&y, round).unwrap_or(Exact::ZERO));
        value.unwrap_or(Exact::ZERO)
    }

    /// The least δ that has to be split off: the probability with which everything may be told, in the worse order. Exact.
    pub fn leak(&self) -> Exact {
        let ends = [
            self.corners.first().map(|first| &first.y),
            self.corners.last().map(|last| &last.x),
        ];
        let leaks = ends.into_iter().flatten().map(report);
        let leaks = leaks.map(|end| Exact::ONE.saturating_sub(&end));
        leaks.fold(Exact::ZERO, Exact::max)
    }

    /// The corners, from `x = 0` to the first zero.
    pub fn corners(&self) -> impl Iterator<Item = (Exact, Exact)> + '_ {
        self.corners
            .iter()
            .map(|corner| (report(&corner.x), report(&corner.y)))
    }

    /// The function as text, with its numbers shown like this.
    fn text(&self, shown: impl Fn(&Exact) -> String) -> String {
        let corner = |(x, y)| format!(" ({}, {})", shown(&x), shown(&y));
        let corners: String = self.corners().map(corner).collect();
        format!("trade-off through{corners}")
    }

    pub(crate) fn as_slice(&self) -> &[Corner] {
        &self.corners
    }
}

/// Corners are made of exact numbers, so nothing is rounded.
fn report(value: &RBig) -> Exact {
    Exact::from_rational(value, Round::Down).unwrap_or(Exact::ZERO)
}

fn senseless(x: &Exact, y: &Exact, reason: &str) -> LossError {
    LossError::Tradeoff {
        corner: format!("({x}, {y})"),
        reason: reason.into(),
    }
}

impl Loss for Tradeoff {
    fn at_most(&self, other: &Self) -> bool {
        nowhere_below(&self.corners, &other.corners, &RBig::ZERO)
    }

    // A larger function is a smaller loss.
    fn shown_down(&self) -> String {
        self.text(Exact::to_string)
    }

    /// Its corners `(x, f(x))`.
    fn written(&self) -> Option<String> {
        Some(corners::written(self.corners()))
    }

    fn read(text: &str) -> Option<Self> {
        let read = Tradeoff::new(corners::read(text)?).ok()?;
        (read.written().as_deref() == Some(text)).then_some(read)
    }
}

impl fmt::Display for Tradeoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(down))
    }
}

impl TryFrom<Vec<(Exact, Exact)>> for Tradeoff {
    type Error = LossError;

    fn try_from(corners: Vec<(Exact, Exact)>) -> Result<Self, LossError> {
        Tradeoff::new(corners)
    }
}

impl From<Tradeoff> for Vec<(Exact, Exact)> {
    fn from(loss: Tradeoff) -> Self {
        loss.corners().collect()
    }
}

/// f-differential privacy (\[DRS19\]): between neighbours, in either order, no test beats the trade-off
/// function. It has no rule for adaptively chosen losses: natural filters are not free (\[RHL+26\]).
///
/// ```
/// use odometry::measures::{Loss, Measure, Tradeoff, TradeoffDp};
/// let some = Tradeoff::from_approx(&"(1, 1e-6)".parse()?);
/// assert!(TradeoffDp.zero().at_most(&some) && some.at_most(&TradeoffDp.infinity()));
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TradeoffDp;

impl Measure for TradeoffDp {
    type Loss = Tradeoff;

    fn zero(&self) -> Tradeoff {
        Tradeoff::from_approx(&EpsilonDelta::ZERO)
    }

    fn infinity(&self) -> Tradeoff {
        Tradeoff::from_approx(&EpsilonDelta::INFINITY)
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("trade-off"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    fn function(corners: &[(&str, &str)]) -> Result<Tradeoff, LossError> {
        Tradeoff::new(corners.iter().map(|(x, y)| (exact(x), exact(y))))
    }

    #[test]
    fn equal_functions_are_equal_values() {
        let plain = function(&[("0", "1"), ("1", "0")]).unwrap();
        let bent = function(&[("0", "1"), ("0.3", "0.7"), ("1", "0")]).unwrap();
        assert_eq!(plain, bent);
        assert_eq!(plain, TradeoffDp.zero());
        let long = function(&[("0", "0.5"), ("0.5", "0"), ("1", "0")]).unwrap();
        assert_eq!(long, Tradeoff::from_approx(&"(0, 0.5)".parse().unwrap()));
    }

    #[test]
    fn senseless_functions_are_refused() {
        assert!(function(&[]).is_err());
        assert!(function(&[("0", "1")]).is_err());
        assert!(function(&[("0.1", "0.5"), ("1", "0")]).is_err());
        assert!(function(&[("0", "1"), ("0.5", "0.6"), ("1", "0")]).is_err());
        assert!(function(&[("0", "0.5"), ("0.3", "0.4"), ("0.6", "0")]).is_err());
        assert!(function(&[("0", "0.4"), ("0.3", "0.45"), ("0.5", "0")]).is_err());
        assert!(function(&[("0", "inf"), ("1", "0")]).is_err());
    }

    #[test]
    fn randomized_response_from_below() {
        let loss = Tradeoff::from_approx(&"(1, 0.1)".parse().unwrap());
        let middle = 0.9 / (1.0 + 1f64.exp());
        let found = loss
            .at(&Exact::try_from(middle).unwrap(), Round::Up)
            .to_f64(Round::Up);
        assert!(found <= middle * (1.0 + 1e-14) && found >= middle * (1.0 - 1e-14));
        assert_eq!(loss.at(&Exact::ZERO, Round::Up), exact("0.9"));
        assert_eq!(loss.at(&exact("0.95"), Round::Up), Exact::ZERO);
        assert_eq!(loss.at(&Exact::INFINITY, Round::Up), Exact::ZERO);
    }

    #[test]
    fn comparison_is_pointwise_and_partial() {
        let parse = |text: &str| Tradeoff::from_approx(&text.parse().unwrap());
        assert!(parse("(1, 0)").at_most(&parse("(1, 0.1)")));
        assert!(!parse("(1, 0.1)").at_most(&parse("(1, 0)")));
        assert!(!parse("(1, 0)").at_most(&parse("(0.5, 0.1)")));
        assert!(!parse("(0.5, 0.1)").at_most(&parse("(1, 0)")));
        // RR_0.2 has a total variation of 0.0997: it is (0, 0.1)-private.
        assert!(parse("(0.2, 0)").at_most(&parse("(0, 0.1)")));
    }

    #[test]
    fn text_round_trip() {
        let loss = Tradeoff::from_approx(&"(0.7, 1e-6)".parse().unwrap());
        let text = serde_json::to_string(&loss).unwrap();
        assert_eq!(serde_json::from_str::<Tradeoff>(&text).unwrap(), loss);
        assert!(serde_json::from_str::<Tradeoff>(r#"[["0","2"],["1","0"]]"#).is_err());
        assert!(
            loss.to_string()
                .starts_with("trade-off through (0, 0.999999)")
        );
    }
}
