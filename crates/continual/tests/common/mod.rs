//! Mechanisms and games that the tests share.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod sessions;

use auditor::{Factor, Input, Report, audit};
use continual::{
    Allowance, Catalogue, Certified, EventLevel, ExtConComp, Identifier, Outcome, Pair, Request,
    Suitable, SwapSymmetric, VerificationFunction, Verifier, verification,
};
use dashu_ratio::RBig;
use exact::{Exact, Round as Rounding};
use measures::EpsilonDelta;
use proptest::prelude::*;
use queryable::{
    AskError, Chain, Exchange, Machine, Queryable, Root, Scope,
    coins::{Bit, Categorical, Probability},
    machine,
};

pub fn ratio(n: i64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

pub fn probability(n: u64, d: u64) -> Probability {
    Probability::new(n, d).unwrap()
}

pub fn loss(text: &str) -> EpsilonDelta {
    text.parse().unwrap()
}

/// Names are numbers, messages are bits, answers are small numbers.
pub type Bits<L> = Catalogue<u8, bool, u8, L>;
pub type Ask = Pair<Request<u8, bool>>;
pub type Seen = Exchange<Ask, Outcome<u8>>;
pub type Game = Queryable<Ask, Outcome<u8>>;

/// The composition with a verifier and an identifier in front of it.
pub fn game<F, L: 'static>(
    input: Input,
    root: &Root,
    catalogue: &Bits<L>,
    function: F,
) -> Result<Game, AskError>
where
    F: VerificationFunction<Message = Request<u8, bool>>,
{
    let composition = root.spawn(ExtConComp::new(catalogue.clone()))?;
    let referee = Chain::new(Verifier::new(function), Identifier::new(input));
    root.postprocess(&composition, referee)
}

pub fn suitable<W: Allowance>(
    catalogue: &Bits<W::Loss>,
    allowance: W,
) -> Suitable<u8, bool, u8, W> {
    Suitable::new(catalogue.clone(), allowance)
}

pub fn create(name: u8) -> Ask {
    Pair::same(Request::Create(name))
}

pub fn ask(to: usize, zero: bool, one: bool) -> Ask {
    Pair::new(Request::ask(to, zero), Request::ask(to, one))
}

/// Every pair for so many mechanisms of one name, which are created when the adversary likes.
pub fn everything(name: u8, most: usize) -> impl Fn(&[Seen]) -> Vec<Ask> + Sync {
    move |history| {
        if history.last().is_some_and(|round| round.answer.is_err()) {
            return vec![];
        }
        let created = history
            .iter()
            .filter(|round| matches!(round.answer, Ok(Outcome::Created(_))))
            .count();
        let bits = [(false, false), (true, true), (false, true), (true, false)];
        let asks = (0..created).flat_map(|to| bits.map(|(zero, one)| ask(to, zero, one)));
        asks.chain((created < most).then(|| create(name))).collect()
    }
}

pub fn total_variation<Q, A>(report: &Report<Q, A>) -> RBig {
    report.total_variation().value().cloned().unwrap()
}

/// ⊤ with probability 1 − δ, then ⊥, and from ⊥ on the input bit (\[HSV25\] Thm 5.2). ⊤ is 2, ⊥ is 3.
pub fn m_delta(n: u64, d: u64) -> impl Machine<Query = bool, Answer = u8> + 'static {
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

/// Two messages, one of which may differ.
pub fn two_messages() -> EventLevel<bool> {
    EventLevel::new().up_to(2)
}

/// Lies one time in so many, about every message.
pub fn response(in_so_many: u64) -> impl Machine<Query = bool, Answer = u8> + 'static {
    response_at(&Factor::new(in_so_many - 1, 1).unwrap())
}

/// Randomized response with this `e^ε`, to every message.
pub fn response_at(factor: &Factor) -> impl Machine<Query = bool, Answer = u8> + use<> {
    let lie = Probability::try_from(RBig::ONE / (RBig::ONE + factor.as_rational())).unwrap();
    let lie = Bit::new(lie);
    machine(move |bit: bool, scope: &mut Scope<'_>| Ok(u8::from(scope.draw(&lie)? ^ bit)))
}

/// A small random mechanism: the law of each of two answers depends on all bits and answers so far.
#[derive(Clone, Debug)]
pub struct Random(pub Vec<u64>);

impl Random {
    /// Before any message.
    pub const START: usize = 1;

    /// Where a bit leads to, and the law of the answer there.
    pub fn heard(&self, place: usize, bit: bool) -> (usize, [Probability; 2]) {
        let place = place * 31 + usize::from(bit) * 7;
        let weight = |answer: usize| self.0[(place + answer * 13) % self.0.len()];
        let total = weight(0) + weight(1);
        (
            place,
            [0, 1].map(|answer| probability(weight(answer), total)),
        )
    }

    /// Where an answer leads to.
    pub fn said(place: usize, answer: u8) -> usize {
        place * 5 + usize::from(answer)
    }

    pub fn machine(&self) -> impl Machine<Query = bool, Answer = u8> + use<> {
        let random = self.clone();
        let mut place = Self::START;
        let mut rounds = 0;
        machine(move |bit: bool, scope: &mut Scope<'_>| {
            let (heard, law) = random.heard(place, bit);
            let law = Categorical::new([0u8, 1].into_iter().zip(law).collect());
            let answer = scope.draw(&law.map_err(|_| AskError::failed("weights"))?)?;
            place = Self::said(heard, answer);
            rounds += 1;
            if rounds == 2 {
                scope.halt();
            }
            Ok(answer)
        })
    }
}

/// A or B by a fair coin, then x (with probability d) only for the matching bit. A, B, x, y are 0, 1, 2, 3.
pub fn letters(n: u64, d: u64) -> impl Machine<Query = bool, Answer = u8> + 'static {
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

/// An identical first pair and then (0, 0), (1, 1) or (0, 1): not (1, 0).
pub fn one_way() -> impl VerificationFunction<Message = bool> {
    verification(|pairs: &[Pair<bool>]| {
        pairs.len() <= 2
            && pairs.first().is_none_or(Pair::is_identical)
            && pairs.get(1) != Some(&Pair::new(true, false))
    })
}

/// Pairs for one mechanism.
pub fn pairs(_: &[queryable::Exchange<Pair<bool>, u8>]) -> Vec<Pair<bool>> {
    let bits = [(false, false), (true, true), (false, true), (true, false)];
    bits.map(|(zero, one)| Pair::new(zero, one)).to_vec()
}

/// The mechanism alone, against all adversaries.
pub fn alone<F>(random: &Random, function: impl Fn() -> F + Sync) -> Report<Pair<bool>, u8>
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
pub fn measured(report: &Report<Pair<bool>, u8>, factor: &Factor) -> EpsilonDelta {
    let delta = report.delta(factor).value().cloned().unwrap();
    let epsilon = factor.epsilon().most;
    EpsilonDelta::new(epsilon, Exact::from_rational(&delta, Rounding::Up).unwrap()).unwrap()
}

/// Two answers to each of two messages, all with some probability.
pub fn random() -> impl Strategy<Value = Random> {
    prop::collection::vec(1u64..6, 17).prop_map(Random)
}

/// These mechanisms, by number.
pub fn certified<L: Clone + Send + Sync + 'static, F: SwapSymmetric<Message = bool>>(
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
