//! The laws of rules for adaptively chosen losses.

use super::tally::{check_tally, tally_of};
use super::{Law, Violation, ensure};
use crate::{
    Adaptive, ChildLoss, FilterRule, Loss, Measure, Tallied, Tally, TimeUniform, Total, TotalLoss,
};

/// Checks an accumulator: the laws of its tally, and on the samples that its total is zero with no launch, monotone, and
/// infinite after an infinite loss; that `within` agrees with it; and that `remaining_within` is right for the given budgets.
pub fn check_adaptive<R: Adaptive>(
    rule: &R,
    losses: &[ChildLoss<R>],
    budgets: &[TotalLoss<R>],
) -> Result<(), Violation> {
    check_tally(rule, losses)?;
    check_totals(rule, losses, |tally| rule.loss(tally))?;
    check_within(rule, losses, budgets)?;
    let infinite = rule.start().after(&rule.child().infinity(), 1);
    for budget in budgets {
        let bounded = !rule.total().infinity().at_most(budget);
        let refused = !bounded || !rule.within(&infinite, budget);
        ensure(refused, Law::InfinityIsAbsorbed, || {
            format!("budget {budget}")
        })?;
        let admits = |tally: &R::Tally| rule.within(tally, budget);
        check_remaining(rule, losses, admits, |tally| {
            rule.remaining_within(tally, budget)
        })?;
    }
    Ok(())
}

/// Checks a time-uniform rule: the laws of its tally, and on the samples that its bound is zero with no launch, monotone,
/// and infinite after an infinite loss.
pub fn check_time_uniform<R: TimeUniform>(
    rule: &R,
    losses: &[ChildLoss<R>],
) -> Result<(), Violation> {
    check_tally(rule, losses)?;
    check_totals(rule, losses, |tally| rule.bound(tally))
}

/// Checks a filter: the laws of its tally, and for each budget that what fits still fits with less, that infinite losses
/// do not, that what is spent is within the budget, and that what remains is right.
pub fn check_filter<R: FilterRule>(
    rule: &R,
    losses: &[ChildLoss<R>],
    budgets: &[TotalLoss<R>],
) -> Result<(), Violation> {
    check_tally(rule, losses)?;
    let infinity = rule.total().infinity();
    ensure(rule.open(&infinity).is_err(), Law::InfiniteBudget, || {
        infinity.to_string()
    })?;
    for budget in budgets {
        let Ok(gate) = rule.open(budget) else {
            continue;
        };
        check_gate(rule, losses, budget, &gate)?;
        let admits = |tally: &R::Tally| rule.fits(&gate, tally);
        check_remaining(rule, losses, admits, |tally| rule.remaining(&gate, tally))?;
    }
    Ok(())
}

fn check_totals<R: Tallied>(
    rule: &R,
    losses: &[ChildLoss<R>],
    total: impl Fn(&R::Tally) -> Total<TotalLoss<R>>,
) -> Result<(), Violation> {
    let (zero, infinity) = (rule.total().zero(), rule.total().infinity());
    let start = rule.start();
    let nothing = total(&start);
    ensure(nothing.at_most(&zero), Law::NoLaunchIsZero, || {
        nothing.to_string()
    })?;
    for a in losses {
        let one = start.after(a, 1);
        let infinite = total(&one.after(&rule.child().infinity(), 1));
        let absorbed = infinity.at_most(infinite.bound());
        ensure(absorbed, Law::InfinityIsAbsorbed, || {
            format!("after {a}: {infinite}")
        })?;
        for b in losses {
            let (one, two) = (total(&one), total(&one.after(b, 1)));
            let witness = || format!("{a} has {one}, with {b} it has {two}");
            ensure(one.at_most(two.bound()), Law::TotalIsMonotone, witness)?;
            check_join(rule, [a, b], &total)?;
            if a.at_most(b) {
                let larger = total(&start.after(b, 1));
                let witness = || format!("{a} has {one}, {b} has {larger}");
                ensure(one.at_most(larger.bound()), Law::TotalIsMonotone, witness)?;
            }
        }
    }
    Ok(())
}

fn check_join<R: Tallied>(
    rule: &R,
    [a, b]: [&ChildLoss<R>; 2],
    total: impl Fn(&R::Tally) -> Total<TotalLoss<R>>,
) -> Result<(), Violation> {
    let one = tally_of(rule, [a]);
    let mut join = one.clone();
    join.join(&tally_of(rule, [b]));
    let (one, join) = (total(&one), total(&join));
    let witness = || format!("{a} has {one}, joined with {b} it has {join}");
    ensure(one.at_most(join.bound()), Law::Join, witness)
}

fn check_within<R: Adaptive>(
    rule: &R,
    losses: &[ChildLoss<R>],
    budgets: &[TotalLoss<R>],
) -> Result<(), Violation> {
    for a in losses {
        let tally = tally_of(rule, [a, a]);
        let (total, less) = (rule.loss(&tally), rule.loss(&tally_of(rule, [a])));
        ensure(rule.within(&tally, total.bound()), Law::Within, || {
            format!("{a} twice, its own total")
        })?;
        // Not within a budget that even one launch reaches, unless the second one costs nothing.
        let costs = !total.at_most(less.bound());
        for budget in budgets.iter().chain([less.bound()]) {
            let below = costs && budget.at_most(less.bound());
            let right = match rule.within(&tally, budget) {
                true => !below,
                false => !total.at_most(budget),
            };
            ensure(right, Law::Within, || {
                format!("{a} twice has {total}, budget {budget}")
            })?;
        }
    }
    Ok(())
}

fn check_gate<R: FilterRule>(
    rule: &R,
    losses: &[ChildLoss<R>],
    budget: &TotalLoss<R>,
    gate: &R::Gate,
) -> Result<(), Violation> {
    let start = rule.start();
    let spent = rule.spent(gate, &start);
    let nothing = spent.at_most(&rule.total().zero());
    ensure(nothing, Law::Spent, || format!("{spent} with no launch"))?;
    ensure(rule.fits(gate, &start), Law::FitsDownwards, || {
        format!("no launch, budget {budget}")
    })?;
    for a in losses {
        let one = start.after(a, 1);
        let infinite = one.after(&rule.child().infinity(), 1);
        ensure(!rule.fits(gate, &infinite), Law::InfinityIsAbsorbed, || {
            format!("budget {budget}")
        })?;
        for b in losses {
            let two = one.after(b, 1);
            if !rule.fits(gate, &two) {
                continue;
            }
            let spent = rule.spent(gate, &two);
            let witness = || format!("{a} and {b} fit {budget} but spent {spent}");
            ensure(spent.at_most(budget), Law::Spent, witness)?;
            let witness = || format!("{a} and {b} fit {budget}, {a} alone does not");
            ensure(rule.fits(gate, &one), Law::FitsDownwards, witness)?;
            let smaller = losses.iter().filter(|c| c.at_most(b));
            for c in smaller {
                let witness = || format!("{a} and {b} fit {budget}, {a} and {c} do not");
                ensure(
                    rule.fits(gate, &one.after(c, 1)),
                    Law::FitsDownwards,
                    witness,
                )?;
            }
        }
    }
    Ok(())
}

fn check_remaining<R: Tallied>(
    rule: &R,
    losses: &[ChildLoss<R>],
    admits: impl Fn(&R::Tally) -> bool,
    remaining: impl Fn(&R::Tally) -> Option<ChildLoss<R>>,
) -> Result<(), Violation> {
    for a in losses {
        let tally = tally_of(rule, [a]);
        let Some(rest) = remaining(&tally) else {
            continue;
        };
        let witness = || format!("after {a}, {rest} remains but does not fit");
        ensure(admits(&tally.after(&rest, 1)), Law::Remaining, witness)?;
        let witness = || format!("after {a}, {rest} remains but does not fit as it is charged");
        let charged = tally.after(&rest.clone().on_grid(), 1);
        ensure(admits(&charged), Law::Remaining, witness)?;
        for (less, more) in pairs_above(losses, &rest) {
            let witness = || format!("after {a}, {rest} remains but the larger {more} fits");
            let refused = less == more || !admits(&tally.after(more, 1));
            ensure(refused, Law::Remaining, witness)?;
        }
    }
    Ok(())
}

/// Samples with `rest ≤ less ≤ more`: then `more` is above `rest` by more than rounding.
fn pairs_above<'a, L: Loss>(losses: &'a [L], rest: &'a L) -> impl Iterator<Item = (&'a L, &'a L)> {
    let above = losses.iter().filter(move |less| rest.at_most(less));
    above.flat_map(|less| {
        losses
            .iter()
            .filter(move |more| less.at_most(more))
            .map(move |more| (less, more))
    })
}
