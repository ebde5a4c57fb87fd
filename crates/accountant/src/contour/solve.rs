//! ε at a δ and δ at an ε, from contours. What is returned has been evaluated with certainty; the search is not trusted.

use dashu_ratio::RBig;
use exact::interval::Float;

use super::bounds::{chernoff_epsilon, margin};
use super::list::List;
use super::nodes::Contour;
use super::saddle::Saddle;
use crate::directed::to_f64;

/// An ε at which δ is at most `target` (about `e^log_target`), as small as the contour and Chernoff's bound give it. May
/// be negative. `None` if there is no contour.
pub(crate) fn epsilon(list: &List, target: &Float, log_target: f64) -> Option<RBig> {
    let mut saddle = Saddle::for_delta(list, log_target);
    let mut best: Option<RBig> = None;
    for _ in 0..3 {
        let contour = contour_at(list, saddle, log_target)?;
        let found = least(&contour, target, log_target);
        let near = found.as_ref().map(|found| to_f64(found, exact::Round::Up));
        // Chernoff's bound takes some logarithms of many digits: only where it can be the better one.
        if near.is_none_or(|near| contour.chernoff_near(list, log_target) < near) {
            best = best
                .into_iter()
                .chain(chernoff_epsilon(&contour, list, target))
                .min();
        }
        best = best.into_iter().chain(found).min();
        let Some(near) = near else { break };
        if (near - contour.saddle.epsilon).abs() <= 2.0 * contour.saddle.width {
            break;
        }
        saddle = Saddle::for_epsilon(list, near);
    }
    best
}

/// A contour at the saddle, or at the nearest smaller tilt at which all laws can be evaluated.
fn contour_at(list: &List, saddle: Saddle, log_delta: f64) -> Option<Contour> {
    Contour::new(list, saddle, log_delta).or_else(|| {
        let tilts = (1..12).map(|i| saddle.tilt * 0.25f64.powi(i));
        let mut contours =
            tilts.filter_map(|tilt| Contour::new(list, Saddle::at(list, tilt), log_delta));
        contours.next()
    })
}

/// The least ε at which the contour's bound is at most the target.
fn least(contour: &Contour, target: &Float, log_target: f64) -> Option<RBig> {
    let mut inner = root(contour, log_target)?;
    let mut more = margin(inner, contour.plan.tilt);
    for _ in 0..16 {
        if contour.delta(inner)?.at_most(target) {
            return Some(contour.epsilon(inner));
        }
        inner += more;
        more *= 8.0;
    }
    None
}

/// Where `ln δ` is about the target.
fn root(contour: &Contour, log_target: f64) -> Option<f64> {
    let off = |x: f64| contour.log_delta(x).map(|log| log - log_target);
    let stride = 0.5 / contour.plan.tilt;
    let x = contour.inner_near(contour.saddle.epsilon);
    let start = (x, off(x)?);
    let (mut low, mut high) = (start, start);
    for i in 0..60 {
        let stride = stride * 1.5f64.powi(i);
        if low.1 < 0.0 {
            high = low;
            low = (low.0 - stride, off(low.0 - stride)?);
        } else if high.1 >= 0.0 {
            low = high;
            high = (high.0 + stride, off(high.0 + stride)?);
        } else {
            break;
        }
    }
    if low.1 < 0.0 || high.1 >= 0.0 {
        return None;
    }
    for round in 0..60 {
        let share = (low.1 / (low.1 - high.1)).clamp(0.02, 0.98);
        let share = if round % 4 == 3 { 0.5 } else { share };
        let x = low.0 + share * (high.0 - low.0);
        let at = off(x)?;
        if at >= 0.0 {
            low = (x, at);
        } else {
            high = (x, at);
        }
        if high.1 > -1e-9 || high.0 - low.0 <= margin(high.0, contour.plan.tilt) {
            break;
        }
    }
    Some(high.0)
}

/// Upper bounds of δ at these ε, in this order. One contour serves all that are near its saddle.
pub(crate) fn deltas(list: &List, epsilons: &[RBig]) -> Vec<Option<Float>> {
    let mut contour: Option<Contour> = None;
    let one = epsilons.len() == 1;
    let mut found = Vec::with_capacity(epsilons.len());
    for epsilon in epsilons {
        let near = to_f64(epsilon, exact::Round::Up);
        let serves =
            |contour: &Contour| (near - contour.saddle.epsilon).abs() <= 2.5 * contour.saddle.width;
        if !contour.as_ref().is_some_and(serves) {
            let saddle = Saddle::for_epsilon(list, near);
            // The next ε's are served by this contour, too: their δ is smaller.
            let room = if one {
                0.0
            } else {
                2.5 * saddle.tilt * saddle.width
            };
            contour = contour_at(list, saddle, saddle.log_delta - room);
        }
        let bound = contour
            .as_ref()
            .and_then(|contour| contour.delta(contour.inner(epsilon)));
        found.push(bound);
    }
    found
}
