//! The counterexamples of \[HSV25\], and those against it, with exact numbers: pairs of messages, of which the system
//! gets one half, and a verification function that says which pairs are allowed.

use crate::common::{probability, ratio};
use auditor::{Direction, Factor, Input, Report, Sampling, audit, player};
use dashu_ratio::RBig;
use queryable::{
    AskError, Exchange, Heard, Machine, Move, Queryable, Root, Scope,
    coins::{Bit, Uniform},
    machine,
};

/// A pair of bits to one of several copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    copy: usize,
    halves: (bool, bool),
}

fn same(copy: usize, bit: bool) -> Pair {
    Pair {
        copy,
        halves: (bit, bit),
    }
}

fn differing(copy: usize) -> Pair {
    Pair {
        copy,
        halves: (false, true),
    }
}

/// Copies of a machine over bits, behind the identifier that picks the half.
fn copies<M>(
    count: usize,
    root: &Root,
    one: impl Fn() -> M,
) -> Result<Vec<Queryable<bool, u8>>, AskError>
where
    M: queryable::Machine<Query = bool, Answer = u8> + 'static,
{
    (0..count).map(|_| root.spawn(one())).collect()
}

fn identified(
    machines: Vec<Queryable<bool, u8>>,
    input: Input,
) -> impl auditor::System<Query = Pair, Answer = u8> {
    player(move |Pair { copy, halves }| machines[copy].ask(input.pick(halves.0, halves.1)))
}

/// ⊤ with probability 1 − δ, then ⊥, and from ⊥ on the input bit (\[HSV25\] Thm 5.2). ⊤ is 2, ⊥ is 3.
fn m_delta(n: u64, d: u64) -> impl queryable::Machine<Query = bool, Answer = u8> {
    let bottom = Bit::new(probability(n, d));
    let mut fallen = false;
    machine(move |bit: bool, scope: &mut Scope<'_>| {
        if fallen {
            return Ok(u8::from(bit));
        }
        fallen = scope.draw(&bottom)?;
        Ok(if fallen { 3 } else { 2 })
    })
}

/// All pairs that the verification function allows: two messages a copy, differing in at most one of them; and of all
/// copies at most one may get differing pairs (k = 1).
fn allowed(count: usize) -> impl Fn(&[Exchange<Pair, u8>]) -> Vec<Pair> {
    move |history| {
        let differed = |round: &&Exchange<Pair, u8>| round.query.halves.0 != round.query.halves.1;
        let used = history.iter().find(differed).map(|round| round.query.copy);
        let mut offered = vec![];
        for copy in 0..count {
            if history
                .iter()
                .filter(|round| round.query.copy == copy)
                .count()
                == 2
            {
                continue;
            }
            offered.push(same(copy, false));
            if used.is_none() {
                offered.push(differing(copy));
            }
        }
        offered
    }
}

fn leaky(
    count: usize,
    depth: usize,
    offer: impl Fn(&[Exchange<Pair, u8>]) -> Vec<Pair> + Sync,
) -> Report<Pair, u8> {
    audit(move |input, root: &Root| Ok(identified(copies(count, root, || m_delta(1, 10))?, input)))
        .asking(depth, offer)
        .unwrap()
}

#[test]
fn parallel_composition_with_updates_pays_for_every_copy() {
    // One copy: exactly (0, δ). Over all allowed pairs, all adversaries.
    let tv = |report: &Report<Pair, u8>| report.total_variation().value().cloned().unwrap();
    assert_eq!(tv(&leaky(1, 2, allowed(1))), ratio(1, 10));
    let two = leaky(2, 4, allowed(2));
    assert_eq!(tv(&two), ratio(19, 100));
    println!(
        "(0, 0.1) twice, only one copy with differing pairs:\n{}",
        two.best_attack(&Factor::ONE)
    );
    // The first-bad-answer adversary ([HSV25] Thm 5.2): the next copy while the answer is ⊤, the differing pair on ⊥.
    let strike = |history: &[Exchange<Pair, u8>]| match history.last() {
        Some(Exchange {
            answer: Ok(3),
            query,
        }) => vec![differing(query.copy)],
        Some(Exchange {
            answer: Ok(0 | 1), ..
        }) => vec![],
        _ if history.len() < 10 => vec![same(history.len(), false)],
        _ => vec![],
    };
    let truth = |l: usize| RBig::ONE - (0..l).fold(RBig::ONE, |kept, _| kept * ratio(9, 10));
    for count in [5usize, 10] {
        let offer = |history: &[Exchange<Pair, u8>]| {
            strike(history)
                .into_iter()
                .filter(|pair| pair.copy < count)
                .collect()
        };
        assert_eq!(tv(&leaky(count, 2 * count + 1, offer)), truth(count));
    }
    assert_eq!(truth(10), ratio(6_513_215_599, 10_000_000_000));
    // First-pair consistent: a differing pair must be the first. Then only one copy ever counts.
    let consistent = |history: &[Exchange<Pair, u8>]| -> Vec<Pair> {
        let first = |pair: &Pair| !history.iter().any(|round| round.query.copy == pair.copy);
        allowed(2)(history)
            .into_iter()
            .filter(|pair| pair.halves.0 == pair.halves.1 || first(pair))
            .collect()
    };
    assert_eq!(tv(&leaky(2, 4, consistent)), RBig::ZERO);
}

/// Asks one query after another until an answer is bad for the system, then strikes (\[HSV25\] Thm 5.2): `next` gives
/// the queries, `None` to give up; `bad` recognises the answer; `strike` gives the last query, told how many were
/// asked.
fn first_bad_answer<Q: Send, A>(
    mut next: impl FnMut(usize) -> Option<Q> + Send,
    bad: impl Fn(&Result<A, AskError>) -> bool + Send,
    strike: impl Fn(usize) -> Q + Send,
) -> impl Machine<Query = Heard<A>, Answer = Move<Q>> {
    let (mut asked, mut struck) = (0, false);
    machine(move |heard: Heard<A>, _: &mut Scope<'_>| {
        if struck {
            return Ok(Move::Halt);
        }
        if heard.is_some_and(|answer| bad(&answer)) {
            struck = true;
            return Ok(Move::Ask(strike(asked)));
        }
        let query = next(asked);
        asked += 1;
        Ok(query.map_or(Move::Halt, Move::Ask))
    })
}

#[test]
fn the_first_bad_answer_adversary_finds_it_by_sampling() {
    let build =
        |input: Input, root: &Root| Ok(identified(copies(10, root, || m_delta(1, 10))?, input));
    let adversary = || {
        first_bad_answer(
            |asked| (asked < 10).then(|| same(asked, false)),
            |answer| *answer == Ok(3),
            |asked| differing(asked - 1),
        )
    };
    let sampling = Sampling {
        runs: 3000,
        ..Sampling::default()
    };
    let accept =
        |seen: &[Exchange<Pair, u8>]| seen.last().is_some_and(|round| round.answer == Ok(0));
    let found = sampling
        .epsilon(&build, &adversary, 11, 0.0, &accept)
        .unwrap();
    // The truth is 0.6513215599, and ε is infinite: the second input never answers 0.
    assert_eq!(found.accepted[1], 0);
    assert!(
        found.total_variation > 0.6 && found.total_variation < 0.652,
        "{found:?}"
    );
    assert!(found.epsilon > 5.0);
}

#[test]
fn users_with_one_differing_pair_cost_one_user() {
    // RR_{0, δ}: the bit itself with probability δ. Three users, one of whom may differ: TV = δ, not more.
    let rr = || {
        let leak = Bit::new(probability(1, 10));
        machine(move |bit: bool, scope: &mut Scope<'_>| {
            scope.halt();
            Ok(if scope.draw(&leak)? { u8::from(bit) } else { 2 })
        })
    };
    let report = audit(move |input, root: &Root| Ok(identified(copies(3, root, rr)?, input)))
        .asking(3, |history: &[Exchange<Pair, u8>]| {
            let fresh = |copy: &usize| !history.iter().any(|round| round.query.copy == *copy);
            let differed = history
                .iter()
                .any(|round| round.query.halves.0 != round.query.halves.1);
            let pairs = |copy| {
                [
                    Some(same(copy, false)),
                    (!differed).then_some(differing(copy)),
                ]
            };
            (0..3).filter(fresh).flat_map(pairs).flatten().collect()
        })
        .unwrap();
    assert_eq!(report.total_variation().value(), Some(&ratio(1, 10)));
}

#[test]
fn pure_copies_cost_one_copy() {
    let pure = || {
        let lie = Bit::new(probability(1, 4));
        machine(move |bit: bool, scope: &mut Scope<'_>| Ok(u8::from(scope.draw(&lie)? ^ bit)))
    };
    let report = audit(move |input, root: &Root| Ok(identified(copies(2, root, pure)?, input)))
        .asking(4, allowed(2))
        .unwrap();
    assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(3, 1).unwrap()));
}

#[test]
fn oblivious_adversaries_see_less_than_adaptive_ones() {
    // Footnote 1: releases r in 1..=10; if the next query is r, publishes the data.
    let build = |input: Input, root: &Root| {
        let mut released = None;
        root.spawn(machine(
            move |query: u64, scope: &mut Scope<'_>| match released {
                None => {
                    let r = scope.draw(&Uniform::below(10).map_err(|_| AskError::failed("r"))?)?;
                    released = Some(r);
                    Ok(r)
                }
                Some(r) if r == query => Ok(100 + input.index() as u64),
                Some(_) => Ok(99),
            },
        ))
    };
    let adaptive = audit(build)
        .asking(2, |history: &[Exchange<u64, u64>]| {
            (0..if history.is_empty() { 1 } else { 10 }).collect()
        })
        .unwrap();
    assert_eq!(adaptive.total_variation().value(), Some(&RBig::ONE));
    for guess in 0..10 {
        let oblivious = audit(build).asking(2, move |_: &[_]| vec![guess]).unwrap();
        assert_eq!(oblivious.total_variation().value(), Some(&ratio(1, 10)));
    }
}

/// §4.3: A or B by a fair coin, then x (with probability d) only for the matching bit. A, B, x, y are 0, 1, 2, 3.
fn letters(n: u64, d: u64) -> impl queryable::Machine<Query = bool, Answer = u8> {
    let x = Bit::new(probability(n, d));
    let mut letter = None;
    machine(move |bit: bool, scope: &mut Scope<'_>| match letter {
        None => {
            let b = scope.draw(&Bit::fair())?;
            letter = Some(b);
            Ok(u8::from(b))
        }
        Some(b) if b == bit => Ok(if scope.draw(&x)? { 2 } else { 3 }),
        Some(_) => Ok(3),
    })
}

#[test]
fn parallel_composition_fails_without_swap_symmetry() {
    // One copy is exactly (−ln(1 − d), d/2)-private, for pairs (0,0), (1,1), (0,1) after an identical first pair.
    let (n, d) = (1, 100);
    let one =
        audit(move |input, root: &Root| Ok(identified(copies(1, root, || letters(n, d))?, input)))
            .asking(2, |history: &[Exchange<Pair, u8>]| match history.len() {
                0 => vec![same(0, false), same(0, true)],
                _ => vec![same(0, false), same(0, true), differing(0)],
            })
            .unwrap();
    let factor = Factor::new(d, d - n).unwrap();
    assert_eq!(one.delta(&factor).value(), Some(&ratio(n as i64, 2 * d)));
    assert_eq!(one.factor(&ratio(n as i64, 2 * d)), Some(factor));
    // ℓ copies, an identical pair to each, then differing pairs to k of them with as many equal letters as possible.
    let attack = |l: usize, k: usize, n: u64, d: u64| {
        let offer = move |history: &[Exchange<Pair, u8>]| {
            if history.len() < l {
                return vec![same(history.len(), false)];
            }
            let letter = |round: &Exchange<Pair, u8>| round.answer == Ok(0);
            let a = history[..l].iter().filter(|round| letter(round)).count();
            let most = a >= l - a;
            let mut matching = (0..l).filter(|&copy| letter(&history[copy]) == most);
            let next = matching
                .nth(history.len() - l)
                .filter(|_| history.len() < l + k);
            next.map(differing).into_iter().collect()
        };
        let report = audit(move |input, root: &Root| {
            Ok(identified(copies(l, root, || letters(n, d))?, input))
        })
        .asking(l + k, offer)
        .unwrap();
        report.total_variation().value().cloned().unwrap()
    };
    assert_eq!(attack(3, 2, 2, 3), ratio(24, 27)); // above 23/27 = 1 − (1 − δ)(1 − δ')
    let found = attack(5, 4, 1, 100);
    let printed = {
        // δ = TV of RR_{ε1}^4 = t0(1 + 2sr), δ' = 1 − (1 − d/2)^5.
        let t0 = ratio(1, 199);
        let s = (RBig::ONE + &t0) / ratio(2, 1);
        let r = RBig::ONE - &s;
        let delta = &t0 * (RBig::ONE + ratio(2, 1) * s * r);
        let kept = (0..5).fold(RBig::ONE, |kept, _| kept * ratio(199, 200));
        delta + RBig::ONE - kept
    };
    assert!(found > printed);
    assert!(
        (found.to_f64().value() - 0.0333396).abs() < 5e-8
            && (printed.to_f64().value() - 0.0322889).abs() < 5e-8
    );
}

#[test]
fn renyi_parallel_composition_is_unbounded() {
    // §4.4 at α = 2: ⊥ with probability p, then the true bit with probability q. R = q²/(1−q) + (1−q)²/q.
    let (p, q) = ((1u64, 50u64), (9u64, 10u64));
    let noisy = move || {
        let (bottom, lie) = (
            Bit::new(probability(p.0, p.1)),
            Bit::new(probability(q.1 - q.0, q.1)),
        );
        let mut fallen = false;
        machine(move |bit: bool, scope: &mut Scope<'_>| {
            if fallen {
                return Ok(u8::from(scope.draw(&lie)? ^ bit));
            }
            fallen = scope.draw(&bottom)?;
            Ok(if fallen { 3 } else { 2 })
        })
    };
    let q = ratio(9, 10);
    let lie = RBig::ONE - &q;
    let r = &q * &q / &lie + &lie * &lie / &q;
    for count in 1usize..=4 {
        let strike = move |history: &[Exchange<Pair, u8>]| match history.last() {
            Some(Exchange {
                answer: Ok(3),
                query,
            }) => vec![differing(query.copy)],
            Some(Exchange {
                answer: Ok(0 | 1), ..
            }) => vec![],
            _ if history.len() < count => vec![same(history.len(), false)],
            _ => vec![],
        };
        let report =
            audit(move |input, root: &Root| Ok(identified(copies(count, root, noisy)?, input)))
                .asking(2 * count + 1, strike)
                .unwrap();
        let reached = RBig::ONE - (0..count).fold(RBig::ONE, |kept, _| kept * ratio(49, 50));
        let expected = RBig::ONE + reached * (&r - RBig::ONE);
        for direction in Direction::BOTH {
            assert_eq!(
                report.power_sum(2, direction).unwrap(),
                Some(expected.clone())
            );
        }
    }
}
