//! The privacy game of a concurrent composition (verifier, identifier, mechanisms created by a filter) has the law of the
//! model that the theorems of `proofs/` are about: transcript by transcript, as exact fractions.

use std::collections::BTreeMap;

use crate::cases::{Case, as_text, digits, letter, read, read_stored};
use continual::{
    Catalogue, Certified, EventLevel, ExtConComp, Filtered, Identifier, Outcome, Pair, Request,
    Suitable, Verifier,
};
use measures::{Basic, Epsilon, PureDp};
use queryable::{AskError, Chain, Root, coins::enumerate};

type Names = Catalogue<u8, bool, bool, Epsilon>;

/// The machines of the case. Neighbouring streams have at most `most` messages and differ in at most `differences` pairs.
fn catalogue(case: &Case, differences: usize) -> Names {
    let (case, most) = (case.clone(), case.number(1));
    Catalogue::new(move |name: &u8| {
        let name = usize::from(*name);
        let loss = case.machines.get(name)?[0].parse().unwrap();
        let table = case.table(name);
        let neighbours = EventLevel::new().up_to(most).at_most(differences);
        Some(Certified::swap_symmetric(loss, neighbours, move || {
            table.machine(0)
        }))
    })
}

fn message(text: &str) -> Pair<Request<u8, bool>> {
    let create = |name: &usize| Request::Create(*name as u8);
    let ask = |to: &usize, question: &usize| Request::ask(*to, *question == 1);
    match (&text[..1], digits(text)[..].as_ref()) {
        ("C", [name]) => Pair::same(create(name)),
        ("D", [one, other]) => Pair::new(create(one), create(other)),
        ("A", [to, left, right]) => Pair::new(ask(to, left), ask(to, right)),
        ("B", [one, other, question]) => Pair::new(ask(one, question), ask(other, question)),
        _ => panic!("{text}"),
    }
}

/// The law of the library's game, where `differences` pairs may differ.
fn of_game(case: &Case, input: usize, differences: usize) -> BTreeMap<String, String> {
    let enumerated = enumerate(1 << 20, |script| {
        let root = Root::scripted(script);
        let catalogue = catalogue(case, differences);
        let composition = root.spawn(ExtConComp::new(catalogue.clone())).unwrap();
        let filter = Filtered::new(Basic::new(PureDp), case.head[2].as_str()).unwrap();
        let verifier = Verifier::new(Suitable::new(catalogue, filter));
        let verifier = match case.number(0) {
            1 => verifier.refusing(),
            _ => verifier,
        };
        let referee = Chain::new(verifier, Identifier::new(input == 1));
        let game = root.postprocess(&composition, referee).unwrap();
        case.play(|text| match game.ask(message(text)) {
            Ok(Outcome::Created(_)) => 'y',
            Ok(Outcome::Answer(answer)) => letter(answer),
            Err(AskError::InvalidQuery(_) | AskError::Halted) => 'n',
            other => panic!("{other:?}"),
        })
    });
    as_text(enumerated.unwrap().law())
}

#[test]
fn games_have_the_law_of_the_model() {
    let (mut transcripts, mut refusals) = (0, 0);
    let cases = read("games");
    for (at, case) in cases.iter().enumerate() {
        for input in [0, 1] {
            let law = of_game(case, input, 1);
            assert_eq!(
                law,
                case.expected(input),
                "game {at}, data {input}: {case:?}"
            );
            transcripts += law.len();
            refusals += law.keys().filter(|answers| answers.contains('n')).count();
        }
    }
    println!(
        "{} games, {transcripts} transcripts, {refusals} with refusals: equal",
        cases.len()
    );
    assert!(refusals > 0 && transcripts > refusals);
}

#[test]
fn a_verifier_that_passes_an_invalid_pair_is_found() {
    let differs = |case: &Case| of_game(case, 1, 2) != case.expected(1);
    let case = read_stored("games").iter().position(differs);
    println!("two differing pairs: found by game {case:?}");
    assert!(case.is_some());
}
