//! The exact auditor against closed forms and against brute force over all deterministic adversaries.

use std::collections::BTreeMap;

use crate::common::{Table, always, probability, randomized_response, ratio};
use auditor::{AuditError, Direction, Factor, Input, Part, Report, audit, player};
use dashu_ratio::RBig;
use exact::Exact;
use proptest::prelude::*;
use queryable::{
    Machine, Root, Scope,
    coins::{Bit, Distribution, Probability, enumerate},
    compose::{BoxedMachine, ConComp, Routed, Unparsable},
    machine, once, translate,
};

fn rr(n: u64, d: u64) -> Report<(), bool> {
    audit(|input, root: &Root| root.spawn(randomized_response(input, n, d)))
        .asking(1, always(vec![()]))
        .unwrap()
}

#[test]
fn randomized_response_by_closed_form() {
    let report = rr(3, 4);
    assert_eq!(report.total_variation().value(), Some(&ratio(1, 2)));
    assert_eq!(
        report.delta(&Factor::new(2, 1).unwrap()).value(),
        Some(&ratio(1, 4))
    );
    assert_eq!(
        report.delta(&Factor::new(3, 1).unwrap()).value(),
        Some(&RBig::ZERO)
    );
    assert_eq!(report.factor(&RBig::ZERO), Some(Factor::new(3, 1).unwrap()));
    assert_eq!(
        report.factor(&ratio(1, 4)),
        Some(Factor::new(2, 1).unwrap())
    );
    for direction in Direction::BOTH {
        let profile = report.profile(direction);
        assert_eq!(
            profile.trade_off(&RBig::ZERO).unwrap().value(),
            Some(&RBig::ONE)
        );
        assert_eq!(
            profile.trade_off(&ratio(1, 8)).unwrap().value(),
            Some(&ratio(5, 8))
        );
        assert_eq!(
            profile.trade_off(&ratio(1, 4)).unwrap().value(),
            Some(&ratio(1, 4))
        );
        assert_eq!(
            profile.trade_off(&ratio(5, 8)).unwrap().value(),
            Some(&ratio(1, 8))
        );
        // 3/4·3 + 1/4·1/3
        assert_eq!(report.power_sum(2, direction).unwrap(), Some(ratio(7, 3)));
        let pieces: Vec<_> = profile
            .pieces()
            .into_iter()
            .map(|p| (p.from, p.y, p.x))
            .collect();
        let expected = [
            (RBig::ZERO, RBig::ONE, RBig::ONE),
            (ratio(1, 3), ratio(3, 4), ratio(1, 4)),
            (ratio(3, 1), RBig::ZERO, RBig::ZERO),
        ];
        assert_eq!(pieces, expected);
    }
}

#[test]
fn renyi_intervals_hold_the_exact_power_sums() {
    let report = rr(3, 4);
    for order in [2u32, 3, 7] {
        let sum = report
            .power_sum(order, Direction::ZeroOverOne)
            .unwrap()
            .unwrap();
        let bounds = report.renyi(&order.into(), Direction::ZeroOverOne).unwrap();
        let log = |round| {
            Exact::from_rational(&sum, round)
                .unwrap()
                .ln(round)
                .unwrap()
        };
        let truth = (log(exact::Round::Down), log(exact::Round::Up));
        let scaled = |bound: &Exact| bound.times(u64::from(order) - 1);
        assert!(scaled(&bounds.least) <= truth.1 && truth.0 <= scaled(&bounds.most));
        let gap = bounds.most.checked_sub(&bounds.least).unwrap();
        assert!(gap < "1e-13".parse().unwrap(), "{gap}");
    }
    let half = report
        .renyi(&"1.5".parse().unwrap(), Direction::ZeroOverOne)
        .unwrap();
    // ln(3/4·√3 + 1/4/√3) / 0.5
    let truth = 2.0 * (0.75 * 3f64.sqrt() + 0.25 / 3f64.sqrt()).ln();
    assert!((half.least.to_f64(exact::Round::Down) - truth).abs() < 1e-12);
    assert!(report.renyi(&Exact::ONE, Direction::ZeroOverOne).is_err());
}

#[test]
fn zeros_count_in_the_direction_in_which_they_are_zeros() {
    let leak = |input: Input, root: &Root| {
        root.spawn(machine(move |(), scope| {
            let shown = scope.draw(&queryable::coins::Bit::new(probability(1, 10)))?;
            Ok(shown && input == Input::One)
        }))
    };
    let report = audit(leak).asking(1, always(vec![()])).unwrap();
    assert_eq!(report.power_sum(2, Direction::OneOverZero).unwrap(), None);
    // Σ p0²/p1 = 1/(9/10)
    assert_eq!(
        report.power_sum(2, Direction::ZeroOverOne).unwrap(),
        Some(ratio(10, 9))
    );
    assert!(
        report
            .renyi(&2u32.into(), Direction::OneOverZero)
            .unwrap()
            .least
            .is_infinite()
    );
    assert_eq!(report.profile(Direction::OneOverZero).largest_ratio(), None);
    let ratio_of_zero = report.profile(Direction::ZeroOverOne).largest_ratio();
    assert_eq!(ratio_of_zero, Some(Factor::new(10, 9).unwrap()));
    assert_eq!(report.factor(&ratio(1, 10)), Some(Factor::ONE));
}

#[test]
fn errors_and_panics_are_answers() {
    let fails = |input: Input, root: &Root| {
        root.spawn(once(move |mode: u8, _| match (mode, input) {
            (0, Input::Zero) => Err(queryable::AskError::failed("no")),
            (1, Input::Zero) => panic!("expected by the test"),
            _ => Ok(()),
        }))
    };
    for mode in 0..2 {
        let report = audit(fails).asking(1, always(vec![mode])).unwrap();
        assert_eq!(report.total_variation().value(), Some(&RBig::ONE));
    }
    let unborn = |input: Input, _: &Root| match input {
        Input::Zero => Err(queryable::AskError::NoEntropy),
        Input::One => Ok(player(|()| Ok(()))),
    };
    let report = audit(unborn).asking(1, always(vec![()])).unwrap();
    assert_eq!(report.total_variation().value(), Some(&RBig::ONE));
}

#[test]
fn hidden_randomness_is_found() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let cheat = |_: Input, root: &Root| {
        let run = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        root.spawn(machine(move |(), scope| {
            scope.draw(&queryable::coins::Bit::fair())?;
            Ok(run % 3)
        }))
    };
    let found = audit(cheat).on_one_thread().asking(2, always(vec![()]));
    assert!(matches!(found, Err(AuditError::HiddenRandomness { .. })));
}

#[test]
fn hidden_randomness_in_the_last_round_is_found() {
    // An outside counter that changes the only answer, with any period, with and without coins.
    for (period, coins) in [(2, 0), (2, 1), (3, 1), (4, 2), (2, 10)] {
        let count = std::sync::atomic::AtomicUsize::new(0);
        let cheat = |_: Input, root: &Root| {
            let run = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            root.spawn(machine(move |(), scope| {
                for _ in 0..coins {
                    scope.draw(&queryable::coins::Bit::fair())?;
                }
                Ok(run % period)
            }))
        };
        let found = audit(cheat).on_one_thread().asking(1, always(vec![()]));
        let found = found.err();
        assert_eq!(
            found,
            Some(AuditError::HiddenRandomness { round: 0 }),
            "{period} {coins}"
        );
    }
}

#[test]
fn looking_into_the_future_is_found() {
    // Not a machine: the first answer depends on what the second query will be.
    use std::sync::{Arc, Mutex};
    let last = Arc::new(Mutex::new(0u8));
    let build = move |_: Input, _: &Root| {
        let last = last.clone();
        Ok(player(move |query: u8| {
            let before = std::mem::replace(&mut *last.lock().unwrap(), query);
            Ok(before)
        }))
    };
    let found = audit(build).on_one_thread().asking(2, always(vec![0, 1]));
    assert!(found.is_err(), "{found:?}");
}

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

/// All deterministic adversaries against a table machine, one view law each; the largest of each quantity.
fn brute_force(table: &Table, queries: usize, factors: &[RBig]) -> (Vec<[RBig; 2]>, [RBig; 2]) {
    let adversaries = adversaries(table.rounds, queries, table.answers);
    let mut deltas = vec![[RBig::ZERO, RBig::ZERO]; factors.len()];
    let mut sums = [RBig::ZERO, RBig::ZERO];
    for adversary in adversaries {
        let [zero, one] = Input::BOTH.map(|input| {
            enumerate(100_000, |script| {
                let q = Root::scripted(script).spawn(table.machine(input)).unwrap();
                let mut seen = vec![];
                for _ in 0..table.rounds {
                    let answer = q.ask(adversary[&seen]).unwrap();
                    seen.push(answer);
                }
                seen
            })
            .unwrap()
            .law()
        });
        let mut laws: BTreeMap<Vec<usize>, [RBig; 2]> = BTreeMap::new();
        for (input, law) in [zero, one].into_iter().enumerate() {
            for (view, mass) in law {
                laws.entry(view).or_default()[input] = mass;
            }
        }
        for (over, sum) in sums.iter_mut().enumerate() {
            let mut total = RBig::ZERO;
            for (t, delta) in factors.iter().zip(&mut deltas) {
                let excess = |p: &[RBig; 2]| (&p[over] - t * &p[1 - over]).max(RBig::ZERO);
                let mine = laws.values().map(excess).fold(RBig::ZERO, |a, b| a + b);
                delta[over] = delta[over].clone().max(mine);
            }
            for p in laws.values() {
                total += &p[over] * &p[over] / &p[1 - over];
            }
            *sum = sum.clone().max(total);
        }
    }
    (deltas, sums)
}

/// Every function from answers seen so far to the next query.
fn adversaries(rounds: usize, queries: usize, answers: usize) -> Vec<BTreeMap<Vec<usize>, usize>> {
    let mut views = vec![vec![]];
    let mut level = vec![vec![]];
    for _ in 1..rounds {
        level = level
            .iter()
            .flat_map(|view: &Vec<usize>| {
                (0..answers).map(move |a| view.iter().copied().chain([a]).collect::<Vec<_>>())
            })
            .collect();
        views.extend(level.clone());
    }
    let count = queries.pow(views.len() as u32);
    (0..count)
        .map(|mut code| {
            let choice = |view: &Vec<usize>| {
                let query = code % queries;
                code /= queries;
                (view.clone(), query)
            };
            views.iter().map(choice).collect()
        })
        .collect()
}

fn table(rounds: usize, answers: usize, hidden: bool) -> impl Strategy<Value = Table> {
    prop::collection::vec(1u64..9, 17).prop_map(move |weights| Table {
        rounds,
        answers,
        hidden,
        weights,
    })
}

fn factors() -> Vec<RBig> {
    [(0, 1), (1, 3), (1, 1), (3, 2), (2, 1), (3, 1), (9, 1)]
        .map(|(n, d)| ratio(n, d))
        .to_vec()
}

fn check_against_brute_force(table: &Table, queries: usize) {
    let report = audit(|input, root: &Root| root.spawn(table.machine(input)))
        .asking(table.rounds, always((0..queries).collect()))
        .unwrap();
    let factors = factors();
    let (deltas, sums) = brute_force(table, queries, &factors);
    for direction in Direction::BOTH {
        let over = if direction == Direction::ZeroOverOne {
            0
        } else {
            1
        };
        for (t, delta) in factors.iter().zip(&deltas) {
            let t = Factor::try_from(t.clone()).unwrap();
            assert_eq!(
                report.profile(direction).delta(&t).value(),
                Some(&delta[over])
            );
            // The attack is an adversary that attains it.
            let (p0, p1) = report.attack(&t, direction).play.accepted();
            let [y, x] = if over == 0 { [p0, p1] } else { [p1, p0] };
            assert_eq!(y - t.as_rational() * x, delta[over]);
        }
        assert_eq!(
            report.power_sum(2, direction).unwrap().as_ref(),
            Some(&sums[over])
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn equals_brute_force(table in table(2, 3, false)) {
        check_against_brute_force(&table, 2);
    }

    #[test]
    fn equals_brute_force_with_a_hidden_coin(table in table(3, 2, true)) {
        check_against_brute_force(&table, 2);
    }

    /// Denominators of sixty bits: words hold no product of two.
    #[test]
    fn equals_brute_force_with_long_masses(table in table(3, 2, true), seeds in prop::collection::vec(1u64 << 60..1 << 61, 7)) {
        let weights = table.weights.iter().zip(seeds.iter().cycle());
        let weights = weights.map(|(weight, seed)| seed + 2 * weight + 1).collect();
        check_against_brute_force(&Table { weights, ..table }, 2);
    }

    /// A coin that nobody looks at changes no history. With odd denominators its masses are too long for words, so the same
    /// sums are made the other way.
    #[test]
    fn words_and_long_numbers_give_the_same_masses(table in table(2, 3, true), odd in (1u64 << 40..1 << 61).prop_map(|d| 2 * d + 1)) {
        let coin = Bit::new(probability(odd / 3, odd));
        let ignoring = |input: Input, root: &Root, coins: usize| {
            let (coin, mut inner) = (coin.clone(), table.machine(input));
            root.spawn(machine(move |query: usize, scope: &mut Scope<'_>| {
                for _ in 0..coins {
                    scope.draw(&coin)?;
                }
                inner.step(query, scope)
            }))
        };
        let offer = || always(vec![0, 1]);
        let [words, long] = [0, 2].map(|coins| audit(|input, root: &Root| ignoring(input, root, coins)).asking(2, offer()).unwrap());
        prop_assert!(long.stats().runs > words.stats().runs);
        prop_assert_eq!(long.stats().histories, words.stats().histories);
        for direction in Direction::BOTH {
            prop_assert_eq!(long.profile(direction), words.profile(direction));
            prop_assert_eq!(long.power_sum(3, direction), words.power_sum(3, direction));
        }
    }

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
        prop_assert_eq!(merged.profile(Direction::ZeroOverOne), alone.profile(Direction::ZeroOverOne));
        prop_assert!(merged.stats().histories < unmerged.stats().histories);
    }

    #[test]
    fn post_processing_never_raises_delta(table in table(2, 3, true)) {
        let plain = audit(|input, root: &Root| root.spawn(table.machine(input)))
            .asking(2, always(vec![0, 1])).unwrap();
        let processed = audit(|input, root: &Root| {
            let inner = root.spawn(table.machine(input))?;
            root.postprocess(&inner, translate(|q: usize| 1 - q, |a: usize| a / 2))
        }).asking(2, always(vec![0, 1])).unwrap();
        for t in factors() {
            let t = Factor::try_from(t).unwrap();
            prop_assert!(processed.delta(&t).most <= plain.delta(&t).least);
        }
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

#[test]
fn big_and_small_integers_agree() {
    // The same machine with probabilities whose common denominator needs more than 64 bits.
    let report = |n: u64, d: u64| {
        audit(move |input, root: &Root| {
            let parts: Vec<BoxedMachine<(), bool>> = (0..3)
                .map(|_| Box::new(randomized_response(input, n, d)) as BoxedMachine<(), bool>)
                .collect();
            root.spawn(ConComp::new(parts, Unparsable::Refuse))
        })
        .asking(3, |history| {
            vec![Routed {
                to: history.len(),
                query: (),
            }]
        })
        .unwrap()
    };
    let small = report(3, 4);
    assert_eq!(
        small.delta(&Factor::new(3, 1).unwrap()).value(),
        Some(&ratio(3, 8))
    );
    let big = report((1 << 40) + 1, (1 << 40) + (1 << 39));
    let p = ratio((1 << 40) + 1, (1 << 40) + (1 << 39));
    let q = RBig::ONE - &p;
    // Three answers: δ at 1 is the total variation distance p³ + 3p²q − q³ − 3q²p.
    let three = ratio(3, 1);
    let tv = &p * &p * &p + &three * &p * &p * &q - &q * &q * &q - &three * &q * &q * &p;
    assert_eq!(big.total_variation().value(), Some(&tv));
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

#[test]
fn a_type_one_error_is_a_probability() {
    for profile in Direction::BOTH.map(|direction| rr(3, 4).profile(direction).clone()) {
        for wrong in [ratio(-1, 1), ratio(-1, 1 << 60), ratio(2, 1)] {
            let found = profile.trade_off(&wrong);
            assert!(
                matches!(found, Err(AuditError::Parameter { .. })),
                "{wrong}"
            );
        }
        let all = profile.trade_off(&RBig::ONE).unwrap();
        assert_eq!(all.value(), Some(&RBig::ZERO));
    }
}

#[test]
fn an_order_whose_power_sum_would_not_fit_is_a_typed_error() {
    let found = rr(3, 4).power_sum(u32::MAX, Direction::ZeroOverOne);
    assert!(matches!(found, Err(AuditError::Parameter { .. })));
    assert!(rr(3, 4).power_sum(10_000, Direction::ZeroOverOne).is_ok());
}

#[test]
fn printed_bounds_are_bounds() {
    // Tells its input with probability p, just below 2/3: δ ≥ p at every ε, and 0.6666667 is above p.
    let p = probability(2_000_000_000_000, 3_000_000_000_001);
    let build = |input: Input, root: &Root| {
        let tells = queryable::coins::Bit::new(p.clone());
        root.spawn(machine(move |(), scope| {
            Ok(scope.draw(&tells)?.then_some(input))
        }))
    };
    let report = audit(build).asking(1, always(vec![()])).unwrap();
    let attack = report.best_attack(&Factor::new(2, 1).unwrap());
    assert_eq!(
        attack.claim,
        "accepts with probability at least 0.6666666 on input 0 and 0 on input 1: δ ≥ 0.6666666 at every ε"
    );
    let text = attack.to_string();
    assert!(text.contains("accept: p0 = 0.6666666…, p1 = 0"), "{text}");
    assert_eq!(report.total_variation().to_string(), "0.6666666…");
    // From above: δ ≤ 0.6666667.
    let claim: measures::EpsilonDelta = "(0, 0.66666667)".parse().unwrap();
    let text = report.claims(&claim).unwrap().to_string();
    assert!(
        text.starts_with("holds: δ(ε) ≤ 0.6666667 where 0.6666667 was"),
        "{text}"
    );
    let bounds = auditor::Enclosure {
        least: p.to_rational(),
        most: p.to_rational() + RBig::from_parts(1.into(), 1_000_000_000u64.into()),
    };
    assert_eq!(bounds.to_string(), "between 0.6666666 and 0.6666667");
    // ε that would do: ln 3 = 1.09861228866810969…
    let verdict = rr(3, 4)
        .claims(&"2".parse::<measures::Epsilon>().unwrap())
        .unwrap();
    assert!(
        verdict
            .to_string()
            .contains("; ε = 1.0986122886681097 would do"),
        "{verdict}"
    );
    let bounds = rr(3, 4)
        .renyi(&2u32.into(), Direction::ZeroOverOne)
        .unwrap();
    assert_eq!(bounds.to_string(), "0.8472978603872…"); // ln(7/3) = 0.84729786038720361…
    let attack = rr(3, 4)
        .renyi_attack(&2u32.into(), Direction::ZeroOverOne)
        .unwrap();
    assert!(
        attack.claim.contains("at least 0.8472978603872 of order 2"),
        "{attack}"
    );
}

#[test]
fn attacks_print_readably() {
    let text = rr(3, 4).best_attack(&Factor::ONE).to_string();
    let expected = "accepts with probability 0.75 (3/4) on input 0 and 0.25 (1/4) on input 1: δ ≥ 0.5 (1/2) at e^ε = 1\n\
                    ask ()\n  false → accept: p0 = 0.75 (3/4), p1 = 0.25 (1/4)\n  true → stop: p0 = 0.25 (1/4), p1 = 0.75 (3/4)\n";
    assert_eq!(text, expected);
}
