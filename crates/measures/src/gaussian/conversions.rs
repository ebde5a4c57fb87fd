//! Gaussian privacy to the other measures, with certified normal tails.

use exact::{Exact, Parameter, Round};

use crate::convert::{check_delta, conversion, is_extreme};
use crate::profile::profile_to_tradeoff;
use crate::renyi::conversions::at_delta;
use crate::zcdp::{ZcdpToCurve, zcdp_to_renyi};
use crate::{
    ApproxDp, ConvertsTotals, EpsilonDelta, GaussianDp, Mu, Orders, Profile, ProfileDp,
    RenyiCurveDp, RenyiDp, Rho, RuleError, TradeoffDp, Zcdp,
};
use exact::interval::{Float, Interval, density, least_root, mills_ratio, refine, upper_tail};

/// `ρ = μ²/2`: the Gaussian pair has `D_α = αμ²/2` at every order (\[BS16\] Lemma 2.4). Rounded up.
pub fn gaussian_to_zcdp(loss: &Mu) -> Rho {
    let square = loss.value().pow(2, Round::Up);
    Rho::new(square.div(&Exact::from(2u8), Round::Up))
}

/// δ at a given ε: `Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)` (\[BW18\] Thm 8; \[DRS19\] Cor 2.13). Exact up
/// to a relative `2^-70`, rounded up; below `2^-1200`, and for μ outside of `2^±512`, only an upper bound.
///
/// ```
/// let delta = odometry::measures::convert::gaussian_delta(&"1".parse()?, &"1".parse()?);
/// assert!(delta > "0.12693673750".parse()? && delta < "0.12693673751".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gaussian_delta(loss: &Mu, epsilon: &Exact) -> Exact {
    let mu = loss.value();
    if mu.is_zero() {
        return Exact::ZERO;
    }
    if mu.is_infinite() {
        return Exact::ONE;
    }
    if epsilon.is_infinite() {
        return Exact::ZERO;
    }
    if is_extreme(mu) {
        return delta_from_above(mu, epsilon);
    }
    let bound = refine(|bits| {
        let work = bits + 64;
        let mu = Interval::exact(mu, work)?;
        hockey_stick(&mu, &Interval::exact(epsilon, work)?).map(|delta| delta.with_bits(bits))
    });
    bound.map_or(Exact::ONE, |bound| bound.upper().min(Exact::ONE))
}

/// `1/√2π`, from above.
fn highest_density() -> Exact {
    Exact::ratio(3_989_422_804_014_327, 10_000_000_000_000_000).unwrap_or(Exact::ONE)
}

/// An upper bound on δ(ε), at most 1, in closed form. With `t = ε/μ − μ/2` and `f = e^(−t²/2)` for `t > 0`, else 1: δ is at
/// most `P(Z > t) ≤ f`; and its derivative by μ is the density at `t`, which grows with μ while `t > 0` and is at most
/// `f/√2π` up to this μ, so that δ is at most `μ·f/√2π`.
fn delta_from_above(mu: &Exact, epsilon: &Exact) -> Exact {
    let half = mu.div(&Exact::from(2u8), Round::Up);
    let t = epsilon.div(mu, Round::Down).saturating_sub(&half);
    let exponent = t.pow(2, Round::Down).div(&Exact::from(2u8), Round::Down);
    let f = exponent.exp(Round::Down).recip(Round::Up);
    let by_density = mu.mul(&highest_density(), Round::Up).mul(&f, Round::Up);
    by_density.min(f).min(Exact::ONE)
}

/// δ(ε) of the Gaussian pair.
fn hockey_stick(mu: &Interval, epsilon: &Interval) -> Option<Interval> {
    let half = mu.shifted(-1);
    let ratio = epsilon.div(mu)?;
    let (near, far) = (&ratio - &half, &ratio + &half);
    // far² − near² = 2ε, so e^ε P(Z > far) = φ(near)·P(Z > far)/φ(far): that never overflows.
    let second = &density(&near)? * &mills_ratio(&far)?;
    Some(&upper_tail(&near)? - &second)
}

/// ε at a given δ: [`gaussian_delta`] inverted. What is returned has been evaluated, so it is never too small; relative
/// excess `2^-70`, and only an upper bound for μ outside of `2^±512`.
pub fn gaussian_epsilon(loss: &Mu, delta: &Exact) -> Exact {
    let mu = loss.value();
    if mu.is_zero() || *delta >= Exact::ONE {
        return Exact::ZERO;
    }
    if mu.is_infinite() || delta.is_zero() {
        return Exact::INFINITY;
    }
    // δ(0) = P(|Z| < μ/2) is at most μ times the highest density.
    if mu.mul(&highest_density(), Round::Up) <= *delta {
        return Exact::ZERO;
    }
    // δ(ε) ≤ P(Z > t) ≤ e^(−t²/2) with t = ε/μ − μ/2 ≥ 0: t = √(2 ln(1/δ)) always does.
    let ln = delta.neg_ln(Round::Up).unwrap_or(Exact::INFINITY);
    let enough = mu.mul(&ln.times(2).sqrt(Round::Up), Round::Up) + gaussian_to_zcdp(loss).value();
    if is_extreme(mu) {
        return enough;
    }
    solve(mu, delta, &enough).unwrap_or(enough)
}

/// The least ε up to `enough` with `δ(ε) ≤ delta`.
fn solve(mu: &Exact, delta: &Exact, enough: &Exact) -> Option<Exact> {
    // The two tails agree in about as many digits as μ has zeros.
    let small = -Interval::exact(mu, 64)?.lo.magnitude();
    let bits = 192 + 2 * small.clamp(0, 1 << 9) as usize;
    let mu = Interval::exact(mu, bits)?;
    let ln_delta = Interval::exact(delta, bits)?.ln()?;
    let high = Interval::exact(enough, bits)?.hi;
    let found = least_root(Float::ZERO, high, |epsilon| {
        let delta = hockey_stick(&mu, &Interval::point(epsilon.clone(), bits))?;
        // A δ too small for a logarithm is below every target.
        let positive = Interval {
            lo: (delta.lo.clone())
                .max(Float::power_of_two(-(1 << 34)))
                .min(delta.hi.clone()),
            ..delta
        };
        Some(&positive.ln()? - &ln_delta)
    })?;
    Some(found.to_exact(Round::Up).min(enough.clone()))
}

/// Gaussian privacy to zCDP: see [`gaussian_to_zcdp`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaussianToZcdp;

conversion! {
    GaussianToZcdp, GaussianDp => Zcdp,
    |this| (GaussianDp, Zcdp),
    "gaussian-to-zcdp",
    |loss| Ok(gaussian_to_zcdp(loss))
}
impl ConvertsTotals for GaussianToZcdp {}

/// Gaussian to Rényi privacy at one order: `αμ²/2`. Rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaussianToRenyi {
    /// The measure that is converted to.
    pub order: RenyiDp,
}

conversion! {
    GaussianToRenyi, GaussianDp => RenyiDp,
    |this| (GaussianDp, this.order.clone()),
    "gaussian-to-renyi", "order" = this.order.order().text(),
    |loss| Ok(zcdp_to_renyi(&gaussian_to_zcdp(loss), &this.order))
}
impl ConvertsTotals for GaussianToRenyi {}

/// Gaussian privacy to a Rényi curve: `αμ²/2` at every order. Rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaussianToCurve {
    /// The orders of the curve.
    pub orders: Orders,
}

conversion! {
    GaussianToCurve, GaussianDp => RenyiCurveDp,
    |this| (GaussianDp, RenyiCurveDp::new(this.orders.clone())),
    "gaussian-to-renyi-curve", "orders" = this.orders.text(),
    |loss| crate::Conversion::convert(
        &ZcdpToCurve { orders: this.orders.clone() },
        &gaussian_to_zcdp(loss),
    )
}
impl ConvertsTotals for GaussianToCurve {}

/// Gaussian privacy to (ε, δ) at a δ fixed in advance: see [`gaussian_epsilon`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaussianToApprox {
    delta: Exact,
}

impl GaussianToApprox {
    /// At this δ, above 0 and below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(GaussianToApprox {
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    GaussianToApprox, GaussianDp => ApproxDp,
    |this| (GaussianDp, ApproxDp),
    "gaussian-to-approximate", "delta" = this.delta.text(),
    |loss| Ok(at_delta(loss.value().is_zero(), gaussian_epsilon(loss, &this.delta), &this.delta))
}
impl ConvertsTotals for GaussianToApprox {}

/// The profile through `n` points of the Gaussian one, evenly spaced in ε up to `μ²/2 + 8μ`: from above, since the true
/// profile is convex between them.
fn profile_of(loss: &Mu, points: u32) -> Profile {
    let mu = loss.value();
    if mu.is_zero() {
        return Profile::new([EpsilonDelta::ZERO]);
    }
    if mu.is_infinite() {
        return Profile::new([]);
    }
    let last = mu.times(8) + gaussian_to_zcdp(loss).value();
    let step = last.div(&Exact::from(points.saturating_sub(1).max(1)), Round::Up);
    Profile::new((0..points.max(1)).map(|i| {
        let epsilon = step.times(i.into());
        let delta = gaussian_delta(loss, &epsilon);
        EpsilonDelta::saturating(epsilon, delta)
    }))
}

/// Gaussian privacy to a profile through a number of points of its exact one: an upper bound everywhere, and exact up to
/// rounding at the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaussianToProfile {
    /// How many points; they are evenly spaced in ε from 0 to `μ²/2 + 8μ`, where δ is below 1e-15.
    pub points: u32,
}

conversion! {
    GaussianToProfile, GaussianDp => ProfileDp,
    |this| (GaussianDp, ProfileDp),
    "gaussian-to-profile", "points" = this.points,
    |loss| Ok(profile_of(loss, this.points))
}
impl ConvertsTotals for GaussianToProfile {}

/// Gaussian privacy to f-DP: `G_μ` from below, by a number of its tangents (each tangent of a trade-off function is a
/// pair (ε, δ): \[DRS19\] Prop 2.12). Rounded down, which claims less.
///
/// ```
/// use odometry::measures::convert::GaussianToTradeoff;
/// use odometry::measures::Conversion;
/// use odometry::exact::Round;
/// let f = GaussianToTradeoff { tangents: 33 }.convert(&"1".parse()?)?;
/// let half = f.at(&"0.3085375387259869".parse()?, Round::Up); // Φ(−1/2), the fixed point
/// assert!(half > "0.3085".parse()? && half < "0.30853754".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaussianToTradeoff {
    /// How many tangents on either side; see [`GaussianToProfile::points`].
    pub tangents: u32,
}

conversion! {
    GaussianToTradeoff, GaussianDp => TradeoffDp,
    |this| (GaussianDp, TradeoffDp),
    "gaussian-to-trade-off", "tangents" = this.tangents,
    |loss| Ok(profile_to_tradeoff(&profile_of(loss, this.tangents)))
}
impl ConvertsTotals for GaussianToTradeoff {}
