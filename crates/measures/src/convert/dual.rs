//! Approximate privacy, f-DP and privacy profiles: three views of one thing. A pair (ε, δ) is a tangent of the trade-off
//! function, of slope `−e^ε` and height `1−δ`, and its mirror image; the profile lists all tangents. Sources:
//! Dong–Roth–Su 2019, Prop 2.5 and 2.12.

use dashu_ratio::RBig;
use exact::{Exact, Round};

use super::{check_delta_or_zero, conversion};
use crate::hull::{Corner, Line};
use crate::{ApproxDp, EpsilonDelta, Profile, ProfileDp, RuleError, Tradeoff, TradeoffDp};

/// The trade-off function of a profile: the greatest of all its tangents. Rounded down.
///
/// ```
/// use measures::convert::profile_to_tradeoff;
/// use measures::{Loss, Profile, Tradeoff};
/// let loss = "(1, 1e-6)".parse()?;
/// let by_profile = profile_to_tradeoff(&Profile::new([loss]));
/// assert!(Tradeoff::from_approx(&"(0.999999, 1e-6)".parse()?).at_most(&by_profile));
/// assert!(by_profile.at_most(&Tradeoff::from_approx(&"(1.000001, 1e-6)".parse()?)));
/// # Ok::<(), measures::LossError>(())
/// ```
pub fn profile_to_tradeoff(profile: &Profile) -> Tradeoff {
    let tangents = |corner: &Corner| {
        let kept = RBig::ONE - &corner.y;
        let steep = Line {
            slope: corner.x.clone(),
            height: kept.clone(),
        };
        let flat = Line {
            slope: RBig::ONE / &corner.x,
            height: kept / &corner.x,
        };
        [steep, flat]
    };
    Tradeoff::above_lines(
        profile
            .as_slice()
            .iter()
            .skip(1)
            .flat_map(tangents)
            .collect(),
    )
}

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

/// Approximate privacy to f-DP: see [`Tradeoff::from_approx`]. The two are equivalent; rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApproxToTradeoff;

conversion! {
    ApproxToTradeoff, ApproxDp => TradeoffDp,
    |this| (ApproxDp, TradeoffDp),
    |loss| Ok(Tradeoff::from_approx(loss))
}

/// Approximate privacy to a profile with one claim. The two are equivalent; rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApproxToProfile;

conversion! {
    ApproxToProfile, ApproxDp => ProfileDp,
    |this| (ApproxDp, ProfileDp),
    |loss| Ok(Profile::new([loss.clone()]))
}

/// f-DP to (ε, δ) at a δ fixed in advance: the tangent of height `1−δ`. Rounded up. For δ = 0 the answer is finite only
/// where the function starts at 1 with a finite slope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeoffToApprox {
    delta: Exact,
}

impl TradeoffToApprox {
    /// At this δ, at least 0 and below 1.
    pub fn new(delta: Exact) -> Result<Self, RuleError> {
        Ok(TradeoffToApprox {
            delta: check_delta_or_zero(delta)?,
        })
    }
}

conversion! {
    TradeoffToApprox, TradeoffDp => ApproxDp,
    |this| (TradeoffDp, ApproxDp),
    |loss| Ok(of_profile(&tradeoff_to_profile(loss), &this.delta))
}

/// A profile to (ε, δ) at a δ fixed in advance. Rounded up. For δ = 0 the answer is finite only where the profile comes
/// down to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileToApprox {
    delta: Exact,
}

impl ProfileToApprox {
    /// At this δ, at least 0 and below 1.
    pub fn new(delta: Exact) -> Result<Self, RuleError> {
        Ok(ProfileToApprox {
            delta: check_delta_or_zero(delta)?,
        })
    }
}

conversion! {
    ProfileToApprox, ProfileDp => ApproxDp,
    |this| (ProfileDp, ApproxDp),
    |loss| Ok(of_profile(loss, &this.delta))
}

fn of_profile(profile: &Profile, delta: &Exact) -> EpsilonDelta {
    EpsilonDelta::saturating(profile.epsilon_at(delta), delta.clone())
}

/// f-DP to a profile: see [`tradeoff_to_profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TradeoffToProfile;

conversion! {
    TradeoffToProfile, TradeoffDp => ProfileDp,
    |this| (TradeoffDp, ProfileDp),
    |loss| Ok(tradeoff_to_profile(loss))
}

/// A profile to f-DP: see [`profile_to_tradeoff`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileToTradeoff;

conversion! {
    ProfileToTradeoff, ProfileDp => TradeoffDp,
    |this| (ProfileDp, TradeoffDp),
    |loss| Ok(profile_to_tradeoff(loss))
}
