//! Colours are for terminals, and for whoever forces them; a pipe gets plain text.

use std::process::{Command, Stdio};

use crate::common::program::{hostile, month};
use crate::common::{folder, run_with};

const ESCAPE: char = '\u{1b}';

#[test]
fn a_pipe_has_no_colours_unless_they_are_forced() {
    let folder = folder("colours");
    month(&folder.join("year.redb"), "january");
    let show = ["show", "--store", "year.redb"];
    let plain = run_with(&folder, &show, "", &[]).out;
    assert!(!plain.contains(ESCAPE));
    let forced = run_with(&folder, &show, "", &[("CLICOLOR_FORCE", "1")]).out;
    assert!(forced.contains(ESCAPE));
    // The colours change nothing else.
    let stripped: String = anstream::adapter::strip_str(&forced).to_string();
    assert_eq!(stripped, plain);
    let none = run_with(
        &folder,
        &show,
        "",
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
    )
    .out;
    assert_eq!(none, plain, "`NO_COLOR` wins");
    for machine in [
        &["show", "--json", "--store", "year.redb"][..],
        &["charges", "--csv", "--store", "year.redb"],
    ] {
        let ran = run_with(&folder, machine, "", &[("CLICOLOR_FORCE", "1")]);
        assert!(!ran.out.contains(ESCAPE), "{}", ran.out);
    }
}

#[test]
fn names_bring_no_colours_of_their_own() {
    let folder = folder("colours-hostile");
    hostile(&folder.join("year.redb"));
    for command in ["show", "charges"] {
        let forced = run_with(
            &folder,
            &[command, "--store", "year.redb"],
            "",
            &[("CLICOLOR_FORCE", "1")],
        )
        .out;
        // Only what this program paints with: `m` sequences of plain numbers.
        for piece in forced.split(ESCAPE).skip(1) {
            let (code, _) = piece.split_once('m').unwrap();
            let numbers = code.strip_prefix('[').unwrap();
            assert!(
                numbers.chars().all(|c| c.is_ascii_digit() || c == ';'),
                "{code:?}"
            );
        }
        assert!(!forced.contains("[31mred\u{1b}]0"), "{forced:?}");
    }
}

/// In a real terminal, which `script` makes: it is a part of every Linux.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_has_colours() {
    let folder = folder("terminal");
    month(&folder.join("year.redb"), "january");
    let command = format!("{} show --store year.redb", env!("CARGO_BIN_EXE_odometry"));
    let show = |no_color: Option<&str>| {
        let mut script = Command::new("script");
        script
            .args(["-qec", &command, "/dev/null"])
            .current_dir(&folder)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .envs(no_color.map(|value| ("NO_COLOR", value)))
            .stdin(Stdio::null());
        let ran = script.output().expect("this system has `script`");
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            ran.status.success() && text.contains("the hospital"),
            "{text}"
        );
        text
    };
    let text = show(None);
    assert!(text.contains(ESCAPE), "{text:?}");
    let text = show(Some("1"));
    assert!(!text.contains(ESCAPE), "{text:?}");
}
