//! Merged interleavings: the same as all of them, and refused where parts are not independent.

use crate::common::table;
use auditor::{AuditError, Direction, Input, Part, Report, audit};
use dashu_ratio::RBig;
use proptest::prelude::*;
use queryable::{
    Root,
    compose::{BoxedMachine, ConComp, Routed, Unparsable},
    machine,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn merging_interleavings_changes_nothing(a in table(2, 2, true), b in table(1, 2, true)) {
        let build = |input: Input, root: &Root| {
            let parts: Vec<BoxedMachine<usize, usize>> = vec![Box::new(a.machine(input)), Box::new(b.machine(input))];
            root.spawn(ConComp::new(parts, Unparsable::Refuse))
        };
        let part = |to: usize, depth| Part::new(depth, move |_: &[_]| vec![Routed { to, query: 0 }, Routed { to, query: 1 }]);
        let parts = [part(0, 2), part(1, 1)];
        let merged = audit(build).concurrently(&parts).unwrap();
        let unmerged = audit(build).unmerged().concurrently(&parts).unwrap();
        for direction in Direction::BOTH {
            prop_assert_eq!(merged.profile(direction), unmerged.profile(direction));
            prop_assert_eq!(merged.power_sum(3, direction), unmerged.power_sum(3, direction));
        }
        let alone = audit(build).on_one_thread().concurrently(&parts).unwrap();
        for direction in Direction::BOTH {
            prop_assert_eq!(merged.profile(direction), alone.profile(direction));
        }
        prop_assert_eq!(merged.stats().runs, alone.stats().runs);
        prop_assert_eq!(merged.coverage(), alone.coverage());
        prop_assert!(merged.stats().histories < unmerged.stats().histories);
    }
}

#[test]
fn parts_that_share_a_coin_are_not_merged() {
    let build = |input: Input, root: &Root| {
        let mut shared = None;
        root.spawn(machine(move |Routed { to, query: () }, scope| {
            let bit = match shared {
                Some(bit) => bit,
                None => *shared.insert(scope.draw(&queryable::coins::Bit::fair())?),
            };
            // Either answer alone is a fair coin; both together are the input.
            Ok(bit ^ (to == 1 && input == Input::One))
        }))
    };
    let part = |to| Part::new(1, move |_: &[_]| vec![Routed { to, query: () }]);
    let parts = [part(0), part(1)];
    let merged = audit(build).concurrently(&parts);
    assert!(matches!(
        merged,
        Err(AuditError::NotIndependent { part: 1 })
    ));
    let unmerged = audit(build).unmerged().concurrently(&parts).unwrap();
    assert_eq!(unmerged.total_variation().value(), Some(&RBig::ONE));
}

/// Two parts of one machine that mind whether the other was asked before: `leaks(part, other was asked)`.
fn audit_nosy(
    merged: bool,
    leaks: fn(usize, bool) -> bool,
) -> Result<Report<Routed<()>, bool>, AuditError> {
    let build = move |input: Input, root: &Root| {
        let mut asked = [false; 2];
        root.spawn(machine(move |Routed { to, query: () }, _| {
            asked[to] = true;
            Ok(leaks(to, asked[1 - to]) && input == Input::One)
        }))
    };
    let part = |to| Part::new(1, move |_: &[_]| vec![Routed { to, query: () }]);
    let audit = audit(build);
    let audit = if merged { audit } else { audit.unmerged() };
    audit.concurrently(&[part(0), part(1)])
}

#[test]
fn parts_that_mind_the_order_are_not_merged() {
    // Part 0 leaks if part 1 was asked before; part 1 leaks if part 0 was never asked. In the order 0, 1 nothing leaks.
    let nosy: [fn(usize, bool) -> bool; 2] =
        [|to, other| to == 0 && other, |to, other| to == 1 && !other];
    for (part, leaks) in nosy.into_iter().enumerate() {
        let merged = audit_nosy(true, leaks).err();
        assert!(
            matches!(merged, Some(AuditError::NotIndependent { .. })),
            "{part}: {merged:?}"
        );
        let unmerged = audit_nosy(false, leaks).unwrap();
        assert_eq!(unmerged.total_variation().value(), Some(&RBig::ONE));
    }
}

#[test]
fn a_part_that_minds_what_happens_between_its_rounds_is_not_merged() {
    let build = |input: Input, root: &Root| {
        let (mut rounds, mut between) = (0, false);
        root.spawn(machine(move |Routed { to, query: () }, _| {
            if to == 1 {
                between = rounds == 1;
                return Ok(false);
            }
            rounds += 1;
            Ok(between && input == Input::One)
        }))
    };
    let part = |to, depth| Part::new(depth, move |_: &[_]| vec![Routed { to, query: () }]);
    let parts = [part(0, 2), part(1, 1), part(2, 1)];
    let merged = audit(build).concurrently(&parts).err();
    assert_eq!(merged, Some(AuditError::NotIndependent { part: 0 }));
}

#[test]
fn a_third_part_that_answers_unheard_of_things_is_not_merged() {
    // Part 2 answers as it never does alone or after one part, whatever the input, once both others were asked.
    let build = |_: Input, root: &Root| {
        let mut asked = [false; 3];
        root.spawn(machine(move |Routed { to, query: () }, _| {
            asked[to] = true;
            Ok(to == 2 && asked == [true; 3])
        }))
    };
    let part = |to| Part::new(1, move |_: &[_]| vec![Routed { to, query: () }]);
    let merged = audit(build)
        .concurrently(&[part(0), part(1), part(2)])
        .err();
    assert_eq!(merged, Some(AuditError::NotIndependent { part: 2 }));
}
