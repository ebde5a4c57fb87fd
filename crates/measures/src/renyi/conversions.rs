//! Rényi privacy to approximate privacy, by \[CKS20\] Prop 12 (better than \[Mir17\]): a bound τ on
//! the divergence of order α gives
//!
//! `δ = e^((α−1)(τ−ε)) · (α−1)^(α−1) / α^α`, and solved for ε, `ε = τ + ln(1−1/α) − ln(δα)/(α−1)`.

use exact::{Exact, Parameter, Round};

use super::best_order::Order;
use crate::convert::{check_delta, conversion, is_extreme};
use crate::{
    ApproxDp, ConvertsTotals, EpsilonDelta, Orders, RenyiCurve, RenyiCurveDp, RenyiDp,
    RenyiEpsilon, RuleError,
};
use exact::interval::{Interval, refine};

/// ε at a given δ, for one order.
pub(crate) fn epsilon_at_order(order: &Order, tau: &Exact, delta: &Exact) -> Exact {
    if tau.is_infinite() || delta.is_zero() {
        return Exact::INFINITY;
    }
    let bound = refine(|bits| {
        let less_one = Interval::exact(&order.less_one, bits)?;
        let alpha = Interval::exact(&order.value(), bits)?;
        let delta = Interval::exact(delta, bits)?;
        let shrink = less_one.div(&alpha)?.ln()?;
        let spread = (&delta * &alpha).ln()?.div(&less_one)?;
        Some(&(&Interval::exact(tau, bits)? + &shrink) - &spread)
    });
    bound.map_or(Exact::INFINITY, |bound| bound.upper())
}

/// δ at a given ε, for one order; at most 1.
pub(crate) fn delta_at_order(order: &Order, tau: &Exact, epsilon: &Exact) -> Exact {
    if tau.is_infinite() {
        return Exact::ONE;
    }
    if epsilon.is_infinite() {
        return Exact::ZERO;
    }
    if is_extreme(&order.less_one) {
        return delta_from_above(order, tau, epsilon);
    }
    let bound = refine(|bits| {
        let work = bits + 64;
        let less_one = Interval::exact(&order.less_one, work)?;
        let alpha = Interval::exact(&order.value(), work)?;
        let gap = &Interval::exact(tau, work)? - &Interval::exact(epsilon, work)?;
        let tilt = &gap + &less_one.div(&alpha)?.ln()?;
        let exponent = &(&less_one * &tilt) - &alpha.ln()?;
        // From zero on the bound says nothing, however large the exponent is: no more digits are needed to know it.
        if !exponent.lo.is_negative() {
            return Some(Interval::int(1u8, bits));
        }
        exponent.exp().map(|delta| delta.with_bits(bits))
    });
    bound.map_or(Exact::ONE, |bound| bound.upper().min(Exact::ONE))
}

/// The same from above, in closed form: `(α−1)^(α−1)/α^α` is at most `1/α`.
fn delta_from_above(order: &Order, tau: &Exact, epsilon: &Exact) -> Exact {
    let tilt = |gap: &Exact, round| gap.mul(&order.less_one, round).exp(round);
    let factor = match epsilon.checked_sub(tau) {
        Some(gap) => tilt(&gap, Round::Down).recip(Round::Up),
        None => tilt(&tau.saturating_sub(epsilon), Round::Up),
    };
    factor.div(&order.value(), Round::Up).min(Exact::ONE)
}

/// The ε at a given δ that one Rényi order gives (\[CKS20\] Prop 12). Rounded up.
///
/// ```
/// // One of the two budgets with which "some order still fits" is refuted: both reach (1, 1e-6).
/// let delta = "1e-6".parse()?;
/// let epsilon = odometry::measures::convert::renyi_epsilon(&"0.328344 at order 16".parse()?, &delta);
/// assert!(epsilon > "0.999999".parse()? && epsilon < "1.000001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn renyi_epsilon(loss: &RenyiEpsilon, delta: &Exact) -> Exact {
    if loss.epsilon().is_zero() || *delta >= Exact::ONE {
        return Exact::ZERO;
    }
    epsilon_at_order(&Order::of(loss.order()), loss.epsilon(), delta)
}

/// The δ at a given ε that one Rényi order gives (\[CKS20\] Prop 12). Rounded up; for α − 1 outside of
/// `2^±512`, by a factor of at most e.
pub fn renyi_delta(loss: &RenyiEpsilon, epsilon: &Exact) -> Exact {
    if loss.epsilon().is_zero() {
        return Exact::ZERO;
    }
    delta_at_order(&Order::of(loss.order()), loss.epsilon(), epsilon)
}

fn orders_of(curve: &RenyiCurve) -> impl Iterator<Item = RenyiEpsilon> + '_ {
    let pairs = curve.orders().as_slice().iter().zip(curve.epsilons());
    pairs.filter_map(|(order, epsilon)| RenyiEpsilon::new(order.clone(), epsilon.clone()).ok())
}

/// The least ε at a given δ over the orders of one measurement's own curve. Rounded up. Not valid for a running total:
/// which order is best would be chosen by looking at answers.
pub fn curve_epsilon(curve: &RenyiCurve, delta: &Exact) -> Exact {
    orders_of(curve)
        .map(|loss| renyi_epsilon(&loss, delta))
        .min()
        .unwrap_or(Exact::INFINITY)
}

/// The least δ at a given ε over the orders of one measurement's own curve. Rounded up. Not valid for a running total.
pub fn curve_delta(curve: &RenyiCurve, epsilon: &Exact) -> Exact {
    orders_of(curve)
        .map(|loss| renyi_delta(&loss, epsilon))
        .min()
        .unwrap_or(Exact::ONE)
}

/// Rényi privacy of one order to (ε, δ) at a δ fixed in advance: see [`renyi_epsilon`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenyiToApprox {
    from: RenyiDp,
    delta: Exact,
}

impl RenyiToApprox {
    /// From this order, at a δ above 0 and below 1.
    pub fn new(from: RenyiDp, delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(RenyiToApprox {
            from,
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    RenyiToApprox, RenyiDp => ApproxDp,
    |this| (this.from.clone(), ApproxDp),
    "renyi-to-approximate", "order" = this.from.order().text(), "delta" = this.delta.text(),
    |loss| {
        crate::Measure::check(&this.from, loss)?;
        let nothing = loss.epsilon().is_zero();
        Ok(at_delta(nothing, renyi_epsilon(loss, &this.delta), &this.delta))
    }
}
impl ConvertsTotals for RenyiToApprox {}

/// A Rényi curve to (ε, δ) at a δ fixed in advance, by the best of its orders: see [`curve_epsilon`]. For one
/// measurement's own curve only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurveToApprox {
    from: RenyiCurveDp,
    delta: Exact,
}

impl CurveToApprox {
    /// From curves on these orders, at a δ above 0 and below 1.
    pub fn new(orders: Orders, delta: impl Parameter) -> Result<Self, RuleError> {
        Ok(CurveToApprox {
            from: RenyiCurveDp::new(orders),
            delta: check_delta(delta)?,
        })
    }
}

conversion! {
    CurveToApprox, RenyiCurveDp => ApproxDp,
    |this| (this.from.clone(), ApproxDp),
    "renyi-curve-to-approximate", "orders" = this.from.orders().text(), "delta" = this.delta.text(),
    |loss| {
        crate::Measure::check(&this.from, loss)?;
        let nothing = loss.epsilons().iter().any(Exact::is_zero);
        Ok(at_delta(nothing, curve_epsilon(loss, &this.delta), &this.delta))
    }
}

/// The loss `(ε, δ)`; no loss at all where nothing was lost.
pub(crate) fn at_delta(nothing: bool, epsilon: Exact, delta: &Exact) -> EpsilonDelta {
    if nothing {
        return EpsilonDelta::ZERO;
    }
    EpsilonDelta::saturating(epsilon, delta.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conversion;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    fn close(found: &Exact, expected: f64) {
        let found = found.to_f64(Round::Up);
        assert!(
            found >= expected * (1.0 - 1e-13) && found <= expected * (1.0 + 1e-12),
            "{found} {expected}"
        );
    }

    #[test]
    fn the_budgets_of_the_refuted_curve() {
        for (loss, target) in [("0.328344 at order 16", 1.0), ("0.862469 at order 64", 1.0)] {
            let loss: RenyiEpsilon = loss.parse().unwrap();
            let epsilon = renyi_epsilon(&loss, &exact("1e-6")).to_f64(Round::Up);
            assert!((epsilon - target).abs() < 1e-6, "{epsilon}");
            let delta = renyi_delta(&loss, &exact("1")).to_f64(Round::Up);
            assert!((delta - 1e-6).abs() < 1e-10, "{delta}");
        }
    }

    #[test]
    fn the_formula_both_ways() {
        let (alpha, tau, delta) = (3.5f64, 0.25f64, 1e-5f64);
        let expected = tau + (1.0 - 1.0 / alpha).ln() - (delta * alpha).ln() / (alpha - 1.0);
        let loss = "0.25 at order 3.5".parse().unwrap();
        let epsilon = renyi_epsilon(&loss, &exact("1e-5"));
        close(&epsilon, expected);
        close(&renyi_delta(&loss, &epsilon), delta);
    }

    #[test]
    fn a_curve_takes_its_best_order() {
        let orders = Orders::new([exact("16"), exact("64")]).unwrap();
        let curve = RenyiCurve::new(&orders, [exact("0.1"), exact("0.862469")]).unwrap();
        let one = renyi_epsilon(&"0.1 at order 16".parse().unwrap(), &exact("1e-6"));
        assert_eq!(curve_epsilon(&curve, &exact("1e-6")), one);
        let delta = renyi_delta(&"0.1 at order 16".parse().unwrap(), &exact("1"));
        assert_eq!(curve_delta(&curve, &exact("1")), delta);
    }

    #[test]
    fn edges() {
        let zero = "0 at order 2".parse().unwrap();
        assert_eq!(renyi_epsilon(&zero, &exact("1e-9")), Exact::ZERO);
        assert_eq!(renyi_delta(&zero, &Exact::ZERO), Exact::ZERO);
        let lost = "inf at order 2".parse().unwrap();
        assert_eq!(renyi_epsilon(&lost, &exact("0.5")), Exact::INFINITY);
        assert_eq!(renyi_delta(&lost, &exact("5")), Exact::ONE);
        let some = "1 at order 2".parse().unwrap();
        assert_eq!(renyi_epsilon(&some, &Exact::ZERO), Exact::INFINITY);
        assert_eq!(renyi_epsilon(&some, &Exact::ONE), Exact::ZERO);
        assert_eq!(renyi_delta(&some, &Exact::INFINITY), Exact::ZERO);
        assert!(renyi_delta(&some, &exact("10000")) > Exact::ZERO);
        let rule = RenyiToApprox::new(RenyiDp::new(exact("2")).unwrap(), exact("1e-6")).unwrap();
        assert!(rule.convert(&"1 at order 3".parse().unwrap()).is_err());
        assert!(RenyiToApprox::new(RenyiDp::new(exact("2")).unwrap(), Exact::ZERO).is_err());
    }
}
