//! `docs/custodian.md` shows what the command really answers. `UPDATE=1 cargo test -p odometry-cli --test main custodian::` writes it anew.

use std::path::Path;

use crate::common::program::month;
use crate::common::{folder, run_in};

/// Words as a shell would split them: quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '"' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    words.extend(any.then_some(word));
    words
}

/// What differs from run to run is left out: hashes, because every ledger begins with random bytes, and times.
fn shortened(text: &str) -> String {
    let mut short = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let word = rest[at..]
            .find(|c: char| !c.is_ascii_hexdigit())
            .map_or(rest.len(), |end| at + end);
        short.push_str(&rest[..at]);
        short.push_str(if word - at == 64 {
            "…"
        } else {
            &rest[at..word]
        });
        rest = &rest[word..];
    }
    short.push_str(rest);
    let sync = |line: &str| match line.contains("a sync beside the ledger takes") {
        true => {
            "good  sync: a sync beside the ledger takes … ms; a durable launch takes two or three\n"
                .into()
        }
        false => line.to_owned(),
    };
    short.split_inclusive('\n').map(sync).collect()
}

/// The page with every answer replaced by the real one. `$ cat FILE` says what is in a file; `$ ./survey MONTH` is the program
/// that launches, and `$ cp` copies a file.
fn replayed(page: &str) -> (String, usize) {
    let folder = folder("custodian");
    let mut lines = page.lines().peekable();
    let (mut text, mut runs, mut inside) = (String::new(), 0, false);
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        if line.starts_with("```") {
            inside = line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| inside) else {
            continue;
        };
        let mut written = String::new();
        while let Some(next) = lines
            .peek()
            .filter(|next| !next.starts_with("$ ") && **next != "```")
        {
            written.push_str(next);
            written.push('\n');
            lines.next();
        }
        let words = words(command);
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        match arguments.split_first() {
            Some((&"cat", [file])) => {
                std::fs::write(folder.join(file), &written).unwrap();
                text.push_str(&written);
            }
            Some((&"odometry", arguments)) => {
                runs += 1;
                let ran = run_in(&folder, arguments, "");
                text.push_str(&shortened(&ran.out));
                text.push_str(&shortened(&ran.err));
                if ran.code != 0 {
                    text.push_str(&format!("(exit code {})\n", ran.code));
                }
            }
            Some((&"./survey", [name])) => {
                month(&folder.join("year.redb"), name);
                text.push_str(&written);
            }
            Some((&"cp", [from, to])) => {
                std::fs::copy(folder.join(from), folder.join(to)).unwrap();
            }
            _ => panic!("not a command of the page: {command}"),
        }
    }
    (text, runs)
}

#[test]
fn the_page_is_what_the_command_answers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/custodian.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (real, runs) = replayed(&page);
    assert!(runs >= 25, "commands were found: {runs}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &real).unwrap();
    } else {
        assert_eq!(page, real, "UPDATE=1 writes the page anew");
    }
}
