//! Approximate privacy as f-DP and as a profile: a pair (ε, δ) is a tangent of the trade-off function, of slope `−e^ε`
//! and height `1−δ`, and its mirror image (\[DRS19\] Prop 2.5 and 2.12).

use crate::convert::conversion;
use crate::{ApproxDp, Profile, ProfileDp, Tradeoff, TradeoffDp};

/// Approximate privacy to f-DP: see [`Tradeoff::from_approx`]. The two are equivalent; rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApproxToTradeoff;

conversion! {
    ApproxToTradeoff, ApproxDp => TradeoffDp,
    |this| (ApproxDp, TradeoffDp),
    "approximate-to-trade-off",
    |loss| Ok(Tradeoff::from_approx(loss))
}

/// Approximate privacy to a profile with one claim. The two are equivalent; rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApproxToProfile;

conversion! {
    ApproxToProfile, ApproxDp => ProfileDp,
    |this| (ApproxDp, ProfileDp),
    "approximate-to-profile",
    |loss| Ok(Profile::new([loss.clone()]))
}
