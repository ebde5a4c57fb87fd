//! The accountant as composition rules for compositors: losses in, one loss out. Only for losses fixed in advance.

use exact::{Exact, Parameter};
use measures::{
    ApproxDp, Epsilon, EpsilonDelta, FixedRule, Interleaving, Measure, Name, Profile, ProfileDp,
    PureDp, Rule, RuleError,
};

use crate::{Accountant, AccountantError, Mechanism};

/// Optimal composition of (ε, δ) losses, certified, however many and different they are: the least ε at a δ chosen in
/// advance, up to about a relative `1e-5`. Where [`Optimal`](measures::fixed::Optimal) is exact (equal losses, few
/// different ones) its value is given.
///
/// Hypotheses: all losses are fixed before the first launch. Children may be interactive and interleave, with finite
/// communication: every (ε, δ) mechanism is simulated from its pair (\[VW21\] Thm 5.6 and \[HST+23\] Thm 3.4).
///
/// ```
/// use odometry::accountant::CertifiedApprox;
/// use odometry::measures::{EpsilonDelta, FixedRule};
/// let losses: Vec<EpsilonDelta> = (0..1000)
///     .map(|i| format!("(0.0{}, 0)", 17_000 + 33 * i).parse())
///     .collect::<Result<_, _>>()?;
/// let total = CertifiedApprox::new("1e-6")?.compose(&losses)?;
/// assert!(total.at_most(&"(5.4374, 1e-6)".parse()?)); // exactly 5.43730…
/// # use odometry::measures::Loss;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is not valid where losses are chosen adaptively, and is not accepted there:
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl odometry::measures::FilterRule) {}
/// filter(odometry::accountant::CertifiedApprox::new("1e-6").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedApprox {
    delta: Exact,
}

impl CertifiedApprox {
    /// The rule for this δ, between 0 and 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        let delta = RuleError::read("δ_g", delta)?;
        if delta > Exact::ONE {
            return Err(RuleError::parameter("δ_g", &delta, "between 0 and 1"));
        }
        Ok(CertifiedApprox { delta })
    }
}

impl Rule for CertifiedApprox {
    type Child = ApproxDp;
    type Total = ApproxDp;
    const INTERLEAVING: Interleaving = Interleaving::ConcurrentFinite;

    fn child(&self) -> ApproxDp {
        ApproxDp
    }

    fn total(&self) -> ApproxDp {
        ApproxDp
    }

    fn name(&self) -> Option<Name> {
        Some(Name::new("certified").with("delta", self.delta.text()))
    }
}

impl FixedRule for CertifiedApprox {
    fn compose(&self, losses: &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError> {
        if losses.is_empty() {
            return Ok(EpsilonDelta::ZERO);
        }
        let mechanisms = losses.iter().cloned().map(Mechanism::from);
        let epsilon = accountant(mechanisms)
            .epsilon(&self.delta)
            .map_err(rule_error)?;
        Ok(EpsilonDelta::saturating(epsilon, self.delta.clone()))
    }
}

/// [`CertifiedApprox`] for children that are purely private. They may interleave freely, with no hypothesis on their messages
/// (\[VW21\] Thm 5.7).
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl odometry::measures::FilterRule) {}
/// filter(odometry::accountant::CertifiedPure::new("1e-6").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedPure(CertifiedApprox);

impl CertifiedPure {
    /// The rule for this δ, between 0 and 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        CertifiedApprox::new(delta).map(CertifiedPure)
    }
}

impl Rule for CertifiedPure {
    type Child = PureDp;
    type Total = ApproxDp;
    const INTERLEAVING: Interleaving = Interleaving::Concurrent;

    fn child(&self) -> PureDp {
        PureDp
    }

    fn total(&self) -> ApproxDp {
        ApproxDp
    }

    fn name(&self) -> Option<Name> {
        Some(Name::new("certified-pure").with("delta", self.0.delta.text()))
    }
}

impl FixedRule for CertifiedPure {
    fn compose(&self, losses: &[Epsilon]) -> Result<EpsilonDelta, RuleError> {
        let losses: Vec<EpsilonDelta> = losses.iter().cloned().map(EpsilonDelta::from).collect();
        self.0.compose(&losses)
    }
}

/// Composition of whole profiles, certified: the profile of everything together, at ε chosen in advance. A profile's own
/// pair of laws dominates its mechanism, also under composition (\[ZDW22\] Thm 10).
///
/// Hypotheses: as for [`CertifiedApprox`]. Rounding: up; in between the ε, the profile's convexity bounds δ.
///
/// ```
/// use odometry::accountant::CertifiedProfile;
/// use odometry::measures::{FixedRule, Profile};
/// let rule = CertifiedProfile::new(["0.5", "1", "2"])?;
/// let children = vec![Profile::new(["(0.1, 0)".parse()?]); 20];
/// let delta = rule.compose(&children)?.delta_at(&"1".parse()?);
/// assert!(delta >= "0.0023966924".parse()? && delta < "0.00241".parse()?); // exactly 0.00239669…
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl odometry::measures::FilterRule) {}
/// filter(odometry::accountant::CertifiedProfile::new([1]).unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedProfile {
    epsilons: Vec<Exact>,
}

impl CertifiedProfile {
    /// The rule that reports δ at these ε: at least one, finite.
    ///
    /// # Errors
    /// [`RuleError::Parameter`].
    pub fn new(epsilons: impl IntoIterator<Item: Parameter>) -> Result<Self, RuleError> {
        let read = |epsilon| RuleError::read("ε", epsilon);
        let mut epsilons: Vec<Exact> = epsilons.into_iter().map(read).collect::<Result<_, _>>()?;
        epsilons.retain(Exact::is_finite);
        match epsilons.is_empty() {
            true => Err(RuleError::parameter(
                "epsilons",
                &"[]",
                "at least one, finite",
            )),
            false => Ok(CertifiedProfile { epsilons }),
        }
    }
}

impl Rule for CertifiedProfile {
    type Child = ProfileDp;
    type Total = ProfileDp;
    const INTERLEAVING: Interleaving = Interleaving::ConcurrentFinite;

    fn child(&self) -> ProfileDp {
        ProfileDp
    }

    fn total(&self) -> ProfileDp {
        ProfileDp
    }

    fn name(&self) -> Option<Name> {
        let epsilons: Vec<String> = self.epsilons.iter().map(Exact::text).collect();
        Some(Name::new("certified-profile").with("epsilons", epsilons.join(" ")))
    }
}

impl FixedRule for CertifiedProfile {
    fn compose(&self, losses: &[Profile]) -> Result<Profile, RuleError> {
        if losses.is_empty() {
            return Ok(ProfileDp.zero());
        }
        let mut counts: Vec<(&Profile, u64)> = Vec::new();
        for loss in losses {
            match counts.iter_mut().find(|(known, _)| *known == loss) {
                Some((_, count)) => *count += 1,
                None => counts.push((loss, 1)),
            }
        }
        let all = counts
            .iter()
            .fold(Accountant::new(), |all, (profile, count)| {
                all.add(Mechanism::from(*profile), *count)
            });
        let curve = all
            .curve(self.epsilons.iter().cloned())
            .map_err(rule_error)?;
        let claim = |(epsilon, delta)| EpsilonDelta::saturating(epsilon, delta);
        Ok(Profile::new(curve.into_iter().map(claim)))
    }
}

fn accountant(mechanisms: impl Iterator<Item = Mechanism>) -> Accountant {
    mechanisms.fold(Accountant::new(), |all, one| all.add(one, 1))
}

fn rule_error(error: AccountantError) -> RuleError {
    match error {
        AccountantError::Parameter {
            name,
            value,
            expected,
        } => RuleError::parameter(name, &value, expected),
        other => RuleError::parameter("losses", &other, "fewer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These texts are in files that outlive the code.
    #[test]
    fn rules_keep_their_names() {
        let text = |name: Option<Name>| name.unwrap().to_string();
        let approximate = CertifiedApprox::new("1e-6").unwrap();
        assert_eq!(text(approximate.name()), "certified{delta=0.000001}");
        let pure = CertifiedPure::new("1e-6").unwrap();
        assert_eq!(text(pure.name()), "certified-pure{delta=0.000001}");
        let profile = CertifiedProfile::new(["0.5", "2"]).unwrap();
        assert_eq!(text(profile.name()), "certified-profile{epsilons=0.5 2}");
    }
}
