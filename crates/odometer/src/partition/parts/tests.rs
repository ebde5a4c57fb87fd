//! Against every way to split a change.

use measures::adaptive::{ImprovedBasic, Sum};
use measures::{ApproxDp, Basic, EpsilonDelta, Tallied};
use proptest::prelude::*;

use super::*;

const UNITS: usize = 4;

/// A curve by its coordinates, in eighths: ε and δ at 1, 2, … units.
type Shape = Vec<(u32, u32)>;

fn curve<R: Tallied<Child = ApproxDp>>(rule: &R, shape: &Shape) -> Curve<R::Tally> {
    let tally = |&(epsilon, delta): &(u32, u32)| {
        let eighths = |n: u32| exact::Exact::ratio(n.into(), 8).unwrap();
        let loss = EpsilonDelta::saturating(eighths(epsilon), eighths(delta));
        rule.start().after(&loss, 1)
    };
    crate::partition::split::monotone(&shape.iter().map(tally).collect::<Vec<_>>())
}

/// The coordinate-wise maximum over all ways to give at most `units` units to these parts.
fn worst<T: Tally>(parts: &[Curve<T>], units: usize, zero: &T) -> T {
    let Some((first, rest)) = parts.split_first() else {
        return zero.clone();
    };
    let mut most = worst(rest, units, zero);
    for here in 1..=units {
        let mut split = first[here - 1].clone();
        split.merge(&worst(rest, units - here, zero));
        most.join(&split);
    }
    most
}

fn at_most<T: Tally>(one: &T, other: &T) -> bool {
    let mut joined = other.clone();
    joined.join(one);
    joined == *other
}

/// Curves of every kind: bent upwards (also until δ passes one half, or one), flat, and anything.
fn shape() -> impl Strategy<Value = Shape> {
    let upwards = |(e, d, bend): (u32, u32, u32)| -> Shape {
        let at = |n: u32| (e * n + bend * n * n, d * n + bend * (n * n - n) / 2);
        (1..=UNITS as u32).map(at).collect()
    };
    prop_oneof![
        (0u32..4, 0u32..3, 0u32..2).prop_map(upwards),
        (0u32..9, 0u32..9).prop_map(|flat| vec![flat; UNITS]),
        proptest::collection::vec((0u32..9, 0u32..9), UNITS),
    ]
}

/// Parts that grow one after another: which part, and what it becomes more.
fn steps() -> impl Strategy<Value = Vec<(usize, Shape)>> {
    proptest::collection::vec((0usize..5, shape()), 1..9)
}

/// Plays steps in both ways: one by one, and all at once. Gives the curves, and all parts together.
fn play<R: Tallied<Child = ApproxDp>>(
    rule: &R,
    work: usize,
    steps: &[(usize, Shape)],
) -> (Vec<Curve<R::Tally>>, Splits<R::Tally>) {
    let zero = rule.start();
    let (mut splits, mut lazily) = (Splits::new(work), Splits::new(work));
    let mut curves: Vec<Curve<R::Tally>> = Vec::new();
    for (part, more) in steps {
        let part = (*part).min(curves.len());
        if part == curves.len() {
            curves.push(vec![zero.clone(); UNITS].into());
        }
        let grown = Combine::Sum.both(&curves[part], &curve(rule, more));
        curves[part] = crate::partition::split::monotone(&grown);
        let mut path = splits.with(part, curves[part].clone(), &zero);
        let all = path.all.clone();
        splits.reserve(part, &mut path);
        splits.commit(part, &mut path);
        assert_eq!(splits.all, all);
        lazily.set(part, curves[part].clone(), &zero);
        if part % 2 == 0 {
            lazily.refresh();
        }
    }
    lazily.refresh();
    if work == MOST_WORK {
        assert_eq!(lazily.all, splits.all);
    }
    (curves, splits)
}

fn check<R: Tallied<Child = ApproxDp>>(rule: &R, steps: &[(usize, Shape)]) {
    let zero = rule.start();
    let (curves, exactly) = play(rule, MOST_WORK, steps);
    for work in [0, UNITS.pow(2), 2 * UNITS.pow(2)] {
        let (_, bounded) = play(rule, work, steps);
        for units in 1..=UNITS {
            let truth = worst(&curves, units, &zero);
            assert_eq!(exactly.all[units - 1], truth, "at {units} units");
            let bound = &bounded.all[units - 1];
            assert!(at_most(&truth, bound), "{bound:?} is below {truth:?}");
        }
    }
}

proptest! {
    #[test]
    fn the_worst_split_is_exact_and_a_bound_is_never_below_it(steps in steps()) {
        check(&Basic::new(ApproxDp), &steps);
        check(&ImprovedBasic, &steps);
    }
}

fn sums(shapes: &[Shape]) -> Vec<(usize, Shape)> {
    shapes.iter().cloned().enumerate().collect()
}

#[test]
fn equal_parts_are_bounded_exactly() {
    // Flat curves: one unit in each of four parts is the worst.
    let parts = sums(&vec![vec![(2, 1); UNITS]; 6]);
    let (curves, bounded) = play(&Basic::new(ApproxDp), 0, &parts);
    assert!(matches!(bounded.others, Others::Bounded { .. }));
    let zero = Basic::new(ApproxDp).start();
    assert_eq!(bounded.all[3], worst(&curves, 4, &zero));
}

#[test]
fn a_part_that_no_longer_bends_up_is_not_counted_twice() {
    let (linear, flat) = (vec![(2, 0), (4, 0), (6, 0), (8, 0)], vec![(8, 0); UNITS]);
    let steps = [(0, linear.clone()), (1, linear), (0, flat)];
    let (curves, splits) = play(&Basic::new(ApproxDp), MOST_WORK, &steps);
    let zero = Basic::new(ApproxDp).start();
    assert!(matches!(
        splits.places[..],
        [Place::Other(0), Place::Upward(1)]
    ));
    assert_eq!(splits.all[1], worst(&curves, 2, &zero));
}

#[test]
fn sums_that_saturate_do_not_pass_for_upwards() {
    // δ = 0.3, 0.7, 0.75: twice the second saturates, and so does the first with the third. One unit here and two
    // there is infinite, three in one part is not.
    let rule = Basic::new(ApproxDp);
    let deltas = ["(1, 0.3)", "(1, 0.7)", "(1, 0.75)"];
    let parse = |text: &str| rule.start().after(&text.parse().unwrap(), 1);
    let curve: Curve<Sum<ApproxDp>> = deltas.map(parse).into();
    assert!(!bends_up(&curve, &rule.start()));
    let mut splits = Splits::new(MOST_WORK);
    for part in 0..2 {
        splits.set(part, curve.clone(), &rule.start());
    }
    splits.refresh();
    assert_eq!(
        splits.all[2],
        rule.start().after(&EpsilonDelta::INFINITY, 1)
    );
}
