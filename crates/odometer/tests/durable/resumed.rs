//! Filters that were launched are resumed; what functions open inside is nobody else's.

use std::sync::Arc;

use odometer::journal::Event;

use super::*;

/// What was launched in full stays charged in full; what happens inside is charged inside, and written down there.
#[test]
fn a_reserved_filter_is_resumed_where_it_was() {
    let journal = Memory::new();
    let session = open(&journal);
    let filter = || {
        let odometer = organisation().named("inner");
        odometer.filter(1, "0.4").unwrap()
    };
    let error = journal_error(session.resume(&filter()).unwrap_err());
    assert!(
        error
            .to_string()
            .contains("nothing of this name was launched"),
        "{error}"
    );
    assert_eq!(journal.records().len(), 1); // nothing was opened for free
    let inner = session.launch(&filter()).unwrap();
    inner.launch(&query("0.3")).unwrap();
    let Some(Event::Charge(charge)) = journal.records().pop().map(|record| record.event) else {
        panic!("it is no charge");
    };
    assert_eq!(charge.postings.len(), 1);
    let team = inner.nested("team").open().unwrap();
    team.launch(&query("0.05")).unwrap();

    let session = open(&restarted(&journal));
    assert_eq!(left(&session), "0.6");
    let inner = session.resume(&filter()).unwrap();
    assert_eq!(left(&inner), "0.05");
    let again = session.resume(&filter()).unwrap(); // the same account
    again.launch(&query("0.05")).unwrap();
    assert_eq!(left(&inner), "0");
    assert_eq!(left(&session), "0.6");
    let team = inner.nested("team").open().unwrap();
    assert_eq!(team.privacy_loss(2).unwrap().to_string(), "0.1");

    // A second one under the same name would be a second budget: it is refused, uncharged.
    let error = journal_error(session.launch(&filter()).map(drop).unwrap_err());
    assert!(matches!(error, JournalError::Exists { .. }), "{error}");
    assert_eq!(left(&session), "0.6");
    let other = organisation().named("inner").filter(1, "0.5").unwrap();
    assert!(session.resume(&other).is_err());
    let error = journal_error(session.resume(&query("0.1")).unwrap_err());
    assert!(matches!(error, JournalError::Unsupported(_)), "{error}");
}

/// A filter that a function runs inside is that function's business, and is written nowhere.
#[test]
fn a_filter_inside_of_a_function_is_not_written_down() {
    let journal = Memory::new();
    let session = open(&journal);
    let filter = organisation().named("inner").filter(1, "0.4").unwrap();
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let inside = Measurement::new("inside", records(), map, move |data, scope| {
        let session = filter.run(data, scope)?;
        let launched = session.launch(&query("0.1"));
        launched.map_err(|error| queryable::AskError::failed(error.to_string()))
    });
    session.launch(&inside).unwrap();
    assert_eq!(journal.records().len(), 2);
}

/// A filter after post-processing is the same filter.
#[test]
fn a_filter_is_resumed_also_after_post_processing() {
    let journal = Memory::new();
    let session = open(&journal);
    let filter = organisation().named("inner").filter(1, "0.4").unwrap();
    let (inner, _) = session
        .launch(&filter.postprocess(|inner| (inner, 1)))
        .unwrap();
    inner.launch(&query("0.3")).unwrap();
    assert_eq!(journal.records().len(), 3);
    let session = open(&restarted(&journal));
    assert_eq!(left(&session), "0.6");
    assert_eq!(left(&session.resume(&filter).unwrap()), "0.1");
}

/// What a function opens inside depends on data, and is written nowhere.
#[test]
fn sessions_inside_of_functions_are_not_written_down() {
    let journal = Memory::new();
    let session = open(&journal);
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let inside = Measurement::new("inside", records(), map, |data, scope| {
        let session = organisation().open_in(&scope.root()?, Arc::clone(data));
        let session = session.map_err(|error| queryable::AskError::failed(error.to_string()))?;
        for _ in 0..data.len() {
            let _ = session.launch(&query("0.1"));
        }
        Ok(())
    });
    session.launch(&inside).unwrap();
    assert_eq!(journal.records().len(), 2);
    let books = Books::new(Memory::new());
    let map = PrivacyMap::per_record(PureDp, "0.5").unwrap();
    let opens = Measurement::new("opens", records(), map, move |_, _| {
        Ok(organisation().open_on(&books, 1, vec![]).is_err())
    });
    assert_eq!(session.launch(&opens), Ok(true));
}
