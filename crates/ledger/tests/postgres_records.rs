//! Records of version 4 on a PostgreSQL server: their kind is visible to the server, and other processes take them in.

use crate::{common::fields, server::server};
use ledger::{Ledger, LedgerReader};
use odometry::odometer::journal::{
    Event, Fields, Halt, JournalError, Note, Record, SecondRun, UnknownEvent,
};
use odometry::odometer::{LaunchError, Session};
use odometry::prelude::*;

fn session(ledger: &Ledger) -> Session<Records<u32>, Basic<PureDp>> {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    odometer
        .filter_on(ledger.books(), 1, "1", vec![1, 2, 3])
        .unwrap()
}

#[test]
fn records_of_this_version_pass_between_processes() {
    let Some(server) = server("records") else {
        return;
    };
    let address = server.address("writer");
    let (one, two) = (
        Ledger::connect(&address).unwrap(),
        Ledger::connect(&address).unwrap(),
    );
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let query = Measurement::new("query", Records::<u32>::new(), map, |_, _| Ok(()));
    let (mine, theirs) = (session(&one), session(&two));
    let charge = mine.launch_receipted(&query).unwrap().receipt;
    let account = one.state().named("all").unwrap();
    let write = |event: Event, fields: Fields| {
        let record = Record { event, fields };
        one.write_record(record)
    };
    let note = Note {
        on: charge,
        text: "for the board".into(),
    };
    write(note.into(), fields()).unwrap();
    let run = SecondRun {
        account,
        of: charge,
    };
    write(run.clone().into(), Fields::default()).unwrap();
    let newer = UnknownEvent {
        kind: 0x40,
        body: b"newer".to_vec(),
    };
    write(newer.into(), fields()).unwrap();
    // The other process takes them in, and continues behind them.
    theirs.launch(&query).unwrap();
    assert_eq!(theirs.remaining(1).unwrap(), Some("0.8".parse().unwrap()));
    let twice = two.write_record(run.into()).unwrap_err();
    assert!(twice.to_string().contains("second run"), "{twice}");
    // A halt by the custodian stops a session that is open elsewhere.
    let halt = Halt {
        account,
        reason: Some("the survey has ended".into()),
    };
    write(halt.into(), Fields::default()).unwrap();
    let halted = theirs.launch(&query);
    assert!(
        matches!(halted, Err(LaunchError::Halted { .. })),
        "{halted:?}"
    );
    let reader = LedgerReader::connect(&server.address("reader")).unwrap();
    assert_eq!(reader.verify().unwrap(), one.head());
    let wrong = Note {
        on: one.head(),
        text: "two\nlines".into(),
    };
    let refused = write(wrong.into(), Fields::default());
    assert!(
        matches!(refused, Err(JournalError::Damaged(_))),
        "{refused:?}"
    );
}

/// The kind is in front, so that the server can refuse some kinds from some roles.
#[test]
fn a_trigger_sees_the_kind() {
    let Some(server) = server("trigger") else {
        return;
    };
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    drop(session(&ledger));
    server.psql(
        "ledger",
        "CREATE FUNCTION odometry.no_budgets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           IF get_byte(NEW.bytes, 0) < 4 OR get_byte(NEW.bytes, 2) IN (x'86'::int, x'87'::int, x'88'::int) THEN \
             RAISE 'writers change no budgets'; \
           END IF; \
           RETURN NEW; END $$; \
         CREATE TRIGGER no_budgets BEFORE INSERT ON odometry.records \
           FOR EACH ROW EXECUTE FUNCTION odometry.no_budgets()",
    );
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let query = Measurement::new("query", Records::<u32>::new(), map, |_, _| Ok(()));
    session(&ledger).launch(&query).unwrap();
    let refused = ledger.change_budget("all", "2", "more").unwrap_err();
    let words = "writers change no budgets";
    assert!(refused.to_string().contains(words), "{refused}");
    let again = Ledger::connect(&server.address("writer")).unwrap();
    assert_eq!(again.budget("all").as_deref(), Some("1"));
}
