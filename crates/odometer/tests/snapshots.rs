//! Snapshots of whole trees: what was charged, to JSON and back. (Random programs on a larger tree are in `replaying`.)

use crate::common::*;
use measures::adaptive::WhitehouseFilter;
use measures::fixed::Optimal;
use measures::{ApproxDp, Basic, Zcdp};
use odometer::journal::{Books, JournalError, Memory, Snapshot, SnapshotError};
use odometer::{Compositor, LaunchError, Odometer, OpenError, Records};

fn odometer() -> Odometer<Numbers, Pure> {
    Odometer::new(records(), BASIC).named("all")
}

fn session(books: &Books) -> PureSession {
    odometer().filter_on(books, 1, "2", vec![1, 2, 3]).unwrap()
}

fn text(journal: &Memory) -> String {
    serde_json::to_string(&journal.snapshot().unwrap()).unwrap()
}

fn restored(text: &str) -> Books {
    let snapshot: Snapshot = serde_json::from_str(text).unwrap();
    Books::new(Memory::restored_by_operator(&snapshot))
}

/// A nested account, parts, a filter that was launched, and a halt.
fn taken() -> (Memory, String) {
    let journal = Memory::for_snapshots();
    let all = session(&Books::new(journal.clone()));
    all.request("monday").launch(&pure("0.1")).unwrap();
    let team = all
        .nested("team")
        .capped(1, "0.5")
        .halting()
        .open()
        .unwrap();
    team.launch(&pure("0.3")).unwrap();
    refusal(team.launch(&pure("0.3")).unwrap_err());
    let parity = all.link("parity").partition(1, |x: &i64| x % 2).unwrap();
    parity.part(0).unwrap().launch(&pure("0.2")).unwrap();
    parity.part(1).unwrap().launch(&pure("0.05")).unwrap();
    let inner = odometer().named("inner").filter(1, "0.4").unwrap();
    all.launch(&inner).unwrap().launch(&pure("0.1")).unwrap();
    assert!(all.launch(&failing("0.05")).is_err());
    let text = text(&journal);
    (journal, text)
}

#[test]
fn every_account_of_a_tree_is_restored() {
    let (journal, text) = taken();
    let books = restored(&text);
    let all = session(&books);
    assert_eq!(spent(&all, 1), loss("1.05"));
    assert_eq!(spent(&all, 2), loss("inf"), "a filter's map ends at 1");
    let team = all
        .nested("team")
        .capped(1, "0.5")
        .halting()
        .open()
        .unwrap();
    assert_eq!(spent(&team, 3), loss("0.9"));
    assert!(matches!(
        team.launch(&pure("0")),
        Err(LaunchError::Halted { .. })
    ));
    let inner = odometer().named("inner").filter(1, "0.4").unwrap();
    assert_eq!(spent(&all.resume(&inner).unwrap(), 1), loss("0.1"));
    // Parts still count by the worst of them.
    let parity = all.link("parity").partition(1, |x: &i64| x % 2).unwrap();
    parity.part(1).unwrap().launch(&pure("0.15")).unwrap();
    assert_eq!(spent(&all, 1), loss("1.05"));
    parity.part(1).unwrap().launch(&pure("0.1")).unwrap();
    assert_eq!(spent(&all, 1), loss("1.15"));
    // A key is never run again, and the rest is spent to zero.
    let again = all.request("monday").launch(&pure("0.1"));
    assert!(matches!(again, Err(LaunchError::AlreadyCharged { receipt, .. }) if receipt.seq == 1));
    let other = all.request("monday").launch(&pure("0.2"));
    assert!(
        matches!(other, Err(LaunchError::Journal(error)) if matches!(*error, JournalError::OtherLaunch { .. }))
    );
    all.launch(&pure("0.85")).unwrap();
    refusal(all.launch(&pure("1e-30")).unwrap_err());
    // The original knows nothing of it.
    assert_eq!(spent(&session(&Books::new(journal)), 1), loss("1.05"));
}

#[test]
fn a_snapshot_of_a_restored_journal_is_the_same_snapshot() {
    let (journal, before) = taken();
    let snapshot: Snapshot = serde_json::from_str(&before).unwrap();
    assert_eq!(snapshot, journal.snapshot().unwrap());
    let again = Memory::restored_by_operator(&snapshot);
    assert_eq!(text(&again), before);
    assert_eq!(snapshot.state().len(), 6);
    // A journal that keeps its records says the same.
    let replayed = Memory::new();
    let all = session(&Books::new(replayed.clone()));
    all.launch(&pure("0.1")).unwrap();
    assert_eq!(replayed.records().len(), 2);
    assert!(again.records().is_empty());
}

#[test]
fn other_terms_are_refused() {
    let books = restored(&taken().1);
    let refused = |opened: Result<(), OpenError>, what: &str| {
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    let zcdp = Odometer::new(records(), Basic::new(Zcdp)).named("all");
    refused(
        zcdp.filter_on(&books, 1, "2", vec![]).map(drop),
        "the rule basic{pure}",
    );
    refused(
        odometer().filter_on(&books, 1, "3", vec![]).map(drop),
        "the budget 2",
    );
    refused(
        odometer().filter_on(&books, 2, "2", vec![]).map(drop),
        "the distance 1",
    );
    refused(
        odometer().open_on(&books, 1, vec![]).map(drop),
        "the budget 2",
    );
    refused(
        odometer()
            .halting()
            .filter_on(&books, 1, "2", vec![])
            .map(drop),
        "plain form",
    );
    let replaced = Odometer::new(Records::<i64>::replaced(), BASIC).named("all");
    refused(
        replaced.filter_on(&books, 1, "2", vec![]).map(drop),
        "the metric symmetric",
    );
    let rule = |slack: &str| WhitehouseFilter::new(slack).unwrap();
    let filter = |slack: &str| Odometer::new(records(), rule(slack)).named("whitehouse");
    filter("1e-7")
        .filter_on(&books, 1, "(1, 1e-6)", vec![])
        .unwrap();
    refused(
        filter("2e-7")
            .filter_on(&books, 1, "(1, 1e-6)", vec![])
            .map(drop),
        "slack",
    );
}

#[test]
fn compositors_are_restored() {
    let journal = Memory::for_snapshots();
    let open = |books: &Books| {
        let odometer = Odometer::new(records(), Basic::new(ApproxDp)).named("all");
        odometer.filter_on(books, 1, "(5, 1e-5)", vec![]).unwrap()
    };
    let losses = vec!["(0.1, 0)"; 3];
    let slots = Compositor::new(records(), Optimal::new("1e-7").unwrap(), 1, losses);
    let slots = slots.named("slots").measurement().unwrap();
    let query = flat(ApproxDp, "(0.1, 0)");
    let all = open(&Books::new(journal.clone()));
    all.launch(&slots).unwrap().launch(&query).unwrap();
    let again = open(&restored(&text(&journal)));
    let composition = again.resume(&slots).unwrap();
    assert_eq!(
        (composition.launch(&query), composition.launch(&query)),
        (Ok(()), Ok(()))
    );
    assert!(matches!(
        composition.launch(&query),
        Err(LaunchError::NoSlot { .. })
    ));
    assert_eq!(again.spent().unwrap(), all.spent().unwrap());
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let (_, text) = taken();
    for end in 0..text.len() {
        assert!(serde_json::from_str::<Snapshot>(&text[..end]).is_err());
    }
    // Any other digit or letter anywhere.
    for (at, byte) in text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_alphanumeric())
    {
        let mut damaged = text.clone().into_bytes();
        damaged[at] = if matches!(byte, b'9' | b'z' | b'Z') {
            byte - 1
        } else {
            byte + 1
        };
        let read = serde_json::from_slice::<Snapshot>(&damaged);
        assert!(read.is_err(), "byte {at}");
    }
    let error = |json: &serde_json::Value| {
        let error = serde_json::from_value::<Snapshot>(json.clone()).unwrap_err();
        error.to_string()
    };
    // A record more, an older and a newer version.
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let body = json["body"].as_str().unwrap();
    let written = body.rsplit_once("\"written\":").unwrap().1;
    json["body"] = body.replace(written, "99}").into();
    assert!(error(&json).contains("its checksum is wrong"));
    for found in [1, 4] {
        json["version"] = found.into();
        assert_eq!(error(&json), SnapshotError::Version { found }.to_string());
    }
    json["version"] = 2.into();
    assert!(error(&json).contains("something is missing"));
    // A snapshot of one account, as the first version wrote it.
    let first = r#"{"version":1,"rule":"Basic(PureDp)","metric":"SymmetricDistance","d_in":1,"budget":"1","halting":false,
        "halted":false,"charges":[],"checksum":7}"#;
    let first: serde_json::Value = serde_json::from_str(first).unwrap();
    assert_eq!(
        error(&first),
        SnapshotError::Version { found: 1 }.to_string()
    );
}

/// Version 2 had everything of the body in its outer object.
#[test]
fn the_second_version_is_read() {
    let (journal, text) = taken();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut body: serde_json::Value = serde_json::from_str(json["body"].as_str().unwrap()).unwrap();
    body["version"] = 2.into();
    body["checksum"] = 7.into();
    for keyed in body["keyed"].as_array_mut().unwrap() {
        assert_eq!(
            keyed.as_array_mut().unwrap().pop(),
            Some("".into()),
            "no fields"
        );
    }
    let read: Snapshot = serde_json::from_value(body).unwrap();
    assert_eq!(read, journal.snapshot().unwrap());
}

#[test]
fn nothing_is_snapshotted_in_doubt() {
    let journal = Memory::for_snapshots();
    let all = session(&Books::new(journal.clone()));
    journal.fail_after(0);
    assert!(all.launch(&pure("0.1")).unwrap_err().is_in_doubt());
    assert!(matches!(
        journal.snapshot(),
        Err(JournalError::Closed { .. })
    ));
}

#[test]
fn a_snapshot_is_taken_while_others_launch() {
    let journal = Memory::for_snapshots();
    let all = odometer()
        .open_on(&Books::new(journal.clone()), 1, vec![])
        .unwrap();
    let team = all.nested("team").open().unwrap();
    let queries = [pure("0.1"), pure("0.2")];
    std::thread::scope(|scope| {
        scope.spawn(|| (0..2000).for_each(|i| team.launch(&queries[i % 2]).unwrap()));
        let mut before = loss("0");
        for _ in 0..50 {
            let books = restored(&text(&journal));
            let all = odometer().open_on(&books, 1, vec![]).unwrap();
            let team = all.nested("team").open().unwrap();
            // All of one moment: what the team has spent, everybody has.
            assert_eq!(spent(&team, 1), spent(&all, 1));
            assert!(measures::Loss::at_most(&before, &spent(&all, 1)));
            before = spent(&all, 1);
        }
    });
}
