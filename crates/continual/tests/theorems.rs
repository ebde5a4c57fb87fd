//! The theorems as exact properties of random small mechanisms: what a composition costs in truth is at most its price.

use std::cell::Cell;

use crate::common::{
    Ask, Bits, Random, Seen, alone, ask, certified, create, everything, game, measured, random,
    suitable, total_variation, two_messages,
};
use auditor::{Direction, Enclosure, Factor, Input, Report, audit};
use continual::{
    Allowance, ApproximateParallel, Catalogue, Certified, ConsistentParallel, EventLevel, Filtered,
    FixedParameters, Outcome, PureParallel, Static, Unlimited,
};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{
    Adaptive, Basic, Epsilon, EpsilonDelta, Loss, PureDp, RenyiDp, Tradeoff,
    adaptive::ImprovedBasic, fixed::TradeoffProduct,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use queryable::Root;

fn composed<W: Allowance>(
    catalogue: &Bits<W::Loss>,
    allowance: &W,
    names: [u8; 2],
) -> Report<Ask, Outcome<u8>> {
    let offer = |history: &[Seen]| match history.len() {
        at @ 0..2 => vec![create(names[at])],
        _ => everything(0, 2)(history)
            .into_iter()
            .filter(fewer)
            .collect(),
    };
    audit(|input: Input, root: &Root| {
        game(
            input,
            root,
            catalogue,
            suitable(catalogue, allowance.clone()),
        )
    })
    .asking(5, offer)
    .unwrap()
}

/// The Rényi divergence of this order, in the worse direction.
fn worst<Q: Clone, A: Clone>(report: &Report<Q, A>, order: u64) -> Enclosure<Exact> {
    let [one, other] = Direction::BOTH.map(|way| report.renyi(&order.into(), way).unwrap());
    if one.least < other.least { other } else { one }
}

/// Not (1, 1): without it, half as many histories.
fn fewer(pair: &Ask) -> bool {
    *pair != ask(0, true, true) && *pair != ask(1, true, true)
}

fn first_only() -> Static<bool> {
    Static::new(|_: &bool, _: &bool| true)
}

/// Two copies over static data, one of which may differ.
fn two_copies<L: Loss>(random: &Random, loss: &L) -> Report<Ask, Outcome<u8>> {
    let (random, each) = (random.clone(), loss.clone());
    let catalogue: Bits<L> = Catalogue::new(move |_: &u8| {
        let random = random.clone();
        let build = move || random.machine();
        Some(Certified::first_pair_consistent(
            each.clone(),
            first_only(),
            build,
        ))
    });
    composed(
        &catalogue,
        &ConsistentParallel::new(vec![loss.clone()]),
        [0, 0],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// \[HSV25\] Thm 4.12.
    #[test]
    fn fixed_parameters(one in random(), other in random(), t in 1u64..4) {
        let factor = Factor::new(t + 1, t).unwrap();
        let losses = [&one, &other].map(|part| measured(&alone(part, two_messages), &factor));
        let catalogue = certified(vec![(one, losses[0].clone()), (other, losses[1].clone())], two_messages);
        let slots = FixedParameters::new(losses.to_vec());
        let report = composed(&catalogue, &slots, [1, 0]);
        let price = slots.slots().total(&ImprovedBasic).unwrap();
        prop_assert!(report.claims(&price).unwrap().holds());
        prop_assert!(total_variation(&report) > RBig::ZERO);
        // Optimal composition, at a δ that both have together.
        let optimal = measures::fixed::Optimal::new(price.delta().clone()).unwrap();
        let price = slots.slots().compose(&optimal).unwrap();
        prop_assert!(!price.is_infinite() && report.claims(&price).unwrap().holds());
    }

    /// \[HSV25\] Thm 12.4: which mechanism is created next, and at which loss, depends on the answers; the filter lets as many
    /// through as fit.
    #[test]
    fn filtered(one in random(), other in random(), t in 1u64..4) {
        let factors = [Factor::new(t + 1, t).unwrap(), Factor::new(t + 3, t).unwrap()];
        let reports = [&one, &other].map(|part| alone(part, two_messages));
        // Each of two mechanisms with a loss at either factor: four names, chosen by what was heard.
        let entry = |name: usize| {
            let random = if name < 2 { &one } else { &other };
            (random.clone(), measured(&reports[name / 2], &factors[name % 2]))
        };
        let catalogue = certified((0..4).map(entry).collect(), two_messages);
        let losses: Vec<EpsilonDelta> = (0..4).map(|name| entry(name).1).collect();
        // Room for the two smallest and no more.
        let budget = ImprovedBasic.total_of(&losses[..2]).bound().clone();
        let filter = Filtered::new(ImprovedBasic, budget.clone()).unwrap();
        let report = audit(|input: Input, root: &Root| game(input, root, &catalogue, suitable(&catalogue, filter.clone())))
            .asking(6, by_answers)
            .unwrap();
        prop_assert!(report.claims(filter.price()).unwrap().holds());
    }

    /// \[HSV25\] Cor 13.4 and 13.8: Rényi losses of one order add up, fixed or under a filter.
    #[test]
    fn renyi(one in random(), other in random(), order in 2u64..5) {
        let measure = RenyiDp::new(order).unwrap();
        let loss = |random: &Random| measure.loss(worst(&alone(random, two_messages), order).most);
        let parts = vec![(one.clone(), loss(&one)), (other.clone(), loss(&other))];
        let slots = FixedParameters::new(parts.iter().map(|(_, loss)| loss.clone()).collect());
        let catalogue = certified(parts, two_messages);
        let report = composed(&catalogue, &slots, [0, 1]);
        let price = slots.slots().total(&Basic::new(measure.clone())).unwrap();
        prop_assert!(worst(&report, order).least <= *price.epsilon());
        let filter = Filtered::new(Basic::new(measure), price.clone()).unwrap();
        let report = composed(&catalogue, &filter, [1, 0]);
        prop_assert!(worst(&report, order).least <= *price.epsilon());
    }

    /// \[HSV25\] Cor 14.7: trade-off functions of mechanisms multiply, in any interleaving.
    #[test]
    fn tradeoffs(one in random(), other in random(), t in 1u64..4) {
        let factor = Factor::new(t + 1, t).unwrap();
        let loss = |random: &Random| Tradeoff::from_approx(&measured(&alone(random, two_messages), &factor));
        let parts = vec![(one.clone(), loss(&one)), (other.clone(), loss(&other))];
        let slots = FixedParameters::new(parts.iter().map(|(_, loss)| loss.clone()).collect());
        let report = composed(&certified(parts, two_messages), &slots, [0, 1]);
        let price = slots.slots().compose(&TradeoffProduct::default()).unwrap();
        prop_assert!(report.claims(&price).unwrap().holds());
    }

    /// \[HSV25\] Cor 5.5: one of two copies differs, and costs what one costs.
    #[test]
    fn pure_parallel(one in random()) {
        let report = alone(&one, two_messages);
        let factor = report.factor(&RBig::ZERO).unwrap();
        let loss = Epsilon::new(factor.epsilon().most);
        let catalogue = certified(vec![(one, loss.clone())], two_messages);
        let slots = PureParallel::new(vec![loss]);
        let report = composed(&catalogue, &slots, [0, 0]);
        prop_assert!(report.factor(&RBig::ZERO).unwrap() <= factor);
        let price = slots.slots().total(&Basic::new(PureDp)).unwrap();
        prop_assert!(report.claims(&price).unwrap().holds());
    }

    /// \[HSV25\] Thm 5.4, with a function that is swap-symmetric: both copies' δ, one copy's ε.
    #[test]
    fn approximate_parallel(one in random(), t in 1u64..4) {
        let factor = Factor::new(t + 1, t).unwrap();
        let loss = measured(&alone(&one, two_messages), &factor);
        prop_assume!(*loss.delta() < "0.4".parse().unwrap());
        let kept = Exact::ONE.checked_sub(loss.delta()).unwrap();
        let most = Exact::ONE.checked_sub(&kept.mul(&kept, Round::Down)).unwrap();
        let most = &most + &"1e-30".parse().unwrap(); // odd fractions are rounded up
        let catalogue = certified(vec![(one, loss.clone())], two_messages);
        let allowance = ApproximateParallel::new(vec![Epsilon::new(loss.epsilon().clone())], most);
        let report = composed(&catalogue, &allowance, [0, 0]);
        prop_assert!(report.claims(&allowance.basic()).unwrap().holds());
        prop_assert!(total_variation(&report) > RBig::ZERO || *loss.delta() == Exact::ZERO);
    }

    /// \[HSV25\] Thm 5.14: static data, and no δ for the copy that does not differ.
    #[test]
    fn consistent_parallel(one in random(), t in 1u64..4) {
        let factor = Factor::new(t + 1, t).unwrap();
        let loss = measured(&alone(&one, first_only), &factor);
        prop_assert!(two_copies(&one, &loss).claims(&loss).unwrap().holds());
    }

    /// \[HSV25\] Thm 13.6, Cor 13.7: the same in Rényi privacy.
    #[test]
    fn consistent_parallel_renyi(one in random(), order in 2u64..5) {
        let measure = RenyiDp::new(order).unwrap();
        let loss = measure.loss(worst(&alone(&one, first_only), order).most);
        let found = worst(&two_copies(&one, &loss), order);
        prop_assert!(found.least <= *loss.epsilon());
    }

    /// \[HSV25\] Cor 14.8, 14.9: the same in f-DP.
    #[test]
    fn consistent_parallel_tradeoffs(one in random(), t in 1u64..4) {
        let factor = Factor::new(t + 1, t).unwrap();
        let loss = Tradeoff::from_approx(&measured(&alone(&one, first_only), &factor));
        prop_assert!(two_copies(&one, &loss).claims(&loss).unwrap().holds());
    }
}

/// The answers decide which of two mechanisms is created next, and the number of rounds at which of its losses.
fn by_answers(history: &[Seen]) -> Vec<Ask> {
    match history.last().map(|round| &round.answer) {
        None => vec![create(0), create(2)],
        Some(Ok(Outcome::Created(at))) => vec![ask(*at, false, true), ask(*at, true, false)],
        Some(Ok(Outcome::Answer(answer))) => {
            let named = create(answer % 2 * 2 + (history.len() % 2) as u8);
            vec![named, ask(0, false, false), ask(0, false, true)]
        }
        Some(Err(_)) => vec![],
    }
}

/// Pure losses of one message each, and a budget for two of them: the filter keeps it, and without the filter the same adversaries
/// pass it by a third mechanism.
#[test]
fn without_its_filter_a_composition_passes_the_budget() {
    let one_message = || EventLevel::<bool>::new().up_to(1);
    let passed = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(10));
    let ran = runner.run(&(random(), random()), |(one, other)| {
        let part = |random: &Random| {
            let factor = alone(random, one_message).factor(&RBig::ZERO).unwrap();
            (random.clone(), Epsilon::new(factor.epsilon().most))
        };
        let [one, other] = [part(&one), part(&other)];
        let rule = Basic::new(PureDp);
        let budget = rule.total_of(&[one.1.clone(), other.1.clone()]);
        let filter = Filtered::new(rule, budget.bound().clone()).unwrap();
        let parts = vec![one.clone(), one, other.clone(), other];
        let catalogue = certified(parts, one_message);
        let within = |report: Report<Ask, Outcome<u8>>| {
            let verdict = report.claims(filter.price()).unwrap();
            verdict.attack().is_none()
        };
        let filtered = audit(|input: Input, root: &Root| {
            game(
                input,
                root,
                &catalogue,
                suitable(&catalogue, filter.clone()),
            )
        });
        prop_assert!(within(filtered.asking(6, by_answers).unwrap()));
        let free = audit(|input: Input, root: &Root| {
            game(
                input,
                root,
                &catalogue,
                suitable(&catalogue, Unlimited::new()),
            )
        });
        passed.set(passed.get() + u32::from(!within(free.asking(6, by_answers).unwrap())));
        Ok(())
    });
    ran.unwrap();
    assert!(passed.get() >= 5, "{} of 10 need the filter", passed.get());
}
