//! The lemmas behind the theorems, as exact properties of random small mechanisms: \[HSV25\] §10.1 (what has to leak after a
//! history), §11 (total variation step by step), Lemma 5.9, Lemma 5.11 and Observation 8.9.

use crate::common::{
    Ask, Bits, Random, Seen, alone, ask, create, game, loss, probability, random, ratio, response,
    suitable, total_variation, two_messages,
};
use auditor::{Factor, Input, Report, audit};
use continual::{
    ApproximateParallel, Catalogue, Certified, EventLevel, Outcome, Pair, Static,
    VerificationFunction,
};
use dashu_ratio::RBig;
use exact::Exact;
use measures::{Epsilon, fixed::OptimalPure};
use proptest::prelude::*;
use queryable::{Machine, Root, Scope, coins::Bit, machine};

const PAIRS: [Pair<bool>; 4] = [
    Pair::new(false, false),
    Pair::new(true, true),
    Pair::new(false, true),
    Pair::new(true, false),
];

/// A history of pairs and answers: the probabilities of its answers on either input, and where the mechanism is.
#[derive(Clone)]
struct Transcript {
    mu: [RBig; 2],
    place: [usize; 2],
    sent: Vec<Pair<bool>>,
}

impl Transcript {
    fn new() -> Self {
        Self {
            mu: [RBig::ONE, RBig::ONE],
            place: [Random::START; 2],
            sent: vec![],
        }
    }

    /// This pair, and each of the answers.
    fn then(&self, random: &Random, pair: Pair<bool>) -> [Self; 2] {
        let heard = [
            random.heard(self.place[0], pair.zero),
            random.heard(self.place[1], pair.one),
        ];
        [0, 1].map(|answer| {
            let law = |b: usize| heard[b].1[answer].to_rational();
            let mut sent = self.sent.clone();
            sent.push(pair);
            Self {
                mu: [0, 1].map(|b| &self.mu[b] * law(b)),
                place: [0, 1].map(|b| Random::said(heard[b].0, answer as u8)),
                sent,
            }
        })
    }

    /// What may be sent next.
    fn pairs(&self) -> Vec<Pair<bool>> {
        let valid = |pair: &Pair<bool>| {
            let mut sent = self.sent.clone();
            sent.push(*pair);
            two_messages().is_valid(&sent)
        };
        PAIRS.into_iter().filter(valid).collect()
    }

    /// `L_{t,T}`, for `T − t` more messages (\[HSV25\] Def 10.2, 10.3).
    fn leak(&self, random: &Random, more: usize, factor: &RBig) -> [RBig; 2] {
        if more == 0 {
            return [0, 1].map(|b| {
                let excess = &self.mu[b] - factor * &self.mu[1 - b];
                excess.max(RBig::ZERO)
            });
        }
        let each = self.pairs().into_iter().map(|pair| {
            let after = self.then(random, pair);
            added(after.map(|next| next.leak(random, more - 1, factor)))
        });
        each.fold([RBig::ZERO, RBig::ZERO], |[x, y], [u, v]| {
            [x.max(u), y.max(v)]
        })
    }
}

fn added([one, other]: [[RBig; 2]; 2]) -> [RBig; 2] {
    [&one[0] + &other[0], &one[1] + &other[1]]
}

/// The mechanism ends after two messages, so `T = 2` is the limit.
const LIMIT: usize = 2;

/// All that the lemmas say of this history and of what follows it.
fn check(random: &Random, at: &Transcript, factor: &RBig) -> Result<(), TestCaseError> {
    let left = LIMIT - at.sent.len();
    let leaks: Vec<[RBig; 2]> = (0..=left)
        .map(|more| at.leak(random, more, factor))
        .collect();
    let limit = &leaks[left];
    for leak in &leaks {
        for b in [0, 1] {
            prop_assert!(leak[b] <= at.mu[b], "Lemma 10.12, 10.17");
            // Multiplied by e^ε.
            let (mine, other) = (
                factor * &leak[b] - &leak[1 - b],
                factor * &at.mu[b] - &at.mu[1 - b],
            );
            prop_assert!(mine <= other, "Lemma 10.8, Cor 10.16");
        }
    }
    for pair in leaks.windows(2) {
        prop_assert!(
            [0, 1].iter().all(|b| pair[0][*b] <= pair[1][*b]),
            "Lemma 10.13, 10.14"
        );
    }
    if left == 0 {
        return Ok(());
    }
    for pair in at.pairs() {
        let after = at.then(random, pair);
        let masses = added([0, 1].map(|answer: usize| after[answer].mu.clone()));
        prop_assert_eq!(&masses, &at.mu, "Lemma 10.10");
        let lower = added([0, 1].map(|answer: usize| after[answer].leak(random, left - 1, factor)));
        for b in [0, 1] {
            prop_assert!(lower[b] <= limit[b], "Lemma 10.20");
            prop_assert!(lower[b] <= at.mu[b], "Lemma 10.11");
        }
        for next in &after {
            check(random, next, factor)?;
        }
    }
    Ok(())
}

/// The total variation of all that is answered to an adversary, which takes this pair first and one of these after each
/// answer; and what Lemma 11.8 says.
fn step_by_step(random: &Random, first: Pair<bool>, second: [Pair<bool>; 2]) -> [RBig; 2] {
    let half = ratio(1, 2);
    let apart = |mu: &[RBig; 2]| {
        let gap = &mu[0] - &mu[1];
        &half * gap.clone().max(-gap)
    };
    let variation = |laws: [[RBig; 2]; 2]| laws.iter().fold(RBig::ZERO, |sum, mu| sum + apart(mu));
    let after = Transcript::new().then(random, first);
    let delta_1 = variation([after[0].mu.clone(), after[1].mu.clone()]);
    let (mut whole, mut most) = (RBig::ZERO, RBig::ZERO);
    for (at, pair) in after.iter().zip(second) {
        let ends = at.then(random, pair);
        whole += variation([ends[0].mu.clone(), ends[1].mu.clone()]);
        let given = |end: &Transcript| [0, 1].map(|b| &end.mu[b] / &at.mu[b]);
        let delta_2 = variation([given(&ends[0]), given(&ends[1])]);
        let path = RBig::ONE - (RBig::ONE - &delta_1) * (RBig::ONE - delta_2);
        most = most.max(path);
    }
    [whole, most]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// \[HSV25\] Lemma 10.8 to 10.20; and `L_0` is the δ that the auditor finds (Cor 10.7, 10.15, with equality).
    #[test]
    fn what_has_to_leak(one in random(), t in 1u64..5) {
        let factor = Factor::new(t + 1, t).unwrap();
        let start = Transcript::new();
        check(&one, &start, factor.as_rational())?;
        let [zero, other] = start.leak(&one, LIMIT, factor.as_rational());
        let delta = alone(&one, two_messages).delta(&factor).value().cloned().unwrap();
        prop_assert_eq!(zero.max(other), delta);
    }

    /// \[HSV25\] Lemma 11.8, for all adversaries; the largest total variation is the auditor's (Cor 11.2).
    #[test]
    fn variation_step_by_step(one in random()) {
        let event = |pairs: [Pair<bool>; 2]| two_messages().is_valid(&pairs);
        let mut largest = RBig::ZERO;
        for first in PAIRS {
            for low in PAIRS {
                for high in PAIRS {
                    let [whole, most] = step_by_step(&one, first, [low, high]);
                    prop_assert!(whole <= most);
                    if event([first, low]) && event([first, high]) {
                        largest = largest.max(whole);
                    }
                }
            }
        }
        prop_assert_eq!(largest, total_variation(&alone(&one, two_messages)));
    }

    /// \[HSV25\] Obs 8.9: fewer sequences, less loss.
    #[test]
    fn fewer_neighbours_cost_less(one in random(), t in 1u64..5) {
        let factor = Factor::new(t + 1, t).unwrap();
        let wide = alone(&one, two_messages).delta(&factor).value().cloned().unwrap();
        let narrow = alone(&one, || Static::new(|_: &bool, _: &bool| true));
        prop_assert!(narrow.delta(&factor).value().cloned().unwrap() <= wide);
        let none = alone(&one, || EventLevel::new().at_most(0));
        prop_assert_eq!(total_variation(&none), RBig::ZERO);
    }
}

/// `RR_{0,δ}` with a δ of so many tenths: the bit, or 2.
fn leaking(tenths: u64) -> impl Machine<Query = bool, Answer = u8> + 'static {
    let leak = Bit::new(probability(tenths, 10));
    machine(move |bit: bool, scope: &mut Scope<'_>| {
        Ok(if scope.draw(&leak)? { u8::from(bit) } else { 2 })
    })
}

fn once() -> EventLevel<bool> {
    EventLevel::new().up_to(1)
}

/// Names 1 to 9 are `RR_{0,δ}` with so many tenths; 0 is `RR_{ln 3,0}`.
fn shelf() -> Bits<measures::EpsilonDelta> {
    Catalogue::new(|name: &u8| {
        let tenths = *name;
        Some(match tenths {
            0 => Certified::swap_symmetric(loss("(1.0987, 0)"), once(), || response(4)),
            1..10 => {
                let loss = loss(&format!("(0, 0.{tenths})"));
                Certified::swap_symmetric(loss, once(), move || leaking(tenths.into()))
            }
            _ => return None,
        })
    })
}

/// Any of these next, with the pair that differs.
fn any_of(names: &'static [u8]) -> impl Fn(&[Seen]) -> Vec<Ask> + Sync {
    |history| match history.last().map(|round| &round.answer) {
        None | Some(Ok(Outcome::Answer(_))) => names.iter().map(|name| create(*name)).collect(),
        Some(Ok(Outcome::Created(at))) => vec![ask(*at, false, true)],
        Some(Err(_)) => vec![],
    }
}

fn audited(
    allowance: &ApproximateParallel,
    depth: usize,
    names: &'static [u8],
) -> Report<Ask, Outcome<u8>> {
    let shelf = shelf();
    audit(|input: Input, root: &Root| {
        game(input, root, &shelf, suitable(&shelf, allowance.clone()))
    })
    .asking(depth, any_of(names))
    .unwrap()
}

/// \[HSV25\] Lemma 5.9: δ_j chosen by answers, as long as 1 − Π(1 − δ_j) is within. Of 0.1, 0.2 and 0.3 the best that fits
/// into 0.45 is 0.2 and 0.3: 0.44, where the sum would be 0.5.
#[test]
fn leaks_multiply() {
    let most: Exact = "0.45".parse().unwrap();
    let allowance = ApproximateParallel::new(vec![Epsilon::ZERO; 4], most);
    let report = audited(&allowance, 8, &[1, 2, 3]);
    assert_eq!(total_variation(&report), ratio(44, 100));
    assert!(report.claims(&loss("(0, 0.45)")).unwrap().holds());
    let less = report.claims(&loss("(0, 0.43)")).unwrap();
    assert!(less.attack().is_some());
}

/// \[HSV25\] Lemma 5.11: two responses of ln 3 among mechanisms that leak, in any order.
#[test]
fn responses_among_leaks() {
    let ln_3: Epsilon = "1.0987".parse().unwrap();
    let slots = vec![ln_3.clone(), ln_3, Epsilon::ZERO, Epsilon::ZERO];
    let allowance = ApproximateParallel::new(slots, "0.2".parse().unwrap());
    let report = audited(&allowance, 8, &[0, 1]);
    for delta in ["0.1", "0.25", "0.5"] {
        let price = allowance
            .compose(&OptimalPure::new(delta).unwrap())
            .unwrap();
        assert!(report.claims(&price).unwrap().holds(), "{price}");
    }
    // At ε = 0: two responses have a total variation of 1/2, and two leaks of 0.19: 1 − (1 − 1/2)(1 − 0.19).
    assert_eq!(total_variation(&report), ratio(595, 1000));
    let without: measures::EpsilonDelta = loss("(0, 0.5)");
    assert!(report.claims(&without).unwrap().attack().is_some());
}
