//! What is believed when a ledger is opened: checkpoints that an anchor covers, and no others. How often anchors are written, and
//! how much a ledger can be made to grow.

use std::{fs, ops::ControlFlow, path::PathBuf};

use crate::common::{Disk, begun};
use ledger::frame::{Kind, Unchained};
use ledger::{Embedded, Ledger, LedgerError, LedgerOptions, LedgerReader, Log, anchor};
use measures::{Basic, PrivacyMap, PureDp};
use odometer::journal::{JournalError, Place, Receipt, State};
use odometer::{LaunchError, Measurement, Odometer, OpenError, Records, Session};

type Pure = Session<Records<i64>, Basic<PureDp>>;

fn records() -> Records<i64> {
    Records::new()
}

fn query() -> Measurement<Records<i64>, PureDp, usize> {
    let map = PrivacyMap::per_record(PureDp, "0.1").unwrap();
    Measurement::new("query", records(), map, |data, _| Ok(data.len()))
}

fn odometer() -> Odometer<Records<i64>, Basic<PureDp>> {
    Odometer::new(records(), Basic::new(PureDp)).named("all")
}

fn open(ledger: &Ledger) -> Pure {
    odometer()
        .filter_on(ledger.books(), 1, "1", vec![3, 1, 4])
        .unwrap()
}

fn left(ledger: &Ledger) -> String {
    open(ledger).remaining(1).unwrap().text().unwrap()
}

fn stored(disk: &Disk) -> Box<Embedded> {
    Box::new(Embedded::on(disk.clone()).unwrap())
}

/// A place for files of this test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("odometry-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// A ledger with three charges of 0.1, and behind them a checkpoint that knows of none. Its chain is whole.
fn forged() -> Disk {
    let disk = Disk::default();
    let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    let session = open(&ledger);
    for _ in 0..3 {
        session.launch(&query()).unwrap();
    }
    let opening = ledger.state().opening(Place(0)).cloned();
    drop((session, ledger));
    let mut state = State::new();
    state.apply(&opening.unwrap().into()).unwrap();
    append(&disk, &serde_json::to_vec(&state).unwrap());
    disk
}

/// Of all records.
fn receipts(disk: &Disk) -> Vec<Receipt> {
    let mut receipts = Vec::new();
    LedgerReader::on(stored(disk))
        .entries(0, |entry| {
            receipts.push(entry.receipt);
            ControlFlow::Continue(())
        })
        .unwrap();
    receipts
}

/// Appends a checkpoint, as anybody can who can write the file.
fn append(disk: &Disk, body: &[u8]) {
    let head = receipts(disk).pop().unwrap();
    let log = Log::after(head, stored(disk));
    let ticket = log.stage(Unchained::new(Kind::Checkpoint, &[], body).unwrap());
    log.wait(&ticket.unwrap()).unwrap();
}

fn invalid(opened: Result<Ledger, LedgerError>) -> bool {
    matches!(opened.err(), Some(LedgerError::Invalid { reason, .. }) if reason.contains("something else"))
}

#[test]
fn a_checkpoint_that_somebody_appended_is_not_believed() {
    let disk = forged();
    assert!(invalid(Ledger::on(stored(&disk), None)));
    // Whoever says that nobody else can write to the file gets what is there.
    let options = LedgerOptions::new().believing_checkpoints();
    assert_eq!(left(&options.on(stored(&disk)).unwrap()), "1");
}

#[test]
fn an_anchor_covers_the_checkpoints_before_it_and_no_others() {
    let folder = folder("covered");
    let file = folder.join("anchor");
    let disk = forged();
    let options = || LedgerOptions::new().anchored(&file);
    let receipts = receipts(&disk);
    let last = receipts.len() - 1;
    anchor::write(&file, &receipts[last - 1]).unwrap();
    assert!(invalid(options().on(stored(&disk))));
    // Whoever wrote the anchor has vouched for what is before it.
    anchor::write(&file, &receipts[last]).unwrap();
    assert_eq!(left(&options().on(stored(&disk)).unwrap()), "1");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_honest_checkpoint_opens_either_way() {
    let disk = Disk::default();
    let ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    open(&ledger).launch(&query()).unwrap();
    ledger.checkpoint().unwrap();
    open(&ledger).launch(&query()).unwrap();
    drop(ledger);
    assert_eq!(left(&Ledger::on(stored(&disk), None).unwrap()), "0.8");
    let options = LedgerOptions::new().believing_checkpoints();
    assert_eq!(left(&options.on(stored(&disk)).unwrap()), "0.8");
}

#[test]
fn an_anchor_is_written_after_every_so_many_records() {
    let folder = folder("often");
    let (file, elsewhere, copy) = (folder.join("l"), folder.join("anchor"), folder.join("copy"));
    let options = || LedgerOptions::new().anchored(&elsewhere).anchor_every(3);
    let ledger = options().open(&file).unwrap();
    assert_eq!(ledger.unanchored(), Some(0));
    let session = open(&ledger);
    let mut behind = Vec::new();
    for _ in 0..7 {
        session.launch(&query()).unwrap();
        behind.push(ledger.unanchored().unwrap());
    }
    // The session itself was a record.
    assert_eq!(behind, [2, 0, 1, 2, 0, 1, 2]);
    drop((session, ledger));
    let anchored = anchor::read(&elsewhere).unwrap().unwrap();

    // A copy from before the newest anchor is refused; one from behind it is not noticed.
    let older = Ledger::open(&copy).unwrap();
    open(&older);
    drop(older);
    assert!(matches!(
        options().open(&copy).err(),
        Some(LedgerError::Anchor(_))
    ));
    let ledger = options().open(&file).unwrap();
    assert_eq!(ledger.head().seq, anchored.seq + 2);
    assert_eq!(left(&ledger), "0.3");

    // Where the anchor cannot be written, charges stand, and closing says so.
    let session = open(&ledger);
    fs::remove_file(&elsewhere).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    session.launch(&query()).unwrap();
    session.launch(&query()).unwrap();
    session.launch(&query()).unwrap();
    assert_eq!(ledger.unanchored(), Some(3));
    assert!(matches!(
        ledger.close(),
        Err(LedgerError::AnchorFile { .. })
    ));
    drop((session, ledger));
    fs::remove_dir_all(&folder).unwrap();
}

fn full<X>(opened: Result<X, OpenError>) -> bool {
    matches!(opened.err(), Some(OpenError::Journal(error)) if matches!(*error, JournalError::Full { .. }))
}

#[test]
fn an_account_has_as_many_places_below_it_as_its_quota_says() {
    let disk = Disk::default();
    let mut ledger = Ledger::on(Box::new(begun(&disk)), None).unwrap();
    let odometer = odometer().quota(3);
    let open = |ledger: &Ledger| odometer.filter_on(ledger.books(), 1, "1", vec![1]).unwrap();
    let filter = |name: &str| {
        let odometer = Odometer::new(records(), Basic::new(PureDp)).named(name);
        odometer.filter(1, "0.2").unwrap()
    };
    for _ in 0..2 {
        let all = open(&ledger);
        let team = all.nested("team").open().unwrap();
        team.nested("deeper").open().unwrap();
        match all.launch(&filter("filter")) {
            Err(LaunchError::Journal(error)) => {
                assert!(matches!(*error, JournalError::Exists { .. }), "{error}");
            }
            launched => launched.map(drop).unwrap(),
        }
        let head = ledger.head();
        assert!(full(all.nested("another").open()));
        assert!(full(team.nested("another").open()));
        let refused = team.launch(&filter("another")).unwrap_err();
        assert!(
            !refused.was_charged() && refused.to_string().contains("quota"),
            "{refused}"
        );
        assert_eq!(ledger.head(), head);
        // What is there stays there, and works.
        team.launch(&query()).unwrap();
        all.resume(&filter("filter")).unwrap();
        drop((all, team));
        drop(ledger);
        ledger = Ledger::on(stored(&disk), None).unwrap();
    }
    assert_eq!(open(&ledger).remaining(1).unwrap().text().unwrap(), "0.6");
}

/// Another process has written a newer one.
#[test]
fn an_anchor_is_never_replaced_by_an_older_one() {
    let folder = folder("newer");
    let elsewhere = folder.join("anchor");
    let ledger = LedgerOptions::new().anchored(&elsewhere);
    let ledger = ledger.open(folder.join("l")).unwrap();
    let newer = Receipt {
        seq: ledger.head().seq + 10,
        hash: [7; 32],
    };
    anchor::write(&elsewhere, &newer).unwrap();
    open(&ledger).launch(&query()).unwrap();
    ledger.close().unwrap();
    assert_eq!(anchor::read(&elsewhere).unwrap(), Some(newer));
    drop(ledger);
    fs::remove_dir_all(&folder).unwrap();
}
