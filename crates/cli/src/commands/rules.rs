//! What a list amounts to under every rule that takes it.

use accountant::Accountant;
use exact::{Exact, Round};
use measures::convert::{gaussian_epsilon, zcdp_epsilon};
use measures::{EpsilonDelta, Mu, Rho, Use, compare};

use crate::error::CommandError;
use crate::items::Item;

/// Rules that read losses one by one are asked up to here.
const MOST_READ: u64 = 10_000;

/// What one rule says.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) rule: &'static str,
    /// May the losses be chosen by looking at answers?
    pub(crate) adaptive: bool,
    pub(crate) total: Result<EpsilonDelta, String>,
}

/// Everything composed, for the accountant.
pub(crate) fn accountant(items: &[Item]) -> Result<Accountant, CommandError> {
    items.iter().try_fold(Accountant::new(), |all, item| {
        Ok(all.add(item.kind.mechanism()?, item.count))
    })
}

/// How many runs there are in all.
pub(crate) fn runs(items: &[Item]) -> u64 {
    items
        .iter()
        .fold(0, |sum, item| sum.saturating_add(item.count))
}

/// Every rule that is valid for all of them, at this δ: adaptive ones first, each kind from the least ε to the largest.
pub(crate) fn rules(items: &[Item], delta: &Exact) -> Result<Vec<Row>, CommandError> {
    let losses: Option<Vec<(EpsilonDelta, u64)>> = items
        .iter()
        .map(|item| Some((item.kind.loss()?, item.count)))
        .collect();
    let mut rows = Vec::new();
    match losses {
        Some(losses) if runs(items) <= MOST_READ => rows.extend(one_by_one(&losses, delta)),
        Some(losses) => rows.push(row("basic", true, Ok(basic(&losses)))),
        None => {}
    }
    if !rows.iter().any(|row| row.rule == "zCDP") {
        rows.extend(zcdp(items, delta).map(|total| row("zCDP", true, Ok(total))));
        rows.extend(gaussian(items, delta).map(|total| row("Gaussian", true, Ok(total))));
    }
    let epsilon = accountant(items)?.epsilon(delta)?;
    let certified = EpsilonDelta::saturating(epsilon, delta.clone());
    rows.push(row("certified", false, Ok(certified)));
    rows.sort_by_key(|row| (!row.adaptive, row.total.is_err(), least(row)));
    Ok(rows)
}

fn least(row: &Row) -> Exact {
    row.total
        .as_ref()
        .map_or(Exact::INFINITY, |total| total.epsilon().clone())
}

fn row(rule: &'static str, adaptive: bool, total: Result<EpsilonDelta, String>) -> Row {
    Row {
        rule,
        adaptive,
        total,
    }
}

fn one_by_one(losses: &[(EpsilonDelta, u64)], delta: &Exact) -> Vec<Row> {
    let repeated = losses
        .iter()
        .flat_map(|(loss, count)| (0..*count).map(move |_| loss.clone()));
    let all: Vec<EpsilonDelta> = repeated.collect();
    // Only a filter's row looks at the budget's ε, and what it takes of a budget is no total.
    let budget = EpsilonDelta::saturating(Exact::ONE, delta.clone());
    let Ok(table) = compare(all, budget) else {
        return Vec::new();
    };
    let totals = table
        .rows()
        .iter()
        .filter(|row| row.good_for != Use::Filter);
    let shown = |compared: &measures::Compared| {
        let total = compared.total.clone().map_err(|error| error.to_string());
        row(compared.rule, compared.good_for != Use::Compositor, total)
    };
    totals.map(shown).collect()
}

fn basic(losses: &[(EpsilonDelta, u64)]) -> EpsilonDelta {
    let (mut epsilon, mut delta) = (Exact::ZERO, Exact::ZERO);
    for (loss, count) in losses {
        epsilon += loss.epsilon().times(*count);
        delta += loss.delta().times(*count);
    }
    EpsilonDelta::saturating(epsilon, delta)
}

/// Σρ, converted once.
fn zcdp(items: &[Item], delta: &Exact) -> Option<EpsilonDelta> {
    let rho = |item: &Item| Some(item.kind.rho()?.value().times(item.count));
    let sum: Option<Vec<Exact>> = items.iter().map(rho).collect();
    let epsilon = zcdp_epsilon(&Rho::new(sum?.into_iter().sum()), delta);
    Some(EpsilonDelta::saturating(epsilon, delta.clone()))
}

/// √Σμ², converted once.
fn gaussian(items: &[Item], delta: &Exact) -> Option<EpsilonDelta> {
    let square = |item: &Item| {
        let mu = item.kind.mu()?;
        Some(mu.value().mul(mu.value(), Round::Up).times(item.count))
    };
    let sum: Option<Vec<Exact>> = items.iter().map(square).collect();
    let mu = sum?.into_iter().sum::<Exact>().sqrt(Round::Up);
    Some(EpsilonDelta::saturating(
        gaussian_epsilon(&Mu::new(mu), delta),
        delta.clone(),
    ))
}
