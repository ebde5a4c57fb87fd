//! Gaussian differential privacy. The region of all adversaries is a polygon, that of `N(0, 1)` against `N(μ, 1)` is
//! convex; so it is enough that every corner `(x, y)` of the one satisfies `y ≤ Φ(Φ⁻¹(x) + μ)`.

use dashu_ratio::RBig;
use exact::Exact;
use measures::Mu;

use super::{
    Claim, Verdict, no_guarantee,
    normal::{normal, quantile},
};
use crate::{audit::Report, error::AuditError, factor::Bounds, profile::Direction};

impl<Q: Clone, A: Clone> Claim<Q, A> for Mu {
    fn check(&self, report: &Report<Q, A>) -> Result<Verdict<Q, A>, AuditError> {
        let Some(mu) = Exact::to_rational(self.value()) else {
            return Ok(no_guarantee());
        };
        report.demand_everything("the trade-off curve")?;
        let mut undecided = None;
        // The region is symmetric: one direction's corners are the reflected corners of the other.
        for (x, y) in report.profile(Direction::ZeroOverOne).corners() {
            let allowed = allowed(x, &mu);
            if *y > allowed.most {
                let factor = report.profile(Direction::ZeroOverOne).where_best(x, y);
                let attack = report.attack(&factor, Direction::ZeroOverOne);
                return Ok(Verdict::Refuted { attack });
            }
            if *y > allowed.least {
                undecided = Some(format!(
                    "an adversary is within rounding of the curve at {x}"
                ));
            }
        }
        Ok(match undecided {
            Some(evidence) => Verdict::Undecided { evidence },
            None => Verdict::Holds {
                evidence: "every corner of the region of adversaries is within the Gaussian one"
                    .into(),
            },
        })
    }
}

/// The largest acceptance probability that μ allows where the other input's is `x`. Where Φ⁻¹(x) is not known, all that is
/// known is `x ≤ Φ(Φ⁻¹(x) + μ) ≤ 1`.
fn allowed(x: &RBig, mu: &RBig) -> Bounds<RBig> {
    if x.is_zero() || *x >= RBig::ONE {
        return Bounds::exactly(x.clone());
    }
    let from = quantile(x);
    let least = from.least.map(|least| normal(&(least + mu)).least);
    let most = from.most.map(|most| normal(&(most + mu)).most);
    Bounds {
        least: least.map_or_else(|| x.clone(), |least| least.max(x.clone())),
        most: most.unwrap_or(RBig::ONE),
    }
}
