//! Records and states as bytes: JSON, because a ledger is read for years, by people and by other programs, too. Whoever writes
//! a value writes the same bytes: fields have an order, and nothing has two forms.

use std::ops::ControlFlow;

use exact::excerpt;
use odometer::journal::{Event, Place, Record, State, UnknownEvent};

use crate::{
    frame::{Frame, Kind},
    store::{Store, StoreError},
};

/// The kind of an event.
pub(crate) fn kind(event: &Event) -> Result<Kind, String> {
    Ok(match event {
        Event::Open(_) => Kind::Open,
        Event::Charge(_) => Kind::Charge,
        Event::Halt(_) => Kind::Halt,
        Event::Budget(_) => Kind::Budget,
        Event::ProposedBudget(_) => Kind::ProposedBudget,
        Event::DecidedBudget(_) => Kind::DecidedBudget,
        Event::Note(_) => Kind::Note,
        Event::SecondRun(_) => Kind::SecondRun,
        Event::Unknown(UnknownEvent { kind, .. }) => Kind::Other(*kind),
        _ => return Err("this program has no kind of record for such an event".into()),
    })
}

/// Writes the body of a record behind what is there.
pub(crate) fn body(event: &Event, onto: &mut Vec<u8>) -> Result<(), String> {
    let written = match event {
        Event::Open(opening) => serde_json::to_writer(onto, opening),
        Event::Charge(charge) => serde_json::to_writer(onto, charge),
        Event::Halt(halt) => serde_json::to_writer(onto, halt),
        Event::Budget(new) | Event::ProposedBudget(new) => serde_json::to_writer(onto, new),
        Event::DecidedBudget(decision) => serde_json::to_writer(onto, decision),
        Event::Note(note) => serde_json::to_writer(onto, note),
        Event::SecondRun(run) => serde_json::to_writer(onto, run),
        Event::Unknown(UnknownEvent { body, .. }) => {
            onto.extend(body);
            Ok(())
        }
        // It has no kind, and gets none here.
        other => serde_json::to_writer(onto, other),
    };
    written.map_err(|error| error.to_string())
}

/// The event of this kind with this body. An error repeats little of a body that is none.
pub(crate) fn event(kind: Kind, body: &[u8]) -> Result<Event, String> {
    let read = match kind {
        Kind::Event => serde_json::from_slice(body),
        Kind::Open => serde_json::from_slice(body).map(Event::Open),
        Kind::Charge => serde_json::from_slice(body).map(Event::Charge),
        Kind::Halt => serde_json::from_slice(body).map(Event::Halt),
        Kind::Budget => serde_json::from_slice(body).map(Event::Budget),
        Kind::ProposedBudget => serde_json::from_slice(body).map(Event::ProposedBudget),
        Kind::DecidedBudget => serde_json::from_slice(body).map(Event::DecidedBudget),
        Kind::Note => serde_json::from_slice(body).map(Event::Note),
        Kind::SecondRun => serde_json::from_slice(body).map(Event::SecondRun),
        Kind::Other(kind) => Ok(Event::Unknown(UnknownEvent {
            kind,
            body: body.to_vec(),
        })),
        Kind::Begin | Kind::Checkpoint => return Err("it is no event".into()),
    };
    let event = read.map_err(|error| unreadable(&error))?;
    match (kind, &event) {
        (Kind::Event, Event::Open(_) | Event::Charge(_) | Event::Halt(_) | Event::Budget(_)) => {
            Ok(event)
        }
        (Kind::Event, _) => Err("its version of the format has no such event".into()),
        _ => Ok(event),
    }
}

/// The record in this frame.
pub(crate) fn record<B: AsRef<[u8]>>(frame: &Frame<B>) -> Result<Record, String> {
    frame.understood().map_err(|flaw| flaw.to_string())?;
    Ok(Record {
        event: event(frame.kind(), frame.body())?,
        fields: frame.fields().map_err(|error| error.to_string())?,
    })
}

/// Is the earlier record that an event refers to there, as it says? It must come before this number.
pub(crate) fn check_reference(
    store: &dyn Store,
    seq: u64,
    event: &Event,
) -> Result<Result<(), String>, StoreError> {
    let Some(earlier) = event.refers_to() else {
        return Ok(Ok(()));
    };
    let mut found = Err(format!("there is no record {} before it", earlier.seq));
    if earlier.seq < seq {
        store.read(earlier.seq, &mut |at, bytes| {
            if at == earlier.seq {
                found = check_referred(event, bytes);
            }
            ControlFlow::Break(())
        })?;
    }
    Ok(found)
}

fn check_referred(event: &Event, bytes: &[u8]) -> Result<(), String> {
    let frame = Frame::parse(bytes).map_err(|flaw| flaw.to_string())?;
    let receipt = frame.receipt();
    if event.refers_to() != Some(&receipt) {
        return Err(format!("it refers to another record than {receipt}"));
    }
    let Event::SecondRun(run) = event else {
        return Ok(());
    };
    match record(&frame).map(|record| record.event) {
        Ok(Event::Charge(charge)) if charge.account() == Some(run.account) => Ok(()),
        _ => Err(format!(
            "record {receipt} is no charge of place {}",
            run.account
        )),
    }
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
pub(crate) fn key(event: &Event) -> Option<(&str, Vec<u8>)> {
    let Event::Charge(charge) = event else {
        return None;
    };
    let key = charge.key.as_ref()?;
    Some((key, indexed(charge.account()?, key)))
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
            for kind in [Kind::Event, Kind::Open, Kind::Charge, Kind::Note] {
                let why = event(kind, forged.as_bytes()).unwrap_err();
                assert!(why.len() < 200, "{why}");
                assert!(why.contains(" column "), "{why}");
            }
            let why = state(forged.as_bytes()).unwrap_err();
            assert!(why.len() < 200, "{why}");
        }
    }

    /// The events of version 4 are no events of an older version.
    #[test]
    fn older_versions_have_no_newer_events() {
        let receipt = format!("0:{}", "00".repeat(32));
        let note = format!(r#"{{"Note":{{"on":"{receipt}","text":"a"}}}}"#);
        let why = event(Kind::Event, note.as_bytes()).unwrap_err();
        assert!(why.contains("no such event"), "{why}");
        let note = format!(r#"{{"on":"{receipt}","text":"a"}}"#);
        assert!(event(Kind::Note, note.as_bytes()).is_ok());
        let more = format!(r#"{{"on":"{receipt}","text":"a","more":1}}"#);
        assert!(event(Kind::Note, more.as_bytes()).is_err());
    }
}
