//! A budget that survives: a process is killed in the middle of its work, and nothing is refunded.
//!
//! The program starts itself as a child, which launches under a ledger in a file and says what ran. The parent kills it
//! (`kill -9`), opens the ledger again, and spends the rest to exactly zero.
//!
//! ```text
//! cargo run --release --example durable
//! ```

use std::{
    error::Error,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use odometry::{ledger::Ledger, prelude::*};

type People = Records<bool>;
type Budgeted = Session<People, Basic<PureDp>>;

/// Enough for a hundred questions.
const BUDGET: &str = "10";
/// What team red may use of it.
const SHARE: &str = "6";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(path) => work(Path::new(&path)),
        None => story(),
    }
}

/// Is there anybody with the trait? Charged 0.1; its loss is less.
fn anybody() -> Result<Measurement<People, PureDp, bool>, Box<dyn Error>> {
    let lie = Bit::new(Probability::new(39, 80)?); // ln (41/39) is less than 0.1
    let map = PrivacyMap::per_record(PureDp, "0.1")?;
    Ok(Measurement::new(
        "anybody",
        People::new(),
        map,
        move |data, scope| Ok(data.contains(&true) ^ scope.draw(&lie)?),
    ))
}

/// The organisation and team red, as they are in the ledger.
fn open(ledger: &Ledger) -> Result<(Budgeted, Budgeted), Box<dyn Error>> {
    let organisation = Odometer::new(People::new(), Basic::new(PureDp)).named("the organisation");
    let data = vec![true, false, false];
    let organisation = organisation.filter_on(ledger.books(), 1, BUDGET, data)?;
    let team = organisation.nested("team red").capped(1, SHARE).open()?;
    Ok((organisation, team))
}

/// The child: launches until it is killed, and says what ran.
fn work(path: &Path) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::open(path)?;
    let (_, team) = open(&ledger)?;
    let question = anybody()?;
    let mut out = std::io::stdout();
    loop {
        team.launch(&question)?;
        writeln!(out, "ran")?;
        out.flush()?;
    }
}

fn story() -> Result<(), Box<dyn Error>> {
    let path = fresh()?;
    println!("a budget of {BUDGET}, of which team red may use {SHARE}; every question costs 0.1");
    let mut ran = 0;
    for death in 1..=3 {
        ran += killed_after(&path, 5 * death)?;
        let ledger = Ledger::open(&path)?;
        let (organisation, team) = open(&ledger)?;
        let charged: u64 = organisation.launches()?.iter().map(|run| run.1).sum();
        println!(
            "killed: {ran} questions have run, {charged} are in the ledger; left: {} of the organisation's, {} of team red's",
            left(&organisation)?,
            left(&team)?,
        );
        if charged < ran {
            return Err("something ran that is not in the ledger".into());
        }
    }

    let ledger = Ledger::open(&path)?;
    let (organisation, team) = open(&ledger)?;
    let (by_team, by_others) = (spend(&team)?, spend(&organisation)?);
    println!("the rest: {by_team} by team red, {by_others} by the organisation");
    if left(&organisation)? != Epsilon::ZERO || left(&team)? != Epsilon::ZERO {
        return Err("the rest cannot be spent to zero".into());
    }
    let receipt = ledger.verify()?;
    println!("nothing is left; the chain is whole, up to {receipt}");
    ledger.close()?;
    drop((organisation, team, ledger));

    let ledger = Ledger::open(&path)?;
    let (organisation, _) = open(&ledger)?;
    match organisation.launch(&anybody()?) {
        Err(refusal @ LaunchError::Refused(_)) => println!("after a restart: {refusal}"),
        other => return Err(format!("a restart has refunded something: {other:?}").into()),
    }
    Ok(())
}

/// A path at which there is no ledger yet.
fn fresh() -> Result<PathBuf, Box<dyn Error>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/durable");
    fs::create_dir_all(&directory)?;
    let path = directory.join("ledger.redb");
    if path.exists() {
        fs::remove_file(&path)?;
    }
    Ok(path)
}

/// Starts the child, kills it when it has said so many times that something ran, and counts what else it said.
fn killed_after(path: &Path, launches: u64) -> Result<u64, Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().ok_or("the child says nothing")?;
    let mut ran = 0;
    for line in BufReader::new(out).lines() {
        ran += u64::from(line? == "ran");
        if ran == launches {
            child.kill()?; // SIGKILL: it has no say in it
        }
    }
    child.wait()?;
    Ok(ran)
}

fn left(session: &Budgeted) -> Result<Epsilon, Box<dyn Error>> {
    let left = session.remaining(1)?.into_loss();
    left.ok_or_else(|| "there is no budget".into())
}

/// Launches until nothing fits. The answer is how many did.
fn spend(session: &Budgeted) -> Result<u64, Box<dyn Error>> {
    let question = anybody()?;
    for launched in 0.. {
        match session.launch(&question) {
            Ok(_) => {}
            Err(LaunchError::Refused(_)) => return Ok(launched),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(0)
}
