//! Every answer and exit code of the calculator.

use crate::common::{folder, run, run_in};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let ran = run(arguments);
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// What a rule says, as a float.
fn epsilon(answer: &Value, rule: &str) -> Option<f64> {
    let rules = answer["rules"].as_array().unwrap();
    let row = rules.iter().find(|row| row["rule"] == rule)?;
    row["epsilon"].as_str()?.parse().ok()
}

#[test]
fn known_values() {
    let laplace = json(&["compose", "laplace:scale=10 x1000", "--json"]);
    assert!((epsilon(&laplace, "certified").unwrap() - 18.950287).abs() < 1e-5);
    assert_eq!(epsilon(&laplace, "basic"), Some(100.0));
    let sampled = json(&[
        "compose",
        "sampled-gaussian:rate=0.01,sigma=1*1,000",
        "-d",
        "1e-10",
        "--json",
    ]);
    assert!((epsilon(&sampled, "certified").unwrap() - 3.290_443_8).abs() < 1e-6);
    assert_eq!(
        sampled["rules"].as_array().unwrap().len(),
        1,
        "no other rule takes it"
    );
    let gaussian = json(&["compose", "gaussian:sigma=100 x10000", "--json"]);
    for rule in ["certified", "Gaussian"] {
        let found = epsilon(&gaussian, rule).unwrap();
        assert!((4.886_554..4.886_56).contains(&found), "{rule}: {found}");
    }
    assert!(epsilon(&gaussian, "zCDP").unwrap() > 4.9);
    // Equal responses: the exact value, and what is adaptive is larger.
    let responses = json(&["compose", "rr:epsilon=0.1 x1000", "--json"]);
    assert!((epsilon(&responses, "optimal").unwrap() - 19.344_672).abs() < 1e-5);
    assert!(epsilon(&responses, "certified") <= epsilon(&responses, "zCDP"));
    // Very many: the rules that read losses one by one are left out.
    let many = json(&["compose", "0.000001 x1000000000000", "--json"]);
    assert!(epsilon(&many, "basic").is_some() && epsilon(&many, "optimal").is_none());
    assert!(epsilon(&many, "certified").unwrap() < 6.0);
    let noise = [
        "discrete-laplace:scale=2,sensitivity=3",
        "discrete-gaussian:sigma=9",
        "sampled-laplace:rate=0.1,scale=1",
    ];
    let mixed = json(&[&["compose", "--json"], &noise[..]].concat());
    assert!(epsilon(&mixed, "certified").is_some() && epsilon(&mixed, "zCDP").is_some());
    assert!(
        epsilon(&mixed, "Gaussian").is_none(),
        "discrete Gaussian noise has no μ"
    );
}

/// Adaptive and fixed rules stand apart, and both JSON and CSV say which is which.
#[test]
fn adaptive_and_fixed_apart() {
    let table = run(&["compose", "0.1 x100"]).out;
    let (adaptive, fixed) = table
        .split_once("All fixed before the first answer:")
        .unwrap();
    for rule in [
        "basic",
        "Whitehouse",
        "concentrated",
        "Rogers' filter",
        "zCDP",
        "Gaussian",
    ] {
        assert!(adaptive.contains(rule) && !fixed.contains(rule), "{rule}");
    }
    for rule in ["certified", "optimal", "advanced", "hybrid"] {
        assert!(fixed.contains(rule) && !adaptive.contains(rule), "{rule}");
    }
    let csv = run(&["compose", "0.1 x100", "--csv"]).out;
    assert!(csv.starts_with("rule,losses,epsilon,delta\n"));
    assert!(csv.contains("\nbasic,adaptive,10,0\n") && csv.contains("\ncertified,fixed,"));
}

#[test]
fn within_an_epsilon_or_refused() {
    for (limit, code, words) in [
        ("11", 0, "also if the losses are chosen"),
        ("5", 0, "only if all of it is fixed"),
        ("4", 3, "Refused"),
    ] {
        let ran = run(&["compose", "laplace:scale=10 x100", "--within", limit]);
        assert_eq!(ran.code, code, "{limit}: {}", ran.out);
        assert!(ran.out.contains(words), "{}", ran.out);
    }
    let ran = run(&[
        "compose",
        "laplace:scale=10 x100",
        "--within",
        "4",
        "--json",
    ]);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &answer["within"]["fixed"]),
        (3, &Value::Bool(false))
    );
}

#[test]
fn delta_at_an_epsilon() {
    let answer = json(&["compose", "0.1 x1000", "--epsilon", "25", "--json"]);
    let delta: f64 = answer["delta"].as_str().unwrap().parse().unwrap();
    assert!((delta / 2.857_64e-11 - 1.0).abs() < 1e-4, "{delta}");
    assert!(
        run(&["compose", "0.1", "--epsilon", "0"])
            .out
            .starts_with("δ = 0.049958")
    );
    assert!(
        run(&["compose", "0.1", "--epsilon", "0.2", "--csv"])
            .out
            .ends_with("0.2,0\n")
    );
}

const CSV: &str = "name,mechanism,scale,sigma,epsilon,delta,count\n\
    ages,laplace,20,,,,12\n# a comment\nincomes,gaussian,,40,,,3\n\"old, external\",,,,0.1,1e-9,\n";

#[test]
fn lists_from_files_and_pipes() {
    let folder = folder("lists");
    std::fs::write(folder.join("list.csv"), CSV).unwrap();
    let list = r#"[{"name": "ages", "mechanism": "laplace", "scale": "20", "count": 12},
        {"mechanism": "gaussian", "sigma": 40, "count": 3}, {"epsilon": "0.1", "delta": "1e-9"}]"#;
    std::fs::write(folder.join("list.json"), list).unwrap();
    let arguments = [
        "laplace:scale=20 x12",
        "gaussian:sigma=40 x3",
        "(0.1, 1e-9)",
    ];
    let direct = json(&[&["compose", "--json"], &arguments[..]].concat());
    let of = |arguments: &[&str], input: &str| -> Value {
        let ran = run_in(&folder, arguments, input);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    };
    for (arguments, input) in [
        (["compose", "--json", "-f", "list.csv"], ""),
        (["compose", "--json", "-f", "list.json"], ""),
        (["compose", "--json", "-f", "-"], CSV),
    ] {
        let answer = of(&arguments, input);
        assert_eq!(answer["runs"], 16);
        assert_eq!(answer["rules"], direct["rules"]);
    }
    let items = &of(&["compose", "--json", "-f", "list.csv"], "")["items"];
    assert_eq!(items[2]["name"], "old, external");
}

/// A wrong list or argument is refused where it is wrong, with code 2 and what to write; nothing is on standard output.
#[test]
fn wrong_input() {
    for (arguments, words) in [
        (vec!["compose", "laplace"], "is not a number"),
        (
            vec!["compose", "cauchy:scale=1"],
            "there is no mechanism \"cauchy\": write one of pure,",
        ),
        (
            vec!["compose", "laplace:sigma=1"],
            "laplace has no \"sigma\": it takes scale, sensitivity",
        ),
        (
            vec!["compose", "laplace:sensitivity=1"],
            "laplace needs scale",
        ),
        (
            vec!["compose", "laplace:scale=1,scale=2"],
            "stands there twice",
        ),
        (
            vec!["compose", "laplace:scale"],
            "is no parameter: write name=number",
        ),
        (vec!["compose", "laplace:scale=0"], "above 0 and finite"),
        (vec!["compose", "laplace:scale=-1"], "negative"),
        (vec!["compose", "gaussian:sigma=NaN"], "is not a number"),
        (
            vec!["compose", "sampled-gaussian:rate=1.5,sigma=1"],
            "between 0 and 1",
        ),
        (
            vec!["compose", "discrete-laplace:scale=1,sensitivity=1.5"],
            "whole number",
        ),
        (vec!["compose", "(0.5)"], "write (ε, δ)"),
        (vec!["compose", "(0.5, 1.5)"], "δ must lie in [0, 1]"),
        (vec!["compose", "0.1 x0"], "is no count"),
        (vec!["compose", "0.1 x99999999999999"], "is no count"),
        (vec!["compose", "0.1", "--delta", "two"], "--delta"),
        (vec!["compose", "0.1", "--within", "-"], "--within"),
        (
            vec!["calibrate", "-b", "1", "-m", "laplace", "-s", "0"],
            "--budget",
        ),
        (
            vec!["calibrate", "-b", "(1, 0)", "-m", "laplace", "-s", "0"],
            "above 0",
        ),
        (
            vec!["calibrate", "-b", "(1, 0)", "-m", "laplace", "--rate", "2"],
            "between 0 and 1",
        ),
        (
            vec![
                "calibrate",
                "-b",
                "(1, 0)",
                "-m",
                "laplace",
                "--count",
                "none",
            ],
            "is no count",
        ),
        (vec!["calibrate", "-b", "(1, 0)"], "--mechanism"),
        (
            vec!["compose", "0.1", "--json", "--csv"],
            "cannot be used with",
        ),
        (vec!["compose"], "required"),
        (vec!["spend"], "unrecognized subcommand"),
        (vec![], "Usage"),
    ] {
        let ran = run(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
    // δ above 1 is no probability; a file that is not there is no wrong usage.
    assert_eq!(run(&["compose", "0.1", "--delta", "1.5"]).code, 1);
    assert_eq!(run(&["compose", "-f", "no such file"]).code, 1);
}

#[test]
fn wrong_files_name_the_line() {
    for (text, words) in [
        (
            "mechanism,scale\nlaplace,10\nlaplace,ten\n",
            "line 3, scale",
        ),
        (
            "mechanism,scale,Scale\nlaplace,10,2\n",
            "stands there twice",
        ),
        (
            "mechanism,scale\nlaplace,10,2\n",
            "found record with 3 fields",
        ),
        ("mechanism,shape\nlaplace,10\n", "has no \"shape\""),
        (
            "[{\"mechanism\": \"laplace\", \"scale\": 0.1}]",
            "entry 1: scale = 0.1 is not exact: write it as text",
        ),
        ("[1]", "entry 1: write an object"),
        ("{\"a\": 1}", "write a list of objects"),
        ("[", "EOF"),
    ] {
        let ran = run_in(&std::env::temp_dir(), &["compose", "-f", "-"], text);
        assert_eq!(ran.code, 2, "{text}: {}", ran.out);
        assert!(ran.err.contains(words), "{text}: {}", ran.err);
    }
}

/// What is wrong with a list is said in a few words, however long the list is.
#[test]
fn wrong_files_are_not_repeated() {
    let long = "9x".repeat(100_000);
    for text in [
        format!("mechanism,epsilon\n{long},1\n"),
        format!("epsilon,{long},{long}\n1,1,1\n"),
        format!("epsilon,{long}\n1,1\n"),
        format!("epsilon\n{long}\n"),
        format!("epsilon,count\n1,{long}\n"),
        format!("mechanism,scale,sensitivity\ndiscrete-laplace,1,{long}\n"),
        format!("[{{\"{long}\": [\"{long}\"]}}]"),
    ] {
        let ran = run_in(&std::env::temp_dir(), &["compose", "-f", "-"], &text);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.len() < 400, "{}", ran.err);
    }
}

/// Names are somebody's: nothing of them is a control sequence on a terminal, a formula in a spreadsheet, or markup.
#[test]
fn names_are_harmless() {
    let evil = "\u{1b}[2J\u{202e}:x=1";
    let ran = run(&["compose", evil]);
    assert!(
        !ran.err.contains('\u{1b}') && !ran.err.contains('\u{202e}'),
        "{:?}",
        ran.err
    );
    let ran = run(&["calibrate", "-b", "(1, 1e-6)", "--runs-of", " 0.1", "--csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = run_in(
        &std::env::temp_dir(),
        &["compose", "--json", "-f", "-"],
        "name,epsilon\n=cmd()\u{1b},0.1\n",
    );
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
}

#[test]
fn noise_for_a_budget() {
    let answer = json(&[
        "calibrate",
        "-b",
        "(1, 1e-6)",
        "-m",
        "gaussian",
        "-c",
        "1000",
        "-r",
        "0.01",
        "--json",
    ]);
    assert_eq!(answer["sigma"], "1.56267");
    let spent: f64 = answer["epsilon"].as_str().unwrap().parse().unwrap();
    assert!(spent <= 1.0 && spent > 0.9999, "{spent}");
    // What is found fits; a little less noise does not.
    for (sigma, code) in [("1.56267", 0), ("1.5626", 3)] {
        let item = format!("sampled-gaussian:rate=0.01,sigma={sigma} x1000");
        assert_eq!(run(&["compose", &item, "--within", "1"]).code, code);
    }
    // What is spent beside it leaves less.
    let beside = json(&[
        "calibrate",
        "-b",
        "(1, 1e-6)",
        "-m",
        "gaussian",
        "-c",
        "1000",
        "--beside",
        "0.5",
        "--json",
    ]);
    let alone = json(&[
        "calibrate",
        "-b",
        "(1, 1e-6)",
        "-m",
        "gaussian",
        "-c",
        "1000",
        "--json",
    ]);
    let sigma = |answer: &Value| answer["sigma"].as_str().unwrap().parse::<f64>().unwrap();
    assert!(sigma(&beside) > 1.5 * sigma(&alone));
    for mechanism in ["laplace", "discrete-laplace", "discrete-gaussian"] {
        let ran = run(&[
            "calibrate",
            "-b",
            "(1, 1e-6)",
            "-m",
            mechanism,
            "-s",
            "3",
            "--csv",
        ]);
        assert!(ran.code == 0 && ran.out.contains(mechanism), "{}", ran.err);
    }
    let refused = run(&["calibrate", "-b", "(0.001, 0)", "-m", "gaussian"]);
    assert!(
        refused.code == 3 && refused.out.starts_with("Refused"),
        "{}",
        refused.out
    );
}

#[test]
fn runs_for_a_budget() {
    let answer = json(&[
        "calibrate",
        "-b",
        "(18.951, 1e-6)",
        "--runs-of",
        "laplace:scale=10",
        "--json",
    ]);
    assert_eq!(answer["runs"], 1000);
    let none = run(&["calibrate", "-b", "(0.01, 0)", "--runs-of", "0.1"]);
    assert!(
        none.code == 3 && none.out.starts_with("0 runs"),
        "{}",
        none.out
    );
}

#[test]
fn a_chart() {
    let folder = folder("chart");
    let ran = run_in(&folder, &["compose", "0.1 x100", "--svg", "chart.svg"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let chart = std::fs::read_to_string(folder.join("chart.svg")).unwrap();
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n"));
    assert!(
        !chart.contains("<script") && chart.matches("http").count() == 1,
        "nothing from elsewhere"
    );
    for rule in ["certified", "optimal", "basic", "prefers-color-scheme:dark"] {
        assert!(chart.contains(rule), "{rule}");
    }
    // Every tag that is opened is closed.
    for tag in ["svg", "text", "title", "style"] {
        let (opened, closed) = (
            chart.matches(&format!("<{tag}")).count(),
            chart.matches(&format!("</{tag}>")).count(),
        );
        assert_eq!(opened, closed, "{tag}");
    }
    assert_eq!(
        run(&["compose", "0.1", "--svg", "/no/such/folder/chart.svg"]).code,
        1
    );
}

#[test]
fn completions_and_the_manual() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("calibrate"), "{shell}");
    }
    let page = run(&["manual"]);
    assert_eq!(page.code, 0);
    for words in [".TH", "odometry", "compose", "calibrate", "sampled", "exit"] {
        assert!(
            page.out.to_lowercase().contains(&words.to_lowercase()),
            "{words}"
        );
    }
    let help = run(&["--help"]);
    assert!(
        help.code == 0 && help.out.contains("3 refused"),
        "{}",
        help.out
    );
    assert!(
        run(&["compose", "--help"])
            .out
            .contains("a thousand of them")
    );
    assert_eq!(run(&["--version"]).code, 0);
}
