//! The exact auditor against brute force over all deterministic adversaries, and against itself in other arithmetic.

use std::collections::BTreeMap;

use crate::common::{Table, always, probability, randomized_response, ratio, table};
use auditor::{Direction, Factor, Input, audit};
use dashu_ratio::RBig;
use proptest::prelude::*;
use queryable::{
    Machine, Root, Scope,
    coins::{Bit, enumerate},
    compose::{BoxedMachine, ConComp, Routed, Unparsable},
    machine, translate,
};

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
