//! One direction of a composition: its laws as a list, its infinite losses, and the least of all bounds that apply.

use std::collections::HashMap;

use dashu_ratio::RBig;
use exact::interval::Float;
use exact::{Exact, Round};
use measures::EpsilonDelta;
use measures::fixed::{Method, Optimal};

use crate::contour::{self, List};
use crate::directed;
use crate::failure::{Finite, Left};
use crate::laws::Law;
use crate::mechanism::Side;

/// Equal and enumerated responses are summed exactly up to here.
const MOST_EQUAL: u64 = 1 << 21;

/// One direction of the composition.
pub(crate) struct Direction {
    list: List,
    finite: Finite,
    /// No guarantee at all.
    nothing: bool,
    /// The sum of the largest losses.
    top: Exact,
    /// Whether `measures` sums the responses exactly.
    exactly: Option<Vec<(EpsilonDelta, u64)>>,
}

impl Direction {
    pub(crate) fn new<'a>(sides: impl Iterator<Item = (&'a Side, u64)> + Clone) -> Direction {
        let nothing = sides.clone().any(|(side, _)| side.failure >= Exact::ONE);
        let finite = match nothing {
            true => Finite::new([]),
            false => Finite::new(sides.clone().map(|(side, count)| (&side.failure, count))),
        };
        let laws = sides.filter_map(|(side, count)| Some((side.law.as_ref()?, count)));
        let (list, top) = collect(laws);
        Direction {
            exactly: exactly(&list),
            list,
            finite,
            nothing,
            top,
        }
    }

    /// The least ε that is known to do.
    pub(crate) fn epsilon(&self, delta: &RBig) -> Exact {
        if self.nothing {
            return Exact::INFINITY;
        }
        let target = match self.finite.left(delta) {
            Left::Missed => return Exact::INFINITY,
            Left::Nothing => return self.top.clone(),
            Left::Some(_) if self.list.is_empty() => return Exact::ZERO,
            Left::Some(target) => target,
        };
        if let Some(losses) = &self.exactly
            && let Ok(rule) = Optimal::new(target.to_exact(Round::Down))
        {
            return rule
                .compose_counted(losses)
                .epsilon()
                .clone()
                .min(self.top.clone());
        }
        let log = ln(&target);
        let found = contour::epsilon(&self.list, &target, log);
        let near_top = contour::top_epsilon(&self.list, &target);
        let best = found.into_iter().chain(near_top).min();
        let best = best.map_or(Exact::INFINITY, |best| up(&best));
        best.min(self.below_top(&target))
    }

    /// The loss is at most the largest: `δ ≤ 1 − e^{ε−top}`, so `ε = top + ln(1−δ)` will do.
    fn below_top(&self, target: &Float) -> Exact {
        let saved = target.to_exact(Round::Down).neg_ln_1m(Round::Down);
        self.top.saturating_sub(&saved.unwrap_or(Exact::ZERO))
    }

    pub(crate) fn deltas(&self, epsilons: &[&Exact]) -> Vec<Exact> {
        if self.nothing {
            return vec![Exact::ONE; epsilons.len()];
        }
        let points: Vec<RBig> = epsilons
            .iter()
            .map(|epsilon| {
                let highest = self
                    .top
                    .to_rational()
                    .unwrap_or_else(|| directed::rational(1e30));
                epsilon
                    .to_rational()
                    .unwrap_or_else(|| highest.clone())
                    .min(highest)
            })
            .collect();
        let pure: Vec<Float> = match (&self.exactly, self.list.is_empty()) {
            (_, true) => vec![Float::ZERO; points.len()],
            (Some(losses), _) => epsilons
                .iter()
                .map(|epsilon| exact_delta(losses, epsilon))
                .collect(),
            (None, _) => self.contour_deltas(&points),
        };
        let whole = |pure: &Float| {
            self.finite
                .whole(&pure.clone().min(Float::one()))
                .to_exact(Round::Up)
        };
        let reached = |epsilon: &Exact, pure: &Float| match self.top.checked_sub(epsilon) {
            None => whole(&Float::ZERO),
            Some(gap) => {
                // The loss is at most the largest.
                let most = gap
                    .one_minus_exp_neg(Round::Up)
                    .to_rational()
                    .unwrap_or(RBig::ONE);
                whole(&Float::from_rational(&most, 128, Round::Up).min(pure.clone()))
            }
        };
        epsilons
            .iter()
            .zip(&pure)
            .map(|(epsilon, pure)| reached(epsilon, pure).min(Exact::ONE))
            .collect()
    }

    fn contour_deltas(&self, points: &[RBig]) -> Vec<Float> {
        let found = contour::deltas(&self.list, points);
        let best = |(point, found): (&RBig, Option<Float>)| {
            let near_top = contour::top_delta(&self.list, point);
            found
                .into_iter()
                .chain(near_top)
                .fold(Float::one(), Float::min)
        };
        points.iter().zip(found).map(best).collect()
    }
}

fn exact_delta(losses: &[(EpsilonDelta, u64)], epsilon: &Exact) -> Float {
    let delta = measures::fixed::optimal_delta_counted(losses, epsilon);
    let delta = delta.and_then(|delta| delta.to_rational());
    delta.map_or(Float::one(), |delta| {
        Float::from_rational(&delta, 192, Round::Up)
    })
}

/// A list of responses that `measures` sums or enumerates.
fn exactly(list: &List) -> Option<Vec<(EpsilonDelta, u64)>> {
    if list.gaussian > 0.0
        || !list.laws.is_empty()
        || list.responses.is_empty()
        || list.responses.len() > 24
    {
        return None;
    }
    let count = list
        .responses
        .iter()
        .map(|(_, count)| *count)
        .fold(0, u64::saturating_add);
    let pure = |epsilon: f64| {
        EpsilonDelta::saturating(
            Exact::try_from(epsilon).unwrap_or(Exact::INFINITY),
            Exact::ZERO,
        )
    };
    let losses: Vec<_> = list
        .responses
        .iter()
        .map(|(epsilon, count)| (pure(*epsilon), *count))
        .collect();
    let method = Optimal::method_counted(&losses);
    let summed = matches!(method, Method::Equal | Method::Enumerated) && count <= MOST_EQUAL;
    summed.then_some(losses)
}

/// The laws as a list, equal ones counted, and the sum of the largest losses, rounded up.
fn collect<'a>(laws: impl Iterator<Item = (&'a Law, u64)>) -> (List, Exact) {
    let mut list = List::default();
    let mut responses = HashMap::<u64, u64>::new();
    let (mut gaussian, mut top, mut below) = (Exact::ZERO, Exact::ZERO, Exact::ZERO);
    let number = |x: f64| Exact::try_from(x.max(0.0)).unwrap_or(Exact::INFINITY);
    for (law, count) in laws {
        match law.top() {
            Some(largest) => {
                top += number(largest).times(count);
                below += number(-largest).times(count);
            }
            None => top = Exact::INFINITY,
        }
        match law {
            Law::Response(law) => *responses.entry(law.epsilon.to_bits()).or_default() += count,
            Law::Gaussian(law) => gaussian += number(law.square).times(count),
            law => add_law(&mut list, law, count),
        }
    }
    let response = |(bits, count): (u64, u64)| (f64::from_bits(bits), count);
    list.responses = responses.into_iter().map(response).collect();
    list.responses.sort_by(|a, b| b.0.total_cmp(&a.0));
    list.gaussian = gaussian.to_f64(Round::Up);
    (list, top.saturating_sub(&below))
}

/// Equal laws are looked for among this many.
const LOOKED_AT: usize = 256;

fn add_law(list: &mut List, law: &Law, count: u64) {
    match list
        .laws
        .iter_mut()
        .take(LOOKED_AT)
        .find(|(known, _)| known == law)
    {
        Some((_, total)) => *total += count,
        None => list.laws.push((law.clone(), count)),
    }
}

/// The logarithm of a positive number, roughly.
fn ln(x: &Float) -> f64 {
    let magnitude = x.magnitude();
    x.shifted(-magnitude).approximate().ln() + magnitude as f64 * std::f64::consts::LN_2
}

fn up(x: &RBig) -> Exact {
    match *x <= RBig::ZERO {
        true => Exact::ZERO,
        false => Exact::from_rational(x, Round::Up).unwrap_or(Exact::INFINITY),
    }
}
