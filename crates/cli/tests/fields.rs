//! Optional fields and the events of version 4 of the format, as the command shows them.

use ledger::Ledger;
use odometer::journal::{
    Event, Fields, Guarantee, Halt, NewBudget, Note, Place, Record, SecondRun, UnknownEvent,
    UnknownField,
};
use serde_json::{Value, json};

use crate::common::{folder, program::month, run_in};

#[test]
fn charges_show_optional_fields_and_notes() {
    let folder = folder("fields");
    let path = folder.join("year.redb");
    month(&path, "january");
    let ledger = Ledger::open(&path).unwrap();
    let write = |event: Event, fields: Fields| {
        let record = Record { event, fields };
        ledger.write_record(record).unwrap()
    };
    let charge = {
        let mut found = None;
        let mut file = Vec::new();
        ledger.export(&mut file).unwrap();
        let read = ledger::export::read(file.as_slice(), |frame| {
            if frame.kind() == ledger::frame::Kind::Charge {
                found.get_or_insert(frame.receipt());
            }
        });
        read.unwrap();
        found.unwrap()
    };
    let account = Place(1);
    write(
        Note {
            on: charge,
            text: "=for the board".into(),
        }
        .into(),
        Fields {
            time: Some("2026-11-19T08:30:00Z".into()),
            actor: Some("custodian".into()),
            fingerprint: Some([0xab; 32]),
            unknown: vec![UnknownField {
                tag: 300,
                value: vec![1, 2],
            }],
            ..Fields::default()
        },
    );
    let proposed = NewBudget {
        account,
        old: "1".into(),
        new: "2".into(),
        reason: "more".into(),
        guarantee: Guarantee::Odometer,
    };
    for event in [
        Event::ProposedBudget(proposed),
        Event::SecondRun(SecondRun {
            account,
            of: charge,
        }),
        Event::Halt(Halt {
            account,
            reason: Some("the survey has ended".into()),
        }),
        Event::Unknown(UnknownEvent {
            kind: 0x40,
            body: b"{}".to_vec(),
        }),
    ] {
        write(event, Fields::default());
    }
    drop(ledger);
    let odometry = |arguments: &[&str]| {
        let store = ["--store", "year.redb"];
        let ran = run_in(&folder, &[arguments, &store].concat(), "");
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    let charges: Value = serde_json::from_str(&odometry(&["charges", "--json"])).unwrap();
    let charges = charges.as_array().unwrap();
    let new = &charges[charges.len() - 5..];
    let kinds: Vec<&str> = new
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["note", "proposed budget", "second run", "halt", "unknown"]
    );
    let fields = json!({
        "time": "2026-11-19T08:30:00Z",
        "actor": "custodian",
        "fingerprint": "ab".repeat(32),
        "field 300": "0102",
    });
    assert_eq!(new[0]["fields"], fields);
    assert_eq!(
        new[0]["what"],
        format!("on record {}: =for the board", charge.seq)
    );
    assert_eq!(
        new[3]["what"],
        "halted by the custodian: the survey has ended"
    );
    assert!(charges[0].get("fields").is_none(), "it has none");
    let text = odometry(&["charges"]);
    for words in [
        "proposed budget: 1 → 2",
        "runs for the second and last time",
        "kind 64 of a newer program",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    odometry(&["verify"]);
    odometry(&["show"]);
    let explained = odometry(&["explain", "10"]);
    assert!(
        explained.starts_with("Record 10: a note on record"),
        "{explained}"
    );
}
