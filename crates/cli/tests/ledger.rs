//! Every command on a ledger: what it answers, with which exit code, and that looking changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::program::{self, HOSTILE, many_kinds, month};
use crate::common::{Ran, folder, run_in, run_with};
use odometry::ledger::Ledger;
use serde_json::Value;

/// A ledger of this test's own, after these months.
fn year(name: &str, months: &[&str]) -> PathBuf {
    let folder = folder(name);
    for name in months {
        month(&folder.join("year.redb"), name);
    }
    folder
}

fn on(folder: &Path, arguments: &[&str]) -> Ran {
    let set = [("ODOMETRY_STORE", "year.redb")];
    run_with(folder, arguments, "", &set)
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let ran = on(folder, arguments);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    ran.out
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, arguments)).unwrap()
}

fn account<'a>(shown: &'a Value, path: &str) -> &'a Value {
    let accounts = shown["accounts"].as_array().unwrap();
    accounts
        .iter()
        .find(|account| account["path"] == path)
        .unwrap()
}

#[test]
fn show_says_who_has_spent_what() {
    let folder = year("show", &["january", "march"]);
    let shown = json(&folder, &["show", "--json"]);
    let red = account(&shown, "the hospital/team red");
    for (field, value) in [
        ("spent", "1"),
        ("left", "0"),
        ("budget", "1"),
        ("measure", "pure"),
        ("rule", "basic{pure}"),
    ] {
        assert_eq!(red[field], value, "{field}");
    }
    assert_eq!(
        (&red["launches"], &red["exhausted"]),
        (&6.into(), &true.into())
    );
    // Two wards, of which only the dearer counts.
    let blue = account(&shown, "the hospital/team blue");
    assert_eq!(
        (&blue["spent"], &blue["exhausted"]),
        (&"0.75".into(), &false.into())
    );
    assert_eq!(account(&shown, "the hospital")["spent"], "1.75");
    let text = done(&folder, &["show"]);
    for words in [
        "the hospital ",
        "├─ team red ",
        "└─ team blue ",
        "   └─ wards@1 ",
        "      ├─ [\"north\"] ",
        "      └─ [\"south\"] ",
        "(partition)",
        "████████████████████",
        "Exhausted: the hospital/team red.",
        "recomputed from the charges with the built-in rules",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    // A part of the tree begins at its own root.
    let part = done(&folder, &["show", "the hospital/team blue"]);
    assert!(
        part.lines().nth(1).unwrap().starts_with("team blue"),
        "{part}"
    );
    assert!(
        part.contains("└─ wards@1") && !part.contains("team red"),
        "{part}"
    );
    let wrong = on(&folder, &["show", "team red"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.err.contains("`odometry show` lists them all"),
        "{}",
        wrong.err
    );
}

#[test]
fn show_counts_in_every_measure_and_says_what_it_does_not_know() {
    let folder = folder("kinds");
    many_kinds(&folder.join("year.redb"));
    let shown = json(&folder, &["show", "--json"]);
    assert_eq!(account(&shown, "approximate")["spent"], "(0.5, 0)");
    assert_eq!(account(&shown, "approximate")["left"], "(0.5, 0.000001)");
    assert_eq!(account(&shown, "approximate/pure")["spent"], "0.5");
    assert_eq!(account(&shown, "no limit")["spent"], "7");
    assert_eq!(account(&shown, "no limit")["budget"], Value::Null);
    let advanced = account(&shown, "advanced");
    assert!(
        advanced["spent"].as_str().unwrap().ends_with(", 1e-7)"),
        "{advanced}"
    );
    let mine = account(&shown, "mine");
    assert_eq!(
        (&mine["spent"], &mine["left"]),
        (&Value::Null, &Value::Null)
    );
    assert!(
        mine["unknown"]
            .as_str()
            .unwrap()
            .contains("no built-in rule")
    );
    let halting = account(&shown, "halting");
    assert_eq!(
        (&halting["halted"], &halting["exhausted"]),
        (&true.into(), &true.into())
    );
    let text = done(&folder, &["show"]);
    assert!(
        text.contains("mine: mine is no built-in rule: what was recorded is shown, and no total."),
        "{text}"
    );
    assert!(
        text.contains("no limit") && text.contains("halted"),
        "{text}"
    );
    // What was recorded under one's own rule is there.
    let charges = done(&folder, &["charges", "mine"]);
    assert!(
        charges.contains("by my own rule") && charges.contains("0.125"),
        "{charges}"
    );
    assert!(done(&folder, &["charges", "halting"]).contains("refused, and halted"));
}

#[test]
fn charges_in_order_and_by_account() {
    let folder = year("charges", &["january", "march"]);
    let all = json(&folder, &["charges", "--json"]);
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 9);
    let seqs: Vec<u64> = all
        .iter()
        .map(|charge| charge["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.is_sorted());
    let report = all
        .iter()
        .find(|charge| charge["key"] == "january's report")
        .unwrap();
    assert_eq!(report["account"], "the hospital/team blue");
    assert_eq!(report["loss"], "0.25");
    assert_eq!(
        report["charged"].as_array().unwrap().len(),
        2,
        "the team and the hospital"
    );
    // What an account was charged, also by those below it.
    let hospital = json(&folder, &["charges", "the hospital", "--json"]);
    assert_eq!(hospital.as_array().unwrap().len(), 9);
    let red = json(&folder, &["charges", "the hospital/team red", "--json"]);
    assert_eq!(red.as_array().unwrap().len(), 6);
    let since = seqs[5].to_string();
    let later = json(&folder, &["charges", "--since", &since, "--json"]);
    assert_eq!(later.as_array().unwrap().len(), 4);
    let none = done(&folder, &["charges", "--since", "999"]);
    assert_eq!(none, "Nothing was charged.\n");
    assert_eq!(
        done(&folder, &["charges", "--since", "999", "--json"]),
        "[]\n"
    );
    let csv = done(&folder, &["charges", "--csv"]);
    assert!(
        csv.starts_with("record,account,what,key,loss,kind\n"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 10);
    assert!(
        csv.contains(
            ",the hospital/team red,how many adults,the minister's question,0.25,charge\n"
        ),
        "{csv}"
    );
    let follow = on(&folder, &["charges", "--follow"]);
    assert_eq!(follow.code, 2);
    assert!(
        follow.err.contains("belongs to one process at a time"),
        "{}",
        follow.err
    );
}

#[test]
fn explain_a_record_by_number_key_and_receipt() {
    let folder = year("explain", &["january", "march"]);
    let by_key = json(&folder, &["explain", "the minister's question", "--json"]);
    let seq = by_key["seq"].as_u64().unwrap();
    let by_number = json(&folder, &["explain", &seq.to_string(), "--json"]);
    assert_eq!(by_key, by_number);
    let effects = by_key["effects"].as_array().unwrap();
    let red = &effects[0];
    for (field, value) in [
        ("account", "the hospital/team red"),
        ("spent_before", "0.75"),
        ("spent_after", "1"),
        ("left_after", "0"),
    ] {
        assert_eq!(red[field], value);
    }
    assert_eq!(effects[1]["account"], "the hospital");
    let receipt = by_key["receipt"].as_str().unwrap();
    assert_eq!(json(&folder, &["explain", receipt, "--json"]), by_key);
    // A receipt that was forged, or given for another ledger.
    let digit = if receipt.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{digit}", &receipt[..receipt.len() - 1]);
    let ran = on(&folder, &["explain", &forged]);
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("is another one"), "{}", ran.out);
    let text = done(&folder, &["explain", "the minister's question"]);
    for words in [
        "team red launched how many adults",
        "The analyst's key: the minister's question",
        receipt,
        "spent before",
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert!(done(&folder, &["explain", "0"]).contains("the ledger begins"));
    assert!(
        done(&folder, &["explain", "1"]).contains("the hospital was opened: basic{pure}, budget 3")
    );
    for wrong in [
        &["explain", "999"][..],
        &["explain", "no such key"],
        &["explain", "3", "--key"],
    ] {
        assert_eq!(on(&folder, wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn what_if_asks_everybody_and_charges_nothing() {
    let folder = year("what-if", &["january"]);
    let before = fs::read(folder.join("year.redb")).unwrap();
    let fits = json(
        &folder,
        &[
            "what-if",
            "the hospital/team red",
            "0.2",
            "--times",
            "3",
            "--json",
        ],
    );
    assert_eq!(
        (&fits["refused"], &fits["all_known"]),
        (&false.into(), &true.into())
    );
    assert_eq!(fits["accounts"][0]["spent_after"], "1");
    assert_eq!(fits["accounts"][0]["left_after"], "0");
    assert_eq!(fits["accounts"][1]["spent_after"], "1.25");
    let refused = on(
        &folder,
        &["what-if", "the hospital/team red", "0.2", "--times", "4"],
    );
    assert_eq!(refused.code, 3, "{}", refused.out);
    assert!(
        refused
            .out
            .contains("It would be refused. Nothing was charged.")
    );
    // The team would admit it, and the hospital would not.
    let above = on(
        &folder,
        &["what-if", "the hospital/team blue", "1.75", "--times", "1"],
    );
    assert_eq!(above.code, 0, "{}", above.out);
    // A part of the data: what those above are charged is not this number.
    let missing = on(
        &folder,
        &["what-if", "the hospital/team blue/wards@1", "0.1"],
    );
    assert_eq!(missing.code, 2, "{}", missing.err);
    for wrong in ["nothing", "(0.1, 0)", "-1"] {
        let ran = on(&folder, &["what-if", "--", "the hospital/team red", wrong]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.out);
    }
    assert_eq!(fs::read(folder.join("year.redb")).unwrap(), before);
    month(&folder.join("year.redb"), "march");
    let part = json(
        &folder,
        &[
            "what-if",
            "the hospital/team blue/wards@1/[\"north\"]",
            "0.1",
            "--json",
        ],
    );
    assert_eq!(part["all_known"], false);
    assert_eq!(part["accounts"][0]["spent_after"], "0.6");
    assert!(part["accounts"][1]["unknown"].is_string());
}

#[test]
fn budgets_are_changed_with_a_reason() {
    let folder = year("budget", &["january"]);
    let told = done(
        &folder,
        &["budget", "the hospital", "4", "--reason", "a second wave"],
    );
    assert!(told.contains("was 3 and is 4 from now on"), "{told}");
    month(&folder.join("year.redb"), "march");
    let shown = json(&folder, &["show", "--json"]);
    assert_eq!(account(&shown, "the hospital")["budget"], "4");
    let charges = done(&folder, &["charges", "the hospital"]);
    assert!(
        charges.contains("new budget: 3 → 4 (an odometer's guarantee from now on): a second wave"),
        "{charges}"
    );
    // Lowered below what is spent: over, and said so.
    done(
        &folder,
        &["budget", "the hospital", "1", "--reason", "enough"],
    );
    let text = done(&folder, &["show"]);
    assert!(
        text.contains("none: over") && text.contains("Exhausted: the hospital,"),
        "{text}"
    );
    assert!(done(&folder, &["verify"]).contains("the hospital is over its budget"));
    for (arguments, code) in [
        (&["budget", "the hospital", "1", "--reason", "again"][..], 2),
        (&["budget", "nobody", "1", "--reason", "x"], 2),
        (&["budget", "the hospital", "much", "--reason", "x"], 2),
        (&["budget", "the hospital", "2", "--reason", " "], 2),
        (&["budget", "the hospital", "2"], 2),
    ] {
        assert_eq!(on(&folder, arguments).code, code, "{arguments:?}");
    }
    let kinds = crate::common::folder("budget-kinds");
    many_kinds(&kinds.join("year.redb"));
    for account in ["advanced", "no limit", "mine"] {
        let ran = on(&kinds, &["budget", account, "(2, 1e-6)", "--reason", "x"]);
        assert_eq!(ran.code, 3, "{account}: {} {}", ran.out, ran.err);
        assert!(ran.out.starts_with("Refused: "), "{}", ran.out);
    }
    let nowhere = run_in(
        &kinds,
        &[
            "budget",
            "a",
            "1",
            "--reason",
            "x",
            "--store",
            "nowhere.redb",
        ],
        "",
    );
    assert_eq!(nowhere.code, 1);
    assert!(
        !kinds.join("nowhere.redb").exists(),
        "what is not there is not begun"
    );
}

#[test]
fn init_begins_and_overwrites_nothing() {
    let folder = folder("init");
    let begun = done(&folder, &["init", "--anchor", "anchor"]);
    assert!(begun.starts_with("year.redb is begun: 0:"), "{begun}");
    assert!(done(&folder, &["show"]).contains("no account was opened yet"));
    assert!(done(&folder, &["anchor", "check", "anchor"]).contains("is kept"));
    let before = fs::read(folder.join("year.redb")).unwrap();
    let again = on(&folder, &["init"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("stays as it is"), "{}", again.err);
    assert_eq!(fs::read(folder.join("year.redb")).unwrap(), before);
    let without = run_in(&folder, &["show"], "");
    assert_eq!(without.code, 2);
    assert!(without.err.contains("ODOMETRY_STORE"), "{}", without.err);
}

#[test]
fn exports_have_everything() {
    let folder = year("export", &["january"]);
    let all = json(&folder, &["export", "--json"]);
    let all = all.as_array().unwrap();
    assert_eq!(all[0]["kind"], "begin");
    let kinds = |kind: &str| all.iter().filter(|event| event["kind"] == kind).count();
    // The hospital, two teams, a partition; what nobody asked for is not there.
    assert_eq!((kinds("open"), kinds("charge")), (4, 5));
    let csv = done(&folder, &["export", "--csv"]);
    assert_eq!(csv.lines().count(), all.len() + 1);
    assert_eq!(on(&folder, &["export"]).code, 2, "which form?");
    assert_eq!(
        on(&folder, &["export", "--records"]).code,
        2,
        "into which file?"
    );
    done(&folder, &["export", "--records", "--to", "copy"]);
    let copy = fs::File::open(folder.join("copy")).unwrap();
    let mut records = 0;
    let head = odometry::ledger::export::read(copy, |_| records += 1).unwrap();
    assert_eq!(records, all.len());
    assert_eq!(
        head.unwrap().to_string(),
        all[all.len() - 1]["receipt"].as_str().unwrap()
    );
    assert_eq!(
        on(&folder, &["export", "--csv", "--to", "copy"]).code,
        1,
        "nothing is overwritten"
    );
}

#[test]
fn doctor_looks_at_versions_records_anchor_and_sync() {
    let folder = year("doctor", &["january"]);
    let text = done(&folder, &["doctor"]);
    for words in [
        "versions: odometry ",
        "version 4 of the format",
        "10 records",
        "look  anchor: none was given",
        "a sync beside the ledger takes",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    done(&folder, &["anchor", "write", "anchor"]);
    let found = json(&folder, &["doctor", "--anchor", "anchor", "--json"]);
    let findings = found["findings"].as_array().unwrap();
    assert!(
        findings
            .iter()
            .any(|finding| finding["words"] == "less than a minute old, 0 records behind"),
        "{found}"
    );
    let left: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 2, "nothing is left behind: {left:?}");
}

/// Whoever looks changes nothing, and whoever looks while a program runs is told by whom the ledger is in use.
#[test]
fn looking_changes_nothing_and_a_ledger_in_use_is_told() {
    let folder = year("looking", &["january"]);
    let path = folder.join("year.redb");
    let before = (
        fs::read(&path).unwrap(),
        fs::metadata(&path).unwrap().modified().unwrap(),
    );
    for arguments in [
        &["show"][..],
        &["show", "--json"],
        &["charges"],
        &["explain", "5"],
        &["what-if", "the hospital", "1"],
        &["verify"],
        &["anchor", "write", "anchor"],
        &["anchor", "check", "anchor"],
        &["export", "--json"],
        &["report", "--html", "page.html"],
        &["doctor"],
    ] {
        done(&folder, arguments);
    }
    let after = (
        fs::read(&path).unwrap(),
        fs::metadata(&path).unwrap().modified().unwrap(),
    );
    assert!(before == after, "the file is as it was");
    let ledger = Ledger::open(&path).unwrap();
    for arguments in [
        &["show"][..],
        &["verify"],
        &["budget", "the hospital", "4", "--reason", "x"],
    ] {
        let ran = on(&folder, arguments);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(
            ran.err.contains("is in use by ") && ran.err.contains("Wait until it has ended"),
            "{}",
            ran.err
        );
        if cfg!(target_os = "linux") {
            let own = format!("process {}", std::process::id());
            assert!(ran.err.contains(&own), "{}", ran.err);
        }
    }
    drop(ledger);
    done(&folder, &["show"]);
}

/// Names are analysts': no control characters, no direction marks, no formulas.
#[test]
fn names_are_harmless_in_every_form() {
    let folder = folder("hostile");
    program::hostile(&folder.join("year.redb"));
    let harmless = |text: &str| {
        let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
        assert!(!text.contains(bad), "{text:?}");
    };
    for arguments in [
        &["show"][..],
        &["charges"],
        &["export", "--csv"],
        &["verify"],
        &["doctor"],
    ] {
        harmless(&done(&folder, arguments));
    }
    for name in HOSTILE {
        let ran = on(&folder, &["explain", "--key", name]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        harmless(&ran.out);
        harmless(&on(&folder, &["show", name]).err);
    }
    let csv = done(&folder, &["charges", "--csv"]);
    assert!(
        csv.contains("'=HYPERLINK")
            && !csv.contains(",\"=HYPERLINK")
            && !csv.contains(",=HYPERLINK"),
        "{csv}"
    );
    // In JSON, what was recorded is what is told: it has its own escapes.
    let charges = json(&folder, &["charges", "--json"]);
    let names: Vec<&str> = charges
        .as_array()
        .unwrap()
        .iter()
        .map(|charge| charge["what"].as_str().unwrap())
        .collect();
    assert_eq!(names, HOSTILE);
    harmless(&done(&folder, &["charges", "--json"]));
}
