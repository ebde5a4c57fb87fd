//! The least Gaussian bound of a trade-off function: the way of f-DP into Gaussian filters.

use dashu_ratio::RBig;
use exact::Exact;
use exact::interval::{Interval, upper_quantile};

use super::hull::Corner;
use crate::convert::conversion;
use crate::{GaussianDp, Mu, Tradeoff, TradeoffDp};

/// The precision of a corner. Quantiles are told to `2^-64`.
const BITS: usize = 256;

/// The least μ with `f ≥ G_μ`: the maximum over `x` of `Φ⁻¹(1−x) − Φ⁻¹(f(x))` (\[DRS19\] Def 2.6 says what `G_μ` is). It is
/// reached at a corner, because `G_μ` is convex and `f` is straight between corners. Rounded up, by less than `2^-61`.
///
/// Infinite if `f(0) < 1`, or if `f` is zero before 1: `G_μ` starts at 1 and ends at `(1, 0)` for every μ. Split the δ off
/// first: [`tradeoff_to_gaussian_beyond`].
///
/// ```
/// use odometry::measures::{Tradeoff, convert::{pure_to_gaussian, tradeoff_to_gaussian}};
/// let response = Tradeoff::from_approx(&"(1, 0)".parse()?);
/// let (mu, least) = (tradeoff_to_gaussian(&response), pure_to_gaussian(&"1".parse()?));
/// assert!(mu.value().saturating_sub(least.value()) < "1e-15".parse()?);
/// assert!(tradeoff_to_gaussian(&Tradeoff::from_approx(&"(1, 1e-9)".parse()?)).value().is_infinite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tradeoff_to_gaussian(function: &Tradeoff) -> Mu {
    tradeoff_to_gaussian_beyond(function, &Exact::ZERO)
}

/// The least μ with `f ≥ f_{0,δ} ⊗ G_μ`, which is `(1−δ)·G_μ(x/(1−δ))` up to `x = 1−δ` and zero from there on: with
/// probability δ everything may be told, and otherwise what a Gaussian pair tells. Rounded as [`tradeoff_to_gaussian`].
///
/// Infinite if δ is below [`Tradeoff::leak`]. The δ is not in the answer: whoever adds up μ must add up the δ as well, and
/// the whole is `f_{0,Σδ} ⊗ G_√Σμ²`.
///
/// ```
/// use odometry::measures::{Tradeoff, convert::tradeoff_to_gaussian_beyond};
/// let leaky = Tradeoff::from_approx(&"(1, 1e-9)".parse()?);
/// assert_eq!(leaky.leak().to_string(), "1e-9");
/// let mu = tradeoff_to_gaussian_beyond(&leaky, &leaky.leak());
/// assert!(*mu.value() > "1.2320".parse()? && *mu.value() < "1.2321".parse()?); // that of ε = 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tradeoff_to_gaussian_beyond(function: &Tradeoff, delta: &Exact) -> Mu {
    let kept = Exact::ONE.saturating_sub(delta).to_rational();
    let kept = kept.unwrap_or(RBig::ZERO);
    let needs = function.as_slice().iter().map(|at| needed(at, &kept));
    Mu::new(needs.fold(Exact::ZERO, Exact::max))
}

/// The least μ with `kept·G_μ(x/kept) ≤ y`, at this corner.
fn needed(Corner { x, y, .. }: &Corner, kept: &RBig) -> Exact {
    // Nothing is asked past 1 − δ; and f is at or above what is told of no difference at all.
    if x + y >= *kept {
        return Exact::ZERO;
    }
    if x.is_zero() || y.is_zero() {
        return Exact::INFINITY;
    }
    let quantiles = quantile(&(x / kept)).zip(quantile(&(y / kept)));
    quantiles.map_or(Exact::INFINITY, |(x, y)| (&x + &y).upper())
}

/// The point that `Z` passes with probability `p`; what is close to one keeps its digits as what is left to one. Numbers of
/// this crate are far from where nothing is known.
fn quantile(p: &RBig) -> Option<Interval> {
    let rest = RBig::ONE - p;
    if rest < *p {
        return quantile(&rest).map(|t| -&t);
    }
    upper_quantile(&Interval::rational(p, BITS))
}

/// f-DP to Gaussian privacy: see [`tradeoff_to_gaussian`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TradeoffToGaussian;

conversion! {
    TradeoffToGaussian, TradeoffDp => GaussianDp,
    |this| (TradeoffDp, GaussianDp),
    "trade-off-to-gaussian",
    |loss| Ok(tradeoff_to_gaussian(loss))
}
