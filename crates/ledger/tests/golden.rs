//! Ledgers of every version of the format: they open, verify and continue. The files of old versions were written by the programs
//! of their time and stay. To write that of a new version: `GOLDEN=write cargo test -p odometry-ledger --test main golden::`.

use std::path::PathBuf;

use crate::common::{Disk, fields};
use ledger::{
    Embedded, Ledger, LedgerError, Store as _,
    chain::{Walk, WalkError},
    export::{self, ExportError},
    frame::{Frame, Kind, Unchained, VERSION},
};
use measures::{Basic, PrivacyMap, PureDp};
use odometer::journal::{
    BudgetDecision, Event, Fields, Halt, JournalError, NewBudget, Note, Opening, Place, Receipt,
    Record, SecondRun, Segment, UnknownEvent, UnknownField,
};
use odometer::{LaunchError, Measurement, Odometer, Records, Session};
use sha2::{Digest as _, Sha256};

type Pure = Session<Records<i64>, Basic<PureDp>>;
type Query = Measurement<Records<i64>, PureDp, usize>;

fn golden(version: u16) -> PathBuf {
    let name = format!("sessions-v{version}.ledger");
    let folder = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", &name];
    folder.iter().collect()
}

fn query(epsilon: &str) -> Query {
    let map = PrivacyMap::per_record(PureDp, epsilon).unwrap();
    Measurement::new("query", Records::new(), map, |data, _| Ok(data.len()))
}

fn odometer() -> Odometer<Records<i64>, Basic<PureDp>> {
    Odometer::new(Records::new(), Basic::new(PureDp)).named("all")
}

fn open(ledger: &Ledger) -> Pure {
    let budget = ledger.budget("all").unwrap_or_else(|| "10".into());
    let data = vec![1, 2, 3];
    odometer()
        .filter_on(ledger.books(), 1, budget, data)
        .unwrap()
}

/// The program whose ledger the third version has kept.
fn program(ledger: &Ledger) {
    let all = open(ledger);
    let team = all
        .nested("team")
        .capped(1, "0.5")
        .halting()
        .open()
        .unwrap();
    team.request("monday").launch(&query("0.3")).unwrap();
    assert!(team.launch(&query("0.3")).is_err(), "it halts");
    let parity = all.link("parity").partition(1, |x: &i64| x % 2).unwrap();
    for part in [0, 1] {
        let part = parity.part(part).unwrap();
        part.launch(&query("0.2")).unwrap();
    }
    ledger.checkpoint().unwrap();
    let inner = odometer().named("inner").filter(1, "0.4").unwrap();
    let inner = all.launch(&inner).unwrap();
    inner.launch(&query("0.1")).unwrap();
    drop((all, team, parity, inner));
    ledger
        .change_budget("all", "11", "the second wave")
        .unwrap();
    open(ledger).launch(&query("1")).unwrap();
}

fn budget(old: &str, new: &str) -> NewBudget {
    NewBudget {
        account: Place(0),
        old: old.into(),
        new: new.into(),
        reason: "the third wave".into(),
        guarantee: odometer::journal::Guarantee::Odometer,
    }
}

/// Everything that the fourth version has and the third has not.
fn fourth(ledger: &Ledger) {
    let write = |event: Event, fields: Fields| {
        let record = Record { event, fields };
        ledger.write_record(record).unwrap()
    };
    let opening = Opening {
        segment: Segment::name("another"),
        ..ledger.state().opening(Place(0)).unwrap().clone()
    };
    write(opening.into(), fields());
    let charge = charge(ledger);
    write(
        Note {
            on: charge,
            text: "it answered the board's question".into(),
        }
        .into(),
        Fields::default(),
    );
    write(
        SecondRun {
            account: Place(0),
            of: charge,
        }
        .into(),
        Fields::default(),
    );
    let actor = |name: &str| Fields {
        actor: Some(name.into()),
        ..Fields::default()
    };
    write(Event::ProposedBudget(budget("11", "12")), actor("one"));
    write(
        BudgetDecision {
            change: budget("11", "12"),
            approved: true,
        }
        .into(),
        actor("another"),
    );
    write(Event::ProposedBudget(budget("12", "13")), actor("one"));
    write(
        Halt {
            account: Place(6),
            reason: Some("the survey has ended".into()),
        }
        .into(),
        Fields::default(),
    );
    write(
        UnknownEvent {
            kind: 0x40,
            body: b"a newer event".to_vec(),
        }
        .into(),
        Fields {
            unknown: vec![UnknownField {
                tag: 300,
                value: b"a newer field".to_vec(),
            }],
            ..Fields::default()
        },
    );
    ledger.checkpoint().unwrap();
}

/// The first launch into the first account.
fn charge(ledger: &Ledger) -> Receipt {
    let mut found = None;
    let file = exported(ledger);
    let read = export::read(file.as_slice(), |frame| {
        if frame.kind() == Kind::Charge
            && String::from_utf8_lossy(frame.body()).contains(r#""postings":[{"account":0,"#)
        {
            found.get_or_insert(frame.receipt());
        }
    });
    read.unwrap();
    found.unwrap()
}

fn exported(ledger: &Ledger) -> Vec<u8> {
    let mut file = Vec::new();
    ledger.export(&mut file).unwrap();
    file
}

fn frames(file: &[u8]) -> Vec<Frame> {
    let (mut walk, mut frames) = (Walk::from_the_start(), Vec::new());
    let read = export::read(file, |frame| {
        frames.push(walk.step(frame.seq(), frame.bytes().to_vec()).unwrap());
    });
    read.unwrap();
    frames
}

/// A store with these records.
fn stored(frames: &[Frame]) -> (Disk, Embedded) {
    let disk = Disk::default();
    let store = Embedded::on(disk.clone()).unwrap();
    store.append(frames).unwrap();
    (disk, store)
}

fn kept(version: u16) -> Vec<Frame> {
    frames(&std::fs::read(golden(version)).unwrap())
}

#[test]
fn the_fourth_version_is_written_as_it_was() {
    let store = Embedded::on(Disk::default()).unwrap();
    store.begin().unwrap();
    let ledger = Ledger::on(Box::new(store), None).unwrap();
    program(&ledger);
    fourth(&ledger);
    ledger.verify().unwrap();
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(golden(VERSION), exported(&ledger)).unwrap();
    }
    // All but the random bytes at the beginning, and the hashes that depend on them.
    let content = |frame: &Frame| {
        let body = String::from_utf8_lossy(frame.body()).into_owned();
        let body = match frame.kind() {
            Kind::Begin => String::new(),
            Kind::Note | Kind::SecondRun => body.split(':').next().unwrap().to_owned(),
            _ => body,
        };
        (
            frame.version(),
            frame.kind(),
            frame.key().map(<[u8]>::to_vec),
            frame.fields().unwrap(),
            body,
        )
    };
    let written: Vec<_> = frames(&exported(&ledger)).iter().map(content).collect();
    let kept: Vec<_> = kept(VERSION).iter().map(content).collect();
    assert_eq!(written, kept);
}

/// The golden ledger of a version is opened, verified, and continued with records of this one.
fn continued(version: u16, spent: &str) -> Ledger {
    let before = kept(version);
    assert!(before.iter().all(|frame| frame.version() == version));
    let (disk, store) = stored(&before);
    let ledger = Ledger::on(Box::new(store), None).unwrap();
    let last = before.last().unwrap().receipt();
    assert_eq!((ledger.head(), ledger.verify().unwrap()), (last, last));
    let all = open(&ledger);
    assert_eq!(all.spent().unwrap().unwrap().to_string(), spent);
    all.launch(&query("0.1")).unwrap();
    ledger.checkpoint().unwrap();
    drop((all, ledger));

    // It is opened again by the whole chain, and by the checkpoint.
    let ledger = Ledger::on(Box::new(Embedded::on(disk.clone()).unwrap()), None).unwrap();
    let quickly = ledger::LedgerOptions::new().believing_checkpoints();
    ledger.verify().unwrap();
    let after = frames(&exported(&ledger));
    assert_eq!(
        after[..before.len()],
        before,
        "old records stay as they are"
    );
    let new = &after[before.len()..];
    assert!(new.len() >= 2 && new.iter().all(|frame| frame.version() == VERSION));
    let state = ledger.state();
    drop(ledger);
    let ledger = quickly.on(Box::new(Embedded::on(disk).unwrap())).unwrap();
    assert_eq!(ledger.state(), state);
    ledger
}

#[test]
fn the_first_version_continues() {
    let ledger = continued(1, "2.3");
    // A request of its time is not run again.
    let again = open(&ledger).request("monday").launch(&query("0.1"));
    assert!(
        matches!(again, Err(LaunchError::AlreadyCharged { .. })),
        "{again:?}"
    );
}

#[test]
fn the_third_version_continues() {
    let ledger = continued(3, "1.9");
    let team = open(&ledger)
        .nested("team")
        .capped(1, "0.5")
        .halting()
        .open()
        .unwrap();
    let again = team.request("monday").launch(&query("0.3"));
    assert!(matches!(again, Err(LaunchError::AlreadyCharged { .. })));
    assert!(matches!(
        team.launch(&query("0")),
        Err(LaunchError::Halted { .. })
    ));
}

#[test]
fn the_fourth_version_continues() {
    let ledger = continued(4, "1.9");
    let state = ledger.state();
    let another = state.named("another").unwrap();
    assert_eq!(state.fields(another), Some(&fields()));
    assert_eq!(ledger.budget("all").as_deref(), Some("12"));
    let proposal = state.proposal(Place(0)).unwrap();
    assert_eq!(proposal.change, budget("12", "13"));
    assert_eq!(proposal.fields.actor.as_deref(), Some("one"));
    let twice = SecondRun {
        account: Place(0),
        of: charge(&ledger),
    };
    let refused = ledger.write_record(twice.into()).unwrap_err();
    assert!(refused.to_string().contains("second run"), "{refused}");
}

/// A record of an older version behind one of this version: a program that writes those has refused the chain, so it is forged.
#[test]
fn versions_do_not_go_back() {
    let mut frames = kept(3);
    let mut walk = Walk::after(&frames.last().unwrap().receipt());
    frames.push(walk.seal(Unchained::new(Kind::Other(0x40), &[], b"new").unwrap()));
    let (_, store) = stored(&frames);
    ledger::chain::verify(&store).unwrap();
    // As the third version wrote it, with a valid hash.
    let old = older(&frames[2], frames.last().unwrap());
    frames.push(old);
    let (_, store) = stored(&frames);
    let refused = Ledger::on(Box::new(store), None).map(drop).unwrap_err();
    assert!(matches!(refused, LedgerError::Damage(_)), "{refused}");
    let words = "it has version 3 of the format, although a record of version 4 is before it";
    assert!(refused.to_string().contains(words), "{refused}");
}

/// The same record again, behind another one.
fn older(frame: &Frame, last: &Frame) -> Frame {
    let bytes = frame.bytes();
    let mut content = bytes[..bytes.len() - 32].to_vec();
    content[3..11].copy_from_slice(&(last.seq() + 1).to_le_bytes());
    content.extend(hash(last, &content));
    Frame::read(content, last.seq() + 1, &last.receipt().hash).unwrap()
}

/// The hash of these bytes behind a record.
fn hash(last: &Frame, content: &[u8]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(last.receipt().hash);
    hash.chain_update(content).finalize().into()
}

/// Fields and events of newer programs are written again as they were read, wherever they are written.
#[test]
fn unknown_fields_and_events_survive() {
    let store = Embedded::on(Disk::default()).unwrap();
    store.begin().unwrap();
    let copy = Ledger::on(Box::new(store), None).unwrap();
    let mut copied = 0;
    let reader = ledger::LedgerReader::on(Box::new(stored(&kept(VERSION)).1));
    let read = reader.entries(0, |entry| {
        if let ledger::WrittenDown::Event(record) = entry.written {
            // The records that these refer to have other hashes in the copy.
            if record.event.refers_to().is_none() {
                copy.write_record(record).unwrap();
                copied += 1;
            }
        }
        std::ops::ControlFlow::Continue(())
    });
    read.unwrap();
    assert!(copied > 10);
    let bytes = |frames: &[Frame]| -> Vec<(Kind, Vec<u8>, Vec<u8>)> {
        let event = |frame: &&Frame| {
            !matches!(
                frame.kind(),
                Kind::Begin | Kind::Checkpoint | Kind::Note | Kind::SecondRun
            )
        };
        let of = |frame: &Frame| {
            let fields = frame.fields().unwrap().encode().unwrap();
            (frame.kind(), fields, frame.body().to_vec())
        };
        frames.iter().filter(event).map(of).collect()
    };
    assert_eq!(bytes(&frames(&exported(&copy))), bytes(&kept(VERSION)));
    let unknown = bytes(&kept(VERSION)).into_iter();
    let unknown: Vec<_> = unknown
        .filter(|(kind, ..)| *kind == Kind::Other(0x40))
        .collect();
    assert!(unknown.iter().any(|(_, fields, body)| {
        body == b"a newer event" && fields.ends_with(b"a newer field")
    }));
}

/// What is done to the bytes of a record.
type Change = fn(&mut Vec<u8>);

/// A kind, field or version that a reader must understand stops one that does not: the error names it and the remedy.
#[test]
fn what_must_be_understood_is_refused() {
    let frames = kept(VERSION);
    let note = || Unchained::new(Kind::Other(0x40), &[], b"body").unwrap();
    let last = frames.last().unwrap();
    let forged = |change: Change| {
        let mut bytes = Walk::after(&last.receipt()).seal(note()).bytes().to_vec();
        bytes.truncate(bytes.len() - 32);
        change(&mut bytes);
        bytes.extend(hash(last, &bytes));
        bytes
    };
    let cases: [(Change, &str); 4] = [
        (
            |bytes| bytes[2] = 0xc0,
            "it is of the kind 0xc0, which this program does not know and must not ignore: use a newer program",
        ),
        (
            |bytes| bytes[0] = 5,
            "it has version 5 of the format, and this program reads up to 4: use a newer program",
        ),
        (
            |bytes| {
                bytes[13] = 7;
                bytes.splice(17..17, [0x2c, 0x81, 1, 0, 0, 0, 7]);
            },
            "it has the field 0x812c, which this program does not know and must not ignore: use a newer program",
        ),
        // The number of a known kind, with the other bit.
        (
            |bytes| bytes[2] = 4,
            "it is of the kind 0x04, which this program does not know",
        ),
    ];
    for (change, words) in cases {
        let mut records: Vec<(u64, Vec<u8>)> = (frames.iter())
            .map(|frame| (frame.seq(), frame.bytes().to_vec()))
            .collect();
        records.push((last.seq() + 1, forged(change)));
        let (store, _) = crate::common::memory::Memory::begun(|_, _| Ok(()));
        *store.records() = records;
        let refused = Ledger::on(Box::new(store), None).map(drop).unwrap_err();
        assert!(matches!(refused, LedgerError::Newer(_)), "{refused}");
        let said = refused.to_string();
        assert!(said.contains(words), "{said}");
        assert!(
            said.contains("cannot be read") && !said.contains("damaged"),
            "{said}"
        );
    }
}

/// Records that refer to others: only to earlier ones, as they are.
#[test]
fn references_are_checked() {
    let (_, store) = stored(&kept(VERSION));
    let ledger = Ledger::on(Box::new(store), None).unwrap();
    let charge = charge(&ledger);
    let wrong = Receipt {
        hash: [7; 32],
        ..charge
    };
    let later = Receipt {
        seq: 1_000,
        ..charge
    };
    let note = |on| Note {
        on,
        text: "a".into(),
    };
    for on in [wrong, later] {
        let refused = ledger.write_record(note(on).into()).unwrap_err();
        assert!(matches!(refused, JournalError::Unsupported(_)), "{refused}");
    }
    // Not a charge, and not of this account.
    let head = ledger.head();
    for (account, of) in [(Place(0), head), (Place(1), charge)] {
        let run = SecondRun { account, of };
        let refused = ledger.write_record(run.into()).unwrap_err();
        assert!(
            refused.to_string().contains("is no charge of place"),
            "{refused}"
        );
    }
    ledger.write_record(note(charge).into()).unwrap();
    ledger.verify().unwrap();
    // One that was forged into the store is found when it is read.
    let mut frames = frames(&exported(&ledger));
    let body = serde_json::to_vec(&note(wrong)).unwrap();
    let mut walk = Walk::after(&frames.last().unwrap().receipt());
    frames.push(walk.seal(Unchained::new(Kind::Note, &[], &body).unwrap()));
    let (_, store) = stored(&frames);
    let refused = Ledger::on(Box::new(store), None).map(drop).unwrap_err();
    let words = "it refers to another record";
    assert!(refused.to_string().contains(words), "{refused}");
}

/// A budget is decided as it was proposed, once, and by the proposal that came last.
#[test]
fn only_the_proposed_budget_is_approved() {
    let (_, store) = stored(&kept(VERSION));
    let ledger = Ledger::on(Box::new(store), None).unwrap();
    let decide = |change: NewBudget, approved| {
        let decision = BudgetDecision { change, approved };
        ledger.write_record(decision.into())
    };
    assert!(decide(budget("12", "14"), true).is_err());
    assert!(decide(budget("11", "12"), true).is_err(), "it was decided");
    decide(budget("12", "13"), false).unwrap();
    assert_eq!(ledger.budget("all").as_deref(), Some("12"));
    assert!(decide(budget("12", "13"), true).is_err(), "it was rejected");
    let proposed = Record::from(Event::ProposedBudget(budget("12", "20")));
    ledger.write_record(proposed).unwrap();
    let other = Record::from(budget("12", "15"));
    ledger.write_record(other).unwrap();
    assert!(
        decide(budget("12", "20"), true).is_err(),
        "the budget has changed"
    );
    assert_eq!(ledger.budget("all").as_deref(), Some("15"));
    ledger.verify().unwrap();
}

/// A partition whose parts have another price than the one that is implemented here is not opened: it would be charged wrongly.
#[test]
fn another_price_of_parts_is_refused() {
    let store = Embedded::on(Disk::default()).unwrap();
    store.begin().unwrap();
    let ledger = Ledger::on(Box::new(store), None).unwrap();
    let all = open(&ledger);
    all.link("parity").partition(1, |x: &i64| x % 2).unwrap();
    let there = ledger.state().opening(Place(1)).unwrap().clone();
    let opening = Opening {
        segment: Segment::Partition {
            name: "sparse".into(),
            version: 1,
        },
        ..there
    };
    let fields = Fields {
        partition_price: Some("sparse".into()),
        ..Fields::default()
    };
    let event = opening.into();
    ledger.write_record(Record { event, fields }).unwrap();
    let refused = all.link("sparse").partition(1, |x: &i64| x % 2).map(drop);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("the price of its parts `sparse`"),
        "{refused}"
    );
}

/// Fields, kinds and bodies are all in the chain: every flipped byte and every cut of a ledger that has them is located.
#[test]
fn every_flipped_byte_is_located() {
    let file = std::fs::read(golden(VERSION)).unwrap();
    for at in 16..file.len() {
        let mut flipped = file.clone();
        flipped[at] ^= 1 << (at % 8);
        let found = match export::read(flipped.as_slice(), |_| {}).unwrap_err() {
            ExportError::Walk(WalkError::Damage(damage)) => Some(damage.seq),
            other => panic!("{other}"),
        };
        assert_eq!(found, crate::chain::record_at(&file, at), "byte {at}");
    }
    let whole = kept(VERSION).last().unwrap().seq();
    for length in 16..file.len() {
        match export::read(&file[..length], |_| {}) {
            // Cut between two records: only an anchor notices.
            Ok(head) => assert!(head.is_none_or(|head| head.seq < whole)),
            Err(ExportError::Walk(WalkError::Damage(damage))) => {
                assert_eq!(Some(damage.seq), crate::chain::record_at(&file, length));
            }
            Err(other) => panic!("{other}"),
        }
    }
}
