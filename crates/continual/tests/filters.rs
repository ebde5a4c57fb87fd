//! Filters over continual mechanisms, in the privacy game: the adversary sends pairs, and chooses mechanisms and losses by
//! the answers. What a filter lets through is within its budget; a smaller claim, no filter, and a rule that is none are
//! refuted.

use std::sync::Mutex;

use crate::common::{
    Ask, Bits, Random, Seen, alone, ask, certified, create, game, loss, m_delta, measured,
    probability, random, response, response_at, suitable, total_variation, two_messages,
};
use auditor::{Claim, Factor, Input, Report, audit};
use continual::{
    Allowance, Catalogue, Certified, EventLevel, Filtered, Outcome, SwapSymmetric, Unlimited,
};
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::{
    Adaptive, ApproxDp, Basic, Conversion, Epsilon, EpsilonDelta, FilterRule, FixedRule,
    Interleaving, Loss, Measure, Mu, MuDelta, Profile, Rule, RuleError, Tallied, Tally, Total,
    Tradeoff, TradeoffDp, Zcdp,
    adaptive::{ApproxGaussianComposition, GaussianComposition, ImprovedBasic},
    convert::{
        ApproxToApproxGaussian, TradeoffToApproxGaussian, profile_to_tradeoff, pure_to_zcdp,
        tradeoff_to_gaussian,
    },
    fixed::TradeoffProduct,
};
use proptest::prelude::*;
use queryable::{Root, Scope, coins::Bit, machine};

fn audited<W: Allowance>(
    catalogue: &Bits<W::Loss>,
    allowance: &W,
    depth: usize,
    offer: impl Fn(&[Seen]) -> Vec<Ask> + Sync,
) -> Report<Ask, Outcome<u8>> {
    audit(|input: Input, root: &Root| {
        let function = suitable(catalogue, allowance.clone());
        game(input, root, catalogue, function)
    })
    .asking(depth, offer)
    .unwrap()
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

/// Create, send what differs, and so on.
fn one_after_the_other(history: &[Seen]) -> Vec<Ask> {
    match history.last().map(|round| &round.answer) {
        None | Some(Ok(Outcome::Answer(_))) => vec![create(0)],
        Some(Ok(Outcome::Created(at))) => vec![ask(*at, false, true)],
        Some(Err(_)) => vec![],
    }
}

/// A trade-off function of the mechanism: pure at one ε, and something better at another.
fn tradeoff(random: &Random, factor: &Factor) -> Tradeoff {
    let report = alone(random, two_messages);
    let pure = report.factor(&RBig::ZERO).unwrap();
    let claims = [&pure, factor].map(|factor| measured(&report, factor));
    profile_to_tradeoff(&Profile::new(claims))
}

/// Each of two mechanisms with two losses.
fn shelf<L: Loss>(parts: [&Random; 2], at: impl Fn(&Random, usize) -> L) -> Vec<(Random, L)> {
    let entry = |name: usize| (parts[name / 2].clone(), at(parts[name / 2], name % 2));
    (0..4).map(entry).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// \[HSV25\] Cor 14.10, with f-DP brought in by its least Gaussian bound.
    #[test]
    fn tradeoffs_by_their_gaussian_bounds(one in random(), other in random(), t in 1u64..4) {
        let factors = [Factor::new(t + 1, t).unwrap(), Factor::new(t + 3, t).unwrap()];
        let parts = shelf([&one, &other], |random, at| tradeoff_to_gaussian(&tradeoff(random, &factors[at])));
        let losses: Vec<Mu> = parts.iter().map(|(_, loss)| loss.clone()).collect();
        prop_assert!(losses.iter().all(|mu| mu.value().is_finite()));
        let budget = GaussianComposition.total_of(&losses[..2]).bound().clone();
        let filter = Filtered::new(GaussianComposition, budget).unwrap();
        let report = audited(&certified(parts, two_messages), &filter, 6, by_answers);
        prop_assert!(report.claims(filter.price()).unwrap().holds());
    }

    /// The same with a δ that is split off, more or less of it: what is let through is within (μ, δ).
    #[test]
    fn tradeoffs_by_their_gaussian_bounds_and_deltas(one in random(), other in random(), t in 1u64..4, d in 1u64..9) {
        let factor = Factor::new(t + 1, t).unwrap();
        let parts = shelf([&one, &other], |random, at| {
            let split = TradeoffToApproxGaussian::new(Exact::ratio((d * at as u64).into(), 64).unwrap());
            split.unwrap().convert(&tradeoff(random, &factor)).unwrap()
        });
        let losses: Vec<MuDelta> = parts.iter().map(|(_, loss)| loss.clone()).collect();
        let budget = ApproxGaussianComposition.total_of(&losses[1..3]).bound().clone();
        prop_assert!(!budget.is_infinite());
        let filter = Filtered::new(ApproxGaussianComposition, budget).unwrap();
        let report = audited(&certified(parts, two_messages), &filter, 5, by_answers);
        prop_assert!(report.claims(filter.price()).unwrap().holds());
    }

    /// \[HSV25\] Cor 13.8 at every order.
    #[test]
    fn concentrated(one in random(), other in random(), extra in 0u8..3) {
        let parts = shelf([&one, &other], |random, at| {
            let pure = alone(random, two_messages).factor(&RBig::ZERO).unwrap();
            let more = &pure.epsilon().most + &Exact::from(extra * at as u8);
            pure_to_zcdp(&Epsilon::new(more))
        });
        let losses: Vec<_> = parts.iter().map(|(_, loss)| loss.clone()).collect();
        let rule = Basic::new(Zcdp);
        let filter = Filtered::new(rule, rule.total_of(&losses[..2]).bound().clone()).unwrap();
        let report = audited(&certified(parts, two_messages), &filter, 5, by_answers);
        prop_assert!(report.claims(filter.price()).unwrap().holds());
    }
}

/// One mechanism, named 0, with this loss.
fn only<L: Loss, M, F>(
    loss: L,
    function: impl Fn() -> F + Send + Sync + 'static,
    build: impl Fn() -> M + Clone + Send + Sync + 'static,
) -> Bits<L>
where
    M: queryable::Machine<Query = bool, Answer = u8> + 'static,
    F: SwapSymmetric<Message = bool>,
{
    Catalogue::new(move |name: &u8| {
        let entry = Certified::swap_symmetric(loss.clone(), function(), build.clone());
        (*name == 0).then_some(entry)
    })
}

fn once() -> EventLevel<bool> {
    EventLevel::new().up_to(1)
}

/// Three copies would need μ = 2.02, two need 1.69, and the filter's budget is √2 times 1.349: it lets two through.
#[test]
fn a_gaussian_budget() {
    let response_3 = Tradeoff::from_approx(&loss("(1.0986122886681099, 0)"));
    let mu = tradeoff_to_gaussian(&response_3);
    let catalogue = only(mu, once, || response(4));
    let filter = Filtered::new(GaussianComposition, "1.908").unwrap();
    let kept = audited(&catalogue, &filter, 6, one_after_the_other);
    assert!(kept.claims(filter.price()).unwrap().holds());
    let claims = |mu: &str, report: &Report<_, _>| {
        let verdict = report.claims(&mu.parse::<Mu>().unwrap()).unwrap();
        (verdict.holds(), verdict.attack().is_some())
    };
    assert_eq!(claims("1.70", &kept), (true, false));
    assert_eq!(claims("1.68", &kept), (false, true));
    let free = audited(&catalogue, &Unlimited::new(), 6, one_after_the_other);
    assert_eq!(claims("1.908", &free), (false, true));
    assert_eq!(claims("2.03", &free), (true, false));
}

/// Tells everything one time in ten, and lies one time in four otherwise, to one message: μ = 1.349 and δ = 0.1. Two copies fit.
#[test]
fn a_gaussian_budget_with_a_delta() {
    let leaky = || {
        let (leak, lie) = (probability(1, 10), probability(1, 4));
        let (leak, lie) = (Bit::new(leak), Bit::new(lie));
        machine(
            move |bit: bool, scope: &mut Scope<'_>| match scope.draw(&leak)? {
                true => Ok(2 + u8::from(bit)),
                false => Ok(u8::from(scope.draw(&lie)? ^ bit)),
            },
        )
    };
    let pure = ApproxToApproxGaussian.convert(&loss("(1.0986122886681099, 0.1)"));
    let catalogue = only(pure.unwrap(), once, leaky);
    let filter = Filtered::new(ApproxGaussianComposition, "(1.908, 0.2)").unwrap();
    let kept = audited(&catalogue, &filter, 6, one_after_the_other);
    assert!(kept.claims(filter.price()).unwrap().holds());
    let claims = |loss: &str, report: &Report<_, _>| {
        let verdict = report.claims(&loss.parse::<MuDelta>().unwrap()).unwrap();
        (verdict.holds(), verdict.attack().is_some())
    };
    assert_eq!(claims("(1.70, 0.19)", &kept), (true, false));
    // Either of the sums alone is not enough, nor the larger δ in the place of the sum.
    assert_eq!(claims("(1.6, 0.2)", &kept), (false, true));
    assert_eq!(claims("(1.908, 0.1)", &kept), (false, true));
    let free = audited(&catalogue, &Unlimited::new(), 6, one_after_the_other);
    assert_eq!(claims("(1.908, 0.2)", &free), (false, true));
    assert_eq!(claims("(2.337, 0.3)", &free), (true, false));
    // A budget of μ that is open wide does not pay for δ.
    let narrow = Filtered::new(ApproxGaussianComposition, "(9, 0.19)").unwrap();
    let kept = audited(&catalogue, &narrow, 6, one_after_the_other);
    assert_eq!(claims("(1.35, 0.1)", &kept), (true, false));
}

/// A copy that fails says so, and only then gets the pair that differs: both copies that fit count.
#[test]
fn an_approximate_budget_is_reached() {
    let [budget, less] = ["(0, 0.1900001)", "(0, 0.18)"].map(loss);
    reached(loss("(0, 0.1)"), ImprovedBasic, &budget, &less);
    let [each, budget, less] =
        ["(0, 0.1)", "(0, 0.2)", "(0, 0.18)"].map(|text| text.parse::<MuDelta>().unwrap());
    reached(each, ApproxGaussianComposition, &budget, &less);
}

fn reached<L, R>(each: L, rule: R, budget: &L, less: &L)
where
    L: Loss + Claim<Ask, Outcome<u8>>,
    R: Adaptive<Child: Measure<Loss = L>, Total: Measure<Loss = L>>,
{
    let catalogue = only(each, two_messages, || m_delta(1, 10));
    let first_bad = |history: &[Seen]| match history.last().map(|round| &round.answer) {
        None | Some(Ok(Outcome::Answer(2))) => vec![create(0)],
        Some(Ok(Outcome::Created(at))) => vec![ask(*at, false, false)],
        Some(Ok(Outcome::Answer(3))) => {
            let copies = history
                .iter()
                .filter(|round| matches!(round.answer, Ok(Outcome::Created(_))));
            vec![ask(copies.count() - 1, false, true)]
        }
        _ => vec![],
    };
    let filter = Filtered::new(rule, budget.clone()).unwrap();
    let report = audited(&catalogue, &filter, 8, first_bad);
    assert_eq!(total_variation(&report), crate::common::ratio(19, 100));
    assert!(report.claims(filter.price()).unwrap().holds());
    let less = report.claims(less).unwrap();
    assert!(less.attack().is_some());
}

/// The product of all trade-off functions so far, compared with the budget: no filter.
#[derive(Clone, Debug)]
struct ProductAsFilter;

#[derive(Clone, Debug, PartialEq)]
struct Product(Tradeoff);

/// Products that were made before: there are few, and each is asked for at every replay.
static KNOWN: Mutex<Vec<([Tradeoff; 2], Tradeoff)>> = Mutex::new(Vec::new());

impl Product {
    fn times(&mut self, other: &Tradeoff) {
        let both = [self.0.clone(), other.clone()];
        let mut known = KNOWN.lock().unwrap();
        if let Some((_, product)) = known.iter().find(|(factors, _)| *factors == both) {
            self.0 = product.clone();
            return;
        }
        self.0 = TradeoffProduct::default().compose(&both).unwrap();
        known.push((both, self.0.clone()));
    }
}

impl Tally for Product {
    type Loss = Tradeoff;
    fn absorb(&mut self, loss: &Tradeoff, n: u64) {
        (0..n).for_each(|_| self.times(loss));
    }
    fn merge(&mut self, other: &Self) {
        self.times(&other.0);
    }
    fn join(&mut self, other: &Self) {
        self.merge(other);
    }
}

impl Rule for ProductAsFilter {
    type Child = TradeoffDp;
    type Total = TradeoffDp;
    const INTERLEAVING: Interleaving = Interleaving::ConcurrentFinite;
    fn child(&self) -> TradeoffDp {
        TradeoffDp
    }
    fn total(&self) -> TradeoffDp {
        TradeoffDp
    }
}

impl Tallied for ProductAsFilter {
    type Tally = Product;
    fn start(&self) -> Product {
        Product(TradeoffDp.zero())
    }
}

impl FilterRule for ProductAsFilter {
    type Gate = Tradeoff;
    fn open(&self, budget: &Tradeoff) -> Result<Tradeoff, RuleError> {
        Ok(budget.clone())
    }
    fn fits(&self, gate: &Tradeoff, tally: &Product) -> bool {
        tally.0.at_most(gate)
    }
    fn remaining(&self, _: &Tradeoff, _: &Product) -> Option<Tradeoff> {
        None
    }
    fn spent(&self, gate: &Tradeoff, _: &Product) -> Total<Tradeoff> {
        Total::new(gate.clone())
    }
}

/// Responses with these ε, each to one message.
fn responses<L: Loss>(make: impl Fn(&EpsilonDelta) -> L) -> Bits<L> {
    let entries = ["(0.25, 0)", "(1.49557, 0)", "(0.592719, 0)"].map(|text| {
        let loss = loss(text);
        let t = loss.epsilon().exp(Round::Down).to_f64(Round::Down);
        let factor = Factor::new((t * 1e9) as u64, 1_000_000_000).unwrap();
        (factor, make(&loss))
    });
    Catalogue::new(move |name: &u8| {
        let (factor, loss) = entries.get(usize::from(*name))?.clone();
        Some(Certified::swap_symmetric(loss, once(), move || {
            response_at(&factor)
        }))
    })
}

/// After a small response, its answer decides between one large response and four middle ones. Either way fits, if the
/// product is all that counts; together they pass the budget (1.5, 0.1): the truth is δ = 0.13483.
#[test]
fn products_of_tradeoffs_are_no_filter() {
    let offer = |history: &[Seen]| match history.last().map(|round| (&round.query, &round.answer)) {
        None => vec![create(0)],
        Some((_, Ok(Outcome::Created(at)))) => vec![ask(*at, false, true)],
        Some((_, Ok(Outcome::Answer(_)))) => match history.get(2).map(|round| &round.query) {
            None => vec![create(1), create(2)],
            Some(query) if *query == create(2) => vec![create(2)],
            Some(_) => vec![],
        },
        Some((_, Err(_))) => vec![],
    };
    let budget = Tradeoff::from_approx(&loss("(1.5, 0.1)"));
    let wrong = Filtered::new(ProductAsFilter, budget.clone()).unwrap();
    let report = audited(&responses(Tradeoff::from_approx), &wrong, 10, offer);
    assert!(report.claims(&budget).unwrap().attack().is_some());
    assert!(
        report
            .claims(&loss("(1.5, 0.1)"))
            .unwrap()
            .attack()
            .is_some()
    );
    let high = Factor::of_epsilon(&"1.5".parse().unwrap(), Round::Up).unwrap();
    let delta = report.delta(&high).least.to_f64().value();
    assert!((delta - 0.13483).abs() < 5e-6, "{delta}");

    // The same mechanisms by their Gaussian bounds, under a Gaussian filter that is open as wide: μ = 2 is (1.5, 0.38).
    let bound = |loss: &EpsilonDelta| tradeoff_to_gaussian(&Tradeoff::from_approx(loss));
    let filter = Filtered::new(GaussianComposition, "2").unwrap();
    let report = audited(&responses(bound), &filter, 10, offer);
    assert!(report.claims(filter.price()).unwrap().holds());
    // And by their (ε, δ) under basic composition.
    let filter = Filtered::new(Basic::new(ApproxDp), "(1.5, 0.1)").unwrap();
    let report = audited(&responses(EpsilonDelta::clone), &filter, 10, offer);
    assert!(report.claims(filter.price()).unwrap().holds());
    assert!(TradeoffDp.zero().at_most(&budget));
}
