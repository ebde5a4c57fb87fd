//! Records and states as bytes: JSON, because a ledger is read for years, by people and by other programs, too. Whoever writes
//! a value writes the same bytes: fields have an order, and nothing has two forms.

use exact::excerpt;
use odometer::journal::{Place, Record, Settlement, State};

/// Writes the body of a record behind what is there.
pub(crate) fn body(record: &Record, onto: &mut Vec<u8>) -> Result<(), String> {
    serde_json::to_writer(onto, record).map_err(|error| error.to_string())
}

/// The record with this body. What is said of one that is none repeats little of it.
pub(crate) fn record(body: &[u8]) -> Result<Record, String> {
    serde_json::from_slice(body).map_err(|error| unreadable(&error))
}

/// Why it cannot be read, and where: little of what it says.
fn unreadable(error: &serde_json::Error) -> String {
    let (why, line, column) = (excerpt(error), error.line(), error.column());
    match why.ends_with('…') {
        true => format!("{why} at line {line} column {column}"),
        false => why,
    }
}

/// The body of a checkpoint.
pub(crate) fn checkpoint(state: &State) -> Result<Vec<u8>, String> {
    serde_json::to_vec(state).map_err(|error| error.to_string())
}

/// The state in this checkpoint.
pub(crate) fn state(body: &[u8]) -> Result<State, String> {
    serde_json::from_slice(body).map_err(|error| unreadable(&error))
}

/// The request key of a record, as it is indexed: scoped by the account that was launched into.
pub(crate) fn key(record: &Record) -> Option<(&str, Vec<u8>)> {
    let Record::Charge(Settlement {
        key: Some(key),
        postings,
        ..
    }) = record
    else {
        return None;
    };
    Some((key, indexed(postings.first()?.account, key)))
}

/// A request key, as it is indexed.
pub(crate) fn indexed(Place(account): Place, key: &str) -> Vec<u8> {
    let mut indexed = account.to_be_bytes().to_vec();
    indexed.extend(key.as_bytes());
    indexed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_record_is_not_repeated() {
        let long = "9x".repeat(100_000);
        for forged in [
            format!(r#"{{"{long}":1}}"#),
            format!(r#""{long}""#),
            format!(r#"{{"Halt":{{"account":"{long}"}}}}"#),
        ] {
            let why = record(forged.as_bytes()).unwrap_err();
            assert!(why.len() < 200, "{why}");
            assert!(why.contains(" column "), "{why}");
            let why = state(forged.as_bytes()).unwrap_err();
            assert!(why.len() < 200, "{why}");
        }
    }
}
