//! `kill -9` of a process that launches: whatever it said had run is in the ledger.
//!
//! The child is this program, called again. `ODOMETRY_KILLS=10000` for long runs.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use crate::common::{Dice, head};
use ledger::{
    Embedded, Log,
    frame::{Kind, Unchained},
};

const CHILD: &str = "ODOMETRY_LEDGER_CHILD";

/// The child: launches until it is killed, and says what ran. (Run as a test by itself, it does nothing.)
#[test]
fn child() {
    let Some(path) = env::var_os(CHILD) else {
        return;
    };
    let wrong = env::var_os("CHARGE_AFTER_RUN").is_some();
    let store = Embedded::open(path).unwrap();
    let log = Log::after(head(&store), Box::new(store));
    let mut out = io::stdout();
    loop {
        let next = log.head().seq + 1;
        if wrong {
            writeln!(out, "ran {next}").unwrap();
            out.flush().unwrap();
            // The answer is out; the books come later.
            std::thread::sleep(Duration::from_secs(5));
        }
        let draft = Unchained::new(Kind::Note, &[], &next.to_le_bytes()).unwrap();
        log.wait(&log.stage(draft).unwrap()).unwrap();
        writeln!(out, "ran {next}").unwrap();
        out.flush().unwrap();
    }
}

fn start(path: &Path, wrong: bool) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "killed::child", "--nocapture"])
        .env(CHILD, path);
    if wrong {
        command.env("CHARGE_AFTER_RUN", "1");
    }
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the child says, line by line.
struct Said(BufReader<ChildStdout>);

impl Said {
    /// The number of the next launch that ran; nothing if the child is gone. (The test harness says things, too.)
    fn next(&mut self) -> Option<u64> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let ran = line.rsplit_once("ran ").map(|(_, rest)| rest);
            if let Some(number) = ran.and_then(|rest| rest.strip_suffix('\n')) {
                return Some(number.parse().unwrap());
            }
        }
    }
}

/// Lets the child launch so often, waits a moment, kills it, and reads what else it said: the last that ran.
fn kill(mut child: Child, launches: u64, moment: Duration) -> u64 {
    let mut said = Said(BufReader::new(child.stdout.take().unwrap()));
    let mut ran = 0;
    for _ in 0..launches {
        ran = said.next().unwrap();
    }
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    while let Some(number) = said.next() {
        ran = number;
    }
    ran
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn what_ran_before_a_kill_is_in_the_ledger() {
    let kills = env::var("ODOMETRY_KILLS").map_or(200, |text| text.parse().unwrap());
    let path = directory("killed").join("ledger.redb");
    let (mut dice, mut launches, mut before) = (Dice(3), 0, 0);
    for kill_number in 0..kills {
        // Some kills come while the ledger is begun.
        if kill_number % 20 == 0 {
            let _ = fs::remove_file(&path);
            before = 0;
        }
        let wait_for = dice.roll() % 4;
        let moment = Duration::from_micros(dice.roll() % 4000);
        let ran = kill(start(&path, false), wait_for, moment);
        if !path.exists() {
            assert_eq!(ran, 0);
            continue;
        }
        let store = Embedded::open(&path).unwrap();
        let there = head(&store).seq;
        assert!(ran <= there, "{ran} ran, and {there} are in the ledger");
        assert!(before <= there, "{before} were there before");
        launches += there - before;
        before = there;
    }
    println!("{kills} kills, {launches} launches");
    assert!(launches > kills);
}

#[test]
fn a_child_that_charges_after_running_is_found() {
    let path = directory("killed-wrong").join("ledger.redb");
    let ran = kill(start(&path, true), 1, Duration::ZERO);
    let there = head(&Embedded::open(&path).unwrap()).seq;
    assert!(ran > there, "{ran} ran, and {there} are in the ledger");
}

#[test]
fn a_second_opener_is_told() {
    let path = directory("in-use").join("ledger.redb");
    let first = Embedded::open(&path).unwrap();
    let told = Embedded::open(&path).err().unwrap().to_string();
    assert!(told.contains("is in use by another process"), "{told}");
    drop(first);
    let mut child = start(&path, true);
    let mut said = Said(BufReader::new(child.stdout.take().unwrap()));
    said.next().unwrap();
    let told = Embedded::open(&path).err().unwrap().to_string();
    assert!(told.contains("is in use by another process"), "{told}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        Embedded::open(&path).is_ok(),
        "the lock goes with the process"
    );
}
