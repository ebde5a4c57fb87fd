//! What nobody writes, and somebody may have forged.

use measures::MAX_FORM;
use odometer::journal::{Event, Record};

use super::*;

/// Nobody writes forms like these. They are refused before a number in them is looked at.
#[test]
fn forged_forms_are_refused() {
    let journal = Memory::new();
    let session = open(&journal);
    session.launch(&query("0.1")).unwrap();
    let part = session.nested("part").open().unwrap();
    part.launch(&query("0.1")).unwrap();
    let linear = r#"{"Linear":"0.1"}"#;
    let sum = |pieces: usize| format!(r#"{{"Sum":[{}]}}"#, vec![linear; pieces].join(","));
    let opened = |form: &str| {
        let forge = |record: &Record| {
            let text = serde_json::to_string(&record.event).unwrap();
            let event: Event = serde_json::from_str(&text.replace(linear, form)).unwrap();
            Record::from(event)
        };
        let forged: Vec<Record> = journal.records().iter().map(forge).collect();
        let books = Books::new(Memory::replaying(&forged).unwrap());
        organisation().filter_on(&books, 1, "1", vec![])
    };
    let long = format!(r#"{{"Linear":"{}"}}"#, "1".repeat(5000));
    for form in [sum(100_000), sum(MAX_FORM), long] {
        let error = open_error(opened(&form));
        assert!(matches!(error, JournalError::Damaged(_)), "{error}");
        assert!(error.to_string().len() < 200, "{error}");
    }
    let twice = opened(&sum(2)).unwrap();
    assert_eq!(twice.privacy_loss(1).unwrap().to_string(), "0.2"); // what was charged at one
    assert_eq!(twice.privacy_loss(2).unwrap().to_string(), "0.8"); // what it says elsewhere
    // A form that says nothing here is infinite where nothing was charged.
    let unknown = opened(r#"{"Linear":"much"}"#).unwrap();
    assert_eq!(unknown.privacy_loss(2).unwrap().to_string(), "inf");
}

/// The records of a launch, with one text in them replaced.
fn forged(text: &str, by: &str) -> Books {
    let journal = Memory::new();
    open(&journal).launch(&query("0.25")).unwrap();
    let forge = |record: &Record| {
        let json = serde_json::to_string(&record.event).unwrap();
        let event: Event = serde_json::from_str(&json.replace(text, by)).unwrap();
        Record::from(event)
    };
    let forged: Vec<Record> = journal.records().iter().map(forge).collect();
    Books::new(Memory::replaying(&forged).unwrap())
}

/// An error repeats little of what somebody forged, however long it is.
#[test]
fn forged_texts_are_not_repeated() {
    let long = "9x".repeat(100_000);
    let losses = forged(r#""losses":["0.25"]"#, &format!(r#""losses":["{long}"]"#));
    let error = open_error(organisation().filter_on(&losses, 1, "1", vec![]));
    assert!(matches!(error, JournalError::Damaged(_)), "{error}");
    assert!(error.to_string().contains("`9x9x9x"), "{error}");
    assert!(error.to_string().len() < 200, "{error}");
    for (text, of) in [
        ("basic{pure}", "rule basic{pure}9x"),
        ("symmetric", "metric symmetric9x"),
    ] {
        let books = forged(text, &format!("{text}{long}"));
        let error = open_error(organisation().filter_on(&books, 1, "1", vec![]));
        assert!(matches!(error, JournalError::OtherTerms { .. }), "{error}");
        assert!(error.to_string().contains(of), "{error}");
        assert!(error.to_string().len() < 300, "{error}");
    }
}
