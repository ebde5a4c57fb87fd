//! Concurrent composition of random small machines never passes the optimal bound, which randomized response attains;
//! post-processing, ordering and nesting change nothing.

#[path = "../../queryable/tests/common/null_query.rs"]
mod null_query;

use crate::common::{Table, always, ratio};
use auditor::{Direction, Factor, Input, Part, Report, audit, simulate::randomized_response};
use dashu_ratio::RBig;
use null_query::null_query_extension;
use proptest::prelude::*;
use queryable::{
    AskError, Machine, PostProcessor, Received, Root, Scope, Sent, Side,
    compose::{BoxedMachine, ConComp, Routed, Unparsable, ordered},
    machine,
};

/// The δ of the composition of RR_{ε_i, δ_i} at `e^ε = t`, exactly (\[VW21\] Thm 5.6): subsets of truthful answers.
fn optimal(parameters: &[(RBig, RBig)], t: &RBig) -> RBig {
    let mut excess = RBig::ZERO;
    for subset in 0..1u32 << parameters.len() {
        let mut sides = [RBig::ONE, RBig::ONE];
        for (i, (factor, _)) in parameters.iter().enumerate() {
            let truthful = usize::from(subset >> i & 1 == 0);
            sides[1 - truthful] *= factor / (RBig::ONE + factor);
            sides[truthful] /= RBig::ONE + factor;
        }
        excess += (&sides[0] - t * &sides[1]).max(RBig::ZERO);
    }
    let kept = parameters.iter().fold(RBig::ONE, |product, (_, delta)| {
        product * (RBig::ONE - delta)
    });
    RBig::ONE - kept * (RBig::ONE - excess)
}

fn table(rounds: usize, hidden: bool) -> impl Strategy<Value = Table> {
    prop::collection::vec(1u64..9, 17).prop_map(move |weights| Table {
        rounds,
        answers: 2,
        hidden,
        weights,
    })
}

fn alone(table: &Table) -> Report<usize, usize> {
    audit(|input, root: &Root| root.spawn(table.machine(input)))
        .asking(table.rounds, always(vec![0, 1]))
        .unwrap()
}

fn concurrently(tables: &[Table]) -> Report<Routed<usize>, usize> {
    let build = |input: Input, root: &Root| {
        let parts = tables
            .iter()
            .map(|table| Box::new(table.machine(input)) as BoxedMachine<usize, usize>);
        root.spawn(ConComp::new(parts.collect(), Unparsable::Refuse))
    };
    let part = |(to, table): (usize, &Table)| {
        Part::new(table.rounds, move |_: &[_]| {
            vec![Routed { to, query: 0 }, Routed { to, query: 1 }]
        })
    };
    let parts: Vec<_> = tables.iter().enumerate().map(part).collect();
    audit(build).concurrently(&parts).unwrap()
}

fn factors() -> impl Iterator<Item = Factor> {
    [(1, 1), (5, 4), (2, 1), (3, 1), (6, 1)]
        .into_iter()
        .map(|(n, d)| Factor::new(n, d).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn never_passes_the_optimal_bound(a in table(2, true), b in table(2, false), n in 0i64..20) {
        let delta = ratio(n, 100);
        let parameter = |table: &Table| (alone(table).factor(&delta).unwrap().as_rational().clone(), delta.clone());
        let parameters = [parameter(&a), parameter(&b)];
        let report = concurrently(&[a, b]);
        for t in factors() {
            let bound = optimal(&parameters, t.as_rational());
            prop_assert!(report.delta(&t).most <= bound, "{} > {bound}", report.delta(&t));
        }
    }

    #[test]
    fn randomized_response_attains_the_optimal_bound(n in 11u64..40, m in 11u64..40, d in 0i64..30) {
        let parameters = [(ratio(n as i64, 10), ratio(d, 100)), (ratio(m as i64, 10), ratio(1, 50))];
        let build = |input: Input, root: &Root| {
            let part = |(factor, delta): &(RBig, RBig)| {
                let factor = Factor::try_from(factor.clone()).map_err(|_| AskError::failed("factor"))?;
                let rr = randomized_response(&factor, delta, input).map_err(|_| AskError::failed("RR"))?;
                Ok(Box::new(rr) as BoxedMachine<(), _>)
            };
            let parts: Result<Vec<_>, AskError> = parameters.iter().map(part).collect();
            root.spawn(ConComp::new(parts?, Unparsable::Refuse))
        };
        let part = |to| Part::new(1, move |_: &[_]| vec![Routed { to, query: () }]);
        let report = audit(build).concurrently(&[part(0), part(1)]).unwrap();
        for t in factors() {
            prop_assert_eq!(report.delta(&t), auditor::Enclosure::exactly(optimal(&parameters, t.as_rational())));
        }
    }

    #[test]
    fn a_person_in_the_middle_never_raises_delta(table in table(2, true)) {
        let plain = alone(&table);
        let build = |input: Input, root: &Root| {
            let inner = root.spawn(table.machine(input))?;
            root.postprocess(&inner, Twice { first: None })
        };
        let processed = audit(build).asking(1, always(vec![0, 1])).unwrap();
        for t in factors() {
            prop_assert!(processed.delta(&t).most <= plain.delta(&t).least);
        }
    }

    #[test]
    fn ordered_composition_with_null_queries_is_concurrent_composition(a in table(1, true), b in table(2, false)) {
        let tables = [a, b];
        let merged = concurrently(&tables);
        let build = |input: Input, root: &Root| {
            let part = |table: &Table| Box::new(null_query_extension(table.machine(input))) as BoxedMachine<Option<usize>, Option<usize>>;
            root.spawn(ordered(tables.iter().map(part).collect()))
        };
        // Six messages are enough for every order of three queries to two parts; null queries skip a turn.
        let offer = |history: &[queryable::Exchange<Option<usize>, Option<usize>>]| {
            let part = history.len() % 2;
            let asked = history.iter().skip(part).step_by(2).filter(|round| round.query.is_some()).count();
            let more = asked < [1, 2][part];
            std::iter::once(None).chain([Some(0), Some(1)].into_iter().filter(|_| more)).collect()
        };
        let turns = audit(build).asking(6, offer).unwrap();
        for direction in Direction::BOTH {
            prop_assert_eq!(turns.profile(direction), merged.profile(direction));
        }
    }
}

/// Asks twice, the second time what the first answer was, and tells whether the answers were equal.
struct Twice {
    first: Option<usize>,
}

impl PostProcessor for Twice {
    type Query = usize;
    type Answer = bool;
    type InnerQuery = usize;
    type InnerAnswer = usize;

    fn step(&mut self, message: Received<Self>, _: &mut Scope<'_>) -> Result<Sent<Self>, AskError> {
        Ok(match (message, self.first.take()) {
            (Side::Left(query), _) => Side::Right(query),
            (Side::Right(answer), None) => {
                let answer = answer?;
                self.first = Some(answer);
                Side::Right(answer)
            }
            (Side::Right(answer), Some(first)) => Side::Left(answer? == first),
        })
    }
}

/// A machine behind a handle that is cloned, or that would be copied: asking the copy first rewinds the state.
fn one_answer(input: Input, seen: &mut bool, scope: &mut Scope<'_>) -> Result<bool, AskError> {
    if std::mem::replace(seen, true) {
        return Err(AskError::Halted);
    }
    Ok(
        scope.draw(&queryable::coins::Bit::new(crate::common::probability(
            1, 4,
        )))? ^ (input == Input::One),
    )
}

#[test]
fn a_handle_whose_clone_copies_the_state_is_refuted() {
    let claimed: measures::Epsilon = "1.0987".parse().unwrap(); // ln 3 < 1.0987
    // The real handles: a clone is the same machine.
    let shared = |input: Input, root: &Root| {
        let mut seen = false;
        let original = root.spawn(machine(move |(), scope: &mut Scope<'_>| {
            one_answer(input, &mut seen, scope)
        }))?;
        let clone = original.clone();
        Ok(auditor::player(move |copy: bool| {
            if copy {
                clone.ask(())
            } else {
                original.ask(())
            }
        }))
    };
    let report = audit(shared).asking(2, always(vec![false, true])).unwrap();
    assert!(report.claims(&claimed).unwrap().holds());
    // A handle that copies.
    fn copied(input: Input) -> impl Machine<Query = bool, Answer = bool> {
        let mut seen = [false, false];
        machine(move |copy: bool, scope: &mut Scope<'_>| {
            one_answer(input, &mut seen[usize::from(copy)], scope)
        })
    }
    let report = audit(|input, root: &Root| root.spawn(copied(input)))
        .asking(2, always(vec![false, true]))
        .unwrap();
    let verdict = report.claims(&claimed).unwrap();
    println!("a clone that copies the state: {verdict}");
    assert!(verdict.attack().is_some());
    assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(9, 1).unwrap()));
}

#[test]
fn a_filter_that_checks_after_it_runs_is_refuted() {
    // Budget for one launch of RR with e^ε = 3. It runs, then checks, and shows the answer that passed the budget.
    let claimed: measures::Epsilon = "1.0987".parse().unwrap();
    let filter = |check_first: bool| {
        audit(move |input: Input, root: &Root| {
            let mut spent = 0;
            let lie = queryable::coins::Bit::new(crate::common::probability(1, 4));
            root.spawn(machine(move |(), scope: &mut Scope<'_>| {
                if spent == if check_first { 1 } else { 2 } {
                    return Err(AskError::failed("insufficient budget"));
                }
                spent += 1;
                Ok(scope.draw(&lie)? ^ (input == Input::One))
            }))
        })
        .asking(3, always(vec![()]))
        .unwrap()
    };
    assert!(filter(true).claims(&claimed).unwrap().holds());
    let verdict = filter(false).claims(&claimed).unwrap();
    println!("a filter that checks after it runs: {verdict}");
    assert!(verdict.attack().is_some());
}
