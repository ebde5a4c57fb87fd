//! An attack as text for a person: answers that lead to the same are one line, and there is at most a screen of them.

use std::{
    collections::BTreeMap,
    fmt::{self, Debug},
    ops::AddAssign,
};

use dashu_ratio::RBig;

use crate::{
    attack::{Attack, Play},
    explore::Heard,
    shown::decimal,
};

/// How many lines of a decision tree are printed.
const LINES: usize = 40;
/// How many characters of a query or an answer.
const WIDTH: usize = 48;
/// How many runs of answers on one line.
const RUNS: usize = 4;

impl<Q: Debug, A: Debug> fmt::Display for Attack<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.claim)?;
        let by_odds = always_accepts(&self.play);
        let tree = Printer {
            shapes: BTreeMap::new(),
            by_odds,
        }
        .group(&self.play)
        .1;
        let mut lines = vec![];
        tree.write(&mut lines, 0, "");
        for line in lines.iter().take(LINES) {
            writeln!(f, "{line}")?;
        }
        match lines.len().saturating_sub(LINES) {
            0 => Ok(()),
            more => writeln!(f, "  … {more} more lines; all of it is in `Attack::play`"),
        }
    }
}

/// Where nothing is refused, accepting tells nothing: it is the odds that tell views apart.
fn always_accepts<Q, A>(play: &Play<Q, A>) -> bool {
    match play {
        Play::Stop { accept, .. } => *accept,
        Play::Ask { answers, .. } => answers.iter().all(|(_, play)| always_accepts(play)),
    }
}

/// A decision tree in which answers that lead to the same are one.
enum Tree {
    Ask {
        query: String,
        answers: Vec<(String, Tree)>,
    },
    Stop {
        accept: bool,
        p0: RBig,
        p1: RBig,
    },
}

/// What is the same about two trees, probabilities aside. Subtrees by their number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Ask(String, Vec<(String, usize)>),
    Stop(bool, Option<RBig>),
}

struct Printer {
    shapes: BTreeMap<Shape, usize>,
    by_odds: bool,
}

impl Printer {
    fn group<Q: Debug, A: Debug>(&mut self, play: &Play<Q, A>) -> (usize, Tree) {
        match play {
            Play::Stop { accept, p0, p1 } => {
                let odds = (self.by_odds && !p0.is_zero()).then(|| p1 / p0);
                let (accept, p0, p1) = (*accept, p0.clone(), p1.clone());
                let number = self.number(Shape::Stop(accept, odds));
                (number, Tree::Stop { accept, p0, p1 })
            }
            Play::Ask { query, answers } => self.group_answers(format!("{query:?}"), answers),
        }
    }

    fn group_answers<Q: Debug, A: Debug>(
        &mut self,
        query: String,
        answers: &[(Heard<A>, Play<Q, A>)],
    ) -> (usize, Tree) {
        // In the order of the first answer of each.
        let mut groups: Vec<(usize, Vec<usize>, Tree)> = vec![];
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, (_, play)) in answers.iter().enumerate() {
            let (number, tree) = self.group(play);
            match places.get(&number) {
                Some(&place) => {
                    groups[place].1.push(at);
                    groups[place].2 += tree;
                }
                None => {
                    places.insert(number, groups.len());
                    groups.push((number, vec![at], tree));
                }
            }
        }
        let text = |at: usize| match &answers[at].0 {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => format!("error: {error}"),
        };
        let numbers = groups.iter().map(|(number, members, _)| {
            let all: Vec<String> = members.iter().map(|at| text(*at)).collect();
            (all.join("\n"), *number)
        });
        let number = self.number(Shape::Ask(query.clone(), numbers.collect()));
        let groups = groups.into_iter();
        let answers = groups.map(|(_, members, tree)| (listed(&members, text), tree));
        let answers = answers.collect();
        (number, Tree::Ask { query, answers })
    }

    fn number(&mut self, shape: Shape) -> usize {
        let next = self.shapes.len();
        *self.shapes.entry(shape).or_insert(next)
    }
}

/// Answers by their places among all answers, which are sorted: neighbours are one run.
fn listed(members: &[usize], text: impl Fn(usize) -> String) -> String {
    let runs: Vec<&[usize]> = members.chunk_by(|a, b| a + 1 == *b).collect();
    let shown = runs.iter().take(RUNS).map(|run| match run {
        [only] => cut(&text(*only)),
        [first, .., last] => {
            let dots = if run.len() == 2 { "," } else { " …" };
            format!("{}{dots} {}", cut(&text(*first)), cut(&text(*last)))
        }
        [] => String::new(),
    });
    let mut all = shown.collect::<Vec<_>>().join(", ");
    if runs.len() > RUNS {
        all += ", …";
    }
    if members.len() > 2 {
        all += &format!(" ({} answers)", members.len());
    }
    all
}

/// The text, or its beginning.
fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// The probabilities of a tree of the same shape.
impl AddAssign for Tree {
    fn add_assign(&mut self, other: Self) {
        match (self, other) {
            (Self::Stop { p0, p1, .. }, Self::Stop { p0: q0, p1: q1, .. }) => {
                *p0 += q0;
                *p1 += q1;
            }
            (Self::Ask { answers: ours, .. }, Self::Ask { answers, .. }) => {
                for ((_, ours), (_, theirs)) in ours.iter_mut().zip(answers) {
                    *ours += theirs;
                }
            }
            // Trees of the same shape are of the same kind.
            _ => {}
        }
    }
}

impl Tree {
    fn write(&self, lines: &mut Vec<String>, depth: usize, before: &str) {
        match self {
            Self::Stop { accept, p0, p1 } => {
                let verdict = if *accept { "accept" } else { "stop" };
                let (p0, p1) = (decimal(p0), decimal(p1));
                lines.push(format!("{before}{verdict}: p0 = {p0}, p1 = {p1}"));
            }
            Self::Ask { query, answers } => {
                lines.push(format!("{before}ask {}", cut(query)));
                for (answer, tree) in answers {
                    let indent = "  ".repeat(depth + 1);
                    tree.write(lines, depth + 1, &format!("{indent}{answer} → "));
                }
            }
        }
    }
}
