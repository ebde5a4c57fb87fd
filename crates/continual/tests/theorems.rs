//! The theorems as exact properties of random small mechanisms: what a composition costs in truth is at most its price.

mod common;

use auditor::{Factor, Input, Report, audit};
use common::{
    Ask, Bits, Random, Seen, ask, create, everything, game, suitable, total_variation, two_messages,
};
use continual::{
    Allowance, ApproximateParallel, Catalogue, Certified, ConsistentParallel, FixedParameters,
    Identifier, Outcome, Pair, PureParallel, Static, SwapSymmetric, VerificationFunction, Verifier,
};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{Basic, Epsilon, EpsilonDelta, PureDp, adaptive::ImprovedBasic};
use proptest::prelude::*;
use queryable::{Chain, Root};

fn pairs(_: &[queryable::Exchange<Pair<bool>, u8>]) -> Vec<Pair<bool>> {
    let bits = [(false, false), (true, true), (false, true), (true, false)];
    bits.map(|(zero, one)| Pair::new(zero, one)).to_vec()
}

/// The mechanism alone, against all adversaries.
fn alone<F>(random: &Random, function: impl Fn() -> F + Sync) -> Report<Pair<bool>, u8>
where
    F: VerificationFunction<Message = bool>,
{
    let build = |input: Input, root: &Root| {
        let mechanism = root.spawn(random.machine())?;
        root.postprocess(
            &mechanism,
            Chain::new(Verifier::new(function()), Identifier::new(input)),
        )
    };
    audit(build).asking(2, pairs).unwrap()
}

/// (ε, δ) of the mechanism at this factor, rounded up.
fn measured(report: &Report<Pair<bool>, u8>, factor: &Factor) -> EpsilonDelta {
    let delta = report.delta(factor).value().cloned().unwrap();
    let epsilon = factor.epsilon().most;
    EpsilonDelta::new(epsilon, Exact::from_rational(&delta, Round::Up).unwrap()).unwrap()
}

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
    .asking(6, offer)
    .unwrap()
}

/// Not (1, 1): without it, half as many histories.
fn fewer(pair: &Ask) -> bool {
    *pair != ask(0, true, true) && *pair != ask(1, true, true)
}

fn random() -> impl Strategy<Value = Random> {
    prop::collection::vec(1u64..6, 17).prop_map(Random)
}

fn certified<L: Clone + Send + Sync + 'static, F: SwapSymmetric<Message = bool>>(
    parts: Vec<(Random, L)>,
    function: impl Fn() -> F + Send + Sync + 'static,
) -> Bits<L> {
    Catalogue::new(move |name: &u8| {
        let (random, loss) = parts.get(usize::from(*name))?.clone();
        Some(Certified::swap_symmetric(loss, function(), move || {
            random.machine()
        }))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

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
        let any = || Static::new(|_: &bool, _: &bool| true);
        let loss = measured(&alone(&one, any), &factor);
        let catalogue: Bits<EpsilonDelta> = {
            let loss = loss.clone();
            Catalogue::new(move |_: &u8| {
                let one = one.clone();
                Some(Certified::first_pair_consistent(loss.clone(), any(), move || one.machine()))
            })
        };
        let slots = ConsistentParallel::new(vec![loss.clone()]);
        let report = composed(&catalogue, &slots, [0, 0]);
        prop_assert!(report.claims(&loss).unwrap().holds());
    }
}
