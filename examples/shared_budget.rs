//! One budget, several processes: each launches until nothing is left, and together they spend exactly all of it.
//!
//! The program starts a PostgreSQL server of its own in a temporary directory, sets a ledger up in it, and starts itself
//! several times. Where no server is installed it says so, and does nothing.
//!
//! ```text
//! cargo run --release --features postgres --example shared_budget
//! ```

use std::{
    error::Error,
    process::{Command, Stdio},
};

use odometry::{ledger::Ledger, prelude::*};

#[path = "../crates/ledger/tests/server/mod.rs"]
mod server;

type People = Records<bool>;
type Budgeted = Session<People, Basic<PureDp>>;

/// Enough for two hundred questions of all processes together.
const BUDGET: &str = "20";
/// What each team may use of it: more than there is, if all do.
const SHARE: &str = "8";
const TEAMS: [&str; 4] = ["red", "green", "blue", "grey"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(address), Some(team)) => work(&address, &team),
        _ => story(),
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

fn organisation(ledger: &Ledger) -> Result<Budgeted, Box<dyn Error>> {
    let organisation = Odometer::new(People::new(), Basic::new(PureDp)).named("the organisation");
    Ok(organisation.filter_on(ledger.books(), 1, BUDGET, vec![true, false, false])?)
}

/// A child: launches until it is refused, and says how often it was not.
fn work(address: &str, team: &str) -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::connect(address)?; // the same ledger for all
    let session = organisation(&ledger)?;
    let session = session.nested(team).capped(1, SHARE).open()?;
    let question = anybody()?;
    let mut answered = 0;
    let refusal = loop {
        match session.launch(&question) {
            Ok(_) => answered += 1,
            Err(refusal) => break refusal,
        }
    };
    println!("team {team}: {answered} answers, then: {refusal}");
    Ok(())
}

fn story() -> Result<(), Box<dyn Error>> {
    let Some(server) = server::server("shared-budget") else {
        return Ok(());
    };
    let address = server.address("writer");
    let start = |team: &str| {
        let program = std::env::current_exe()?;
        let arguments = [&*address, team];
        Command::new(program)
            .args(arguments)
            .stdout(Stdio::inherit())
            .spawn()
    };
    let children: Vec<_> = TEAMS.into_iter().map(start).collect::<Result<_, _>>()?;
    for mut child in children {
        assert!(child.wait()?.success());
    }
    let ledger = Ledger::connect(&address)?;
    let session = organisation(&ledger)?;
    let launched: u64 = session.launches()?.iter().map(|(_, count)| count).sum();
    let left = session.remaining(1)?;
    println!("all together: {launched} answers of 0.1 each, out of {BUDGET}");
    assert_eq!(launched, 200);
    assert_eq!(left, Some("0".parse()?), "spent to exactly zero");
    let head = ledger.verify()?;
    println!("verified: {} records, the last is {head}", head.seq + 1);
    Ok(())
}
