//! The nodes of one contour, and the bound of δ that they give at any ε.

use dashu_ratio::RBig;
use exact::Round;
use exact::interval::{Float, Interval};

use super::factors::{Factors, Product};
use super::list::List;
use super::plan::Plan;
use super::saddle::Saddle;
use crate::directed::{interval, rational, to_f64};
use crate::numbers::{Complex, LARGEST_ANGLE, Number, cis, exp};

/// The working precision of the scalars.
const BITS: usize = 160;

/// `1/2π`, rounded up.
const OVER_TWO_PI: f64 = 0.159_154_943_091_895_35;

/// The values at all nodes of one contour. They do not depend on ε, so that one contour serves many.
pub(crate) struct Contour {
    pub(crate) plan: Plan,
    pub(crate) saddle: Saddle,
    factors: Factors,
    /// Nodes with `Φ(t)/(z(z+1))`, without those that are negligible.
    live: Vec<(f64, Complex<f64>)>,
    /// `1/(λ(λ+1))`: the node zero.
    first: f64,
    /// At least what truncation, rounding and negligible nodes can add to the sum.
    slack: f64,
    /// The same, each, so that tests can leave one out.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests take them apart"))]
    pub(super) parts: Slack,
    /// The logarithm of what the sum is multiplied by at ε′ = 0, roughly.
    log_scale: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slack {
    pub(super) truncation: f64,
    pub(super) rounding: f64,
    pub(super) left: f64,
}

impl Contour {
    /// A contour for δ of about `e^log_delta`; `None` if no node can be evaluated.
    pub(crate) fn new(list: &List, saddle: Saddle, log_delta: f64) -> Option<Contour> {
        let mut plan = Plan::new(list, &saddle, log_delta);
        if !plan.is_sensible() {
            return None;
        }
        let mut factors = Factors::new(list, &plan)?;
        if !factors.reaches(plan.reach()) {
            plan.nodes = (LARGEST_ANGLE / (factors.widest * plan.step * 1.001)) as u32;
            if plan.nodes == 0 {
                return None;
            }
            factors = Factors::new(list, &plan)?;
            if !factors.reaches(plan.reach()) {
                return None;
            }
        }
        Some(Contour::on(list, saddle, plan, factors))
    }

    pub(super) fn on(list: &List, saddle: Saddle, plan: Plan, factors: Factors) -> Contour {
        let lambda = plan.tilt;
        let product = lambda * lambda + lambda;
        let mut live = Vec::new();
        let (mut weights, mut left) = (1.0 / product, 0.0);
        for n in 1..=plan.nodes {
            let t = f64::from(n) * plan.step;
            // z(z+1), whose modulus is at least λ² + λ + t²: a relative error of 4 units.
            let (re, im) = (product - t * t, t * (2.0 * lambda + 1.0));
            let size = re * re + im * im;
            let weight = 2.0 / size.sqrt();
            weights += weight;
            let fall = exp(-(0.5 * plan.gaussian * (t * t)));
            match factors.at(t, fall, plan.negligible) {
                Product::Left(modulus) => left += weight * modulus,
                Product::Whole(phi) => {
                    let inverse = Complex::new(re / size, -im / size);
                    live.push((t, phi * inverse));
                }
            }
        }
        // Every term: the product, 12 units of its weight, 8 of its turn, 8 of products; and one for every addition.
        let units = f64::from(plan.nodes) + 128.0;
        let parts = Slack {
            truncation: 2.0 * plan.decay(list) / (plan.step * plan.reach()),
            rounding: weights * (factors.error + units * f64::UNIT),
            left,
        };
        let tilt_log =
            factors.log.near() + factors.mass.ln() - 0.5 * plan.gaussian * lambda * lambda;
        Contour {
            plan,
            saddle,
            factors,
            live,
            first: 1.0 / product,
            slack: (parts.truncation + parts.rounding + parts.left) * (1.0 + 1e-9),
            parts,
            log_scale: tilt_log + (plan.step / (2.0 * std::f64::consts::PI)).ln(),
        }
    }

    /// What an ε′ stands for: `ε = ε′ + μ²(1+2λ)/2`, exactly. The Gaussians' turns are in it.
    pub(crate) fn epsilon(&self, inner: f64) -> RBig {
        rational(inner) + self.drift()
    }

    fn drift(&self) -> RBig {
        let two = RBig::from(2u8);
        rational(self.plan.gaussian) * (RBig::ONE + rational(self.plan.tilt) * &two) / two
    }

    /// The largest ε′ that stands for at most this ε.
    pub(crate) fn inner(&self, epsilon: &RBig) -> f64 {
        to_f64(&(epsilon - self.drift()), Round::Down)
    }

    /// An ε′ near this ε.
    pub(crate) fn inner_near(&self, epsilon: f64) -> f64 {
        epsilon - 0.5 * self.plan.gaussian * (1.0 + 2.0 * self.plan.tilt)
    }

    /// At least the sum over all nodes, relative to `e^{K(λ) − λε}`; `None` if it is not a number.
    pub(super) fn sum(&self, inner: f64) -> Option<f64> {
        let farthest = LARGEST_ANGLE / inner.abs().max(f64::MIN_POSITIVE) * (1.0 - 1e-9);
        let mut sum = 0.0;
        for (t, value) in &self.live {
            // Where the angle cannot be reduced, the term counts by its modulus.
            if *t >= farthest {
                sum += value.size();
                continue;
            }
            let turn = cis(*t, inner);
            sum += value.re * turn.re + value.im * turn.im;
        }
        let total = self.first + 2.0 * sum + self.slack;
        (total > 0.0 && total.is_finite()).then_some(total * (1.0 + 1e-12))
    }

    /// `ln δ` at an ε′, roughly.
    pub(crate) fn log_delta(&self, inner: f64) -> Option<f64> {
        Some(self.log_scale - self.plan.tilt * inner + self.sum(inner)?.ln())
    }

    /// The ε of Chernoff's bound, roughly.
    pub(super) fn chernoff_near(&self, list: &List, log_target: f64) -> f64 {
        let lambda = self.plan.tilt;
        let constant = lambda * lambda.ln() - (1.0 + lambda) * (1.0 + lambda).ln();
        let gaussian = 0.5 * list.gaussian * lambda * (1.0 + lambda);
        let log = self.factors.log.near() + self.factors.mass.ln() + gaussian;
        (log + constant - log_target) / lambda
    }

    /// An upper bound of δ at an ε′.
    pub(crate) fn delta(&self, inner: f64) -> Option<Float> {
        let sum = interval(self.sum(inner)?, BITS);
        let lambda = interval(self.plan.tilt, BITS);
        let gaussian = interval(self.plan.gaussian, BITS).shifted(-1);
        let exponent = &(&self.log() - &(&lambda * &interval(inner, BITS)))
            - &(&gaussian * &(&lambda * &lambda));
        let scale = &interval(self.plan.step, BITS) * &interval(OVER_TWO_PI, BITS);
        let bound = &(&exponent.exp()? * &scale) * &(&self.mass() * &sum);
        Some(bound.hi)
    }

    /// The logarithm in `M(λ)`, with its error.
    pub(crate) fn log(&self) -> Interval {
        let log = self.factors.log;
        let log = &interval(log.high, BITS) + &interval(log.low, BITS);
        log.widened(&crate::directed::float(self.factors.mass_error))
    }

    /// The rest of `M(λ)`, rounded up.
    pub(crate) fn mass(&self) -> Interval {
        let mass = self.factors.mass;
        let up = interval(1.0 + 2.0 * self.factors.mass_error, BITS);
        (&interval(mass.mantissa, BITS) * &up).shifted(mass.exponent)
    }
}
