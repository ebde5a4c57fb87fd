//! Journals by themselves: places, terms, keys, and what records amount to.

use measures::{Form, Name};
use odometer::Description;
use odometer::journal::{
    AccountTerms, ChargeRecord, Guarantee, Halt, Journal, JournalError, Key, MAX_PLACE_DEPTH,
    Memory, NewBudget, OpenedPlace, Opening, Past, Path, Place, Posted, Posting, Record, Relation,
    Segment, State, Terms,
};
use queryable::Attested;

pub fn account(parent: Option<Place>, name: &str, budget: &str) -> Opening {
    Opening {
        parent,
        segment: Segment::name(name),
        terms: Terms::Account(AccountTerms {
            relation: match parent {
                None => Relation::Root,
                Some(_) => Relation::Nested,
            },
            rule: Name::new("basic").of(&Name::new("pure")),
            measure: Name::new("pure"),
            metric: Name::new("symmetric"),
            distances: vec!["1".into()],
            budget: Some(budget.into()),
            halting: false,
            quota: 10,
            sequential: false,
            messages: None,
        }),
    }
}

pub fn launch(key: Option<&str>, name: &'static str, accounts: &[Place]) -> Record {
    let posting = |account: &Place| Posting {
        account: *account,
        price: Posted::Direct {
            form: Form::Linear("0.1".into()),
            losses: vec!["0.1".into()],
        },
    };
    Record::from(ChargeRecord {
        description: Description {
            name: name.into(),
            parameters: Vec::new(),
        },
        key: key.map(Into::into),
        postings: accounts.iter().map(posting).collect(),
        opens: None,
    })
}

fn open(journal: &Memory, opening: &Opening) -> Result<(Place, Past), JournalError> {
    let OpenedPlace { place, past, .. } = journal.open(opening)?;
    Ok((place, past))
}

pub fn write(journal: &Memory, record: Record) -> Result<(), JournalError> {
    let mut draft = journal.draft(record)?;
    draft.stage()?;
    draft.wait().map(drop)
}

#[test]
fn a_place_that_is_there_is_opened_again_with_what_was_charged() {
    let journal = Memory::new();
    let (root, _) = open(&journal, &account(None, "all", "1")).unwrap();
    let (team, _) = open(&journal, &account(Some(root), "team", "0.5")).unwrap();
    for _ in 0..3 {
        write(&journal, launch(None, "query", &[team, root])).unwrap();
    }
    write(&journal, launch(None, "other", &[root])).unwrap();
    let again = Memory::replaying(&journal.records()).unwrap();
    for journal in [journal, again] {
        let (place, past) = open(&journal, &account(None, "all", "1")).unwrap();
        assert_eq!(place, root);
        let counts: Vec<u64> = past.runs.iter().map(|run| run.count).collect();
        assert_eq!(counts, [3, 1]);
        let (place, past) = open(&journal, &account(Some(root), "team", "0.5")).unwrap();
        assert_eq!((place, past.runs.len()), (team, 1));
    }
}

#[test]
fn other_terms_are_named() {
    let journal = Memory::new();
    open(&journal, &account(None, "all", "1")).unwrap();
    let error = open(&journal, &account(None, "all", "2")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "all is in the ledger with the budget 1, and was opened with the budget 2: open it as it was, or under another name"
    );
}

#[test]
fn a_key_is_charged_once() {
    let journal = Memory::new();
    let (root, _) = open(&journal, &account(None, "all", "1")).unwrap();
    write(&journal, launch(Some("monday"), "query", &[root])).unwrap();
    let again = write(&journal, launch(Some("monday"), "query", &[root]));
    assert!(matches!(again, Err(JournalError::AlreadyCharged { receipt, .. }) if receipt.seq == 1));
    let other = write(&journal, launch(Some("monday"), "another", &[root]));
    assert!(matches!(
        other,
        Err(JournalError::OtherLaunch { seq: 1, .. })
    ));
    assert_eq!(journal.records().len(), 2);
}

#[test]
fn after_a_doubt_nothing_is_written() {
    let journal = Memory::new();
    let (root, _) = open(&journal, &account(None, "all", "1")).unwrap();
    journal.fail_after(1);
    write(&journal, launch(None, "query", &[root])).unwrap();
    let doubt = write(&journal, launch(None, "query", &[root]));
    assert_eq!(doubt, Err(JournalError::InDoubt { seq: 2 }));
    let closed = write(&journal, launch(None, "query", &[root]));
    assert!(matches!(closed, Err(JournalError::Closed { .. })));
}

#[test]
fn a_state_serializes() {
    let journal = Memory::new();
    let (root, _) = open(&journal, &account(None, "all", "1")).unwrap();
    write(&journal, launch(None, "query", &[root])).unwrap();
    let mut state = State::new();
    for record in journal.records() {
        state.apply(&record).unwrap();
    }
    let text = serde_json::to_string(&state).unwrap();
    let read: State = serde_json::from_str(&text).unwrap();
    assert_eq!(read.past(root), state.past(root));
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert!(serde_json::from_str::<State>(&text.replace("\"runs\":[[0", "\"runs\":[[7")).is_err());
}

#[test]
fn records_that_do_not_fit_change_nothing() {
    let mut state = State::new();
    state
        .apply(&Record::from(account(None, "all", "1")))
        .unwrap();
    let before = serde_json::to_string(&state).unwrap();
    let wrong = [
        launch(None, "query", &[]),
        launch(None, "query", &[Place(0), Place(7)]),
        Record::from(account(None, "all", "1")),
        Record::from(account(Some(Place(9)), "all", "1")),
        Record::from(Halt {
            account: Place(1),
            reason: None,
        }),
    ];
    for record in wrong {
        assert!(state.apply(&record).is_err(), "{record:?}");
        assert_eq!(serde_json::to_string(&state).unwrap(), before);
    }
}

/// Where long terms differ is shown, and little else of them.
#[test]
fn long_terms_are_shown_where_they_differ() {
    let orders = |last: u32| {
        let numbers = (2..1000).chain([last]).map(|order| order.to_string());
        let orders = numbers.collect::<Vec<_>>().join(" ");
        let mut opening = account(None, "all", "1");
        if let Terms::Account(terms) = &mut opening.terms {
            terms.measure = Name::new("renyi-curve").with("orders", orders);
        }
        opening
    };
    let journal = Memory::new();
    open(&journal, &orders(1001)).unwrap();
    let error = open(&journal, &orders(1002)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "all is in the ledger with the measure … 996 997 998 999 1001}, and was opened with the measure … 996 997 998 999 \
         1002}: open it as it was, or under another name"
    );
}

/// Whoever reads a forged record is not shown all of it.
#[test]
fn what_does_not_fit_is_not_repeated() {
    let long = "9x".repeat(100_000);
    let mut state = State::new();
    let opening = Record::from(account(None, &long, &long));
    state.apply(&opening).unwrap();
    let budget = |old: &str, new: &str| {
        Record::from(NewBudget {
            account: Place(0),
            old: old.into(),
            new: new.into(),
            reason: "because".into(),
            guarantee: Guarantee::Stands,
        })
    };
    for record in [&opening, &budget("1", "2"), &budget(&"1".repeat(1000), "2")] {
        let why = state.apply(record).unwrap_err().to_string();
        assert!(why.len() < 200, "{why}");
    }
    let mut state = State::new();
    let opening = Record::from(account(None, "all", "1"));
    state.apply(&opening).unwrap();
    let why = state.apply(&budget("1", &long)).unwrap_err().to_string();
    assert!(why.starts_with("`9x9x") && why.len() < 200, "{why}");
    let why = state.new_budget(Place(0), &long, "why").unwrap_err();
    assert!(why.to_string().len() < 200, "{why}");
}

/// Different paths have different texts.
#[test]
fn paths_are_read_as_one_thing_only() {
    let key = |key: Key| Segment::Key(key);
    let paths = [
        vec![Segment::name("a"), Segment::name("b")],
        vec![Segment::name("a/b")],
        vec![Segment::name("a~1b")],
        vec![Segment::name("[1]")],
        vec![key(Key::from(1))],
        vec![key(Key::from("1"))],
        vec![key(Key::from("[1]"))],
        vec![key(Key::from(("1", 1)))],
        vec![key(Key::from("\", 1"))],
        vec![Segment::name("a@1")],
        vec![Segment::Partition {
            name: "a".into(),
            version: 1,
        }],
        vec![Segment::Partition {
            name: "a".into(),
            version: 2,
        }],
    ];
    let texts: std::collections::HashSet<String> = paths
        .iter()
        .map(|path| Path::new(path.clone()).to_string())
        .collect();
    assert_eq!(texts.len(), paths.len(), "{texts:?}");
}

/// Every type of keys has forms that its values share with no other value of the type.
#[test]
fn every_type_of_keys_has_its_forms() {
    let forms = [
        (
            Key::from(u128::MAX),
            "(18446744073709551615, 18446744073709551615)",
        ),
        (Key::from((1u128 << 64) + 2), "(1, 2)"),
        (Key::from(u128::from(u64::MAX)), "(0, 18446744073709551615)"),
        (
            Key::from(i128::MIN),
            "-170141183460469231731687303715884105728",
        ),
        (Key::from(usize::MAX), "18446744073709551615"),
        (Key::from(isize::MIN), "-9223372036854775808"),
        (Key::from(u64::MAX), "18446744073709551615"),
        (Key::from('"'), r#""\"""#),
        (Key::from(()), "()"),
        (Key::from([1u8, 2]), "(1, 2)"),
        (Key::from(("a".to_owned(),)), r#"("a")"#),
        (
            Key::from(("a", true, Some('b'), vec![0u8])),
            r#"("a", true, ("b"), (0))"#,
        ),
        (Key::from(Attested("a")), r#""a""#),
    ];
    for (key, form) in forms {
        assert_eq!(key.to_string(), form);
    }
}

/// Somebody who opens one place below another, again and again.
#[test]
fn places_are_neither_endlessly_many_nor_endlessly_deep() {
    let mut state = State::new();
    let below = |parent: Option<Place>, name: &str, quota: u32| {
        let mut opening = account(parent, name, "1");
        if let Terms::Account(terms) = &mut opening.terms {
            terms.quota = quota;
        }
        Record::from(opening)
    };
    let mut place = state.apply(&below(None, "deep", u32::MAX)).unwrap();
    for depth in 1..MAX_PLACE_DEPTH {
        let next = below(place, "deeper", u32::MAX);
        state
            .room_for(&next)
            .unwrap_or_else(|error| panic!("{depth}: {error}"));
        place = state.apply(&next).unwrap();
    }
    let next = below(place, "deeper", u32::MAX);
    assert!(matches!(
        state.room_for(&next),
        Err(JournalError::Full { .. })
    ));
    // What was written down is taken all the same.
    assert!(state.apply(&next).is_ok());

    let few = state.apply(&below(None, "few", 2)).unwrap();
    let one = state.apply(&below(few, "one", 10)).unwrap();
    state.room_for(&below(one, "two", 10)).unwrap();
    state.apply(&below(one, "two", 10)).unwrap();
    for parent in [few, one] {
        let error = state.room_for(&below(parent, "three", 10)).unwrap_err();
        assert!(
            error.to_string().contains("few has 2 places below it"),
            "{error}"
        );
    }
    state.room_for(&below(None, "another", 1)).unwrap();
    let again: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert!(again.room_for(&below(one, "three", 10)).is_err());
}
