//! Filters and odometers of the `odometer` crate in message form, with small mechanisms to launch, ready to be audited.

use std::sync::Arc;

use auditor::{
    Claim, Factor, Input, Report, audit, player,
    simulate::{InputResponse, randomized_response},
};
use dashu_ratio::RBig;
use exact::Exact;
use measures::{FilterRule, Loss, Measure, PrivacyMap, SymmetricDistance};
use odometer::{
    Any, Measurement, Odometer,
    message::{Entry, Launchable, Launched, Message, Reply, truncated_view},
};
use queryable::{
    AskError, Exchange, Root, Scope,
    coins::{Bit, Probability},
    machine,
};

use crate::common::{Table, always};

pub type Data = Any<u8, SymmetricDistance>;
pub type Ask = Message<usize, usize, u32>;

pub fn space() -> Data {
    Any::<u8, _>::with(SymmetricDistance)
}

/// A mechanism that can be launched on a bit.
#[derive(Clone, Debug)]
pub enum Kind {
    /// RR with this `e^ε` and δ; answers a number below four.
    Response(Factor, RBig),
    /// Answers one with one probability on the first input, with another on the second.
    TwoPoint(Probability, Probability),
    /// An interactive mechanism.
    Interactive(Table),
}

impl Kind {
    pub fn response(n: u64, d: u64) -> Self {
        Self::Response(Factor::new(n, d).unwrap(), RBig::ZERO)
    }

    fn input(bit: u8) -> Input {
        if bit == 0 { Input::Zero } else { Input::One }
    }

    fn launch(&self, bit: u8, scope: &mut Scope<'_>) -> Result<Launched<usize, usize>, AskError> {
        match self {
            Self::Response(factor, delta) => {
                let rr = randomized_response(factor, delta, Self::input(bit))
                    .map_err(|why| AskError::failed(why.to_string()))?;
                let answer = scope.spawn(rr)?.ask(())?;
                Ok(Launched::Value(number(answer)))
            }
            Self::TwoPoint(zero, one) => {
                let bit = Bit::new(Self::input(bit).pick(zero.clone(), one.clone()));
                Ok(Launched::Value(usize::from(scope.draw(&bit)?)))
            }
            Self::Interactive(table) => scope
                .spawn(table.machine(Self::input(bit)))
                .map(Launched::Machine),
        }
    }

    /// The audit of this mechanism alone.
    pub fn alone(&self) -> Report<usize, usize> {
        match self.clone() {
            Self::Interactive(table) => {
                audit(|input, root: &Root| root.spawn(table.machine(input)))
                    .asking(table.rounds, always(vec![0, 1]))
                    .unwrap()
            }
            Self::TwoPoint(zero, one) => audit(move |input: Input, root: &Root| {
                let bit = Bit::new(input.pick(zero.clone(), one.clone()));
                root.spawn(machine(move |_: usize, scope: &mut Scope<'_>| {
                    scope.draw(&bit).map(usize::from)
                }))
            })
            .asking(1, always(vec![0]))
            .unwrap(),
            Self::Response(factor, delta) => audit(move |input: Input, root: &Root| {
                let rr = randomized_response(&factor, &delta, input)
                    .map_err(|why| AskError::failed(why.to_string()))?;
                let rr = root.spawn(rr)?;
                Ok(player(move |_: usize| rr.ask(()).map(number)))
            })
            .asking(1, always(vec![0]))
            .unwrap(),
        }
    }
}

pub fn number(response: InputResponse) -> usize {
    match response {
        InputResponse::Leak(input) => input.index(),
        InputResponse::Noisy(input) => 2 + input.index(),
    }
}

/// The least multiple of 2^-30 that holds as a claim, up to 8.
pub fn least_claim<L: Claim<usize, usize>>(
    report: &Report<usize, usize>,
    make: impl Fn(Exact) -> L,
) -> L {
    let unit = |n: u64| Exact::ratio(u128::from(n), 1 << 30).unwrap();
    let (mut low, mut high) = (0u64, 8 << 30);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        match report.claims(&make(unit(middle))).unwrap().holds() {
            true => high = middle,
            false => low = middle,
        }
    }
    make(unit(high))
}

/// ε of a factor, rounded up.
pub fn epsilon(factor: &Factor) -> Exact {
    factor.epsilon().most
}

/// Mechanisms with their losses.
#[derive(Clone)]
pub struct Shelf<M: Measure> {
    pub measure: M,
    pub entries: Vec<(Kind, M::Loss)>,
}

impl<M: Measure, R: FilterRule<Child = M>> Launchable<Data, R> for Shelf<M> {
    type Name = usize;
    type Query = usize;
    type Answer = usize;

    fn find(&self, name: &usize) -> Option<Entry<Data, R, usize, usize>> {
        let (kind, loss) = self.entries.get(*name)?.clone();
        let map = PrivacyMap::constant_up_to(self.measure.clone(), 1, loss);
        Some(Measurement::new(
            "entry",
            space(),
            map,
            move |bit: &Arc<u8>, scope| kind.launch(**bit, scope),
        ))
    }
}

/// What an analyst sees, with losses as text so that answers compare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    Value(usize),
    Machine(usize),
    Failed(AskError),
    Refused,
    Loss(String),
}

pub fn seen<L: Loss>(reply: Reply<usize, L>) -> Seen {
    match reply {
        Reply::Value(value) => Seen::Value(value),
        Reply::Machine(number) => Seen::Machine(number),
        Reply::Failed(error) => Seen::Failed(error),
        Reply::Refused => Seen::Refused,
        Reply::Loss(loss) => Seen::Loss(loss.to_string()),
    }
}

/// Launches of everything, and queries to every machine that was launched.
pub fn everything(names: usize) -> impl Fn(&[Exchange<Ask, Seen>]) -> Vec<Ask> + Sync {
    move |history| {
        let machines = history
            .iter()
            .filter(|round| matches!(round.answer, Ok(Seen::Machine(_))))
            .count();
        let asks =
            (0..machines).flat_map(|machine| [0, 1].map(|query| Message::Ask { machine, query }));
        (0..names).map(Message::Launch).chain(asks).collect()
    }
}

fn failed(why: impl ToString) -> AskError {
    AskError::failed(why.to_string())
}

/// A filter in message form, under audit by adversaries that choose losses from answers.
pub fn audit_filter<M, R>(
    rule: &R,
    budget: &measures::TotalLoss<R>,
    shelf: &Shelf<M>,
    depth: usize,
) -> Report<Ask, Seen>
where
    M: Measure,
    R: FilterRule<Child = M>,
{
    audit_filter_by(rule, budget, shelf, depth, everything(shelf.entries.len()))
}

/// The same, with a choice of queries.
pub fn audit_filter_by<M, R>(
    rule: &R,
    budget: &measures::TotalLoss<R>,
    shelf: &Shelf<M>,
    depth: usize,
    offer: impl Fn(&[Exchange<Ask, Seen>]) -> Vec<Ask> + Sync,
) -> Report<Ask, Seen>
where
    M: Measure,
    R: FilterRule<Child = M>,
{
    let build = |input: Input, root: &Root| {
        let machine = Odometer::new(space(), rule.clone())
            .filter_machine(
                1,
                budget.clone(),
                Arc::new(input.index() as u8),
                shelf.clone(),
            )
            .map_err(failed)?;
        let machine = root.spawn(machine)?;
        Ok(player(move |message| machine.ask(message).map(seen)))
    };
    audit(build)
        .trusting_equality()
        .asking(depth, offer)
        .unwrap()
}

/// The truncated view of an odometer at this limit.
pub fn audit_truncated<M, R>(
    rule: &R,
    limit: &measures::TotalLoss<R>,
    shelf: &Shelf<M>,
    depth: usize,
) -> Report<Ask, Seen>
where
    M: Measure,
    R: measures::Adaptive<Child = M>,
{
    let build = |input: Input, root: &Root| {
        let machine = Odometer::new(space(), rule.clone())
            .machine(Arc::new(input.index() as u8), shelf.clone());
        let machine = root.spawn(machine)?;
        let view = root.postprocess(&machine, truncated_view(1u32, limit.clone()))?;
        Ok(player(move |message| view.ask(message).map(seen)))
    };
    audit(build)
        .trusting_equality()
        .asking(depth, everything(shelf.entries.len()))
        .unwrap()
}
