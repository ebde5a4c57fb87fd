//! Audits that would not end, or not fit: typed errors.

use std::sync::Arc;

use crate::common::{always, probability, randomized_response};
use auditor::{AuditError, DEFAULT_DRAWS, Factor, Input, Part, audit};
use dashu_ratio::RBig;
use queryable::{
    AskError, Queryable, Root, Scope,
    coins::{Bit, Categorical, EnumerateError, Probability, Script, Uniform, enumerate},
    compose::Routed,
    machine,
};

/// Draws until it sees this side of a fair coin.
fn rejects(until: bool) -> impl Fn(Input, &Root) -> Result<Queryable<(), u64>, AskError> {
    move |_: Input, root: &Root| {
        root.spawn(machine(move |(), scope: &mut Scope<'_>| {
            let mut tries = 0;
            while scope.draw(&Bit::fair())? != until {
                tries += 1;
            }
            Ok(tries)
        }))
    }
}

#[test]
fn rejection_sampling_with_a_fair_coin_ends() {
    let found = audit(rejects(true)).asking(1, always(vec![()])).err();
    let limit = DEFAULT_DRAWS;
    assert_eq!(found, Some(AuditError::TooManyDraws { limit }));
    for until in [false, true] {
        let found = audit(rejects(until)).draws(100).asking(1, always(vec![()]));
        assert_eq!(found.err(), Some(AuditError::TooManyDraws { limit: 100 }));
    }
    // While the system is built, too; and whoever swallows the error does not hide it.
    let unborn = |input: Input, root: &Root| {
        let number = rejects(true)(input, root)?.ask(()).unwrap_or(0);
        root.spawn(machine(move |(), _| Ok(number)))
    };
    let found = audit(unborn).asking(1, always(vec![()])).err();
    assert_eq!(found, Some(AuditError::TooManyDraws { limit }));
}

#[test]
fn as_many_draws_as_allowed_are_fine() {
    let build = |_: Input, root: &Root| {
        root.spawn(machine(|(), scope: &mut Scope<'_>| {
            let certain = Uniform::below(1).map_err(|_| AskError::failed("a law"))?;
            for _ in 0..50 {
                scope.draw(&certain)?;
            }
            Ok(())
        }))
    };
    assert!(audit(build).draws(100).asking(2, always(vec![()])).is_ok());
    let found = audit(build).draws(99).asking(2, always(vec![()])).err();
    assert_eq!(found, Some(AuditError::TooManyDraws { limit: 99 }));
}

#[test]
fn enumerating_rejection_sampling_ends() {
    let play = |script: &Script| rejects(true)(Input::Zero, &Root::scripted(script))?.ask(());
    let limit = Script::DEFAULT_DRAWS;
    let found = enumerate(10, play).err();
    assert_eq!(found, Some(EnumerateError::TooManyDraws { limit }));
    let fewer = |script: &Script| play(&script.clone().at_most(10));
    let found = enumerate(10, fewer).err();
    assert_eq!(found, Some(EnumerateError::TooManyDraws { limit: 10 }));
}

#[test]
fn too_many_outcomes_are_too_much_memory() {
    let build = |_: Input, root: &Root| {
        root.spawn(machine(|(), scope: &mut Scope<'_>| {
            let law = Uniform::below(1 << 40).map_err(|_| AskError::failed("a law"))?;
            scope.draw(&law)
        }))
    };
    let limit = 1 << 22;
    let found = audit(build).memory(limit).asking(1, always(vec![()])).err();
    assert_eq!(found, Some(AuditError::TooMuchMemory { limit }));
}

#[test]
fn long_numbers_are_memory() {
    // Few histories, whose probabilities have more and more digits.
    let build = |_: Input, root: &Root| {
        root.spawn(machine(|(), scope: &mut Scope<'_>| {
            let third = Bit::new(probability(1, 3));
            let mut tries = 0;
            while !scope.draw(&third)? && tries < 2000 {
                tries += 1;
            }
            Ok(())
        }))
    };
    let limit = 1 << 19;
    let found = audit(build).memory(limit).asking(1, always(vec![()])).err();
    assert_eq!(found, Some(AuditError::TooMuchMemory { limit }));
}

/// Sixty bits, with hardly a common divisor.
fn share(index: u64) -> Probability {
    probability(1, (1 << 60) + 2 * index + 1)
}

#[test]
fn sums_of_short_numbers_are_memory() {
    // Three hundred short probabilities in each of two histories: their sums are long.
    let rest = (0..600).fold(RBig::ONE, |rest, index| rest - share(index).to_rational());
    let mut outcomes: Vec<_> = (0..600).map(|index| (index, share(index))).collect();
    outcomes.push((600, Probability::try_from(rest).unwrap()));
    let law = Arc::new(Categorical::new(outcomes).unwrap());
    let build = |_: Input, root: &Root| {
        let law = Arc::clone(&law);
        root.spawn(machine(move |_: u8, scope: &mut Scope<'_>| {
            Ok(scope.draw(&*law)? % 2)
        }))
    };
    let offer = || always((0..20).collect());
    let audit = |limit| audit(build).reruns(0).memory(limit).asking(1, offer());
    let limit = 1 << 17;
    let found = audit(limit).err();
    assert_eq!(found, Some(AuditError::TooMuchMemory { limit }));
    assert_eq!(audit(1 << 23).unwrap().stats().histories, 41);
}

#[test]
fn a_long_common_denominator_is_memory() {
    // Every probability is short, and so is every history's.
    let build = |_: Input, root: &Root| {
        root.spawn(machine(|query: u64, scope: &mut Scope<'_>| {
            scope.draw(&Bit::new(share(query)))
        }))
    };
    let offer = || always((0..200).collect());
    let audit = |limit| audit(build).reruns(0).memory(limit).asking(1, offer());
    let limit = 1 << 21;
    let found = audit(limit).err();
    assert_eq!(found, Some(AuditError::TooMuchMemory { limit }));
    assert_eq!(audit(1 << 23).unwrap().stats().histories, 401);
}

#[test]
fn the_check_of_merged_interleavings_is_bounded() {
    // Two parts without coins: about d^4 histories in four turns.
    let build = |_: Input, root: &Root| root.spawn(machine(|Routed { .. }: Routed<()>, _| Ok(())));
    let part = |to| Part::new(40, move |_: &[_]| vec![Routed { to, query: () }]);
    let parts = [part(0), part(1)];
    let limit = 1 << 26;
    let found = audit(build).memory(limit).concurrently(&parts).err();
    assert_eq!(found, Some(AuditError::TooMuchMemory { limit }));
    // In two turns, it fits.
    let report = audit(build)
        .memory(limit)
        .turns(2)
        .concurrently(&parts)
        .unwrap();
    assert_eq!(report.coverage().merged.unwrap().turns, 2);
    assert_eq!(report.coverage().depth, 80);
}

#[test]
fn the_product_of_many_parts_is_bounded() {
    // 3^41 combinations of histories: more than a machine counts, from 41 times 3 of them.
    let build = |_: Input, root: &Root| root.spawn(machine(|Routed { .. }: Routed<()>, _| Ok(())));
    let part = |to| Part::new(2, move |_: &[_]| vec![Routed { to, query: () }]);
    let parts: Vec<_> = (0..41).map(part).collect();
    for limit in [1 << 28, u64::MAX] {
        let audit = audit(build).turns(2).reruns(1).memory(limit);
        let found = audit.concurrently(&parts).err();
        assert_eq!(found, Some(AuditError::TooMuchMemory { limit }));
    }
}

#[test]
fn limits_are_typed_errors() {
    let build = |input: Input, root: &Root| root.spawn(randomized_response(input, 3, 4));
    let deep = audit(build).asking(100_000, always(vec![()]));
    assert!(matches!(deep, Err(AuditError::Parameter { .. })));
    let many = audit(build).runs(1).asking(1, always(vec![()]));
    assert_eq!(many.err(), Some(AuditError::TooManyRuns { limit: 1 }));
    // A deep history of a system without coins.
    let echo = |_: Input, root: &Root| root.spawn(machine(|(), _| Ok(())));
    let report = audit(echo).asking(2000, always(vec![()])).unwrap();
    assert_eq!(report.total_variation().value(), Some(&RBig::ZERO));
    assert!(
        report
            .best_attack(&Factor::ONE)
            .to_string()
            .contains("stop")
    );
}
