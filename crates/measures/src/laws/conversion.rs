//! The laws of a conversion between measures.

use super::{Law, Violation, ensure};
use crate::{Conversion, Loss, Measure, RuleError};

/// Checks that a conversion gives a loss of its measure for every sample, zero and infinity; that it is the same when asked
/// again; that it is monotone; and that it makes no guarantee out of none.
///
/// Whether what it gives is *true* takes a theorem; the `auditor` crate can try to refute it on a mechanism.
///
/// ```
/// use odometry::measures::convert::{PureToZcdp, Then, ZcdpToApprox};
/// use odometry::measures::laws;
/// let both = Then(PureToZcdp, ZcdpToApprox::new("1e-6")?);
/// laws::check_conversion(&both, &["0.1".parse()?, "1".parse()?, "30".parse()?])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_conversion<C: Conversion>(
    conversion: &C,
    samples: &[<C::From as Measure>::Loss],
) -> Result<(), Violation> {
    let (from, to) = (conversion.from(), conversion.to());
    let mut converted = Vec::new();
    for loss in samples.iter().chain([&from.zero(), &from.infinity()]) {
        let belongs = from.check(loss);
        ensure(belongs.is_ok(), Law::LossesBelong, || {
            format!("{loss}: {belongs:?}")
        })?;
        converted.push((loss.clone(), converts(conversion, &to, loss)?));
    }
    for (loss, once) in &converted {
        let again = converts(conversion, &to, loss)?;
        ensure(again == *once, Law::ConversionIsAFunction, || {
            format!("{loss}: {once}, then {again}")
        })?;
        for (larger, other) in converted.iter().filter(|(other, _)| loss.at_most(other)) {
            let witness = || format!("{loss} -> {once}, {larger} -> {other}");
            ensure(once.at_most(other), Law::ConversionIsMonotone, witness)?;
        }
    }
    let infinite = converts(conversion, &to, &from.infinity())?;
    ensure(
        to.infinity().at_most(&infinite),
        Law::ConversionGuaranteesNothing,
        || format!("{} -> {infinite}", from.infinity()),
    )
}

/// What the conversion gives, if that is a loss of its measure.
fn converts<C: Conversion>(
    conversion: &C,
    to: &C::To,
    loss: &<C::From as Measure>::Loss,
) -> Result<<C::To as Measure>::Loss, Violation> {
    let violation = |why: String| Violation {
        law: Law::ConversionIsAFunction,
        witness: format!("{loss}: {why}"),
    };
    let given = conversion.convert(loss);
    let given = given.map_err(|error: RuleError| violation(error.to_string()))?;
    match to.check(&given) {
        Ok(()) => Ok(given),
        Err(error) => Err(violation(error.to_string())),
    }
}
