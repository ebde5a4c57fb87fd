//! The main job: two analysts, two threads, one budget.

use std::{fs, path::PathBuf, time::Instant};

use odometry::ledger::Ledger;
use odometry::measures::{Basic, Epsilon, PureDp, SymmetricDistance as Records};
use odometry::mechanisms::sparse::{Above, Sensitivity, SparseVector};
use odometry::odometer::Odometer;
use odometry::opendp_bridge::{OpendpSpace, same_data, space};
use odometry::queryable::AskError;
use opendp::{domains::AtomDomain, metrics::SymmetricDistance};

use crate::{
    Problem, chart,
    people::{self, PEOPLE, REGIONS, SCHOOLS},
    questions::{self, Text},
    table::{PureSession, Table},
};

/// What the organisation allows, per record.
const BUDGET: &str = "2";
/// What each analyst may use of it at the most.
const SHARE: &str = "1.25";

type People = OpendpSpace<Text, SymmetricDistance>;
type Survey = PureSession<People>;
type Asked = Table<People>;

/// Runs it.
pub fn run(fresh: bool) -> Result<(), Problem> {
    let start = Instant::now();
    let survey = people::load()?;
    let ledger = open(fresh)?;
    println!(
        "{PEOPLE} people; budget ε = {BUDGET} per record; two analysts, up to {SHARE} each, at the same time"
    );
    let organisation = Odometer::new(
        space(AtomDomain::<String>::default(), SymmetricDistance)?,
        Basic::new(PureDp),
    )
    .named("the organisation")
    .filter_on(ledger.books(), 1, BUDGET, survey)?;
    let before: u64 = organisation.launches()?.iter().map(|run| run.1).sum();
    if before > 0 {
        let left = organisation.remaining(1)?.into_loss();
        let left = left.unwrap_or(Epsilon::INFINITY);
        println!("{before} launches are in the ledger, and {left} is left; --fresh begins anew");
    }
    let table = Table::begin(&organisation)?;
    let ada = organisation.nested("Ada").capped(1, SHARE).open()?;
    let ben = organisation.nested("Ben").capped(1, SHARE).open()?;
    std::thread::scope(|scope| -> Result<(), Problem> {
        let first = scope.spawn(|| ada_s_work(&ada, &table));
        let second = scope.spawn(|| ben_s_work(&ben, &table));
        for analyst in [first, second] {
            analyst
                .join()
                .map_err(|_| "an analyst's thread panicked")??;
        }
        Ok(())
    })?;
    report(&organisation, &table)?;
    println!(
        "the ledger: {}, up to record {}",
        ledger_file().display(),
        ledger.head()
    );
    ledger.close()?;
    println!("\ntook {:.1?}", start.elapsed());
    Ok(())
}

fn ledger_file() -> PathBuf {
    people::directory().join("ledger.redb")
}

/// The ledger of all runs, or a new one.
fn open(fresh: bool) -> Result<Ledger, Problem> {
    let file = ledger_file();
    if fresh && file.exists() {
        fs::remove_file(&file)?;
    }
    Ok(Ledger::open(file)?)
}

/// Sums and counts of columns, and a session of her own for somebody who helps.
fn ada_s_work(ada: &Survey, table: &Asked) -> Result<(), Problem> {
    let income = ada
        .link("income")
        .nest_after(&questions::numbers("income")?)?;
    let count = questions::count("0.0625")?;
    let people = table.ask("Ada", &income, "people", &count, i32::to_string)?;
    let sum = questions::sum(150_000, "0.25")?;
    let mean = |sum: &i64| match people {
        Some(people) => format!("{sum} (mean {:.0})", *sum as f64 / f64::from(people)),
        None => sum.to_string(),
    };
    table.ask("Ada", &income, "sum of incomes up to 150,000", &sum, mean)?;

    // Somebody who helps gets a session inside of Ada's: charged to her and to the organisation as it happens, and what
    // is not used costs nothing.
    let helper = ada.nested("Ada's helper").capped(1, "0.1875").open()?;
    let region = helper
        .link("region")
        .nest_after(&questions::words("region")?)?;
    let histogram = questions::histogram(&REGIONS, "0.125")?;
    let shown = |counts: &Vec<i32>| format!("{counts:?}");
    table.ask(
        "Ada's helper",
        &region,
        "people per region",
        &histogram,
        shown,
    )?;
    table.ask(
        "Ada's helper",
        &region,
        "people per region, again",
        &histogram,
        shown,
    )?;

    let hours = ada
        .link("hours")
        .nest_after(&questions::numbers("hours")?)?;
    let mean = questions::mean(60.0, PEOPLE, "0.25")?;
    table.ask(
        "Ada",
        &hours,
        "mean of weekly hours up to 60",
        &mean,
        |hours| format!("{hours:.2}"),
    )?;
    Ok(())
}

/// A mean, a search with sparse vector, and something too expensive.
fn ben_s_work(ben: &Survey, table: &Asked) -> Result<(), Problem> {
    let age = ben.link("age").nest_after(&questions::numbers("age")?)?;
    let mean = questions::mean(100.0, PEOPLE, "0.25")?;
    table.ask("Ben", &age, "mean of ages up to 100", &mean, |age| {
        format!("{age:.2}")
    })?;

    // Our own sparse vector on OpenDP's data: one charge, any number of "no", two times "yes".
    let income = ben
        .link("income")
        .nest_after(&questions::numbers("income")?)?;
    let incomes = income
        .link("counted")
        .nest_after(&same_data(income.space()))?;
    let sensitivity = Sensitivity::of_counts::<Records>();
    let records = *incomes.space();
    let sparse = SparseVector::for_epsilon("0.25", sensitivity, 2)?.of_counts(records);
    let ready = |_: &_| "ready".to_string();
    let search = table.ask(
        "Ben",
        &incomes,
        "sparse vector: two times \"yes\"",
        &sparse,
        ready,
    )?;
    if let Some(search) = search {
        for top in (10_000..=150_000).rev().step_by(10_000) {
            let answer = search.ask(Above {
                query: top..=i32::MAX,
                threshold: PEOPLE as i64 / 10,
            });
            let asked = format!("  10,000 people with {top} or more?");
            match answer {
                Ok(yes) => table.line(
                    "Ben",
                    &asked,
                    if yes { "yes" } else { "no" },
                    &Epsilon::ZERO,
                )?,
                Err(AskError::Halted) => break,
                Err(error) => return Err(error.into()),
            }
        }
    }

    let school = ben
        .link("education")
        .nest_after(&questions::words("education")?)?;
    let histogram = questions::histogram(&SCHOOLS, "0.125")?;
    table.ask("Ben", &school, "people per school", &histogram, |counts| {
        format!("{counts:?}")
    })?;

    // Too much: refused before it runs, nothing is charged, and a smaller question may follow.
    let greedy = questions::sum(150_000, "1")?;
    table.ask(
        "Ben",
        &income,
        "sum of incomes, very precisely",
        &greedy,
        i64::to_string,
    )?;
    let modest = questions::sum(150_000, "0.25")?;
    table.ask(
        "Ben",
        &income,
        "sum of incomes, less precisely",
        &modest,
        i64::to_string,
    )?;
    Ok(())
}

/// What it came to.
fn report(organisation: &Survey, table: &Asked) -> Result<(), Problem> {
    println!();
    for d_in in [1, 2] {
        let loss = organisation.privacy_loss(&d_in)?;
        println!("loss between surveys that differ in {d_in} record(s): ε = {loss}");
    }
    let directory = people::directory();
    let account = organisation.ledger(&1)?;
    println!("the account: {}", serde_json::to_string(&account)?);
    let file = directory.join("account.json");
    fs::write(&file, serde_json::to_string_pretty(&account)?)?;
    let picture = directory.join("loss.svg");
    chart::draw(&picture, &table.losses(), BUDGET.parse()?)?;
    println!("wrote {} and {}", file.display(), picture.display());
    Ok(())
}
