//! zCDP to Rényi privacy and to approximate privacy.

use exact::{Exact, Parameter, Round};

use crate::convert::{check_delta, conversion};
use crate::renyi::best_order::{Order, best_order};
use crate::renyi::conversions::{at_delta, delta_at_order, epsilon_at_order};
use crate::{
    ApproxDp, ApproxZcdp, ConvertsTotals, EpsilonDelta, Orders, RenyiCurveDp, RenyiDp,
    RenyiEpsilon, Rho, RhoDelta, RuleError, Zcdp,
};

/// `αρ` at the order α (\[BS16\] Def 1.1). Rounded up, where the product is long.
pub fn zcdp_to_renyi(loss: &Rho, order: &RenyiDp) -> RenyiEpsilon {
    order.loss(loss.value().mul(order.order(), Round::Up))
}

/// The ε at a given δ: \[CKS20\] Prop 12 at the best order (every order is valid; the search for the
/// best one is not certified, the bound is). Rounded up.
///
/// ```
/// let epsilon = odometry::measures::convert::zcdp_epsilon(&"0.5".parse()?, &"1e-6".parse()?);
/// assert!(epsilon > "5.2".parse()? && epsilon < "5.3".parse()?); // ρ + 2√(ρ ln(1/δ)) = 5.757
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn zcdp_epsilon(loss: &Rho, delta: &Exact) -> Exact {
    let rho = loss.value();
    if rho.is_zero() || *delta >= Exact::ONE {
        return Exact::ZERO;
    }
    if rho.is_infinite() || delta.is_zero() {
        return Exact::INFINITY;
    }
    let (r, ln_delta) = (rho.to_f64(Round::Up), approximate_ln(delta));
    let order = best_order(|less_one| {
        let alpha = 1.0 + less_one;
        alpha * r + ln_shrink(less_one) - (ln_delta + alpha.ln()) / less_one
    });
    epsilon_at_order(&order, &divergence(rho, &order), delta)
}

/// The δ at a given ε: \[CKS20\] Prop 12 at the best order. Rounded up, at most 1.
pub fn zcdp_delta(loss: &Rho, epsilon: &Exact) -> Exact {
    let rho = loss.value();
    if rho.is_zero() || epsilon.is_infinite() {
        return Exact::ZERO;
    }
    if rho.is_infinite() {
        return Exact::ONE;
    }
    let (r, e) = (rho.to_f64(Round::Up), epsilon.to_f64(Round::Down));
    let order = best_order(|less_one| {
        let alpha = 1.0 + less_one;
        less_one * (alpha * r - e + ln_shrink(less_one)) - alpha.ln()
    });
    delta_at_order(&order, &divergence(rho, &order), epsilon)
}

/// `ln(1 − 1/α)` from `α − 1`, for the choice of an order only. For large orders the quotient is so close to one that all
/// digits of its logarithm would cancel; for small ones `1/α` is.
fn ln_shrink(less_one: f64) -> f64 {
    let alpha = 1.0 + less_one;
    match less_one < 1.0 {
        true => (less_one / alpha).ln(),
        false => (-1.0 / alpha).ln_1p(),
    }
}

fn divergence(rho: &Exact, order: &Order) -> Exact {
    rho.mul(&order.value(), Round::Up)
}

/// `ln δ`, for the choice of an order only.
fn approximate_ln(delta: &Exact) -> f64 {
    -delta
        .neg_ln(Round::Up)
        .unwrap_or(Exact::ZERO)
        .to_f64(Round::Up)
}

/// zCDP to Rényi privacy at one order: see [`zcdp_to_renyi`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZcdpToRenyi {
    /// The measure that is converted to.
    pub order: RenyiDp,
}

conversion! {
    ZcdpToRenyi, Zcdp => RenyiDp,
    |this| (Zcdp, this.order.clone()),
    "zcdp-to-renyi", "order" = this.order.order().text(),
    |loss| Ok(zcdp_to_renyi(loss, &this.order))
}
impl ConvertsTotals for ZcdpToRenyi {}

/// zCDP to a Rényi curve: `αρ` at every order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZcdpToCurve {
    /// The orders of the curve.
    pub orders: Orders,
}

conversion! {
    ZcdpToCurve, Zcdp => RenyiCurveDp,
    |this| (Zcdp, RenyiCurveDp::new(this.orders.clone())),
    "zcdp-to-renyi-curve", "orders" = this.orders.text(),
    |loss| Ok(RenyiCurveDp::new(this.orders.clone()).loss(|order| loss.value().mul(order, Round::Up)))
}
impl ConvertsTotals for ZcdpToCurve {}

/// zCDP to (ε, δ) at a δ fixed in advance: see [`zcdp_epsilon`].
///
/// ```
/// use odometry::measures::convert::ZcdpToApprox;
/// use odometry::measures::Conversion;
/// let loss = ZcdpToApprox::new("1e-6")?.convert(&"0.5".parse()?)?;
/// assert_eq!(*loss.delta(), "1e-6".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZcdpToApprox {
    delta: Exact,
}

impl ZcdpToApprox {
    /// At this δ, above 0 and below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(ZcdpToApprox {
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    ZcdpToApprox, Zcdp => ApproxDp,
    |this| (Zcdp, ApproxDp),
    "zcdp-to-approximate", "delta" = this.delta.text(),
    |loss| Ok(at_delta(loss.value().is_zero(), zcdp_epsilon(loss, &this.delta), &this.delta))
}
impl ConvertsTotals for ZcdpToApprox {}

/// zCDP to approximate zCDP: δ = 0. Exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZcdpToApproxZcdp;

conversion! {
    ZcdpToApproxZcdp, Zcdp => ApproxZcdp,
    |_this| (Zcdp, ApproxZcdp),
    "zcdp-to-approximate-zcdp",
    |loss| Ok(RhoDelta::from(loss.clone()))
}
impl ConvertsTotals for ZcdpToApproxZcdp {}

/// Approximate zCDP `(ρ, δ₀)` to (ε, δ₀ + (1−δ₀)δ), at a δ fixed in advance: outside of events of probability δ₀ the
/// mechanism is ρ-zCDP (\[BS16\] Def 8.1), and there [`zcdp_epsilon`] applies. Rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproxZcdpToApprox {
    delta: Exact,
}

impl ApproxZcdpToApprox {
    /// At this δ, above 0 and below 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(ApproxZcdpToApprox {
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    ApproxZcdpToApprox, ApproxZcdp => ApproxDp,
    |this| (ApproxZcdp, ApproxDp),
    "approximate-zcdp-to-approximate", "delta" = this.delta.text(),
    |loss| {
        if loss.rho().is_zero() {
            return Ok(EpsilonDelta::saturating(Exact::ZERO, loss.delta().clone()));
        }
        let epsilon = zcdp_epsilon(&loss.rho().clone().into(), &this.delta);
        let rest = Exact::ONE.saturating_sub(loss.delta()).mul(&this.delta, Round::Up);
        Ok(EpsilonDelta::saturating(epsilon, rest + loss.delta()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conversion;
    use proptest::prelude::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    /// The bound at a given order, in floating point.
    fn bound(alpha: f64, rho: f64, delta: f64) -> f64 {
        alpha * rho + (1.0 - 1.0 / alpha).ln() - (delta * alpha).ln() / (alpha - 1.0)
    }

    #[test]
    fn no_order_of_a_dense_grid_is_better() {
        for (rho, delta) in [
            ("0.5", "1e-6"),
            ("1e-4", "1e-10"),
            ("20", "0.01"),
            ("1e-12", "1e-30"),
        ] {
            let (r, d) = (rho.parse::<f64>().unwrap(), delta.parse::<f64>().unwrap());
            let found = zcdp_epsilon(&rho.parse().unwrap(), &exact(delta)).to_f64(Round::Up);
            let grid = (1..400_000).map(|i| 1.0 + (f64::from(i) * 1e-4 - 15.0).exp());
            let least = grid
                .map(|alpha| bound(alpha, r, d))
                .fold(f64::INFINITY, f64::min);
            let slack = 1e-9 * least.max(1e-12);
            assert!(
                found <= least + slack && found >= least - 1e-4 * least,
                "{found} {least}"
            );
        }
    }

    #[test]
    fn no_order_is_better_where_the_best_is_huge() {
        // The best order is near ε/2ρ: from 2 up to 1e16, where `1 − 1/α` has no digits left.
        for (rho, epsilon) in [
            ("5e-30", "1e-13"),
            ("1e-24", "1e-9"),
            ("1e-12", "3e-6"),
            ("0.5", "2"),
        ] {
            let rho: Rho = rho.parse().unwrap();
            let epsilon = exact(epsilon);
            let found = zcdp_delta(&rho, &epsilon);
            let near = epsilon
                .div(rho.value(), Round::Up)
                .div(&2u8.into(), Round::Up);
            let at = |i: u64| {
                let less_one = near.mul(&Exact::ratio(i.into(), 200).unwrap(), Round::Up);
                let order = Order { less_one };
                delta_at_order(&order, &divergence(rho.value(), &order), &epsilon)
            };
            let least = (100..400).map(at).min().unwrap();
            assert!(
                found <= least.mul(&exact("1.0000001"), Round::Up),
                "{rho} {epsilon}: {found} {least}"
            );
            let back = zcdp_epsilon(&rho, &found);
            assert!(
                back <= epsilon.mul(&exact("1.0000001"), Round::Up),
                "{rho} {epsilon}: {back}"
            );
        }
    }

    #[test]
    fn never_below_the_gaussian_of_the_same_divergence() {
        // The Gaussian mechanism attains ρ = μ²/2 at every order.
        for (mu, epsilon) in [("1", "1"), ("0.5", "2"), ("2", "0.5")] {
            let mu: crate::Mu = mu.parse().unwrap();
            let rho = crate::convert::gaussian_to_zcdp(&mu);
            let exact_delta = crate::convert::gaussian_delta(&mu, &exact(epsilon));
            assert!(zcdp_delta(&rho, &exact(epsilon)) >= exact_delta);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn there_and_back(rho in 1u32..2000, delta in 1i32..20) {
            let rho = Rho::new(Exact::ratio(rho.into(), 1000).unwrap());
            let delta = exact(&format!("1e-{delta}"));
            let epsilon = zcdp_epsilon(&rho, &delta);
            prop_assume!(!epsilon.is_zero());
            let back = zcdp_delta(&rho, &epsilon);
            prop_assert!(back <= delta.mul(&exact("1.000001"), Round::Up));
            prop_assert!(back >= delta.mul(&exact("0.999999"), Round::Down));
        }

        #[test]
        fn more_divergence_is_more_loss(a in 1u32..1000, b in 1u32..1000) {
            let (a, b) = (a.min(b), a.max(b));
            let rho = |n: u32| Rho::new(Exact::ratio(n.into(), 100).unwrap());
            prop_assume!(a < b);
            prop_assert!(zcdp_epsilon(&rho(a), &exact("1e-6")) <= zcdp_epsilon(&rho(b), &exact("1e-6")));
        }
    }

    #[test]
    fn edges() {
        let delta = exact("1e-6");
        assert_eq!(zcdp_epsilon(&Rho::ZERO, &delta), Exact::ZERO);
        assert_eq!(zcdp_epsilon(&Rho::INFINITY, &delta), Exact::INFINITY);
        assert_eq!(
            zcdp_epsilon(&"1".parse().unwrap(), &Exact::ZERO),
            Exact::INFINITY
        );
        assert_eq!(
            zcdp_epsilon(&"1".parse().unwrap(), &Exact::ONE),
            Exact::ZERO
        );
        assert_eq!(zcdp_delta(&Rho::INFINITY, &exact("3")), Exact::ONE);
        assert_eq!(zcdp_delta(&Rho::ZERO, &Exact::ZERO), Exact::ZERO);
        assert!(zcdp_epsilon(&"1e-40".parse().unwrap(), &delta) < exact("1e-15"));
        assert!(zcdp_epsilon(&"1e6".parse().unwrap(), &delta) < exact("1007500"));
        let approx = ApproxZcdpToApprox::new(delta).unwrap();
        let total = approx.convert(&"(0.5, 0.25)".parse().unwrap()).unwrap();
        assert_eq!(*total.delta(), exact("0.25000075"));
        assert_eq!(
            approx.convert(&RhoDelta::INFINITY),
            Ok(EpsilonDelta::INFINITY)
        );
    }

    #[test]
    fn next_to_no_divergence_has_next_to_no_delta() {
        // δ is about e^(−ε²/4ρ), far below what an f64 or an exponential of ours can tell from zero.
        for (rho, epsilon) in [
            ("1e-13", "1"),
            ("1e-12", "3"),
            ("1e-9", "100"),
            ("0.5", "2e6"),
            ("1e-300", "1"),
            ("1", "1e300"),
        ] {
            let delta = zcdp_delta(&rho.parse().unwrap(), &exact(epsilon));
            assert!(
                !delta.is_zero() && delta < exact("1e-2000"),
                "{rho} {epsilon}: {delta}"
            );
        }
        let at_two = RenyiDp::new(exact("2")).unwrap();
        let huge = crate::convert::renyi_delta(&at_two.loss(exact("0.1")), &exact("1e15"));
        assert!(!huge.is_zero() && huge < exact("1e-2000"));
    }

    #[test]
    fn delta_falls_through_the_seam() {
        // The exponent passes −2^40 at ε = √(4ρ)·2^20: at 0.663 for ρ = 1e-13.
        let rho = "1e-13".parse().unwrap();
        let deltas: Vec<Exact> = (1..200)
            .map(|i| zcdp_delta(&rho, &Exact::ratio(i, 100).unwrap()))
            .collect();
        assert!(deltas.windows(2).all(|pair| pair[1] <= pair[0]));
        // And at order 2, 1000 above and below it.
        let loss = "1 at order 2".parse().unwrap();
        let deltas: Vec<Exact> = (0..200u64)
            .map(|i| (1 << 40) - 1000 + 10 * i)
            .map(|epsilon| crate::convert::renyi_delta(&loss, &Exact::from(epsilon)))
            .collect();
        assert!(deltas.windows(2).all(|pair| pair[1] <= pair[0]));
        assert!(deltas[0] < exact("1e-2000"));
    }

    #[test]
    fn to_renyi_is_linear_in_the_order() {
        let at = RenyiDp::new(exact("2.5")).unwrap();
        assert_eq!(
            zcdp_to_renyi(&"0.4".parse().unwrap(), &at),
            "1 at order 2.5".parse().unwrap()
        );
        let orders = Orders::new([exact("2"), exact("8")]).unwrap();
        let curve = ZcdpToCurve { orders }
            .convert(&"0.5".parse().unwrap())
            .unwrap();
        assert_eq!(curve.epsilons(), [exact("1"), exact("4")]);
    }
}
