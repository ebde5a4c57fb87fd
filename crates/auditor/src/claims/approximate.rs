//! Pure and approximate differential privacy, straight from the profile.

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Epsilon, EpsilonDelta};

use super::{Claim, Verdict, no_guarantee};
use crate::{attack::shown, audit::Report, error::AuditError, factor::Factor, profile::Direction};

impl<Q: Clone, A: Clone> Claim<Q, A> for Epsilon {
    fn check(&self, report: &Report<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
        Ok(check(report, self.value(), &RBig::ZERO))
    }
}

impl<Q: Clone, A: Clone> Claim<Q, A> for EpsilonDelta {
    fn check(&self, report: &Report<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
        let delta = self.delta().to_rational().unwrap_or(RBig::ONE);
        Ok(check(report, self.epsilon(), &delta))
    }
}

/// δ falls with `e^ε`: rounded down, the factor gives an upper bound on δ(ε), rounded up a lower bound.
fn check<Q: Clone, A: Clone>(
    report: &Report<Q, A>,
    epsilon: &Exact,
    claimed: &RBig,
) -> Verdict<Q, A> {
    let factors = [Round::Down, Round::Up].map(|round| Factor::of_epsilon(epsilon, round));
    let [Some(low), Some(high)] = factors else {
        return no_guarantee();
    };
    if *claimed >= RBig::ONE {
        return no_guarantee();
    }
    for direction in Direction::BOTH {
        if report.profile(direction).delta(&high).least > *claimed {
            let attack = report.attack(&high, direction);
            return Verdict::Refuted { attack };
        }
    }
    let most = report.delta(&low).most;
    let evidence = format!(
        "δ(ε) ≤ {} where {} was claimed",
        shown(&most),
        shown(claimed)
    );
    if most > *claimed {
        return Verdict::Undecided { evidence };
    }
    let epsilon = match report.factor(claimed) {
        Some(factor) => format!("; ε = {} would do at this δ", factor.epsilon()),
        None => String::new(),
    };
    Verdict::Holds {
        evidence: evidence + &epsilon,
    }
}
