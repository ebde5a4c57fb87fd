//! Snapshots: what was charged, to JSON and back.

use std::sync::Arc;

use crate::common::*;
use measures::adaptive::WhitehouseFilter;
use measures::{ApproxDp, Basic, Epsilon, PureDp, Zcdp};
use odometer::{LaunchError, Odometer, RestoreError, SnapshotError, SnapshotOf};
use queryable::Root;

type Taken = SnapshotOf<Numbers, Pure>;

fn odometer() -> Odometer<Numbers, Pure> {
    Odometer::new(records(), BASIC)
}

fn root() -> Root {
    Root::seeded([3; 32])
}

fn data() -> Arc<Vec<i64>> {
    Arc::new(vec![1, 2, 3])
}

fn taken() -> (PureSession, String) {
    let session = filtered("1");
    let (tenth, other) = (pure("0.1").with_parameter("scale", "10"), pure("0.3"));
    (0..3).for_each(|_| session.launch(&tenth).unwrap());
    session
        .nested("inner")
        .open()
        .unwrap()
        .launch(&other)
        .unwrap();
    assert!(session.launch(&failing("0.05")).is_err());
    let snapshot = session.snapshot(&1).unwrap();
    (session, serde_json::to_string(&snapshot).unwrap())
}

#[test]
fn a_restored_filter_refuses_what_the_original_would_have_refused() {
    let (session, text) = taken();
    let snapshot: Taken = serde_json::from_str(&text).unwrap();
    let restored = odometer()
        .restore_filter(&root(), data(), &snapshot)
        .unwrap();
    for session in [&session, &restored] {
        assert_eq!(session.remaining(&1).unwrap(), Some(loss("0.35")));
        assert_eq!(spent(session, 1), loss("0.65"));
        refusal(session.launch(&pure("0.36")).unwrap_err());
        session.launch(&pure("0.35")).unwrap();
        assert!(session.launch(&pure("1e-30")).is_err());
    }
    assert_eq!(
        spent(&restored, 2),
        Epsilon::INFINITY,
        "what was charged is known up to distance 1"
    );
    let listed: Vec<String> = restored
        .launches()
        .unwrap()
        .iter()
        .map(|(d, n)| format!("{n} x {d}"))
        .collect();
    assert_eq!(
        listed,
        [
            "3 x `query`(scale = 10)",
            "1 x `query`",
            "1 x `failing`",
            "1 x `query`"
        ]
    );
}

#[test]
fn a_snapshot_of_a_restored_session_is_the_same_snapshot() {
    let (_, text) = taken();
    let snapshot: Taken = serde_json::from_str(&text).unwrap();
    let restored = odometer()
        .restore_filter(&root(), data(), &snapshot)
        .unwrap();
    let again = restored.snapshot(&1).unwrap();
    assert_eq!(again, snapshot);
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    assert_eq!(snapshot.charges().len(), 3);
    assert_eq!(snapshot.charges()[0].loss, loss("0.1"));
}

#[test]
fn an_odometer_is_restored_as_an_odometer_and_a_filter_as_a_filter() {
    let session = open();
    (0..5).for_each(|_| session.launch(&pure("0.1")).unwrap());
    let at_two = session.snapshot(&2).unwrap();
    let restored = odometer().restore(&root(), data(), &at_two).unwrap();
    assert_eq!(spent(&restored, 2), loss("1"));
    assert_eq!(spent(&restored, 1), loss("1"), "known at distance 2 only");
    assert_eq!(
        odometer()
            .restore_filter(&root(), data(), &at_two)
            .unwrap_err(),
        RestoreError::NotAFilter
    );
    let filter = filtered("1").snapshot(&1).unwrap();
    assert_eq!(
        odometer().restore(&root(), data(), &filter).unwrap_err(),
        RestoreError::IsAFilter
    );
}

#[test]
fn a_filter_that_has_halted_stays_halted() {
    let halting = odometer().halting();
    let session = halting.filter(1, "1").unwrap().invoke(vec![]).unwrap();
    session.launch(&pure("0.5")).unwrap();
    refusal(session.launch(&pure("0.6")).unwrap_err());
    let text = serde_json::to_string(&session.snapshot(&1).unwrap()).unwrap();
    let snapshot: Taken = serde_json::from_str(&text).unwrap();
    let restored = halting.restore_filter(&root(), data(), &snapshot).unwrap();
    assert!(matches!(
        restored.launch(&pure("0")),
        Err(LaunchError::Halted { .. })
    ));
}

#[test]
fn another_rule_or_measure_is_refused() {
    let (_, text) = taken();
    let zcdp: SnapshotOf<Numbers, Basic<Zcdp>> = serde_json::from_str(&text).unwrap();
    let error = Odometer::new(records(), Basic::new(Zcdp))
        .restore_filter(&root(), data(), &zcdp)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the snapshot was taken under Basic(PureDp), not under Basic(Zcdp)"
    );
    serde_json::from_str::<SnapshotOf<Numbers, Basic<ApproxDp>>>(&text).unwrap_err();

    // The same rule with another parameter.
    let rule = |slack: &str| WhitehouseFilter::new(slack).unwrap();
    let session = filtered_with(rule("1e-7"), "(1, 1e-6)");
    session.launch(&flat(ApproxDp, "(0.01, 0)")).unwrap();
    let snapshot = session.snapshot(&1).unwrap();
    let other = Odometer::new(records(), rule("2e-7"));
    assert!(matches!(
        other.restore_filter(&root(), data(), &snapshot),
        Err(RestoreError::Rule { .. })
    ));
    let same = Odometer::new(records(), rule("1e-7"))
        .restore_filter(&root(), data(), &snapshot)
        .unwrap();
    assert_eq!(same.remaining(&1).unwrap(), session.remaining(&1).unwrap());
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let (_, text) = taken();
    // Cut off anywhere.
    for end in 0..text.len() {
        assert!(serde_json::from_str::<Taken>(&text[..end]).is_err());
    }
    // Any other digit anywhere.
    let mut changed = 0;
    for (at, byte) in text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
    {
        let mut damaged = text.clone().into_bytes();
        damaged[at] = if byte == b'9' { b'1' } else { byte + 1 };
        let Ok(snapshot) = serde_json::from_slice::<Taken>(&damaged) else {
            continue;
        };
        changed += 1;
        odometer()
            .restore_filter(&root(), data(), &snapshot)
            .unwrap_err();
    }
    assert!(changed > 20, "{changed}");
    // Charges left out, doubled, or senseless.
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["charges"].as_array_mut().unwrap().pop();
    let snapshot: Taken = serde_json::from_value(json.clone()).unwrap();
    let error = odometer()
        .restore_filter(&root(), data(), &snapshot)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the snapshot is corrupted: its checksum is wrong"
    );
    for senseless in ["-0.1", "NaN", "", "-inf"] {
        json["charges"][0]["loss"] = senseless.into();
        serde_json::from_value::<Taken>(json.clone()).unwrap_err();
    }
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["version"] = 2.into();
    let snapshot: Taken = serde_json::from_value(json).unwrap();
    let error = odometer()
        .restore_filter(&root(), data(), &snapshot)
        .unwrap_err();
    assert_eq!(error, RestoreError::Version { found: 2 });
}

#[test]
fn launches_inside_partitions_cannot_be_written_down() {
    let session = filtered("1");
    session
        .partition(|record: &i64| *record)
        .unwrap()
        .part(1)
        .unwrap()
        .launch(&pure("0.1"))
        .unwrap();
    assert!(matches!(
        session.snapshot(&1),
        Err(SnapshotError::InsideParts)
    ));
    assert!(matches!(
        session.snapshot(&2),
        Err(SnapshotError::CappedElsewhere { .. })
    ));
}

#[test]
fn a_snapshot_is_taken_while_others_launch() {
    let session = open();
    let queries = [pure("0.1"), pure("0.1")];
    std::thread::scope(|scope| {
        scope.spawn(|| (0..2000).for_each(|i| session.launch(&queries[i % 2]).unwrap()));
        let mut before = 0;
        for _ in 0..50 {
            let snapshot = session.snapshot(&1).unwrap();
            let launches: u64 = snapshot.charges().iter().map(|charge| charge.count).sum();
            assert!(launches >= before);
            before = launches;
            odometer().restore(&root(), data(), &snapshot).unwrap();
        }
    });
}

#[test]
fn the_measure_of_a_snapshot_counts() {
    let session = open_with(Basic::new(PureDp));
    session.launch(&pure("0.1")).unwrap();
    let snapshot = session.snapshot(&1).unwrap();
    assert_eq!(snapshot.charges()[0].description.name, "query");
    assert_eq!(snapshot.charges()[0].count, 1);
}
