//! What the types promise: threads, secrecy of `Debug`, comparable and serializable messages.

use std::collections::BTreeSet;

use crate::common::{adder, root};
use queryable::coins::{Bit, Categorical, Probability, Script, Uniform};
use queryable::compose::{Numbered, Numbering, Routed};
use queryable::{
    AnalystCoins, AskError, Exchange, Heard, Move, Queryable, Root, Scope, Sequence, Transcript,
    Turn, View, machine,
};

fn send_and_sync<T: Send + Sync>() {}

struct Reply;

impl Numbering for Reply {
    type Query = u64;
    type Message = u64;
    fn number(self, _: &mut dyn FnMut(Queryable<u64, Self>) -> usize) -> u64 {
        0
    }
}

#[test]
fn everything_shared_is_send_and_sync() {
    // Whatever the messages are: they are only passed through.
    send_and_sync::<Queryable<u64, u64>>();
    send_and_sync::<Queryable<std::rc::Rc<u64>, std::cell::Cell<u64>>>();
    send_and_sync::<Root>();
    send_and_sync::<Sequence>();
    send_and_sync::<Turn>();
    send_and_sync::<Script>();
    send_and_sync::<Numbered<Reply>>();
    send_and_sync::<(Bit, Uniform, Categorical<u8>, Probability)>();
    send_and_sync::<AskError>();
}

#[test]
fn debug_shows_only_the_type() {
    let root = root();
    let secret = "very secret".to_string();
    let q = root
        .spawn(machine(move |_: u8, _| Ok(secret.clone())))
        .unwrap();
    let shown = format!("{q:?} {q:#?}");
    assert!(
        shown.starts_with("queryable::handle::Queryable<u8, alloc::string::String>"),
        "{shown}"
    );
    assert!(!shown.contains("secret"));
    q.ask(1).unwrap();
    assert_eq!(shown, format!("{q:?} {q:#?}"), "and nothing of its history");
    assert_eq!(format!("{root:?}"), "Root");
}

fn every_error() -> Vec<AskError> {
    vec![
        AskError::invalid("a query"),
        AskError::failed(format!("{} reasons", 2)),
        AskError::Halted,
        AskError::Panicked,
        AskError::OutOfTurn,
        AskError::NotSpawnedHere,
        AskError::TooDeep { limit: 3 },
        AskError::Unanswered { limit: 4 },
        AskError::Script("why".into()),
        AskError::NoEntropy,
        AskError::Forked,
    ]
}

#[test]
fn errors_are_values() {
    let errors = every_error();
    assert_eq!(errors.iter().collect::<BTreeSet<_>>().len(), errors.len());
    let texts: BTreeSet<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), errors.len());
    let json = serde_json::to_string(&errors).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<AskError>>(&json).unwrap(),
        errors
    );
    // A text that was computed equals one that was written down.
    assert_eq!(AskError::invalid("a"), AskError::invalid(String::from("a")));
    fn is_error<E: std::error::Error + Send + Sync + 'static>(_: &E) {}
    is_error(&errors[0]);
}

#[test]
fn transcripts_and_views_come_back() {
    let root = root();
    let q = adder(&root);
    let transcript = Transcript::of(&q, [1, 0, 2]);
    let json = serde_json::to_string(&transcript).unwrap();
    assert_eq!(
        serde_json::from_str::<Transcript<u64, u64>>(&json).unwrap(),
        transcript
    );

    let analyst = |ask: u64| machine(move |_: Heard<u64>, _: &mut Scope<'_>| Ok(Move::Ask(ask)));
    let seeded = root.interact(analyst(0), &q, 2).unwrap();
    let scripted = Root::scripted(&Script::new(vec![]))
        .interact(analyst(3), &q, 2)
        .unwrap();
    assert_eq!(scripted.coins, AnalystCoins::Choices(vec![]));
    for view in [seeded, scripted] {
        let json = serde_json::to_string(&view).unwrap();
        assert_eq!(serde_json::from_str::<View<u64, u64>>(&json).unwrap(), view);
    }
    let every = Transcript {
        rounds: every_error()
            .into_iter()
            .map(|error| Exchange {
                query: Routed { to: 1, query: 2 },
                answer: Err::<u8, _>(error),
            })
            .collect(),
    };
    let json = serde_json::to_string(&every).unwrap();
    assert_eq!(
        serde_json::from_str::<Transcript<Routed<i32>, u8>>(&json).unwrap(),
        every
    );
}
