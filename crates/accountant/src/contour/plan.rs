//! The step, the last node, and the Gaussian that is added: chosen in floating point, since every choice is valid.

use super::list::List;
use super::saddle::Saddle;
use crate::laws::Law;
use crate::numbers::exp;

/// A tilt with its nodes `t = n·step`, `n = 0, …, nodes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) tilt: f64,
    /// Of at most 10 bits, so that nodes have at most 26.
    pub(crate) step: f64,
    pub(crate) nodes: u32,
    /// The μ² of all Gaussians, with the one that is added.
    pub(crate) gaussian: f64,
    /// A node is left once its product is below this.
    pub(crate) negligible: f64,
}

/// Nodes stay below this.
pub(crate) const MOST_NODES: u32 = (1 << 16) - 1;
/// Without a Gaussian that is added, at most this many nodes are worth while.
const MOST_OWN: f64 = 6000.0;
/// Turns that may be evaluated: about a fifth of a second.
const MOST_TURNS: f64 = 1e7;
/// What the truncation may cost, relative to δ.
const TOLERANCE: f64 = 1e-7;

/// The first `bits` bits of a positive number.
fn leading(x: f64, bits: u32) -> f64 {
    f64::from_bits(x.to_bits() & !((1u64 << (53 - bits)) - 1))
}

impl Plan {
    /// For δ of about `e^log_delta`.
    pub(crate) fn new(list: &List, saddle: &Saddle, log_delta: f64) -> Plan {
        let tilt = leading(saddle.tilt, 24);
        let period = (20.0 * saddle.deviation).max((14.0 - log_delta) / tilt);
        let step = leading(2.0 * std::f64::consts::PI / period, 10);
        let scale = (tilt + 1.0) * saddle.width;
        let plan = |nodes: f64, gaussian: f64| Plan {
            tilt,
            step,
            nodes: (nodes.ceil() as u32).clamp(1, MOST_NODES),
            gaussian,
            negligible: (1e-9 / scale).clamp(1e-40, 1e-9),
        };
        let need = TOLERANCE * std::f64::consts::PI / (2.5 * tilt * scale);
        if let Some(nodes) = own_nodes(list, tilt, step, need) {
            return plan(nodes, list.gaussian);
        }
        let mut share = if list.distinct() >= 32 { 0.003 } else { 0.001 };
        loop {
            let added = share * saddle.deviation.max(1.0 / tilt);
            let gaussian = list.gaussian + added * added;
            let mut reach = 4.0 / gaussian.sqrt();
            while (-0.5 * gaussian * reach * reach).exp() > need * reach
                && reach < f64::from(MOST_NODES) * step
            {
                reach *= 1.02;
            }
            // Where that would take long, a larger one is added: looser, and fewer nodes.
            if share > 0.1 || reach / step * list.cost(tilt, reach) < MOST_TURNS {
                return plan(reach / step, gaussian);
            }
            share *= 2.0;
        }
    }

    /// A bound of `|Φ(t)|` for all `t` beyond the last node.
    pub(crate) fn decay(&self, list: &List) -> f64 {
        let reach = self.reach();
        let fall = exp(-(0.5 * self.gaussian * (reach * reach)) * (1.0 - 1e-12));
        (fall * (1.0 + 1e-9) + 1e-290) * list.decay(self.tilt, reach)
    }

    /// Whether all that is computed from it stays within the range of `f64`.
    pub(crate) fn is_sensible(&self) -> bool {
        let sensible = |x: f64| x > 1e-60 && x < 1e60;
        sensible(self.tilt) && sensible(self.step) && self.gaussian < 1e60
    }

    pub(crate) fn reach(&self) -> f64 {
        f64::from(self.nodes) * self.step
    }
}

/// Nodes up to where the laws' own decay suffices, if that is near.
fn own_nodes(list: &List, tilt: f64, step: f64, need: f64) -> Option<f64> {
    let decays = |law: &Law| {
        matches!(
            law,
            Law::Laplace(_) | Law::SubsampledGaussian(_) | Law::Gaussian(_)
        )
    };
    if list.gaussian == 0.0 && !list.laws.iter().any(|(law, _)| decays(law)) {
        return None;
    }
    let suffices = |nodes: f64| {
        let reach = nodes * step;
        let fall = (-0.5 * list.gaussian * reach * reach).exp();
        fall <= need * reach || fall * list.decay(tilt, reach) <= need * reach
    };
    let mut nodes = 16.0;
    while nodes <= MOST_OWN {
        if suffices(nodes) {
            return Some(nodes);
        }
        nodes = (nodes * 1.4).ceil();
    }
    None
}
