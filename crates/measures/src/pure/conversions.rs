//! Pure privacy to all other measures. Randomized response is the worst ε-private mechanism (\[VW21\] Thm 1.10), so its
//! own loss in another measure is the tight conversion.

use exact::{Exact, Round};

use crate::convert::{conversion, is_extreme};
use crate::{
    ApproxDp, ConvertsTotals, Epsilon, EpsilonDelta, GaussianDp, Mu, Orders, PureDp, RenyiCurveDp,
    RenyiDp, RenyiEpsilon, Rho, Tradeoff, TradeoffDp, Zcdp,
};
use exact::interval::{Float, Interval, least_root, refine, upper_tail};

/// `ρ = ε·tanh(ε/2)`, the zCDP of randomized response, attained as α → 1 (\[Ste24\] Thm 5). Rounded up.
///
/// ```
/// let rho = odometry::measures::convert::pure_to_zcdp(&"1".parse()?);
/// assert!(*rho.value() > "0.4621".parse()? && *rho.value() < "0.4622".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pure_to_zcdp(loss: &Epsilon) -> Rho {
    let epsilon = loss.value();
    let half = epsilon.div(&Exact::from(2u8), Round::Up);
    Rho::new(epsilon.mul(&half.tanh(Round::Up), Round::Up))
}

/// `ρ = ε²/2` (\[BS16\] Prop 1.4): the simpler bound, never below [`pure_to_zcdp`]. Rounded up.
pub fn pure_to_zcdp_quadratic(loss: &Epsilon) -> Rho {
    let square = loss.value().pow(2, Round::Up);
    Rho::new(square.div(&Exact::from(2u8), Round::Up))
}

/// The divergence of order α of randomized response, `ln((e^(αε) + e^((1−α)ε)) / (1+e^ε)) / (α−1)`: tight. Rounded up,
/// and never above ε. For ε or α − 1 outside of `2^±512`, or αε past `2^39`, the lesser of ε and α times [`pure_to_zcdp`].
pub fn pure_to_renyi(loss: &Epsilon, order: &RenyiDp) -> RenyiEpsilon {
    order.loss(renyi_of_response(loss.value(), order.order()))
}

fn renyi_of_response(epsilon: &Exact, order: &Exact) -> Exact {
    if epsilon.is_zero() || epsilon.is_infinite() {
        return epsilon.clone();
    }
    let less_one = order.saturating_sub(&Exact::ONE);
    let exponent = epsilon.mul(order, Round::Up);
    if is_extreme(epsilon) || is_extreme(&less_one) || exponent > Exact::from(1u64 << 39) {
        // αρ, which it comes close to where ε or α − 1 is small; ε, where αε is large.
        let rho = pure_to_zcdp(&Epsilon::new(epsilon.clone())).into_value();
        return rho.mul(order, Round::Up).min(epsilon.clone());
    }
    let bound = refine(|bits| {
        let work = bits + 64;
        let epsilon = Interval::exact(epsilon, work)?;
        let alpha = Interval::exact(order, work)?;
        let one = Interval::int(1u8, work);
        let less_one = &alpha - &one;
        let up = (&alpha * &epsilon).exp()?;
        let down = (-&(&less_one * &epsilon)).exp()?;
        let moment = (&up + &down).div(&(&one + &epsilon.exp()?))?;
        moment
            .ln()?
            .div(&less_one)
            .map(|bound| bound.with_bits(bits))
    });
    bound.map_or(epsilon.clone(), |bound| bound.upper().min(epsilon.clone()))
}

/// `μ = 2·Φ⁻¹(e^ε/(1+e^ε))`: the least μ whose trade-off function passes below the corner of randomized response's, and
/// so, being convex, below all of it (\[DRS19\] Thm 2.10 turns that into a guarantee). Tight. Rounded up.
///
/// ```
/// let mu = odometry::measures::convert::pure_to_gaussian(&"1".parse()?);
/// assert!(*mu.value() > "1.2320".parse()? && *mu.value() < "1.2321".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pure_to_gaussian(loss: &Epsilon) -> Mu {
    let epsilon = loss.value();
    if epsilon.is_zero() || epsilon.is_infinite() {
        return Mu::new(epsilon.clone());
    }
    if is_extreme(epsilon) && *epsilon < Exact::ONE {
        // μ = ε·√(π/2), up to a relative ε²: 2Φ(x) − 1 ≥ 2x(1 − x²/2)/√2π has to reach tanh(ε/2) ≤ ε/2 at x = μ/2.
        let slope = Exact::ratio(12_533_141_373_155_003, 10_000_000_000_000_000);
        return Mu::new(epsilon.mul(&slope.unwrap_or(Exact::from(2u8)), Round::Up));
    }
    // P(Z > t) ≤ e^(−t²/2)/2, so t = √(2ε) always does.
    let enough = epsilon.times(2).sqrt(Round::Up);
    let found = quantile_of_response(epsilon, &enough).unwrap_or(enough);
    Mu::new(found.times(2))
}

/// The least `t ≤ enough` with `P(Z > t) ≤ 1/(1+e^ε)`.
fn quantile_of_response(epsilon: &Exact, enough: &Exact) -> Option<Exact> {
    let small = -Interval::exact(epsilon, 64)?.lo.magnitude();
    let bits = 192 + small.clamp(0, 1 << 9) as usize;
    let one = Interval::int(1u8, bits);
    let sides = &one + &Interval::exact(epsilon, bits + 64)?.exp()?;
    let ln_corner = -&sides.ln()?;
    let high = Interval::exact(enough, bits)?.hi;
    let found = least_root(Float::ZERO, high, |t| {
        let tail = upper_tail(&Interval::point(t.clone(), bits))?;
        Some(&tail.ln()? - &ln_corner)
    })?;
    Some(found.to_exact(Round::Up).min(enough.clone()))
}

/// Pure to approximate privacy: `(ε, 0)`. Exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureToApprox;

conversion! {
    PureToApprox, PureDp => ApproxDp,
    |this| (PureDp, ApproxDp),
    "pure-to-approximate",
    |loss| Ok(EpsilonDelta::from(loss.clone()))
}
impl ConvertsTotals for PureToApprox {}

/// Pure privacy to zCDP: see [`pure_to_zcdp`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureToZcdp;

conversion! {
    PureToZcdp, PureDp => Zcdp,
    |this| (PureDp, Zcdp),
    "pure-to-zcdp",
    |loss| Ok(pure_to_zcdp(loss))
}
impl ConvertsTotals for PureToZcdp {}

/// Pure to Rényi privacy at one order: see [`pure_to_renyi`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PureToRenyi {
    /// The measure that is converted to.
    pub order: RenyiDp,
}

conversion! {
    PureToRenyi, PureDp => RenyiDp,
    |this| (PureDp, this.order.clone()),
    "pure-to-renyi", "order" = this.order.order().text(),
    |loss| Ok(pure_to_renyi(loss, &this.order))
}
impl ConvertsTotals for PureToRenyi {}

/// Pure privacy to a Rényi curve: [`pure_to_renyi`] at every order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PureToCurve {
    /// The orders of the curve.
    pub orders: Orders,
}

conversion! {
    PureToCurve, PureDp => RenyiCurveDp,
    |this| (PureDp, RenyiCurveDp::new(this.orders.clone())),
    "pure-to-renyi-curve", "orders" = this.orders.text(),
    |loss| {
        let measure = RenyiCurveDp::new(this.orders.clone());
        Ok(measure.loss(|order| renyi_of_response(loss.value(), order)))
    }
}
impl ConvertsTotals for PureToCurve {}

/// Pure to Gaussian privacy: see [`pure_to_gaussian`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureToGaussian;

conversion! {
    PureToGaussian, PureDp => GaussianDp,
    |this| (PureDp, GaussianDp),
    "pure-to-gaussian",
    |loss| Ok(pure_to_gaussian(loss))
}
impl ConvertsTotals for PureToGaussian {}

/// Pure privacy to f-DP: see [`Tradeoff::from_approx`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureToTradeoff;

conversion! {
    PureToTradeoff, PureDp => TradeoffDp,
    |this| (PureDp, TradeoffDp),
    "pure-to-trade-off",
    |loss| Ok(Tradeoff::from_approx(&loss.clone().into()))
}
impl ConvertsTotals for PureToTradeoff {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conversion;
    use crate::convert::gaussian_delta;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    fn close(found: &Exact, expected: f64) {
        let found = found.to_f64(Round::Up);
        assert!(
            found >= expected * (1.0 - 1e-12) && found <= expected * (1.0 + 1e-12),
            "{found} {expected}"
        );
    }

    /// The divergence of randomized response by its definition.
    fn divergence(epsilon: f64, alpha: f64) -> f64 {
        let truth = epsilon.exp() / (1.0 + epsilon.exp());
        let lie = 1.0 - truth;
        let moment =
            truth.powf(alpha) * lie.powf(1.0 - alpha) + lie.powf(alpha) * truth.powf(1.0 - alpha);
        moment.ln() / (alpha - 1.0)
    }

    #[test]
    fn renyi_is_the_divergence_of_randomized_response() {
        for (epsilon, alpha) in [("1", "2"), ("0.5", "16"), ("3", "1.5"), ("0.02", "64")] {
            let order = RenyiDp::new(exact(alpha)).unwrap();
            let found = pure_to_renyi(&epsilon.parse().unwrap(), &order);
            let expected = divergence(epsilon.parse().unwrap(), alpha.parse().unwrap());
            let got = found.epsilon().to_f64(Round::Up);
            assert!(
                (got - expected).abs() < 1e-10 * expected,
                "{got} {expected}"
            );
        }
    }

    #[test]
    fn zcdp_dominates_the_divergence_at_every_order() {
        for epsilon in ["0.01", "0.5", "1", "3", "10"] {
            let loss: Epsilon = epsilon.parse().unwrap();
            let (rho, quadratic) = (pure_to_zcdp(&loss), pure_to_zcdp_quadratic(&loss));
            assert!(rho.value() <= quadratic.value());
            for alpha in ["1.0001", "1.1", "2", "5", "50", "1000"] {
                let order = RenyiDp::new(exact(alpha)).unwrap();
                let tight = pure_to_renyi(&loss, &order);
                assert!(
                    *tight.epsilon() <= rho.value().mul(&exact(alpha), Round::Up),
                    "{epsilon} {alpha}"
                );
            }
            // Tight: attained as α → 1.
            let near = RenyiDp::new(exact("1.000001")).unwrap();
            let near = pure_to_renyi(&loss, &near).epsilon().to_f64(Round::Up);
            assert!(near > rho.value().to_f64(Round::Up) * (1.0 - 1e-5));
        }
    }

    #[test]
    fn gaussian_passes_through_the_corner() {
        // Φ⁻¹(e/(1+e)) = 0.616017…
        close(
            pure_to_gaussian(&"1".parse().unwrap()).value(),
            1.232_035_385_344_901,
        );
        for epsilon in ["1e-20", "0.001", "0.3", "2", "30", "700"] {
            let loss: Epsilon = epsilon.parse().unwrap();
            let mu = pure_to_gaussian(&loss);
            let found = Tradeoff::from_approx(&loss.clone().into());
            // The total variations agree: 1 − 2·corner on both sides.
            let response = Exact::ONE
                .checked_sub(&found.at(&Exact::ZERO, Round::Up))
                .unwrap();
            assert!(response.is_zero());
            let gaussian = gaussian_delta(&mu, &Exact::ZERO);
            let tanh = loss.value().div(&exact("2"), Round::Down).tanh(Round::Down);
            assert!(gaussian >= tanh, "{epsilon}");
            let excess = gaussian.checked_sub(&tanh).unwrap();
            assert!(excess <= tanh.mul(&exact("1e-14"), Round::Up), "{epsilon}");
        }
    }

    #[test]
    fn edges() {
        let order = RenyiDp::new(exact("2")).unwrap();
        assert_eq!(
            pure_to_renyi(&Epsilon::ZERO, &order),
            "0 at order 2".parse().unwrap()
        );
        assert_eq!(
            pure_to_renyi(&Epsilon::INFINITY, &order),
            "inf at order 2".parse().unwrap()
        );
        assert!(pure_to_renyi(&"1e9".parse().unwrap(), &order).epsilon() <= &exact("1e9"));
        assert!(*pure_to_renyi(&"1e-90".parse().unwrap(), &order).epsilon() < exact("1e-170"));
        assert_eq!(pure_to_zcdp(&Epsilon::INFINITY), Rho::INFINITY);
        assert_eq!(pure_to_zcdp(&Epsilon::ZERO), Rho::ZERO);
        assert_eq!(
            pure_to_zcdp_quadratic(&"0.1".parse().unwrap()),
            "0.005".parse().unwrap()
        );
        assert_eq!(pure_to_gaussian(&Epsilon::INFINITY), Mu::INFINITY);
        assert_eq!(pure_to_gaussian(&Epsilon::ZERO), Mu::ZERO);
        assert!(
            pure_to_gaussian(&"1e15".parse().unwrap())
                .value()
                .is_finite()
        );
        assert_eq!(
            PureToApprox.convert(&"0.3".parse().unwrap()),
            Ok("(0.3, 0)".parse().unwrap())
        );
    }
}
