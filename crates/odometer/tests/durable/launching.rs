//! A launch on a journal: written down before it runs, charged once, and never given back.

use odometer::journal::Event;

use super::*;

#[test]
fn a_charge_is_written_down_before_the_function_runs() {
    let journal = Memory::new();
    let seen = journal.clone();
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    let looks = Measurement::new("looks", records(), map, move |_, _| {
        Ok(seen.records().len())
    });
    let session = open(&journal);
    let team = session.nested("team").capped(1, "0.5").open().unwrap();
    let before = journal.records().len();
    assert_eq!(team.launch(&looks), Ok(before + 1));
    let Some(Event::Charge(charge)) = journal.records().pop().map(|record| record.event) else {
        panic!("it is no charge");
    };
    assert_eq!(charge.postings.len(), 2);
    assert_eq!(
        team.launch_all(&[looks.clone(), looks]),
        [Ok(before + 3), Ok(before + 3)]
    );
}

#[test]
fn a_restart_refunds_nothing_and_the_rest_can_be_spent_to_zero() {
    let mut journal = Memory::new();
    for spent in 1..=10 {
        let session = open(&journal);
        let team = session.nested("team").capped(1, "0.7").open().unwrap();
        let launched = if spent <= 7 { &team } else { &session };
        launched.launch(&query("0.1")).unwrap();
        assert_eq!(
            session
                .launches()
                .unwrap()
                .iter()
                .map(|run| run.1)
                .sum::<u64>(),
            spent
        );
        if spent >= 7 {
            assert_eq!(left(&team), "0");
        }
        journal = restarted(&journal);
    }
    let session = open(&journal);
    assert_eq!(left(&session), "0");
    assert!(matches!(
        session.launch(&query("0.1")),
        Err(LaunchError::Refused(_))
    ));
    assert_eq!(journal.records().len(), 12);
}

#[test]
fn a_halt_is_written_down_before_it_is_told() {
    let journal = Memory::new();
    let halting = |journal: &Memory| {
        let books = Books::new(journal.clone());
        organisation()
            .halting()
            .filter_on(&books, 1, "1", vec![])
            .unwrap()
    };
    let session = halting(&journal);
    session.launch(&query("0.5")).unwrap();
    assert!(matches!(
        session.launch(&query("0.6")),
        Err(LaunchError::Refused(_))
    ));
    assert!(matches!(
        journal.records().last().map(|record| &record.event),
        Some(Event::Halt(_))
    ));
    let session = halting(&restarted(&journal));
    assert!(matches!(
        session.launch(&query("0.1")),
        Err(LaunchError::Halted { .. })
    ));

    let journal = Memory::new();
    let session = halting(&journal);
    journal.fail_after(0);
    let refused = session.launch(&query("2")).unwrap_err();
    assert!(matches!(
        journal_error(refused),
        JournalError::InDoubt { .. }
    ));
    let closed = session.launch(&query("0.1")).unwrap_err();
    assert!(matches!(journal_error(closed), JournalError::Closed { .. }));
}

#[test]
fn keys_survive_restarts_and_belong_to_a_session() {
    let journal = Memory::new();
    let session = open(&journal);
    let team = session.nested("team").capped(1, "0.5").open().unwrap();
    let first = session.request("monday").launch(&query("0.8")).unwrap();
    assert_eq!(first.answer, 3);
    team.request("monday").launch(&query("0.2")).unwrap(); // another session's
    let session = open(&restarted(&journal));
    // Said before the budget, which is spent: whoever tries again is told that it happened.
    let again = session.request("monday").launch(&query("0.8"));
    assert!(
        matches!(&again, Err(LaunchError::AlreadyCharged { receipt, .. }) if *receipt == first.receipt)
    );
    let other = session.request("monday").launch(&query("0.1")).unwrap_err();
    assert!(matches!(
        journal_error(other),
        JournalError::OtherLaunch { .. }
    ));
    let plain = organisation().open(vec![]).unwrap();
    assert!(matches!(
        journal_error(plain.request("monday").launch(&query("0.1")).unwrap_err()),
        JournalError::Unsupported(_)
    ));
}
