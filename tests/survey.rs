//! What the `survey` example says when it is called wrongly, or with a wrong file.

#[path = "../examples/survey/arguments.rs"]
mod arguments;
#[path = "../examples/survey/csv.rs"]
mod csv;

use std::{fs, path::PathBuf};

use arguments::{Arguments, USAGE};

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
