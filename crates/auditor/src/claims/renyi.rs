//! Rényi privacy at one order, on several, and zero-concentrated privacy: at every order above one.

use exact::{Exact, Round};
use measures::{EpsilonDelta, RenyiCurve, RenyiEpsilon, Rho, RhoDelta};

use super::{Claim, Finding, no_guarantee};
use crate::{error::AuditError, factor::Enclosure, profile::Direction, report::Report};

impl<Q: Clone, A: Clone> Claim<Q, A> for RenyiEpsilon {
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        at_order(report, self.order(), self.epsilon())
    }
}

impl<Q: Clone, A: Clone> Claim<Q, A> for RenyiCurve {
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        let mut finding = no_guarantee();
        let claimed = self.orders().as_slice().iter().zip(self.epsilons());
        for (order, epsilon) in claimed.filter(|(_, epsilon)| epsilon.is_finite()) {
            finding = finding.and(|| at_order(report, order, epsilon))?;
        }
        Ok(finding)
    }
}

fn at_order<Q: Clone, A: Clone>(
    report: &Report<Q, A>,
    order: &Exact,
    claimed: &Exact,
) -> Result<Finding<Q, A>, AuditError> {
    if claimed.is_infinite() {
        return Ok(no_guarantee());
    }
    let mut worst = Enclosure::exactly(Exact::ZERO);
    for direction in Direction::BOTH {
        let found = report.renyi(order, direction)?;
        if found.least > *claimed {
            let attack = report.renyi_attack(order, direction)?;
            return Ok(Finding::Refuted { attack });
        }
        worst = worst.max(found);
    }
    let evidence =
        format!("the divergence of order {order} is {worst}, where {claimed} was claimed");
    Ok(match worst.most <= *claimed {
        true => Finding::Holds { evidence },
        false => Finding::Undecided { evidence },
    })
}

/// How many orders are tried at most before the auditor gives up.
const ORDERS: usize = 400;

impl<Q: Clone, A: Clone> Claim<Q, A> for Rho {
    /// The divergence `D(α)` grows with α, so `D(b) ≤ ρ·a` settles all orders from `a` to `b`; and from the order
    /// `ε/ρ` on nothing is left to show, where ε is the pure loss. A claim that is met with equality as α goes to one
    /// (that of randomized response) stays undecided.
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        let rho = self.value();
        if rho.is_infinite() {
            return Ok(no_guarantee());
        }
        let pure = report.factor(&dashu_ratio::RBig::ZERO);
        let most = pure.map_or(Exact::INFINITY, |factor| factor.epsilon().most);
        if most.is_zero() {
            let evidence = "the views are equal".into();
            return Ok(Finding::Holds { evidence });
        }
        let last = most.div(rho, Round::Up);
        if let Some(refuted) = refute(report, rho, &last)? {
            return Ok(refuted);
        }
        march(report, rho, &last)
    }
}

/// Tries orders close to one, and larger and larger ones.
fn refute<Q: Clone, A: Clone>(
    report: &Report<Q, A>,
    rho: &Exact,
    last: &Exact,
) -> Result<Option<Finding<Q, A>>, AuditError> {
    let mut above_one = Exact::ratio(1, 1 << 30).unwrap_or(Exact::ONE);
    for _ in 0..24 {
        let order = Exact::ONE + above_one.clone();
        let claimed = rho.mul(&order, Round::Up);
        for direction in Direction::BOTH {
            let least = report.renyi(&order, direction)?.least;
            // The product may be past all numbers; the claim is not.
            if least > claimed || least.is_infinite() {
                let attack = report.renyi_attack(&order, direction)?;
                return Ok(Some(Finding::Refuted { attack }));
            }
        }
        if order > *last {
            break;
        }
        above_one = above_one.times(4);
    }
    Ok(None)
}

fn march<Q: Clone, A: Clone>(
    report: &Report<Q, A>,
    rho: &Exact,
    last: &Exact,
) -> Result<Finding<Q, A>, AuditError> {
    let mut from = Exact::ONE;
    let mut step = Exact::ONE;
    for _ in 0..ORDERS {
        if from >= *last {
            let evidence = format!("the divergence of every order α is at most {rho}·α");
            return Ok(Finding::Holds { evidence });
        }
        let to = &from + &step;
        let [zero, one] = Direction::BOTH;
        let found = report.renyi(&to, zero)?.max(report.renyi(&to, one)?);
        if found.most <= rho.mul(&from, Round::Down) {
            (from, step) = (to, step.times(2));
        } else {
            step = step.div(&4u32.into(), Round::Down);
            if step.is_zero() {
                break;
            }
        }
    }
    let from = from.decimal(13, Round::Down);
    let evidence =
        format!("all orders up to {from} hold; from there the claim is too tight to tell");
    Ok(Finding::Undecided { evidence })
}

impl<Q: Clone, A: Clone> Claim<Q, A> for RhoDelta {
    /// Holds if some (ε, δ) holds with `ε·tanh(ε/2) ≤ ρ`, since then the views are those of an ε-private system except
    /// with probability δ; or if ρ holds without δ. Refuted if an (ε, δ′) that follows is refuted. Undecided between.
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        let (rho, delta) = (self.rho(), self.delta());
        if self.is_infinite() {
            return Ok(no_guarantee());
        }
        let share = delta.to_rational().unwrap_or(dashu_ratio::RBig::ONE);
        if let Some(factor) = report.factor(&share) {
            let epsilon = factor.epsilon().most;
            let half = epsilon.mul(&Exact::ratio(1, 2).unwrap_or(Exact::ONE), Round::Up);
            if epsilon.mul(&half.tanh(Round::Up), Round::Up) <= *rho {
                let evidence = format!("({epsilon}, {delta})-privacy holds, and implies it");
                return Ok(Finding::Holds { evidence });
            }
        }
        let pure = Rho::from(rho.clone());
        if let Ok(finding) = pure.check(report)
            && finding.holds()
        {
            return Ok(finding);
        }
        // At ε = ρ + 2√(ρx), the δ of ρ-zCDP is e^−x: here for x in quarters.
        for quarters in 1..100 {
            let epsilon = rho + &rho.times(quarters).sqrt(Round::Up);
            let implied = EpsilonDelta::saturating(epsilon.clone(), delta + &tail(rho, &epsilon));
            let finding = implied.check(report)?;
            if finding.attack().is_some() {
                return Ok(finding);
            }
        }
        let evidence = "no (ε, δ) decides it".into();
        Ok(Finding::Undecided { evidence })
    }
}

/// The δ of ρ-zCDP at `ε ≥ ρ` (\[BS16\] Prop 1.3), rounded up: `exp(−(ε − ρ)²/(4ρ))`.
fn tail(rho: &Exact, epsilon: &Exact) -> Exact {
    let above = epsilon.saturating_sub(rho);
    let exponent = above
        .mul(&above, Round::Down)
        .div(&rho.times(4), Round::Down);
    exponent.exp_neg(Round::Up)
}
