//! Draws of which only the first outcomes are enumerated: bounds that hold the truth.

use crate::common::{always, probability, ratio};
use auditor::{AuditError, Direction, Factor, Input, audit};
use dashu_ratio::RBig;
use queryable::{
    Root, Scope,
    coins::{Distribution, Probability},
    machine,
};

/// A geometric number of failures, enumerated up to a point.
struct Geometric {
    shown: usize,
}

impl Distribution for Geometric {
    type Outcome = usize;
    fn sample(&self, _: &mut dyn rand_core::Rng) -> usize {
        unreachable!("only enumerated here")
    }
    fn arity(&self) -> usize {
        self.shown
    }
    fn outcome(&self, index: usize) -> (usize, Probability) {
        (index, probability(1, 2 << index))
    }
    fn missing(&self) -> Probability {
        probability(1, 1 << self.shown)
    }
}

#[test]
fn truncated_draws_give_bounds_that_hold_the_truth() {
    // One-sided noise: answer = input + Geometric(1/2). p0(k) = 2^-(k+1), p1(k) = 2^-k for k ≥ 1: δ(ln 2) = 1/2 as
    // p0(0) = 1/2 has no counterpart; the reverse direction has δ(ln 2) = 0.
    let build = |shown: usize| {
        move |input: Input, root: &Root| {
            root.spawn(machine(move |(), scope| {
                Ok(scope.draw(&Geometric { shown })? + input.index())
            }))
        }
    };
    let two = Factor::new(2, 1).unwrap();
    for shown in [2usize, 5, 9] {
        let report = audit(build(shown)).asking(1, always(vec![()])).unwrap();
        let eta = ratio(1, 1 << shown);
        assert_eq!(report.missing(), [&eta, &eta]);
        let forward = report.profile(Direction::ZeroOverOne).delta(&two);
        assert_eq!(forward.most, ratio(1, 2) + &eta);
        assert_eq!(forward.least, ratio(1, 2) - &eta - &eta);
        let backward = report.profile(Direction::OneOverZero).delta(&two);
        // The last number shown under input 1 is not shown under input 0: ignoring the missing mass would be wrong.
        assert!(backward.least == RBig::ZERO && backward.most >= eta);
        assert!(matches!(
            report.renyi(&2u32.into(), Direction::ZeroOverOne),
            Err(AuditError::Truncated { .. })
        ));
    }
}

#[test]
fn what_is_missing_adds_up_along_the_worst_way_to_ask() {
    // Two rounds of two queries; what the second round leaves out depends on the first answer.
    let build = |input: Input, root: &Root| {
        let mut first = None;
        root.spawn(machine(move |query: usize, scope: &mut Scope<'_>| {
            let shown = match first {
                None => 2 + query + input.index(),
                Some(0) => [1, 4][query],
                Some(_) => [3, 2][query],
            };
            let answer = scope.draw(&Geometric { shown })?;
            first.get_or_insert(answer);
            Ok(answer)
        }))
    };
    let report = audit(build).asking(2, always(vec![0, 1])).unwrap();
    // Query 0 first: 1/4 (1/8) there, 1/2·1/2 after the answer 0, and 1/4 of the other 1/4 (3/8).
    assert_eq!(report.missing(), [&ratio(9, 16), &ratio(15, 32)]);
}

#[test]
fn attacks_and_trade_offs_count_what_was_not_enumerated() {
    // Two-sided geometric noise with ratio 1/2: δ(ln 2) = 0 for neighbouring integers, and the trade-off at 1/3 is 1/3.
    struct Laplace;
    impl Distribution for Laplace {
        type Outcome = i64;
        fn sample(&self, _: &mut dyn rand_core::Rng) -> i64 {
            unreachable!("only enumerated here")
        }
        fn arity(&self) -> usize {
            7
        }
        fn outcome(&self, index: usize) -> (i64, Probability) {
            let x = index as i64 - 3;
            (x, probability(1, 3 << x.abs()))
        }
        fn missing(&self) -> Probability {
            probability(1, 12) // 2/3·(1/16 + 1/32 + …)
        }
    }
    let build = |input: Input, root: &Root| {
        root.spawn(machine(move |(), scope| {
            Ok(scope.draw(&Laplace)? + input.index() as i64)
        }))
    };
    let report = audit(build).asking(1, always(vec![()])).unwrap();
    let two = Factor::new(2, 1).unwrap();
    for direction in Direction::BOTH {
        let claim = report.attack(&two, direction).claim;
        assert!(
            claim.contains("at most 0.08333333… (1/12) on input"),
            "{claim}"
        );
        assert!(claim.contains("δ ≥ 0 at e^ε = 2"), "{claim}");
        let third = report.profile(direction).trade_off(&ratio(1, 3)).unwrap();
        assert!(
            third.least < ratio(1, 3) && ratio(1, 3) < third.most,
            "{third}"
        );
        let none = report.profile(direction).trade_off(&RBig::ZERO).unwrap();
        assert!(none.least < RBig::ONE && none.most == RBig::ONE, "{none}");
    }
}
