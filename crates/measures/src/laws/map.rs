//! The laws of a privacy map.

use super::{Law, Violation, ensure};
use crate::{Distance, Loss, Measure, Metric, PrivacyMap};

/// Checks that a map has a loss at every sample, that it is the same when asked again, and that it is monotone.
///
/// ```
/// use odometry::measures::{laws, PrivacyMap, PureDp, SymmetricDistance};
/// let map = PrivacyMap::per_record(PureDp, "0.1")?;
/// laws::check_map(&map, &[0, 1, 2, 100])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_map<MI: Metric, M: Measure>(
    map: &PrivacyMap<MI, M>,
    distances: &[MI::Distance],
) -> Result<(), Violation> {
    let ask = |d: &MI::Distance| {
        map.loss(d).map_err(|error| Violation {
            law: Law::MapIsAFunction,
            witness: error.to_string(),
        })
    };
    let mut losses = Vec::new();
    for d in distances {
        losses.push((d, ask(d)?));
    }
    for (d, loss) in &losses {
        let again = ask(d)?;
        ensure(again == *loss, Law::MapIsAFunction, || {
            format!("{d}: {loss}, then {again}")
        })?;
        for (e, larger) in losses.iter().filter(|(e, _)| d.at_most(e)) {
            let witness = || format!("{d} -> {loss}, {e} -> {larger}");
            ensure(loss.at_most(larger), Law::MapIsMonotone, witness)?;
        }
    }
    Ok(())
}
