//! Privacy profiles as losses: a curve δ(ε) such that the mechanism is (ε, δ(ε))-private for every ε.
//!
//! A profile is kept by its corners in `(e^ε, δ)`, where it is convex; with rational corners two profiles compare
//! exactly. Profiles and trade-off functions are duals of each other.

mod conversions;

pub(crate) use conversions::at_delta;
pub use conversions::{ProfileToApprox, ProfileToTradeoff, profile_to_tradeoff};

use std::fmt;
use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use serde::{Deserialize, Serialize};

use crate::loss::corners;
use crate::loss::scalar::down;
use crate::tradeoff::hull::{Corner, hull_of, nowhere_below, value_at};
use crate::{EpsilonDelta, Loss, LossError, Measure};
use exact::interval::{exp, ln_up};

/// A privacy profile: the least curve, convex in `e^ε`, that some claims of (ε, δ)-privacy imply together. As a loss,
/// smaller is below everywhere.
///
/// ```
/// use odometry::measures::{Loss, Profile};
/// let both = Profile::new(["(0.5, 0.1)".parse()?, "(1, 1e-6)".parse()?]);
/// let one = Profile::new(["(1, 1e-6)".parse()?]);
/// assert!(both.at_most(&one) && !one.at_most(&both));
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(Exact, Exact)>", into = "Vec<(Exact, Exact)>")]
pub struct Profile {
    /// From `(−1, 1)` on, and flat after the last. Two laws and their exchange give a curve that, continued to the
    /// left, is 1 at −1: that is how (ε, δ) bounds the total variation.
    corners: Arc<[Corner]>,
}

impl Profile {
    /// The profile that all of these claims imply together; each `e^ε` is rounded up. No claims: no guarantee.
    pub fn new(claims: impl IntoIterator<Item = EpsilonDelta>) -> Profile {
        let odds = |claim: EpsilonDelta| (exp(claim.epsilon(), Round::Up), claim.delta().clone());
        let finite = claims.into_iter().filter(|claim| !claim.is_infinite());
        Profile::of_odds(finite.map(odds))
    }

    /// The same, with each claim as `(e^ε, δ)`: `P(S) ≤ odds·Q(S) + δ`. Exact. Claims with odds below 1 count as 1 and δ
    /// above 1 as 1, which claims less.
    pub fn of_odds(claims: impl IntoIterator<Item = (Exact, Exact)>) -> Profile {
        let corner = |(odds, delta): (Exact, Exact)| {
            let odds = odds.max(Exact::ONE).to_rational()?;
            Some(Corner::new(odds, delta.min(Exact::ONE).to_rational()?))
        };
        let certain = Corner::new(RBig::from(IBig::from(-1)), RBig::ONE);
        let corners = claims
            .into_iter()
            .filter_map(corner)
            .chain([certain])
            .collect();
        Profile {
            corners: hull_of(corners).into(),
        }
    }

    /// δ at this ε, rounded up.
    pub fn delta_at(&self, epsilon: &Exact) -> Exact {
        let odds = exp(epsilon, Round::Down).to_rational();
        let delta = match odds {
            Some(odds) => value_at(&self.corners, &odds),
            None => self.corners.last().map(|last| last.y.clone()),
        };
        delta.map_or(Exact::ONE, |delta| round_up(&delta))
    }

    /// The least ε at this δ, rounded up; infinity if there is none.
    pub fn epsilon_at(&self, delta: &Exact) -> Exact {
        let Some(delta) = delta.to_rational() else {
            return Exact::ZERO;
        };
        let Some(after) = self.corners.iter().position(|corner| corner.y <= delta) else {
            return Exact::INFINITY;
        };
        let right = &self.corners[after];
        let odds = match after.checked_sub(1).map(|before| &self.corners[before]) {
            Some(left) => {
                let share = (&left.y - &delta) / (&left.y - &right.y);
                &left.x + (&right.x - &left.x) * share
            }
            None => right.x.clone(),
        };
        ln_up(&round_up(&odds))
    }

    /// The corners as `(e^ε, δ)`, without the fixed one.
    pub fn corners(&self) -> impl Iterator<Item = (Exact, Exact)> + '_ {
        self.corners
            .iter()
            .skip(1)
            .map(|corner| (round_up(&corner.x), round_up(&corner.y)))
    }

    /// The profile as text, with its numbers shown like this.
    fn text(&self, shown: impl Fn(&Exact) -> String) -> String {
        let corner = |(odds, delta)| format!(" (ln {}, {})", shown(&odds), shown(&delta));
        let corners: String = self.corners().map(corner).collect();
        format!("profile through{corners}")
    }

    pub(crate) fn as_slice(&self) -> &[Corner] {
        &self.corners
    }
}

fn round_up(value: &RBig) -> Exact {
    Exact::from_rational(value, Round::Up).unwrap_or(Exact::ZERO)
}

impl Loss for Profile {
    fn at_most(&self, other: &Self) -> bool {
        nowhere_below(&other.corners, &self.corners, &RBig::ONE)
    }

    fn shown_down(&self) -> String {
        self.text(down)
    }

    /// Its corners `(e^ε, δ)`.
    fn written(&self) -> Option<String> {
        Some(corners::written(self.corners()))
    }

    fn read(text: &str) -> Option<Self> {
        let read = Profile::try_from(corners::read(text)?).ok()?;
        (read.written().as_deref() == Some(text)).then_some(read)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Exact::to_string))
    }
}

impl TryFrom<Vec<(Exact, Exact)>> for Profile {
    type Error = LossError;

    fn try_from(claims: Vec<(Exact, Exact)>) -> Result<Self, LossError> {
        if let Some((_, delta)) = claims.iter().find(|(_, delta)| *delta > Exact::ONE) {
            return Err(LossError::Delta {
                delta: delta.to_string(),
            });
        }
        Ok(Profile::of_odds(claims))
    }
}

impl From<Profile> for Vec<(Exact, Exact)> {
    fn from(profile: Profile) -> Self {
        profile.corners().collect()
    }
}

/// Privacy measured by the whole profile δ(ε), ε ≥ 0 (\[BBG18\]), between neighbours in either order.
/// It has no rule for adaptively chosen losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProfileDp;

impl Measure for ProfileDp {
    type Loss = Profile;

    fn zero(&self) -> Profile {
        Profile::new([EpsilonDelta::ZERO])
    }

    fn infinity(&self) -> Profile {
        Profile::new([])
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("profile"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    fn profile(claims: &[&str]) -> Profile {
        Profile::new(claims.iter().map(|claim| claim.parse().unwrap()))
    }

    fn assert_just_above(found: &Exact, expected: f64) {
        let found = found.to_f64(Round::Up);
        assert!(
            found >= expected * (1.0 - 1e-14) && found <= expected * (1.0 + 1e-13),
            "{found} {expected}"
        );
    }

    #[test]
    fn reads_back_its_claims() {
        let both = profile(&["(0.5, 0.1)", "(1, 1e-6)"]);
        assert_just_above(&both.epsilon_at(&exact("0.1")), 0.5);
        assert_just_above(&both.epsilon_at(&exact("1e-6")), 1.0);
        assert_just_above(&both.delta_at(&exact("1")), 1e-6);
        assert_eq!(both.delta_at(&Exact::INFINITY), exact("1e-6"));
        assert_eq!(both.epsilon_at(&exact("1e-7")), Exact::INFINITY);
        assert_eq!(both.epsilon_at(&Exact::ONE), Exact::ZERO);
    }

    #[test]
    fn total_variation_of_randomized_response() {
        let response = profile(&["(1, 0)"]);
        assert_just_above(&response.delta_at(&Exact::ZERO), 0.5f64.tanh());
    }

    #[test]
    fn order_zero_and_infinity() {
        let (zero, infinity) = (ProfileDp.zero(), ProfileDp.infinity());
        let some = profile(&["(1, 0.01)"]);
        assert!(zero.at_most(&some) && some.at_most(&infinity));
        assert!(!infinity.at_most(&some) && !some.at_most(&zero));
        assert_eq!(infinity.delta_at(&exact("5")), Exact::ONE);
        assert_eq!(zero.delta_at(&Exact::ZERO), Exact::ZERO);
        let other = profile(&["(2, 0)"]);
        assert!(!some.at_most(&other) && !other.at_most(&some));
    }

    #[test]
    fn text_round_trip() {
        for loss in [
            profile(&["(0.5, 0.1)", "(1, 1e-6)"]),
            ProfileDp.infinity(),
            ProfileDp.zero(),
        ] {
            let text = serde_json::to_string(&loss).unwrap();
            assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), loss);
        }
        assert!(serde_json::from_str::<Profile>(r#"[["1","2"]]"#).is_err());
    }
}
