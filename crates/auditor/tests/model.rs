//! The auditor's δ equals that of the verified auditor in `proofs/`, least and most, as exact fractions.

use std::str::FromStr;
use std::sync::Arc;

use crate::cases::{Case, Table, letter, read, read_stored};
use auditor::{Factor, Input, audit, player};
use dashu_ratio::RBig;
use measures::{Basic, Epsilon, PrivacyMap, PureDp, SymmetricDistance};
use odometer::message::{Entry, Launchable, Launched, Message, Reply};
use odometer::{Any, Measurement, Odometer};
use queryable::{AskError, Root};

type Data = Any<u8, SymmetricDistance>;
type Ask = Message<usize, bool, u32>;

fn data() -> Data {
    Any::with(SymmetricDistance)
}

struct Menu(Vec<(Epsilon, Table)>);

impl Launchable<Data, Basic<PureDp>> for Menu {
    type Name = usize;
    type Query = bool;
    type Answer = bool;

    fn find(&self, name: &usize) -> Option<Entry<Data, Basic<PureDp>, bool, bool>> {
        let (loss, table) = self.0.get(*name)?.clone();
        let map = PrivacyMap::constant_up_to(PureDp, 1, loss);
        Some(Measurement::new(
            "entry",
            data(),
            map,
            move |bit: &Arc<u8>, scope| {
                scope
                    .spawn(table.machine(usize::from(**bit)))
                    .map(Launched::Machine)
            },
        ))
    }
}

fn answer(reply: Result<Reply<bool, Epsilon>, AskError>) -> Result<char, AskError> {
    Ok(match reply {
        Ok(Reply::Value(answer)) => letter(answer),
        Ok(Reply::Machine(_)) => 'y',
        Ok(Reply::Refused) => 'n',
        Err(AskError::InvalidQuery(_)) => 'x',
        other => panic!("{other:?}"),
    })
}

/// For each e^ε of the case: least and most δ by our auditor. A mistaken auditor forgets all histories after a first
/// answer of 1.
fn audited(case: &Case, table: impl Fn(usize) -> Table + Sync, mistaken: bool) -> Vec<[RBig; 2]> {
    let (depth, budget) = (case.number(0), case.head[1].as_str());
    let factors = case
        .deltas
        .iter()
        .map(|[n, d, ..]| Factor::new(n.parse().unwrap(), d.parse().unwrap()).unwrap());
    if budget == "0" {
        let report = audit(|input: Input, root: &Root| root.spawn(table(0).machine(input.index())))
            .asking(depth, |history| {
                let forgotten = mistaken
                    && history
                        .first()
                        .is_some_and(|round| round.answer == Ok(true));
                if forgotten { vec![] } else { vec![false, true] }
            })
            .unwrap();
        return factors
            .map(|factor| report.delta(&factor))
            .map(|delta| [delta.least, delta.most])
            .collect();
    }
    let names = 0..case.machines.len();
    let menu = || -> Menu {
        let loss = |name: usize| case.machines[name][0].parse().unwrap();
        Menu(
            names
                .clone()
                .map(|name| (loss(name), table(name)))
                .collect(),
        )
    };
    let build = |input: Input, root: &Root| {
        let odometer = Odometer::new(data(), Basic::new(PureDp));
        let budget: Epsilon = budget.parse().unwrap();
        let filter = odometer.filter_machine(1, budget, Arc::new(input.index() as u8), menu());
        let filter = root.spawn(filter.unwrap())?;
        Ok(player(move |message: Ask| answer(filter.ask(message))))
    };
    let ask = |machine, query| Message::Ask { machine, query };
    let offer = move |_: &[_]| {
        let launches = [Message::Launch(0), Message::Launch(1)];
        launches
            .into_iter()
            .chain([ask(0, false), ask(0, true), ask(1, false)])
            .collect()
    };
    let report = audit(build).asking(depth, offer).unwrap();
    factors
        .map(|factor| report.delta(&factor))
        .map(|delta| [delta.least, delta.most])
        .collect()
}

/// The verified auditor's δ: the larger of both directions.
fn verified(case: &Case) -> Vec<[RBig; 2]> {
    let deltas = case.deltas.iter().map(|[_, _, one, other]| {
        let [one, other] = [one, other].map(|text| RBig::from_str(text).unwrap());
        one.max(other)
    });
    deltas.map(|delta| [delta.clone(), delta]).collect()
}

#[test]
fn the_auditor_is_the_verified_one() {
    let cases = read("audits");
    let (mut alone, mut inside) = (0, 0);
    for (at, case) in cases.iter().enumerate() {
        let deltas = audited(case, |name| case.table(name), false);
        assert_eq!(deltas, verified(case), "audit {at}: {case:?}");
        alone += deltas
            .iter()
            .filter(|[least, _]| *least < RBig::ONE)
            .count();
        inside += deltas
            .iter()
            .filter(|[least, _]| RBig::ZERO < *least && *least < RBig::ONE)
            .count();
    }
    println!(
        "{} audits: equal; {alone} deltas below 1, {inside} of them above 0",
        cases.len()
    );
    assert!(inside > 0);
}

#[test]
fn planted_mistakes_of_an_auditor_are_found() {
    let cases = read_stored("audits");
    let found = |differs: &dyn Fn(&Case) -> bool| cases.iter().take(100).position(differs);
    let forgetful = found(&|case| audited(case, |name| case.table(name), true) != verified(case));
    println!("a history is dropped: found by audit {forgetful:?}");
    assert!(forgetful.is_some());
    let swapped = |case: &Case, name| {
        let mut table = case.table(name);
        table.0[0] ^= 2; // the other answer
        table
    };
    let swap = found(&|case| audited(case, |name| swapped(case, name), false) != verified(case));
    println!("two outcomes are swapped: found by audit {swap:?}");
    assert!(swap.is_some());
}
