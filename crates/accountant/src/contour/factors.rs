//! All laws of a list at one tilt: the mass `M(λ)` of the composition, its Φ at a node, and the errors of both.

use super::list::{List, MOST_PLAIN};
use super::plan::Plan;
use super::scaled::Scaled;
use super::singles::Singles;
use crate::laws::{RESPONSE_ERROR, RESPONSE_MASS_ERROR, Response, Tilted};
use crate::numbers::{Complex, Double, LARGEST_ANGLE, Number};

pub(crate) struct Factors {
    singles: Singles,
    plain: Vec<(Tilted<f64>, u64)>,
    double: Vec<(Tilted<Double>, u64)>,
    /// `M(λ) = e^log · mass`, without Gaussians.
    pub(crate) log: Double,
    pub(crate) mass: Scaled<f64>,
    /// The absolute error of `log` and the relative one of the mass.
    pub(crate) mass_error: f64,
    /// The absolute error of a product at any node.
    pub(crate) error: f64,
    pub(crate) widest: f64,
}

/// What a product at a node came to.
pub(crate) enum Product {
    /// The product of all factors.
    Whole(Complex<f64>),
    /// The product of some; the others are at most 1. A bound of its modulus.
    Left(f64),
}

impl Factors {
    /// `None` if a law cannot be evaluated at this tilt, or the errors would not be small.
    ///
    /// Every product of computed factors, in whatever order and grouping, satisfies `1 + error ≤ Π(1 + f_i)(1 + 4u)` over
    /// its factors, since true factors are at most 1; so `error ≤ e^S − 1` with `S = Σ(f_i + 4u)`, and the same for masses.
    pub(crate) fn new(list: &List, plan: &Plan) -> Option<Factors> {
        let mut factors = Factors {
            singles: Singles::default(),
            plain: Vec::new(),
            double: Vec::new(),
            log: Double::of(0.0),
            mass: Scaled::of(1.0),
            mass_error: 0.0,
            error: 0.0,
            widest: 0.0,
        };
        let mut sizes = 0.0;
        factors.add_responses(list, plan, &mut sizes);
        for (law, count) in &list.laws {
            match *count > MOST_PLAIN {
                true => {
                    factors.add_double(law.tilted(plan.tilt, plan.reach())?, *count, &mut sizes)
                }
                false => {
                    factors.add_plain(law.tilted(plan.tilt, plan.reach())?, *count, &mut sizes)
                }
            }
        }
        // The Gaussian factor is off by 8 units, joining the lanes costs 20, and turning sums of two into `f64` two each.
        let more = 64.0 + 4.0 * factors.double.len() as f64;
        factors.error = rounded(factors.error + more * f64::UNIT)?;
        factors.mass_error =
            rounded(factors.mass_error + more * f64::UNIT + 16.0 * sizes * Double::UNIT)?;
        Some(factors)
    }

    fn add_responses(&mut self, list: &List, plan: &Plan, sizes: &mut f64) {
        let tilt = plan.tilt;
        let mut sum = Double::of(0.0);
        for &(epsilon, count) in &list.responses {
            let response = Response { epsilon };
            match count {
                1 => {
                    let (lean, ratio) = response.lean_and_ratio(tilt);
                    self.singles.push(response, lean);
                    self.widest = self.widest.max(epsilon);
                    self.mass = self.mass.times(Scaled::of(ratio));
                    sum = sum + Double::of(epsilon);
                }
                2..=MOST_PLAIN => self.add_plain(response.tilted(tilt), count, sizes),
                _ => self.add_double(response.tilted(tilt), count, sizes),
            }
        }
        let once = self.singles.count as f64;
        self.log = self.log + Double::of(tilt) * sum;
        *sizes += (1.0 + once) * tilt * sum.near();
        self.error += once * (RESPONSE_ERROR + 4.0) * f64::UNIT;
        self.mass_error += once * (RESPONSE_MASS_ERROR + 4.0) * f64::UNIT;
    }

    fn add_plain(&mut self, tilted: Tilted<f64>, count: u64, sizes: &mut f64) {
        self.count(&tilted, count, sizes);
        self.plain.push((tilted, count));
    }

    fn add_double(&mut self, tilted: Tilted<Double>, count: u64, sizes: &mut f64) {
        self.count(&tilted, count, sizes);
        self.double.push((tilted, count));
    }

    fn count<N: Number>(&mut self, tilted: &Tilted<N>, count: u64, sizes: &mut f64) {
        let n = count as f64;
        self.log = self.log + tilted.log * Double::of_count(count);
        *sizes += 2.0 * n * tilted.log.near().abs();
        self.mass = self
            .mass
            .times(Scaled::of(tilted.ratio).power(count).near());
        self.error += n * (tilted.error + 4.0 * N::UNIT);
        self.mass_error += n * (tilted.mass_error + 4.0 * N::UNIT) + 4.0 * f64::UNIT;
        self.widest = self.widest.max(tilted.widest);
    }

    /// Whether all angles up to this node are small enough to be reduced exactly.
    pub(crate) fn reaches(&self, t: f64) -> bool {
        t * self.widest * (1.0 + 1e-9) < LARGEST_ANGLE
    }

    /// The product of Φ at a node, times `fall`.
    pub(crate) fn at(&self, t: f64, fall: f64, negligible: f64) -> Product {
        let mut product = Complex::new(fall, 0.0);
        for (tilted, count) in &self.double {
            product = product * tilted.phi.at(t).power(*count).near();
            if product.size() < negligible {
                return Product::Left(product.size());
            }
        }
        for (tilted, count) in &self.plain {
            product = product * tilted.phi.at(t).power(*count);
            if product.size() < negligible {
                return Product::Left(product.size());
            }
        }
        self.singles.at(t, product, negligible)
    }
}

/// `e^S − 1` for a small `S`.
fn rounded(sum: f64) -> Option<f64> {
    (sum < 0.01).then_some(sum * 1.01)
}
