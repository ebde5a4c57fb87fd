//! From a privacy loss to points of a grid. The mass of a loss between two points goes to both of them, so that the mean
//! of `e^−loss` stays. Since `max(0, 1 − e^x Π e^−loss)` is convex in each `e^−loss`, this only raises every δ, also after
//! composition (Jensen; the "connect the dots" of Doroshenko et al. 2022), and by much less than moving all losses up.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::different::Group;
use super::grid::{Grid, to_f64_up};
use crate::numeric::{Float, Interval, refine};

/// Enough for every difference below: neighbouring points differ in the 64th bit at the latest.
const BITS: usize = 256;

/// An atom of this mass, whose loss has the likelihood ratio `e^loss`, on the two points around it; `None` if that is too
/// many steps away.
pub(super) fn spread(mass: &RBig, ratio: &RBig, step: &RBig) -> Option<[(f64, i64); 2]> {
    let loss = refine(|bits| Interval::rational(ratio, bits).ln())?;
    let mass = Interval::rational(mass, BITS);
    on_points(
        &mass,
        &Interval::rational(&(RBig::ONE / ratio), BITS),
        &loss.hi,
        step,
    )
}

/// The same, given `e^−loss` and an upper bound of the loss. All masses are rounded up.
fn on_points(
    mass: &Interval,
    inverse_ratio: &Interval,
    loss: &Float,
    step: &RBig,
) -> Option<[(f64, i64); 2]> {
    let below = i64::try_from((loss.to_rational() / step).floor()).ok()?;
    let above = below.checked_add(1)?;
    let at = |place: i64| {
        let loss = step * RBig::from(IBig::from(place));
        (-&Interval::rational(&loss, BITS)).exp()
    };
    let (high, low) = (at(below)?, at(above)?);
    let gap = &high - &low;
    let share = |difference: &Interval| {
        let part = (mass * &difference.div(&gap)?).hi.min(mass.hi.clone());
        Some(to_f64_up(&part.max(Float::ZERO)))
    };
    Some([
        (share(&(inverse_ratio - &low))?, below),
        (share(&(&high - inverse_ratio))?, above),
    ])
}

/// Grid points times responses, at most: what bounds the time.
const WORK: u64 = 1 << 26;

/// The grid for these responses: `2^26/k` points (between `2^10` and `2^20`) over the range `±Σε`.
fn step_for(groups: &[Group]) -> RBig {
    let responses: u64 = groups.iter().map(|group| group.count).sum();
    let points = (WORK / responses.max(1)).clamp(1 << 10, 1 << 20);
    let sum = groups.iter().fold(RBig::ZERO, |sum, group| {
        sum + &group.epsilon * RBig::from(group.count)
    });
    sum * RBig::from(2u8) / RBig::from(points)
}

/// The loss of randomized responses, on a grid.
pub(super) fn responses(groups: &[Group]) -> Option<Grid> {
    let step = step_for(groups);
    let mut grid = Grid::zero(&step);
    for group in groups {
        let response = response(&group.epsilon, &step)?;
        for _ in 0..group.count {
            grid = grid.convolved(&response)?;
        }
    }
    Some(grid)
}

fn response(epsilon: &RBig, step: &RBig) -> Option<Grid> {
    let loss = Interval::rational(epsilon, BITS);
    let odds = loss.exp()?;
    let inverse = (-&loss).exp()?;
    let one = Interval::int(1u8, BITS);
    let lie = one.div(&(&one + &odds))?;
    let truth = &odds * &lie;
    let told = on_points(&truth, &inverse, &loss.hi, step)?;
    let lied = on_points(&lie, &odds, &loss.lo.neg(), step)?;
    Some(Grid::from_atoms(step, &[told, lied].concat(), 0.0))
}

#[cfg(test)]
mod tests {
    use super::super::different::DifferentLoss;
    use super::super::optimal::epsilon_of;
    use super::*;
    use exact::Exact;

    fn groups(count: u64) -> Vec<Group> {
        let epsilon = |i: u64| RBig::from(100 + 7 * i) / RBig::from(1000u32);
        (0..count)
            .map(|i| Group {
                epsilon: epsilon(i),
                count: 1,
            })
            .collect()
    }

    #[test]
    fn responses_are_just_above_the_exact_composition() {
        let groups = groups(14);
        let grid = responses(&groups).unwrap();
        for delta in ["0.1", "1e-6", "1e-30"] {
            let delta: Exact = delta.parse().unwrap();
            let sum: Exact = "2.037".parse().unwrap();
            let exactly = epsilon_of(&delta, &[], &sum, |_, bits| {
                DifferentLoss::new(&groups, bits)
            })
            .unwrap();
            let found = grid.epsilon_at(&delta).min(sum);
            assert!(found >= exactly, "{found} {exactly}");
            let slack: Exact = "0.00001".parse().unwrap();
            assert!(found <= exactly.clone() + slack, "{found} {exactly}");
        }
    }

    #[test]
    fn a_loss_on_the_grid_stays() {
        let step = RBig::ONE / RBig::from(8u8);
        let half = RBig::ONE / RBig::from(2u8);
        let [below, above] = spread(&half, &RBig::ONE, &step).unwrap();
        assert_eq!((below.1, above.1), (0, 1));
        assert!(below.0 >= 0.5 && below.0 < 0.5 + 1e-15);
        assert!(above.0 < 1e-15);
    }

    #[test]
    fn the_mean_of_the_inverse_ratio_stays() {
        let step = RBig::ONE / RBig::from(8u8);
        let [below, above] = spread(&RBig::ONE, &RBig::from(3u8), &step).unwrap();
        assert_eq!((below.1, above.1), (8, 9));
        let mean = below.0 * (-1f64).exp() + above.0 * (-1.125f64).exp();
        assert!((mean - 1.0 / 3.0).abs() < 1e-15);
        assert!((below.0 + above.0 - 1.0).abs() < 1e-15);
        let step = RBig::ONE / RBig::from(u64::MAX) / RBig::from(u64::MAX);
        assert_eq!(spread(&RBig::ONE, &RBig::from(3u8), &step), None);
    }
}
