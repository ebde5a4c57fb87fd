//! The privacy profile: δ at every ε, as the exact piecewise linear function of `e^ε`, and what follows from it.

use dashu_int::UBig;
use dashu_ratio::RBig;
use exact::convex::Corner;

use crate::{
    error::AuditError,
    factor::{Enclosure, Factor},
};

/// Which input's probabilities are to be bounded by the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// `p0 ≤ e^ε·p1 + δ`.
    ZeroOverOne,
    /// `p1 ≤ e^ε·p0 + δ`.
    OneOverZero,
}

impl Direction {
    /// Both directions. Privacy needs both.
    pub const BOTH: [Self; 2] = [Self::ZeroOverOne, Self::OneOverZero];

    /// The number of the input that is to be bounded.
    pub(crate) fn over(self) -> usize {
        match self {
            Self::ZeroOverOne => 0,
            Self::OneOverZero => 1,
        }
    }
}

/// δ(ε) in one direction, at every ε, over all adaptive adversaries.
///
/// The best adversaries are the corners of a concave chain of points `(x, y)`: acceptance probabilities under the other
/// input and under this one. `δ(ε)` is the largest `y − e^ε·x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectedProfile {
    /// The corners, from the origin.
    corners: Vec<(RBig, RBig)>,
    /// What was not enumerated, as `(x, y)`.
    missing: (RBig, RBig),
}

/// A linear piece of a profile: `δ = y − e^ε·x` for `e^ε` in `from..=to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub from: RBig,
    /// Where it ends; `None` for never.
    pub to: Option<RBig>,
    /// The probability that the best adversary accepts, under the input that is to be bounded.
    pub y: RBig,
    /// The same under the other input.
    pub x: RBig,
}

impl DirectedProfile {
    pub(crate) fn new(
        corners: Vec<Corner<UBig>>,
        denominator: &UBig,
        missing: (RBig, RBig),
    ) -> Self {
        let share = |count: UBig| RBig::from_parts(count.into(), denominator.clone());
        let origin = (RBig::ZERO, RBig::ZERO);
        let corners = corners
            .into_iter()
            .map(|corner| (share(corner.x), share(corner.y)));
        Self {
            corners: std::iter::once(origin).chain(corners).collect(),
            missing,
        }
    }

    /// The profile of the other direction: an adversary that accepts what this one rejects. Only where nothing is
    /// missing.
    pub(crate) fn reflected(&self) -> Self {
        let rejected = |(x, y): &(RBig, RBig)| (RBig::ONE - y, RBig::ONE - x);
        let mut corners: Vec<(RBig, RBig)> = self.corners.iter().rev().map(rejected).collect();
        // Both ends are there by definition; a flat last step is never worth taking.
        if corners.first() != Some(&(RBig::ZERO, RBig::ZERO)) {
            corners.insert(0, (RBig::ZERO, RBig::ZERO));
        }
        while let [.., (_, before), (_, last)] = corners.as_slice()
            && before == last
        {
            corners.pop();
        }
        Self {
            corners,
            missing: self.missing.clone(),
        }
    }

    /// The corners of the region of all adversaries, from the origin: acceptance probabilities under the other input and
    /// under this one, of what was enumerated.
    pub fn corners(&self) -> &[(RBig, RBig)] {
        &self.corners
    }

    /// δ at this `e^ε`. Where draws were truncated, bounds: what is missing can add at most its own mass, and hide at
    /// most `e^ε` times its mass under the other input.
    pub fn delta(&self, factor: &Factor) -> Enclosure<RBig> {
        let known = self.known(factor.as_rational());
        let least = &known - factor.as_rational() * &self.missing.0;
        let most = known + &self.missing.1;
        Enclosure {
            least: least.max(RBig::ZERO),
            most: most.min(RBig::ONE),
        }
    }

    /// What no ε excuses: δ at ε = ∞, the largest probability of views that are impossible under the other input.
    pub fn delta_at_infinity(&self) -> Enclosure<RBig> {
        let known = self.vertical_top(&RBig::ZERO).unwrap_or(RBig::ZERO);
        let most = (&known + &self.missing.1).min(RBig::ONE);
        // What is missing may be all that makes a view possible.
        let least = match self.missing.0.is_zero() {
            true => known,
            false => RBig::ZERO,
        };
        Enclosure { least, most }
    }

    /// The largest `y − t·x` over corners.
    fn known(&self, t: &RBig) -> RBig {
        let heights = self.corners.iter().map(|(x, y)| y - t * x);
        heights.max().unwrap_or(RBig::ZERO)
    }

    /// The linear pieces, from `e^ε = 0` on. Of what was enumerated.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut to = None;
        let mut pieces = Vec::new();
        for at in 0..self.corners.len() {
            let (x, y) = self.corners[at].clone();
            let from = match self.corners.get(at + 1) {
                Some((next_x, next_y)) if *next_x > x => (next_y - &y) / (next_x - &x),
                // A vertical step: this corner is never the best.
                Some(_) => continue,
                None => RBig::ZERO,
            };
            pieces.push(Piece {
                from: from.clone(),
                to: to.replace(from),
                y,
                x,
            });
        }
        pieces.reverse();
        pieces
    }

    /// The least `e^ε` of at least one at which δ is at most `delta` (PrivLoss of \[VW21\]): an upper bound where draws
    /// were truncated, exact otherwise. `None` if there is none.
    pub fn factor(&self, delta: &RBig) -> Option<Factor> {
        let room = delta - &self.missing.1;
        let mut least = RBig::ONE;
        for (x, y) in &self.corners {
            let excess = y - &room;
            if excess <= RBig::ZERO {
                continue;
            }
            if x.is_zero() {
                return None;
            }
            least = least.max(excess / x);
        }
        Factor::try_from(least).ok()
    }

    /// The largest ratio of probabilities of any event, at least one: `e^ε` of pure privacy. `None` for infinity.
    pub fn largest_ratio(&self) -> Option<Factor> {
        self.factor(&RBig::ZERO)
    }

    /// The least type-II error of a test with type-I error at most `alpha`, the trade-off function `T(alpha)`
    /// (\[DRS19\]): here the hypothesis is the *other* input and the alternative this one. Where draws were truncated,
    /// bounds: what is missing can add at most its own mass to the power, and to the type-I error of what was enumerated.
    ///
    /// # Errors
    /// [`AuditError::Parameter`] if `alpha` is not a probability.
    pub fn trade_off(&self, alpha: &RBig) -> Result<Enclosure<RBig>, AuditError> {
        if *alpha < RBig::ZERO || *alpha > RBig::ONE {
            return Err(AuditError::Parameter {
                name: "the type-I error",
                value: alpha.to_string(),
                expected: "between 0 and 1",
            });
        }
        let most = self.power(alpha) + &self.missing.1;
        let alone = alpha - &self.missing.0;
        let least = match alone < RBig::ZERO {
            true => RBig::ZERO,
            false => self.power(&alone),
        };
        Ok(Enclosure {
            least: RBig::ONE - most.min(RBig::ONE),
            most: RBig::ONE - least,
        })
    }

    /// The largest `y` of what was enumerated with `x` at most `alpha`.
    fn power(&self, alpha: &RBig) -> RBig {
        let inside = self.corners.windows(2).find(|pair| pair[1].0 >= *alpha);
        match inside {
            Some([(x0, y0), (x1, y1)]) if x1 > x0 => y0 + (y1 - y0) * (alpha - x0) / (x1 - x0),
            Some([_, (_, y)]) => self.vertical_top(alpha).unwrap_or_else(|| y.clone()),
            _ => self
                .corners
                .last()
                .map_or(RBig::ZERO, |last| last.1.clone()),
        }
    }

    /// An `e^ε` at which this corner is the best adversary.
    pub(crate) fn where_best(&self, x: &RBig, y: &RBig) -> Factor {
        let mut pieces = self.pieces().into_iter();
        let mine = pieces.find(|piece| piece.x == *x && piece.y == *y);
        let between = mine.map(|piece| match piece.to {
            Some(to) => (piece.from + to) / RBig::from(2),
            None => piece.from + RBig::ONE,
        });
        let factor = between.and_then(|t| Factor::try_from(t).ok());
        factor.unwrap_or(Factor::ONE)
    }

    /// The highest corner with this first coordinate.
    fn vertical_top(&self, x: &RBig) -> Option<RBig> {
        let at = self.corners.iter().rev().find(|corner| corner.0 == *x);
        at.map(|corner| corner.1.clone())
    }
}
