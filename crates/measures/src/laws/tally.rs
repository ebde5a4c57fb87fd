//! The laws of what a rule remembers.

use super::{Law, Violation, ensure};
use crate::{ChildLoss, Rule, Tallied, Tally};

/// Checks on the samples that a rule's tally does not depend on the order or the grouping of launches.
pub fn check_tally<R: Tallied>(rule: &R, losses: &[ChildLoss<R>]) -> Result<(), Violation> {
    for a in losses {
        check_many(rule, a)?;
        for b in losses {
            check_pair(rule, a, b)?;
            for c in losses {
                check_merge(rule, [a, b, c])?;
            }
        }
    }
    Ok(())
}

/// The tally of these launches, one by one.
pub(super) fn tally_of<'a, R: Tallied>(
    rule: &R,
    losses: impl IntoIterator<Item = &'a ChildLoss<R>>,
) -> R::Tally
where
    <R as Rule>::Child: 'a,
{
    let mut tally = rule.start();
    for loss in losses {
        tally.absorb(loss, 1);
    }
    tally
}

fn check_many<R: Tallied>(rule: &R, a: &ChildLoss<R>) -> Result<(), Violation> {
    let mut one_by_one = rule.start();
    for n in 0..=5 {
        let at_once = rule.start().after(a, n);
        ensure(at_once == one_by_one, Law::AbsorbMany, || {
            format!("{n} times {a}")
        })?;
        one_by_one.absorb(a, 1);
    }
    let mut doubled = rule.start();
    for _ in 0..40 {
        doubled.merge(&doubled.clone());
        doubled.absorb(a, 1);
    }
    let at_once = rule.start().after(a, (1 << 40) - 1);
    ensure(at_once == doubled, Law::AbsorbMany, || {
        format!("2^40 - 1 times {a}")
    })
}

fn check_pair<R: Tallied>(rule: &R, a: &ChildLoss<R>, b: &ChildLoss<R>) -> Result<(), Violation> {
    let (ab, ba) = (tally_of(rule, [a, b]), tally_of(rule, [b, a]));
    ensure(ab == ba, Law::OrderIsIrrelevant, || format!("{a}, {b}"))?;
    let one = tally_of(rule, [a]);
    let (kept, after) = (one.clone(), one.after(b, 1));
    ensure(after == ab && one == kept, Law::After, || {
        format!("{a}, then {b}")
    })?;

    let other = tally_of(rule, [b]);
    let (mut left, mut right, mut same) = (one.clone(), other.clone(), one.clone());
    left.join(&other);
    right.join(&one);
    same.join(&one);
    ensure(left == right && same == one, Law::Join, || {
        format!("{a} with {b}")
    })
}

fn check_merge<R: Tallied>(rule: &R, abc: [&ChildLoss<R>; 3]) -> Result<(), Violation> {
    let [a, b, c] = abc;
    let mut merged = tally_of(rule, [a, b]);
    merged.merge(&tally_of(rule, [c]));
    let all = tally_of(rule, abc);
    ensure(merged == all, Law::Merge, || format!("{a}, {b} with {c}"))?;
    for order in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        ensure(tally_of(rule, order) == all, Law::OrderIsIrrelevant, || {
            format!("{a}, {b}, {c}")
        })?;
    }
    Ok(())
}
