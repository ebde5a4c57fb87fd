//! What ends an audit that could not be trusted, and panics in odd places.

use std::{
    panic::catch_unwind,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::common::{always, probability, ratio};
use auditor::{AuditError, Input, Part, Report, audit, player};
use dashu_ratio::RBig;
use queryable::{
    AskError, Exchange, Root, Scope,
    coins::{Bit, Categorical, Distribution, Probability},
    machine,
};

/// Two outcomes whose probabilities are said to be these.
struct Said(Probability, Probability);

impl Distribution for Said {
    type Outcome = usize;
    fn sample(&self, _: &mut dyn rand_core::Rng) -> usize {
        unreachable!("only enumerated here")
    }
    fn arity(&self) -> usize {
        2
    }
    fn outcome(&self, index: usize) -> (usize, Probability) {
        (index, [&self.0, &self.1][index].clone())
    }
}

#[test]
fn probabilities_that_do_not_add_up_are_found() {
    // Too little would hide what is lost, too much would count it twice.
    for numerator in [1, 3] {
        let law = move || Said(probability(1, 2), probability(numerator, 4));
        let wrong = |draw| {
            let sum = ratio(2 + numerator as i64, 4);
            Some(AuditError::NotNormalized { draw, sum })
        };
        let while_built = |_: Input, root: &Root| {
            let answer = root.run([], |scope| scope.draw(&law()))?;
            Ok(player(move |()| Ok(answer)))
        };
        let found = audit(while_built).asking(1, always(vec![()])).err();
        assert_eq!(found, wrong(0));
        let in_the_second_round = |_: Input, root: &Root| {
            let mut first = true;
            root.spawn(machine(
                move |(), scope: &mut Scope<'_>| match std::mem::take(&mut first) {
                    true => scope.draw(&Bit::fair()).map(usize::from),
                    false => scope.draw(&law()),
                },
            ))
        };
        let found = audit(in_the_second_round).asking(2, always(vec![()])).err();
        assert_eq!(found, wrong(1));
    }
}

#[test]
fn a_replay_that_draws_from_another_law_is_found() {
    // A coin in the first run; in the next, one with other odds, or nothing to choose from.
    let found = |others: fn() -> Categorical<bool>| {
        let built = AtomicUsize::new(0);
        let build = |_: Input, root: &Root| {
            let first = built.fetch_add(1, Relaxed) == 0;
            root.spawn(machine(move |(), scope: &mut Scope<'_>| match first {
                true => scope.draw(&Bit::fair()),
                false => scope.draw(&others()),
            }))
        };
        let found = audit(build).on_one_thread().asking(1, always(vec![()]));
        found.err()
    };
    let other_odds = found(|| {
        let odds = vec![(false, probability(2, 3)), (true, probability(1, 3))];
        Categorical::new(odds).unwrap()
    });
    let sum = ratio(5, 6);
    assert_eq!(other_odds, Some(AuditError::NotNormalized { draw: 0, sum }));
    let nothing = found(|| Categorical::new(vec![(false, probability(1, 1))]).unwrap());
    assert!(
        matches!(nothing, Some(AuditError::Script(_))),
        "{nothing:?}"
    );
}

#[test]
fn a_rerun_that_draws_another_number_of_coins_is_found() {
    // Two runs on the first input; when they are made again, another coin is drawn, and the answers are the same.
    let built = AtomicUsize::new(0);
    let build = |_: Input, root: &Root| {
        let again = built.fetch_add(1, Relaxed) >= 2;
        root.spawn(machine(move |(), scope: &mut Scope<'_>| {
            let answer = scope.draw(&Bit::fair())?;
            if again {
                scope.draw(&Bit::fair())?;
            }
            Ok(answer)
        }))
    };
    let found = audit(build).on_one_thread().asking(1, always(vec![()]));
    let found = found.err();
    assert_eq!(found, Some(AuditError::HiddenRandomness { round: 0 }));
}

#[test]
fn parts_whose_histories_are_too_long_are_refused() {
    let build = |_: Input, _: &Root| Ok(player(|()| Ok(())));
    let part = |depth| Part::new(depth, |_: &[Exchange<(), ()>]| vec![()]);
    for depths in [[1001, 1000], [usize::MAX, 1]] {
        let found = audit(build).concurrently(&depths.map(part)).err();
        let is_refused = matches!(found, Some(AuditError::Parameter { .. }));
        assert!(is_refused, "{found:?}");
    }
}

#[test]
fn panics_of_offers_come_out_on_either_input() {
    for panics_on in Input::BOTH {
        let build = |input: Input, _: &Root| Ok(player(move |()| Ok(input)));
        let offer = |history: &[Exchange<(), Input>]| {
            let heard = history.last().map(|round| round.answer.clone());
            assert!(heard != Some(Ok(panics_on)), "expected by the test");
            vec![()]
        };
        let panic = catch_unwind(|| audit(build).asking(2, offer).is_ok()).unwrap_err();
        let said = panic.downcast_ref::<&str>();
        assert_eq!(said, Some(&"expected by the test"), "{panics_on:?}");
    }
}

#[test]
fn a_panic_while_it_is_built_is_its_answer() {
    let build = |input: Input, _: &Root| {
        assert!(input == Input::Zero, "expected by the test");
        Ok(player(|()| Ok(())))
    };
    let report = audit(build).asking(1, always(vec![()])).unwrap();
    assert_eq!(report.total_variation().value(), Some(&RBig::ONE));
}

#[test]
fn what_panicked_answers_nothing_else() {
    // Asked again, it would tell everything.
    let build = |input: Input, _: &Root| {
        let mut fine = false;
        Ok(player(move |()| -> Result<Input, AskError> {
            assert!(std::mem::replace(&mut fine, true), "expected by the test");
            Ok(input)
        }))
    };
    let report: Report<(), Input> = audit(build).asking(3, always(vec![()])).unwrap();
    assert_eq!(report.total_variation().value(), Some(&RBig::ZERO));
    assert_eq!(report.stats().histories, 4);
}
