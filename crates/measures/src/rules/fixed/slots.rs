//! Losses fixed in advance, as slots that are taken in any order.

use crate::Loss;

/// The number of a slot that has room for this loss, such that no other one with room is smaller. Slots come with their
/// numbers; those that are taken are left out.
///
/// ```
/// use odometry::measures::{Epsilon, fixed::tightest};
/// let slots: Vec<Epsilon> = vec!["1".parse()?, "0.5".parse()?, "0.2".parse()?];
/// assert_eq!(tightest(slots.iter().enumerate(), &"0.4".parse()?), Some(1));
/// assert_eq!(tightest(slots.iter().enumerate(), &"2".parse()?), None);
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
pub fn tightest<'a, L: Loss>(
    slots: impl IntoIterator<Item = (usize, &'a L)>,
    loss: &L,
) -> Option<usize> {
    let mut best: Option<(usize, &L)> = None;
    for (at, slot) in slots {
        let tighter = |(_, best): (usize, &L)| slot.at_most(best) && slot != best;
        if loss.at_most(slot) && best.is_none_or(tighter) {
            best = Some((at, slot));
        }
    }
    best.map(|(at, _)| at)
}
