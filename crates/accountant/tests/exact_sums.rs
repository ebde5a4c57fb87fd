//! Never below exact rational sums: random lists of pairs with rational probabilities, composed answer by answer.

use accountant::{Accountant, Mechanism};
use dashu_ratio::RBig;
use exact::interval::exp;
use exact::{Exact, Round};

use crate::joint::{Cases, Pairs, delta, nothing, with};

type Weights = Vec<(Exact, Exact)>;

/// A pair of two or three answers; now and then one that only one side gives.
fn pair(cases: &mut Cases) -> Weights {
    let answers = 2 + cases.below(2);
    let level = [3, 20, 1000][cases.below(3) as usize];
    let mut weights: Weights = (0..answers)
        .map(|_| {
            (
                Exact::from(level + cases.below(level)),
                Exact::from(level + cases.below(level)),
            )
        })
        .collect();
    if cases.below(8) == 0 {
        weights.push((Exact::from(cases.below(2)), Exact::from(cases.below(2))));
    }
    weights
}

fn shares(weights: &[Exact]) -> Vec<RBig> {
    let sum: Exact = weights.iter().cloned().sum();
    let sum = sum.to_rational().unwrap();
    weights
        .iter()
        .map(|weight| weight.to_rational().unwrap() / &sum)
        .collect()
}

/// All joint answers with their probabilities.
fn product(pairs: &[(Weights, u64)]) -> Pairs {
    pairs.iter().fold(nothing(), |joint, (weights, count)| {
        let (p, q): (Vec<Exact>, Vec<Exact>) = weights.iter().cloned().unzip();
        let one = shares(&p).into_iter().zip(shares(&q)).collect();
        with(joint, &one, *count)
    })
}

fn list(cases: &mut Cases) -> (Accountant, Pairs) {
    let mut pairs: Vec<(Weights, u64)> = Vec::new();
    let kinds = 1 + cases.below(3);
    for _ in 0..kinds {
        pairs.push((pair(cases), 1 + cases.below(2)));
    }
    let all = pairs
        .iter()
        .fold(Accountant::new(), |all, (weights, count)| {
            all.add(Mechanism::finite(weights).unwrap(), *count)
        });
    (all, product(&pairs))
}

#[test]
fn delta_is_never_below() {
    let mut cases = Cases(0x5eed);
    for _ in 0..120 {
        let (accountant, joint) = list(&mut cases);
        let epsilons: Vec<Exact> = (0..12)
            .map(|i| Exact::ratio(u128::from(cases.below(200) + i), 100).unwrap())
            .collect();
        for (epsilon, found) in accountant.curve(epsilons).unwrap() {
            // δ falls with ε, so at odds rounded up the exact one is at most what it is at ε.
            let odds = exp(&epsilon, Round::Up).to_rational().unwrap();
            let exactly = delta(&joint, &odds);
            assert!(
                found.to_rational().unwrap() >= exactly,
                "{accountant:?} at {epsilon}: {found}"
            );
        }
    }
}

#[test]
fn epsilon_is_never_below() {
    let mut cases = Cases(0xface);
    for _ in 0..120 {
        let (accountant, joint) = list(&mut cases);
        for target in ["0.3", "0.01", "1e-4"] {
            let target: Exact = target.parse().unwrap();
            let epsilon = accountant.epsilon(&target).unwrap();
            if epsilon.is_infinite() {
                // Only where infinite losses alone have more.
                let infinite = delta(&joint, &RBig::from(u64::MAX));
                assert!(infinite > target.to_rational().unwrap());
                continue;
            }
            let odds = exp(&epsilon, Round::Up).to_rational().unwrap();
            let exactly = delta(&joint, &odds);
            assert!(
                exactly <= target.to_rational().unwrap(),
                "{accountant:?} at {target}: {epsilon}"
            );
        }
    }
}
