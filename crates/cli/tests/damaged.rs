//! Ledgers that cannot be trusted: the exit code is 4, and the record is named.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::program::month;
use crate::common::{Ran, folder, run_in};
use odometry::ledger::chain::Walk;
use odometry::ledger::frame::{Kind, Unchained};
use odometry::ledger::{Embedded, Untouched};
use redb::TableDefinition;

fn year(name: &str) -> PathBuf {
    let folder = folder(name);
    month(&folder.join("year.redb"), "january");
    folder
}

fn on(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[arguments, &["--store", "year.redb"]].concat(), "")
}

fn distrusted(folder: &Path, arguments: &[&str], words: &str) {
    let ran = on(folder, arguments);
    assert_eq!(ran.code, 4, "{arguments:?}: {}{}", ran.out, ran.err);
    assert!(ran.err.contains(words), "{words} in {}", ran.err);
    assert!(!ran.err.contains("panicked at"), "{}", ran.err);
}

#[test]
fn what_is_no_ledger() {
    let folder = folder("no-ledger");
    let path = folder.join("year.redb");
    for bytes in [&b""[..], b"name,epsilon\n", &[0; 100_000]] {
        fs::write(&path, bytes).unwrap();
        distrusted(&folder, &["show"], "is no ledger, or not a whole one");
    }
    fs::remove_file(&path).unwrap();
    let nowhere = on(&folder, &["show"]);
    assert_eq!(nowhere.code, 1);
    assert!(!path.exists(), "looking begins nothing");
    fs::create_dir(&path).unwrap();
    let directory = on(&folder, &["show"]);
    assert!(matches!(directory.code, 1 | 4), "{}", directory.err);
}

/// The place of some bytes in a file.
fn find(haystack: &[u8], needle: &[u8]) -> Vec<usize> {
    let windows = haystack.windows(needle.len()).enumerate();
    windows
        .filter(|(_, window)| *window == needle)
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn a_charge_that_was_made_smaller_is_found() {
    let folder = year("smaller");
    let path = folder.join("year.redb");
    let mut bytes = fs::read(&path).unwrap();
    // Every copy of a loss that is in the file: a forger who knows the format, but not the chain.
    let places = find(&bytes, br#""losses":["0.25"]"#);
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 11..at + 15].copy_from_slice(b"0.01");
    }
    fs::write(&path, bytes).unwrap();
    for arguments in [
        &["verify"][..],
        &["show"],
        &["charges"],
        &["report", "--html", "page.html"],
    ] {
        distrusted(&folder, arguments, "");
    }
    assert!(!folder.join("page.html").exists());
}

/// Wherever a byte is flipped, what is told is an error, or what was told before.
#[test]
fn flipped_bytes_are_found_or_mean_the_same() {
    let folder = year("flipped");
    let path = folder.join("year.redb");
    let (whole, told) = (fs::read(&path).unwrap(), on(&folder, &["verify"]).out);
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap();
    let mut found = 0;
    for at in (0..used).step_by(used / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(&path, &bytes).unwrap();
        let ran = on(&folder, &["verify"]);
        match ran.code {
            0 => assert_eq!(ran.out, told, "byte {at}"),
            code => {
                assert_eq!(code, 4, "byte {at}: {}", ran.err);
                found += 1;
            }
        }
        assert!(!ran.err.contains("panicked at"), "{}", ran.err);
        assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was repaired");
    }
    assert!(found > 0);
}

#[test]
fn a_file_that_was_cut_off() {
    let folder = year("cut");
    let path = folder.join("year.redb");
    let whole = fs::read(&path).unwrap();
    for part in [1, 2, 3, 7] {
        fs::write(&path, &whole[..whole.len() * part / 8]).unwrap();
        distrusted(&folder, &["verify"], "");
        distrusted(&folder, &["show"], "");
    }
}

/// One more record, chained and stored as another program may have done it: the store's own checksums are right.
fn written(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    const RECORDS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("records");
    let (store, mut walk) = (Embedded::open(path).unwrap(), Walk::from_the_start());
    walk.through(&store, |_| std::ops::ControlFlow::Continue(()))
        .unwrap();
    drop(store);
    let draft = Unchained::new(Kind::Charge, &[], b"{\"Later\":{\"what\":1}}").unwrap();
    let frame = walk.seal(draft);
    let mut bytes = frame.bytes().to_vec();
    change(&mut bytes);
    let database = redb::Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut records = transaction.open_table(RECORDS).unwrap();
        let before = records.insert(frame.seq(), bytes.as_slice()).unwrap();
        assert!(before.is_none(), "nothing was overwritten");
    }
    transaction.commit().unwrap();
}

#[test]
fn a_record_of_a_newer_program_is_not_read_as_something_else() {
    let folder = year("newer");
    written(&folder.join("year.redb"), |_| {});
    for command in ["verify", "show", "charges"] {
        distrusted(&folder, &[command], "does not fit those before it");
        distrusted(&folder, &[command], "newer program");
    }
}

#[test]
fn a_newer_version_of_the_format_is_refused() {
    let folder = year("version");
    written(&folder.join("year.redb"), |bytes| bytes[0] = 9);
    for command in ["verify", "show", "charges"] {
        distrusted(&folder, &[command], "it has version 9 of the format");
        distrusted(&folder, &[command], "use a newer program");
    }
}

#[test]
fn a_rollback_behind_the_anchor_is_noticed() {
    let folder = year("rollback");
    let path = folder.join("year.redb");
    let old = fs::read(&path).unwrap();
    let wrote = on(&folder, &["anchor", "write", "january"]);
    assert_eq!(wrote.code, 0, "{}", wrote.err);
    month(&path, "march");
    let behind = on(&folder, &["anchor", "check", "january"]);
    assert_eq!(behind.code, 0);
    assert!(behind.out.contains("records are newer"), "{}", behind.out);
    assert_eq!(on(&folder, &["anchor", "write", "march"]).code, 0);
    assert_eq!(on(&folder, &["verify", "--anchor", "march"]).code, 0);
    // The file of January is put back: intact by itself, and older than it was.
    fs::write(&path, old).unwrap();
    let intact = on(&folder, &["verify"]);
    assert_eq!(intact.code, 0);
    assert!(
        intact.out.contains("Without --anchor nobody can tell"),
        "{}",
        intact.out
    );
    let kept = fs::read(folder.join("march")).unwrap();
    for arguments in [
        &["verify", "--anchor", "march"][..],
        &["show", "--anchor", "march"],
        &["anchor", "check", "march"],
        &["anchor", "write", "march"],
        &[
            "budget",
            "the hospital",
            "4",
            "--reason",
            "x",
            "--anchor",
            "march",
        ],
    ] {
        distrusted(&folder, arguments, "the ledger was rolled back");
    }
    assert_eq!(
        fs::read(folder.join("march")).unwrap(),
        kept,
        "an anchor is never set back"
    );
    assert_eq!(on(&folder, &["verify", "--anchor", "january"]).code, 0);
    // Another ledger of the same length is not this one.
    fs::remove_file(&path).unwrap();
    month(&path, "january");
    distrusted(
        &folder,
        &["verify", "--anchor", "january"],
        "another one than that of its anchor",
    );
    fs::write(folder.join("odd"), "not a receipt\n").unwrap();
    for anchor in ["odd", "missing"] {
        assert_eq!(
            on(&folder, &["verify", "--anchor", anchor]).code,
            1,
            "{anchor}"
        );
    }
}

/// What a killed program leaves behind is read, and left as it is.
#[test]
fn a_file_that_nobody_closed_is_read() {
    let folder = year("unclosed");
    let (path, copy) = (folder.join("year.redb"), folder.join("copy.redb"));
    let open = Embedded::open(&path).unwrap();
    fs::copy(&path, &copy).unwrap();
    drop(open);
    let before = fs::read(&copy).unwrap();
    let ran = run_in(&folder, &["verify", "--store", "copy.redb"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read(&copy).unwrap(), before);
    Untouched::open(&copy).unwrap();
}
