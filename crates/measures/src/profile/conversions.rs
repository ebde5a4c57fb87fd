//! Profiles to approximate privacy and to f-DP: a profile lists the tangents of a trade-off function (\[DRS19\]
//! Prop 2.5 and 2.12).

use dashu_ratio::RBig;
use exact::{Exact, Parameter};

use crate::convert::{check_delta_or_zero, conversion};
use crate::tradeoff::hull::{Corner, Line};
use crate::{ApproxDp, EpsilonDelta, Profile, ProfileDp, RuleError, Tradeoff, TradeoffDp};

/// The trade-off function of a profile: the greatest of all its tangents. Rounded down.
///
/// ```
/// use odometry::measures::convert::profile_to_tradeoff;
/// use odometry::measures::{Loss, Profile, Tradeoff};
/// let loss = "(1, 1e-6)".parse()?;
/// let by_profile = profile_to_tradeoff(&Profile::new([loss]));
/// assert!(Tradeoff::from_approx(&"(0.999999, 1e-6)".parse()?).at_most(&by_profile));
/// assert!(by_profile.at_most(&Tradeoff::from_approx(&"(1.000001, 1e-6)".parse()?)));
/// # Ok::<(), odometry::measures::LossError>(())
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

/// A profile to (ε, δ) at a δ fixed in advance. Rounded up. For δ = 0 the answer is finite only where the profile comes
/// down to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileToApprox {
    delta: Exact,
}

impl ProfileToApprox {
    /// At this δ, at least 0 and below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(ProfileToApprox {
            delta: check_delta_or_zero(delta)?,
        })
    }
}

conversion! {
    ProfileToApprox, ProfileDp => ApproxDp,
    |this| (ProfileDp, ApproxDp),
    "profile-to-approximate", "delta" = this.delta.text(),
    |loss| Ok(at_delta(loss, &this.delta))
}

pub(crate) fn at_delta(profile: &Profile, delta: &Exact) -> EpsilonDelta {
    EpsilonDelta::saturating(profile.epsilon_at(delta), delta.clone())
}

/// A profile to f-DP: see [`profile_to_tradeoff`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileToTradeoff;

conversion! {
    ProfileToTradeoff, ProfileDp => TradeoffDp,
    |this| (ProfileDp, TradeoffDp),
    "profile-to-trade-off",
    |loss| Ok(profile_to_tradeoff(loss))
}
