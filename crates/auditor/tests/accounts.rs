//! Nested accounts, parts of the data, turns, and time-uniform odometers of the `odometer` crate, audited.

use std::sync::Arc;

use crate::common::{Table, always, probability};
use auditor::{Factor, Input, Report, Tail, audit, player};
use dashu_ratio::RBig;
use exact::Exact;
use measures::{
    ApproxZcdp, Basic, Epsilon, Measure, PrivacyMap, PureDp, RhoDelta, SymmetricDistance, Tallied,
    Tally, TimeUniform,
    adaptive::{RogersOdometer, TimeUniformBasic, TimeUniformRogers},
};
use odometer::{Any, LaunchError, Measurement, Odometer, Records, Session, TimeUniformOdometer};
use queryable::{AskError, Exchange, Queryable, Root, coins::Bit};

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

/// 0 or 1 for an answer, 2 for a refusal.
fn shown(launched: Result<bool, LaunchError>) -> Result<u8, AskError> {
    match launched {
        Ok(answer) => Ok(u8::from(answer)),
        Err(LaunchError::Refused(_)) => Ok(2),
        Err(other) => Err(failed(other)),
    }
}

/// ln 2 and ln 3, rounded up.
fn epsilon(n: u64) -> Exact {
    Factor::new(n, 1).unwrap().epsilon().most
}

/// Randomized response with `e^ε = n` to the last record's value.
fn response<T: Send + Sync + 'static>(
    space: Any<T, SymmetricDistance>,
    n: u64,
    bit: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> Measurement<Any<T, SymmetricDistance>, PureDp, bool> {
    let map = PrivacyMap::per_record(PureDp, epsilon(n));
    let lie = Bit::new(probability(1, n + 1));
    Measurement::new("response", space, map, move |data: &Arc<T>, scope| {
        Ok(bit(data) ^ scope.draw(&lie)?)
    })
}

fn bits() -> Any<bool, SymmetricDistance> {
    Any::<bool, _>::with(SymmetricDistance)
}

/// Where to launch, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Launch {
    team: bool,
    factor: u64,
}

#[test]
fn nested_accounts_never_pass_the_organisation() {
    // The organisation has ln 6; the team may spend ln 3 of it, live or reserved.
    let budget = Epsilon::from(epsilon(2) + epsilon(3));
    for reserved in [false, true] {
        let report = audit(|input: Input, root: &Root| {
            let rule = Basic::new(PureDp);
            let filter = Odometer::new(bits(), rule)
                .filter(1, budget.clone())
                .map_err(failed)?;
            let organisation = filter
                .invoke_in(root, &Arc::new(input == Input::One))
                .map_err(failed)?;
            let cap = Epsilon::from(epsilon(3));
            let team: Session<_, Basic<PureDp>> = match reserved {
                true => organisation
                    .launch(
                        &Odometer::new(bits(), Basic::new(PureDp))
                            .filter(1, cap)
                            .map_err(failed)?,
                    )
                    .map_err(failed)?,
                false => organisation
                    .nested("inner")
                    .capped(1, cap)
                    .open()
                    .map_err(failed)?,
            };
            Ok(player(
                move |Launch {
                          team: inside,
                          factor,
                      }| {
                    let session = if inside { &team } else { &organisation };
                    shown(session.launch(&response(bits(), factor, |bit| *bit)))
                },
            ))
        })
        .asking(4, |_: &[Exchange<Launch, u8>]| {
            [(false, 2), (false, 3), (true, 2), (true, 3)]
                .map(|(team, factor)| Launch { team, factor })
                .to_vec()
        })
        .unwrap();
        assert!(report.claims(&budget).unwrap().holds());
        // It is met: one launch of ln 2 and one of ln 3 fit.
        assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(6, 1).unwrap()));
    }
}

/// Records: which part they are in, and a value.
type Rows = Vec<(u8, bool)>;

/// Launches a filter with room for `ln 3` at distance 2 in both parts, and randomized response in each: audited between
/// data that differ by one record in each part.
fn two_parts() -> (Report<usize, u8>, [Epsilon; 2]) {
    let space = Records::<(u8, bool)>::new();
    let open = |input: Input, root: &Root| {
        // One record more in each part on input 1: distance 2.
        let data: Rows = input.pick(vec![], vec![(0, true), (1, true)]);
        let session = Odometer::new(space, Basic::new(PureDp))
            .open_in(root, Arc::new(data))
            .map_err(failed)?;
        let regions = session
            .partition(|record: &(u8, bool)| record.0)
            .map_err(failed)?;
        let mut parts = vec![];
        for part in 0..2 {
            let filter = Odometer::new(space, Basic::new(PureDp))
                .filter(2, epsilon(3))
                .map_err(failed)?;
            parts.push(
                regions
                    .part(part)
                    .map_err(failed)?
                    .launch(&filter)
                    .map_err(failed)?,
            );
        }
        Ok::<_, AskError>((session, parts))
    };
    // Anything goes for two changed records in one part: then the answer changes no more than for one.
    let lie = Bit::new(probability(1, 4));
    let map = PrivacyMap::constant_up_to(PureDp, 2, epsilon(3));
    let answer = Measurement::new("anybody", space, map, move |data: &Arc<Rows>, scope| {
        Ok(!data.is_empty() ^ scope.draw(&lie)?)
    });
    let (session, _parts) = open(Input::Zero, &Root::seeded([0; 32])).unwrap();
    let losses = [1, 2].map(|d_in| session.privacy_loss(&d_in).unwrap().bound().clone());
    let report = audit(|input, root: &Root| {
        let (_, parts) = open(input, root)?;
        let answer = answer.clone();
        Ok(player(move |part: usize| {
            shown(parts[part].launch(&answer))
        }))
    })
    .asking(3, |_: &[Exchange<usize, u8>]| vec![0, 1])
    .unwrap();
    (report, losses)
}

#[test]
fn parts_are_not_charged_by_the_naive_maximum() {
    let (report, [at_one, at_two]) = two_parts();
    // The naive maximum over parts at distance 2 would be ln 3: refuted.
    let naive = Epsilon::from(epsilon(3));
    let verdict = report.claims(&naive).unwrap();
    println!("two filters as parts, the naive maximum: {verdict}");
    assert!(verdict.attack().is_some());
    // What the account says holds, and is met.
    assert_eq!(at_one, naive);
    assert!(report.claims(&at_two).unwrap().holds());
    assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(9, 1).unwrap()));
    assert_eq!(at_two, Epsilon::from(epsilon(3).times(2)));
}

fn interactive<M: Measure>(
    measure: M,
    loss: M::Loss,
    table: &Table,
) -> Measurement<Any<bool, SymmetricDistance>, M, Queryable<usize, usize>> {
    let map = PrivacyMap::constant_up_to(measure, 1, loss);
    let table = table.clone();
    Measurement::new("interactive", bits(), map, move |bit: &Arc<bool>, scope| {
        scope.spawn(table.machine(if **bit { Input::One } else { Input::Zero }))
    })
}

/// What can be done with sequential children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Launch,
    Ask(usize, usize),
}

#[test]
fn sequential_measures_take_turns() {
    let table = Table {
        rounds: 2,
        answers: 2,
        hidden: true,
        weights: vec![5, 7, 6, 8, 7, 5, 9, 6, 8, 7, 5],
    };
    let loss: RhoDelta = "(0.2, 0)".parse().unwrap();
    let alone = audit(|input, root: &Root| root.spawn(table.machine(input)))
        .asking(2, always(vec![0, 1]))
        .unwrap();
    assert!(alone.claims(&loss).unwrap().holds());
    let budget: RhoDelta = "(0.4, 0)".parse().unwrap();
    let child = interactive(ApproxZcdp, loss, &table);
    let report = audit(|input: Input, root: &Root| {
        let filter = Odometer::new(bits(), Basic::new(ApproxZcdp))
            .filter(1, budget.clone())
            .map_err(failed)?;
        let session = filter
            .invoke_in(root, &Arc::new(input == Input::One))
            .map_err(failed)?;
        let (mut machines, child): (Vec<Queryable<usize, usize>>, _) = (vec![], child.clone());
        Ok(player(move |turn: Turn| match turn {
            Turn::Launch => match session.launch(&child) {
                Ok(machine) => {
                    machines.push(machine);
                    Ok(100)
                }
                Err(LaunchError::Refused(_)) => Ok(101),
                Err(other) => Err(failed(other)),
            },
            Turn::Ask(number, query) => machines[number].ask(query),
        }))
    })
    .asking(5, |history: &[Exchange<Turn, usize>]| {
        let started = history
            .iter()
            .filter(|round| round.answer == Ok(100))
            .count();
        let asks = (0..started).flat_map(|number| [Turn::Ask(number, 0), Turn::Ask(number, 1)]);
        std::iter::once(Turn::Launch)
            .filter(|_| started < 2)
            .chain(asks)
            .collect()
    })
    .unwrap();
    assert!(report.claims(&budget).unwrap().holds());
    // The older child is out of turn once a newer one was launched, whatever the answers.
    let (always_refused, _) = report
        .ever(Input::Zero, |history, _, _| {
            let launched = history
                .iter()
                .filter(|round| round.answer == Ok(100))
                .count();
            let late = matches!(
                history.last(),
                Some(Exchange {
                    query: Turn::Ask(0, _),
                    answer: Ok(_)
                })
            );
            launched == 2 && late
        })
        .unwrap();
    assert_eq!(always_refused, RBig::ZERO);
}

#[test]
fn time_uniform_odometers_keep_their_promise() {
    let open = |input: Input, root: &Root| {
        let rule = TimeUniformRogers::new(RogersOdometer::new("0.2", 16).map_err(failed)?);
        let session = TimeUniformOdometer::new(bits(), rule)
            .open_in(root, Arc::new(input == Input::One))
            .map_err(failed)?;
        let rr = response(bits(), 3, |bit| *bit);
        Ok(player(move |()| shown(session.launch(&rr))))
    };
    let report = audit(open).asking(8, always(vec![()])).unwrap();
    let rogers = TimeUniformRogers::new(RogersOdometer::new("0.2", 16).unwrap());
    let after = |rounds: usize| rogers.start().after(&epsilon(3).into(), rounds as u64);
    for input in Input::BOTH {
        let (passed, _) = report
            .ever_passes(input, Tail::Both, |history| {
                rogers
                    .bound(&after(history.len()))
                    .bound()
                    .epsilon()
                    .clone()
            })
            .unwrap();
        assert!(passed.most <= crate::common::ratio(1, 5));
        let basic = |history: &[Exchange<(), u8>]| {
            let tally = TimeUniformBasic
                .start()
                .after(&epsilon(3).into(), history.len() as u64);
            Exact::clone(TimeUniformBasic.bound(&tally).bound().value())
        };
        let (passed, _) = report.ever_passes(input, Tail::Both, basic).unwrap();
        assert_eq!(passed.most, RBig::ZERO);
    }
}
