//! Eight processes on one budget, on a real server that crashes in the middle: the budget is spent to exactly zero, no request is
//! charged or run twice, and nothing runs uncharged.
//!
//! The children are this program, called again. The function of each launch says on standard output that it ran.

use std::{
    collections::HashMap,
    env,
    io::{BufRead as _, BufReader, Write as _},
    ops::ControlFlow,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use crate::server::{Server, server};
use ledger::{Ledger, LedgerReader, WrittenDown};
use odometry::odometer::journal::Event;
use odometry::odometer::{LaunchError, OpenError};
use odometry::prelude::*;

const CHILD: &str = "ODOMETRY_POSTGRES_CHILD";
const MISTAKE: &str = "ODOMETRY_POSTGRES_MISTAKE";
const PROCESSES: usize = 8;
const THREADS: usize = 2;
/// A hundredth each.
const LAUNCHES: usize = 400;
const BUDGET: &str = "4";

type Query = Measurement<Records<u32>, PureDp, u32>;

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    // In one piece, and on a line of its own.
    out.write_all(format!("\n{what}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn query(key: String) -> Query {
    let map = PrivacyMap::per_record(PureDp, "0.01").unwrap();
    Measurement::new("query", Records::<u32>::new(), map, move |data, _| {
        say(&format!("ran {key}"));
        Ok(data.len() as u32)
    })
}

fn opened(ledger: &Ledger) -> Result<Session<Records<u32>, Basic<PureDp>>, OpenError> {
    let odometer = Odometer::new(Records::<u32>::new(), Basic::new(PureDp)).named("all");
    odometer.filter_on(ledger.books(), 1, BUDGET, vec![1, 2, 3])
}

/// A server that has crashed is back within a minute.
fn connected(address: &str) -> Ledger {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match Ledger::connect(address) {
            Ok(ledger) => return ledger,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The child: launches until nothing is left, and opens the ledger again whenever it was closed. (Run as a test by itself, it does
/// nothing.)
#[test]
fn child() {
    let (Ok(address), Ok(name)) = (env::var(CHILD), env::var("NAME")) else {
        return;
    };
    let wrong = env::var_os(MISTAKE).is_some();
    let (mut thread_done, mut tried) = ([false; THREADS], [0; THREADS]);
    // As often as anybody crashes, and then some.
    for _ in 0..60 {
        let ledger = connected(&address);
        let Ok(session) = opened(&ledger) else {
            continue;
        };
        thread::scope(|scope| {
            for ((number, done), tried) in (0..).zip(&mut thread_done).zip(&mut tried) {
                let (session, name) = (&session, &name);
                scope.spawn(move || {
                    while !*done {
                        let key = format!("{name}.{number}.{tried}");
                        if wrong {
                            say(&format!("ran {key}"));
                        }
                        match session.request(&*key).launch(&query(key.clone())) {
                            Ok(_) | Err(LaunchError::AlreadyCharged { .. }) => *tried += 1,
                            Err(LaunchError::Refused(_)) => *done = true,
                            // Nothing ran. The same request again, on a ledger that is opened again.
                            Err(_) => break,
                        }
                    }
                });
            }
        });
        if thread_done == [true; THREADS] {
            say("spent");
            return;
        }
    }
}

/// The children, and what they say.
struct Running {
    children: Vec<Child>,
    said: Receiver<String>,
}

fn start(server: &Server, mistake: bool) -> Running {
    let (sender, said) = mpsc::channel();
    let children = (0..PROCESSES).map(|process| {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["--exact", "postgres_processes::child", "--nocapture"])
            .env(CHILD, server.address("writer"))
            .env("NAME", process.to_string());
        if mistake {
            command.env(MISTAKE, "1");
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (lines, sender) = (BufReader::new(child.stdout.take().unwrap()), sender.clone());
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        child
    });
    let children = children.collect();
    Running { children, said }
}

impl Running {
    /// Until all have spent everything; `crash` is called after every so many launches, a few times.
    fn finish(mut self, every: usize, mut crashes: usize, crash: impl Fn()) -> Vec<String> {
        let (mut ran, mut spent) = (Vec::new(), 0);
        for line in &self.said {
            if let Some(key) = line.strip_prefix("ran ") {
                ran.push(key.to_owned());
                if ran.len() % every == 0 && crashes > 0 {
                    crashes -= 1;
                    crash();
                }
            }
            spent += usize::from(line == "spent");
        }
        for child in &mut self.children {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(
            (spent, crashes),
            (PROCESSES, 0),
            "all children have come to the end"
        );
        ran
    }
}

/// What a sceptic asks: is everything that ran in the ledger, nothing twice, and the budget spent to zero and not beyond?
fn check(server: &Server, ran: &[String]) -> Result<(), String> {
    let mut charged: HashMap<String, usize> = HashMap::new();
    let reader = LedgerReader::connect(&server.address("reader")).unwrap();
    reader.verify().map_err(|error| error.to_string())?;
    reader
        .entries(0, |entry| {
            if let WrittenDown::Event(record) = entry.written
                && let Event::Charge(charge) = record.event
            {
                *charged.entry(charge.key.unwrap()).or_default() += 1;
            }
            ControlFlow::Continue(())
        })
        .map_err(|error| error.to_string())?;
    let mut runs: HashMap<&str, usize> = HashMap::new();
    ran.iter()
        .for_each(|key| *runs.entry(key).or_default() += 1);
    if let Some(key) = runs.keys().find(|key| !charged.contains_key(**key)) {
        return Err(format!("{key} ran uncharged"));
    }
    if runs
        .values()
        .chain(charged.values())
        .any(|count| *count > 1)
    {
        return Err("something ran or was charged twice".into());
    }
    if charged.len() != LAUNCHES {
        return Err(format!(
            "{} were charged, and the budget is for {LAUNCHES}",
            charged.len()
        ));
    }
    let ledger = Ledger::connect(&server.address("writer")).unwrap();
    let left = opened(&ledger).unwrap().remaining(1).unwrap();
    if left != Some("0".parse().unwrap()) {
        return Err(format!("{left:?} is left"));
    }
    Ok(())
}

#[test]
fn eight_processes_spend_one_budget_to_exactly_zero() {
    let Some(server) = server("eight") else {
        return;
    };
    let ran = start(&server, false).finish(usize::MAX, 0, || ());
    assert_eq!(ran.len(), LAUNCHES);
    check(&server, &ran).unwrap();
}

#[test]
fn a_server_that_crashes_loses_no_charge_and_nobody_runs_uncharged() {
    let Some(server) = server("crash") else {
        return;
    };
    let crash = || {
        server.down("immediate");
        server.up("");
    };
    let ran = start(&server, false).finish(45, 6, crash);
    check(&server, &ran).unwrap();
    // What was charged and did not run: whoever had the turn in a crash was told so, or is in doubt.
    eprintln!("{} of {LAUNCHES} ran through 6 crashes", ran.len());
}

#[test]
fn whoever_runs_before_the_charge_is_found() {
    let Some(server) = server("mistake") else {
        return;
    };
    let ran = start(&server, true).finish(usize::MAX, 0, || ());
    assert!(check(&server, &ran).unwrap_err().contains("ran uncharged"));
}
