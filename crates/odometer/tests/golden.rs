//! Records of every version of the format are read as they were meant. The golden files of old versions stay; to write that of a
//! new one: `GOLDEN=write cargo test -p odometry-odometer --test main golden`.

use std::path::PathBuf;

use measures::convert::PureToApprox;
use measures::fixed::Optimal;
use measures::{ApproxDp, Basic, PrivacyMap, PureDp, SymmetricDistance, times};
use odometer::journal::{Books, Event, Memory, Place, Record, State};
use odometer::{Compositor, Measurement, Odometer, Records, Transformation};

type Query<A> = Measurement<Records<i64>, PureDp, A>;

const RECORDS: Records<i64> = Records::new();

fn golden(name: &str) -> PathBuf {
    let folder = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name];
    folder.iter().collect()
}

fn read(name: &str) -> Vec<Record> {
    let text = std::fs::read_to_string(golden(name)).unwrap();
    text.lines()
        .map(|line| {
            let event: Event = serde_json::from_str(line).unwrap();
            // What was read is written as it was: nothing has two forms.
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
            event.into()
        })
        .collect()
}

fn query(map: PrivacyMap<SymmetricDistance, PureDp>) -> Query<usize> {
    Measurement::new("query", RECORDS, map, |data, _| Ok(data.len()))
}

fn linear(epsilon: &str) -> Query<usize> {
    query(PrivacyMap::per_record(PureDp, epsilon).unwrap())
}

fn odometer() -> Odometer<Records<i64>, Basic<PureDp>> {
    Odometer::new(RECORDS, Basic::new(PureDp)).named("all")
}

fn state(records: &[Record]) -> State {
    let mut state = State::new();
    for record in records {
        state.apply(record).unwrap();
    }
    state
}

#[test]
fn the_first_version_is_read_as_it_was_meant() {
    let records = read("records-v1.jsonl");
    let state = state(&records);
    let paths: Vec<String> = (0..state.len() as u32)
        .map(|place| state.path(Place(place)).to_string())
        .collect();
    assert_eq!(
        paths,
        [
            "all",
            "all/team",
            "all/twice",
            "all/parity@1",
            "all/parity@1/[0]",
            "all/parity@1/[1]",
            "all/inner",
            "approximate",
            "approximate/pure",
        ]
    );
    // Its accounts are opened with what they were charged, and its links are those of unversioned transformations.
    let books = Books::new(Memory::replaying(&records).unwrap());
    let session = odometer()
        .filter_on(&books, 1, "10", vec![1, 2, 3])
        .unwrap();
    // 0.1 and 1, a team's 0.3, 0.1 at twice the distance, the worse of two parts, and a filter in full.
    assert_eq!(session.spent().unwrap().unwrap().to_string(), "2.3");
    let twice = Transformation::new(RECORDS, RECORDS, times(2), |data: &Vec<i64>| {
        Ok(data.clone())
    });
    let link = session.link("twice").nest_after(&twice).unwrap();
    assert_eq!(link.privacy_loss(2).unwrap().to_string(), "0.2");
    let inner = odometer().named("inner").filter(1, "0.4").unwrap();
    let inner = session.resume(&inner).unwrap();
    assert_eq!(inner.spent().unwrap().unwrap().to_string(), "0.1");
    let team = session
        .nested("team")
        .capped(1, "0.5")
        .halting()
        .open()
        .unwrap();
    assert!(team.launch(&linear("0")).is_err(), "it has halted");
}

/// Everything that the third version has and the first has not. (There is no second: the ledger has another use for the number.)
fn third() -> Vec<Record> {
    let journal = Memory::new();
    let books = Books::new(journal.clone());
    let organisation = Odometer::new(RECORDS, Basic::new(ApproxDp)).named("all");
    let organisation = organisation.answering_at_most(1000);
    let budget = "(9, 1e-6)";
    let all = organisation
        .filter_on(&books, 1, budget, vec![1, 2, 3])
        .unwrap();
    let pure = all
        .link("pure")
        .nest_in(Basic::new(PureDp), PureToApprox)
        .unwrap();
    pure.launch(&linear("0.1")).unwrap();
    let filter = PrivacyMap::<SymmetricDistance, _>::constant_up_to(PureDp, 4, "0.2").unwrap();
    pure.launch(&query(
        filter.plus(&PrivacyMap::per_record(PureDp, "0.1").unwrap()),
    ))
    .unwrap();
    let twice = |data: &Vec<i64>| Ok([data.clone(), data.clone()].concat());
    let twice = Transformation::multiplying(RECORDS, RECORDS, 2, twice).versioned(7);
    let chain = twice.then(&twice).unwrap();
    pure.link("fourfold")
        .nest_after(&chain)
        .unwrap()
        .launch(&query(filter))
        .unwrap();
    let group = PrivacyMap::<SymmetricDistance, _>::constant_up_to(ApproxDp, 1, "(0.1, 1e-9)")
        .unwrap()
        .group();
    let group = Measurement::new("group", RECORDS, group, |_, _| Ok(()));
    all.launch(&group).unwrap();
    let slots = Compositor::new(
        RECORDS,
        Optimal::new("1e-7").unwrap(),
        1,
        vec!["(0.1, 0)"; 2],
    );
    let slots = slots
        .named("slots")
        .answering_at_most(10)
        .measurement()
        .unwrap();
    all.launch(&slots)
        .unwrap()
        .launch(&group_of_zero())
        .unwrap();
    journal.records()
}

fn group_of_zero() -> Measurement<Records<i64>, ApproxDp, ()> {
    let map = PrivacyMap::constant_up_to(ApproxDp, 1, "(0.1, 0)").unwrap();
    Measurement::new("slot", RECORDS, map, |_, _| Ok(()))
}

#[test]
fn the_third_version_is_written_as_it_was() {
    let lines: Vec<String> = third()
        .iter()
        .map(|record| serde_json::to_string(&record.event).unwrap())
        .collect();
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(golden("records-v3.jsonl"), lines.join("\n") + "\n").unwrap();
    }
    assert_eq!(read("records-v3.jsonl"), third());
}

/// A map that nobody here knows any more is known where it was written down, and infinite elsewhere.
#[test]
fn a_form_of_a_conversion_that_is_gone_counts_at_its_distances() {
    let text = std::fs::read_to_string(golden("records-v3.jsonl")).unwrap();
    let gone = text.replace("pure-to-approximate", "gone");
    let records: Vec<Record> = gone
        .lines()
        .map(|line| serde_json::from_str::<Event>(line).unwrap().into())
        .collect();
    let loss = |records: &[Record], d_in| {
        let books = Books::new(Memory::replaying(records).unwrap());
        let organisation = Odometer::new(RECORDS, Basic::new(ApproxDp)).named("all");
        let organisation = organisation.answering_at_most(1000);
        let all = organisation
            .filter_on(&books, 1, "(9, 1e-6)", vec![])
            .unwrap();
        all.privacy_loss(d_in).unwrap().bound().epsilon().clone()
    };
    let known = read("records-v3.jsonl");
    assert_eq!(loss(&records, 1), loss(&known, 1));
    assert!(loss(&known, 1).is_finite() && loss(&records, 2).is_infinite());
}
