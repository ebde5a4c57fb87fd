//! Pure and approximate differential privacy, straight from the profile.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Epsilon, EpsilonDelta};

use super::{Claim, Finding, no_guarantee};
use crate::{error::AuditError, factor::Factor, profile::Direction, report::Report, shown::shown};

impl<Q: Clone, A: Clone> Claim<Q, A> for Epsilon {
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        Ok(check(report, self.value(), &RBig::ZERO))
    }
}

impl<Q: Clone, A: Clone> Claim<Q, A> for EpsilonDelta {
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        let delta = self.delta().to_rational().unwrap_or(RBig::ONE);
        Ok(check(report, self.epsilon(), &delta))
    }
}

/// δ falls with `e^ε`: rounded down, the factor gives an upper bound on δ(ε), rounded up a lower bound.
fn check<Q: Clone, A: Clone>(
    report: &Report<Q, A>,
    epsilon: &Exact,
    claimed: &RBig,
) -> Finding<Q, A> {
    let low = Factor::of_epsilon(epsilon, Round::Down);
    let Some(low) = low.filter(|_| *claimed < RBig::ONE) else {
        return no_guarantee();
    };
    let high = Factor::of_epsilon(epsilon, Round::Up);
    for direction in Direction::BOTH {
        let profile = report.profile(direction);
        let certain = match &high {
            Some(high) => profile.delta(high).least,
            // Past all numbers, all that is certain is what no ε excuses.
            None => profile.delta_at_infinity().least,
        };
        if certain > *claimed {
            let factor = high.unwrap_or_else(|| profile.where_best(&RBig::ZERO, &certain));
            let attack = report.attack(&factor, direction);
            return Finding::Refuted { attack };
        }
    }
    let most = report.delta(&low).most;
    let evidence = format!(
        "δ(ε) ≤ {} where {} was claimed",
        shown(&most, Round::Up),
        shown(claimed, Round::Up)
    );
    if most > *claimed && report.graph.outline().is_truncated() {
        let evidence =
            format!("{evidence}; draws were truncated, and what was enumerated holds no attack");
        return Finding::Undecided { evidence };
    }
    if most > *claimed {
        return Finding::Undecided { evidence };
    }
    let epsilon = match report.factor(claimed) {
        // An exact number is shown rounded up.
        Some(factor) => format!("; ε = {} would do at this δ", factor.epsilon().most),
        None => String::new(),
    };
    Finding::Holds {
        evidence: evidence + &epsilon,
    }
}
