//! Optimal composition of losses fixed in advance.

mod different;
mod equal;
mod least_epsilon;

use std::collections::BTreeMap;

use exact::{Exact, Parameter};

use self::different::{DifferentLoss, Group};
use self::equal::EqualLoss;
use self::least_epsilon::{Target, delta_of, epsilon_of, target};
use crate::{Epsilon, EpsilonDelta, FixedRule, RuleError, convert};
use exact::interval::Float;

/// Optimal composition: the least `ε_g` for a `δ_g` fixed in advance (\[VW21\] Thm 1.4 and 5.6; \[KOV15\], \[MV16\]),
/// that is the least one with
///
/// `Σ_S max(P(S) − e^ε_g Q(S), 0) ≤ 1 − (1−δ_g)/Π(1−δ_j)`,
///
/// over all outcomes `S` of randomized responses with parameters `ε_j`. If the `δ_j` alone exceed `δ_g`, no `ε_g`
/// exists and the answer is [`EpsilonDelta::INFINITY`].
///
/// Hypotheses: all losses are fixed before the first launch. Children may be interactive and interleave, with finite
/// communication (\[HST+23\] Thm 3.4), or with countable answers and every `ε_j > 0` (\[HSV25\] Thm 12.4). Rounding:
/// up; which bound on the excess holds, [`Optimal::method`] says.
///
/// ```
/// use odometry::measures::fixed::Optimal;
/// use odometry::measures::FixedRule;
/// let rule = Optimal::new("1e-6")?;
/// let total = rule.compose_n(&"(0.1, 0)".parse()?, 100);
/// assert!(*total.epsilon() < "5".parse()?); // 10 by the plain sum
/// let mixed = rule.compose(&["(0.1, 0)".parse()?, "(0.2, 1e-7)".parse()?])?;
/// assert!(*mixed.epsilon() <= "0.3".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is not valid where losses are chosen adaptively, and is not accepted there:
///
/// ```compile_fail,E0277
/// fn odometer(_rule: impl odometry::measures::Adaptive) {}
/// odometer(odometry::measures::fixed::Optimal::new("1e-6").unwrap());
/// ```
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl odometry::measures::FilterRule) {}
/// filter(odometry::measures::fixed::Optimal::new("1e-6").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimal {
    delta: Exact,
}

/// How [`Optimal`] computes, and how far above the exact `ε_g` its answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Equal ε: sums of binomial weights, at most `1e-12` above the exact value. Should 2^11 bits not suffice, or δ be
    /// so small that more than 2^21 weights matter, the bound of [`Concentrated`](Method::Concentrated) is given.
    Equal,
    /// Few different ε: all outcomes are enumerated, at most `1e-12` above the exact value.
    Enumerated,
    /// More than `2^32` equal or too many different ε: the zCDP bound, valid but not optimal. The rule `CertifiedApprox` of the
    /// crate `accountant` is optimal up to a relative `1e-5` there.
    Concentrated,
}

/// Equal parameters beyond this are not summed.
const MOST_EQUAL: u64 = 1 << 32;

/// The children's losses, counted.
struct Losses {
    /// The ε above zero.
    epsilons: Vec<(Exact, u64)>,
    deltas: Vec<(Exact, u64)>,
    sum: Exact,
}

impl Optimal {
    /// The rule for this `δ_g`, between 0 and 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        let delta = RuleError::read("δ_g", delta)?;
        if delta > Exact::ONE {
            return Err(RuleError::parameter("δ_g", &delta, "between 0 and 1"));
        }
        Ok(Optimal { delta })
    }

    /// The loss of `k` children that all have the same loss: `compose` of `k` copies, without the copies.
    pub fn compose_n(&self, loss: &EpsilonDelta, k: u64) -> EpsilonDelta {
        self.of_losses(&count([(loss, k)]))
    }

    /// The method for these losses.
    pub fn method(&self, losses: &[EpsilonDelta]) -> Method {
        method(&count(losses.iter().map(|loss| (loss, 1))))
    }

    /// The loss of children that are given with their counts: `compose`, without the copies.
    pub fn compose_counted(&self, losses: &[(EpsilonDelta, u64)]) -> EpsilonDelta {
        self.of_losses(&count(losses.iter().map(|(loss, n)| (loss, *n))))
    }

    /// The method for losses that are given with their counts.
    pub fn method_counted(losses: &[(EpsilonDelta, u64)]) -> Method {
        method(&count(losses.iter().map(|(loss, n)| (loss, *n))))
    }

    fn of_losses(&self, losses: &Losses) -> EpsilonDelta {
        if losses.deltas.is_empty() {
            return EpsilonDelta::ZERO;
        }
        if losses.sum.is_infinite() || losses.deltas.iter().any(|(delta, _)| *delta >= Exact::ONE) {
            return EpsilonDelta::INFINITY;
        }
        EpsilonDelta::saturating(self.epsilon(losses), self.delta.clone())
    }

    fn epsilon(&self, losses: &Losses) -> Exact {
        let (deltas, sum) = (&losses.deltas, &losses.sum);
        let exactly = match (method(losses), losses.epsilons.as_slice()) {
            (Method::Equal, [(epsilon, k)]) => {
                epsilon_of(&self.delta, deltas, sum, |smallest, bits| {
                    EqualLoss::new(epsilon, *k, smallest, bits)
                })
            }
            (Method::Equal | Method::Enumerated, _) => {
                let groups = groups(losses);
                epsilon_of(&self.delta, deltas, sum, |_, bits| {
                    DifferentLoss::new(&groups, bits)
                })
            }
            (Method::Concentrated, _) => None,
        };
        exactly.unwrap_or_else(|| self.left(losses, |left| Some(concentrated(losses, left))))
    }

    /// The better of the plain sum and what `bound` makes of the δ that the children leave.
    fn left(&self, losses: &Losses, bound: impl Fn(Exact) -> Option<Exact>) -> Exact {
        match target(&self.delta, &losses.deltas, 256) {
            Target::Missed => Exact::INFINITY,
            Target::Zero => losses.sum.clone(),
            Target::Left(left) => bound(left.lower()).map_or(losses.sum.clone(), |epsilon| {
                epsilon.min(losses.sum.clone())
            }),
        }
    }
}

fn count<'a>(losses: impl IntoIterator<Item = (&'a EpsilonDelta, u64)>) -> Losses {
    let mut epsilons = BTreeMap::<&Exact, u64>::new();
    let mut deltas = BTreeMap::<&Exact, u64>::new();
    let mut sum = Exact::ZERO;
    for (loss, n) in losses.into_iter().filter(|(_, n)| *n > 0) {
        *epsilons.entry(loss.epsilon()).or_default() += n;
        *deltas.entry(loss.delta()).or_default() += n;
        sum += loss.epsilon().times(n);
    }
    epsilons.remove(&Exact::ZERO);
    Losses {
        epsilons: owned(epsilons),
        deltas: owned(deltas),
        sum,
    }
}

fn owned(counts: BTreeMap<&Exact, u64>) -> Vec<(Exact, u64)> {
    counts
        .into_iter()
        .map(|(key, n)| (key.clone(), n))
        .collect()
}

fn method(losses: &Losses) -> Method {
    match losses.epsilons.as_slice() {
        [] => Method::Enumerated,
        [(_, k)] if *k <= MOST_EQUAL => Method::Equal,
        _ if DifferentLoss::is_feasible(&groups(losses)) => Method::Enumerated,
        _ => Method::Concentrated,
    }
}

fn groups(losses: &Losses) -> Vec<Group> {
    let group = |(epsilon, count): &(Exact, u64)| {
        epsilon.to_rational().map(|epsilon| Group {
            epsilon,
            count: *count,
        })
    };
    losses.epsilons.iter().filter_map(group).collect()
}

/// By zCDP: every ε is `ε tanh(ε/2)`-zCDP, the sum converts at the δ that is left.
fn concentrated(losses: &Losses, delta: Exact) -> Exact {
    let rho = losses
        .epsilons
        .iter()
        .map(|(epsilon, k)| {
            convert::pure_to_zcdp(&Epsilon::new(epsilon.clone()))
                .value()
                .times(*k)
        })
        .sum::<Exact>();
    convert::zcdp_epsilon(&rho.into(), &delta)
}

rule! { Optimal, ApproxDp => ApproxDp, ConcurrentFinite, |rule| {
    crate::Name::new("optimal").with("delta", rule.delta.text())
} }

impl FixedRule for Optimal {
    fn compose(&self, losses: &[EpsilonDelta]) -> Result<EpsilonDelta, RuleError> {
        Ok(self.of_losses(&count(losses.iter().map(|loss| (loss, 1)))))
    }
}

/// [`Optimal`] for children that are purely private. They may interleave freely, with no hypothesis on their messages
/// (\[VW21\] Thm 5.7).
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl odometry::measures::FilterRule) {}
/// filter(odometry::measures::fixed::OptimalPure::new("1e-6").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptimalPure(Optimal);

impl OptimalPure {
    /// The rule for this `δ_g`, between 0 and 1.
    pub fn new(delta: impl Parameter) -> Result<Self, RuleError> {
        Optimal::new(delta).map(OptimalPure)
    }

    /// The loss of `k` children that all have the same loss.
    pub fn compose_n(&self, loss: &Epsilon, k: u64) -> EpsilonDelta {
        self.0.compose_n(&loss.clone().into(), k)
    }
}

rule! { OptimalPure, PureDp => ApproxDp, Concurrent, |rule| {
    crate::Name::new("optimal-pure").with("delta", rule.0.delta.text())
} }

impl FixedRule for OptimalPure {
    fn compose(&self, losses: &[Epsilon]) -> Result<EpsilonDelta, RuleError> {
        let losses: Vec<EpsilonDelta> = losses.iter().cloned().map(EpsilonDelta::from).collect();
        self.0.compose(&losses)
    }
}

/// The least δ at which these losses, fixed in advance, compose to `epsilon`: the curve that [`Optimal`] inverts
/// (\[VW21\] Thm 5.6 solved for `δ_g`). Rounded up, by a relative `2^-70`; `None` if the parameters are too many to be
/// summed or enumerated, and if ε or the loss of a child is infinite.
///
/// ```
/// let two = ["(0.5, 0)".parse()?, "(0.5, 0)".parse()?];
/// let delta = odometry::measures::fixed::optimal_delta(&two, &"0.8".parse()?);
/// assert!(delta.is_some_and(|delta| delta < "0.1".parse().unwrap()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn optimal_delta(losses: &[EpsilonDelta], epsilon: &Exact) -> Option<Exact> {
    least_delta(&count(losses.iter().map(|loss| (loss, 1))), epsilon)
}

/// [`optimal_delta`] of losses that are given with their counts.
pub fn optimal_delta_counted(losses: &[(EpsilonDelta, u64)], epsilon: &Exact) -> Option<Exact> {
    least_delta(&count(losses.iter().map(|(loss, n)| (loss, *n))), epsilon)
}

fn least_delta(losses: &Losses, epsilon: &Exact) -> Option<Exact> {
    if losses.sum.is_infinite() || epsilon.is_infinite() {
        return None;
    }
    match (method(losses), losses.epsilons.as_slice()) {
        (Method::Equal, [(each, k)]) => {
            let smallest = Float::power_of_two(-1200);
            delta_of(&losses.deltas, epsilon, |bits| {
                EqualLoss::new(each, *k, &smallest, bits)
            })
        }
        (Method::Enumerated, _) => {
            let groups = groups(losses);
            delta_of(&losses.deltas, epsilon, |bits| {
                DifferentLoss::new(&groups, bits)
            })
        }
        _ => None,
    }
}
