//! Machines that the tests share.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod lab;

use auditor::{Input, Report, audit};
use dashu_ratio::RBig;
use proptest::prelude::*;
use queryable::{
    AskError, Exchange, Machine, Root, Scope,
    coins::{Bit, Categorical, Probability},
    machine,
};

/// A rational.
pub fn ratio(n: i64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

/// A probability.
pub fn probability(n: u64, d: u64) -> Probability {
    Probability::new(n, d).unwrap()
}

/// Randomized response on a bit: tells the truth with probability `n / d`.
pub fn randomized_response(
    input: Input,
    n: u64,
    d: u64,
) -> impl Machine<Query = (), Answer = bool> + 'static {
    let lie = Bit::new(probability(d - n, d));
    machine(move |(), scope: &mut Scope<'_>| {
        scope.halt();
        Ok(scope.draw(&lie)? ^ input.pick(false, true))
    })
}

/// [`randomized_response`], asked once.
pub fn audited_response(n: u64, d: u64) -> Report<(), bool> {
    audit(|input, root: &Root| root.spawn(randomized_response(input, n, d)))
        .asking(1, always(vec![()]))
        .unwrap()
}

/// A small random machine: at each of `rounds` rounds, an answer below `answers` with a law that depends on the input, a
/// hidden coin (if it has one), and everything asked and answered so far.
#[derive(Clone, Debug)]
pub struct Table {
    pub rounds: usize,
    pub answers: usize,
    pub hidden: bool,
    /// Weights of the answers, looked up by what happened.
    pub weights: Vec<u64>,
}

impl Table {
    /// The law of the next answer.
    fn law(&self, input: Input, coin: bool, history: &[(usize, usize)], query: usize) -> Vec<u64> {
        let mut place = input.index() * 2 + usize::from(coin) + 1;
        for (query, answer) in history {
            place = place * 31 + query * 7 + answer * 3 + 1;
        }
        place = place * 31 + query * 7;
        let weight = |answer| self.weights[(place + answer * 13) % self.weights.len()];
        (0..self.answers).map(weight).collect()
    }

    /// The machine on this input.
    pub fn machine(&self, input: Input) -> impl Machine<Query = usize, Answer = usize> + 'static {
        let table = self.clone();
        let mut coin = None;
        let mut history = vec![];
        machine(move |query: usize, scope: &mut Scope<'_>| {
            let coin = match coin {
                Some(coin) => coin,
                None if table.hidden => {
                    let drawn = scope.draw(&Bit::new(probability(1, 3)))?;
                    *coin.insert(drawn)
                }
                None => false,
            };
            if history.len() + 1 == table.rounds {
                scope.halt();
            }
            let weights = table.law(input, coin, &history, query);
            let total: u64 = weights.iter().sum();
            let outcomes = weights.iter().map(|w| probability(*w, total)).enumerate();
            let law =
                Categorical::new(outcomes.collect()).map_err(|_| AskError::failed("weights"))?;
            let answer = scope.draw(&law)?;
            history.push((query, answer));
            Ok(answer)
        })
    }
}

/// Any of these machines.
pub fn table(rounds: usize, answers: usize, hidden: bool) -> impl Strategy<Value = Table> {
    prop::collection::vec(1u64..9, 17).prop_map(move |weights| Table {
        rounds,
        answers,
        hidden,
        weights,
    })
}

/// Offers the same queries after every history.
pub fn always<Q: Clone, A>(queries: Vec<Q>) -> impl Fn(&[Exchange<Q, A>]) -> Vec<Q> {
    move |_| queries.clone()
}
