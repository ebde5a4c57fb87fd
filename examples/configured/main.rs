//! A service that knows neither measures nor rules: budgets and fifty questions come from two files. It says beforehand what
//! all of them will cost and which will be refused, asks them, and prints who refused what.
//! Run with `cargo run --example configured`, or with two paths: budgets, questions.

mod questions;

use std::{collections::BTreeMap, env, error::Error, fs};

use odometry::measures::adaptive::{ConcentratedFilter, WhitehouseFilter};
use odometry::prelude::*;
use serde::Deserialize;

use questions::{People, Person, Question, Row};

/// A tree of budgets. The measure and the rule are those of the whole tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tree {
    name: String,
    measure: String,
    rule: RuleName,
    budget: String,
    #[serde(default)]
    nested: Vec<Branch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Branch {
    name: String,
    budget: String,
    #[serde(default)]
    nested: Vec<Branch>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum RuleName {
    Basic,
    Concentrated { slack: String },
    Whitehouse { slack: String },
}

/// Sessions by their paths: `office/health/Ada`.
type Sessions = BTreeMap<String, AnySession<People>>;

impl Tree {
    /// The session of the whole tree: here, and only here, measure and rule become types.
    fn open(&self, people: &[Person]) -> Result<AnySession<People>, Box<dyn Error>> {
        let (space, measure) = (People::new(), self.measure.parse::<AnyMeasure>()?);
        let (people, budget) = (people.to_vec(), self.budget.as_str());
        let name = self.name.clone();
        Ok(match (&measure, &self.rule) {
            (AnyMeasure::Pure(pure), RuleName::Basic) => {
                let odometer = Odometer::new(space, Basic::new(*pure)).named(name);
                odometer.filter(1, budget)?.invoke(people)?.any()
            }
            (AnyMeasure::Zcdp(zcdp), RuleName::Basic) => {
                let odometer = Odometer::new(space, Basic::new(*zcdp)).named(name);
                odometer.filter(1, budget)?.invoke(people)?.any()
            }
            (AnyMeasure::Approx(_), RuleName::Concentrated { slack }) => {
                let rule = ConcentratedFilter::new(slack)?;
                let odometer = Odometer::new(space, rule).named(name);
                odometer.filter(1, budget)?.invoke(people)?.any_filter()
            }
            (AnyMeasure::Approx(_), RuleName::Whitehouse { slack }) => {
                let rule = WhitehouseFilter::new(slack)?;
                let odometer = Odometer::new(space, rule).named(name);
                odometer.filter(1, budget)?.invoke(people)?.any_filter()
            }
            (measure, _) => return Err(format!("{name}: no such rule for {measure}").into()),
        })
    }
}

fn open_below(
    path: &str,
    session: &AnySession<People>,
    branches: &[Branch],
    sessions: &mut Sessions,
) -> Result<(), OpenError> {
    for branch in branches {
        let path = format!("{path}/{}", branch.name);
        let below = session.nested(path.clone());
        let below = below.capped(1, branch.budget.as_str()).open()?;
        open_below(&path, &below, &branch.nested, sessions)?;
        sessions.insert(path, below);
    }
    Ok(())
}

fn read(at: usize, default: &str) -> Result<String, Box<dyn Error>> {
    Ok(match env::args().nth(at) {
        Some(path) => fs::read_to_string(path)?,
        None => default.to_owned(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let trees: Vec<Tree> = serde_json::from_str(&read(1, include_str!("budgets.json"))?)?;
    let rows: Vec<Row> = serde_json::from_str(&read(2, include_str!("questions.json"))?)?;

    let people = questions::population();
    let mut sessions = Sessions::new();
    for tree in &trees {
        let session = tree.open(&people)?;
        open_below(&tree.name, &session, &tree.nested, &mut sessions)?;
        sessions.insert(tree.name.clone(), session);
    }
    let session = |row: &Row| {
        let unknown = || format!("there is no account {:?}", row.who);
        sessions.get(&row.who).ok_or_else(unknown)
    };

    // A list of questions of many answer types, in the measures of their trees.
    let mut list: Vec<(&Row, &AnySession<People>, Box<dyn Question>)> = Vec::new();
    for row in &rows {
        let session = session(row)?;
        list.push((row, session, row.question(&session.measure())?));
    }

    // Beforehand: nothing is charged, nothing reads data. Plans beside each other see each other's launches.
    let first = list.first().ok_or("no questions")?.1.plan()?;
    let mut plans = BTreeMap::new();
    for (path, session) in &sessions {
        plans.insert(path, first.beside(session)?);
    }
    let mut planned = Vec::new();
    for (row, _, question) in &list {
        let plan = plans.get_mut(&row.who).ok_or("no plan")?;
        planned.push(question.plan(plan).map(drop));
    }
    let refused = planned.iter().filter(|planned| planned.is_err()).count();
    println!(
        "{} questions, of which {refused} will be refused. They will cost:",
        list.len()
    );
    let mut expected = BTreeMap::new();
    for (path, plan) in &plans {
        let spent = plan.spent()?.ok_or("no budget")?;
        println!("  {path}: {spent}");
        expected.insert(*path, spent);
    }

    println!("\nAnswers:");
    for ((row, session, question), planned) in list.iter().zip(&planned) {
        let answer = question.ask(session);
        match &answer {
            Ok(answer) => println!("  {row}: {answer}"),
            Err(why) => println!("  {row}: {why}"),
        }
        assert_eq!(&answer.map(drop), planned, "as the plan said");
    }

    println!("\nSpent, and left:");
    for (path, session) in &sessions {
        let spent = session.spent()?.ok_or("no budget")?;
        assert_eq!(Some(&spent), expected.get(path), "as the plan said");
        println!("  {path}: {spent}; {}", session.remaining(1)?);
    }
    Ok(())
}
