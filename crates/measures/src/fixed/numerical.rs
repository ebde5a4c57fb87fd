//! Rule D5, second form: numerical composition of privacy profiles.

use dashu_ratio::RBig;
use exact::{Exact, Round};

use super::grid::Grid;
use super::product::atoms;
use super::spread::spread;
use crate::convert::profile_to_tradeoff;
use crate::{FixedRule, Interleaving, Measure, Profile, ProfileDp, Rule, RuleError};

/// Numerical composition of profiles: each child's privacy loss distribution is put on a grid, and the grids are
/// convolved (Meiser–Mohammadi 2018; Koskela–Jälkö–Honkela 2020; that a profile's own pair of laws dominates, also
/// under composition: Zhu–Dong–Wang 2022, Thm 10).
///
/// Hypotheses: all losses are fixed before the first launch. Children may be interactive and interleave, with finite
/// communication (000 §3, C11 of the spec). Rounding: up, by less than one step of the grid in the loss of each child
/// (in practice by much less: a loss between two points is shared between them), plus at most `tail` in δ, plus a
/// relative `(r + 8·len + 8)·2^-52` in δ, where `len` is the number of points of the final grid and `r` counts its
/// roundings: those of a product are those of both grids, plus the points with mass of the sparser one, plus the points
/// cut off below, plus 2; a child starts with two per piece of its trade-off function.
///
/// ```
/// use measures::fixed::Numerical;
/// use measures::{FixedRule, Profile};
/// let epsilons = ["0.5", "1", "2"].map(|epsilon| epsilon.parse().unwrap());
/// let rule = Numerical::new("0.001".parse()?, "1e-12".parse()?, epsilons)?;
/// let children = vec![Profile::new(["(0.1, 0)".parse()?]); 20];
/// let delta = rule.compose(&children)?.delta_at(&"1".parse()?);
/// assert!(delta >= "0.0023966924".parse()? && delta < "0.0026".parse()?); // exactly 0.00239669…
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// fn filter(_rule: impl measures::FilterRule) {}
/// let half: exact::Exact = "0.5".parse().unwrap();
/// filter(measures::fixed::Numerical::new(half.clone(), "1e-9".parse().unwrap(), [half]).unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numerical {
    step: Exact,
    tail: Exact,
    epsilons: Vec<Exact>,
}

impl Numerical {
    /// The rule on a grid of this step, that may count mass up to `tail` as lost altogether, and that reports δ at these
    /// ε (in between, the profile's convexity bounds it).
    pub fn new(
        step: Exact,
        tail: Exact,
        epsilons: impl IntoIterator<Item = Exact>,
    ) -> Result<Self, RuleError> {
        if step.is_zero() || step > Exact::from(16u8) {
            return Err(RuleError::parameter(
                "step",
                &step,
                "above 0 and at most 16",
            ));
        }
        if tail >= Exact::ONE {
            return Err(RuleError::parameter("tail", &tail, "below 1"));
        }
        let epsilons: Vec<Exact> = epsilons.into_iter().filter(Exact::is_finite).collect();
        if epsilons.is_empty() {
            return Err(RuleError::parameter(
                "epsilons",
                &"[]",
                "at least one, finite",
            ));
        }
        Ok(Numerical {
            step,
            tail,
            epsilons,
        })
    }

    fn too_fine(&self) -> RuleError {
        RuleError::parameter("step", &self.step, "coarser: the grid has too many points")
    }

    /// The child's loss, rounded up to the grid.
    fn grid(&self, step: &RBig, profile: &Profile) -> Result<Grid, RuleError> {
        let mut finite = Vec::new();
        let mut infinite = 0.0;
        for (p, q) in atoms(&profile_to_tradeoff(profile)) {
            if q == RBig::ZERO {
                continue;
            }
            if p == RBig::ZERO {
                let mass = Exact::from_rational(&q, Round::Up).unwrap_or(Exact::ONE);
                infinite = (infinite + mass.to_f64(Round::Up)) * (1.0 + f64::EPSILON);
                continue;
            }
            let points = spread(&q, &(&q / &p), step).ok_or_else(|| self.too_fine())?;
            if points
                .iter()
                .any(|(_, place)| place.unsigned_abs() > FARTHEST)
            {
                return Err(self.too_fine());
            }
            finite.extend(points);
        }
        Ok(Grid::from_atoms(step, &finite, infinite))
    }
}

/// A child's loss reaches at most this many steps from zero.
const FARTHEST: u64 = 1 << 22;

/// Equal profiles, counted.
fn counted(losses: &[Profile]) -> Vec<(&Profile, u64)> {
    let mut counts: Vec<(&Profile, u64)> = Vec::new();
    for loss in losses {
        match counts.iter_mut().find(|(known, _)| *known == loss) {
            Some((_, count)) => *count += 1,
            None => counts.push((loss, 1)),
        }
    }
    counts
}

impl Rule for Numerical {
    type Child = ProfileDp;
    type Total = ProfileDp;
    const INTERLEAVING: Interleaving = Interleaving::ConcurrentFinite;

    fn child(&self) -> ProfileDp {
        ProfileDp
    }

    fn total(&self) -> ProfileDp {
        ProfileDp
    }
}

impl FixedRule for Numerical {
    fn compose(&self, losses: &[Profile]) -> Result<Profile, RuleError> {
        let counts = counted(losses);
        if counts.is_empty() {
            return Ok(ProfileDp.zero());
        }
        let step = self.step.to_rational().unwrap_or(RBig::ONE);
        // A power by squaring takes at most two products per bit of its exponent, and each may cut once.
        let cuts: u64 = counts
            .iter()
            .map(|(_, n)| 2 * u64::from(n.ilog2() + 1) + 1)
            .sum();
        let cut = self
            .tail
            .div(&Exact::from(2 * cuts * losses.len() as u64), Round::Down);
        let cut = cut.to_f64(Round::Down);
        let mut total = Grid::zero(&step);
        for (profile, count) in counts {
            let child = self.grid(&step, profile)?.repeated(count, cut);
            let next = child.and_then(|child| total.convolved(&child));
            total = next.ok_or_else(|| self.too_fine())?.trimmed(cut);
        }
        let deltas = total.deltas_at(&self.epsilons);
        Ok(Profile::new(self.epsilons.iter().zip(deltas).map(
            |(epsilon, delta)| crate::EpsilonDelta::saturating(epsilon.clone(), delta),
        )))
    }
}
