//! The page: well-formed, complete, and nothing in it but what it should run.

use std::fs;
use std::path::Path;

use crate::common::program::{HOSTILE, hostile, many_kinds, month};
use crate::common::{folder, run_in};

fn page(folder: &Path) -> String {
    let _ = fs::remove_file(folder.join("page.html"));
    let ran = run_in(
        folder,
        &["report", "--html", "page.html", "--store", "year.redb"],
        "",
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("intact"), "{}", ran.out);
    fs::read_to_string(folder.join("page.html")).unwrap()
}

/// All tags of a page in order, if they are closed as they were opened, and the text between them.
fn tags(page: &str) -> (Vec<String>, String) {
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype");
    let (mut open, mut all, mut text): (Vec<String>, Vec<String>, String) = Default::default();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        let between = &rest[..at];
        let raw = open
            .last()
            .is_some_and(|tag| tag == "style" || tag == "script");
        assert!(raw || !between.contains('>'), "a bare > in {between:?}");
        if !raw {
            entities(between);
        }
        text.push_str(between);
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(closed),
                "closed as it was opened"
            );
            continue;
        }
        let (tag, empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        all.push(tag.to_owned());
        attributes(tag);
        if !empty {
            open.push(tag.split(' ').next().unwrap().to_owned());
        }
    }
    assert!(
        open.is_empty() && rest.trim().is_empty(),
        "{open:?} {rest:?}"
    );
    (all, text)
}

fn entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(
            known.iter().any(|entity| text[at..].starts_with(entity)),
            "{}",
            &text[at..]
        );
    }
}

/// Every attribute has a value in quotes, and none of them runs anything or fetches anything.
fn attributes(tag: &str) {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{tag}");
    while !rest.trim().is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("{tag}"));
        let (value, next) = value.split_once('"').unwrap_or_else(|| panic!("{tag}"));
        let name = name.trim();
        assert!(
            !name.starts_with("on") && !["src", "href", "style", "srcdoc"].contains(&name),
            "{tag}"
        );
        entities(value);
        rest = next;
    }
}

#[test]
fn every_charge_is_there_and_every_tag_is_closed() {
    let folder = folder("report");
    for name in ["january", "march", "october"] {
        month(&folder.join("year.redb"), name);
    }
    let page = page(&folder);
    let (tags, text) = tags(&page);
    let charges = run_in(&folder, &["charges", "--json", "--store", "year.redb"], "");
    let charges: serde_json::Value = serde_json::from_str(&charges.out).unwrap();
    let charges = charges.as_array().unwrap();
    let (_, table) = page.split_once("id=\"charges\"").unwrap();
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("<tr><td"))
        .collect();
    assert_eq!(rows.len(), charges.len());
    for (row, charge) in rows.iter().zip(charges) {
        let escaped = |text: &str| text.replace('\'', "&#39;").replace('"', "&quot;");
        for cell in [
            charge["account"].as_str().unwrap(),
            charge["what"].as_str().unwrap(),
            charge["key"].as_str().unwrap_or_default(),
            charge["loss"].as_str().unwrap(),
        ] {
            let cell = format!(">{}</td>", escaped(cell));
            assert!(row.contains(&cell), "{cell} in {row}");
        }
        assert!(row.contains(&format!(">{}</td>", charge["seq"])), "{row}");
    }
    let head = charges.last().unwrap()["receipt"].as_str().unwrap();
    assert!(text.contains(head), "the page is an anchor");
    assert!(text.contains("Intact") && text.contains("compared with no anchor"));
    assert_eq!(
        tags.iter().filter(|tag| tag.as_str() == "script").count(),
        1
    );
    assert!(
        tags.iter()
            .any(|tag| tag.starts_with("path class=\"l l0\"")),
        "loss over time"
    );
    assert!(
        tags.iter()
            .any(|tag| tag.starts_with("meta http-equiv=\"Content-Security-Policy\""))
    );
    // It is for people with and without the script: the search is hidden until the script shows it.
    assert!(
        tags.iter()
            .any(|tag| tag.starts_with("input") && tag.contains("hidden=\"hidden\""))
    );
    // Nothing is overwritten.
    let again = run_in(
        &folder,
        &["report", "--html", "page.html", "--store", "year.redb"],
        "",
    );
    assert_eq!(again.code, 1);
}

#[test]
fn nothing_comes_from_elsewhere_and_names_are_text() {
    let folder = folder("report-hostile");
    hostile(&folder.join("year.redb"));
    let page = page(&folder);
    let (tags, _) = tags(&page);
    assert_eq!(
        tags.iter().filter(|tag| tag.as_str() == "script").count(),
        1,
        "ours"
    );
    assert!(!tags.iter().any(|tag| tag.starts_with("img")));
    assert!(!page.contains(|c: char| c.is_control() && c != '\n'));
    for mark in ['\u{202e}', '\u{2066}', '\u{1b}'] {
        assert!(!page.contains(mark));
    }
    let elsewhere = page
        .replace("http-equiv", "")
        .replace("http://evil", "")
        .replace("http:~1~1evil", "");
    for sign in ["http:", "https:", "url(", "@import", "javascript:"] {
        assert!(!elsewhere.contains(sign), "{sign}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("=HYPERLINK(&quot;http://evil&quot;,&quot;x&quot;)"));
    let rows = page
        .lines()
        .filter(|line| line.starts_with("<tr><td"))
        .count();
    assert_eq!(rows, HOSTILE.len());
}

#[test]
fn accounts_of_every_kind_and_none() {
    let folder = folder("report-kinds");
    run_in(&folder, &["init", "--store", "year.redb"], "");
    let (_, empty) = tags(&page(&folder));
    assert!(empty.contains("Nothing was charged."));
    many_kinds(&folder.join("year.redb"));
    let (_, text) = tags(&page(&folder));
    for words in ["no limit", "halted", "mine is no built-in rule", "filter"] {
        assert!(text.contains(words), "{words}");
    }
}
