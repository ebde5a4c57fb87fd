//! The simulators from the proofs give exactly the views of what they simulate; adversaries and statistics agree with the
//! exact audit.

use crate::common::{Table, always, ratio};
use auditor::{
    AuditError, Direction, Evidence, Factor, Input, Report, Sampling, adversary, audit,
    simulate::{InputResponse, randomized_response},
};
use dashu_ratio::RBig;
use measures::{Profile, Tradeoff};
use proptest::prelude::*;
use queryable::{AskError, Root};

fn table_report(table: &Table) -> Report<usize, usize> {
    audit(|input, root: &Root| root.spawn(table.machine(input)))
        .asking(table.rounds, always(vec![0, 1]))
        .unwrap()
}

fn table(rounds: usize, answers: usize, least: u64) -> impl Strategy<Value = Table> {
    prop::collection::vec(least..9, 17).prop_map(move |weights| Table {
        rounds,
        answers,
        hidden: true,
        weights: weights.into_iter().chain([1, 2]).collect(),
    })
}

/// The simulator on top of randomized response, which alone has seen the input.
fn simulated(
    report: &Report<usize, usize>,
    rounds: usize,
    factor: &Factor,
    delta: &RBig,
) -> Report<usize, usize> {
    let simulator = report.simulator(factor, delta).unwrap();
    audit(move |input, root: &Root| {
        let rr = randomized_response(factor, delta, input).map_err(|_| AskError::failed("RR"))?;
        let response = root.spawn(rr)?.ask(())?;
        root.spawn(
            simulator
                .given(response)
                .map_err(|why| AskError::failed(why.to_string()))?,
        )
    })
    .asking(rounds, always(vec![0, 1]))
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn pure_systems_are_post_processings_of_randomized_response(table in table(2, 3, 1)) {
        let report = table_report(&table);
        let factor = report.factor(&RBig::ZERO).unwrap();
        prop_assume!(factor > Factor::ONE);
        prop_assert!(report.same_views(&simulated(&report, 2, &factor, &RBig::ZERO)));
        // A larger ε will do, a smaller one will not.
        let larger = Factor::try_from(factor.as_rational() * ratio(9, 8)).unwrap();
        prop_assert!(report.same_views(&simulated(&report, 2, &larger, &RBig::ZERO)));
        let smaller = Factor::try_from(factor.as_rational() * ratio(999, 1000)).unwrap();
        prop_assert!(report.simulator(&smaller, &RBig::ZERO).is_err());
    }

    #[test]
    fn approximate_systems_are_post_processings_of_randomized_response(table in table(3, 2, 0), n in 1i64..40) {
        let report = table_report(&table);
        let delta = ratio(n, 100);
        let Some(factor) = report.factor(&delta) else { return Ok(()) };
        prop_assume!(factor > Factor::ONE);
        prop_assert!(report.same_views(&simulated(&report, 3, &factor, &delta)));
        let different = table_report(&Table { hidden: false, ..table.clone() });
        prop_assert!(!report.same_views(&different) || report.total_variation() == different.total_variation());
    }

    #[test]
    fn greedy_and_random_adversaries_are_never_better(table in table(3, 2, 0), short in table(1, 3, 1)) {
        let report = table_report(&table);
        for direction in Direction::BOTH {
            let best = report.profile(direction).delta(&Factor::ONE).least;
            let value = |(p0, p1): (RBig, RBig)| match direction {
                Direction::ZeroOverOne => p0 - p1,
                Direction::OneOverZero => p1 - p0,
            };
            let greedy = value(report.greedy_attack(&Factor::ONE, direction).play.accepted());
            prop_assert!(greedy <= best);
            // One answer ahead is all there is.
            let report = table_report(&short);
            let greedy = value(report.greedy_attack(&Factor::ONE, direction).play.accepted());
            prop_assert_eq!(greedy, report.profile(direction).delta(&Factor::ONE).least);
        }
    }

    #[test]
    fn curves_hold_for_themselves_and_not_below(table in table(2, 2, 1)) {
        let report = table_report(&table);
        let corners = [Direction::ZeroOverOne, Direction::OneOverZero].map(|direction| {
            report.profile(direction).pieces().into_iter().map(|piece| piece.from)
        });
        let odds = corners.into_iter().flatten().filter(|t| *t >= RBig::ONE);
        let up = |x: &RBig| exact::Exact::from_rational(x, exact::Round::Up).unwrap();
        let claims: Vec<_> = odds
            .map(|t| {
                let delta = report.delta(&Factor::try_from(t.clone()).unwrap()).most;
                (up(&t), up(&delta))
            })
            .collect();
        prop_assert!(report.claims(&Profile::of_odds(claims.clone())).unwrap().holds());
        prop_assume!(report.total_variation().least > ratio(1, 100));
        let equal = Profile::of_odds([(exact::Exact::ONE, exact::Exact::ZERO)]);
        prop_assert!(report.claims(&equal).unwrap().attack().is_some());
        let epsilon = report.factor(&RBig::ZERO).unwrap().epsilon();
        let loss = |e: &exact::Exact| measures::EpsilonDelta::new(e.clone(), exact::Exact::ZERO).unwrap();
        prop_assert!(report.claims(&Tradeoff::from_approx(&loss(&epsilon.most))).unwrap().holds());
        let half = epsilon.least.div(&2u32.into(), exact::Round::Down);
        prop_assert!(report.claims(&Tradeoff::from_approx(&loss(&half))).unwrap().attack().is_some());
    }
}

#[test]
fn randomized_response_has_exactly_its_parameters() {
    let (factor, delta) = (Factor::new(3, 1).unwrap(), ratio(1, 10));
    let report = audit(|input, root: &Root| {
        let rr = randomized_response(&factor, &delta, input).map_err(|_| AskError::failed("RR"))?;
        root.spawn(rr)
    })
    .asking(1, always(vec![()]))
    .unwrap();
    assert_eq!(report.delta(&factor).value(), Some(&delta));
    assert_eq!(report.factor(&delta), Some(factor));
    let _ = InputResponse::Leak(Input::Zero);
    assert!(randomized_response(&Factor::ONE, &ratio(3, 2), Input::Zero).is_err());
}

#[test]
fn merged_histories_are_not_simulated() {
    let part = || auditor::Part::new(1, |_: &[_]| vec![()]);
    let simulated = |parts: &[_]| {
        let report = audit(rr_many).concurrently(parts).unwrap();
        report
            .simulator(&Factor::new(10, 1).unwrap(), &RBig::ZERO)
            .err()
    };
    assert_eq!(simulated(&[part(), part()]), Some(AuditError::Merged));
    // One part has one order: nothing is merged.
    assert_eq!(simulated(&[part()]), None);
}

fn rr_many(input: Input, root: &Root) -> Result<queryable::Queryable<(), bool>, AskError> {
    let lie = queryable::coins::Bit::new(crate::common::probability(1, 4));
    root.spawn(queryable::machine(
        move |(), scope: &mut queryable::Scope<'_>| Ok(scope.draw(&lie)? ^ (input == Input::One)),
    ))
}

#[test]
fn statistics_count_under_the_right_input() {
    // Only the second input ever shows `true`: the rule is trained in that direction.
    let leak = |input: Input, root: &Root| {
        let shown = queryable::coins::Bit::new(crate::common::probability(1, 2));
        root.spawn(queryable::machine(
            move |(), scope: &mut queryable::Scope<'_>| {
                Ok(scope.draw(&shown)? && input == Input::One)
            },
        ))
    };
    let adversary = || {
        adversary::random(
            |heard: &queryable::Heard<bool>| if heard.is_none() { vec![()] } else { vec![] },
        )
    };
    let sampling = Sampling {
        runs: 1000,
        ..Sampling::default()
    };
    let found = sampling
        .trained(&leak, &adversary, 1, 0.0, &|seen| seen[0].answer.clone())
        .unwrap();
    assert!(found.epsilon > 3.0, "{found:?}");
    assert_eq!(found.accepted[0], 0, "{found:?}");
    assert!(found.accepted[1] > 400, "{found:?}");
}

#[test]
fn statistics_stay_below_the_truth_and_come_close() {
    let truth = 3f64.ln();
    let sampling = Sampling {
        runs: 4000,
        seed: 7,
        ..Sampling::default()
    };
    let adversary = || {
        adversary::random(
            |heard: &queryable::Heard<bool>| if heard.is_none() { vec![()] } else { vec![] },
        )
    };
    let found = sampling
        .epsilon(&rr_many, &adversary, 1, 0.0, &|seen| {
            seen[0].answer == Ok(false)
        })
        .unwrap();
    assert!(
        found.epsilon <= truth && found.epsilon > 0.85 * truth,
        "{found:?}"
    );
    let again = Sampling {
        threads: 1,
        ..sampling
    };
    let same = again
        .epsilon(&rr_many, &adversary, 1, 0.0, &|seen| {
            seen[0].answer == Ok(false)
        })
        .unwrap();
    assert_eq!(found, same);
    let trained = sampling
        .trained(&rr_many, &adversary, 1, 0.0, &|seen| seen[0].answer.clone())
        .unwrap();
    assert!(
        trained.epsilon <= truth && trained.epsilon > 0.85 * truth,
        "{trained:?}"
    );
    // Half of it is δ.
    let Evidence { epsilon, .. } = sampling
        .epsilon(&rr_many, &adversary, 1, 0.5, &|seen| {
            seen[0].answer == Ok(false)
        })
        .unwrap();
    assert!(epsilon < 0.2);
    assert!(
        Sampling {
            confidence: 1.0,
            ..sampling
        }
        .epsilon(&rr_many, &adversary, 1, 0.0, &|_| true)
        .is_err()
    );
}

#[test]
fn an_attack_plays_as_it_reads() {
    let report = audit(rr_many).asking(3, always(vec![()])).unwrap();
    let attack = report.best_attack(&Factor::new(2, 1).unwrap());
    let root = Root::seeded([1; 32]);
    let system = rr_many(Input::One, &root).unwrap();
    let view = root.interact(attack.adversary(), &system, 10).unwrap();
    assert!((1..=3).contains(&view.transcript.rounds.len()));
}

#[test]
fn a_response_that_never_comes_has_no_simulator() {
    let table = Table {
        rounds: 1,
        answers: 2,
        hidden: false,
        weights: vec![1, 2, 3],
    };
    let report = table_report(&table);
    let factor = report.factor(&RBig::ZERO).unwrap();
    let simulator = report.simulator(&factor, &RBig::ZERO).unwrap();
    for input in Input::BOTH {
        let found = simulator.given(InputResponse::Leak(input)).err();
        assert!(
            matches!(found, Some(AuditError::Parameter { .. })),
            "{found:?}"
        );
        assert!(simulator.given(InputResponse::Noisy(input)).is_ok());
    }
    let leaky = report.simulator(&factor, &ratio(1, 10)).unwrap();
    assert!(leaky.given(InputResponse::Leak(Input::Zero)).is_ok());
}
