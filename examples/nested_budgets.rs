//! An organisation's budget, teams under it, an analyst's session under a team: all from several threads at once, with
//! refusals that say what to do. Run with `cargo run --example nested_budgets`.

use std::thread;

use odometry::measures::{Basic, Epsilon, PrivacyMap, PureDp};
use odometry::odometer::{LaunchError, Measurement, Odometer, Records, Session};
use odometry::queryable::coins::{Bit, Probability};

type Salaries = Records<u32>;
type Budgeted = Session<Salaries, Basic<PureDp>>;
type Query<A> = Measurement<Salaries, PureDp, A>;

/// Whether anybody earns more than `threshold`, answered wrongly one time in four: ε = ln 3 < 1.0987 for one person.
fn anybody_above(threshold: u32) -> Result<Query<bool>, Box<dyn std::error::Error>> {
    let lie = Bit::new(Probability::new(1, 4)?);
    let map = PrivacyMap::per_record(PureDp, "1.0987")?;
    let query = Measurement::new(
        "anybody above",
        Records::<u32>::new(),
        map,
        move |salaries, scope| {
            let truth = salaries.iter().any(|salary| *salary > threshold);
            Ok(truth ^ scope.draw(&lie)?)
        },
    );
    Ok(query.with_parameter("threshold", threshold))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let salaries = vec![31_000, 45_000, 52_000, 78_000, 120_000];
    let space = Records::<u32>::new();

    // The organisation may lose 10 in total about any one person.
    let organisation = Odometer::new(space, Basic::new(PureDp)).named("the organisation");
    let organisation = organisation.filter(1, "10")?.invoke(salaries)?;

    // Two teams share it. A cap is only a limit: what a team does not spend, the others may.
    let research = organisation.nested("research").capped(1, "8").open()?;
    let reporting = organisation.nested("reporting").capped(1, "6").open()?;
    // An analyst in research has a limit of her own.
    let alice = research.nested("Alice").capped(1, "3").open()?;

    // Everybody asks at once. Each launch is admitted and charged by all accounts above it, or by none.
    let sessions = [
        ("Alice", &alice),
        ("research", &research),
        ("reporting", &reporting),
    ];
    thread::scope(|scope| {
        for (name, session) in sessions {
            scope.spawn(move || ask_until_refused(name, session));
        }
    });

    // Nothing was lost or counted twice, whoever came first.
    let spent = |session: &Budgeted| -> Result<Epsilon, LaunchError> {
        Ok(session.privacy_loss(&1)?.bound().clone())
    };
    println!(
        "\nspent: {} by the organisation, of which",
        spent(&organisation)?
    );
    println!(
        "  {} by research, of which {} by Alice",
        spent(&research)?,
        spent(&alice)?
    );
    println!("  {} by reporting", spent(&reporting)?);
    let total = spent(&research)?.value() + spent(&reporting)?.value();
    assert_eq!(*spent(&organisation)?.value(), total);

    // What is left of the organisation's budget is spent to exactly zero, by one query that is given all of it.
    let left = organisation.remaining(&1)?;
    println!("{left}");
    let farewell = organisation.spend_rest(&1, |rest| {
        let map = PrivacyMap::per_record(PureDp, rest.clone());
        Measurement::new("farewell", space, map, |_, _| Ok("spent"))
    })?;
    assert_eq!(organisation.remaining(&1)?, Some("0".parse()?));
    println!("{farewell}: nothing is left");

    // For outside accountants: what was composed, in order.
    for (description, count) in organisation.launches()? {
        println!("  {count} x {description}");
    }
    Ok(())
}

fn ask_until_refused(name: &str, session: &Budgeted) {
    for threshold in (50_000..).step_by(10_000) {
        let Ok(query) = anybody_above(threshold) else {
            return;
        };
        match session.launch(&query) {
            Ok(answer) => println!("{name}: anybody above {threshold}? {answer}"),
            Err(refusal) => return println!("{name}: {refusal}"),
        }
    }
}
