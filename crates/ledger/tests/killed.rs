//! `kill -9` of a process that launches under a filter, from four threads, alone and together: whatever ran is in the
//! ledger, nothing that was there is lost, and the budget is never passed.
//!
//! The child is this program, called again. `ODOMETRY_KILLS=10000` for long runs.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

use crate::common::Dice;
use ledger::{Embedded, Ledger};
use odometry::odometer::LaunchError;
use odometry::prelude::*;

const CHILD: &str = "ODOMETRY_LEDGER_CHILD";
const WRONG: &str = "ODOMETRY_CHARGE_AFTER_RUN";

type Organisation = Session<Records<u32>, Basic<PureDp>>;

/// What may be launched: names and losses.
const LOSSES: [(&str, &str); 3] = [("a", "0.01"), ("b", "0.003"), ("c", "0.0007")];
const THREADS: usize = 4;

/// How often each of them ran, or was charged.
type Counts = [u64; 3];

/// Says on the standard output, in one write, that this ran: its answer is out.
fn say(name: &str) {
    let line = format!("\nran {name}\n");
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

fn query((name, loss): (&'static str, &str)) -> Measurement<Records<u32>, PureDp, u32> {
    let map = PrivacyMap::per_record(PureDp, loss).unwrap();
    Measurement::new(name, Records::<u32>::new(), map, move |_, _| {
        say(name);
        Ok(1)
    })
}

fn organisation(ledger: &Ledger, budget: &str) -> Organisation {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    let session = odometer.filter_on(ledger.books(), 1, budget, vec![1, 2, 3]);
    session.unwrap()
}

/// The child: launches until it is killed or refused, and prints each launch that ran. (Run as a test by itself, it does nothing.)
#[test]
fn child() {
    let (Some(path), Ok(budget)) = (env::var_os(CHILD), env::var("ODOMETRY_BUDGET")) else {
        return;
    };
    let ledger = Ledger::open(path).unwrap();
    let session = organisation(&ledger, &budget);
    if env::var_os(WRONG).is_some() {
        // The answer is out; the charge comes later.
        say(LOSSES[0].0);
        thread::sleep(Duration::from_secs(60));
        session.launch(&query(LOSSES[0])).unwrap();
    }
    let seed = env::var("ODOMETRY_SEED").unwrap().parse::<u64>().unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let (session, ledger) = (&session, &ledger);
            scope.spawn(move || launch_until_refused(session, ledger, Dice(seed * 31 + thread)));
        }
    });
}

fn launch_until_refused(session: &Organisation, ledger: &Ledger, mut dice: Dice) {
    let team = session.nested(format!("team{}", dice.roll() % 2));
    let team = team.capped(1, "1000").open().unwrap();
    let queries = LOSSES.map(query);
    let mut refused = 0;
    while refused < 50 {
        let query = &queries[dice.roll() as usize % queries.len()];
        let together = [query.clone(), query.clone(), query.clone()];
        let launched = match dice.roll() % 4 {
            0 => session.launch(query).map(drop),
            1 => team
                .launch_all(&together)
                .into_iter()
                .try_for_each(|answer| answer.map(drop)),
            _ => team.launch(query).map(drop),
        };
        match launched {
            Ok(()) => {}
            Err(LaunchError::Refused(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        if dice.roll().is_multiple_of(61) {
            ledger.checkpoint().unwrap();
        }
    }
}

fn start(path: &Path, budget: &str, seed: u64, wrong: bool) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "killed::child", "--nocapture"])
        .env(CHILD, path)
        .env("ODOMETRY_BUDGET", budget)
        .env("ODOMETRY_SEED", seed.to_string());
    if wrong {
        command.env(WRONG, "1");
    }
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// What the child says, line by line.
struct Said(BufReader<ChildStdout>);

impl Said {
    fn of(child: &mut Child) -> Self {
        Self(BufReader::new(child.stdout.take().unwrap()))
    }

    /// Which query ran next; nothing if the child is gone. (The test harness says things, too.)
    fn next(&mut self) -> Option<usize> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let ran = line.strip_prefix("ran ").map(str::trim_end);
            let at = ran.and_then(|ran| LOSSES.iter().position(|(name, _)| *name == ran));
            if at.is_some() {
                return at;
            }
        }
    }
}

/// Lets the child run for a moment after its first `launches`, kills it, and counts all that ran.
fn kill(mut child: Child, launches: u64, moment: Duration) -> Counts {
    let mut said = Said::of(&mut child);
    let mut ran = [0; 3];
    for _ in 0..launches {
        // A child that has spent the budget ends by itself.
        if let Some(at) = said.next() {
            ran[at] += 1;
        }
    }
    // What is said meanwhile is read: a full pipe would stop the child.
    let reader = thread::spawn(move || {
        while let Some(at) = said.next() {
            ran[at] += 1;
        }
        ran
    });
    thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// How often each was charged, and what is spent, in a ledger that verifies.
fn charged(path: &Path, budget: &str) -> (Counts, Exact) {
    let ledger = Ledger::open(path).unwrap();
    ledger.verify().unwrap();
    let session = organisation(&ledger, budget);
    let mut counts = [0; 3];
    for (launch, count) in session.launches().unwrap() {
        let text = format!("{launch:?}");
        let named = |(name, _): &(&str, &str)| text.contains(&format!("\"{name}\""));
        counts[LOSSES.iter().position(named).unwrap()] += count;
    }
    let spent = session.spent().unwrap().unwrap().bound().value().clone();
    let losses = LOSSES.map(|(_, loss)| loss.parse::<Exact>().unwrap());
    let sum = losses.iter().zip(counts).map(|(loss, n)| loss.times(n));
    assert_eq!(spent, sum.fold(Exact::ZERO, |sum, loss| &sum + &loss));
    (counts, spent)
}

fn all_at_most(less: Counts, more: Counts) -> bool {
    less.iter().zip(more).all(|(less, more)| *less <= more)
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn what_ran_before_a_kill_is_in_the_ledger() {
    let kills: u64 = env::var("ODOMETRY_KILLS").map_or(100, |text| text.parse().unwrap());
    let path = directory("killed").join("ledger.redb");
    let mut dice = Dice(3);
    let (mut ran, mut before, mut launches, mut spent_out) = ([0; 3], [0; 3], 0, 0);
    let mut budget = "0.3";
    for number in 0..kills {
        // Some kills come while the ledger is begun, and some when the budget is spent.
        if number.is_multiple_of(12) {
            let _ = fs::remove_file(&path);
            (ran, before) = ([0; 3], [0; 3]);
            budget = if number.is_multiple_of(24) {
                "0.3"
            } else {
                "40"
            };
        }
        let wait_for = if number.is_multiple_of(3) {
            0
        } else {
            dice.roll() % 40
        };
        let moment = Duration::from_micros(dice.roll() % 12_000);
        let now = kill(start(&path, budget, number, false), wait_for, moment);
        ran = [0, 1, 2].map(|at| ran[at] + now[at]);
        if !path.exists() {
            assert_eq!(ran, [0; 3]);
            continue;
        }
        let (there, spent) = charged(&path, budget);
        assert!(
            all_at_most(ran, there),
            "{ran:?} ran, {there:?} are in the ledger"
        );
        assert!(all_at_most(before, there), "{before:?} were there before");
        let budget: Exact = budget.parse().unwrap();
        let left = budget
            .checked_sub(&spent)
            .expect("the budget is not passed");
        spent_out += u32::from(left < LOSSES[2].1.parse().unwrap());
        launches += there.iter().sum::<u64>() - before.iter().sum::<u64>();
        before = there;
    }
    println!("{kills} kills, {launches} launches, the budget was spent after {spent_out}");
    assert!(launches > kills, "{launches} launches");
    assert!(spent_out > 0, "the budget was never spent");
}

#[test]
fn a_child_that_charges_after_running_is_found() {
    let path = directory("killed-wrong").join("ledger.redb");
    let ran = kill(start(&path, "2", 0, true), 1, Duration::ZERO);
    let (there, _) = charged(&path, "2");
    assert!(
        !all_at_most(ran, there),
        "{ran:?} ran, {there:?} are in the ledger"
    );
}

#[test]
fn a_second_opener_is_told() {
    let path = directory("in-use").join("ledger.redb");
    let first = Embedded::open(&path).unwrap();
    let told = Embedded::open(&path).err().unwrap().to_string();
    assert!(told.contains("is in use by another process"), "{told}");
    drop(first);
    let mut child = start(&path, "2", 0, true);
    Said::of(&mut child).next().unwrap();
    let told = Embedded::open(&path).err().unwrap().to_string();
    assert!(told.contains("is in use by another process"), "{told}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        Embedded::open(&path).is_ok(),
        "the lock goes with the process"
    );
}
