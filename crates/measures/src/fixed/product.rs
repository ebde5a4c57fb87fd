//! Rule D5, first form: products of trade-off functions.

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use dashu_ratio::RBig;

use super::coarsen::coarsened;
use crate::hull::Corner;
use crate::{FixedRule, Interleaving, Rule, RuleError, Tradeoff, TradeoffDp};

/// The product `f₁ ⊗ f₂ ⊗ …` of trade-off functions (Dong–Roth–Su 2019, Thm 3.2): the trade-off function of the
/// product laws. A piecewise linear function belongs to two discrete laws, whose products are multiplied out exactly and
/// sorted by likelihood ratio.
///
/// Hypotheses: all losses are fixed before the first launch. Children may be interactive and interleave, with finite
/// communication (000 §3, C11 of the spec). Rounding: down, which claims less: corners to 128 bits, and from more than
/// [`corners`](TradeoffProduct::corners) corners to fewer tangents.
///
/// ```
/// use measures::fixed::TradeoffProduct;
/// use measures::{FixedRule, Loss, Tradeoff};
/// let one = Tradeoff::from_approx(&"(0.5, 0)".parse()?);
/// let two = TradeoffProduct::default().compose(&[one.clone(), one])?;
/// assert!(two.at_most(&Tradeoff::from_approx(&"(1.000001, 0)".parse()?)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Natural filters for f-DP are not free (arXiv:2602.15815), and so:
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl measures::FilterRule) {}
/// filter(measures::fixed::TradeoffProduct::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradeoffProduct {
    corners: usize,
}

impl Default for TradeoffProduct {
    fn default() -> Self {
        TradeoffProduct { corners: 128 }
    }
}

impl TradeoffProduct {
    /// The rule that keeps at most this many corners after each product, from 8 to 1024. More are tighter, at a cost
    /// that grows with the square.
    pub fn new(corners: usize) -> Result<Self, RuleError> {
        if !(8..=1024).contains(&corners) {
            return Err(RuleError::parameter("corners", &corners, "from 8 to 1024"));
        }
        Ok(TradeoffProduct { corners })
    }

    /// How many corners are kept.
    pub const fn corners(&self) -> usize {
        self.corners
    }
}

impl Rule for TradeoffProduct {
    type Child = TradeoffDp;
    type Total = TradeoffDp;
    const INTERLEAVING: Interleaving = Interleaving::ConcurrentFinite;

    fn child(&self) -> TradeoffDp {
        TradeoffDp
    }

    fn total(&self) -> TradeoffDp {
        TradeoffDp
    }
}

impl FixedRule for TradeoffProduct {
    fn compose(&self, losses: &[Tradeoff]) -> Result<Tradeoff, RuleError> {
        let mut losses = losses
            .iter()
            .map(|loss| coarsened(loss.clone(), self.corners));
        let Some(first) = losses.next() else {
            return Ok(crate::Measure::zero(&TradeoffDp));
        };
        Ok(losses.fold(first, |product, next| {
            coarsened(product_of(&product, &next), self.corners)
        }))
    }
}

/// An outcome with its masses under both laws, as integers over a common denominator.
struct Atom {
    false_alarm: IBig,
    detection: IBig,
}

/// The two laws of a trade-off function: each segment is an outcome, and so are the jump at `x = 0` and the flat end.
pub(super) fn atoms(function: &Tradeoff) -> Vec<(RBig, RBig)> {
    let corners = function.as_slice();
    let start = Corner::new(RBig::ZERO, RBig::ONE);
    let end = Corner::new(RBig::ONE, RBig::ZERO);
    let path: Vec<&Corner> = [&start].into_iter().chain(corners).chain([&end]).collect();
    let masses = path
        .windows(2)
        .map(|pair| (&pair[1].x - &pair[0].x, &pair[0].y - &pair[1].y));
    masses
        .filter(|(p, q)| *p > RBig::ZERO || *q > RBig::ZERO)
        .collect()
}

fn integral(function: &Tradeoff) -> (Vec<Atom>, IBig) {
    let atoms = atoms(function);
    let denominators = atoms
        .iter()
        .flat_map(|(p, q)| [p.denominator(), q.denominator()]);
    let common = denominators.fold(IBig::ONE, |common, next| {
        let next = IBig::from(next.clone());
        let shared = IBig::from((&common).gcd(&next));
        common * next / shared
    });
    let scale = RBig::from(common.clone());
    let whole = |mass: &RBig| (mass * &scale).floor();
    let atom = |(p, q): &(RBig, RBig)| Atom {
        false_alarm: whole(p),
        detection: whole(q),
    };
    (atoms.iter().map(atom).collect(), common)
}

/// The product of two functions, its corners rounded down.
fn product_of(f: &Tradeoff, g: &Tradeoff) -> Tradeoff {
    let (f_atoms, f_scale) = integral(f);
    let (g_atoms, g_scale) = integral(g);
    let mut atoms: Vec<Atom> = f_atoms
        .iter()
        .flat_map(|a| {
            g_atoms.iter().map(|b| Atom {
                false_alarm: &a.false_alarm * &b.false_alarm,
                detection: &a.detection * &b.detection,
            })
        })
        .filter(|atom| !atom.false_alarm.is_zero() || !atom.detection.is_zero())
        .collect();
    // The best test rejects the largest ratio of detection to false alarm first.
    atoms.sort_by(|a, b| (&b.detection * &a.false_alarm).cmp(&(&a.detection * &b.false_alarm)));
    let total = f_scale * g_scale;
    let scale = RBig::from(total.clone());
    let (mut x, mut y) = (IBig::ZERO, total);
    let mut corners = Vec::with_capacity(atoms.len() + 1);
    for atom in atoms {
        if !atom.false_alarm.is_zero() {
            corners.push(corner(&x, &y, &scale));
        }
        x += atom.false_alarm;
        y -= atom.detection;
    }
    corners.push(corner(&x, &y, &scale));
    Tradeoff::below(&corners)
}

fn corner(x: &IBig, y: &IBig, scale: &RBig) -> Corner {
    Corner::new(RBig::from(x.clone()) / scale, RBig::from(y.clone()) / scale)
}
