//! The `survey` example: its errors for wrong arguments and wrong files, and the ledger that it leaves.

#[path = "../examples/survey/arguments.rs"]
mod arguments;
#[path = "../examples/survey/csv.rs"]
mod csv;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use arguments::{Arguments, USAGE};
use odometry::exact::{Exact, Round};
use odometry::ledger::LedgerReader;

type Problem = Box<dyn std::error::Error + Send + Sync>;

fn read(words: &str) -> Result<Arguments, String> {
    let words: Vec<String> = words.split_whitespace().map(String::from).collect();
    Arguments::read(&words)
}

#[test]
fn arguments_are_understood_or_refused_in_words() {
    assert!(USAGE.contains("--csv"));
    assert!(matches!(read("--help"), Ok(Arguments::Help)));
    assert!(matches!(read(""), Ok(Arguments::People { fresh: false })));
    assert!(matches!(
        read("--fresh"),
        Ok(Arguments::People { fresh: true })
    ));
    let Ok(Arguments::OwnFile {
        file,
        column,
        budget,
    }) = read("--budget 0.5 --csv a.csv --column age")
    else {
        panic!();
    };
    assert_eq!(
        (file.as_str(), column.as_str(), budget.to_string().as_str()),
        ("a.csv", "age", "0.5")
    );
    for budget in ["-1", "0", "inf", "NaN", "much"] {
        let words = format!("--csv a.csv --column age --budget {budget}");
        let problem = read(&words).err().unwrap();
        assert!(
            problem.contains(budget) && problem.contains("no positive number"),
            "{problem}"
        );
    }
    for words in [
        "--csv a.csv",
        "--csv",
        "--what",
        "--budget 1 --column age",
        "--fresh --budget 1 --column a --csv b",
    ] {
        assert!(read(words).is_err(), "{words}");
    }
}

fn with_file(name: &str, text: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).unwrap();
    file
}

fn problem(file: PathBuf, column: &str) -> String {
    csv::numbers(&file, column).unwrap_err().to_string()
}

#[test]
fn numbers_are_read_and_what_is_not_a_number_is_pointed_at() {
    let text = "name,age\n\"Smith, \"\"J\"\"\",41\n\nLee, 3.5 \n";
    assert_eq!(
        csv::numbers(&with_file("good.csv", text), "age").unwrap(),
        [41.0, 3.5]
    );
    let text = "name,age\nLee,41\nKim,old\n";
    let file = with_file("bad.csv", text);
    let said = problem(file.clone(), "age");
    assert!(
        said.starts_with("line 3 of ") && said.contains("\"old\" in column \"age\""),
        "{said}"
    );
    assert!(problem(file, "wage").ends_with("has no column \"wage\"; it has: name, age"));
    assert!(problem(with_file("short.csv", "a,b\n1\n"), "b").contains("line 2"));
    assert!(problem(with_file("empty.csv", ""), "b").ends_with("is empty"));
    assert!(problem(with_file("nan.csv", "a\nNaN\n"), "a").contains("not a number"));
    assert!(
        problem(PathBuf::from("no/such/file.csv"), "a").starts_with("cannot read no/such/file.csv")
    );
}

/// The example itself, which `cargo test` builds with the tests (but not with `--test`: then it may be missing, or old).
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().with_file_name("examples");
    let example = built.join(format!("survey{}", std::env::consts::EXE_SUFFIX));
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let built = changed(&example).ok();
    let sources = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/survey")).unwrap();
    for source in sources.map(|entry| entry.unwrap().path()) {
        let fresh = built.is_some_and(|built| built >= changed(&source).unwrap());
        assert!(fresh, "first: cargo build -p odometry --example survey");
    }
    example
}

/// Runs the example in a folder of its own.
fn run(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let example = example();
    let mut command = Command::new(&example);
    command.env("SURVEY_DIRECTORY", folder).args(arguments);
    let ran = command.output();
    let ran = ran.unwrap_or_else(|error| panic!("{}: {error}", example.display()));
    let [out, said] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(!said.contains("panicked at"), "{said}");
    match ran.status.success() {
        true => Ok(out),
        false => Err(said),
    }
}

/// The loss that a run reports, for one record.
fn loss(out: &str) -> Exact {
    let line = "loss between surveys that differ in 1 record(s): ε = ";
    let (_, rest) = out.split_once(line).unwrap_or_else(|| panic!("{out}"));
    rest.lines().next().unwrap().parse().unwrap()
}

/// The first lines of a second run: the number of launches before it, and the rest of the budget.
fn left(out: &str) -> (u64, Exact) {
    let line = out
        .lines()
        .find_map(|line| line.split_once(" launches are in the ledger, and "));
    let (launches, rest) = line.unwrap_or_else(|| panic!("{out}"));
    let (left, _) = rest.split_once(" is left").unwrap();
    (launches.parse().unwrap(), left.parse().unwrap())
}

/// Checks the chain of the ledger, and that it is the one of which the run spoke. How many records it has.
fn records(folder: &Path, out: &str) -> u64 {
    let reader = LedgerReader::open(folder.join("ledger.redb")).unwrap();
    let head = reader.verify().unwrap();
    assert!(out.contains(&format!("up to record {head}\n")), "{out}");
    head.seq
}

#[test]
fn a_second_run_has_what_the_first_has_left() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("survey");
    let _ = fs::remove_dir_all(&folder);
    let budget: Exact = "2".parse().unwrap();
    let first = run(&folder, &[]).unwrap();
    assert!(!first.contains("launches are in the ledger"), "{first}");
    let charged = loss(&first);
    assert!(charged > Exact::ONE && charged <= budget, "{charged}");
    let before = records(&folder, &first);
    let second = run(&folder, &[]).unwrap();
    let (launches, rest) = left(&second);
    // What is charged is shown rounded up, what is left rounded down: in 17 digits.
    let sum = (&charged + &rest).to_f64(Round::Up);
    assert!(launches == 8 && (sum - 2.0).abs() < 1e-14, "{second}");
    let after = loss(&second);
    assert!(charged < after && after <= budget, "{charged} {after}");
    assert!(records(&folder, &second) > before);
    // A ledger that was tampered with is not used, and nothing is asked.
    let file = folder.join("ledger.redb");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let problem = run(&folder, &[]).unwrap_err();
    assert!(problem.contains("ledger.redb"), "{problem}");
    fs::write(&file, whole).unwrap();
    // Forgotten only where that is asked for.
    let fresh = run(&folder, &["--fresh"]).unwrap();
    assert_eq!(loss(&fresh), charged);
    assert_eq!(records(&folder, &fresh), before);
}
