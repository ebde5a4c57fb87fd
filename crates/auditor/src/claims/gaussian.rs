//! Gaussian differential privacy. The region of all adversaries is a polygon, that of `N(0, 1)` against `N(μ, 1)` is
//! convex; so it is enough that every corner `(x, y)` of the one satisfies `y ≤ Φ(Φ⁻¹(x) + μ)`.

use dashu_ratio::RBig;
use exact::{
    Exact,
    interval::{Float, Interval, upper_quantile, upper_tail},
};
use measures::{Mu, MuDelta};

use super::{Claim, Finding, no_guarantee};
use crate::{
    error::AuditError, factor::Enclosure, profile::Direction, report::Report, shown::digits,
};

impl<Q: Clone, A: Clone> Claim<Q, A> for Mu {
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        match Exact::to_rational(self.value()) {
            Some(mu) => within(report, |x| allowed(x, &mu)),
            None => Ok(no_guarantee()),
        }
    }
}

/// The region of `f_{0,δ} ⊗ G_μ` is convex, too: what is left of δ is the Gaussian region, smaller.
impl<Q: Clone, A: Clone> Claim<Q, A> for MuDelta {
    fn check(&self, report: &Report<Q, A>) -> Result<Finding<Q, A>, AuditError> {
        let coordinates = [self.mu(), self.delta()].map(|number| number.to_rational());
        match coordinates {
            [Some(mu), Some(delta)] if delta < RBig::ONE => {
                within(report, |x| allowed_beyond(x, &mu, &delta))
            }
            _ => Ok(no_guarantee()),
        }
    }
}

/// Whether every corner of the region of adversaries is within what is allowed.
fn within<Q: Clone, A: Clone>(
    report: &Report<Q, A>,
    allowed: impl Fn(&RBig) -> Enclosure<RBig>,
) -> Result<Finding<Q, A>, AuditError> {
    report.demand_everything("the trade-off curve")?;
    let mut undecided = None;
    // The region is symmetric, but rounding is not: a corner at (x, 1) is within it, its reflection (0, 1 − x) is not.
    for direction in Direction::BOTH {
        let profile = report.profile(direction);
        for (x, y) in profile.corners() {
            let allowed = allowed(x);
            if *y > allowed.most {
                let attack = report.attack(&profile.where_best(x, y), direction);
                return Ok(Finding::Refuted { attack });
            }
            if *y > allowed.least {
                let at = digits(x);
                undecided = Some(format!(
                    "an adversary is within rounding of the curve at {at}"
                ));
            }
        }
    }
    Ok(match undecided {
        Some(evidence) => Finding::Undecided { evidence },
        None => Finding::Holds {
            evidence: "every corner of the region of adversaries is within the Gaussian one".into(),
        },
    })
}

/// The precision of what is not rational.
const BITS: usize = 256;

/// The largest acceptance probability that μ allows where the other input's is `x`. Where `x` is too small or too close to
/// one for Φ⁻¹(x), all that is known is `x ≤ Φ(Φ⁻¹(x) + μ) ≤ 1`.
fn allowed(x: &RBig, mu: &RBig) -> Enclosure<RBig> {
    if x.is_zero() || *x >= RBig::ONE {
        return Enclosure::exactly(x.clone());
    }
    // P(Z > t) = x, and Φ(Φ⁻¹(x) + μ) = P(Z > t − μ).
    let from = quantile(x).map(|t| &t - &Interval::rational(mu, BITS));
    let found = from.and_then(|t| passing(&t));
    let most = found.as_ref().map(|found| found.most.clone());
    let least = found.map(|found| found.least.max(x.clone()));
    Enclosure {
        least: least.unwrap_or_else(|| x.clone()),
        most: most.unwrap_or(RBig::ONE),
    }
}

/// The same with δ: `δ + (1−δ)·Φ(Φ⁻¹(x/(1−δ)) + μ)`, and 1 from `x = 1−δ` on.
fn allowed_beyond(x: &RBig, mu: &RBig, delta: &RBig) -> Enclosure<RBig> {
    let kept = RBig::ONE - delta;
    let gaussian = allowed(&(x / &kept).min(RBig::ONE), mu);
    Enclosure {
        least: delta + &kept * gaussian.least,
        most: delta + &kept * gaussian.most,
    }
}

/// `P(Z > t)`. What is close to one keeps its digits as what is left to one, of which `2^-SMALLEST` is enough.
fn passing(t: &Interval) -> Option<Enclosure<RBig>> {
    const SMALLEST: i64 = 1 << 20;
    if !t.hi.is_negative() {
        let tail = upper_tail(t)?;
        let [least, most] = [tail.lo, tail.hi].map(|end| end.to_rational());
        return Some(Enclosure { least, most });
    }
    let rest = upper_tail(&-t)?;
    let most = match rest.lo.magnitude() < -SMALLEST {
        true => RBig::ONE,
        false => RBig::ONE - rest.lo.to_rational(),
    };
    let least = rest.hi.max(Float::power_of_two(-SMALLEST));
    Some(Enclosure {
        least: RBig::ONE - least.to_rational(),
        most,
    })
}

/// The `t` with `P(Z > t) = p`. A probability close to one keeps its digits as what is left to one.
fn quantile(p: &RBig) -> Option<Interval> {
    let rest = RBig::ONE - p;
    match *p <= rest {
        true => upper_quantile(&Interval::rational(p, BITS)),
        false => Some(-&upper_quantile(&Interval::rational(&rest, BITS))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::{IBig, UBig};

    fn close(found: &RBig, expected: f64) {
        assert!((found.to_f64().value() - expected).abs() <= 1e-15);
    }

    #[test]
    fn known_values() {
        let quarter = RBig::from_parts(1.into(), 4u8.into());
        // Φ(Φ⁻¹(1/4) + 1) = Φ(0.3255102498…)
        let at = allowed(&quarter, &RBig::ONE);
        close(&at.least, 0.627_602_536_780_774_9);
        assert!(at.least <= at.most && (at.most - at.least).to_f64().value() < 1e-17);
        let half = RBig::from_parts(1.into(), 2u8.into());
        close(&allowed(&half, &RBig::ZERO).most, 0.5);
    }

    #[test]
    fn far_out_little_is_known_and_nothing_wrong() {
        let at = |bits: usize| RBig::from_parts(IBig::ONE, UBig::ONE << bits);
        for x in [at(300), RBig::ONE - at(300)] {
            let found = allowed(&x, &at(3));
            assert!(x < found.least && found.least <= found.most && found.most < RBig::ONE);
        }
        let x = at(1 << 20);
        let found = allowed(&x, &RBig::ONE);
        assert_eq!((&found.least, found.most), (&x, RBig::ONE));
        let huge = RBig::from(UBig::ONE << 400);
        let found = allowed(&at(2), &huge);
        assert!(found.least < RBig::ONE && found.most == RBig::ONE);
    }
}
