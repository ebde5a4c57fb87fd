//! Cases of the model in Rocq: random finite machines, rules and messages, and the exact law or delta that the extracted,
//! verified program finds for them. The stored ones are in `proofs/tie/stored`; `ODOMETRY_CASES` names another folder.
//!
//! Lines. `f RULE BUDGET DELTA`: a filter, pure (`p`) or improved basic (`i`), delta in hundredths.
//! `s SHAPE CHANGED CAPS…`: sessions, a tree (`t`) or parts (`p`). `g AGAIN LENGTH BUDGET`: a privacy game.
//! `a DEPTH BUDGET`: an audit. `m … TABLE`: a machine, with its cost first. `c MESSAGES…`: one message for each step, or
//! `A:B`: B after the answer 1, and A else. `l ANSWERS P0 P1`: a transcript, with its probability on both data sets.
//! `d N D DELTA DELTA`: the deltas at e^ε = N/D, both ways. An answer is 0, 1, `y` (admitted), `n` (refused, or "halt"),
//! `x` (there is no such machine or name). Costs are in units of ln 2.
#![allow(dead_code, reason = "each crate uses some of it")]

use std::{collections::BTreeMap, fmt::Display};

use queryable::{
    AskError, Machine, Scope,
    coins::{Categorical, Probability},
    machine,
};

/// One case, line by line, without the first letters.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub head: Vec<String>,
    pub machines: Vec<Vec<String>>,
    pub messages: Vec<[String; 2]>,
    pub law: Vec<[String; 3]>,
    pub deltas: Vec<[String; 4]>,
}

fn words<const N: usize>(line: &str) -> [String; N] {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words.try_into().unwrap()
}

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proofs/tie/stored");

/// All cases of a file, stored or fresh.
pub fn read(name: &str) -> Vec<Case> {
    let folder = std::env::var("ODOMETRY_CASES").unwrap_or_else(|_| STORED.into());
    read_from(&folder, name)
}

/// All stored cases of a file.
pub fn read_stored(name: &str) -> Vec<Case> {
    read_from(STORED, name)
}

fn read_from(folder: &str, name: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(format!("{folder}/{name}.txt")).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let (kind, line) = line.split_once(' ').unwrap();
        let list = || line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        if ["f", "s", "g", "a"].contains(&kind) {
            cases.push(Case {
                head: list(),
                ..Case::default()
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            println!("{name}: {line}"); // the seed
            continue;
        };
        match kind {
            "m" => case.machines.push(list()),
            "c" => {
                let pair = |word: &String| match word.split_once(':') {
                    Some((otherwise, after_one)) => [otherwise.into(), after_one.into()],
                    None => [word.clone(), word.clone()],
                };
                case.messages = list().iter().map(pair).collect();
            }
            "l" => case.law.push(words(line)),
            "d" => case.deltas.push(words(line)),
            _ => panic!("{line}"),
        }
    }
    cases
}

impl Case {
    /// A number of the first line.
    pub fn number(&self, at: usize) -> usize {
        self.head[at].parse().unwrap()
    }

    /// A number of a machine's line.
    pub fn of_machine(&self, machine: usize, at: usize) -> usize {
        self.machines[machine][at].parse().unwrap()
    }

    /// The table of a machine.
    pub fn table(&self, machine: usize) -> Table {
        let digits = self.machines[machine].last().unwrap().chars();
        Table(digits.map(|c| c.to_digit(16).unwrap() as u8).collect())
    }

    /// The law on one data set, by answers.
    pub fn expected(&self, input: usize) -> BTreeMap<String, String> {
        let rows = self
            .law
            .iter()
            .filter(|[_, laws @ ..]| laws[input] != "0")
            .map(|[answers, laws @ ..]| (answers.clone(), laws[input].clone()));
        rows.collect()
    }

    /// Sends the messages, and returns the answers.
    pub fn play(&self, mut tell: impl FnMut(&str) -> char) -> String {
        let mut answers = String::new();
        for [otherwise, after_one] in &self.messages {
            let message = match answers.ends_with('1') {
                true => after_one,
                false => otherwise,
            };
            answers.push(tell(message));
        }
        answers
    }
}

/// A law with its probabilities as text.
pub fn as_text(law: BTreeMap<String, impl Display>) -> BTreeMap<String, String> {
    let rows = law.into_iter();
    rows.map(|(answers, probability)| (answers, probability.to_string()))
        .collect()
}

/// The digits of a message, after its letter.
pub fn digits(message: &str) -> Vec<usize> {
    let digits = message[1..].chars();
    digits.map(|c| c.to_digit(10).unwrap() as usize).collect()
}

/// An answer as a letter.
pub fn letter(answer: bool) -> char {
    if answer { '1' } else { '0' }
}

/// The outcomes of a machine: a digit is 4·(weight − 1) + 2·answer + next state, three for each row; rows by data, state,
/// question (a machine of a game has no data).
#[derive(Clone, Debug)]
pub struct Table(pub Vec<u8>);

impl Table {
    /// The machine on this data set.
    pub fn machine(&self, data: usize) -> impl Machine<Query = bool, Answer = bool> + use<> {
        let table = self.0[data * 12..data * 12 + 12].to_vec();
        let mut state = 0;
        machine(move |question: bool, scope: &mut Scope<'_>| {
            let row = &table[state * 6 + usize::from(question) * 3..][..3];
            let total: u64 = row.iter().map(|digit| u64::from(digit / 4 + 1)).sum();
            let law = row.iter().enumerate().map(|(at, digit)| {
                (
                    at,
                    Probability::new(u64::from(digit / 4 + 1), total).unwrap(),
                )
            });
            let law = Categorical::new(law.collect()).map_err(|_| AskError::failed("weights"))?;
            let digit = row[scope.draw(&law)?];
            state = usize::from(digit & 1);
            Ok(digit & 2 > 0)
        })
    }
}
