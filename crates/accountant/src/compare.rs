//! All rules on one list of losses, the accountant's own among them.

use measures::{Comparison, EpsilonDelta, FixedRule, IntoLoss, LossError, Use};

use crate::CertifiedApprox;

/// [`measures::compare`] with one more row: the certified numerical bound, for losses that are fixed in advance.
///
/// ```
/// use odometry::accountant::compare;
/// use odometry::measures::Use;
/// let losses = (1..=30).map(|i| format!("(0.{i:02}, 0)")); // thirty different ones
/// let table = compare(losses, "(3, 1e-6)")?;
/// println!("{table}");
/// assert_eq!(table.least(Use::Compositor).map(|row| row.rule), Some("numerical"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LossError`] for text that is no loss.
pub fn compare<L: IntoLoss<EpsilonDelta>>(
    losses: impl IntoIterator<Item = L>,
    budget: impl IntoLoss<EpsilonDelta>,
) -> Result<Comparison, LossError> {
    let table = measures::compare(losses, budget)?;
    let rule = CertifiedApprox::new(table.budget().delta().clone());
    let total = rule.and_then(|rule| rule.compose(table.losses()));
    Ok(table.and("numerical", Use::Compositor, total))
}
