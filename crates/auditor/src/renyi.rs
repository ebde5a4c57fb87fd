//! Rényi divergences over all adaptive adversaries: the same recursion with `y^α·x^(1−α)` at the leaves.
//!
//! Zeros: `x = y = 0` and `y = 0 < x` give 0, `y > 0 = x` gives infinity. Integer orders are exact rational power sums;
//! other orders are sums of intervals, rounded outwards.

use std::cmp::Ordering;

use dashu_base::BitTest;
use dashu_ratio::RBig;
use exact::{Exact, Round};

use crate::{
    attack::{Attack, Plan},
    error::AuditError,
    factor::{Enclosure, ln},
    graph::Graph,
    links::Outline,
    profile::Direction,
};

/// A power sum; more than any number if it is infinite.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Finite(RBig),
    Infinite,
}

impl Moment {
    fn plus(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(a + b),
            _ => Self::Infinite,
        }
    }
}

/// How many bits an exact power may have.
const MAX_BITS: usize = 1 << 24;

/// The largest `Σ y^α·x^(1−α)` over adversaries, exactly; `None` for infinity.
pub(crate) fn power_sum(
    graph: Outline<'_>,
    order: u32,
    direction: Direction,
) -> Result<Option<RBig>, AuditError> {
    graph.demand_everything("a Rényi divergence")?;
    let bits = graph
        .masses
        .denominator
        .bit_len()
        .saturating_mul(order as usize);
    if bits > MAX_BITS {
        return Err(AuditError::Parameter {
            name: "the order",
            value: order.to_string(),
            expected: "small enough for an exact power sum: see `renyi` for bounds",
        });
    }
    let over = direction.over();
    let worth = |at: usize| {
        let [y, x] = [over, 1 - over].map(|input| graph.masses.of(at, input));
        match (y.is_zero(), x.is_zero()) {
            (true, _) => Moment::Finite(RBig::ZERO),
            (false, true) => Moment::Infinite,
            (false, false) => Moment::Finite(&y * (&y / x).pow(order as isize - 1)),
        }
    };
    Ok(match Plan::best(graph.nodes, worth, Moment::plus).1 {
        Moment::Finite(value) => Some(value),
        Moment::Infinite => None,
    })
}

/// The largest Rényi divergence over adversaries.
pub(crate) fn divergence(
    graph: Outline<'_>,
    order: &Exact,
    direction: Direction,
) -> Result<Enclosure<Exact>, AuditError> {
    graph.demand_everything("a Rényi divergence")?;
    let above_one = above_one(order)?;
    let bound = |round: Round| {
        let sum = best_plan(graph, &above_one, direction, round).1;
        let log = sum.max(Exact::ONE).ln(round).unwrap_or(Exact::ZERO);
        log.div(&above_one, round)
    };
    Ok(Enclosure {
        least: bound(Round::Down),
        most: bound(Round::Up),
    })
}

/// An adversary whose views have at least the lower bound of [`divergence`].
pub(crate) fn attack<Q: Clone, A: Clone>(
    graph: &Graph<Q, A>,
    order: &Exact,
    direction: Direction,
) -> Result<Attack<Q, A>, AuditError> {
    graph.outline().demand_everything("a Rényi divergence")?;
    let (over, above_one) = (direction.over(), above_one(order)?);
    let (plan, sum) = best_plan(graph.outline(), &above_one, direction, Round::Down);
    let log = sum.max(Exact::ONE).ln(Round::Down).unwrap_or(Exact::ZERO);
    let claim = format!(
        "the views of this adversary have a divergence of at least {} of order {order}, input {over} over input {}",
        log.div(&above_one, Round::Down).decimal(13, Round::Down),
        1 - over
    );
    let play = plan.play(graph, &|_| true);
    Ok(Attack { claim, play })
}

fn above_one(order: &Exact) -> Result<Exact, AuditError> {
    let above = order.checked_sub(&Exact::ONE);
    let fine = |above: &Exact| !above.is_zero() && above.is_finite();
    above.filter(fine).ok_or_else(|| AuditError::Parameter {
        name: "the order",
        value: order.to_string(),
        expected: "finite and above 1",
    })
}

/// The adversary with the largest power sum, with all sums rounded in one direction.
fn best_plan(
    graph: Outline<'_>,
    above_one: &Exact,
    direction: Direction,
    round: Round,
) -> (Plan, Exact) {
    let over = direction.over();
    let worth = |at: usize| {
        let [y, x] = [over, 1 - over].map(|input| graph.masses.of(at, input));
        power(&y, &x, above_one, round)
    };
    // Stopping early never has a larger power sum, so only rounding could make it look better, by too little to matter.
    Plan::best(graph.nodes, worth, |sum, part| (sum + part).rounded(round))
}

/// `y·(y/x)^(α−1)`.
fn power(y: &RBig, x: &RBig, above_one: &Exact, round: Round) -> Exact {
    if y.is_zero() {
        return Exact::ZERO;
    }
    if x.is_zero() {
        return Exact::INFINITY;
    }
    let rounded = |value: &RBig, round| Exact::from_rational(value, round).unwrap_or(Exact::ONE);
    let growth = match y.cmp(x) {
        Ordering::Equal => Exact::ONE,
        Ordering::Greater => ln(&(y / x), round).mul(above_one, round).exp(round),
        Ordering::Less => {
            let shrunk = ln(&(x / y), round.reversed());
            shrunk.mul(above_one, round.reversed()).exp_neg(round)
        }
    };
    rounded(y, round).mul(&growth, round)
}
