//! Gaussian privacy except with probability δ.

use exact::{Exact, Parameter, Round};

use super::{Mu, conversions::gaussian_epsilon};
use crate::convert::{check_delta, check_delta_or_zero, conversion};
use crate::loss::pair::delta_loss;
use crate::pure::pure_to_gaussian;
use crate::tradeoff::tradeoff_to_gaussian_beyond;
use crate::{
    ApproxDp, ConvertsTotals, Epsilon, EpsilonDelta, GaussianDp, Measure, RuleError, TradeoffDp,
};

delta_loss! {
    /// An approximate Gaussian loss `(μ, δ)`, compared coordinate-wise: with probability δ everything may be told, and otherwise no
    /// more than what tells `N(0, 1)` from `N(μ, 1)`.
    MuDelta, mu, "MuDelta::new"
}

impl From<Mu> for MuDelta {
    fn from(mu: Mu) -> Self {
        MuDelta::saturating(mu.value().clone(), Exact::ZERO)
    }
}

/// Gaussian privacy except with probability δ: f-DP with the trade-off function `f_{0,δ} ⊗ G_μ`, which is `(1−δ)·G_μ(x/(1−δ))` up to
/// `x = 1−δ` and zero from there on (\[DRS19\]).
///
/// By Blackwell's theorem it is the same to say that the views come from a pair that tells the input with probability δ, and is a
/// Gaussian pair otherwise. Losses compose by [`ApproxGaussianComposition`](crate::adaptive::ApproxGaussianComposition).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxGaussianDp;

impl Measure for ApproxGaussianDp {
    type Loss = MuDelta;

    fn zero(&self) -> MuDelta {
        MuDelta::ZERO
    }

    fn infinity(&self) -> MuDelta {
        MuDelta::INFINITY
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("approximate-gaussian"))
    }
}

/// Gaussian privacy as approximate Gaussian privacy, with δ = 0. The two are equivalent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaussianToApproxGaussian;

conversion! {
    GaussianToApproxGaussian, GaussianDp => ApproxGaussianDp,
    |this| (GaussianDp, ApproxGaussianDp),
    "gaussian-to-approximate-gaussian",
    |loss| Ok(loss.clone().into())
}
impl ConvertsTotals for GaussianToApproxGaussian {}

/// (ε, δ) to approximate Gaussian privacy with the same δ: `f_{ε,δ} = f_{0,δ} ⊗ f_{ε,0}`, and [`pure_to_gaussian`] is the least μ for
/// the second. Rounded up.
///
/// ```
/// use odometry::measures::{Conversion, convert::ApproxToApproxGaussian};
/// let loss = ApproxToApproxGaussian.convert(&"(1, 1e-9)".parse()?)?;
/// assert!(*loss.mu() < "1.2321".parse()? && *loss.delta() == "1e-9".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApproxToApproxGaussian;

conversion! {
    ApproxToApproxGaussian, ApproxDp => ApproxGaussianDp,
    |this| (ApproxDp, ApproxGaussianDp),
    "approximate-to-approximate-gaussian",
    |loss| {
        let mu = pure_to_gaussian(&Epsilon::new(loss.epsilon().clone()));
        Ok(MuDelta::saturating(mu.into_value(), loss.delta().clone()))
    }
}

/// f-DP to approximate Gaussian privacy, with this δ, or with what the function gives away for certain
/// ([`Tradeoff::leak`](crate::Tradeoff::leak)) if that is more: see [`tradeoff_to_gaussian_beyond`]. Rounded up.
///
/// ```
/// use odometry::measures::{Conversion, Tradeoff, convert::TradeoffToApproxGaussian};
/// let leaky = Tradeoff::from_approx(&"(1, 1e-9)".parse()?);
/// let loss = TradeoffToApproxGaussian::new(0)?.convert(&leaky)?;
/// assert!(*loss.mu() < "1.2321".parse()? && *loss.delta() == "1e-9".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeoffToApproxGaussian {
    delta: Exact,
}

impl TradeoffToApproxGaussian {
    /// With this δ at least, below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(TradeoffToApproxGaussian {
            delta: check_delta_or_zero(delta)?,
        })
    }
}

conversion! {
    TradeoffToApproxGaussian, TradeoffDp => ApproxGaussianDp,
    |this| (TradeoffDp, ApproxGaussianDp),
    "trade-off-to-approximate-gaussian", "delta" = this.delta.text(),
    |loss| {
        let delta = loss.leak().max(this.delta.clone());
        let mu = tradeoff_to_gaussian_beyond(loss, &delta);
        Ok(MuDelta::saturating(mu.into_value(), delta))
    }
}

/// Approximate Gaussian privacy `(μ, δ₀)` to (ε, δ₀ + (1−δ₀)δ), at a δ fixed in advance: except with probability δ₀ the views are those
/// of a Gaussian pair, and there [`gaussian_epsilon`] applies. Rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproxGaussianToApprox {
    delta: Exact,
}

impl ApproxGaussianToApprox {
    /// At this δ, above 0 and below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(ApproxGaussianToApprox {
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    ApproxGaussianToApprox, ApproxGaussianDp => ApproxDp,
    |this| (ApproxGaussianDp, ApproxDp),
    "approximate-gaussian-to-approximate", "delta" = this.delta.text(),
    |loss| {
        if loss.mu().is_zero() {
            return Ok(EpsilonDelta::saturating(Exact::ZERO, loss.delta().clone()));
        }
        let epsilon = gaussian_epsilon(&Mu::new(loss.mu().clone()), &this.delta);
        let rest = Exact::ONE.saturating_sub(loss.delta()).mul(&this.delta, Round::Up);
        Ok(EpsilonDelta::saturating(epsilon, rest + loss.delta()))
    }
}
