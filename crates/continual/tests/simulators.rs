//! The simulators in the proofs of \[HSV25\] Thm 4.10, 4.12, 5.4, 5.14, 12.4 and 13.4, as programs: in front of randomized
//! responses, which alone have seen the input, they give every adversary exactly the view that the composition gives.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::common::{
    Ask, Bits, Random, Seen, alone, ask, create, game, measured, pairs, random, ratio, response,
    suitable, two_messages,
};
use auditor::{
    Factor, Input, Report, System, audit, player,
    simulate::{
        InputResponse, InputTold, LazySimulator, Simulator, interactive_response,
        randomized_response,
    },
};
use continual::{
    ApproximateParallel, Catalogue, Certified, ConsistentParallel, FixedMechanisms,
    FixedParameters, Identifier, Outcome, Pair, Request, Static, VerificationFunction, Verifier,
};
use dashu_ratio::RBig;
use exact::Exact;
use measures::{Epsilon, EpsilonDelta};
use proptest::prelude::*;
use queryable::{AskError, Chain, Queryable, Root, Scope, compose::Routed, machine};

type Views = Report<Ask, Outcome<u8>>;
type Alone = Report<Pair<bool>, u8>;
type Running = Queryable<Pair<bool>, u8>;
type Simulated = Simulator<Pair<bool>, u8>;

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

/// A mechanism with what it costs at one factor, and its simulator.
#[derive(Clone)]
struct Part {
    random: Random,
    delta: RBig,
    loss: EpsilonDelta,
    simulator: Simulated,
}

impl Part {
    fn new(random: &Random, factor: &Factor, report: &Alone) -> Self {
        let delta = report.delta(factor).value().cloned().unwrap();
        Self {
            random: random.clone(),
            loss: measured(report, factor),
            simulator: report.simulator(factor, &delta).unwrap(),
            delta,
        }
    }

    /// The response that the simulator wants.
    fn draw(&self, factor: &Factor, input: Input, root: &Root) -> Result<InputResponse, AskError> {
        let response = randomized_response(factor, &self.delta, input).map_err(failed)?;
        root.spawn(response)?.ask(())
    }

    /// The simulator, given the response.
    fn given(&self, root: &Root, said: InputResponse) -> Result<Running, AskError> {
        root.spawn(self.simulator.given(said).map_err(failed)?)
    }
}

/// The parts `names` are created first or when the adversary likes, and asked twice each at the most.
fn offer(names: Vec<u8>, first: bool) -> impl Fn(&[Seen]) -> Vec<Ask> + Sync + Clone {
    move |history: &[Seen]| {
        if history.last().is_some_and(|round| round.answer.is_err()) {
            return vec![];
        }
        let is_creation = |round: &&Seen| matches!(round.query.zero, Request::Create(_));
        let created = history.iter().filter(is_creation).count();
        let mut offered: Vec<Ask> = names
            .get(created)
            .map(|name| create(*name))
            .into_iter()
            .collect();
        if first && !offered.is_empty() {
            return offered;
        }
        for to in 0..created {
            let asked = |round: &&Seen| matches!(round.query.zero, Request::Ask(Routed { to: at, .. }) if at == to);
            if history.iter().filter(asked).count() < 2 {
                offered.extend([
                    ask(to, false, false),
                    ask(to, false, true),
                    ask(to, true, false),
                ]);
            }
        }
        offered
    }
}

/// What of the offered is valid: so that both systems are asked the same.
fn valid<F>(
    offer: impl Fn(&[Seen]) -> Vec<Ask> + Sync,
    function: F,
) -> impl Fn(&[Seen]) -> Vec<Ask> + Sync
where
    F: VerificationFunction<Message = Request<u8, bool>>,
{
    move |history: &[Seen]| {
        let mut asked: Vec<Ask> = history.iter().map(|round| round.query).collect();
        let mut keeps = |pair: &Ask| {
            asked.push(*pair);
            let valid = function.is_valid(&asked);
            asked.pop();
            valid
        };
        offer(history)
            .into_iter()
            .filter(|pair| keeps(pair))
            .collect()
    }
}

/// The composition itself.
fn real<F>(
    catalogue: &Bits<EpsilonDelta>,
    function: impl Fn() -> F + Sync,
    depth: usize,
    offer: impl Fn(&[Seen]) -> Vec<Ask> + Sync,
) -> Views
where
    F: VerificationFunction<Message = Request<u8, bool>>,
{
    audit(|input: Input, root: &Root| game(input, root, catalogue, function()))
        .asking(depth, offer)
        .unwrap()
}

/// A system that creates and routes: `part` is asked for the mechanism with this number and name when it gets its first
/// pair.
fn router(
    mut created: impl FnMut(u8) -> Result<(), AskError>,
    mut part: impl FnMut(usize, u8, Pair<bool>) -> Result<Running, AskError>,
) -> impl System<Query = Ask, Answer = Outcome<u8>> {
    let mut parts: Vec<(u8, Option<Running>)> = vec![];
    player(move |pair: Ask| match (pair.zero, pair.one) {
        (Request::Create(name), _) => {
            created(name)?;
            parts.push((name, None));
            Ok(Outcome::Created(parts.len() - 1))
        }
        (Request::Ask(zero), Request::Ask(one)) => {
            let bits = Pair::new(zero.query, one.query);
            let (name, running) = &mut parts[zero.to];
            if running.is_none() {
                *running = Some(part(zero.to, *name, bits)?);
            }
            match running {
                Some(running) => running.ask(bits).map(Outcome::Answer),
                None => Err(failed("no part")),
            }
        }
        _ => Err(failed("not a pair")),
    })
}

fn certified(parts: &[Part]) -> Bits<EpsilonDelta> {
    let parts = parts.to_vec();
    Catalogue::new(move |name: &u8| {
        let Part { random, loss, .. } = parts.get(usize::from(*name))?.clone();
        Some(Certified::swap_symmetric(loss, two_messages(), move || {
            random.machine()
        }))
    })
}

fn parts(randoms: &[Random], factor: &Factor) -> Vec<Part> {
    let part = |random| Part::new(random, factor, &alone(random, two_messages));
    randoms.iter().map(part).collect()
}

fn factor(t: u64) -> Factor {
    Factor::new(t + 1, t).unwrap()
}

/// A broken simulator: one that was given another input's response is found out.
fn other(input: Input) -> Input {
    input.pick(Input::One, Input::Zero)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 0, ..ProptestConfig::default() })]

    /// Thm 4.10: all responses are drawn at the beginning, one for each mechanism.
    #[test]
    fn fixed_mechanisms(one in random(), two in random(), t in 1u64..5) {
        let factor = factor(t);
        let parts = parts(&[one, two], &factor);
        let catalogue = certified(&parts);
        let offer = offer(vec![0, 1], true);
        let real = real(&catalogue, || FixedMechanisms::new(catalogue.clone(), vec![0, 1]), 5, offer.clone());
        let simulated = |sees: fn(Input) -> Input| {
            audit(|input: Input, root: &Root| {
                let drawn: Vec<_> = parts.iter().map(|part| part.draw(&factor, sees(input), root)).collect::<Result<_, _>>()?;
                let (root, parts) = (root.clone(), &parts);
                Ok(router(|_| Ok(()), move |at, _, _| parts[at].given(&root, drawn[at])))
            })
            .asking(5, offer.clone())
            .unwrap()
        };
        prop_assert!(real.same_views(&simulated(|input| input)));
        let tells = real.total_variation().value() != Some(&RBig::ZERO);
        prop_assert_eq!(tells, !real.same_views(&simulated(|_| Input::Zero)));
    }

    /// Thm 4.12: the responses are drawn at the beginning, one for each of the parameters; a mechanism takes the first one
    /// that has its parameters, when it is first asked.
    #[test]
    fn fixed_parameters(one in random(), two in random(), t in 1u64..5) {
        let factor = factor(t);
        let parts = parts(&[one, two], &factor);
        let catalogue = certified(&parts);
        let slots = FixedParameters::new(parts.iter().map(|part| part.loss.clone()).collect());
        // The second one may be created first, or after the first was asked; the slots do not allow one of them twice.
        let either = |history: &[Seen]| {
            let second_first = history.first().is_some_and(|round| round.query == create(1));
            let mut offered = offer(if second_first { vec![1, 0] } else { vec![0, 1] }, false)(history);
            offered.extend(history.is_empty().then(|| create(1)));
            offered
        };
        let function = || suitable(&catalogue, slots.clone());
        let offered = valid(either, function());
        let real = real(&catalogue, function, 5, &offered);
        let simulated = audit(|input: Input, root: &Root| {
            let mut drawn = Vec::new();
            for part in &parts {
                drawn.push((Some(part.draw(&factor, input, root)?), part.delta.clone()));
            }
            let (root, parts) = (root.clone(), &parts);
            Ok(router(|_| Ok(()), move |_, name, _| {
                let part = &parts[usize::from(name)];
                let fits = |slot: &&mut (Option<InputResponse>, RBig)| slot.0.is_some() && slot.1 == part.delta;
                let slot = drawn.iter_mut().find(fits).ok_or_else(|| failed("no response is left"))?;
                part.given(&root, slot.0.take().ok_or_else(|| failed("taken"))?)
            }))
        })
        .asking(5, &offered)
        .unwrap();
        prop_assert!(real.same_views(&simulated));
    }

    /// Thm 5.14: a mechanism whose first pair is identical is run as it is, and has no response; those that differ take
    /// one of k. Here k is one, and there are two mechanisms.
    #[test]
    fn consistent_in_parallel(one in random(), t in 1u64..5) {
        let factor = factor(t);
        let any = || Static::new(|_: &bool, _: &bool| true);
        let part = Part::new(&one, &factor, &alone(&one, any));
        let catalogue: Bits<EpsilonDelta> = {
            let part = part.clone();
            Catalogue::new(move |_: &u8| {
                let Part { random, loss, .. } = part.clone();
                Some(Certified::first_pair_consistent(loss, any(), move || random.machine()))
            })
        };
        let slots = ConsistentParallel::new(vec![part.loss.clone()]);
        let function = || suitable(&catalogue, slots.clone());
        let offered = valid(offer(vec![0, 0], false), function());
        let real = real(&catalogue, function, 5, &offered);
        let simulated = audit(|input: Input, root: &Root| {
            let mut drawn = Some(part.draw(&factor, input, root)?);
            let (root, part) = (root.clone(), &part);
            Ok(router(|_| Ok(()), move |_, _, first| {
                if !first.is_identical() {
                    let said = drawn.take().ok_or_else(|| failed("more than k differ"))?;
                    return part.given(&root, said);
                }
                let plain = root.spawn(part.random.machine())?;
                root.postprocess(&plain, Chain::new(Verifier::new(any()), Identifier::new(Input::Zero)))
            }))
        })
        .asking(5, &offered)
        .unwrap();
        prop_assert!(real.same_views(&simulated));
    }

    /// Thm 12.4: a response is drawn when a mechanism is created, with its parameters, which may depend on answers.
    #[test]
    fn filters(one in random(), two in random(), t in 1u64..5) {
        let factor = factor(t);
        let parts = parts(&[one, two], &factor);
        let catalogue = certified(&parts);
        // The second mechanism is the one that the last answer names.
        let adaptive = |history: &[Seen]| match history.last() {
            None => vec![create(0), create(1)],
            Some(Seen { answer: Ok(Outcome::Created(0)), .. }) => vec![ask(0, false, true), ask(0, true, true)],
            Some(Seen { answer: Ok(Outcome::Answer(answer)), .. }) if history.len() == 2 => vec![create(answer % 2)],
            _ if history.len() < 5 => vec![ask(0, false, false), ask(1, false, true), ask(1, true, true)],
            _ => vec![],
        };
        let function = || suitable(&catalogue, continual::Unlimited::new());
        let offered = valid(adaptive, function());
        let real = real(&catalogue, function, 5, &offered);
        let simulated = audit(|input: Input, root: &Root| {
            let (draws, runs, parts, factor) = (root.clone(), root.clone(), &parts, factor.clone());
            let drawn = Arc::new(std::sync::Mutex::new(Vec::new()));
            let kept = Arc::clone(&drawn);
            let created = move |name: u8| {
                let said = parts[usize::from(name)].draw(&factor, input, &draws)?;
                kept.lock().map_err(failed)?.push(said);
                Ok(())
            };
            Ok(router(created, move |at, name, _| {
                let said = drawn.lock().map_err(failed)?[at];
                parts[usize::from(name)].given(&runs, said)
            }))
        })
        .asking(5, &offered)
        .unwrap();
        prop_assert!(real.same_views(&simulated));
    }

    /// Thm 13.4: a mechanism that is created is a universal one, which has the input and waits for its name. (No responses:
    /// so it holds in every measure whose interactive mechanisms compose.)
    #[test]
    fn universal_mechanisms(one in random(), two in random()) {
        let randoms = [one, two];
        let part = |random: &Random| (random.clone(), "(1, 0)".parse::<EpsilonDelta>().unwrap());
        let catalogue = crate::common::certified(randoms.iter().map(part).collect(), two_messages);
        let function = || suitable(&catalogue, continual::Unlimited::new());
        let offered = valid(offer(vec![1, 0], false), function());
        let real = real(&catalogue, function, 5, &offered);
        let simulated = audit(|input: Input, root: &Root| {
            let universal = |_: usize| universal(&randoms, input, root);
            let waiting: Vec<_> = (0..2).map(universal).collect::<Result<_, _>>()?;
            let mut created = 0;
            Ok(player(move |pair: Ask| match (pair.zero, pair.one) {
                (Request::Create(name), _) => {
                    waiting[created].ask(Err(name))?;
                    created += 1;
                    Ok(Outcome::Created(created - 1))
                }
                (Request::Ask(zero), Request::Ask(one)) => {
                    waiting[zero.to].ask(Ok(Pair::new(zero.query, one.query))).map(Outcome::Answer)
                }
                _ => Err(failed("not a pair")),
            }))
        })
        .asking(5, &offered)
        .unwrap();
        prop_assert!(real.same_views(&simulated));
    }

    /// Lemma 5.6 for functions that are swap-symmetric: the lazy simulator with δ itself, and the bit is not asked for
    /// while all pairs are identical.
    #[test]
    fn one_mechanism_lazily(one in random(), t in 1u64..5) {
        let factor = factor(t);
        let report = alone(&one, two_messages);
        let delta = report.delta(&factor).value().cloned().unwrap();
        let simulator = report.lazy_simulator(&factor, &delta, Pair::is_identical).unwrap();
        let simulated = audit(|input: Input, root: &Root| {
            let irr = root.spawn(interactive_response(&factor, &delta, input).map_err(failed)?)?;
            let asked = Arc::new(AtomicUsize::new(0));
            let counted = counting(root, &irr, &asked)?;
            let lazy = root.postprocess(&counted, simulator.processor())?;
            let mut identical = true;
            Ok(player(move |pair: Pair<bool>| {
                identical &= pair.is_identical();
                let answer = lazy.ask(pair);
                match (identical, asked.load(Ordering::Relaxed)) {
                    (true, 0..=1) | (false, 0..=2) => answer,
                    (_, too_often) => Err(failed(too_often)),
                }
            }))
        })
        .asking(2, pairs)
        .unwrap();
        prop_assert!(report.same_views(&simulated));
    }

    /// Thm 5.4: the δ of every mechanism is drawn when it is first asked, and its ε only when a pair differs: k times at the
    /// most. Here k is one, and there are two mechanisms.
    #[test]
    fn approximate_in_parallel(one in random(), t in 1u64..5) {
        let factor = factor(t);
        let report = alone(&one, two_messages);
        let part = Part::new(&one, &factor, &report);
        let lazy: LazySimulator<_, _> = report.lazy_simulator(&factor, &part.delta, Pair::is_identical).unwrap();
        let catalogue = certified(std::slice::from_ref(&part));
        let epsilon = Epsilon::new(part.loss.epsilon().clone());
        let allowance = ApproximateParallel::new(vec![epsilon], Exact::ONE);
        let function = || suitable(&catalogue, allowance.clone());
        let offered = valid(offer(vec![0, 0], true), function());
        let real = real(&catalogue, function, 5, &offered);
        let simulated = audit(|input: Input, root: &Root| {
            let (root, used) = (root.clone(), Arc::new(AtomicUsize::new(0)));
            let (factor, delta, lazy) = (factor.clone(), part.delta.clone(), lazy.clone());
            Ok(router(|_| Ok(()), move |_, _, _| {
                let irr = root.spawn(two_responses(&factor, &delta, input, &used))?;
                root.postprocess(&irr, lazy.processor())
            }))
        })
        .asking(5, &offered)
        .unwrap();
        prop_assert!(real.same_views(&simulated));
    }
}

/// A universal mechanism: the input, and whatever it is told to be (`Err`); then that mechanism's pairs (`Ok`).
fn universal(
    randoms: &[Random; 2],
    input: Input,
    root: &Root,
) -> Result<Queryable<Result<Pair<bool>, u8>, u8>, AskError> {
    let randoms = randoms.clone();
    let mut is: Option<Running> = None;
    root.spawn(machine(move |message, scope: &mut Scope<'_>| {
        match (message, &is) {
            (Err(name), None) => {
                let mechanism = scope.spawn(randoms[usize::from(name)].machine())?;
                let referee = Chain::new(Verifier::new(two_messages()), Identifier::new(input));
                is = Some(scope.postprocess(&mechanism, referee)?);
                Ok(0)
            }
            (Ok(pair), Some(mechanism)) => mechanism.ask(pair),
            _ => {
                scope.halt();
                Err(failed("malformed"))
            }
        }
    }))
}

/// The same, and how often it was asked.
fn counting(
    root: &Root,
    irr: &Queryable<(), InputTold>,
    asked: &Arc<AtomicUsize>,
) -> Result<Queryable<(), InputTold>, AskError> {
    let asked = Arc::clone(asked);
    let count = move |()| {
        asked.fetch_add(1, Ordering::Relaxed);
    };
    root.postprocess(irr, queryable::translate(count, |told: InputTold| told))
}

/// Interactive randomized response from RR_{0,δ} and, if that does not leak, RR_{ε,0}: one for all mechanisms (k = 1).
fn two_responses(
    factor: &Factor,
    delta: &RBig,
    input: Input,
    used: &Arc<AtomicUsize>,
) -> impl queryable::Machine<Query = (), Answer = InputTold> + 'static {
    let (factor, delta, used) = (factor.clone(), delta.clone(), Arc::clone(used));
    let mut flag: Option<InputResponse> = None;
    machine(move |(), scope: &mut Scope<'_>| match flag {
        None => {
            let leaks = randomized_response(&Factor::ONE, &delta, input).map_err(failed)?;
            let said = scope.spawn(leaks)?.ask(())?;
            flag = Some(said);
            Ok(InputTold::Leaks(matches!(said, InputResponse::Leak(_))))
        }
        Some(InputResponse::Leak(bit)) => Ok(InputTold::Bit(bit)),
        Some(InputResponse::Noisy(_)) => {
            if used.fetch_add(1, Ordering::Relaxed) > 0 {
                return Err(failed("more than k responses"));
            }
            let noisy = randomized_response(&factor, &RBig::ZERO, input).map_err(failed)?;
            match scope.spawn(noisy)?.ask(())? {
                InputResponse::Noisy(bit) | InputResponse::Leak(bit) => Ok(InputTold::Bit(bit)),
            }
        }
    })
}

/// Lemma 5.6 is false as printed: the mechanism of \[HSV25\]'s refutation (see `attacks.rs`) has no lazy simulator with δ, and
/// one with 2δ.
#[test]
fn without_symmetry_the_lazy_simulator_needs_twice_as_much() {
    let report = audit(|input: Input, root: &Root| {
        let mechanism = root.spawn(crate::common::letters(1, 10))?;
        let referee = Chain::new(
            Verifier::new(crate::common::one_way()),
            Identifier::new(input),
        );
        root.postprocess(&mechanism, referee)
    })
    .asking(2, |_: &[_]| {
        vec![Pair::same(false), Pair::same(true), Pair::new(false, true)]
    })
    .unwrap();
    // ε = −ln(1 − d): e^ε = 10/9, δ = d/2.
    let (factor, delta) = (Factor::new(10, 9).unwrap(), ratio(1, 20));
    assert_eq!(report.delta(&factor).value(), Some(&delta));
    assert!(report.simulator(&factor, &delta).is_ok());
    assert!(
        report
            .lazy_simulator(&factor, &delta, Pair::is_identical)
            .is_err()
    );
    assert!(
        report
            .lazy_simulator(&factor, &ratio(99, 1000), Pair::is_identical)
            .is_err()
    );
    let simulator = report
        .lazy_simulator(&factor, &ratio(1, 10), Pair::is_identical)
        .unwrap();
    let simulated = audit(|input: Input, root: &Root| {
        let irr = interactive_response(&factor, &ratio(1, 10), input).map_err(failed)?;
        let irr = root.spawn(irr)?;
        root.postprocess(&irr, simulator.processor())
    })
    .asking(2, |_: &[_]| {
        vec![Pair::same(false), Pair::same(true), Pair::new(false, true)]
    })
    .unwrap();
    // The verifier's refusals are part of both.
    assert!(report.same_views(&simulated));
}

#[test]
fn a_simulator_with_the_wrong_input_is_found_out() {
    let factor = factor(1);
    let report = audit(|input: Input, root: &Root| {
        let mechanism = root.spawn(response(4))?;
        root.postprocess(
            &mechanism,
            Chain::new(Verifier::new(two_messages()), Identifier::new(input)),
        )
    })
    .asking(2, pairs)
    .unwrap();
    let delta = report.delta(&factor).value().cloned().unwrap();
    let simulator = report.simulator(&factor, &delta).unwrap();
    let simulated = |sees: fn(Input) -> Input| {
        audit(|input: Input, root: &Root| {
            let rr = randomized_response(&factor, &delta, sees(input)).map_err(failed)?;
            let said = root.spawn(rr)?.ask(())?;
            root.spawn(simulator.given(said).map_err(failed)?)
        })
        .asking(2, pairs)
        .unwrap()
    };
    assert!(report.same_views(&simulated(|input| input)));
    assert!(!report.same_views(&simulated(other)));
}
