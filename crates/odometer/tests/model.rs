//! Filters, trees of accounts, parts and transformations have the law of the model that the theorems of `proofs/` are
//! about: transcript by transcript, as exact fractions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cases::{Case, Table, as_text, digits, letter, read, read_stored};
use crate::common::{BASIC, Numbers, Pure, PureSession, records};
use measures::adaptive::ImprovedBasic;
use measures::{ApproxDp, Epsilon, EpsilonDelta, Measure, PrivacyMap, PureDp, SymmetricDistance};
use odometer::message::{Entry, Launchable, Launched, Message, Reply};
use odometer::{Any, LaunchError, Measurement, Odometer, Transformation};
use queryable::coins::enumerate;
use queryable::{AskError, Queryable, Root};

type Data = Any<u8, SymmetricDistance>;
type Ask = Message<usize, bool, u32>;

fn data() -> Data {
    Any::with(SymmetricDistance)
}

/// What may be launched: its loss, and its table.
struct Menu<L>(Vec<(L, Table)>);

fn entry<M: Measure>(
    measure: M,
    (loss, table): &(M::Loss, Table),
) -> Measurement<Data, M, Launched<bool, bool>>
where
    M::Loss: Clone,
{
    let (table, map) = (
        table.clone(),
        PrivacyMap::constant_up_to(measure, 1, loss.clone()),
    );
    Measurement::new("entry", data(), map, move |bit: &Arc<u8>, scope| {
        scope
            .spawn(table.machine(usize::from(**bit)))
            .map(Launched::Machine)
    })
}

impl Launchable<Data, Pure> for Menu<Epsilon> {
    type Name = usize;
    type Query = bool;
    type Answer = bool;

    fn find(&self, name: &usize) -> Option<Entry<Data, Pure, bool, bool>> {
        Some(entry(PureDp, self.0.get(*name)?))
    }
}

impl Launchable<Data, ImprovedBasic> for Menu<EpsilonDelta> {
    type Name = usize;
    type Query = bool;
    type Answer = bool;

    fn find(&self, name: &usize) -> Option<Entry<Data, ImprovedBasic, bool, bool>> {
        Some(entry(ApproxDp, self.0.get(*name)?))
    }
}

fn message(text: &str) -> Ask {
    match (&text[..1], digits(text)[..].as_ref()) {
        ("L", [name]) => Message::Launch(*name),
        ("A", [machine, query]) => Message::Ask {
            machine: *machine,
            query: *query == 1,
        },
        _ => Message::Launch(999),
    }
}

fn answer<L: std::fmt::Debug>(reply: Result<Reply<bool, L>, AskError>) -> char {
    match reply {
        Ok(Reply::Value(answer)) => letter(answer),
        Ok(Reply::Machine(_)) => 'y',
        Ok(Reply::Refused) => 'n',
        Err(AskError::InvalidQuery(_)) => 'x',
        other => panic!("{other:?}"),
    }
}

/// The law of the library's filter in message form.
fn of_filter(case: &Case, input: usize) -> BTreeMap<String, String> {
    let (budget, hundredths) = (case.number(1), case.number(2));
    let names = 0..case.machines.len();
    let enumerated = enumerate(1 << 20, |script| {
        let root = Root::scripted(script);
        let bit = Arc::new(input as u8);
        if case.head[0] == "p" {
            let loss = |name: usize| -> Epsilon { case.machines[name][0].parse().unwrap() };
            let menu = names.clone().map(|name| (loss(name), case.table(name)));
            let budget: Epsilon = budget.to_string().parse().unwrap();
            let filter =
                Odometer::new(data(), BASIC).filter_machine(1, budget, bit, Menu(menu.collect()));
            let filter = root.spawn(filter.unwrap()).unwrap();
            return case.play(|text| answer(filter.ask(message(text))));
        }
        let loss = |name: usize| -> EpsilonDelta {
            let [epsilon, tenths] = [0, 1].map(|at| case.of_machine(name, at));
            format!("({epsilon}, 0.{tenths})").parse().unwrap()
        };
        let menu = names.clone().map(|name| (loss(name), case.table(name)));
        let budget: EpsilonDelta = format!("({budget}, 0.{hundredths:02})").parse().unwrap();
        let filter = Odometer::new(data(), ImprovedBasic).filter_machine(
            1,
            budget,
            bit,
            Menu(menu.collect()),
        );
        let filter = root.spawn(filter.unwrap()).unwrap();
        case.play(|text| answer(filter.ask(message(text))))
    });
    as_text(enumerated.unwrap().law())
}

#[test]
fn filters_have_the_law_of_the_model() {
    let (mut transcripts, mut refusals) = (0, 0);
    let cases = read("filters");
    for (at, case) in cases.iter().enumerate() {
        for input in [0, 1] {
            let law = of_filter(case, input);
            assert_eq!(
                law,
                case.expected(input),
                "filter {at}, data {input}: {case:?}"
            );
            transcripts += law.len();
            refusals += law.keys().filter(|answers| answers.contains('n')).count();
        }
    }
    println!(
        "{} filters, {transcripts} transcripts, {refusals} with refusals: equal",
        cases.len()
    );
    assert!(refusals > 0 && transcripts > refusals);
}

/// The sessions of a case, by place: a tree (the root, team 1, team 2, a sub-team of team 1), or parts (all data, part 1,
/// part 2, an account in part 1).
fn sessions(case: &Case, root: &Root, input: usize) -> [PureSession; 4] {
    let parts = case.head[0] == "p";
    let cap = |at: usize| case.head[2 + at].as_str();
    let changed = case.number(1);
    // A record is its part, and twice its bit.
    let record = |part: usize| {
        let bit = if part == changed { input } else { 1 };
        (part - 1 + 2 * bit) as i64
    };
    let rows = match parts {
        true => vec![record(1), record(2)],
        false => vec![2 * input as i64],
    };
    let all = Odometer::new(records(), BASIC)
        .open_in(root, Arc::new(rows))
        .unwrap();
    let all = all.nested("all").capped(1, cap(0)).open().unwrap();
    if parts {
        let partition = all.partition(|record: &i64| record % 2).unwrap();
        let [one, two] = [0, 1].map(|key| partition.part(key).unwrap());
        let inner = one.nested("inner").capped(1, cap(3)).open().unwrap();
        return [all, one, two, inner];
    }
    let team = |name: &str, at| all.nested(name).capped(1, cap(at)).open().unwrap();
    let [one, two] = [team("one", 1), team("two", 2)];
    let inner = one.nested("inner").capped(1, cap(3)).open().unwrap();
    [all, one, two, inner]
}

/// A measurement that starts the machine of a name on the bit of the record that may change; behind a transformation, if its
/// factor is 2.
fn measurement(case: &Case, name: usize) -> Measurement<Numbers, PureDp, Queryable<bool, bool>> {
    let table = case.table(name);
    let changed = case.number(1) as i64 - 1;
    let map = PrivacyMap::per_record(PureDp, case.machines[name][0].as_str()).unwrap();
    let start = move |rows: &Arc<Vec<i64>>, scope: &mut queryable::Scope<'_>| {
        let its = |row: &&i64| rows.len() == 1 || **row % 2 == changed;
        let bit = rows.iter().find(its).unwrap() / 2;
        scope.spawn(table.machine(bit as usize))
    };
    let plain = Measurement::new("machine", records(), map, start);
    if case.of_machine(name, 2) == 1 {
        return plain;
    }
    let flip = case.of_machine(name, 3) as i64 * 2;
    let flipped = move |rows: &Vec<i64>| Ok(rows.iter().map(|row| row ^ flip).collect());
    (&Transformation::multiplying(records(), records(), 2, flipped) >> &plain).unwrap()
}

/// The law of the library's sessions.
fn of_sessions(case: &Case, input: usize) -> BTreeMap<String, String> {
    let names = 0..case.machines.len();
    let measurements: Vec<_> = names.map(|name| measurement(case, name)).collect();
    let enumerated = enumerate(1 << 20, |script| {
        let sessions = sessions(case, &Root::scripted(script), input);
        let mut children = Vec::new();
        case.play(|text| match (&text[..1], digits(text)[..].as_ref()) {
            ("L", [name]) => {
                let session = &sessions[case.of_machine(*name, 1)];
                match session.launch(&measurements[*name]) {
                    Ok(child) => children.push(child),
                    Err(LaunchError::Refused(_)) => return 'n',
                    Err(other) => panic!("{other:?}"),
                }
                'y'
            }
            ("A", [child, question]) => match children.get(*child) {
                Some(child) => letter(child.ask(*question == 1).unwrap()),
                None => 'x',
            },
            _ => 'x',
        })
    });
    as_text(enumerated.unwrap().law())
}

#[test]
fn trees_and_parts_have_the_law_of_the_model() {
    let (mut transcripts, mut refusals) = (0, 0);
    let cases = read("sessions");
    for (at, case) in cases.iter().enumerate() {
        for input in [0, 1] {
            let law = of_sessions(case, input);
            assert_eq!(
                law,
                case.expected(input),
                "session {at}, data {input}: {case:?}"
            );
            transcripts += law.len();
            refusals += law.keys().filter(|answers| answers.contains('n')).count();
        }
    }
    println!(
        "{} sessions, {transcripts} transcripts, {refusals} with refusals: equal",
        cases.len()
    );
    assert!(refusals > 0 && transcripts > refusals);
}

/// Mistakes that are planted in a small admission of our own, over the same machines.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    None,
    OneTooMany,
    ForgetsAfterRefusal,
    SkipsALevel,
    ChargesTheNeighbour,
    OutcomesSwapped,
}

/// Which accounts a launch is charged to, by the case's own line; all of them in a filter.
fn path(case: &Case, name: usize, mistake: Mistake) -> Vec<usize> {
    let filter = case.head.len() == 3;
    let place = if filter { 0 } else { case.of_machine(name, 1) };
    let mut path = match (case.head[0].as_str(), place) {
        ("p", 0) if !filter => vec![1, 2],
        ("p", 3) => vec![3, 1],
        ("p", part) if !filter => vec![part],
        (_, 0) => vec![0],
        (_, 3) => vec![3, 1, 0],
        (_, team) => vec![team, 0],
    };
    if mistake == Mistake::SkipsALevel && path.len() == 3 {
        path.remove(1);
    }
    if mistake == Mistake::ChargesTheNeighbour && path.len() == 1 && !filter {
        path[0] = 3 - path[0];
    }
    path
}

/// The law of the small admission over the case's machines, with a mistake.
fn with_mistake(case: &Case, input: usize, mistake: Mistake) -> BTreeMap<String, String> {
    let filter = case.head.len() == 3;
    let cap = |account: usize| case.number(if filter { 1 } else { 2 + account });
    let swapped = |mut table: Table| {
        table.0[0] ^= 2; // the other answer
        table
    };
    let enumerated = enumerate(1 << 20, |script| {
        let root = Root::scripted(script);
        let (mut spent, mut last) = ([0; 4], Vec::new());
        let mut children = Vec::new();
        case.play(|text| match (&text[..1], digits(text)[..].as_ref()) {
            ("L", [name]) => {
                let factor = if filter { 1 } else { case.of_machine(*name, 2) };
                let cost = case.of_machine(*name, 0) * factor;
                let path = path(case, *name, mistake);
                let more = usize::from(mistake == Mistake::OneTooMany);
                if path.iter().any(|at| spent[*at] + cost > cap(*at) + more) {
                    if mistake == Mistake::ForgetsAfterRefusal {
                        for (account, cost) in last.drain(..) {
                            spent[account] -= cost;
                        }
                    }
                    return 'n';
                }
                last = path.iter().map(|account| (*account, cost)).collect();
                path.iter().for_each(|account| spent[*account] += cost);
                let table = match mistake {
                    Mistake::OutcomesSwapped => swapped(case.table(*name)),
                    _ => case.table(*name),
                };
                let flip = if filter { 0 } else { case.of_machine(*name, 3) };
                let place = if filter { 0 } else { case.of_machine(*name, 1) };
                let part = [case.number(1), 1, 2, 1][place];
                let unchanged = !filter && case.head[0] == "p" && part != case.number(1);
                let bit = if unchanged { 1 } else { input };
                children.push(root.spawn(table.machine(bit ^ flip)).unwrap());
                'y'
            }
            ("A", [child, question]) => match children.get(*child) {
                Some(child) => letter(child.ask(*question == 1).unwrap()),
                None => 'x',
            },
            _ => 'x',
        })
    });
    as_text(enumerated.unwrap().law())
}

/// The first case that finds the mistake.
fn found(cases: &[Case], mistake: Mistake) -> Option<usize> {
    cases.iter().position(|case| {
        [0, 1]
            .iter()
            .any(|input| with_mistake(case, *input, mistake) != case.expected(*input))
    })
}

#[test]
fn planted_mistakes_are_found() {
    let pure = |case: &Case| case.head.len() != 3 || case.head[0] == "p";
    let few = |name| -> Vec<Case> {
        read_stored(name)
            .into_iter()
            .filter(pure)
            .take(300)
            .collect()
    };
    let (filters, sessions) = (few("filters"), few("sessions"));
    assert_eq!(found(&filters, Mistake::None), None);
    assert_eq!(found(&sessions, Mistake::None), None);
    for mistake in [
        Mistake::OneTooMany,
        Mistake::ForgetsAfterRefusal,
        Mistake::OutcomesSwapped,
    ] {
        let case = found(&filters, mistake);
        println!("{mistake:?}: found by filter {case:?}");
        assert!(case.is_some(), "{mistake:?}");
    }
    for mistake in [Mistake::SkipsALevel, Mistake::ChargesTheNeighbour] {
        let case = found(&sessions, mistake);
        println!("{mistake:?}: found by session {case:?}");
        assert!(case.is_some(), "{mistake:?}");
    }
}
