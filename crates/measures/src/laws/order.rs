//! The laws of a measure's order.

use super::{Law, Violation, ensure};
use crate::{Loss, Measure};

/// Checks that the samples, zero and infinity are losses of this measure, partially ordered, with a least and a greatest
/// element, and that they are rounded as tallies need it.
pub fn check_measure<M: Measure>(measure: &M, samples: &[M::Loss]) -> Result<(), Violation> {
    let (zero, infinity) = (measure.zero(), measure.infinity());
    let losses: Vec<&M::Loss> = samples.iter().chain([&zero, &infinity]).collect();
    ensure(!infinity.at_most(&zero), Law::InfinityIsGreatest, || {
        "zero".into()
    })?;
    for a in &losses {
        let belongs = measure.check(a);
        ensure(belongs.is_ok(), Law::LossesBelong, || {
            format!("{a}: {belongs:?}")
        })?;
        ensure(a.at_most(a), Law::Reflexive, || a.to_string())?;
        ensure(zero.at_most(a), Law::ZeroIsLeast, || a.to_string())?;
        ensure(a.at_most(&infinity), Law::InfinityIsGreatest, || {
            a.to_string()
        })?;
        let rounded = M::Loss::clone(a).on_grid();
        let right = a.at_most(&rounded)
            && measure.check(&rounded).is_ok()
            && rounded.clone().on_grid() == rounded
            && (**a != zero || rounded == zero);
        ensure(right, Law::OnGrid, || format!("{a}, rounded to {rounded}"))?;
        for b in losses.iter().filter(|b| a.at_most(b)) {
            let monotone = rounded.at_most(&M::Loss::clone(b).on_grid());
            ensure(monotone, Law::OnGrid, || format!("{a}, {b}"))?;
            let antisymmetric = !b.at_most(a) || a == b;
            ensure(antisymmetric, Law::Antisymmetric, || format!("{a}, {b}"))?;
            for c in losses.iter().filter(|c| b.at_most(c)) {
                ensure(a.at_most(c), Law::Transitive, || format!("{a}, {b}, {c}"))?;
            }
        }
    }
    Ok(())
}
