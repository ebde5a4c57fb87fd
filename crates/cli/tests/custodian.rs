//! `docs/custodian.md` shows what the command really answers. `UPDATE=1 cargo test -p odometry-cli --test custodian` writes it anew.

mod common;

use std::path::Path;

use common::{folder, run_in};

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

/// The page with every answer replaced by the real one. `$ cat FILE` says what is in a file.
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
                text.push_str(&ran.out);
                text.push_str(&ran.err);
                if ran.code != 0 {
                    text.push_str(&format!("(exit code {})\n", ran.code));
                }
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
    assert!(runs >= 8, "commands were found: {runs}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &real).unwrap();
    } else {
        assert_eq!(page, real, "UPDATE=1 writes the page anew");
    }
}
