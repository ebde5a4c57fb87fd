//! f-DP to approximate privacy and to profiles: the profile lists all tangents of the trade-off function (\[DRS19\]
//! Prop 2.5 and 2.12).

use dashu_ratio::RBig;
use exact::{Exact, Parameter, Round};

use super::hull::{Corner, Line};
use crate::convert::{check_delta_or_zero, conversion};
use crate::profile::at_delta;
use crate::{ApproxDp, Profile, ProfileDp, RuleError, Tradeoff, TradeoffDp};

/// The profile of a trade-off function: `δ(ε) = max over x of 1 − f(x) − e^ε x`. Rounded up.
pub fn tradeoff_to_profile(function: &Tradeoff) -> Profile {
    let corners = function.as_slice();
    let slopes = corners
        .windows(2)
        .map(|pair| Line::through(&pair[0], &pair[1]).slope);
    let steep = slopes.filter(|slope| *slope > RBig::ONE).chain([RBig::ONE]);
    Profile::of_odds(steep.map(|slope| {
        let odds = Exact::from_rational(&slope, Round::Up).unwrap_or(Exact::INFINITY);
        let delta = odds
            .to_rational()
            .map_or(RBig::ONE, |odds| distance(corners, &odds));
        (
            odds,
            Exact::from_rational(&delta, Round::Up).unwrap_or(Exact::ZERO),
        )
    }))
}

/// `max over corners of 1 − y − odds·x`, at least zero because of the last corner.
fn distance(corners: &[Corner], odds: &RBig) -> RBig {
    let gaps = corners
        .iter()
        .map(|corner| RBig::ONE - &corner.y - odds * &corner.x);
    gaps.fold(RBig::ZERO, |most, gap| if gap > most { gap } else { most })
}

/// f-DP to (ε, δ) at a δ fixed in advance: the tangent of height `1−δ`. Rounded up. For δ = 0 the answer is finite only
/// where the function starts at 1 with a finite slope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeoffToApprox {
    delta: Exact,
}

impl TradeoffToApprox {
    /// At this δ, at least 0 and below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(TradeoffToApprox {
            delta: check_delta_or_zero(delta)?,
        })
    }
}

conversion! {
    TradeoffToApprox, TradeoffDp => ApproxDp,
    |this| (TradeoffDp, ApproxDp),
    "trade-off-to-approximate", "delta" = this.delta.text(),
    |loss| Ok(at_delta(&tradeoff_to_profile(loss), &this.delta))
}

/// f-DP to a profile: see [`tradeoff_to_profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TradeoffToProfile;

conversion! {
    TradeoffToProfile, TradeoffDp => ProfileDp,
    |this| (TradeoffDp, ProfileDp),
    "trade-off-to-profile",
    |loss| Ok(tradeoff_to_profile(loss))
}
