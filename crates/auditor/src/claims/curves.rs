//! Losses that are whole curves: privacy profiles and trade-off functions.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Profile, Tradeoff};

use super::{Claim, Verdict};
use crate::{audit::Report, error::AuditError, factor::Factor, profile::Direction};

impl<Q: Clone, A: Clone> Claim<Q, A> for Profile {
    /// Both curves are convex in `e^ε`, and between two corners the claimed one is a line: it is enough to compare them
    /// at its corners and at ε = 0.
    fn check(&self, report: &Report<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
        let mut undecided = None;
        let start = (Exact::ONE, self.delta_at(&Exact::ZERO));
        for (odds, delta) in self.corners().chain([start]) {
            let (Some(odds), Some(delta)) = (odds.to_rational(), delta.to_rational()) else {
                continue;
            };
            let factor = Factor::try_from(odds)?;
            let found = report.delta(&factor);
            if found.least > delta {
                let attack = report.best_attack(&factor);
                return Ok(Verdict::Refuted { attack });
            }
            if found.most > delta {
                undecided = Some(format!(
                    "δ is {found} at e^ε = {factor}, where {delta} was claimed"
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
    fn check(&self, report: &Report<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
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
                    return Ok(Verdict::Refuted { attack });
                }
                if miss < claimed(Round::Down, Round::Up) {
                    undecided = Some(format!("a test is within rounding of the claim at {x}"));
                }
            }
        }
        Ok(settled(undecided, "no test is better than claimed"))
    }
}

fn settled<Q, A>(undecided: Option<String>, holds: &str) -> Verdict<Q, A> {
    match undecided {
        Some(evidence) => Verdict::Undecided { evidence },
        None => Verdict::Holds {
            evidence: holds.into(),
        },
    }
}
