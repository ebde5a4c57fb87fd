//! Exact laws of transcripts and views, by enumerating every outcome of every draw.

use std::collections::BTreeSet;

use crate::common::{bit, law, prob, ratio};
use dashu_ratio::RBig;
use proptest::prelude::*;
use queryable::coins::{Categorical, Uniform, enumerate};
use queryable::{
    AnalystCoins, AskError, Heard, Machine, Move, Queryable, Root, Scope, Transcript, machine, once,
};

/// Randomized response: the secret, flipped one time in four.
fn response(secret: bool) -> impl Machine<Query = (), Answer = bool> {
    let lie = bit(1, 4);
    machine(move |(), scope: &mut Scope<'_>| Ok(secret ^ scope.draw(&lie)?))
}

/// Draws balls without putting them back, and halts with the last.
fn urn(mut balls: Vec<u64>) -> impl Machine<Query = (), Answer = u64> {
    machine(move |(), scope: &mut Scope<'_>| {
        let one =
            Uniform::below(balls.len() as u64).map_err(|e| AskError::failed(e.to_string()))?;
        let ball = balls.remove(scope.draw(&one)? as usize);
        if balls.is_empty() {
            scope.halt();
        }
        Ok(ball)
    })
}

#[test]
fn randomized_response_twice() {
    let law = law(|root| {
        let q = root.spawn(response(true)).unwrap();
        (q.ask(()), q.ask(()))
    });
    let expected = [
        ((true, true), ratio(9, 16)),
        ((true, false), ratio(3, 16)),
        ((false, true), ratio(3, 16)),
        ((false, false), ratio(1, 16)),
    ];
    assert_eq!(law.len(), 4);
    for ((first, second), probability) in expected {
        assert_eq!(law[&(Ok(first), Ok(second))], probability);
    }
}

#[test]
fn urn_gives_every_order_and_halts() {
    let law = law(|root| Transcript::of(&root.spawn(urn(vec![1, 2, 3])).unwrap(), [(); 4]));
    assert_eq!(law.len(), 6);
    for (transcript, probability) in &law {
        assert_eq!(*probability, ratio(1, 6));
        let answers: Vec<_> = transcript.rounds.iter().map(|r| r.answer.clone()).collect();
        let balls: BTreeSet<_> = answers[..3].iter().cloned().collect();
        assert_eq!(balls, BTreeSet::from([Ok(1), Ok(2), Ok(3)]));
        assert_eq!(answers[3], Err(AskError::Halted));
    }
}

#[test]
fn errors_halts_and_panics_are_answers() {
    let fates = Categorical::new(vec![
        ("answer", prob(1, 2)),
        ("fail", prob(1, 3)),
        ("panic", prob(1, 6)),
    ])
    .unwrap();
    let law = law(|root| {
        let fates = fates.clone();
        let q = root
            .spawn(machine(move |(), scope: &mut Scope<'_>| {
                match scope.draw(&fates)? {
                    "answer" => Ok(1),
                    "fail" => Err(AskError::failed("bad luck")),
                    _ => panic!("very bad luck"),
                }
            }))
            .unwrap();
        (q.ask(()), q.ask(()))
    });
    let fail = || Err(AskError::failed("bad luck"));
    let dead = || Err(AskError::Panicked);
    assert_eq!(law.len(), 7);
    assert_eq!(law[&(Ok(1), Ok(1))], ratio(1, 4));
    assert_eq!(law[&(fail(), Ok(1))], ratio(1, 6));
    assert_eq!(law[&(fail(), dead())], ratio(1, 18));
    assert_eq!(law[&(dead(), dead())], ratio(1, 6));
}

#[test]
fn children_draw_from_the_same_script() {
    // The parent draws how biased its child is; the child, spawned in a step, draws twice.
    let law = law(|root| {
        let parent: Queryable<(), Queryable<(), bool>> = root
            .spawn(once(|(), scope: &mut Scope<'_>| {
                let lie = if scope.draw(&bit(1, 2))? {
                    bit(1, 3)
                } else {
                    bit(1, 1)
                };
                scope.spawn(machine(move |(), scope: &mut Scope<'_>| scope.draw(&lie)))
            }))
            .unwrap();
        let child = parent.ask(()).unwrap();
        (child.ask(()).unwrap(), child.ask(()).unwrap())
    });
    assert_eq!(law[&(true, true)], ratio(1, 2) + ratio(1, 18));
    assert_eq!(law[&(true, false)], ratio(1, 9));
    assert_eq!(law[&(false, false)], ratio(2, 9));
}

#[test]
fn the_law_of_a_view_with_a_randomized_adaptive_analyst() {
    // The analyst flips a coin for its first threshold, then asks again only if it heard "above".
    let analyst = || {
        let mut asked = 0;
        machine(move |heard: Heard<bool>, scope: &mut Scope<'_>| {
            asked += 1;
            Ok(match heard {
                None => Move::Ask(scope.draw(&bit(2, 5))?),
                Some(Ok(true)) if asked == 2 => Move::Ask(true),
                _ => Move::Halt,
            })
        })
    };
    let law = law(|root| {
        let lie = bit(1, 4);
        let q = root
            .spawn(machine(move |x: bool, scope: &mut Scope<'_>| {
                Ok(x ^ scope.draw(&lie)?)
            }))
            .unwrap();
        root.interact(analyst(), &q, 10).unwrap()
    });
    // First asked 0 (3/5) or 1 (2/5); "above" is heard with 1/4 or 3/4 and leads to one more round.
    assert_eq!(law.len(), 6);
    for (view, probability) in &law {
        let rounds = &view.transcript.rounds;
        let first = rounds[0].query;
        assert_eq!(view.coins, AnalystCoins::Choices(vec![usize::from(first)]));
        let mut expected = if first { ratio(2, 5) } else { ratio(3, 5) };
        for round in rounds {
            let honest = round.answer == Ok(round.query);
            expected *= if honest { ratio(3, 4) } else { ratio(1, 4) };
        }
        assert_eq!(rounds.len() == 2, rounds[0].answer == Ok(true));
        assert_eq!(*probability, expected);
    }
}

#[test]
fn the_analyst_ends_the_interaction_in_every_way() {
    let root = crate::common::root();
    let q = crate::common::adder(&root);
    let ends = [
        (
            machine(|_: Heard<u64>, _: &mut Scope<'_>| Ok(Move::Ask(1))).boxed(),
            5,
        ),
        (
            machine(|_: Heard<u64>, _: &mut Scope<'_>| Ok(Move::Halt)).boxed(),
            0,
        ),
        (
            machine(|_: Heard<u64>, _: &mut Scope<'_>| Err(AskError::failed("tired"))).boxed(),
            0,
        ),
        (
            machine(|_: Heard<u64>, _: &mut Scope<'_>| panic!("tired")).boxed(),
            0,
        ),
        // Halts with its last question, which is still asked.
        (
            once(|_: Heard<u64>, _: &mut Scope<'_>| Ok(Move::Ask(1))).boxed(),
            1,
        ),
    ];
    for (analyst, rounds) in ends {
        let view = root.interact(analyst, &q, 5).unwrap();
        assert_eq!(view.transcript.rounds.len(), rounds);
    }
}

type Analyst = Box<dyn Machine<Query = Heard<u64>, Answer = Move<u64>>>;

trait Boxed: Machine<Query = Heard<u64>, Answer = Move<u64>> + Sized + 'static {
    fn boxed(self) -> Analyst {
        Box::new(self)
    }
}
impl<M: Machine<Query = Heard<u64>, Answer = Move<u64>> + 'static> Boxed for M {}

#[test]
fn the_limit_on_runs_is_exact() {
    let three_bits = |root: &Root| {
        let q = root.spawn(response(true)).unwrap();
        [q.ask(()), q.ask(()), q.ask(())]
    };
    assert_eq!(
        enumerate(8, |s| three_bits(&Root::scripted(s)))
            .unwrap()
            .runs
            .len(),
        8
    );
    let error = enumerate(7, |s| three_bits(&Root::scripted(s))).unwrap_err();
    assert_eq!(error.to_string(), "there are more than 7 runs");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A machine whose next distribution depends on what it drew: the law sums to one, and a leaf's probability is the
    /// product along its path.
    #[test]
    fn laws_sum_to_one(weights in prop::collection::vec(prop::collection::vec(0u64..5, 1..4), 1..5), asks in 1usize..5) {
        let total = |w: &[u64]| w.iter().sum::<u64>();
        let levels: Vec<_> = weights.into_iter().filter(|w| total(w) > 0).collect();
        prop_assume!(!levels.is_empty());
        let level = |drawn: &[usize]| &levels[(drawn.iter().sum::<usize>() + drawn.len()) % levels.len()];
        let law = law(|root| {
            let levels = levels.clone();
            let mut drawn: Vec<usize> = Vec::new();
            let q = root.spawn(machine(move |(), scope: &mut Scope<'_>| {
                let w = &levels[(drawn.iter().sum::<usize>() + drawn.len()) % levels.len()];
                let sum = w.iter().sum();
                let outcomes = w.iter().enumerate().map(|(i, &w)| (i, prob(w, sum))).collect();
                let next = scope.draw(&Categorical::new(outcomes).unwrap())?;
                drawn.push(next);
                Ok(next)
            })).unwrap();
            (0..asks).map(|_| q.ask(()).unwrap()).collect::<Vec<_>>()
        });
        for (path, probability) in law {
            let mut expected = RBig::ONE;
            for at in 0..path.len() {
                let w = level(&path[..at]);
                expected *= ratio(w[path[at]], total(w));
            }
            prop_assert_eq!(probability, expected);
        }
    }
}
