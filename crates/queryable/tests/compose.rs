//! Concurrent composition: handle form and message form have the same law.

#[path = "common/null_query.rs"]
mod null_query;

use std::collections::BTreeMap;

use crate::common::{adding, bit, law, root};
use dashu_ratio::RBig;
use null_query::null_query_extension;
use queryable::compose::{BoxedMachine, ConComp, Numbered, Numbering, Routed, Unparsable, ordered};
use queryable::{AskError, Machine, Queryable, Root, Scope, Transcript, machine};

/// A machine with memory, coins, errors and an end: adds coins to a running sum; refuses 9; halts after three answers.
fn part(k: u64) -> impl Machine<Query = u64, Answer = u64> {
    let (mut sum, mut answers) = (0, 0);
    let coin = bit(1, k + 2);
    machine(move |x: u64, scope: &mut Scope<'_>| {
        if x == 9 {
            return Err(AskError::invalid("nine"));
        }
        sum += k * x + u64::from(scope.draw(&coin)?);
        answers += 1;
        if answers == 3 {
            scope.halt();
        }
        Ok(sum)
    })
}

fn boxed(k: u64) -> BoxedMachine<u64, u64> {
    Box::new(part(k))
}

type Law = BTreeMap<Vec<Result<u64, AskError>>, RBig>;

fn in_handle_form(messages: &[(usize, u64)]) -> Law {
    law(|root| {
        let parts = [1, 2, 3].map(|k| root.spawn(part(k)).unwrap());
        messages
            .iter()
            .map(|&(to, query)| parts[to].ask(query))
            .collect()
    })
}

fn in_message_form(messages: &[(usize, u64)]) -> Law {
    law(|root| {
        let parts = [1, 2, 3].map(boxed).into();
        let all = root.spawn(ConComp::new(parts, Unparsable::Refuse)).unwrap();
        messages
            .iter()
            .map(|&(to, query)| all.ask(Routed { to, query }))
            .collect()
    })
}

/// The adversary of \[VW21\] Lemma 2.5: null queries bring the round to the part that is meant.
fn in_order(messages: &[(usize, u64)]) -> Law {
    law(|root| {
        let parts = [1, 2, 3]
            .map(|k| -> BoxedMachine<_, _> { Box::new(null_query_extension(part(k))) })
            .into();
        let all = root.spawn(ordered(parts)).unwrap();
        let mut turn = 0;
        let mut ask = |to: usize, query: u64| {
            while turn != to {
                let _ = all.ask(None);
                turn = (turn + 1) % 3;
            }
            let answer = all
                .ask(Some(query))
                .map(|answer| answer.expect("a query was asked"));
            if !matches!(answer, Err(AskError::InvalidQuery(_))) {
                turn = (turn + 1) % 3;
            }
            answer
        };
        messages.iter().map(|&(to, query)| ask(to, query)).collect()
    })
}

#[test]
fn all_forms_agree() {
    let sequences: [&[(usize, u64)]; 6] = [
        &[(0, 1), (1, 1), (2, 1)],
        &[(2, 1), (0, 2), (2, 3), (1, 1)],
        &[(1, 1), (1, 2), (1, 3), (1, 4), (0, 1)],
        &[(0, 9), (0, 1), (2, 9), (2, 1)],
        &[(2, 1), (2, 1), (2, 1), (2, 9), (2, 1)],
        &[],
    ];
    for messages in sequences {
        let handles = in_handle_form(messages);
        assert_eq!(handles, in_message_form(messages), "{messages:?}");
        assert_eq!(handles, in_order(messages), "{messages:?}");
    }
}

#[test]
fn every_short_sequence_agrees() {
    let alphabet: Vec<(usize, u64)> = (0..3).flat_map(|to| [1, 9].map(|q| (to, q))).collect();
    for a in &alphabet {
        for b in &alphabet {
            for c in &alphabet {
                let messages = [*a, *b, *c];
                let handles = in_handle_form(&messages);
                assert_eq!(handles, in_message_form(&messages));
                assert_eq!(handles, in_order(&messages));
            }
        }
    }
}

/// A tree: a machine answers a number, or a child.
enum Reply {
    Value(u64),
    Child(Queryable<u64, Reply>),
}

impl Numbering for Reply {
    type Query = u64;
    type Message = Result<u64, usize>;

    fn number(self, number: &mut dyn FnMut(Queryable<u64, Self>) -> usize) -> Self::Message {
        match self {
            Reply::Value(value) => Ok(value),
            Reply::Child(child) => Err(number(child)),
        }
    }
}

/// Zero spawns a child with another bias; anything else is added to a coin.
fn node(k: u64) -> impl Machine<Query = u64, Answer = Reply> {
    let coin = bit(1, k + 2);
    machine(move |x: u64, scope: &mut Scope<'_>| match x {
        0 => Ok(Reply::Child(scope.spawn(node(k + 1))?)),
        9 => Err(AskError::invalid("nine")),
        _ => Ok(Reply::Value(10 * k + x + u64::from(scope.draw(&coin)?))),
    })
}

#[test]
fn numbered_handles_have_the_law_of_handles() {
    let messages: [(usize, u64); 7] = [(0, 0), (0, 1), (1, 1), (1, 0), (2, 1), (0, 9), (7, 1)];
    let by_message = law(|root| {
        let tree = Numbered::new(root.spawn(node(1)).unwrap());
        messages
            .map(|(to, query)| tree.ask(Routed { to, query }))
            .to_vec()
    });
    let by_handle = law(|root| {
        let mut handles = vec![root.spawn(node(1)).unwrap()];
        let mut ask = |to: usize, query: u64| {
            let handle = handles.get(to).cloned();
            let reply = handle
                .ok_or(AskError::invalid(format!("nothing has number {to} yet")))?
                .ask(query)?;
            Ok(reply.number(&mut |child| {
                handles.push(child);
                handles.len() - 1
            }))
        };
        messages.map(|(to, query)| ask(to, query)).to_vec()
    });
    assert_eq!(by_message.len(), 8);
    assert_eq!(by_message, by_handle);
}

#[test]
fn an_unparsable_message_is_refused_or_halts() {
    for (unparsable, after) in [
        (Unparsable::Refuse, Ok(6)),
        (Unparsable::Halt, Err(AskError::Halted)),
    ] {
        let parts: Vec<BoxedMachine<u64, u64>> = vec![Box::new(adding())];
        let q = root().spawn(ConComp::new(parts, unparsable)).unwrap();
        assert_eq!(q.ask(Routed { to: 0, query: 5 }), Ok(5));
        let error = q.ask(Routed { to: 1, query: 5 }).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid query: part 1 of 1, counted from 0"
        );
        assert_eq!(q.ask(Routed { to: 0, query: 1 }), after);
    }
}

#[test]
fn a_part_that_dies_ends_only_itself() {
    let mortal: BoxedMachine<u64, u64> =
        Box::new(machine(|x: u64, scope: &mut Scope<'_>| match x {
            0 => panic!("zero"),
            1 => {
                scope.halt();
                Ok(1)
            }
            _ => Ok(x),
        }));
    let other: BoxedMachine<u64, u64> = Box::new(adding());
    let parts = vec![mortal, other];
    let q = root().spawn(ConComp::new(parts, Unparsable::Halt)).unwrap();
    assert_eq!(q.ask(Routed { to: 0, query: 0 }), Err(AskError::Panicked));
    assert_eq!(q.ask(Routed { to: 0, query: 2 }), Err(AskError::Panicked));
    assert_eq!(q.ask(Routed { to: 1, query: 2 }), Ok(2));
}

#[test]
fn ordered_goes_round_and_wrong_queries_do_not_count() {
    let parts: Vec<BoxedMachine<u64, u64>> = vec![Box::new(adding()), Box::new(adding())];
    let q = root().spawn(ordered(parts)).unwrap();
    let rounds = Transcript::of(&q, [1, 0, 10, 0, 2, 20]).rounds;
    let answers: Vec<_> = rounds.into_iter().map(|r| r.answer).collect();
    let wrong = || Err(AskError::invalid("zero"));
    assert_eq!(answers, [Ok(1), wrong(), Ok(10), wrong(), Ok(3), Ok(30)]);
    let nobody = root()
        .spawn(ordered(Vec::<BoxedMachine<u64, u64>>::new()))
        .unwrap();
    assert!(matches!(nobody.ask(1), Err(AskError::InvalidQuery(_))));
}

#[test]
fn null_queries_change_nothing_and_repeat_the_last_answer() {
    let q = root().spawn(null_query_extension(adding())).unwrap();
    let wrong = || Err(AskError::invalid("zero"));
    let answers: Vec<_> = [None, Some(2), None, Some(0), None, Some(3), None]
        .map(|query| q.ask(query))
        .into();
    assert_eq!(
        answers,
        [
            Ok(None),
            Ok(Some(2)),
            Ok(Some(2)),
            wrong(),
            Ok(Some(2)),
            Ok(Some(5)),
            Ok(Some(5))
        ]
    );
}

#[test]
fn compositions_nest() {
    let inner = || -> BoxedMachine<Routed<u64>, u64> {
        Box::new(ConComp::new(vec![boxed(1), boxed(2)], Unparsable::Refuse))
    };
    let messages = [(0, 0, 1), (1, 1, 2), (0, 1, 1), (0, 5, 1)];
    let composed = law(|root: &Root| {
        let q = root
            .spawn(ConComp::new(vec![inner(), inner()], Unparsable::Refuse))
            .unwrap();
        messages
            .map(|(a, b, query)| {
                q.ask(Routed {
                    to: a,
                    query: Routed { to: b, query },
                })
            })
            .to_vec()
    });
    let flat = law(|root: &Root| {
        let parts = [1, 2, 1, 2].map(|k| root.spawn(part(k)).unwrap());
        let ask = |(a, b, query): (usize, usize, u64)| {
            if b > 1 {
                return Err(AskError::invalid(format!("part {b} of 2, counted from 0")));
            }
            parts[2 * a + b].ask(query)
        };
        messages.map(ask).to_vec()
    });
    assert_eq!(composed, flat);
}
