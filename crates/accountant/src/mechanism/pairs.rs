//! Pairs of finite laws with rational probabilities, and profiles as such pairs.

use std::sync::Arc;

use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::convert::profile_to_tradeoff;
use measures::{Profile, Tradeoff};

use super::{Mechanism, Side, double};
use crate::directed::ln_up;
use crate::laws::{Finite, Law};

/// The losses of a pair, each rounded up. Answers of equal odds are one.
pub(super) fn side(pairs: &[(RBig, RBig)]) -> Side {
    let mut infinite = RBig::ZERO;
    let mut atoms: Vec<(f64, RBig)> = Vec::new();
    for (p, q) in pairs.iter().filter(|(p, _)| *p > RBig::ZERO) {
        match (*q > RBig::ZERO).then(|| ln_up(&(p / q))).flatten() {
            Some(loss) => atoms.push((loss, p.clone())),
            None => infinite += p,
        }
    }
    let kept = RBig::ONE - &infinite;
    if atoms.is_empty() || kept <= RBig::ZERO {
        return Side::NOTHING;
    }
    atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
    atoms.dedup_by(|next, before| {
        let same = next.0 == before.0;
        if same {
            before.1 += &next.1;
        }
        same
    });
    normalised(atoms, kept, infinite)
}

/// Atoms too small for a `f64` join the one above: a larger loss dominates.
fn normalised(atoms: Vec<(f64, RBig)>, kept: RBig, infinite: RBig) -> Side {
    let mut law = Vec::with_capacity(atoms.len());
    let mut carried = RBig::ZERO;
    for (loss, p) in atoms {
        let share = double(&((&p + &carried) / &kept));
        match share.high > 1e-280 {
            true => {
                law.push((loss, share));
                carried = RBig::ZERO;
            }
            false => carried += p,
        }
    }
    // What is left above the largest kept loss counts as infinite.
    let failure = Exact::from_rational(&(infinite + carried), Round::Up).unwrap_or(Exact::ONE);
    let trivial = law.iter().all(|(loss, _)| *loss == 0.0);
    let law = (!trivial).then(|| Law::Finite(Arc::new(Finite { atoms: law })));
    Side { law, failure }
}

/// The pair of a profile that is given by points `(e^ε, δ)`, rounded up, between which it is at most the chord: the lower
/// hull from `(0, 1)`, and constant after the last. The mass of Q at a corner is by how much the slope changes.
pub(super) fn of_curve(mut points: Vec<(RBig, RBig)>) -> Side {
    // Odds that are too near to be told apart are one point.
    points.dedup_by(|next, before| next.0 <= before.0);
    let mut hull: Vec<(RBig, RBig)> = vec![(RBig::ZERO, RBig::ONE)];
    for point in points {
        while hull.len() > 1
            && slope(&hull[hull.len() - 2], &hull[hull.len() - 1])
                >= slope(&hull[hull.len() - 1], &point)
        {
            hull.pop();
        }
        hull.push(point);
    }
    let slopes: Vec<RBig> = hull
        .windows(2)
        .map(|pair| -slope(&pair[0], &pair[1]))
        .chain([RBig::ZERO])
        .collect();
    let mut pairs = Vec::new();
    for (corner, change) in hull[1..].iter().zip(slopes.windows(2)) {
        let q = &change[0] - &change[1];
        pairs.push((&q * &corner.0, q));
    }
    let last = hull.last().map_or(RBig::ZERO, |last| last.1.clone());
    pairs.push((last, RBig::ZERO));
    side(&pairs)
}

fn slope(a: &(RBig, RBig), b: &(RBig, RBig)) -> RBig {
    (&b.1 - &a.1) / (&b.0 - &a.0)
}

impl From<&Profile> for Mechanism {
    /// The pair of laws of the profile's own trade-off function: symmetric, piecewise linear.
    fn from(profile: &Profile) -> Mechanism {
        Mechanism::from(&profile_to_tradeoff(profile))
    }
}

impl From<&Tradeoff> for Mechanism {
    /// The pair of laws with this trade-off function. Who has it, has it in both directions.
    fn from(tradeoff: &Tradeoff) -> Mechanism {
        let corners: Vec<(RBig, RBig)> = tradeoff
            .corners()
            .filter_map(|(x, y)| Some((x.to_rational()?, y.to_rational()?)))
            .collect();
        let mut pairs: Vec<(RBig, RBig)> = corners
            .windows(2)
            .map(|pair| (&pair[0].1 - &pair[1].1, &pair[1].0 - &pair[0].0))
            .collect();
        let certain = RBig::ONE - corners.first().map_or(RBig::ZERO, |first| first.1.clone());
        pairs.push((certain, RBig::ZERO));
        Mechanism::symmetric(side(&pairs))
    }
}
