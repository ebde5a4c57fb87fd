//! Losses that are whole curves: privacy profiles and trade-off functions.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Profile, Tradeoff};

use super::{Claim, Finding, no_guarantee};
use crate::{
    error::AuditError,
    factor::Factor,
    profile::Direction,
    report::Report,
    shown::{digits, shown},
};

impl<Q: Clone, A: Clone> Claim<Q, A> for Profile {
    /// Both curves are convex in `e^ε`, and between two corners the claimed one is a line: it is enough to compare them
    /// at its corners and at ε = 0.
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        if self.delta_at(&Exact::INFINITY) >= Exact::ONE {
            return Ok(no_guarantee());
        }
        let mut undecided = None;
        let start = (Exact::ONE, self.delta_at(&Exact::ZERO));
        for (odds, delta) in self.corners().chain([start]) {
            let out_of_range = |value: &Exact| AuditError::Parameter {
                name: "a corner of the profile",
                value: value.to_string(),
                expected: "a finite number",
            };
            let odds = odds.to_rational().ok_or_else(|| out_of_range(&odds))?;
            let delta = delta.to_rational().ok_or_else(|| out_of_range(&delta))?;
            let factor = Factor::try_from(odds)?;
            let found = report.delta(&factor);
            if found.least > delta {
                let attack = report.best_attack(&factor);
                return Ok(Finding::Refuted { attack });
            }
            if found.most > delta {
                let at = digits(factor.as_rational());
                let delta = shown(&delta, Round::Up);
                undecided = Some(format!(
                    "δ is {found} at e^ε = {at}, where {delta} was claimed"
                ));
            }
        }
        Ok(settled(
            undecided,
            "δ is below the claimed profile at each of its corners",
        ))
    }
}

impl<Q: Clone, A: Clone> Claim<Q, A> for Tradeoff {
    /// Between two of its corners the true curve is a line and the claimed one is convex: it is enough to compare them at
    /// the corners of the true curve.
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        if self.at(&Exact::ZERO, Round::Up).is_zero() {
            return Ok(no_guarantee());
        }
        report.demand_everything("the trade-off curve")?;
        let mut undecided = None;
        for direction in Direction::BOTH {
            for (x, y) in report.profile(direction).corners() {
                let miss = RBig::ONE - y;
                let claimed = |place: Round, value: Round| {
                    let x = Exact::from_rational(x, place).unwrap_or(Exact::ONE);
                    self.at(&x, value).to_rational().unwrap_or(RBig::ONE)
                };
                if miss < claimed(Round::Up, Round::Down) {
                    let factor = report.profile(direction).where_best(x, y);
                    let attack = report.attack(&factor, direction);
                    return Ok(Finding::Refuted { attack });
                }
                if miss < claimed(Round::Down, Round::Up) {
                    let at = digits(x);
                    undecided = Some(format!("a test is within rounding of the claim at {at}"));
                }
            }
        }
        Ok(settled(undecided, "no test is better than claimed"))
    }
}

fn settled<Q, A>(undecided: Option<String>, holds: &str) -> Finding<Q, A> {
    match undecided {
        Some(evidence) => Finding::Undecided { evidence },
        None => Finding::Holds {
            evidence: holds.into(),
        },
    }
}
