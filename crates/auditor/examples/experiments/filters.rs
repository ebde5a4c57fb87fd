//! What `universal`, `reduction` and `adjacency` share: interactive mechanisms on a bit, launched under filters by
//! numbered messages.

use std::sync::Arc;

use auditor::Input;
use measures::{FilterRule, Measure, PrivacyMap, SymmetricDistance};
use odometer::{Any, LaunchError, Measurement, Session};
use queryable::{AskError, Exchange, Queryable};

use crate::shared::TwoRounds;

/// What an analyst can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Launches the mechanism with this number.
    Launch(usize),
    /// Asks the machine that was launched as this number.
    Query(usize, bool),
}

/// What an analyst sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// The machine was started.
    Started,
    /// Insufficient budget.
    Refused,
    /// The machine's answer.
    Bit(bool),
}

/// One bit, at distance one from the other.
pub fn bits() -> Any<u8, SymmetricDistance> {
    Any::<u8, _>::with(SymmetricDistance)
}

/// An interactive mechanism as a measurement with this loss.
pub fn measurement<M: Measure>(
    mechanism: &TwoRounds,
    measure: M,
    loss: M::Loss,
) -> Measurement<Any<u8, SymmetricDistance>, M, Queryable<bool, bool>> {
    let map = PrivacyMap::constant_up_to(measure, 1, loss);
    let mechanism = mechanism.clone();
    Measurement::new("two rounds", bits(), map, move |bit: &Arc<u8>, scope| {
        let input = if **bit == 0 { Input::Zero } else { Input::One };
        scope.spawn(mechanism.machine(input))
    })
}

/// Launches, with a refusal as an answer.
pub fn launch<R: FilterRule, A: 'static>(
    session: &Session<Any<u8, SymmetricDistance>, R>,
    measurement: &Measurement<Any<u8, SymmetricDistance>, R::Child, A>,
) -> Result<Option<A>, AskError> {
    match session.launch(measurement) {
        Ok(answer) => Ok(Some(answer)),
        Err(LaunchError::Refused(_)) => Ok(None),
        Err(other) => Err(AskError::failed(other.to_string())),
    }
}

/// Asks one of the machines that were started.
pub fn ask(
    machines: &[Queryable<bool, bool>],
    number: usize,
    query: bool,
) -> Result<Seen, AskError> {
    let machine = machines
        .get(number)
        .ok_or_else(|| AskError::invalid("no such machine"))?;
    machine.ask(query).map(Seen::Bit)
}

/// Every launch, up to a number of launches, and every query to what was started, twice at most.
pub fn offer(names: usize, launches: usize) -> impl Fn(&[Exchange<Ask, Seen>]) -> Vec<Ask> + Sync {
    move |history| {
        let launched = history
            .iter()
            .filter(|round| matches!(round.query, Ask::Launch(_)))
            .count();
        let started = history
            .iter()
            .filter(|round| round.answer == Ok(Seen::Started))
            .count();
        let asked = |machine: usize| {
            history
                .iter()
                .filter(|round| matches!(round.query, Ask::Query(m, _) if m == machine))
                .count()
        };
        let launch = (0..names).filter(|_| launched < launches).map(Ask::Launch);
        let open = (0..started).filter(|&machine| asked(machine) < 2);
        launch
            .chain(open.flat_map(|machine| [false, true].map(|query| Ask::Query(machine, query))))
            .collect()
    }
}
