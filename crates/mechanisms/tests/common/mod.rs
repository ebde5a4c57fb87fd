//! What the audits share.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;

use auditor::{Factor, Input, Report, audit, player};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::Measure;
use mechanisms::samplers::{DiscreteLaplace, Geometric};
use odometer::{Measurement, Space};
use queryable::{AskError, Canonical, Queryable, coins::Probability};

pub fn ratio(n: i64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

pub fn probability(n: u64, d: u64) -> Probability {
    Probability::new(n, d).unwrap()
}

pub fn exact(text: &str) -> Exact {
    text.parse().unwrap()
}

/// Discrete Laplace noise with a rational ratio, enumerated to a radius.
pub fn geometric(n: i64, d: u64, radius: u32) -> DiscreteLaplace {
    DiscreteLaplace::with_ratio(ratio(n, d))
        .unwrap()
        .enumerating(radius)
}

/// Geometric noise with a rational ratio, enumerated to the largest one.
pub fn one_sided(n: i64, d: u64, largest: u32) -> Geometric {
    Geometric::with_ratio(ratio(n, d))
        .unwrap()
        .enumerating(largest as usize + 1)
}

/// Audits a measurement that answers once.
pub fn audit_answer<S, M, A>(
    measurement: &Measurement<S, M, A>,
    zero: S::Data,
    one: S::Data,
) -> Report<(), A>
where
    S: Space,
    M: Measure,
    A: Canonical,
{
    let data = [Arc::new(zero), Arc::new(one)];
    let build = |input: Input, root: &queryable::Root| {
        let (root, data) = (root.clone(), Arc::clone(&data[input.index()]));
        let measurement = measurement.clone();
        Ok(player(move |()| {
            let answer = measurement.invoke_in(&root, &data);
            answer.map_err(|error| AskError::failed(error.to_string()))
        }))
    };
    audit(build).asking(1, |_| vec![()]).unwrap()
}

/// Audits a measurement that answers with a queryable, asked `depth` times any of `queries`.
pub fn audit_queryable<S, M, Q, A>(
    measurement: &Measurement<S, M, Queryable<Q, A>>,
    zero: S::Data,
    one: S::Data,
    depth: usize,
    queries: &[Q],
) -> Report<Q, A>
where
    S: Space,
    M: Measure,
    Q: Clone + PartialEq + Send + Sync + 'static,
    A: Canonical,
{
    audit_offering(measurement, zero, one, depth, |_| queries.to_vec())
}

/// Audits a measurement that answers with a queryable, asked these queries in this order.
pub fn audit_script<S, M, Q, A>(
    measurement: &Measurement<S, M, Queryable<Q, A>>,
    zero: S::Data,
    one: S::Data,
    script: &[Q],
) -> Report<Q, A>
where
    S: Space,
    M: Measure,
    Q: Clone + PartialEq + Send + Sync + 'static,
    A: Canonical,
{
    audit_offering(measurement, zero, one, script.len(), |time| {
        vec![script[time].clone()]
    })
}

fn audit_offering<S, M, Q, A>(
    measurement: &Measurement<S, M, Queryable<Q, A>>,
    zero: S::Data,
    one: S::Data,
    depth: usize,
    offer: impl Fn(usize) -> Vec<Q> + Sync,
) -> Report<Q, A>
where
    S: Space,
    M: Measure,
    Q: Clone + PartialEq + Send + Sync + 'static,
    A: Canonical,
{
    let data = [Arc::new(zero), Arc::new(one)];
    let build = |input: Input, root: &queryable::Root| {
        let queryable = measurement.invoke_in(root, &data[input.index()]);
        queryable.map_err(|error| AskError::failed(error.to_string()))
    };
    let next = |history: &[queryable::Exchange<Q, A>]| offer(history.len());
    audit(build).asking(depth, next).unwrap()
}

/// The bounds on δ at this ε: `(least, most)`, as floats. ε is rounded so that both are valid.
pub fn delta<Q, A>(report: &Report<Q, A>, epsilon: &Exact) -> (f64, f64) {
    let at = |round| report.delta(&Factor::of_epsilon(epsilon, round).unwrap());
    let least = at(Round::Up).least.to_f64().value();
    (least, at(Round::Down).most.to_f64().value())
}

/// The claimed pure loss holds up to `slack` (what truncated draws leave open), and one per cent less is refuted.
pub fn is_tight<Q, A>(report: &Report<Q, A>, epsilon: &Exact, slack: f64) {
    holds(report, epsilon, slack);
    let less = epsilon.mul(&exact("0.99"), Round::Up);
    let (least, _) = delta(report, &less);
    assert!(least > 0.0, "0.99 ε = {less} is not refuted");
}

/// The claimed pure loss holds up to `slack`, and this share of it (in per cent) is refuted.
pub fn bites<Q, A>(report: &Report<Q, A>, epsilon: &Exact, slack: f64, percent: u64) {
    holds(report, epsilon, slack);
    let less = epsilon.times(percent).split(100);
    let (least, _) = delta(report, &less);
    assert!(least > 0.0, "{percent} % of ε = {epsilon} is not refuted");
}

/// The claimed pure loss holds up to `slack`.
pub fn holds<Q, A>(report: &Report<Q, A>, epsilon: &Exact, slack: f64) {
    let (least, most) = delta(report, epsilon);
    assert!(most <= slack, "δ({epsilon}) may be {most}");
    assert!(least <= 0.0, "δ({epsilon}) is at least {least}");
}
